//! The far part of delayed sums, for a block of steps at once.
//!
//! An edge whose delay is at least a block needs, for a whole block, only what is known when the block
//! starts. The 32 lanes of a warp are the steps of the block: they read consecutive values of a source's
//! history, and share the weight and the delay of an edge. The values of all points and channels of a
//! group lie side by side and are read together.

use crate::abi::{ChunkRecord, EdgeRecord, GroupArguments, GroupRecord, RowRecord};
use crate::kernels::KernelFloat;
use crate::ring::BLOCK;
use cuda_std::global::Constant;
use cuda_std::{kernel, thread};

/// What far sums read and write.
#[derive(Clone, Copy)]
struct FarPointers<T> {
    chunk: *const ChunkRecord,
    groups: *const GroupRecord,
    history: *const T,
    far: *mut T,
}

/// Sums over all sources: weights and delays in dense tables, a warp computes `TARGETS` rows.
///
/// # Safety
/// Arrays have the sizes that the arguments say; one row of blocks a group.
#[inline(always)]
unsafe fn dense<T: KernelFloat, const WIDTH: usize, const TARGETS: usize>(
    a: GroupArguments,
    pointers: FarPointers<T>,
    weights: *const T,
    delays: *const u32,
) {
    let number = thread::block_idx_x();
    let (warps, warp) =
        (thread::block_dim_x() / BLOCK as u32, thread::thread_idx_x() / BLOCK as u32);
    let step = thread::thread_idx_x() % BLOCK as u32;
    let first = (thread::block_idx_y() * warps + warp) * TARGETS as u32;
    if first >= a.nodes {
        return;
    }
    // SAFETY: one record a group, one chunk; tables have `padded_nodes` columns, a multiple of the
    // targets of a warp.
    unsafe {
        let group = *pointers.groups.add(number as usize);
        let now = (*pointers.chunk).first_step as u32 + a.offset + step;
        let mask = group.capacity - 1;
        let padded = a.padded_nodes as usize;
        let mut row = group.delay_class as usize * a.nodes as usize * padded + first as usize;
        let mut ring = pointers.history.add(group.history as usize);
        let mut sums = [[T::ZERO; WIDTH]; TARGETS];
        let mut source = 0;
        while source < a.nodes {
            let weight: [T; TARGETS] = T::load_constant(weights.add(row));
            let delay: [u32; TARGETS] = u32::load_constant(delays.add(row));
            let mut values = [[T::ZERO; WIDTH]; TARGETS];
            let mut target = 0;
            while target < TARGETS {
                let at = now.wrapping_sub(delay[target]) & mask;
                values[target] = T::load_constant(ring.add((at * WIDTH as u32) as usize));
                target += 1;
            }
            let mut target = 0;
            while target < TARGETS {
                let mut value = 0;
                while value < WIDTH {
                    sums[target][value] =
                        weight[target].mul_add(values[target][value], sums[target][value]);
                    value += 1;
                }
                target += 1;
            }
            row += padded;
            ring = ring.add((group.capacity * WIDTH as u32) as usize);
            source += 1;
        }
        let mut target = 0;
        while target < TARGETS {
            if first + (target as u32) < a.nodes {
                store(a, pointers.far, number, first + target as u32, step, sums[target]);
            }
            target += 1;
        }
    }
}

