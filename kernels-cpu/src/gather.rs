//! Weighted sums over afferents: the hot loops that contain no model code.
//!
//! Lanes are node-major, `lane = node·width + point`, so that the points of a tile, which share
//! weights, lie side by side. The order of additions is that of [`kernels_gpu::summation`].
//!
//! Far and middle edges are summed for a *window* of steps at once: the histories of a point's nodes
//! are rings, contiguous in time, and an edge reads one slice. Near and undelayed edges are summed step
//! by step, points (or targets) side by side.

use crate::PACK;
use crate::isa::{Isa, multiversion};
use crate::real::Number;
use kernels_gpu::ring::{BLOCK, NEAR_BLOCK};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::finish;
use std::ops::Range;

/// An edge as a near or undelayed pass reads it.
#[derive(Clone, Copy, Debug)]
pub struct NearEdge<T> {
    /// Where the source's first point is, from the first point of node 0 now: negative in the past.
    pub shift: isize,
    /// Weight.
    pub weight: T,
}

/// The near or undelayed edges of every target, sources ascending.
#[derive(Clone, Debug, Default)]
pub struct NearTable<T> {
    /// Row starts, one more than nodes.
    pub starts: Vec<u32>,
    /// All edges.
    pub edges: Vec<NearEdge<T>>,
}

/// The edges from one group of sources to one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Target node.
    pub target: u32,
    /// First edge.
    pub start: u32,
    /// One after the last edge.
    pub end: u32,
}

/// Edges that read windows of rings.
#[derive(Clone, Debug, Default)]
pub struct WindowTable<T> {
    /// Edges of a target in several segments are added in the order of the segments.
    pub segments: Vec<Segment>,
    /// Where the ring of an edge's source starts, by edge.
    pub rings: Vec<u32>,
    /// Delays in steps.
    pub delays: Vec<u32>,
    /// Weights.
    pub weights: Vec<T>,
}

/// All weights of a matrix, for undelayed sums where most of them are not zero.
#[derive(Clone, Debug, Default)]
pub struct DenseTable<T> {
    /// `[source][target]`, rows padded with zeros.
    pub weights: Vec<T>,
    /// Length of a row, a multiple of [`PACK`].
    pub row: usize,
}

/// Adds the edges of one target for `N` points side by side.
#[inline(always)]
fn target_row<T: Number, const G: usize, const N: usize>(
    edges: &[NearEdge<T>],
    history: &[T],
    now: [usize; G],
    sums: &mut [[T; N]; G],
) {
    for edge in edges {
        for g in 0..G {
            let from = now[g].wrapping_add_signed(edge.shift);
            if let Some(values) = history.get(from..).and_then(|h| h.first_chunk::<N>()) {
                for p in 0..N {
                    sums[g][p] = edge.weight.fused(values[p], sums[g][p]);
                }
            }
        }
    }
}

/// Sums all targets for as many blocks of `N` points as fit; returns the rest.
#[inline(always)]
fn blocks<T: Number, const G: usize, const N: usize>(
    table: &NearTable<T>,
    history: &[T],
    now: [usize; G],
    before: Option<[&[T]; G]>,
    sums: &mut [&mut [T]; G],
    width: usize,
    points: Range<usize>,
) -> Range<usize> {
    let mut p = points.start;
    while p + N <= points.end {
        let now = now.map(|n| n + p);
        for (target, bounds) in table.starts.windows(2).enumerate() {
            let edges = &table.edges[bounds[0] as usize..bounds[1] as usize];
            let from = target * width + p;
            let mut block = [[T::default(); N]; G];
            if let Some(before) = before {
                for g in 0..G {
                    block[g].copy_from_slice(&before[g][from..from + N]);
                }
            }
            target_row(edges, history, now, &mut block);
            for g in 0..G {
                sums[g][from..from + N].copy_from_slice(&block[g].map(finish));
            }
        }
        p += N;
    }
    p..points.end
}

#[inline(always)]
fn near_sums<T: Number, const G: usize>(
    table: &NearTable<T>,
    history: &[T],
    now: [usize; G],
    before: Option<[&[T]; G]>,
    mut sums: [&mut [T]; G],
    width: usize,
    points: Range<usize>,
) {
    let rest = blocks::<T, G, 64>(table, history, now, before, &mut sums, width, points);
    let rest = blocks::<T, G, 16>(table, history, now, before, &mut sums, width, rest);
    let rest = blocks::<T, G, 4>(table, history, now, before, &mut sums, width, rest);
    blocks::<T, G, 1>(table, history, now, before, &mut sums, width, rest);
}

