//! Asynchronous copies, double buffered.

use cuda_std::async_copy::{commit_group, copy8, copy16, wait_group};
use cuda_std::float::GpuFloat;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{kernel, thread};

/// `sums[thread] = Σ weights[tile] * values[tile * 2 * threads + 2 * thread + {0, 1}]`, with the
/// next tile on its way while one is summed.
///
/// # Safety
/// One block. `values` holds `tiles` tiles of two values for each thread and is aligned to 8;
/// shared memory holds two tiles.
#[kernel]
pub unsafe fn weighted_tiles(tiles: u32, weights: &f32, values: *const f32, sums: *mut f32) {
    let (thread, tile_length) = (thread::thread_idx_x(), 2 * thread::block_dim_x());
    let buffers = dynamic_shared_mem::<f32>();
    let weights: *const f32 = weights;
    // SAFETY: the caller's contract. A barrier lies between the reading of a buffer and the next
    // copy into it; a thread reads the pair of its neighbour, so the other barrier counts too.
    unsafe {
        let start = |tile: u32| {
            let place = 2 * thread;
            let to = buffers.add(tile % 2 * tile_length + place);
            copy8(to, values.add((tile * tile_length + place) as usize));
            commit_group();
        };
        start(0);
        let mut sum = 0.0_f32;
        let mut tile = 0;
        while tile < tiles {
            if tile + 1 < tiles {
                start(tile + 1);
                wait_group::<1>();
            } else {
                wait_group::<0>();
            }
            thread::sync_threads();
            let neighbour = (thread + 1) % thread::block_dim_x();
            let [a, b] = buffers.add(tile % 2 * tile_length + 2 * neighbour).load2();
            sum = (*weights.add(tile as usize)).fused_mul_add(a + b, sum);
            thread::sync_threads();
            tile += 1;
        }
        *sums.add(thread as usize) = sum;
    }
}

/// Copies one block's values through shared memory in 16-byte pieces, in reverse order of pieces.
///
/// # Safety
/// Both arrays hold four values for each thread and are aligned to 16.
#[kernel]
pub unsafe fn reverse_pieces(from: *const u32, to: *mut u32) {
    let (thread, count) = (thread::thread_idx_x(), thread::block_dim_x());
    let pieces = dynamic_shared_mem::<u32>();
    // SAFETY: the caller's contract; the barrier separates writers from readers.
    unsafe {
        copy16(pieces.add(4 * thread), from.add(4 * thread as usize));
        commit_group();
        wait_group::<0>();
        thread::sync_threads();
        let piece = pieces.add(4 * (count - 1 - thread)).load4();
        to.add(4 * thread as usize).cast::<[u32; 4]>().write(piece);
    }
}

/// A kernel with a mistake: it reads a copy that it has not waited for.
///
/// # Safety
/// `from` holds two values and is aligned to 8. One thread.
#[kernel]
pub unsafe fn impatient(from: *const f32, to: *mut f32) {
    let place = dynamic_shared_mem::<f32>();
    // SAFETY: the places are there; the missing wait is on purpose.
    unsafe {
        copy8(place, from);
        commit_group();
        *to = place.load();
    }
}
