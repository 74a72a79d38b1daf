//! The smallest kernel there is, to see whether a device runs ours at all.

use cuda_std::float::GpuFloat;
use cuda_std::{kernel, thread};

/// `y[i] = a * x[i] + y[i]`, rounded once, for every i < n.
///
/// # Safety
/// `x` and `y` hold `n` values each, and do not overlap; the grid extends along x only.
#[kernel]
pub unsafe fn probe_axpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and `x` and `y` hold n values; no other thread has this i.
        unsafe { *y.add(i) = a.fused_mul_add(*x.add(i), *y.add(i)) };
    }
}
