//! The sums over afferents that a step needs: what is left of delayed ones, or products without delays.

use super::place::{Group, Lane};
use crate::abi::{GatherRecord, RING};
use crate::kernels::KernelFloat;
use crate::ring::{BLOCK, NEAR_BLOCK};
use cuda_std::thread;

/// Steps of a near block.
const STEPS: u32 = NEAR_BLOCK as u32;

/// Adds the middle edges to the far parts for a near block of steps, from step `first` of the launch on:
/// eight threads are the steps of a target. A barrier must follow.
///
/// # Safety
/// The history is known up to the block's first step, the far parts are those of this launch.
#[inline(always)]
pub(super) unsafe fn middle<T: KernelFloat, const WIDTH: usize>(group: &Group<T>, first: u32) {
    let a = &group.arguments;
    let p = &group.pointers;
    let step = thread::thread_idx_x() % STEPS;
    let now = (group.first_step as u32).wrapping_add(first + step);
    let mask = group.record.capacity - 1;
    let table = group.record.delay_class as usize * a.nodes as usize;
    let mut target = thread::thread_idx_x() / STEPS;
    while target < a.nodes {
        // SAFETY: one row a target; sources are nodes.
        unsafe {
            let row = *p.edge_rows.add(table + target as usize);
            let far = (group.number as usize * a.nodes as usize + target as usize) * BLOCK
                + (first + step) as usize;
            let mut sums: [T; WIDTH] = T::load_constant(p.far.add(far * WIDTH));
            let mut at = row.middle;
            while at < row.near {
                let edge = *p.edges.add(at as usize);
                let weight = *p.weights.add(at as usize);
                let place = (now.wrapping_sub(edge.delay) & mask) * WIDTH as u32;
                let from = group.history(edge.source).add(place as usize);
                let values: [T; WIDTH] = T::load_written(from);
                let mut value = 0;
                while value < WIDTH {
                    sums[value] = weight.mul_add(values[value], sums[value]);
                    value += 1;
                }
                at += 1;
            }
            let mut gather = 0;
            while gather < a.gathers {
                let record = *p.gathers.add(gather as usize);
                let ones = if record.kind == GatherRecord::ONES {
                    *p.row_sums.add(table_of(group, &record) + target as usize)
                } else {
                    T::ZERO
                };
                let mut point = 0;
                while point < 1 << a.point_shift {
                    // The values of a point are its channels.
                    let mut sum = ones;
                    let mut value = 0;
                    while value < WIDTH {
                        let own = point * a.channels + record.index;
                        if record.kind != GatherRecord::ONES && own == value as u32 {
                            sum = sums[value];
                        }
                        value += 1;
                    }
                    let place = (step * a.gathers + gather) * group.lanes()
                        + (target << a.point_shift)
                        + point;
                    group.shared(a.gathered_at, place).store(sum);
                    point += 1;
                }
                gather += 1;
            }
        }
        target += thread::block_dim_x() / STEPS;
    }
}

/// Where the rows of a gather's table start, in tables with one row a node.
#[inline(always)]
fn table_of<T: KernelFloat>(group: &Group<T>, record: &GatherRecord) -> usize {
    let table = record.first_table + record.by_class * group.record.delay_class;
    table as usize * group.arguments.nodes as usize
}

/// Adds the shortest edges to the sums of a lane at a step, and makes zeros positive.
///
/// # Safety
/// The ring is known up to the step.
#[inline(always)]
pub(super) unsafe fn near<T: KernelFloat>(group: &Group<T>, step: u32, lane: Lane) {
    let a = &group.arguments;
    let p = &group.pointers;
    let table = group.record.delay_class as usize * a.nodes as usize;
    let point = lane.number - (lane.node << a.point_shift);
    let now = (group.first_step as u32).wrapping_add(step);
    // SAFETY: the caller's; one row a node.
    unsafe {
        let row = *p.edge_rows.add(table + lane.node as usize);
        let sums = group.gathered(step % STEPS, lane);
        let mut gather = 0;
        while gather < a.gathers {
            let record = *p.gathers.add(gather as usize);
            let place = sums.add(gather * group.lanes());
            if record.kind != GatherRecord::ONES {
                let mut sum = place.load();
                let mut at = row.near;
                while at < row.end {
                    let edge = *p.edges.add(at as usize);
                    let weight = *p.weights.add(at as usize);
                    let slot = now.wrapping_sub(edge.delay) % RING;
                    let source = (edge.source << a.point_shift) + point;
                    let value = group.ring(slot, source).add(record.index * group.lanes());
                    sum = weight.mul_add(value.load(), sum);
                    at += 1;
                }
                place.store(sum + T::ZERO);
            }
            gather += 1;
        }
    }
}

/// Rows of a product that a thread computes at once.
const ROWS: usize = 8;
/// Sources that are read at once.
const QUAD: usize = 4;

/// All sums of all lanes as products of dense matrices and the present channels. A barrier must precede
/// and follow.
///
/// # Safety
/// The ring is known at `slot`; rows of dense tables have `padded_nodes` values, a multiple of four.
#[inline(always)]
pub(super) unsafe fn products<T: KernelFloat>(group: &Group<T>, slot: u32) {
    let a = &group.arguments;
    let p = &group.pointers;
    let thread = thread::thread_idx_x();
    let row_of_thread = thread >> a.point_shift;
    let point = thread - (row_of_thread << a.point_shift);
    let rows = thread::block_dim_x() >> a.point_shift;
    let mut gather = 0;
    while gather < a.gathers {
        // SAFETY: the caller's.
        unsafe {
            let record = *p.gathers.add(gather as usize);
            let ones = record.kind == GatherRecord::ONES;
            let table = record.first_table as usize * a.nodes as usize;
            let channel = group.ring(slot, record.index * group.lanes() + point);
            let mut first = row_of_thread;
            while first < a.nodes {
                let mut sums = [T::ZERO; ROWS];
                // Rows beyond the last compute the last once more.
                let at: [usize; ROWS] = core::array::from_fn(|row| {
                    let target = first + row as u32 * rows;
                    let target = if target < a.nodes { target } else { a.nodes - 1 };
                    (table + target as usize) * a.padded_nodes as usize
                });
                if ones {
                    let mut row = 0;
                    while row < ROWS {
                        let target = first + row as u32 * rows;
                        if target < a.nodes {
                            sums[row] = *p.row_sums.add(table + target as usize);
                        }
                        row += 1;
                    }
                } else {
                    let mut source = 0;
                    while source < a.nodes {
                        let values: [T; QUAD] = core::array::from_fn(|quad| {
                            let source = source + quad as u32;
                            // Columns beyond the last have weight 0, and read what is finite.
                            let source = if source < a.nodes { source } else { a.nodes - 1 };
                            channel.add(source << a.point_shift).load()
                        });
                        let mut row = 0;
                        while row < ROWS {
                            let weights: [T; QUAD] =
                                T::load_constant(p.dense.add(at[row] + source as usize));
                            let mut quad = 0;
                            while quad < QUAD {
                                sums[row] = weights[quad].mul_add(values[quad], sums[row]);
                                quad += 1;
                            }
                            row += 1;
                        }
                        source += QUAD as u32;
                    }
                }
                let mut row = 0;
                while row < ROWS {
                    let target = first + row as u32 * rows;
                    if target < a.nodes {
                        let lane = (target << a.point_shift) + point;
                        let place = gather * group.lanes() + lane;
                        group.shared(a.gathered_at, place).store(sums[row] + T::ZERO);
                    }
                    row += 1;
                }
                first += ROWS as u32 * rows;
            }
        }
        gather += 1;
    }
}
