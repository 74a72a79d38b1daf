//! `sinh`, `cosh`, `tanh`: a polynomial near 0, exponentials elsewhere.

use super::bits::{power_of_two, scale, with_sign};
use super::exponential::expm1_and_exponent;
use super::format::{Coefficients, Format};
use crate::lane::{Bits, Lane};

/// `e^|x| / 2`, which is finite wherever `sinh` and `cosh` are.
#[inline(always)]
fn half_exp<L: Lane>(magnitude: L) -> L {
    let top = L::splat(L::Format::EXP_MAX + 1.0);
    let (p, n) = expm1_and_exponent(L::select(magnitude.gt(top), top, magnitude));
    scale(L::splat(1.0) + p, n.wrapping_sub(L::Bits::splat(1)))
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<L: Lane>(x: L) -> L {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = (magnitude * square).mul_add(L::Format::sinh_tail(square), magnitude);
    let half = half_exp(magnitude);
    let far = half - L::splat(0.25) / half;
    with_sign(L::select(magnitude.lt(L::splat(1.0)), near, far), x)
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<L: Lane>(x: L) -> L {
    let half = half_exp(x.abs());
    half + L::splat(0.25) / half
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = (magnitude * square).mul_add(L::Format::tanh_tail(square), magnitude);
    // From TANH_MAX on, tanh is 1; below, 2^n is far from overflow.
    let top = L::splat(L::Format::TANH_MAX);
    let limited = L::select(magnitude.gt(top), top, magnitude);
    let (p, n) = expm1_and_exponent(limited + limited);
    let s = power_of_two::<L>(n);
    let exponential = s.mul_add(p, s);
    let far = one - L::splat(2.0) / (exponential + one);
    with_sign(L::select(magnitude.lt(L::splat(0.625)), near, far), x)
}
