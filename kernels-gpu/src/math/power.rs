//! `pow`: `2^(y log2 x)`, the logarithm and the product as double words.

use super::bits::{clamp, is_sign_negative, nearest_integer, scale};
use super::format::{Coefficients, Format};
use super::logarithm::log2_double_word;
use super::rounding::trunc;
use crate::lane::Lane;

/// `x^y` with the special cases of IEEE 754 `pow`: `pow(x, ±0) = 1` and `pow(1, y) = 1` even for
/// NaN; a negative `x` needs an integer `y`.
#[inline(always)]
pub fn pow<L: Lane>(x: L, y: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let infinity = L::splat(f64::INFINITY);
    let nan = L::splat(f64::NAN);
    let magnitude = x.abs();
    let value = positive_pow(magnitude, y);
    let toward_zero = y.lt(zero);
    let value = L::select(magnitude.eq(zero), L::select(toward_zero, infinity, zero), value);
    let value = L::select(magnitude.eq(infinity), L::select(toward_zero, zero, infinity), value);
    let value = L::select(magnitude.eq(one), one, value);
    // The sign: an odd integer power of a negative number.
    let integer = trunc(y).eq(y);
    let half = y * L::splat(0.5);
    let odd = integer & trunc(half).ne(half);
    let negated = is_sign_negative(x) & odd;
    let value = L::select(negated, -value, value);
    let undefined = x.lt(zero) & magnitude.lt(infinity) & !integer;
    let value = L::select(undefined | x.ne(x) | y.ne(y), nan, value);
    L::select(y.eq(zero) | x.eq(one), one, value)
}

/// `x^y` for a positive finite `x` other than 1.
#[inline(always)]
fn positive_pow<L: Lane>(x: L, y: L) -> L {
    let (log, log_low) = log2_double_word(x);
    let power = y * log;
    let power_low = y.mul_add(log_low, y.mul_add(log, -power));
    let limit = L::Format::EXP2_MAX;
    let inside = power.abs().lt(L::splat(limit));
    let (n_float, n) = nearest_integer(clamp(power, -limit, limit), L::splat(1.0));
    let r = L::select(inside, (power - n_float) + power_low, L::splat(0.0));
    scale(r.mul_add(L::Format::exp2_tail(r), L::splat(1.0)), n)
}
