//! `f32` and `f64` as lanes: natively and in GPU kernels.

use super::{Bits, Lane, Mask};
use crate::math::format::{Binary32, Binary64};

// `core` has no stable fused multiply-add or square root. Natively they come from `std`, where
// they are single instructions inside a function that enables the target feature `fma`, and a
// correctly rounded call elsewhere. For the GPU they come from `core`'s unstable module.
#[cfg(target_arch = "nvptx64")]
use core::{f32::math as f32_math, f64::math as f64_math};

#[cfg(not(target_arch = "nvptx64"))]
mod f32_math {
    #[inline(always)]
    pub(super) fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        std::primitive::f32::mul_add(a, b, c)
    }
    #[inline(always)]
    pub(super) fn sqrt(a: f32) -> f32 {
        std::primitive::f32::sqrt(a)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod f64_math {
    #[inline(always)]
    pub(super) fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        std::primitive::f64::mul_add(a, b, c)
    }
    #[inline(always)]
    pub(super) fn sqrt(a: f64) -> f64 {
        std::primitive::f64::sqrt(a)
    }
}

impl Mask for bool {}

macro_rules! scalar {
    ($float:ident, $bits:ident, $signed:ident, $format:ident, $math:ident) => {
        impl Bits for $bits {
            type Mask = bool;

            #[inline(always)]
            fn splat(value: u64) -> Self {
                value as $bits
            }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                <$bits>::wrapping_add(self, other)
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$bits>::wrapping_sub(self, other)
            }
            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                <$bits>::wrapping_mul(self, other)
            }
            #[inline(always)]
            fn mul_high(self, other: Self) -> Self {
                <$bits as WideningHigh>::widening_high(self, other)
            }
            #[inline(always)]
            fn shl(self, count: u32) -> Self {
                self.wrapping_shl(count)
            }
            #[inline(always)]
            fn shr(self, count: u32) -> Self {
                self.wrapping_shr(count)
            }
            #[inline(always)]
            fn sar(self, count: u32) -> Self {
                (self as $signed).wrapping_shr(count) as $bits
            }
            #[inline(always)]
            fn shl_by(self, count: Self) -> Self {
                self.wrapping_shl(count as u32)
            }
            #[inline(always)]
            fn shr_by(self, count: Self) -> Self {
                self.wrapping_shr(count as u32)
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn slt(self, other: Self) -> bool {
                (self as $signed) < other as $signed
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
        }

        impl Lane for $float {
            type Format = $format;
            type Mask = bool;
            type Bits = $bits;

            #[inline(always)]
            fn splat(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                $math::mul_add(self, factor, addend)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $math::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn ne(self, other: Self) -> bool {
                self != other
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$float>::to_bits(self)
            }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                <$float>::from_bits(bits)
            }
            #[inline(always)]
            fn from_unsigned(bits: $bits) -> Self {
                bits as $float
            }
            #[inline(always)]
            fn from_signed(bits: $bits) -> Self {
                bits as $signed as $float
            }
            #[inline(always)]
            fn rare(mask: bool, fast: Self, slow: impl FnOnce() -> Self) -> Self {
                if mask { out_of_line(slow) } else { fast }
            }
        }
    };
}

/// Keeps a slow path out of the loops that hardly ever take it: inlined, the optimiser may compute
/// it always. On the GPU a branch inside the kernel is cheaper than a call.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[cfg_attr(not(target_arch = "nvptx64"), cold, inline(never))]
fn out_of_line<T>(slow: impl FnOnce() -> T) -> T {
    slow()
}

/// The high word of a product; `core`'s own is not stable.
trait WideningHigh {
    fn widening_high(a: Self, b: Self) -> Self;
}

impl WideningHigh for u32 {
    #[inline(always)]
    fn widening_high(a: u32, b: u32) -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }
}

impl WideningHigh for u64 {
    #[inline(always)]
    fn widening_high(a: u64, b: u64) -> u64 {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
}

scalar!(f32, u32, i32, Binary32, f32_math);
scalar!(f64, u64, i64, Binary64, f64_math);
