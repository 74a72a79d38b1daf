//! Kernels that keep the states of a node in registers, one for each number of states.
//!
//! A model with fewer states than its kernel gets dummies that stay 0.

use super::block::{Block, Clock};
use super::gather::gather;
use super::observe::{Normals, draw_noise, observe, observe_network, recorded_steps};
use super::stages::integrate;
use super::{KernelFloat, Pointers};
use crate::abi::{
    EdgeRecord, GatherRecord, MonitorRecord, PointRecord, SimulationArguments, features,
};
use core::array;
use cuda_std::{kernel, slot, thread};

/// Where a slot finds what a node reads besides its states.
#[derive(Clone, Copy)]
struct Surroundings<T> {
    point_parameters: *const T,
    node_parameters: *const T,
    coupling: *mut T,
    signals: *const T,
}

/// A model's equations over the states of a node.
trait Model<T, const S: usize> {
    /// See [`features`].
    fn features() -> u32;
    /// Writes the noise amplitudes.
    unsafe fn diffusion(at: Surroundings<T>, sigma: *mut T);
    /// Writes the channels, one every `stride` bytes.
    unsafe fn emit(x: [T; S], time: T, at: Surroundings<T>, channels: *mut T, stride: u64);
    /// The value of an edge of a section that does not separate.
    unsafe fn edge(
        section: u32,
        x: [T; S],
        time: T,
        at: Surroundings<T>,
        source: *const T,
        stride: u64,
    ) -> T;
    /// Writes the coupling inputs.
    unsafe fn post(x: [T; S], time: T, at: Surroundings<T>, gathered: *const T);
    /// The derivative, or the next state of a map.
    unsafe fn drift(x: [T; S], time: T, at: Surroundings<T>) -> [T; S];
    /// The states, those with noise moved by it.
    unsafe fn disturb(x: [T; S], noise: *const T) -> [T; S];
    /// The states within bounds.
    fn bound(x: [T; S]) -> [T; S];
    /// The states after events.
    unsafe fn event(x: [T; S], time: T, at: Surroundings<T>) -> [T; S];
    /// Writes the recorded variables that are not states.
    unsafe fn observe(x: [T; S], time: T, at: Surroundings<T>, recorded: *mut T);
    /// Writes the recorded variables that are states.
    unsafe fn record(x: [T; S], recorded: *mut T);
}

/// Runs the steps of a launch for the block's point.
///
/// # Safety
/// The arrays have the sizes that the arguments say; one block a point, threads along x.
#[inline(always)]
unsafe fn simulate<T: KernelFloat, const S: usize, M: Model<T, S>>(
    arguments: SimulationArguments,
    pointers: Pointers<T>,
) {
    // SAFETY: the caller's.
    let block = unsafe { Block::new(arguments, pointers, M::features()) };
    let nodes = arguments.nodes;
    let mut clock = Clock::new(arguments.first_step, block.record.capacity);
    if arguments.first_step == 0 {
        let mut node = thread::thread_idx_x();
        while node < nodes {
            // SAFETY: the node exists, and is this thread's.
            unsafe {
                let at = surroundings(&block, 0, node);
                M::diffusion(at, block.column(arguments.sigma_column, node));
                emit::<T, S, M>(&block, load(&block, node), block.time(0, 0.0), at, 0, node);
                block.fill_history(node);
            }
            node += thread::block_dim_x();
        }
        thread::sync_threads();
    }
    let mut normals = Normals::new();
    while clock.offset < arguments.steps {
        let recorded = recorded_steps(&block, clock);
        let mut node = thread::thread_idx_x();
        while node < nodes {
            // SAFETY: the node exists, and is this thread's.
            unsafe { step::<T, S, M>(&block, &mut normals, clock, recorded, node) };
            node += thread::block_dim_x();
        }
        thread::sync_threads();
        if block.has(features::RECORD) && recorded > 0 {
            // SAFETY: the barrier is behind us.
            if unsafe { observe_network(&block, recorded) } {
                thread::sync_threads();
            }
        }
        clock.advance(block.record.capacity);
    }
}

