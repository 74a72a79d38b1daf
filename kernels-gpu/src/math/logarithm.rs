//! `ln`, `ln_1p`, `log2`, `log10`: reduction to `x = 2^k (1 + f)`, `1 + f` in `[2/3, 4/3)`.

use super::bits::{power_of_two, small_integer};
use super::double_word::{fast_two_sum, multiply, two_product};
use super::format::{Coefficients, Format};
use crate::lane::{Bits, Lane};

/// `k` (as integer and float) and `1 + f` of a positive normal `x = 2^k (1 + f)`.
#[inline(always)]
fn reduce<L: Lane>(x: L) -> (L::Bits, L, L) {
    let one = L::Bits::splat(L::Format::BIAS << L::Format::MANTISSA);
    // Biased by one, so that the shift may be logical.
    let shifted =
        x.to_bits().wrapping_add(one).wrapping_sub(L::Bits::splat(L::Format::TWO_THIRDS_BITS));
    let k = shifted.shr(L::Format::MANTISSA).wrapping_sub(L::Bits::splat(L::Format::BIAS));
    let significand = L::from_bits(x.to_bits().wrapping_sub(k.shl(L::Format::MANTISSA)));
    (k, small_integer(k), significand)
}

/// `x` and the exponent to add: subnormals are scaled up.
#[inline(always)]
fn normalise<L: Lane>(x: L) -> (L, L) {
    let subnormal = x.lt(L::splat(L::Format::MIN_NORMAL));
    let shift = L::Format::MANTISSA + 1;
    let scaled = x * L::splat((1u64 << shift) as f64);
    let exponent = L::select(subnormal, L::splat(-f64::from(shift)), L::splat(0.0));
    (L::select(subnormal, scaled, x), exponent)
}

/// `k ln 2 + ln(1 + f)`.
#[inline(always)]
fn combine<L: Lane>(k: L, f: L) -> L {
    let square = f * f;
    let tail = (f * square).mul_add(L::Format::ln_tail(f), square * L::splat(-0.5));
    let low = k.mul_add(L::splat(L::Format::LN2_LO), tail);
    k.mul_add(L::splat(L::Format::LN2_HI), f + low)
}

/// The value of a logarithm at `x`: `-∞` at 0, NaN below, `+∞` and NaN as they are.
#[inline(always)]
fn with_limits<L: Lane>(x: L, value: L) -> L {
    let zero = L::splat(0.0);
    let infinity = L::splat(f64::INFINITY);
    let outside = L::select(x.eq(zero), -infinity, L::splat(f64::NAN));
    let value = L::select(x.gt(zero), value, outside);
    L::select(x.eq(infinity), infinity, value)
}

/// Natural logarithm of a positive, normal, finite number: `ln` without its special cases.
#[inline(always)]
pub(crate) fn ln_of_normal<L: Lane>(x: L) -> L {
    let (_, k, significand) = reduce(x);
    combine(k, significand - L::splat(1.0))
}

/// Natural logarithm.
#[inline(always)]
pub fn ln<L: Lane>(x: L) -> L {
    let (scaled, exponent) = normalise(x);
    let (_, k, significand) = reduce(scaled);
    with_limits(x, combine(k + exponent, significand - L::splat(1.0)))
}

/// `ln(1 + x)`, without cancellation near 0.
#[inline(always)]
pub fn ln_1p<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let sum = one + x;
    let (k, k_float, significand) = reduce(sum);
    // f = 2^-k (1 + x) - 1, from x itself where 1 is not negligible beside it.
    let s = power_of_two::<L>(L::Bits::splat(0).wrapping_sub(k));
    let large = k_float.gt(L::splat(f64::from(L::Format::MANTISSA + 2)));
    let f = L::select(large, significand - one, x.mul_add(s, s - one));
    let value = with_limits(sum, combine(k_float, f));
    L::select(x.eq(L::splat(0.0)), x, value)
}

/// `log2(x)` of a positive finite number as an unevaluated sum, to about
/// `2^-(1.5 · MANTISSA)` relative.
#[inline(always)]
pub(super) fn log2_double_word<L: Lane>(x: L) -> (L, L) {
    let one = L::splat(1.0);
    let (scaled, exponent) = normalise(x);
    let (_, k, significand) = reduce(scaled);
    let k = k + exponent;
    let f = significand - one;
    // s = f / (2 + f), log2(1 + f) = (2/ln 2) atanh(s)
    let two = L::splat(2.0);
    let (divisor, divisor_low) = fast_two_sum(two, f);
    let inverse = one / divisor;
    let s = f * inverse;
    let remainder = divisor_low.mul_add(-s, divisor.mul_add(-s, f));
    let s = fast_two_sum(s, remainder * inverse);
    // z = s^2, then s (C1 + z (C3 + z q(z))): the first two terms as double words.
    let (z, z_low) = two_product(s.0, s.0);
    let z = (z, (s.0 + s.0).mul_add(s.1, z_low));
    let (u, u_low) = fast_two_sum(L::splat(L::Format::LOG2_C3_HI), z.0 * L::Format::log2_tail(z.0));
    let v = multiply(z, (u, u_low + L::splat(L::Format::LOG2_C3_LO)));
    let (w, w_low) = fast_two_sum(L::splat(L::Format::LOG2_C1_HI), v.0);
    let w = (w, w_low + (L::splat(L::Format::LOG2_C1_LO) + v.1));
    let log = multiply(s, w);
    // |k| >= 1 > |log|, or k = 0.
    let (high, low) = fast_two_sum(k, log.0);
    fast_two_sum(high, low + log.1)
}

/// Logarithm to base 2; exact for powers of two.
#[inline(always)]
pub fn log2<L: Lane>(x: L) -> L {
    with_limits(x, log2_double_word(x).0)
}

/// Logarithm to base 10.
#[inline(always)]
pub fn log10<L: Lane>(x: L) -> L {
    let factor = (L::splat(L::Format::LOG10_2_HI), L::splat(L::Format::LOG10_2_LO));
    let (high, low) = multiply(log2_double_word(x), factor);
    with_limits(x, high + low)
}
