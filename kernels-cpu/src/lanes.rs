//! Small loops over lanes that monitors and the engine need.

use crate::isa::multiversion;
use crate::real::Number;
use kernels_gpu::bold::{Constants, balloon_step, bold_signal};
use kernels_gpu::mean;

multiversion! {
    /// Whether all values are finite.
    pub(crate) fn all_finite<T: Number>(values: &[T]) -> bool {
        let mut bad = 0u32;
        for value in values {
            bad |= u32::from(!value.finite());
        }
        bad == 0
    }

    /// Adds `values` to compensated sums, lane by lane.
    pub(crate) fn accumulate<T: Number>(sums: &mut [T], compensations: &mut [T], values: &[T]) {
        for ((sum, compensation), value) in sums.iter_mut().zip(compensations).zip(values) {
            (*sum, *compensation) = mean::accumulate(*sum, *compensation, *value);
        }
    }

    /// One haemodynamic step, lane by lane.
    pub(crate) fn haemodynamics<T: Number>(
        state: &mut [Vec<T>; 4],
        activity: &[T],
        step: &Constants<T>,
    ) {
        let [s, f, v, q] = state;
        for ((((s, f), v), q), z) in s.iter_mut().zip(f).zip(v).zip(q).zip(activity) {
            [*s, *f, *v, *q] = balloon_step([*s, *f, *v, *q], *z, step);
        }
    }

    /// The BOLD signal, lane by lane.
    pub(crate) fn bold<T: Number>(
        volume: &[T],
        content: &[T],
        step: &Constants<T>,
        signal: &mut [T],
    ) {
        for ((v, q), y) in volume.iter().zip(content).zip(signal) {
            *y = bold_signal(*v, *q, step);
        }
    }
}