/// One step of one node.
///
/// # Safety
/// The node exists, no other thread has it, and the history is known up to the clock's step.
#[inline(always)]
unsafe fn step<T: KernelFloat, const S: usize, M: Model<T, S>>(
    block: &Block<T>,
    normals: &mut Normals,
    clock: Clock,
    recorded: u32,
    node: u32,
) {
    let a = &block.arguments;
    let (start, end) = (block.time(clock.step, 0.0), block.time(clock.step, 1.0));
    // SAFETY: the caller's; slots are filled with what they are named after.
    unsafe {
        let x: [T; S] = load(block, node);
        let at = surroundings(block, clock.offset, node);
        let stride = block.channel_bytes();
        gather(block, clock, node, |section, source| {
            M::edge(section, x, start, at, source, stride)
        });
        M::post(x, start, at, block.column(a.gathered_column, node));
        let records = block.has(features::RECORD) && recorded > 0;
        if records {
            M::observe(x, start, at, block.column(a.recorded_column, node));
        }
        if block.has(features::NOISE) {
            draw_noise(block, normals, clock.step, node);
        }
        let noise = block.column(a.noise_column, node);
        let mut next = integrate(
            block.features,
            block.dt,
            x,
            |part| block.time(clock.step, part),
            |x, time| M::drift(x, time, at),
            |x| M::disturb(x, noise),
        );
        if block.has(features::BOUNDS) {
            next = M::bound(next);
        }
        if block.has(features::EVENTS) {
            next = M::event(next, end, at);
        }
        let mut finite = true;
        let mut state = 0;
        while state < S {
            *block.state(state as u32, node) = next[state];
            finite &= next[state].finite();
            state += 1;
        }
        if !finite {
            block.note_nonfinite(node, clock.step);
        }
        emit::<T, S, M>(block, next, end, at, clock.next_position, node);
        if records {
            M::record(next, block.column(a.recorded_column, node));
            observe(block, recorded, node);
        }
    }
}

#[inline(always)]
unsafe fn load<T: KernelFloat, const S: usize>(block: &Block<T>, node: u32) -> [T; S] {
    // SAFETY: one column a state.
    array::from_fn(|state| unsafe { *block.state(state as u32, node) })
}

#[inline(always)]
unsafe fn emit<T: KernelFloat, const S: usize, M: Model<T, S>>(
    block: &Block<T>,
    x: [T; S],
    time: T,
    at: Surroundings<T>,
    position: u32,
    node: u32,
) {
    let channels = block.history(node).wrapping_add(position as usize);
    // SAFETY: the caller's: the node exists, and is this thread's.
    unsafe { M::emit(x, time, at, channels, block.channel_bytes()) };
}

#[inline(always)]
fn surroundings<T: KernelFloat>(block: &Block<T>, offset: u32, node: u32) -> Surroundings<T> {
    Surroundings {
        point_parameters: block.point_parameters(),
        node_parameters: block.node_parameters(node),
        coupling: block.column(block.arguments.coupling_column, node),
        signals: block.signals(offset),
    }
}

