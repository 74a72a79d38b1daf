//! Weighted sums over afferents: the hot loops that contain no model code.
//!
//! Lanes are node-major, `lane = node·width + point`, so that the points of a tile, which share
//! weights, lie side by side. The order of additions is that of [`kernels_gpu::summation`].

use super::isa::multiversion;
use super::real::Real;
use super::schedule::PACK;
use kernels_gpu::ring::{BLOCK, window};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::finish;

/// An edge as a near or undelayed pass reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearEdge<T> {
    /// Where the source's first point is, from the first point of node 0 now: negative in the past.
    pub(super) shift: isize,
    /// Weight.
    pub(super) weight: T,
}

/// The edges of every target that are not far, in the order of summation.
#[derive(Clone, Debug, Default)]
pub(super) struct NearTable<T> {
    /// Row starts, one more than nodes.
    pub(super) starts: Vec<u32>,
    /// All edges.
    pub(super) edges: Vec<NearEdge<T>>,
}

/// An edge as the far pass reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FarEdge<T> {
    /// Where the source's ring starts.
    pub(super) ring: u32,
    /// Delay in steps.
    pub(super) delay: u32,
    /// Weight.
    pub(super) weight: T,
}

/// The edges from one group of sources to one target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Target node.
    pub(super) target: u32,
    /// First edge.
    pub(super) start: u32,
    /// One after the last edge.
    pub(super) end: u32,
}

/// The far edges, by group of sources, then target, then source. The rings of a group stay in the
/// first-level cache while all targets read them.
#[derive(Clone, Debug, Default)]
pub(super) struct FarTable<T> {
    /// Groups of edges in order.
    pub(super) segments: Vec<Segment>,
    /// All edges.
    pub(super) edges: Vec<FarEdge<T>>,
}

/// Sources in a group of [`FarTable`].
pub(super) const SOURCE_GROUP: usize = 4;

/// Adds the edges of one target for `N` points side by side.
#[inline(always)]
fn target_row<T: Real, const G: usize, const N: usize>(
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

/// Adds the near edges of all targets for as many blocks of `N` points as fit; returns the rest.
#[inline(always)]
fn blocks<T: Real, const G: usize, const N: usize>(
    table: &NearTable<T>,
    history: &[T],
    now: [usize; G],
    sums: &mut [&mut [T]; G],
    width: usize,
    points: std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let mut p = points.start;
    while p + N <= points.end {
        let now = now.map(|n| n + p);
        for (target, bounds) in table.starts.windows(2).enumerate() {
            let edges = &table.edges[bounds[0] as usize..bounds[1] as usize];
            let from = target * width + p;
            let mut block = [[T::default(); N]; G];
            for g in 0..G {
                block[g].copy_from_slice(&sums[g][from..from + N]);
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

/// Sums of `N` targets from `target` on; edges of weight 0 are left out.
#[inline(always)]
fn columns<T: Real, const N: usize>(
    weights: &[T],
    row: usize,
    target: usize,
    history: &[T],
    width: usize,
    sums: &mut [T],
) {
    let mut block = [T::default(); N];
    for (weights, &value) in weights.chunks_exact(row).zip(history.iter().step_by(width)) {
        let weights = &weights[target..target + N];
        for lane in 0..N {
            let sum = weights[lane].fused(value, block[lane]);
            block[lane] = if weights[lane] == T::default() { block[lane] } else { sum };
        }
    }
    for (sum, &value) in sums.iter_mut().step_by(width).skip(target).zip(&block) {
        *sum = finish(value);
    }
}

multiversion! {
    /// Adds the edges of all targets that are not far to `sums` and finishes the sums, for `points`
    /// of `width`.
    ///
    /// `G` gathers share the edges: gather g reads `history` from `now[g]` (node 0, point 0, now) and
    /// adds to `sums[g]`, by lane.
    pub(super) fn near<T: Real, const G: usize>(
        table: &NearTable<T>,
        history: &[T],
        now: [usize; G],
        sums: [&mut [T]; G],
        width: usize,
        points: std::ops::Range<usize>,
    ) {
        let mut sums = sums;
        let rest = blocks::<T, G, 64>(table, history, now, &mut sums, width, points);
        let rest = blocks::<T, G, 16>(table, history, now, &mut sums, width, rest);
        let rest = blocks::<T, G, 4>(table, history, now, &mut sums, width, rest);
        blocks::<T, G, 1>(table, history, now, &mut sums, width, rest);
    }

    /// Undelayed sums of all targets for one point of few, where most weights are not zero: targets
    /// side by side. `weights` is `[source][target]` with rows of `row` targets, a multiple of
    /// [`PACK`]; the source of node 0 is at `now`, those of the others `width` apart.
    pub(super) fn dense<T: Real>(
        weights: &[T],
        row: usize,
        history: &[T],
        now: usize,
        width: usize,
        sums: &mut [T],
    ) {
        let mut target = 0;
        while target < row {
            if target + 4 * PACK <= row {
                columns::<T, { 4 * PACK }>(weights, row, target, &history[now..], width, sums);
                target += 4 * PACK;
            } else {
                columns::<T, PACK>(weights, row, target, &history[now..], width, sums);
                target += PACK;
            }
        }
    }

    /// Adds the far edges of one point for a whole block of steps to `sums`, `[target][gather][step]`.
    ///
    /// `rings[g]` holds the rings of all sources of gather g, each for `capacity` steps; the block
    /// starts at `position`.
    pub(super) fn far<T: Real, const G: usize>(
        table: &FarTable<T>,
        rings: [&[T]; G],
        capacity: usize,
        position: usize,
        sums: &mut [[[T; BLOCK]; G]],
    ) {
        // Slices of one length need one check for all.
        let len = rings.iter().map(|r| r.len()).min().unwrap_or(0);
        let rings = rings.map(|r| &r[..len]);
        for segment in &table.segments {
            let target = &mut sums[segment.target as usize];
            let mut sum = *target;
            for edge in &table.edges[segment.start as usize..segment.end as usize] {
                let from = edge.ring as usize + window(position, edge.delay as usize, capacity);
                let weight = edge.weight;
                if from + BLOCK <= len {
                    for g in 0..G {
                        let values = &rings[g][from..from + BLOCK];
                        for step in 0..BLOCK {
                            sum[g][step] = weight.fused(values[step], sum[g][step]);
                        }
                    }
                }
            }
            *target = sum;
        }
    }
}
