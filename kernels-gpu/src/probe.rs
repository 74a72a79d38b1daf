//! Kernels that show on a device what no other test can: the smallest there is, to see whether it runs
//! ours at all, and cuRAND's normal numbers, which are the hardware's own.

use crate::curand;
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

/// cuRAND's normals of given words: pair i from words 2i and 2i + 1, for every i < n.
///
/// # Safety
/// `words` and `normals` hold `2 n` values each; the grid extends along x only.
#[kernel]
pub unsafe fn probe_curand_pairs(words: *const u32, normals: *mut f32, n: u64) {
    let i = thread::index_1d() as usize;
    if (i as u64) < n {
        // SAFETY: i < n, and both arrays hold 2 n values; no other thread has this i.
        unsafe {
            let (first, second) = curand::normal_pair(*words.add(2 * i), *words.add(2 * i + 1));
            *normals.add(2 * i) = first;
            *normals.add(2 * i + 1) = second;
        }
    }
}

/// cuRAND's normals by number: thread i < n draws normals `4 i … 4 i + 3` of subsequence i.
///
/// # Safety
/// `seed` holds one value, `normals` holds `4 n`; the grid extends along x only.
#[kernel]
pub unsafe fn probe_curand_normals(seed: *const u64, normals: *mut f32, n: u64) {
    let i = u64::from(thread::index_1d());
    if i < n {
        // SAFETY: i < n, and there are 4 n normals; no other thread has this i.
        unsafe {
            let [a, b, c, d] = curand::normals(*seed, i, i);
            let place = normals.add(4 * i as usize);
            *place = a;
            *place.add(1) = b;
            *place.add(2) = c;
            *place.add(3) = d;
        }
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
