//! Tables of edges as the kernels for groups read them, made from rows in the order of summation.

use super::super::array::HostArray;
use super::super::tables::Tables;
use crate::experiment::Precision;
use kernels_gpu::abi::RowRecord;
use kernels_gpu::ring::{BLOCK, NEAR_BLOCK, is_far};

/// Targets beyond the last that dense tables have, so that whole warps can be served.
pub(super) const PADDING: usize = 8;

/// Where the parts of each row start.
pub(super) fn edge_rows(tables: &Tables, nodes: usize) -> Vec<RowRecord> {
    let rows = tables.row_starts.chunks_exact(nodes + 1).flat_map(|starts| starts.windows(2));
    let rows = rows.map(|row| {
        let (start, end) = (row[0], row[1]);
        let edges = &tables.edges[start as usize..end as usize];
        let far = edges.partition_point(|edge| is_far(edge.delay));
        let middle = edges.partition_point(|edge| edge.delay as usize >= NEAR_BLOCK);
        RowRecord { middle: start + far as u32, near: start + middle as u32, end }
    });
    rows.collect()
}

/// The starts of rows, `[table][node]`.
pub(super) fn row_starts(tables: &Tables, nodes: usize) -> Vec<u32> {
    let rows = tables.row_starts.chunks_exact(nodes + 1);
    rows.flat_map(|starts| starts[..nodes].iter().copied()).collect()
}

/// Weights and delays of far edges, `[table][source][padded target]`. Where no far edge is, weight 0
/// and the shortest far delay.
pub(super) fn dense_far(
    tables: &Tables,
    nodes: usize,
    precision: Precision,
) -> (HostArray, HostArray) {
    let padded = nodes.next_multiple_of(PADDING);
    let count = tables.row_starts.len() / (nodes + 1);
    let mut weights = vec![0.0; count * nodes * padded];
    let mut delays = vec![BLOCK as u32; weights.len()];
    for (table, starts) in tables.row_starts.chunks_exact(nodes + 1).enumerate() {
        for target in 0..nodes {
            for at in starts[target] as usize..starts[target + 1] as usize {
                let edge = tables.edges[at];
                if is_far(edge.delay) {
                    let place = (table * nodes + edge.source as usize) * padded + target;
                    weights[place] = tables.weights[at];
                    delays[place] = edge.delay;
                }
            }
        }
    }
    (HostArray::floats(precision, weights.into_iter()), HostArray::U32(delays))
}

/// All weights, `[table][target][padded source]`, 0 where no edge is.
pub(super) fn dense(tables: &Tables, nodes: usize, precision: Precision) -> HostArray {
    let padded = nodes.next_multiple_of(PADDING);
    let count = tables.row_starts.len() / (nodes + 1);
    let mut weights = vec![0.0; count * nodes * padded];
    for (table, starts) in tables.row_starts.chunks_exact(nodes + 1).enumerate() {
        for target in 0..nodes {
            for at in starts[target] as usize..starts[target + 1] as usize {
                let source = tables.edges[at].source as usize;
                weights[(table * nodes + target) * padded + source] = tables.weights[at];
            }
        }
    }
    HostArray::floats(precision, weights.into_iter())
}
