//! Argument reduction of `sin`, `cos` and `tan`: `x = n π/2 + r`, `|r| <= π/4` and a little.
//!
//! Below [`Format::REDUCE_MAX`] three parts of π/2 and fused multiply-adds do it (W. J. Cody,
//! W. Waite, *Software Manual for the Elementary Functions*, 1980). Above, the product of `x` with
//! as many bits of 2/π as matter is formed in integers (M. H. Payne, R. N. Hanek, "Radian
//! reduction for trigonometric functions", 1983).

use super::bits::{is_sign_negative, nearest_integer};
use super::double_word::{fast_two_sum, two_product, two_sum};
use super::format::{Coefficients, Format};
use crate::lane::{Bits, Lane};

/// A reduced angle `n π/2 + r + r_low`; only `n mod 4` matters.
pub(crate) struct Reduced<L: Lane> {
    pub(crate) n: L::Bits,
    pub(crate) r: L,
    pub(crate) r_low: L,
}

/// Whether `sin`, `cos` and `tan` of `x` need the long reduction: `|x| >= 2^19` in binary32,
/// `2^30` in binary64, and infinities.
#[inline(always)]
pub fn is_rare<L: Lane>(x: L) -> L::Mask {
    x.abs().ge(L::splat(L::Format::REDUCE_MAX))
}

/// Reduction of an angle that is not [rare](is_rare), without the low part.
#[inline(always)]
pub(super) fn reduce_fast<L: Lane>(x: L) -> Reduced<L> {
    let (n_float, n) = nearest_integer(x, L::splat(L::Format::FRAC_2_PI));
    // Exact: both terms are multiples of the last bit of PIO2_1 and the difference is below 1.
    let first = n_float.mul_add(L::splat(-L::Format::PIO2_1), x);
    let second = n_float.mul_add(L::splat(-L::Format::PIO2_2), first);
    let r = n_float.mul_add(L::splat(-L::Format::PIO2_3), second);
    Reduced { n, r, r_low: L::splat(0.0) }
}

/// [`reduce_fast`] with the low part.
#[inline(always)]
pub(super) fn reduce_fast_precise<L: Lane>(x: L) -> Reduced<L> {
    let (n_float, n) = nearest_integer(x, L::splat(L::Format::FRAC_2_PI));
    let first = n_float.mul_add(L::splat(-L::Format::PIO2_1), x);
    let (part, part_low) = two_product(n_float, L::splat(L::Format::PIO2_2));
    let (second, second_low) = two_sum(first, -part);
    let low = n_float.mul_add(L::splat(-L::Format::PIO2_3), second_low - part_low);
    let (r, r_low) = fast_two_sum(second, low);
    Reduced { n, r, r_low }
}

/// Reduction of an angle in `[0, 2π]`, for random directions.
#[inline(always)]
pub(crate) fn reduce_turn<L: Lane>(x: L) -> Reduced<L> {
    let (n_float, n) = nearest_integer(x, L::splat(L::Format::FRAC_2_PI));
    let first = n_float.mul_add(L::splat(-L::Format::PIO2_1), x);
    let r = n_float.mul_add(L::splat(-L::Format::PIO2_2), first);
    Reduced { n, r, r_low: L::splat(0.0) }
}

