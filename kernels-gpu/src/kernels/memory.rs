//! Kernels for models of any number of states: states and stages are columns in global memory.
//!
//! Slower than the kernels over registers, with the same operations in the same order.

use super::block::{Block, Clock, Scheme};
use super::gather::gather;
use super::observe::{Normals, draw_noise, observe, observe_network, recorded_steps};
use super::stages::Stages;
use super::{KernelFloat, Pointers};
use crate::abi::{
    EdgeRecord, GatherRecord, MonitorRecord, PointRecord, SimulationArguments, features,
};
use crate::scheme;
use cuda_std::{kernel, slot, thread};

/// What a slot over memory reads: columns of a node, each as the place of its first value.
#[derive(Clone, Copy)]
struct Node<T> {
    point_parameters: *const T,
    node_parameters: *const T,
    gathered: *const T,
    coupling: *mut T,
    signals: *const T,
}

/// A model's equations over the states of a node in memory.
trait Model<T> {
    /// See [`features`].
    fn features() -> u32;
    unsafe fn diffusion(at: Node<T>, sigma: *mut T);
    unsafe fn emit(x: *const T, time: T, at: Node<T>, channels: *mut T, stride: u64);
    unsafe fn edge(
        section: u32,
        x: *const T,
        time: T,
        at: Node<T>,
        source: *const T,
        stride: u64,
    ) -> T;
    unsafe fn post(x: *const T, time: T, at: Node<T>);
    unsafe fn drift(x: *const T, time: T, at: Node<T>, out: *mut T);
    unsafe fn disturb(x: *mut T, noise: *const T);
    unsafe fn bound(x: *mut T);
    unsafe fn event(x: *mut T, time: T, at: Node<T>);
    unsafe fn observe(x: *const T, time: T, at: Node<T>, recorded: *mut T);
    unsafe fn record(x: *const T, recorded: *mut T);
}

