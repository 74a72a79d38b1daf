//! Rounding to integers, remainder, sign, minimum and maximum. All but [`rem_floor`] are exact.

use super::Format;
use super::bits::with_sign;
use crate::lane::{Bits, Lane};

/// The nearest integer, ties to even; keeps the sign of zero.
#[inline(always)]
pub fn round_even<L: Lane>(x: L) -> L {
    let magnitude = x.abs();
    let shift = L::splat((1u64 << L::Format::MANTISSA) as f64);
    let rounded = (magnitude + shift) - shift;
    // Larger numbers are integers already; NaN stays.
    L::select(magnitude.lt(shift), with_sign(rounded, x), x)
}

/// The largest integer not above `x`.
#[inline(always)]
pub fn floor<L: Lane>(x: L) -> L {
    let rounded = round_even(x);
    L::select(rounded.gt(x), rounded - L::splat(1.0), rounded)
}

/// The smallest integer not below `x`.
#[inline(always)]
pub fn ceil<L: Lane>(x: L) -> L {
    -floor(-x)
}

/// The integer part, toward zero.
#[inline(always)]
pub fn trunc<L: Lane>(x: L) -> L {
    with_sign(floor(x.abs()), x)
}

/// -1, 0 or 1 with the sign of `x`; ±0 and NaN stay.
#[inline(always)]
pub fn sign<L: Lane>(x: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    L::select(x.gt(zero), one, L::select(x.lt(zero), -one, x))
}

/// The smaller of two values; NaN if either is NaN; `y` if they are equal (±0).
#[inline(always)]
pub fn min<L: Lane>(x: L, y: L) -> L {
    L::select(x.lt(y) | x.ne(x), x, y)
}

/// The larger of two values; NaN if either is NaN; `y` if they are equal (±0).
#[inline(always)]
pub fn max<L: Lane>(x: L, y: L) -> L {
    L::select(x.gt(y) | x.ne(x), x, y)
}

/// `x - y floor(x/y)`: the remainder that has the sign of the divisor (`Mod` of SymPy, `%` of
/// Python). Zero has the divisor's sign; NaN for `y = 0`, infinite `x` or NaN.
///
/// Exact where the remainder for positive operands, `fmod`, is the result; where the signs differ,
/// `fmod + y` is rounded once.
///
/// Quotients beyond `2^(MANTISSA - 1)` take a long path: see [`rem_floor_fast`].
#[inline(always)]
pub fn rem_floor<L: Lane>(x: L, y: L) -> L {
    L::rare(is_rare_quotient(x, y), rem_floor_fast(x, y), || {
        with_divisor_sign(x, y, remainder_long(x.abs(), y.abs()))
    })
}

/// [`rem_floor`] where [`is_rare_quotient`] is false; meaningless elsewhere.
#[inline(always)]
pub fn rem_floor_fast<L: Lane>(x: L, y: L) -> L {
    with_divisor_sign(x, y, remainder_step(x.abs(), y.abs()))
}

/// Whether `|x/y|` is too large for one step of [`rem_floor`]: `2^22` in binary32, `2^51` in
/// binary64.
#[inline(always)]
pub fn is_rare_quotient<L: Lane>(x: L, y: L) -> L::Mask {
    (x / y).abs().ge(L::splat((1u64 << (L::Format::MANTISSA - 1)) as f64))
}

/// The remainder of `x` by `y` from that of their magnitudes.
#[inline(always)]
fn with_divisor_sign<L: Lane>(x: L, y: L, remainder: L) -> L {
    let zero = L::splat(0.0);
    let (magnitude, divisor) = (x.abs(), y.abs());
    let sign = L::Bits::splat(L::Format::SIGN);
    let same_sign = ((x.to_bits() ^ y.to_bits()) & sign).eq(L::Bits::splat(0));
    let as_is = same_sign | remainder.eq(zero);
    let value = with_sign(L::select(as_is, remainder, divisor - remainder), y);
    // A finite number modulo an infinite one: itself, or the divisor where the signs differ.
    let infinity = L::splat(f64::INFINITY);
    let beyond = divisor.eq(infinity) & magnitude.lt(infinity);
    let limit = with_sign(L::select(same_sign | x.eq(zero), magnitude, divisor), y);
    L::select(beyond, limit, value)
}

/// `a mod b` of non-negative numbers with a quotient below `2^MANTISSA`.
#[inline(always)]
fn remainder_step<L: Lane>(a: L, b: L) -> L {
    let quotient = floor(a / b);
    // The quotient may be one too large, never too small.
    let r = b.mul_add(-quotient, a);
    L::select(r.lt(L::splat(0.0)), r + b, r)
}

/// `a mod b` for any quotient: by the divisor scaled with ever smaller powers of two.
#[inline(always)]
fn remainder_long<L: Lane>(a: L, b: L) -> L {
    let stride = L::Format::MANTISSA - 1;
    let mut r = a;
    for round in (0..L::Format::REM_ROUNDS).rev() {
        // Three factors, because 2^(stride · round) itself may be out of range. Where the product
        // overflows, it is above r and the round does nothing.
        let exponent = stride * round;
        let [first, second] = [exponent / 3, exponent.div_ceil(3)];
        let factor = |exponent: u32| L::splat(f64::from_bits((1023 + u64::from(exponent)) << 52));
        let scaled = b * factor(first) * factor(second) * factor(exponent - first - second);
        r = L::select(scaled.le(r), remainder_step(r, scaled), r);
    }
    r
}
