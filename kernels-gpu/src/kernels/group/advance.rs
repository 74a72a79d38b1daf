//! Steps of all points of a group.

use super::model::{Model, Surroundings};
use super::observe::{draw_noise, observe, observe_network, recorded_steps};
use super::place::{Group, GroupPointers, Lane};
use super::sums::{middle, near, products};
use crate::abi::{GroupArguments, RING, features, grouped};
use crate::kernels::KernelFloat;
use crate::kernels::observe::Normals;
use crate::kernels::stages::integrate;
use crate::ring::NEAR_BLOCK;
use core::array;
use cuda_std::thread;

/// Runs the steps of a launch for the block's group. With delays, a launch of no steps makes the history
/// before step 0, which the first far sums read.
///
/// # Safety
/// The arrays have the sizes that the arguments say; one block a group, threads along x.
#[inline(always)]
pub(super) unsafe fn advance<T: KernelFloat, const S: usize, M: Model<T, S>>(
    arguments: GroupArguments,
    pointers: GroupPointers<T>,
) {
    // SAFETY: the caller's.
    let group = unsafe { Group::new(arguments, pointers, M::features()) };
    // SAFETY: as above.
    unsafe {
        bring_columns(&group, true);
        thread::sync_threads();
        if group.has(grouped::DELAYED) && group.arguments.steps > 0 {
            bring_ring(&group);
        } else {
            each_lane(&group, |lane| {
                emit::<T, S, M>(&group, load(&group, lane), group.time(0, 0.0), 0, lane);
            });
        }
        thread::sync_threads();
        if group.has(grouped::DELAYED) && group.arguments.steps == 0 {
            fill_history(&group);
        } else if group.has(grouped::DELAYED) {
            delayed::<T, S, M>(&group);
        } else {
            undelayed::<T, S, M>(&group);
        }
        bring_columns(&group, false);
    }
}

/// Near block after near block.
///
/// # Safety
/// As [`advance`]; the ring is known up to the first step.
#[inline(always)]
unsafe fn delayed<T: KernelFloat, const S: usize, M: Model<T, S>>(group: &Group<T>) {
    let steps = group.arguments.steps;
    let mut normals = Normals::new();
    let mut first = 0;
    while first < steps {
        // SAFETY: the caller's; barriers stand between what threads write and others read.
        unsafe {
            match group.width() {
                1 => middle::<T, 1>(group, first),
                2 => middle::<T, 2>(group, first),
                _ => middle::<T, 4>(group, first),
            }
            thread::sync_threads();
            let end =
                if steps - first < NEAR_BLOCK as u32 { steps } else { first + NEAR_BLOCK as u32 };
            let mut step = first;
            while step < end {
                let recorded = recorded_steps(group, step);
                let mut number = thread::thread_idx_x();
                while number < group.lanes() {
                    if let Some(lane) = group.lane(number) {
                        near(group, step, lane);
                        let slot = (group.first_step as u32).wrapping_add(step + 1) % RING;
                        let sums = group.gathered(step % NEAR_BLOCK as u32, lane);
                        one_step::<T, S, M>(group, &mut normals, step, recorded, lane, sums, slot);
                    }
                    number += thread::block_dim_x();
                }
                thread::sync_threads();
                network::<T>(group, recorded);
                step += 1;
            }
            keep_history(group, first, end);
            thread::sync_threads();
            first = end;
        }
    }
}

/// Step after step, all sums of a step at once.
///
/// # Safety
/// As [`advance`]; the ring is known at slot 0.
#[inline(always)]
unsafe fn undelayed<T: KernelFloat, const S: usize, M: Model<T, S>>(group: &Group<T>) {
    let mut normals = Normals::new();
    let mut step = 0;
    while step < group.arguments.steps {
        // SAFETY: the caller's; barriers stand between what threads write and others read.
        unsafe {
            products(group, 0);
            thread::sync_threads();
            let recorded = recorded_steps(group, step);
            let mut number = thread::thread_idx_x();
            while number < group.lanes() {
                if let Some(lane) = group.lane(number) {
                    let sums = group.gathered(0, lane);
                    one_step::<T, S, M>(group, &mut normals, step, recorded, lane, sums, 0);
                }
                number += thread::block_dim_x();
            }
            thread::sync_threads();
            network::<T>(group, recorded);
        }
        step += 1;
    }
}