/// Reduction of an angle that is [rare](is_rare); NaN for infinities.
#[inline(always)]
pub(super) fn reduce_long<L: Lane>(x: L) -> Reduced<L> {
    let constant = L::Bits::splat;
    let width = L::Format::WIDTH;
    let mantissa = L::Format::MANTISSA;
    // |x| = m 2^e, m an integer of MANTISSA + 1 bits.
    let bits = x.abs().to_bits();
    let hidden = constant(1 << mantissa);
    let m = (bits & constant((1 << mantissa) - 1)) | hidden;
    // Bits of 2/π above weight 2^(1-e) contribute multiples of 4 quadrants; the table starts with
    // a word of zeros, so the first bit that matters has index e - 2 + WIDTH >= 0.
    let first_bit = bits
        .shr(mantissa)
        .wrapping_add(constant(u64::from(width) - 2))
        .wrapping_sub(constant(L::Format::BIAS + u64::from(mantissa)));
    let index = first_bit.shr(L::Format::LOG2_WIDTH);
    let offset = first_bit & constant(u64::from(width) - 1);
    let (w0, w1, w2) = window::<L>(index, offset);
    // The product modulo 4 quadrants: the top two bits count quadrants, the rest is a fraction.
    let (low1, high1) = (m.wrapping_mul(w1), m.mul_high(w1));
    let middle = low1.wrapping_add(m.mul_high(w2));
    let carry = L::Bits::select(middle.lt(low1), constant(1), constant(0));
    let top = m.wrapping_mul(w0).wrapping_add(high1).wrapping_add(carry);
    let last = m.wrapping_mul(w2);
    let fraction0 = top.shl(2) | middle.shr(width - 2);
    let fraction1 = middle.shl(2) | last.shr(width - 2);
    // To nearest: a fraction above one half counts from the next quadrant down.
    let above = fraction0.slt(constant(0));
    let flip = L::Bits::select(above, !constant(0), constant(0));
    let n = top.shr(width - 2).wrapping_sub(flip);
    let (high, low) = fraction_to_float::<L>(fraction0 ^ flip, fraction1 ^ flip);
    // Radians.
    let half_pi = L::splat(L::Format::PIO2_HI);
    let (r, r_low) = two_product(high, half_pi);
    let r_low = high.mul_add(L::splat(L::Format::PIO2_LO), low.mul_add(half_pi, r_low));
    let (r, r_low) = fast_two_sum(r, r_low);
    let negative = is_sign_negative(x);
    let n = L::Bits::select(negative, constant(0).wrapping_sub(n), n);
    let minus = (negative & !above) | (!negative & above);
    let finite = bits.lt(L::splat(f64::INFINITY).to_bits());
    Reduced {
        n,
        r: L::select(finite, L::select(minus, -r, r), L::splat(f64::NAN)),
        r_low: L::select(minus, -r_low, r_low),
    }
}

/// Three words of 2/π from bit `offset` of word `index` on. Selected one by one: an array that is
/// indexed at run time would live in a GPU's slow local memory.
#[inline(always)]
fn window<L: Lane>(index: L::Bits, offset: L::Bits) -> (L::Bits, L::Bits, L::Bits) {
    let table = L::Format::TWO_OVER_PI;
    let word = |at: usize| L::Bits::splat(table[at]);
    let (mut w0, mut w1, mut w2, mut w3) = (word(0), word(1), word(2), word(3));
    for at in 1..table.len() - 3 {
        let here = index.eq(L::Bits::splat(at as u64));
        w0 = L::Bits::select(here, word(at), w0);
        w1 = L::Bits::select(here, word(at + 1), w1);
        w2 = L::Bits::select(here, word(at + 2), w2);
        w3 = L::Bits::select(here, word(at + 3), w3);
    }
    let back = L::Bits::splat(u64::from(L::Format::WIDTH) - 1).wrapping_sub(offset);
    let join = |a: L::Bits, b: L::Bits| a.shl_by(offset) | b.shr(1).shr_by(back);
    (join(w0, w1), join(w1, w2), join(w2, w3))
}

/// A two-word binary fraction as an unevaluated sum of floats.
#[inline(always)]
fn fraction_to_float<L: Lane>(word0: L::Bits, word1: L::Bits) -> (L, L) {
    let width = L::Format::WIDTH;
    let spare = width - (L::Format::MANTISSA + 1);
    let spare_mask = L::Bits::splat((1 << spare) - 1);
    let unit = |exponent: u32| L::splat(1.0 / (2.0 * (1u64 << (exponent - 1)) as f64));
    // Three pieces, of which the first and the last convert exactly.
    let high = L::from_unsigned(word0 & !spare_mask) * unit(width);
    let middle_bits = (word0 & spare_mask).shl(width - spare) | word1.shr(spare);
    let middle = L::from_unsigned(middle_bits) * unit(width) * unit(width - spare);
    let low = L::from_unsigned(word1 & spare_mask) * unit(width) * unit(width);
    fast_two_sum(high, middle + low)
}
