//! The precision of a kernel.

use crate::lane::Lane;
use cuda_std::global::Constant;
use cuda_std::shared::Word;

/// `f32` or `f64`.
pub trait KernelFloat: Lane<Mask = bool> + Word + Constant + 'static {
    /// Zero.
    const ZERO: Self;
    /// Negative zero: what is added to it stays.
    const NEGATIVE_ZERO: Self;
    /// Two.
    const TWO: Self;

    /// Rounded from 64 bits.
    fn from_f64(value: f64) -> Self;
    /// Widened or kept.
    fn from_f32(value: f32) -> Self;
    /// Rounded from an integer.
    fn from_u32(value: u32) -> Self;
    /// Neither infinite nor NaN.
    fn finite(self) -> bool;
}

macro_rules! kernel_float {
    ($($float:ident)*) => {$(
        impl KernelFloat for $float {
            const ZERO: Self = 0.0;
            const NEGATIVE_ZERO: Self = -0.0;
            const TWO: Self = 2.0;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                $float::from(value)
            }
            #[inline(always)]
            fn from_u32(value: u32) -> Self {
                value as $float
            }
            #[inline(always)]
            fn finite(self) -> bool {
                <$float>::abs(self) < $float::INFINITY
            }
        }
    )*};
}

kernel_float! { f32 f64 }
