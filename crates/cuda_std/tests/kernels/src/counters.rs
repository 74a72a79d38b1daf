//! Atomic operations.

use cuda_std::atomic::{compare_exchange_u32, fetch_add_f32, fetch_add_f64, fetch_add_u32};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{kernel, thread};

/// Counts values below `bins`, first in shared and then in global memory.
///
/// # Safety
/// `values` holds one value for each thread, each below `bins`; `counts` holds `bins` numbers;
/// a block has at least `bins` threads, and 4 bytes of shared memory for each bin.
#[kernel]
pub unsafe fn histogram(bins: u32, values: *const u32, counts: *mut u32) {
    let thread = thread::thread_idx_x();
    let local = dynamic_shared_mem::<u32>();
    // SAFETY: the caller's contract.
    unsafe {
        if thread < bins {
            local.add(thread).store(0);
        }
        thread::sync_threads();
        local.add(*values.add(thread::index_1d() as usize)).fetch_add(1);
        thread::sync_threads();
        if thread < bins {
            fetch_add_u32(counts.add(thread as usize), local.add(thread).load());
        }
    }
}

/// The largest value, by compare and exchange; and two sums, in f32 and in f64.
///
/// # Safety
/// `values` holds one value for each thread; the others hold one.
#[kernel]
pub unsafe fn largest_and_sums(
    values: *const u32,
    largest: *mut u32,
    sum32: *mut f32,
    sum64: *mut f64,
) {
    let place = dynamic_shared_mem::<f32>();
    // SAFETY: the caller's contract.
    unsafe {
        let value = *values.add(thread::index_1d() as usize);
        let mut seen = compare_exchange_u32(largest, 0, value);
        while seen < value {
            let now = compare_exchange_u32(largest, seen, value);
            seen = if now == seen { value } else { now };
        }
        if thread::thread_idx_x() == 0 {
            place.store(0.0);
        }
        thread::sync_threads();
        place.fetch_add(value as f32);
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            fetch_add_f32(sum32, place.load());
        }
        fetch_add_f64(sum64, f64::from(value));
    }
}
