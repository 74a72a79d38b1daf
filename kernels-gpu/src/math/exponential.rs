//! `exp`, `exp2`, `expm1`: reduction to `2^n · e^r`, `|r| <= ln(2)/2`.

use super::bits::{clamp, nearest_integer, power_of_two, scale};
use super::format::{Coefficients, Format};
use crate::lane::{Bits, Lane};

/// `x = n ln 2 + r.0 + r.1` with `|r.0| <= ln(2)/2`, `r.1` below its rounding error.
pub(super) struct Exponent<L: Lane> {
    pub(super) n: L::Bits,
    pub(super) r: L,
    pub(super) r_low: L,
}

/// Cody–Waite reduction of an argument in the range of `exp`.
#[inline(always)]
pub(super) fn reduce<L: Lane>(x: L) -> Exponent<L> {
    let (n_float, n) = nearest_integer(x, L::splat(L::Format::LOG2_E));
    let exact = n_float.mul_add(L::splat(-L::Format::LN2_HI), x);
    let low = L::splat(-L::Format::LN2_LO);
    let r = n_float.mul_add(low, exact);
    Exponent { n, r, r_low: n_float.mul_add(low, exact - r) }
}

/// `e^r - 1` and `n` of `x = n ln 2 + r`, for `x` in the range of `exp`.
#[inline(always)]
pub(super) fn expm1_and_exponent<L: Lane>(x: L) -> (L, L::Bits) {
    let Exponent { n, r, .. } = reduce(x);
    ((r * r).mul_add(L::Format::exp_tail(r), r), n)
}

/// `e^x`.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let (p, n) = expm1_and_exponent(clamp(x, L::Format::EXP_MIN, L::Format::EXP_MAX));
    scale(L::splat(1.0) + p, n)
}

/// `2^x`; exact for integers.
#[inline(always)]
pub fn exp2<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let x = clamp(x, -L::Format::EXP2_MAX, L::Format::EXP2_MAX);
    let (n_float, n) = nearest_integer(x, one);
    let r = x - n_float;
    scale(r.mul_add(L::Format::exp2_tail(r), one), n)
}

/// `e^x - 1`, without cancellation near 0.
#[inline(always)]
pub fn expm1<L: Lane>(x: L) -> L {
    let tiny = x.abs().lt(L::splat(1.0 / (4u64 << L::Format::MANTISSA) as f64));
    let Exponent { n, r, r_low } = reduce(clamp(x, L::Format::EXPM1_MIN, L::Format::EXP_MAX));
    let tail = (r * r).mul_add(L::Format::exp_tail(r), r_low);
    // Half of the result, because 2^n itself may overflow where e^x does not.
    let half = L::splat(0.5);
    let s = power_of_two::<L>(n.wrapping_sub(L::Bits::splat(1)));
    let sum = s.mul_add(tail, s.mul_add(r, s - half));
    L::select(tiny, x, sum + sum)
}
