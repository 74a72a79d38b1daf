//! The arithmetic that the mathematical functions are written in.
//!
//! A [`Lane`] is one floating-point value of a computation: an `f32` or `f64` (natively or in a GPU
//! kernel), or a *recorder*, a handle whose operations append instructions to a program instead
//! of computing. Every function of [`crate::math`] is generic over it, so the GPU, the CPU and the
//! generated code run the same operations in the same order, and round in the same places.
//!
//! What follows from the recorder:
//! - a function never branches in Rust on a value: it computes both sides and [`selects`](Lane::select);
//! - the only exception is [`Lane::rare`], where an implementation may branch around a slow path;
//! - operations mean the same everywhere: IEEE 754, round to nearest even, subnormals kept,
//!   comparisons with NaN false (except `!=`). The sign and the payload of a NaN are *not*
//!   specified: processors differ, and no function here depends on them.

use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use crate::math::Format;

mod scalar;

/// The result of a comparison: a truth value per lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// An unsigned integer as wide as the float lane it belongs to; arithmetic wraps.
///
/// Signed operations ([`sar`](Bits::sar), [`slt`](Bits::slt)) read the same bits as two's complement.
pub trait Bits:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The truth value of a comparison.
    type Mask: Mask;

    /// A constant. Only the low bits that fit are used.
    fn splat(value: u64) -> Self;
    /// Sum modulo 2^width.
    fn wrapping_add(self, other: Self) -> Self;
    /// Difference modulo 2^width.
    fn wrapping_sub(self, other: Self) -> Self;
    /// Low word of the product.
    fn wrapping_mul(self, other: Self) -> Self;
    /// High word of the unsigned product.
    fn mul_high(self, other: Self) -> Self;
    /// Shift left by a number of bits known when the program is written, less than the width.
    fn shl(self, count: u32) -> Self;
    /// Logical shift right, as [`shl`](Bits::shl).
    fn shr(self, count: u32) -> Self;
    /// Arithmetic shift right, as [`shl`](Bits::shl).
    fn sar(self, count: u32) -> Self;
    /// Shift left by a computed count, which must be less than the width.
    fn shl_by(self, count: Self) -> Self;
    /// Logical shift right by a computed count, which must be less than the width.
    fn shr_by(self, count: Self) -> Self;
    /// Equal.
    fn eq(self, other: Self) -> Self::Mask;
    /// Less, unsigned.
    fn lt(self, other: Self) -> Self::Mask;
    /// Less, signed.
    fn slt(self, other: Self) -> Self::Mask;
    /// `yes` where `mask` holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// A floating-point value of a computation. See the [module](self) for the rules.
pub trait Lane:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Binary32 or binary64: which constants and polynomials the functions use.
    type Format: Format;
    /// The truth value of a comparison.
    type Mask: Mask;
    /// The integer that holds this lane's bits.
    type Bits: Bits<Mask = Self::Mask>;

    /// A constant, rounded to the lane's format.
    fn splat(value: f64) -> Self;
    /// `self * factor + addend`, rounded once.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The value with its sign bit cleared.
    fn abs(self) -> Self;
    /// Equal; false if either is NaN.
    fn eq(self, other: Self) -> Self::Mask;
    /// Not equal; true if either is NaN.
    fn ne(self, other: Self) -> Self::Mask;
    /// Less; false if either is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// Less or equal; false if either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `yes` where `mask` holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The bits of the value.
    fn to_bits(self) -> Self::Bits;
    /// The value with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The value of an unsigned integer, rounded to nearest.
    fn from_unsigned(bits: Self::Bits) -> Self;
    /// The value of a two's complement integer, rounded to nearest.
    fn from_signed(bits: Self::Bits) -> Self;

    /// `slow()` where `mask` holds, else `fast`.
    ///
    /// For a path that is long and hardly ever taken. A scalar branches; a recorder may record a
    /// branch, or both sides and a select. The value is the same.
    fn rare(mask: Self::Mask, fast: Self, slow: impl FnOnce() -> Self) -> Self;

    /// Greater; false if either is NaN.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }
    /// Greater or equal; false if either is NaN.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }
}
