//! Operations on the sign and the exponent of a lane.

use super::Format;
use crate::lane::{Bits, Lane};

/// `magnitude`, which has no sign bit, with the sign of `sign`.
#[inline(always)]
pub(super) fn with_sign<L: Lane>(magnitude: L, sign: L) -> L {
    L::from_bits(magnitude.to_bits() | (sign.to_bits() & L::Bits::splat(L::Format::SIGN)))
}

/// Whether the sign bit is set, of -0 and of NaN too.
#[inline(always)]
pub(super) fn is_sign_negative<L: Lane>(x: L) -> L::Mask {
    x.to_bits().slt(L::Bits::splat(0))
}

/// The value flipped in sign where bit 1 of `quadrant` is set.
#[inline(always)]
pub(super) fn negate_by_bit_1<L: Lane>(x: L, quadrant: L::Bits) -> L {
    let sign = (quadrant & L::Bits::splat(2)).shl(L::Format::WIDTH - 2);
    L::from_bits(x.to_bits() ^ sign)
}

/// `2^n` for `n + BIAS` in the range of normal exponents.
#[inline(always)]
pub(super) fn power_of_two<L: Lane>(n: L::Bits) -> L {
    L::from_bits(n.wrapping_add(L::Bits::splat(L::Format::BIAS)).shl(L::Format::MANTISSA))
}

/// `x · 2^n`, rounded once, for `|x|` near 1 and `|n| < 2 BIAS`: overflows and underflows properly.
#[inline(always)]
pub(super) fn scale<L: Lane>(x: L, n: L::Bits) -> L {
    // Two factors whose exponents are both normal. Both are kept biased, so that a logical shift
    // halves (AVX2 has no arithmetic shift of 64-bit lanes).
    let sum = n.wrapping_add(L::Bits::splat(2 * L::Format::BIAS));
    let half = sum.shr(1);
    let first = L::from_bits(half.shl(L::Format::MANTISSA));
    let second = L::from_bits(sum.wrapping_sub(half).shl(L::Format::MANTISSA));
    x * first * second
}

/// The nearest integer to `x · factor`, as a float and as an integer; `|x · factor| < 2^(MANTISSA - 1)`.
#[inline(always)]
pub(super) fn nearest_integer<L: Lane>(x: L, factor: L) -> (L, L::Bits) {
    let magic = L::splat(L::Format::MAGIC);
    let shifted = x.mul_add(factor, magic);
    (shifted - magic, shifted.to_bits().wrapping_sub(L::Bits::splat(L::Format::MAGIC_BITS)))
}

/// The float of a small two's complement integer, `|n| < 2^(MANTISSA - 1)`: two operations that
/// every SIMD unit has, unlike the conversion of 64-bit integers.
#[inline(always)]
pub(super) fn small_integer<L: Lane>(n: L::Bits) -> L {
    L::from_bits(n.wrapping_add(L::Bits::splat(L::Format::MAGIC_BITS))) - L::splat(L::Format::MAGIC)
}

/// `x` limited to `[low, high]`; NaN stays.
#[inline(always)]
pub(super) fn clamp<L: Lane>(x: L, low: f64, high: f64) -> L {
    let (low, high) = (L::splat(low), L::splat(high));
    let x = L::select(x.lt(low), low, x);
    L::select(x.gt(high), high, x)
}
