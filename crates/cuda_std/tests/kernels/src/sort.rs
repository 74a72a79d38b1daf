//! A kernel with as many barriers as values.

use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{kernel, thread};

/// Sorts one block's values by odd-even transposition (Habermann 1972).
///
/// # Safety
/// `values` holds one value for each thread; the block has an f32 of shared memory for each.
#[kernel]
pub unsafe fn sort_blocks(values: *mut f32) {
    let (thread, count) = (thread::thread_idx_x(), thread::block_dim_x());
    let row = dynamic_shared_mem::<f32>();
    // SAFETY: the caller's contract. In one round each place is used by one thread.
    unsafe {
        let value = values.add(thread::index_1d() as usize);
        row.add(thread).store(*value);
        let mut round = 0;
        while round < count {
            thread::sync_threads();
            if thread % 2 == round % 2 && thread + 1 < count {
                let (left, right) = (row.add(thread).load(), row.add(thread + 1).load());
                if left > right {
                    row.add(thread).store(right);
                    row.add(thread + 1).store(left);
                }
            }
            round += 1;
        }
        thread::sync_threads();
        *value = row.add(thread).load();
    }
}

/// A kernel with a mistake: thread 0 returns before the barrier.
///
/// # Safety
/// Hangs on a GPU; for the emulation only.
#[kernel]
pub unsafe fn diverging() {
    if thread::thread_idx_x() != 0 {
        thread::sync_threads();
    }
}

/// A kernel with a mistake: there is no barrier between writing and reading a neighbour's place.
///
/// # Safety
/// As [`sort_blocks`]; the values are wrong.
#[kernel]
pub unsafe fn racing_rotation(values: *mut f32) {
    let (thread, count) = (thread::thread_idx_x(), thread::block_dim_x());
    let row = dynamic_shared_mem::<f32>();
    // SAFETY: places are inside; the race is on purpose.
    unsafe {
        let value = values.add(thread as usize);
        row.add(thread).store(*value);
        *value = row.add((thread + 1) % count).load();
    }
}