/// Rows of means over nodes.
///
/// # Safety
/// Behind a barrier, to which all threads came.
#[inline(always)]
unsafe fn network<T: KernelFloat>(group: &Group<T>, recorded: u32) {
    if group.arguments.recorded_by_lane != 0 && group.has(features::RECORD) && recorded > 0 {
        // SAFETY: the caller's.
        if unsafe { observe_network(group, recorded) } {
            thread::sync_threads();
        }
    }
}

/// Runs over the lanes of the thread whose point exists.
#[inline(always)]
fn each_lane<T: KernelFloat>(group: &Group<T>, mut action: impl FnMut(Lane)) {
    let mut number = thread::thread_idx_x();
    while number < group.lanes() {
        if let Some(lane) = group.lane(number) {
            action(lane);
        }
        number += thread::block_dim_x();
    }
}

/// One step of one lane. `sums` is where its gathered sums are, `slot` where its channels go.
///
/// # Safety
/// The lane exists, no other thread has it, and its sums are those of the step.
#[inline(always)]
unsafe fn one_step<T: KernelFloat, const S: usize, M: Model<T, S>>(
    group: &Group<T>,
    normals: &mut Normals,
    step: u32,
    recorded: u32,
    lane: Lane,
    sums: cuda_std::shared::SharedPtr<T>,
    slot: u32,
) {
    let (start, end) = (group.time(step, 0.0), group.time(step, 1.0));
    let at = surroundings(group, step, lane);
    let records = group.has(features::RECORD) && recorded > 0;
    // SAFETY: the caller's; slots are filled with what they are named after.
    unsafe {
        let x: [T; S] = load(group, lane);
        M::post(x, start, at, sums.address());
        let out = group.recorded(0, lane).address();
        if records {
            M::observe(x, start, at, out);
        }
        if group.has(features::NOISE) {
            M::diffusion(at, own(group, group.arguments.sigma_at));
            draw_noise(group, normals, step, lane);
        }
        let noise = own(group, group.arguments.noise_at);
        let mut next = integrate(
            group.features,
            group.dt,
            x,
            |part| group.time(step, part),
            |x, time| M::drift(x, time, at),
            |x| M::disturb(x, noise),
        );
        if group.has(features::BOUNDS) {
            next = M::bound(next);
        }
        if group.has(features::EVENTS) {
            next = M::event(next, end, at);
        }
        let mut finite = true;
        let mut state = 0;
        while state < S {
            group.column(state as u32, lane).store(next[state]);
            finite &= next[state].finite();
            state += 1;
        }
        if !finite {
            group.note_nonfinite(lane, group.first_step + u64::from(step));
        }
        emit::<T, S, M>(group, next, end, slot, lane);
        if records {
            M::record(next, out);
            observe(group, recorded, lane);
        }
    }
}

/// The thread's own value of the first of some columns.
#[inline(always)]
fn own<T: KernelFloat>(group: &Group<T>, offset: u32) -> u32 {
    group.shared(offset, thread::thread_idx_x()).address()
}

#[inline(always)]
fn surroundings<T: KernelFloat>(group: &Group<T>, step: u32, lane: Lane) -> Surroundings<T> {
    let (a, p) = (&group.arguments, &group.pointers);
    let by_point = lane.point as usize * a.point_parameters as usize;
    let by_step = (a.offset + step) as usize * a.signals as usize;
    Surroundings {
        point_parameters: p.point_parameters.wrapping_add(by_point),
        node_parameters: p.node_parameters.wrapping_add(lane.node as usize),
        signals: p.signals.wrapping_add(by_step),
        coupling: own(group, a.coupling_at),
    }
}

/// # Safety
/// The lane's states are known.
#[inline(always)]
unsafe fn load<T: KernelFloat, const S: usize>(group: &Group<T>, lane: Lane) -> [T; S] {
    // SAFETY: one column a state.
    array::from_fn(|state| unsafe { group.column(state as u32, lane).load() })
}