/// Slots and kernel of one precision and number of states. Slots of all kernels have the same names:
/// their operands tell them apart.
macro_rules! simulate {
    ($($module:ident, $kernel:ident: $float:ident, $states:literal;)*) => {$(
        mod $module {
            use super::*;

            slot! {
                fn features() -> u32;
                #[memory(write)]
                unsafe fn diffusion(
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    sigma: *mut $float
                );
                #[memory(write)]
                unsafe fn emit(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    channels: *mut $float,
                    stride: u64
                );
                #[memory(read)]
                unsafe fn edge(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    section: u32,
                    source: *const $float,
                    stride: u64
                ) -> $float;
                #[memory(write)]
                unsafe fn post(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    gathered: *const $float,
                    coupling: *mut $float
                );
                #[memory(read)]
                unsafe fn drift(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float
                ) -> [$float; $states];
                #[memory(read)]
                unsafe fn disturb(x: [$float; $states], noise: *const $float) -> [$float; $states];
                fn bound(x: [$float; $states]) -> [$float; $states];
                #[memory(read)]
                unsafe fn event(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float
                ) -> [$float; $states];
                #[memory(write)]
                unsafe fn observe(
                    x: [$float; $states],
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float,
                    recorded: *mut $float
                );
                #[memory(write)]
                unsafe fn record(x: [$float; $states], recorded: *mut $float);
            }

            pub(super) struct Slots;

            impl Model<$float, $states> for Slots {
                #[inline(always)]
                fn features() -> u32 {
                    features()
                }
                #[inline(always)]
                unsafe fn diffusion(at: Surroundings<$float>, sigma: *mut $float) {
                    // SAFETY: the caller's, as in all of the following.
                    unsafe { diffusion(at.point_parameters, at.node_parameters, sigma) }
                }
                #[inline(always)]
                unsafe fn emit(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    channels: *mut $float,
                    stride: u64,
                ) {
                    // SAFETY: the caller's.
                    unsafe {
                        emit(x, time, at.point_parameters, at.node_parameters, channels, stride)
                    }
                }
                #[inline(always)]
                unsafe fn edge(
                    section: u32,
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    source: *const $float,
                    stride: u64,
                ) -> $float {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { edge(x, time, point, node, section, source, stride) }
                }
                #[inline(always)]
                unsafe fn post(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    gathered: *const $float,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { post(x, time, point, node, gathered, at.coupling) }
                }
                #[inline(always)]
                unsafe fn drift(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                ) -> [$float; $states] {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { drift(x, time, point, node, at.coupling, at.signals) }
                }
                #[inline(always)]
                unsafe fn disturb(x: [$float; $states], noise: *const $float) -> [$float; $states] {
                    // SAFETY: the caller's.
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
                    // SAFETY: the caller's.
                    unsafe { event(x, time, point, node, at.coupling, at.signals) }
                }
                #[inline(always)]
                unsafe fn observe(
                    x: [$float; $states],
                    time: $float,
                    at: Surroundings<$float>,
                    recorded: *mut $float,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { observe(x, time, point, node, at.coupling, at.signals, recorded) }
                }
                #[inline(always)]
                unsafe fn record(x: [$float; $states], recorded: *mut $float) {
                    // SAFETY: the caller's.
                    unsafe { record(x, recorded) }
                }
            }
        }

        /// Simulates every point of a batch, one a block.
        ///
        /// # Safety
        /// The arrays have the sizes that `docs/gpu-kernels.md` says, and the slots are filled for
        /// a model of this many states.
        #[kernel]
        #[allow(clippy::too_many_arguments, reason = "pointers must be parameters of their own")]
        pub unsafe fn $kernel(
            arguments: SimulationArguments,
            columns: *mut $float,
            history: *mut $float,
            rows: *mut $float,
            nonfinite: *mut u64,
            points: *const PointRecord,
            point_parameters: *const $float,
            node_parameters: *const $float,
            signals: *const $float,
            gathers: *const GatherRecord,
            row_starts: *const u32,
            edges: *const EdgeRecord,
            weights: *const $float,
            row_sums: *const $float,
            monitors: *const MonitorRecord,
        ) {
            let pointers = Pointers {
                columns, history, rows, nonfinite, points, point_parameters, node_parameters,
                signals, gathers, row_starts, edges, weights, row_sums, monitors,
            };
            // SAFETY: the caller's.
            unsafe { simulate::<$float, $states, $module::Slots>(arguments, pointers) };
        }
    )*};
}

/// Numbers of states that have a kernel over registers; beyond, the kernel over memory serves.
pub const REGISTER_STATES: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16];

simulate! {
    f32_1, simulate_f32_1: f32, 1;
    f32_2, simulate_f32_2: f32, 2;
    f32_3, simulate_f32_3: f32, 3;
    f32_4, simulate_f32_4: f32, 4;
    f32_5, simulate_f32_5: f32, 5;
    f32_6, simulate_f32_6: f32, 6;
    f32_7, simulate_f32_7: f32, 7;
    f32_8, simulate_f32_8: f32, 8;
    f32_10, simulate_f32_10: f32, 10;
    f32_12, simulate_f32_12: f32, 12;
    f32_16, simulate_f32_16: f32, 16;
    f64_1, simulate_f64_1: f64, 1;
    f64_2, simulate_f64_2: f64, 2;
    f64_3, simulate_f64_3: f64, 3;
    f64_4, simulate_f64_4: f64, 4;
    f64_5, simulate_f64_5: f64, 5;
    f64_6, simulate_f64_6: f64, 6;
    f64_7, simulate_f64_7: f64, 7;
    f64_8, simulate_f64_8: f64, 8;
    f64_10, simulate_f64_10: f64, 10;
    f64_12, simulate_f64_12: f64, 12;
    f64_16, simulate_f64_16: f64, 16;
}