/// `weight·values + sums`, each rounded once. Arrays of a vector or two that are passed by value stay
/// in registers, however many there are; larger ones the compiler would keep in memory.
#[inline(always)]
fn scaled_sum<T: Number>(weight: [T; PACK], values: [T; PACK], sums: [T; PACK]) -> [T; PACK] {
    let mut out = sums;
    for lane in 0..PACK {
        out[lane] = weight[lane].fused(values[lane], sums[lane]);
    }
    out
}

/// Sums of `N` packs of targets from `target` on, for one of `width` points.
#[inline(always)]
fn columns<T: Number, const N: usize>(
    table: &DenseTable<T>,
    target: usize,
    history: &[T],
    width: usize,
    sums: &mut [T],
) {
    let mut block = [[T::default(); PACK]; N];
    let rows = table.weights.chunks_exact(table.row);
    for (weights, &value) in rows.zip(history.iter().step_by(width)) {
        let Some(weights) = weights[target..].as_chunks::<PACK>().0.first_chunk::<N>() else {
            return;
        };
        for n in 0..N {
            block[n] = scaled_sum(weights[n], [value; PACK], block[n]);
        }
    }
    let sums = sums.iter_mut().step_by(width).skip(target);
    for (sum, &value) in sums.zip(block.as_flattened()) {
        *sum = finish(value);
    }
}

/// Sums of `M` targets from `target` on, for the first `N` packs of points of `history` and `sums`.
#[inline(always)]
fn corner<T: Number, const M: usize, const N: usize>(
    table: &DenseTable<T>,
    target: usize,
    history: &[T],
    width: usize,
    sums: &mut [T],
) {
    let mut block = [[[T::default(); PACK]; N]; M];
    for (weights, values) in table.weights.chunks_exact(table.row).zip(history.chunks(width)) {
        let weights = weights[target..].first_chunk::<M>();
        let values = values.as_chunks::<PACK>().0.first_chunk::<N>();
        let (Some(weights), Some(values)) = (weights, values) else { return };
        for n in 0..N {
            for m in 0..M {
                block[m][n] = scaled_sum([weights[m]; PACK], values[n], block[m][n]);
            }
        }
    }
    for (sums, block) in sums.chunks_mut(width).skip(target).zip(&block) {
        for (sums, pack) in sums.as_chunks_mut::<PACK>().0.iter_mut().zip(block) {
            for lane in 0..PACK {
                sums[lane] = finish(pack[lane]);
            }
        }
    }
}

