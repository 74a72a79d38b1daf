//! Every width and type of access to shared memory.

use cuda_std::float::GpuFloat;
use cuda_std::shared::{Word, Word32, dynamic_shared_mem};
use cuda_std::{kernel, thread};

/// Rotates 4 values by one, through one, two and four words at a time.
///
/// # Safety
/// 16 bytes of shared memory from byte `at`, a multiple of 16.
#[inline(always)]
unsafe fn rotate32<T: Word32>(at: u32, [a, b, c, d]: [T; 4]) -> [T; 4] {
    let place = dynamic_shared_mem::<T>().byte_add(at);
    // SAFETY: the caller's.
    unsafe {
        place.store4([a, b, c, d]);
        let ([a, b], [c, d]) = (place.load2(), place.add(2).load2());
        place.store2([b, c]);
        place.add(2).store(d);
        place.add(3).store(a);
        place.load4()
    }
}

/// Exchanges 2 values through shared memory.
///
/// # Safety
/// 16 bytes of shared memory from byte `at`, a multiple of 16.
#[inline(always)]
unsafe fn swap64<T: Word>(at: u32, [a, b]: [T; 2]) -> [T; 2] {
    let place = dynamic_shared_mem::<T>().byte_add(at);
    // SAFETY: the caller's.
    unsafe {
        place.store2([a, b]);
        let (a, b) = (place.load(), place.add(1).load());
        place.store(b);
        place.add(1).store(a);
        place.load2()
    }
}

/// Rotates and swaps each thread's values.
///
/// # Safety
/// The first three arrays hold four values for each thread, the others two; 16 bytes of shared
/// memory for each thread. One block.
#[kernel]
pub unsafe fn rotate_and_swap(f: *mut f32, u: *mut u32, i: *mut i32, d: *mut f64, l: *mut u64) {
    let thread = thread::thread_idx_x();
    let (at, index) = (16 * thread, thread as usize);
    // SAFETY: the caller's contract; each thread has its own 16 bytes.
    unsafe {
        let (f, u, i) = (
            f.cast::<[f32; 4]>().add(index),
            u.cast::<[u32; 4]>().add(index),
            i.cast::<[i32; 4]>().add(index),
        );
        let (d, l) = (d.cast::<[f64; 2]>().add(index), l.cast::<[u64; 2]>().add(index));
        *f = rotate32(at, *f);
        *u = rotate32(at, *u);
        *i = rotate32(at, *i);
        *d = swap64(at, *d);
        *l = swap64(at, *l);
    }
}

/// `x = round(sqrt(fma(x, x, 1)) / 3)` in both precisions.
///
/// # Safety
/// Both arrays hold one value for each thread.
#[kernel]
pub unsafe fn float_operations(f: *mut f32, d: *mut f64) {
    let thread = thread::index_1d() as usize;
    // SAFETY: the caller's contract.
    unsafe {
        let (f, d) = (f.add(thread), d.add(thread));
        *f = ((*f).fused_mul_add(*f, 1.0).square_root() / 3.0).nearest_integer();
        *d = ((*d).fused_mul_add(*d, 1.0).square_root() / 3.0).nearest_integer();
    }
}