/// # Safety
/// No thread reads the slot.
#[inline(always)]
unsafe fn emit<T: KernelFloat, const S: usize, M: Model<T, S>>(
    group: &Group<T>,
    x: [T; S],
    time: T,
    slot: u32,
    lane: Lane,
) {
    let at = surroundings(group, 0, lane);
    // SAFETY: the caller's.
    unsafe { M::emit(x, time, at, group.ring(slot, lane.number).address()) };
}

/// Copies what lanes keep into shared memory, or back.
///
/// # Safety
/// A barrier must follow, or stand before.
#[inline(always)]
unsafe fn bring_columns<T: KernelFloat>(group: &Group<T>, into_shared: bool) {
    let a = &group.arguments;
    let count = a.columns * group.lanes();
    let outside = group.pointers.columns.wrapping_add(group.number as usize * count as usize);
    let mut at = thread::thread_idx_x();
    while at < count {
        let (outside, inside) = (outside.wrapping_add(at as usize), group.shared(a.columns_at, at));
        // SAFETY: all lanes have all columns, in both places.
        unsafe {
            if into_shared {
                inside.store(*outside);
            } else {
                *outside = inside.load();
            }
        }
        at += thread::block_dim_x();
    }
}

/// Runs over the values of the history at `steps` slots from step `first` of the launch on: the value
/// in the history, and its place in the ring.
#[inline(always)]
fn each_value<T: KernelFloat>(
    group: &Group<T>,
    first: u32,
    steps: u32,
    mut action: impl FnMut(*mut T, cuda_std::shared::SharedPtr<T>),
) {
    let a = &group.arguments;
    let width = a.channels << a.point_shift;
    let per_node = steps * width;
    let mask = group.record.capacity - 1;
    let mut node = 0;
    let mut rest = thread::thread_idx_x();
    while node < a.nodes {
        while rest >= per_node {
            rest -= per_node;
            node += 1;
        }
        if node >= a.nodes {
            break;
        }
        let step = rest / width;
        let value = rest - step * width;
        let point = value / a.channels;
        let channel = value - point * a.channels;
        if point < group.record.points {
            let now = (group.first_step as u32).wrapping_add(first.wrapping_add(step));
            let lane = (node << a.point_shift) + point;
            let place = (now & mask) * group.width() + value;
            let inside = group.ring(now % RING, lane).add(channel * group.lanes());
            action(group.history(node).wrapping_add(place as usize), inside);
        }
        rest += thread::block_dim_x();
    }
}

/// Writes the channels after the steps `first` to `end` of the launch into the history.
///
/// # Safety
/// Behind a barrier; another must follow.
#[inline(always)]
unsafe fn keep_history<T: KernelFloat>(group: &Group<T>, first: u32, end: u32) {
    // SAFETY: the history has a place for every step.
    each_value(group, first + 1, end - first, |outside, inside| unsafe {
        *outside = inside.load();
    });
}

/// Reads the channels that near edges need from the history.
///
/// # Safety
/// A barrier must follow.
#[inline(always)]
unsafe fn bring_ring<T: KernelFloat>(group: &Group<T>) {
    let before = NEAR_BLOCK as u32 - 1;
    // Steps before the launch, and its first: places are taken modulo the capacity.
    let first = 0_u32.wrapping_sub(before);
    // SAFETY: the history has a place for every step.
    each_value(group, first, before + 1, |outside, inside| unsafe {
        inside.store(*outside);
    });
}

/// Makes the past of step 0 what step 0 is.
///
/// # Safety
/// The ring is known at slot 0.
#[inline(always)]
unsafe fn fill_history<T: KernelFloat>(group: &Group<T>) {
    let a = &group.arguments;
    each_lane(group, |lane| {
        let point = lane.number - (lane.node << a.point_shift);
        let mut channel = 0;
        while channel < a.channels {
            let column = channel * group.lanes();
            let value = point * a.channels + channel;
            // SAFETY: the slots and places are the lane's own.
            unsafe {
                let now = group.ring(0, lane.number).add(column).load();
                let mut step = 0;
                while step < group.record.capacity {
                    let place = step * group.width() + value;
                    *group.history(lane.node).add(place as usize) = now;
                    step += 1;
                }
            }
            channel += 1;
        }
    });
}