/// Sums over the edges that there are: a warp computes one row.
///
/// # Safety
/// As [`dense`].
#[inline(always)]
unsafe fn sparse<T: KernelFloat, const WIDTH: usize>(
    a: GroupArguments,
    pointers: FarPointers<T>,
    rows: *const u32,
    edge_rows: *const RowRecord,
    edges: *const EdgeRecord,
    weights: *const T,
) {
    let number = thread::block_idx_x();
    let (warps, warp) =
        (thread::block_dim_x() / BLOCK as u32, thread::thread_idx_x() / BLOCK as u32);
    let step = thread::thread_idx_x() % BLOCK as u32;
    let target = thread::block_idx_y() * warps + warp;
    if target >= a.nodes {
        return;
    }
    // SAFETY: one record a group and row, one chunk.
    unsafe {
        let group = *pointers.groups.add(number as usize);
        let now = (*pointers.chunk).first_step as u32 + a.offset + step;
        let mask = group.capacity - 1;
        let row = group.delay_class as usize * a.nodes as usize + target as usize;
        let history = pointers.history.add(group.history as usize);
        let mut sums = [T::ZERO; WIDTH];
        let mut at = *rows.add(row);
        let end = (*edge_rows.add(row)).middle;
        while at < end {
            let edge = *edges.add(at as usize);
            let weight = *weights.add(at as usize);
            let ring = edge.source as usize * group.capacity as usize;
            let place = ring + (now.wrapping_sub(edge.delay) & mask) as usize;
            let values: [T; WIDTH] = T::load_constant(history.add(place * WIDTH));
            let mut value = 0;
            while value < WIDTH {
                sums[value] = weight.mul_add(values[value], sums[value]);
                value += 1;
            }
            at += 1;
        }
        store(a, pointers.far, number, target, step, sums);
    }
}

/// # Safety
/// `far` has room for the group's sums.
#[inline(always)]
unsafe fn store<T: KernelFloat, const WIDTH: usize>(
    a: GroupArguments,
    far: *mut T,
    group: u32,
    node: u32,
    step: u32,
    sums: [T; WIDTH],
) {
    let row = group as usize * a.nodes as usize + node as usize;
    let at = (row * BLOCK + step as usize) * WIDTH;
    let mut value = 0;
    while value < WIDTH {
        // SAFETY: the caller's.
        unsafe { *far.add(at + value) = sums[value] };
        value += 1;
    }
}

macro_rules! far {
    ($($dense:ident, $float:ident, $width:literal, $targets:literal;)*
     $(- $sparse:ident, $sfloat:ident, $swidth:literal;)*) => {
        $(
            /// Far parts of all delayed sums for the block of steps that starts at the launch's first.
            ///
            /// # Safety
            /// The arrays have the sizes that `docs/gpu-kernels.md` says.
            #[kernel]
            #[allow(clippy::too_many_arguments, reason = "pointers must be parameters of their own")]
            pub unsafe fn $dense(
                arguments: GroupArguments,
                chunk: *const ChunkRecord,
                groups: *const GroupRecord,
                history: *const $float,
                far: *mut $float,
                weights: *const $float,
                delays: *const u32,
            ) {
                let pointers = FarPointers { chunk, groups, history, far };
                // SAFETY: the caller's.
                unsafe {
                    dense::<$float, $width, $targets>(arguments, pointers, weights, delays);
                }
            }
        )*
        $(
            /// The same over compressed rows, for connectomes with few edges.
            ///
            /// # Safety
            /// The arrays have the sizes that `docs/gpu-kernels.md` says.
            #[kernel]
            #[allow(clippy::too_many_arguments, reason = "pointers must be parameters of their own")]
            pub unsafe fn $sparse(
                arguments: GroupArguments,
                chunk: *const ChunkRecord,
                groups: *const GroupRecord,
                history: *const $sfloat,
                far: *mut $sfloat,
                row_starts: *const u32,
                edge_rows: *const RowRecord,
                edges: *const EdgeRecord,
                weights: *const $sfloat,
            ) {
                let pointers = FarPointers { chunk, groups, history, far };
                // SAFETY: the caller's.
                unsafe {
                    sparse::<$sfloat, $swidth>(
                        arguments, pointers, row_starts, edge_rows, edges, weights,
                    );
                }
            }
        )*
    };
}

far! {
    far_f32_1_8, f32, 1, 8;
    far_f32_2_8, f32, 2, 8;
    far_f32_4_8, f32, 4, 8;
    far_f64_1_8, f64, 1, 8;
    far_f64_2_8, f64, 2, 8;
    far_f32_1_2, f32, 1, 2;
    far_f32_2_2, f32, 2, 2;
    far_f32_4_2, f32, 4, 2;
    far_f64_1_2, f64, 1, 2;
    far_f64_2_2, f64, 2, 2;
    - far_f32_1_sparse, f32, 1;
    - far_f32_2_sparse, f32, 2;
    - far_f32_4_sparse, f32, 4;
    - far_f64_1_sparse, f64, 1;
    - far_f64_2_sparse, f64, 2;
}
