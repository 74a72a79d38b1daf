//! `asin`, `acos`, `atan`, `atan2`.

use super::bits::{is_sign_negative, with_sign};
use super::double_word::fast_two_sum;
use super::format::Coefficients;
use crate::lane::Lane;

/// With `a = |x|`: the root `s` and `asin(s) - s`, where `s = a` up to 1/2 and
/// `s = sqrt((1 - a)/2)` above, where `asin(a) = π/2 - 2 asin(s)`.
#[inline(always)]
fn half_angle<L: Lane>(magnitude: L) -> (L::Mask, L, L) {
    let large = magnitude.gt(L::splat(0.5));
    let half = L::splat(0.5);
    let z = L::select(large, (L::splat(1.0) - magnitude) * half, magnitude * magnitude);
    let s = L::select(large, z.sqrt(), magnitude);
    (large, s, s * z * L::Format::asin_tail(z))
}

/// Inverse sine, in `[-π/2, π/2]`; NaN outside `[-1, 1]`.
#[inline(always)]
pub fn asin<L: Lane>(x: L) -> L {
    let two = L::splat(2.0);
    let (large, s, tail) = half_angle(x.abs());
    let (above, above_low) = fast_two_sum(L::splat(L::Format::PIO2_HI), s * -two);
    let above = above - (tail.mul_add(two, L::splat(-L::Format::PIO2_LO)) - above_low);
    with_sign(L::select(large, above, s + tail), x)
}

/// Inverse cosine, in `[0, π]`; NaN outside `[-1, 1]`.
#[inline(always)]
pub fn acos<L: Lane>(x: L) -> L {
    let two = L::splat(2.0);
    let (large, s, tail) = half_angle(x.abs());
    let negative = is_sign_negative(x);
    let right = (s + tail) * two;
    let left = s.mul_add(-two, L::splat(2.0 * L::Format::PIO2_HI))
        - tail.mul_add(two, L::splat(-2.0 * L::Format::PIO2_LO));
    let signed_s = L::select(negative, -s, s);
    let signed_tail = L::select(negative, -tail, tail);
    let middle =
        L::splat(L::Format::PIO2_HI) - (signed_s + (signed_tail - L::splat(L::Format::PIO2_LO)));
    L::select(large, L::select(negative, left, right), middle)
}

/// `atan(num/den)` of a quotient in `[0, 1]`.
#[inline(always)]
fn atan_of_quotient<L: Lane>(quotient: L) -> L {
    let z = quotient * quotient;
    (quotient * z).mul_add(L::Format::atan_tail(z), quotient)
}

/// Inverse tangent, in `[-π/2, π/2]`.
#[inline(always)]
pub fn atan<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let magnitude = x.abs();
    let large = magnitude.gt(one);
    let quotient = L::select(large, one, magnitude) / L::select(large, magnitude, one);
    let angle = atan_of_quotient(quotient);
    let angle = L::select(magnitude.eq(one), L::splat(0.5 * L::Format::PIO2_HI), angle);
    let complement = L::splat(L::Format::PIO2_HI) - (angle - L::splat(L::Format::PIO2_LO));
    with_sign(L::select(large, complement, angle), x)
}

/// The angle of the point `(x, y)`, in `[-π, π]`; signed zeros and infinities as in IEEE 754.
#[inline(always)]
pub fn atan2<L: Lane>(y: L, x: L) -> L {
    let zero = L::splat(0.0);
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ay.gt(ax);
    let numerator = L::select(steep, ax, ay);
    let denominator = L::select(steep, ay, ax);
    let angle = atan_of_quotient(numerator / denominator);
    // The diagonals exactly, and both infinite; then both zero.
    let angle = L::select(numerator.eq(denominator), L::splat(0.5 * L::Format::PIO2_HI), angle);
    let angle = L::select((ax + ay).eq(zero), zero, angle);
    // ± angle from the nearest multiple of π/2.
    let left = is_sign_negative(x);
    let subtract = (steep & !left) | (!steep & left);
    let angle = L::select(subtract, -angle, angle);
    let pick =
        |half: f64| L::select(steep, L::splat(half), L::select(left, L::splat(2.0 * half), zero));
    let base = pick(L::Format::PIO2_HI) + (angle + pick(L::Format::PIO2_LO));
    with_sign(base, y)
}
