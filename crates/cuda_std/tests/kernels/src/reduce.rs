//! Sums and exchanges in warps and blocks.

use cuda_std::shared::dynamic_shared_mem;
use cuda_std::warp::{
    self, ALL_LANES, lane_id, warp_id, warp_shuffle_down, warp_shuffle_idx, warp_shuffle_up,
    warp_shuffle_xor, warp_vote_all, warp_vote_any, warp_vote_ballot,
};
use cuda_std::{kernel, thread};

/// One sum for each block: over the lanes of each warp by shuffles, over warps in shared memory.
///
/// # Safety
/// `values` holds one value for each thread, `sums` one for each block. The block is a multiple
/// of 32, with one f32 of shared memory for each warp.
#[kernel]
pub unsafe fn block_sums(values: *const f32, sums: *mut f32) {
    let partial = dynamic_shared_mem::<f32>();
    // SAFETY: the caller's contract; all lanes take part in each shuffle.
    unsafe {
        let mut sum = *values.add(thread::index_1d() as usize);
        let mut lanes = 16;
        while lanes > 0 {
            sum += warp_shuffle_down(ALL_LANES, sum, lanes, 32).0;
            lanes /= 2;
        }
        if lane_id() == 0 {
            partial.add(warp_id()).store(sum);
        }
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            let mut total = 0.0;
            let mut warp = 0;
            while warp < thread::block_dim_x() / 32 {
                total += partial.add(warp).load();
                warp += 1;
            }
            *sums.add(thread::block_idx_x() as usize) = total;
        }
    }
}

/// What each thread got from the four shuffles of its own number, in parts of `width` lanes:
/// `4 * thread + kind` holds the value, negated minus one where the lane was outside.
///
/// # Safety
/// `seen` holds four values for each thread of the only block, whose size is a multiple of 32.
#[kernel]
pub unsafe fn shuffles(width: u32, distance: u32, seen: *mut i32) {
    let thread = thread::thread_idx_x();
    // SAFETY: the caller's contract; all lanes take part in each shuffle.
    unsafe {
        let own = thread as i32;
        let results = [
            warp_shuffle_xor(ALL_LANES, own, distance, width),
            warp_shuffle_down(ALL_LANES, own, distance, width),
            warp_shuffle_up(ALL_LANES, own, distance, width),
            warp_shuffle_idx(ALL_LANES, own, distance, width),
        ];
        let mut kind = 0;
        while kind < 4 {
            let (value, inside) = results[kind];
            *seen.add(4 * thread as usize + kind) = if inside { value } else { -1 - value };
            kind += 1;
        }
    }
}

/// The butterfly sum of f64 and u64 values: every lane ends with the sum of its warp.
///
/// # Safety
/// Both arrays hold one value for each thread of the only block, a multiple of 32.
#[kernel]
pub unsafe fn butterfly(floats: *mut f64, integers: *mut u64) {
    let thread = thread::thread_idx_x() as usize;
    // SAFETY: the caller's contract; all lanes take part in each shuffle.
    unsafe {
        let (mut float, mut integer) = (*floats.add(thread), *integers.add(thread));
        let mut lanes = 1;
        while lanes < 32 {
            float += warp_shuffle_xor(ALL_LANES, float, lanes, 32).0;
            integer = integer.wrapping_add(warp_shuffle_xor(ALL_LANES, integer, lanes, 32).0);
            lanes *= 2;
        }
        *floats.add(thread) = float;
        *integers.add(thread) = integer;
    }
}

/// Moves the positive values of one warp to the front and counts them; `votes` gets the ballot,
/// "all are positive" and "any is".
///
/// # Safety
/// `values` and `front` hold 32 values, `votes` 3. One warp.
#[kernel]
pub unsafe fn compact(values: *const f32, front: *mut f32, votes: *mut u32) {
    let lane = lane_id();
    // SAFETY: the caller's contract; all lanes vote. A rank is less than 32.
    unsafe {
        let value = *values.add(lane as usize);
        let ballot = warp_vote_ballot(ALL_LANES, value > 0.0);
        let (all, any) =
            (warp_vote_all(ALL_LANES, value > 0.0), warp_vote_any(ALL_LANES, value > 0.0));
        if value > 0.0 {
            let rank = (ballot & ((1 << lane) - 1)).count_ones();
            *front.add(rank as usize) = value;
        }
        warp::sync_warp(ALL_LANES);
        if lane == 0 {
            *votes = ballot;
            *votes.add(1) = u32::from(all);
            *votes.add(2) = u32::from(any);
        }
    }
}