/// As `simulate` over registers.
///
/// # Safety
/// The arrays have the sizes that the arguments say; one block a point, threads along x.
#[inline(always)]
unsafe fn simulate<T: KernelFloat, M: Model<T>>(
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
            let at = place(&block, 0, node);
            // SAFETY: the node exists, and is this thread's.
            unsafe {
                M::diffusion(at, block.column(arguments.sigma_column, node));
                emit::<T, M>(&block, block.time(0, 0.0), at, 0, node);
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
            unsafe { step::<T, M>(&block, &mut normals, clock, recorded, node) };
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
unsafe fn step<T: KernelFloat, M: Model<T>>(
    block: &Block<T>,
    normals: &mut Normals,
    clock: Clock,
    recorded: u32,
    node: u32,
) {
    let a = &block.arguments;
    let (start, end) = (block.time(clock.step, 0.0), block.time(clock.step, 1.0));
    let at = place(block, clock.offset, node);
    let x = block.state(0, node);
    let stride = block.channel_bytes();
    // SAFETY: the caller's; slots are filled with what they are named after.
    unsafe {
        gather(block, clock, node, |section, source| {
            M::edge(section, x, start, at, source, stride)
        });
        M::post(x, start, at);
        let records = block.has(features::RECORD) && recorded > 0;
        if records {
            M::observe(x, start, at, block.column(a.recorded_column, node));
        }
        if block.has(features::NOISE) {
            draw_noise(block, normals, clock.step, node);
        }
        integrate::<T, M>(block, clock, at, node);
        if block.has(features::BOUNDS) {
            M::bound(x);
        }
        if block.has(features::EVENTS) {
            M::event(x, end, at);
        }
        let mut finite = true;
        each(a.states, |s| finite &= (*block.state(s, node)).finite());
        if !finite {
            block.note_nonfinite(node, clock.step);
        }
        emit::<T, M>(block, end, at, clock.next_position, node);
        if records {
            M::record(x, block.column(a.recorded_column, node));
            observe(block, recorded, node);
        }
    }
}

/// Moves the states on by the scheme and the noise. Stages 0 to 3 are the derivatives k1 to k4, stage
/// 4 is the state they are taken at.
///
/// # Safety
/// As [`step`].
#[inline(always)]
unsafe fn integrate<T: KernelFloat, M: Model<T>>(
    block: &Block<T>,
    clock: Clock,
    at: Node<T>,
    node: u32,
) {
    let (a, dt) = (&block.arguments, block.dt);
    let states = a.states;
    let state = |s: u32| block.state(s, node);
    let stage = |stage: u32, s: u32| block.column(a.stage_column + stage * states + s, node);
    let mut stages = Stages::new(block.features);
    // SAFETY: there is a column for every state and stage, and the node is this thread's.
    unsafe {
        let k = |order: u32, s: u32| *stage(order, s);
        let mut time = block.time(clock.step, 0.0);
        loop {
            let number = stages.number();
            let place = if number == 0 { state(0) } else { stage(4, 0) };
            M::drift(place, time, at, stage(number, 0));
            if stages.is_last() {
                break;
            }
            let to_end = stages.next_is_last();
            let h = if to_end { dt.whole } else { dt.half };
            each(states, |s| *stage(4, s) = scheme::advance(*state(s), h, k(number, s)));
            time = block.time(clock.step, if to_end { 1.0 } else { 0.5 });
            if stages.disturbed() {
                M::disturb(stage(4, 0), block.column(a.noise_column, node));
            }
            stages.advance();
        }
        match block.scheme() {
            Scheme::Euler => {
                each(states, |s| *state(s) = scheme::advance(*state(s), dt.whole, k(0, s)));
            }
            Scheme::Heun => {
                each(states, |s| *state(s) = scheme::heun(*state(s), dt.half, k(0, s), k(1, s)));
            }
            Scheme::Rk4 => each(states, |s| {
                let k = [k(0, s), k(1, s), k(2, s), k(3, s)];
                *state(s) = scheme::rk4(*state(s), dt.sixth, T::TWO, k);
            }),
            Scheme::Map => each(states, |s| *state(s) = k(0, s)),
        }
        if block.has(features::NOISE) {
            M::disturb(state(0), block.column(a.noise_column, node));
        }
    }
}

#[inline(always)]
fn each(count: u32, mut work: impl FnMut(u32)) {
    let mut index = 0;
    while index < count {
        work(index);
        index += 1;
    }
}

#[inline(always)]
unsafe fn emit<T: KernelFloat, M: Model<T>>(
    block: &Block<T>,
    time: T,
    at: Node<T>,
    position: u32,
    node: u32,
) {
    let channels = block.history(node).wrapping_add(position as usize);
    // SAFETY: the caller's: the node exists, and is this thread's.
    unsafe { M::emit(block.state(0, node), time, at, channels, block.channel_bytes()) };
}

#[inline(always)]
fn place<T: KernelFloat>(block: &Block<T>, offset: u32, node: u32) -> Node<T> {
    Node {
        point_parameters: block.point_parameters(),
        node_parameters: block.node_parameters(node),
        gathered: block.column(block.arguments.gathered_column, node),
        coupling: block.column(block.arguments.coupling_column, node),
        signals: block.signals(offset),
    }
}

/// Slots and kernel of one precision.
macro_rules! simulate {
    ($($module:ident, $kernel:ident: $float:ident;)*) => {$(
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
                unsafe fn emit_memory(
                    x: *const $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    channels: *mut $float,
                    stride: u64
                );
                #[memory(read)]
                unsafe fn edge_memory(
                    x: *const $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    section: u32,
                    source: *const $float,
                    stride: u64
                ) -> $float;
                #[memory(write)]
                unsafe fn post_memory(
                    x: *const $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    gathered: *const $float,
                    coupling: *mut $float
                );
                #[memory(write)]
                unsafe fn drift_memory(
                    x: *const $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float,
                    derivative: *mut $float
                );
                #[memory(write)]
                unsafe fn disturb_memory(x: *mut $float, noise: *const $float);
                #[memory(write)]
                unsafe fn bound_memory(x: *mut $float);
                #[memory(write)]
                unsafe fn event_memory(
                    x: *mut $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float
                );
                #[memory(write)]
                unsafe fn observe_memory(
                    x: *const $float,
                    time: $float,
                    point_parameters: *const $float,
                    node_parameters: *const $float,
                    coupling: *const $float,
                    signals: *const $float,
                    recorded: *mut $float
                );
                #[memory(write)]
                unsafe fn record_memory(x: *const $float, recorded: *mut $float);
            }

            pub(super) struct Slots;

            // SAFETY: in all functions the caller's.
            impl Model<$float> for Slots {
                #[inline(always)]
                fn features() -> u32 {
                    features()
                }
                #[inline(always)]
                unsafe fn diffusion(at: Node<$float>, sigma: *mut $float) {
                    // SAFETY: the caller's.
                    unsafe { diffusion(at.point_parameters, at.node_parameters, sigma) }
                }
                #[inline(always)]
                unsafe fn emit(
                    x: *const $float,
                    time: $float,
                    at: Node<$float>,
                    channels: *mut $float,
                    stride: u64,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { emit_memory(x, time, point, node, channels, stride) }
                }
                #[inline(always)]
                unsafe fn edge(
                    section: u32,
                    x: *const $float,
                    time: $float,
                    at: Node<$float>,
                    source: *const $float,
                    stride: u64,
                ) -> $float {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { edge_memory(x, time, point, node, section, source, stride) }
                }
                #[inline(always)]
                unsafe fn post(x: *const $float, time: $float, at: Node<$float>) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { post_memory(x, time, point, node, at.gathered, at.coupling) }
                }
                #[inline(always)]
                unsafe fn drift(x: *const $float, time: $float, at: Node<$float>, out: *mut $float) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { drift_memory(x, time, point, node, at.coupling, at.signals, out) }
                }
                #[inline(always)]
                unsafe fn disturb(x: *mut $float, noise: *const $float) {
                    // SAFETY: the caller's.
                    unsafe { disturb_memory(x, noise) }
                }
                #[inline(always)]
                unsafe fn bound(x: *mut $float) {
                    // SAFETY: the caller's.
                    unsafe { bound_memory(x) }
                }
                #[inline(always)]
                unsafe fn event(x: *mut $float, time: $float, at: Node<$float>) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe { event_memory(x, time, point, node, at.coupling, at.signals) }
                }
                #[inline(always)]
                unsafe fn observe(
                    x: *const $float,
                    time: $float,
                    at: Node<$float>,
                    recorded: *mut $float,
                ) {
                    let (point, node) = (at.point_parameters, at.node_parameters);
                    // SAFETY: the caller's.
                    unsafe {
                        observe_memory(x, time, point, node, at.coupling, at.signals, recorded)
                    }
                }
                #[inline(always)]
                unsafe fn record(x: *const $float, recorded: *mut $float) {
                    // SAFETY: the caller's.
                    unsafe { record_memory(x, recorded) }
                }
            }
        }

        /// Simulates every point of a batch, one a block, whatever the number of states.
        ///
        /// # Safety
        /// The arrays have the sizes that `docs/gpu-kernels.md` says, and the slots are filled.
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
            unsafe { simulate::<$float, $module::Slots>(arguments, pointers) };
        }
    )*};
}

simulate! {
    f32_memory, simulate_f32_memory: f32;
    f64_memory, simulate_f64_memory: f64;
}
