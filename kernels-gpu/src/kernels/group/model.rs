//! The slots of the `advance` kernels, and the kernels: one for each precision and number of states.
//!
//! They are those of the other simulation kernels, but for where they find what a lane reads: sums,
//! coupling inputs, noise, channels and recorded variables are in shared memory, as 32-bit addresses.

use super::advance::advance;
use super::place::GroupPointers;
use crate::abi::{
    ChunkRecord, EdgeRecord, GatherRecord, GroupArguments, GroupRecord, MonitorRecord, PointRecord,
    RowRecord,
};
use cuda_std::{kernel, slot};

/// Where a slot finds what a lane reads besides its states.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<T> {
    pub(super) point_parameters: *const T,
    pub(super) node_parameters: *const T,
    pub(super) signals: *const T,
    /// The first coupling input of the thread.
    pub(super) coupling: u32,
}

/// A model's equations over the states of a lane.
pub(super) trait Model<T, const S: usize> {
    /// See [`crate::abi::features`] and [`crate::abi::grouped`].
    fn features() -> u32;
    /// Writes the noise amplitudes.
    unsafe fn diffusion(at: Surroundings<T>, sigma: u32);
    /// Writes the channels.
    unsafe fn emit(x: [T; S], time: T, at: Surroundings<T>, channels: u32);
    /// Writes the coupling inputs.
    unsafe fn post(x: [T; S], time: T, at: Surroundings<T>, gathered: u32);
    /// The derivative, or the next state of a map.
    unsafe fn drift(x: [T; S], time: T, at: Surroundings<T>) -> [T; S];
    /// The states, those with noise moved by it.
    unsafe fn disturb(x: [T; S], noise: u32) -> [T; S];
    /// The states within bounds.
    fn bound(x: [T; S]) -> [T; S];
    /// The states after events.
    unsafe fn event(x: [T; S], time: T, at: Surroundings<T>) -> [T; S];
    /// Writes the recorded variables that are not states.
    unsafe fn observe(x: [T; S], time: T, at: Surroundings<T>, recorded: u32);
    /// Writes the recorded variables that are states.
    unsafe fn record(x: [T; S], recorded: u32);
}

/// Slots and kernel of one precision and number of states.
macro_rules! advance {
    ($($module:ident, $kernel:ident: $float:ident, $states:literal;)*) => {$(
        mod $module {
            use super::*;

            slot! {
                fn features() -> u32;
                #[memory(write)]
                unsafe fn diffusion(
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    sigma: u32
                );
                #[memory(write)]
                unsafe fn emit(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    channels: u32
                );
                #[memory(write)]
                unsafe fn post(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    gathered: u32,
                    coupling: u32
                );
                #[memory(read)]
                unsafe fn drift(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: u32,
                    signals: *const $float
                ) -> [$float; $states];
                #[memory(read)]
                unsafe fn disturb(x: [$float; $states], noise: u32) -> [$float; $states];
                fn bound(x: [$float; $states]) -> [$float; $states];
                #[memory(read)]
                unsafe fn event(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: u32,
                    signals: *const $float
                ) -> [$float; $states];
                #[memory(write)]
                unsafe fn observe(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: u32,
                    signals: *const $float,
                    recorded: u32
                );
                #[memory(write)]
                unsafe fn record(x: [$float; $states], recorded: u32);
            }

            pub(super) struct Slots;

            // SAFETY of all calls: the caller's.
            #[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
            impl Model<$float, $states> for Slots {
                #[inline(always)]
                fn features() -> u32 {
                    features()
                }
                #[inline(always)]
                unsafe fn diffusion(at: Surroundings<$float>, sigma: u32) {
                    unsafe { diffusion(at.point_parameters, at.node_parameters, sigma) }
                }
                #[inline(always)]
                unsafe fn emit(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    channels: u32,
                ) {
                    unsafe { emit(x, time, at.point_parameters, at.node_parameters, channels) }
                }
                #[inline(always)]
                unsafe fn post(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    gathered: u32,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    unsafe { post(x, time, point, node, gathered, at.coupling) }
                }
                #[inline(always)]
                unsafe fn drift(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                ) -> [$float; $states] {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    unsafe { drift(x, time, point, node, at.coupling, at.signals) }
                }
                #[inline(always)]
                unsafe fn disturb(x: [$float; $states], noise: u32) -> [$float; $states] {
                    unsafe { disturb(x, noise) }
                }
                #[inline(always)]
                fn bound(x: [$float; $states]) -> [$float; $states] {
                    bound(x)
                }
                #[inline(always)]
                unsafe fn event(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                ) -> [$float; $states] {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    unsafe { event(x, time, point, node, at.coupling, at.signals) }
                }
                #[inline(always)]
                unsafe fn observe(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    recorded: u32,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    unsafe { observe(x, time, point, node, at.coupling, at.signals, recorded) }
                }
                #[inline(always)]
                unsafe fn record(x: [$float; $states], recorded: u32) {
                    unsafe { record(x, recorded) }
                }
            }
        }

        /// Makes the steps of a launch for every group of a batch, one group a block.
        ///
        /// # Safety
        /// The arrays have the sizes that `docs/gpu-kernels.md` says, and the slots are filled for
        /// a model of this many states.
        #[kernel]
        #[allow(clippy::too_many_arguments, reason = "pointers must be parameters of their own")]
        pub unsafe fn $kernel(
            arguments: GroupArguments,
            chunk: *const ChunkRecord,
            groups: *const GroupRecord,
            points: *const PointRecord,
            columns: *mut $float,
            history: *mut $float,
            far: *const $float,
            rows: *mut $float,
            nonfinite: *mut u64,
            point_parameters: *const $float,
            node_parameters: *const $float,
            signals: *const $float,
            gathers: *const GatherRecord,
            edge_rows: *const RowRecord,
            edges: *const EdgeRecord,
            weights: *const $float,
            row_sums: *const $float,
            dense: *const $float,
            monitors: *const MonitorRecord,
        ) {
            let pointers = GroupPointers {
                chunk, groups, points, columns, history, far, rows, nonfinite, point_parameters,
                node_parameters, signals, gathers, edge_rows, edges, weights, row_sums, dense,
                monitors,
            };
            // SAFETY: the caller's.
            unsafe { advance::<$float, $states, $module::Slots>(arguments, pointers) };
        }
    )*};
}

/// Numbers of states that have an `advance` kernel.
pub const ADVANCE_STATES: [usize; 10] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16];

advance! {
    f32_1, advance_f32_1: f32, 1;
    f32_2, advance_f32_2: f32, 2;
    f32_3, advance_f32_3: f32, 3;
    f32_4, advance_f32_4: f32, 4;
    f32_5, advance_f32_5: f32, 5;
    f32_6, advance_f32_6: f32, 6;
    f32_8, advance_f32_8: f32, 8;
    f32_10, advance_f32_10: f32, 10;
    f32_12, advance_f32_12: f32, 12;
    f32_16, advance_f32_16: f32, 16;
    f64_1, advance_f64_1: f64, 1;
    f64_2, advance_f64_2: f64, 2;
    f64_3, advance_f64_3: f64, 3;
    f64_4, advance_f64_4: f64, 4;
    f64_5, advance_f64_5: f64, 5;
    f64_6, advance_f64_6: f64, 6;
    f64_8, advance_f64_8: f64, 8;
    f64_10, advance_f64_10: f64, 10;
    f64_12, advance_f64_12: f64, 12;
    f64_16, advance_f64_16: f64, 16;
}
