//! Unevaluated sums of two floats, for the few places where one is not precise enough.
//!
//! T. J. Dekker, "A floating-point technique for extending the available precision" (1971);
//! D. E. Knuth, *TAOCP* vol. 2, 4.2.2.

use crate::lane::Lane;

/// `a + b` as rounded sum and error, for `|a| >= |b|` or `a = 0`.
#[inline(always)]
pub(super) fn fast_two_sum<L: Lane>(a: L, b: L) -> (L, L) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a + b` as rounded sum and error.
#[inline(always)]
pub(super) fn two_sum<L: Lane>(a: L, b: L) -> (L, L) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a · b` as rounded product and error.
#[inline(always)]
pub(super) fn two_product<L: Lane>(a: L, b: L) -> (L, L) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// Product of two double words, to about twice the precision of one.
#[inline(always)]
pub(super) fn multiply<L: Lane>(a: (L, L), b: (L, L)) -> (L, L) {
    let (high, low) = two_product(a.0, b.0);
    (high, a.0.mul_add(b.1, a.1.mul_add(b.0, low)))
}
