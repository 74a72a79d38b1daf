//! `erf` and `erfc`.
//!
//! Near 0 `erf` is a polynomial. Elsewhere `erfc(x) = e^(-x²) p(t) / (x + a)` with
//! `t = (x - a)/(x + a)`, which maps the half line to `[-1, 1)`, where the scaled function is smooth
//! (the substitution is that of M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
//! (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞", 1981).

use super::bits::{clamp, is_sign_negative, scale, with_sign};
use super::double_word::{fast_two_sum, two_product, two_sum};
use super::exponential::{Exponent, reduce};
use super::format::{Coefficients, Format};
use crate::lane::Lane;

/// `erf(x)` for `|x| <= 3/4`.
#[inline(always)]
fn erf_near<L: Lane>(x: L) -> L {
    x.mul_add(L::Format::erf_tail(x * x), x)
}

/// The polynomial at `t + t_low` times `inverse`, as a double word: its last two steps keep their
/// rounding errors.
#[inline(always)]
fn scaled_erfc<L: Lane>(t: L, t_low: L, inverse: L) -> (L, L) {
    let rest = t * L::Format::erfcx_tail(t);
    let (slope, slope_low) = fast_two_sum(L::splat(L::Format::ERFCX_C1), rest);
    let (product, product_low) = two_product(t, slope);
    // d/dt (t slope) = slope + t d(slope)/dt, the last term nearly `rest`.
    let product_low = t_low.mul_add(slope + rest, t.mul_add(slope_low, product_low));
    let (value, value_low) = fast_two_sum(L::splat(L::Format::ERFCX_C0_HI), product);
    let value_low = value_low + (product_low + L::splat(L::Format::ERFCX_C0_LO));
    let (scaled, scaled_low) = two_product(value, inverse);
    (scaled, value_low.mul_add(inverse, scaled_low))
}

/// `erfc(x)` for `x >= 1/2`.
#[inline(always)]
fn erfc_far<L: Lane>(magnitude: L) -> L {
    let one = L::splat(1.0);
    let x = clamp(magnitude, 0.0, L::Format::ERFC_MAX);
    let centre = L::splat(L::Format::ERFC_CENTRE);
    let (sum, sum_low) = two_sum(x, centre);
    let inverse = one / sum;
    let error = sum_low.mul_add(-inverse, sum.mul_add(-inverse, one));
    let (difference, difference_low) = two_sum(x, -centre);
    let t = difference * inverse;
    let t_low = t.mul_add(-sum, difference) + t.mul_add(-sum_low, difference_low);
    let (scaled, scaled_low) = scaled_erfc(t, t_low * inverse, inverse);
    // e^(-x²): the rounding error of x² matters, and goes into the reduced argument.
    let (square, square_low) = two_product(x, x);
    let Exponent { n, r, r_low } = reduce(-square);
    let (r, r_low) = two_sum(r, r_low - square_low);
    let p = (r * r).mul_add(L::Format::exp_tail(r), r_low) + r;
    scale(scaled + scaled.mul_add(p + error, scaled_low * (one + p)), n)
}

/// The error function.
#[inline(always)]
pub fn erf<L: Lane>(x: L) -> L {
    let magnitude = x.abs();
    let far = L::splat(1.0) - erfc_far(magnitude);
    with_sign(L::select(magnitude.lt(L::splat(0.75)), erf_near(magnitude), far), x)
}

/// `1 - erf(x)`, without cancellation for large `x`.
#[inline(always)]
pub fn erfc<L: Lane>(x: L) -> L {
    let magnitude = x.abs();
    let near = L::splat(1.0) - erf_near(x);
    let far = erfc_far(magnitude);
    let far = L::select(is_sign_negative(x), L::splat(2.0) - far, far);
    L::select(magnitude.lt(L::splat(0.5)), near, far)
}
