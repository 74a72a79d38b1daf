//! Weighted sums over the afferents of a node.

use super::KernelFloat;
use super::block::{Block, Clock};
use crate::abi::{GatherRecord, features};
use crate::summation::finish;

/// The value of one edge, of a coupling that does not separate: `(section, history of the source at
/// the time it is read)`.
pub(super) trait EdgeValue<T>: Fn(u32, *const T) -> T {}

impl<T, F: Fn(u32, *const T) -> T> EdgeValue<T> for F {}

/// Sums the afferents of a node into its gathered columns: one accumulator a sum, edges in the order
/// of the [passes](crate::summation), which is how the tables are sorted.
///
/// # Safety
/// The node exists; everything up to the clock's step is in the history.
#[inline(always)]
pub(super) unsafe fn gather<T: KernelFloat>(
    block: &Block<T>,
    clock: Clock,
    node: u32,
    edge_value: impl EdgeValue<T>,
) {
    let (a, p) = (&block.arguments, &block.pointers);
    let mut index = 0;
    while index < a.gathers {
        // SAFETY: one record a sum; the tables have a row for every node.
        unsafe {
            let record = *p.gathers.add(index as usize);
            let table = record.first_table + record.by_class * block.record.delay_class;
            let sum = if record.kind == GatherRecord::ONES {
                *p.row_sums.add(table as usize * a.nodes as usize + node as usize)
            } else {
                let row = table as usize * (a.nodes as usize + 1) + node as usize;
                let range = (*p.row_starts.add(row), *p.row_starts.add(row + 1));
                if block.has(features::EDGES) && record.kind == GatherRecord::EDGE {
                    let edge = |source: *const T| edge_value(record.index, source);
                    sum_row(block, clock, range, 0, edge)
                } else {
                    sum_row(block, clock, range, record.index, |source| *source)
                }
            };
            *block.column(a.gathered_column + index, node) = sum;
        }
        index += 1;
    }
}

/// One row: `value` gets the place in the history of the given channel that an edge reads.
///
/// # Safety
/// As [`gather`].
#[inline(always)]
unsafe fn sum_row<T: KernelFloat>(
    block: &Block<T>,
    clock: Clock,
    range: (u32, u32),
    channel: u32,
    value: impl Fn(*const T) -> T,
) -> T {
    let p = &block.pointers;
    let capacity = block.record.capacity;
    let first = block.history(0).wrapping_add(channel as usize * block.channel_stride());
    let mut sum = T::ZERO;
    let mut at = range.0;
    while at < range.1 {
        // SAFETY: the range is a row's; sources are nodes, delays shorter than the history.
        unsafe {
            let edge = *p.edges.add(at as usize);
            let weight = *p.weights.add(at as usize);
            let position = if clock.position >= edge.delay {
                clock.position - edge.delay
            } else {
                clock.position + capacity - edge.delay
            };
            let offset = edge.source as usize * capacity as usize + position as usize;
            sum = weight.mul_add(value(first.wrapping_add(offset)), sum);
        }
        at += 1;
    }
    finish(sum)
}
