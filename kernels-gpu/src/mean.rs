//! Means over time that lose no digits.
//!
//! Kahan's compensated sum (Comm. ACM 8 (1965) 40) in the precision of the run: the error of the sum
//! is about two units in the last place of `Σ|x|`, however many steps. The order is that of time.

use crate::scheme::Arithmetic;

/// Adds `x` to a compensated sum; returns the new sum and the new compensation. Both start at 0.
#[inline(always)]
pub fn accumulate<L: Arithmetic>(sum: L, compensation: L, x: L) -> (L, L) {
    let corrected = x.minus(compensation);
    let next = sum.plus(corrected);
    (next, next.minus(sum).minus(corrected))
}