multiversion! {
    /// See [`Real::near`](crate::Real::near).
    pub(crate) fn near<T: Number>(
        table: &NearTable<T>,
        history: &[T],
        now: &[usize],
        before: Option<[&[T]; 2]>,
        arrays: &mut [Vec<T>],
        sums: &[usize],
        width: usize,
        points: Range<usize>,
    ) {
        match (now, sums) {
            (&[now], &[sum]) => {
                let sums = [&mut arrays[sum][..]];
                near_sums(table, history, [now], before.map(|b| [b[0]]), sums, width, points);
            }
            (&[first, second], &[a, b]) => {
                // Distinct gathers have distinct arrays, so this always succeeds.
                if let Ok([a, b]) = arrays.get_disjoint_mut([a, b]) {
                    let (now, sums) = ([first, second], [&mut a[..], &mut b[..]]);
                    near_sums(table, history, now, before, sums, width, points);
                }
            }
            _ => debug_assert!(false, "one or two gathers"),
        }
    }

    fn dense_sums<T: Number, const M: usize, const N: usize, const C: usize>(
        table: &DenseTable<T>,
        history: &[T],
        width: usize,
        sums: &mut [T],
    ) {
        let nodes = history.len() / width;
        let mut point = 0;
        while point + N * PACK <= width {
            let (history, sums) = (&history[point..], &mut sums[point..]);
            let mut target = 0;
            while target + M <= nodes {
                corner::<T, M, N>(table, target, history, width, sums);
                target += M;
            }
            while target < nodes {
                corner::<T, 1, N>(table, target, history, width, sums);
                target += 1;
            }
            point += N * PACK;
        }
        while point < width {
            let (history, sums) = (&history[point..], &mut sums[point..]);
            let mut target = 0;
            while target < table.row {
                if target + C * PACK <= table.row {
                    columns::<T, C>(table, target, history, width, sums);
                    target += C * PACK;
                } else if target + 3 * PACK <= table.row {
                    columns::<T, 3>(table, target, history, width, sums);
                    target += 3 * PACK;
                } else {
                    columns::<T, 1>(table, target, history, width, sums);
                    target += PACK;
                }
            }
            point += 1;
        }
    }

    fn window_starts<T: Number>(
        table: &WindowTable<T>,
        position: u32,
        capacity: u32,
        starts: &mut Vec<u32>,
    ) {
        // As `kernels_gpu::ring::window`, in words of 32 bits.
        starts.clear();
        starts.extend(table.rings.iter().zip(&table.delays).map(|(&ring, &delay)| {
            let lap = if position >= delay { 0 } else { capacity };
            ring.wrapping_add(position).wrapping_sub(delay).wrapping_add(lap)
        }));
    }

    fn window_sums<T: Number, const S: usize, const N: usize>(
        table: &WindowTable<T>,
        starts: &[u32],
        rings: [&[T]; S],
        at: usize,
        sums: [&mut [[T; BLOCK]]; S],
    ) {
        // Slices of one length need one check for all.
        let len = rings.iter().map(|r| r.len()).min().unwrap_or(0);
        let rings = rings.map(|r| &r[..len]);
        for segment in &table.segments {
            let (target, edges) = (segment.target as usize, segment.start as usize..segment.end as usize);
            let mut block = [[T::default(); N]; S];
            for s in 0..S {
                block[s].copy_from_slice(&sums[s][target][at..at + N]);
            }
            for (&from, &weight) in starts[edges.clone()].iter().zip(&table.weights[edges]) {
                let from = from as usize;
                if from + N <= len {
                    for s in 0..S {
                        let values = &rings[s][from..from + N];
                        for step in 0..N {
                            block[s][step] = weight.fused(values[step], block[s][step]);
                        }
                    }
                }
            }
            for s in 0..S {
                sums[s][target][at..at + N].copy_from_slice(&block[s]);
            }
        }
    }
}

/// See [`Real::dense`](crate::Real::dense).
pub(crate) fn dense<T: Number>(
    isa: Isa,
    table: &DenseTable<T>,
    history: &[T],
    width: usize,
    sums: &mut [T],
) {
    // As many accumulators as hide the latency of their additions and stay in registers.
    if isa.has_512_bits() {
        dense_sums::<T, 4, 2, 7>(isa, table, history, width, sums);
    } else {
        dense_sums::<T, 4, 1, 4>(isa, table, history, width, sums);
    }
}

/// See [`Real::window_starts`](crate::Real::window_starts).
pub(crate) fn starts<T: Number>(
    isa: Isa,
    table: &WindowTable<T>,
    position: usize,
    capacity: usize,
    starts: &mut Vec<u32>,
) {
    window_starts(isa, table, position as u32, capacity as u32, starts);
}

/// See [`Real::far`](crate::Real::far).
pub(crate) fn far<T: Number>(
    isa: Isa,
    table: &WindowTable<T>,
    starts: &[u32],
    rings: &[&[T]],
    sums: &mut [&mut [[T; BLOCK]]],
) {
    match (rings, sums) {
        (&[a], [x]) => window_sums::<T, 1, BLOCK>(isa, table, starts, [a], 0, [x]),
        (&[a, b], [x, y]) => window_sums::<T, 2, BLOCK>(isa, table, starts, [a, b], 0, [x, y]),
        _ => debug_assert!(false, "one or two histories"),
    }
}

/// See [`Real::middle`](crate::Real::middle).
pub(crate) fn middle<T: Number>(
    isa: Isa,
    table: &WindowTable<T>,
    starts: &[u32],
    at: usize,
    rings: &[&[T]],
    sums: &mut [&mut [[T; BLOCK]]],
) {
    const N: usize = NEAR_BLOCK;
    match (rings, sums) {
        (&[a], [x]) => window_sums::<T, 1, N>(isa, table, starts, [a], at, [x]),
        (&[a, b], [x, y]) => window_sums::<T, 2, N>(isa, table, starts, [a, b], at, [x, y]),
        (&[a, b, c, d], [x, y, z, w]) => {
            window_sums::<T, 4, N>(isa, table, starts, [a, b, c, d], at, [x, y, z, w]);
        }
        _ => debug_assert!(false, "one, two or four histories"),
    }
}
