//! The order in which the afferents of a node are summed: a part of the numerical contract.
//!
//! A sum has one accumulator, which starts at 0 and takes one fused multiply-add an edge. The edges come
//! in three passes, sources ascending in each:
//!
//! 1. [`Pass::Far`]: what they read for [`BLOCK`] steps is known when the block starts;
//! 2. [`Pass::Middle`]: the same for [`NEAR_BLOCK`] steps;
//! 3. [`Pass::Near`]: what they read may be as young as the step itself.
//!
//! So an engine may run a pass for a block of steps at once, and nodes then need not exchange anything
//! within the block.

use crate::lane::Lane;
use crate::ring::{BLOCK, NEAR_BLOCK, is_far};

/// A part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Delays of at least [`BLOCK`] steps.
    Far,
    /// Shorter delays of at least [`NEAR_BLOCK`] steps.
    Middle,
    /// Delays of fewer than [`NEAR_BLOCK`] steps, and none.
    Near,
}

impl Pass {
    /// All passes, in the order of summation.
    pub const ALL: [Self; 3] = [Self::Far, Self::Middle, Self::Near];
}

const _: () = assert!(BLOCK.is_multiple_of(NEAR_BLOCK), "a block is cut into whole near blocks");

/// The pass of an edge whose delay is `delay` steps.
#[inline(always)]
pub const fn pass_of(delay: u32) -> Pass {
    if is_far(delay) {
        Pass::Far
    } else if delay as usize >= NEAR_BLOCK {
        Pass::Middle
    } else {
        Pass::Near
    }
}

/// A sum, from its accumulator after the last pass: a sum that is zero is +0. So a multiplication by a
/// weight of 0 has no effect on any sum of finite numbers, and an engine may sum dense rows.
#[inline(always)]
pub fn finish<L: Lane>(accumulator: L) -> L {
    accumulator + L::splat(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_fall_into_their_passes() {
        let passes = [0, 1, 7, 8, 9, 31, 32, 33, u32::MAX].map(pass_of);
        use Pass::{Far, Middle, Near};
        assert_eq!(passes, [Near, Near, Near, Middle, Middle, Middle, Far, Far, Far]);
    }

    #[test]
    fn an_edge_of_weight_zero_has_no_effect() {
        // The product of the edge before underflows to −0.
        let sum = 1e-40_f32.mul_add(-1e-40, 0.0);
        assert!(sum == 0.0 && sum.is_sign_negative());
        for h in [3.0_f32, -3.0] {
            assert_eq!(finish(0.0_f32.mul_add(h, sum)).to_bits(), finish(sum).to_bits());
            assert_eq!(finish(0.0_f32.mul_add(h, -2.5)).to_bits(), (-2.5_f32).to_bits());
        }
        assert!(finish(f32::NAN).is_nan());
    }
}
