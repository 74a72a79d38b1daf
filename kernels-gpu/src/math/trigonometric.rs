//! `sin`, `cos`, `tan`.
//!
//! Each comes in two forms: `sin_fast`, right where [`is_rare`](super::is_rare) is false and
//! meaningless elsewhere, and `sin`, right everywhere. Where both are right they are equal to the
//! bit. `sin`, `cos` and `sincos` share their operations, so a compiler that sees `sin(x)` and
//! `cos(x)` side by side does the work once.

use super::bits::negate_by_bit_1;
use super::format::Coefficients;
use super::reduction::{Reduced, is_rare, reduce_fast, reduce_fast_precise, reduce_long};
use crate::lane::{Bits, Lane};

/// Sine and cosine of `r`, and whether the quadrant is even: neither is swapped then.
#[inline(always)]
fn polynomials<L: Lane>(angle: &Reduced<L>) -> (L, L, L::Mask) {
    let r = angle.r;
    let z = r * r;
    let sine = (r * z).mul_add(L::Format::sin_tail(z), r);
    let cosine = z.mul_add(z.mul_add(L::Format::cos_tail(z), L::splat(-0.5)), L::splat(1.0));
    let even = (angle.n & L::Bits::splat(1)).eq(L::Bits::splat(0));
    (sine, cosine, even)
}

/// Sine of a reduced angle.
#[inline(always)]
fn sin_of_reduced<L: Lane>(angle: &Reduced<L>) -> L {
    let (sine, cosine, even) = polynomials(angle);
    negate_by_bit_1(L::select(even, sine, cosine), angle.n)
}

/// Cosine of a reduced angle.
#[inline(always)]
fn cos_of_reduced<L: Lane>(angle: &Reduced<L>) -> L {
    let (sine, cosine, even) = polynomials(angle);
    let next = angle.n.wrapping_add(L::Bits::splat(1));
    negate_by_bit_1(L::select(even, cosine, sine), next)
}

/// Sine and cosine of a reduced angle.
#[inline(always)]
pub(crate) fn sincos_of_reduced<L: Lane>(angle: &Reduced<L>) -> (L, L) {
    let (sine, cosine, even) = polynomials(angle);
    let next = angle.n.wrapping_add(L::Bits::splat(1));
    (
        negate_by_bit_1(L::select(even, sine, cosine), angle.n),
        negate_by_bit_1(L::select(even, cosine, sine), next),
    )
}

/// Tangent of a reduced angle.
#[inline(always)]
fn tan_of_reduced<L: Lane>(angle: &Reduced<L>) -> L {
    let one = L::splat(1.0);
    let r = angle.r;
    let z = r * r;
    let tail = (r * z) * L::Format::tan_tail(z);
    let rough = r + tail;
    // The derivative of tan, 1 + tan^2, carries the low part of the angle.
    let tail = tail + (rough * rough).mul_add(angle.r_low, angle.r_low);
    let tangent = r + tail;
    let low = tail - (tangent - r);
    // Odd quadrants: -1 / (tangent + low), the quotient corrected once.
    let inverse = -(one / tangent);
    let error = inverse.mul_add(low, inverse.mul_add(tangent, one));
    let cotangent = inverse.mul_add(error, inverse);
    let even = (angle.n & L::Bits::splat(1)).eq(L::Bits::splat(0));
    L::select(even, tangent, cotangent)
}

/// Odd functions keep the sign of zero, which the polynomial loses.
#[inline(always)]
fn keep_zero<L: Lane>(x: L, value: L) -> L {
    L::select(x.eq(L::splat(0.0)), x, value)
}

/// Sine and cosine of an angle that is not rare.
#[inline(always)]
pub fn sincos_fast<L: Lane>(x: L) -> (L, L) {
    let (sine, cosine) = sincos_of_reduced(&reduce_fast(x));
    (keep_zero(x, sine), cosine)
}

/// Sine of an angle that is not rare.
#[inline(always)]
pub fn sin_fast<L: Lane>(x: L) -> L {
    keep_zero(x, sin_of_reduced(&reduce_fast(x)))
}

/// Cosine of an angle that is not rare.
#[inline(always)]
pub fn cos_fast<L: Lane>(x: L) -> L {
    cos_of_reduced(&reduce_fast(x))
}

/// Tangent of an angle that is not rare.
#[inline(always)]
pub fn tan_fast<L: Lane>(x: L) -> L {
    keep_zero(x, tan_of_reduced(&reduce_fast_precise(x)))
}

/// Sine of `x` radians; NaN for infinities.
#[inline(always)]
pub fn sin<L: Lane>(x: L) -> L {
    L::rare(is_rare(x), sin_fast(x), || sin_of_reduced(&reduce_long(x)))
}

/// Cosine of `x` radians; NaN for infinities.
#[inline(always)]
pub fn cos<L: Lane>(x: L) -> L {
    L::rare(is_rare(x), cos_fast(x), || cos_of_reduced(&reduce_long(x)))
}

/// Sine and cosine of `x` radians: the same bits as [`sin`] and [`cos`].
#[inline(always)]
pub fn sincos<L: Lane>(x: L) -> (L, L) {
    (sin(x), cos(x))
}

/// Tangent of `x` radians; NaN for infinities.
#[inline(always)]
pub fn tan<L: Lane>(x: L) -> L {
    L::rare(is_rare(x), tan_fast(x), || tan_of_reduced(&reduce_long(x)))
}
