//! Read-modify-write operations that no other thread of the device can interrupt.
//!
//! They order nothing else (CUDA's relaxed atomics at device scope). The sum of floats depends on
//! the order of the additions, which a GPU does not fix: where bits must be the same in every run,
//! reduce in a fixed order instead.

use crate::shared::SharedPtr;
#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
#[cfg(not(target_arch = "nvptx64"))]
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Atomic addition to global memory.
macro_rules! fetch_add {
    ($($name:ident: $number:ident, $register:ident, $ptx:literal, |$pointer:ident, $value:ident| $natively:expr;)*) => {
        $(
            /// Adds to the number in global memory and returns what it was.
            ///
            /// # Safety
            /// The number is there and aligned, and all that use it during the launch do so
            /// through this module.
            #[inline(always)]
            pub unsafe fn $name($pointer: *mut $number, $value: $number) -> $number {
                #[cfg(target_arch = "nvptx64")]
                {
                    let old;
                    // SAFETY: the caller's.
                    unsafe {
                        asm!(
                            concat!("atom.relaxed.gpu.add.", $ptx, " {old}, [{p}], {v};"),
                            old = out($register) old, p = in(reg64) $pointer,
                            v = in($register) $value,
                            options(nostack)
                        );
                    }
                    old
                }
                #[cfg(not(target_arch = "nvptx64"))]
                // SAFETY: the caller's.
                unsafe { $natively }
            }
        )*
    };
}

fetch_add! {
    fetch_add_u32: u32, reg32, "u32", |pointer, value| {
        AtomicU32::from_ptr(pointer).fetch_add(value, Ordering::Relaxed)
    };
    fetch_add_f32: f32, reg32, "f32", |pointer, value| {
        let number = AtomicU32::from_ptr(pointer.cast());
        let old = number.update(Ordering::Relaxed, Ordering::Relaxed, |bits| {
            (f32::from_bits(bits) + value).to_bits()
        });
        f32::from_bits(old)
    };
    fetch_add_f64: f64, reg64, "f64", |pointer, value| {
        let number = AtomicU64::from_ptr(pointer.cast());
        let old = number.update(Ordering::Relaxed, Ordering::Relaxed, |bits| {
            (f64::from_bits(bits) + value).to_bits()
        });
        f64::from_bits(old)
    };
}

/// Writes `new` to global memory if `expected` is there, and returns what was there.
///
/// # Safety
/// As for [`fetch_add_u32`].
#[inline(always)]
pub unsafe fn compare_exchange_u32(pointer: *mut u32, expected: u32, new: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let old;
        // SAFETY: the caller's.
        unsafe {
            asm!(
                "atom.relaxed.gpu.cas.b32 {old}, [{p}], {expected}, {new};",
                old = out(reg32) old, p = in(reg64) pointer,
                expected = in(reg32) expected, new = in(reg32) new,
                options(nostack)
            );
        }
        old
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        // SAFETY: the caller's.
        let number = unsafe { AtomicU32::from_ptr(pointer) };
        match number.compare_exchange(expected, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(old) | Err(old) => old,
        }
    }
}

/// Atomic addition to shared memory.
macro_rules! shared_fetch_add {
    ($($number:ident, $ptx:literal, |$old:ident, $value:ident| $sum:expr;)*) => {
        $(
            impl SharedPtr<$number> {
                /// Adds to the number and returns what it was.
                ///
                /// # Safety
                /// The place is inside the block's shared memory and aligned, and all threads use
                /// it in this way until the next barrier.
                #[inline(always)]
                pub unsafe fn fetch_add(self, $value: $number) -> $number {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let old;
                        // SAFETY: the caller's.
                        unsafe {
                            asm!(
                                concat!("atom.relaxed.cta.shared.add.", $ptx, " {old}, [{a}], {v};"),
                                old = out(reg32) old, a = in(reg32) self.address(),
                                v = in(reg32) $value,
                                options(nostack)
                            );
                        }
                        old
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        // Only one emulated thread runs at a time.
                        // SAFETY: the caller's.
                        let $old = unsafe { self.load() };
                        // SAFETY: the caller's.
                        unsafe { self.store($sum) };
                        $old
                    }
                }
            }
        )*
    };
}

shared_fetch_add! {
    u32, "u32", |old, value| old.wrapping_add(value);
    f32, "f32", |old, value| old + value;
}
