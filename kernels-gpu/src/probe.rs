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

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::emulate::{DevicePointer, launch};

    #[test]
    fn the_probe_multiplies_and_adds_what_is_inside() {
        let (mut x, mut y) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
        let (px, py) = (DevicePointer::new(&mut x), DevicePointer::new(&mut y));
        // SAFETY: the grid has four threads, the arrays more values than the two asked for.
        launch(2, 2, 0, || unsafe { probe_axpy(2, 0.5, px.as_ptr(), py.as_mut_ptr()) }).unwrap();
        assert_eq!(y, [10.5, 21.0, 30.0]);
    }
}
