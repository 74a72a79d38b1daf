//! Small loops over lanes that monitors and the tile need.

use super::isa::multiversion;
use super::real::Real;
use kernels_gpu::mean;

multiversion! {
    /// Whether all values are finite.
    pub(crate) fn all_finite<T: Real>(values: &[T]) -> bool {
        let mut bad = 0u32;
        for value in values {
            bad |= u32::from(!value.finite());
        }
        bad == 0
    }

    /// Adds `values` to compensated sums, lane by lane.
    pub(crate) fn accumulate<T: Real>(sums: &mut [T], compensations: &mut [T], values: &[T]) {
        for ((sum, compensation), value) in sums.iter_mut().zip(compensations).zip(values) {
            (*sum, *compensation) = mean::accumulate(*sum, *compensation, *value);
        }
    }
}
