//! Noise going in, observations coming out: what a step of a lane does, whatever the model.

use super::place::{Group, Lane};
use crate::abi::{MonitorRecord, features};
use crate::bold::{Constants, balloon_step, bold_signal};
use crate::kernels::KernelFloat;
use crate::kernels::observe::{Normals, rows_after};
use crate::mean::accumulate;
use crate::noise::{normal_index, subsequence};
use crate::scheme;
use cuda_std::shared::SharedPtr;
use cuda_std::thread;

/// Draws the noise of a lane for a step into the thread's columns.
///
/// # Safety
/// The lane exists.
#[inline(always)]
pub(super) unsafe fn draw_noise<T: KernelFloat>(
    group: &Group<T>,
    normals: &mut Normals,
    step: u32,
    lane: Lane,
) {
    let a = &group.arguments;
    // SAFETY: one record a point; columns of the thread.
    unsafe {
        let key = (*group.pointers.points.add(lane.point as usize)).key;
        let sequence = subsequence(key, lane.node);
        let mut variable = 0;
        while variable < a.noisy {
            let index = normal_index(group.first_step + u64::from(step), a.noisy, variable);
            let curand = group.has(features::CURAND);
            let z = T::from_f32(normals.get(curand, a.seed, sequence, index));
            let place = variable * thread::block_dim_x() + thread::thread_idx_x();
            let sigma = group.shared(a.sigma_at, place).load();
            group.shared(a.noise_at, place).store(scheme::noise(sigma, group.dt.root, z));
            variable += 1;
        }
    }
}

/// Recorded steps of this chunk up to and with a step of the launch; 0 during the transient.
#[inline(always)]
pub(super) fn recorded_steps<T: KernelFloat>(group: &Group<T>, step: u32) -> u32 {
    let a = &group.arguments;
    let chunk = group.first_step - u64::from(a.offset);
    let now = group.first_step + u64::from(step);
    if now < a.transient_steps {
        return 0;
    }
    let start = if chunk > a.transient_steps { chunk } else { a.transient_steps };
    (now - start) as u32 + 1
}

/// Adds the recorded variables of a lane to its means and to time series with one value a node.
///
/// # Safety
/// The lane exists; its recorded columns are those of the `recorded`th step.
#[inline(always)]
pub(super) unsafe fn observe<T: KernelFloat>(group: &Group<T>, recorded: u32, lane: Lane) {
    let a = &group.arguments;
    if a.mean != 0 {
        let mut variable = 0;
        while variable < a.variables {
            // SAFETY: two columns a variable.
            unsafe { add_to_mean(group, a.mean_column, variable, lane) };
            variable += 1;
        }
    }
    let mut index = 0;
    while index < a.monitors {
        // SAFETY: one record a time series.
        let monitor = unsafe { &*group.pointers.monitors.add(index as usize) };
        index += 1;
        let kind = monitor.kind;
        if kind == MonitorRecord::NODE_MEAN {
            continue;
        }
        if group.has(features::BOLD) && kind == MonitorRecord::BOLD {
            // SAFETY: the caller's.
            unsafe { respond(group, monitor, recorded, lane) };
            continue;
        }
        let window = kind == MonitorRecord::WINDOW;
        let (rows, due) = rows_after(monitor, recorded);
        if !due && !window {
            continue;
        }
        let mut variable = 0;
        while variable < a.variables {
            // SAFETY: the columns exist, and there is room for the rows of the chunk.
            unsafe {
                let value = if window {
                    add_to_mean(group, monitor.column, variable, lane)
                } else {
                    group.recorded(variable, lane)
                };
                if due {
                    let row = row(monitor, lane.point, rows - 1, variable) * a.nodes as usize;
                    let place = row + lane.node as usize;
                    let place = group.pointers.rows.add(monitor.rows as usize + place);
                    if window {
                        *place = value.load() / T::from_u32(monitor.period);
                        value.store(T::ZERO);
                        group.column(monitor.column + a.variables + variable, lane).store(T::ZERO);
                    } else {
                        *place = value.load();
                    }
                }
            }
            variable += 1;
        }
    }
}

/// Rows of means over nodes that are due after a step. All threads of a block come here, after a
/// barrier; returns whether any has read what others recorded.
///
/// # Safety
/// Recorded variables have a value a lane, those of the `recorded`th step.
#[inline(always)]
pub(super) unsafe fn observe_network<T: KernelFloat>(group: &Group<T>, recorded: u32) -> bool {
    let a = &group.arguments;
    let (mut index, mut any) = (0, false);
    while index < a.monitors {
        // SAFETY: one record a time series.
        let monitor = unsafe { &*group.pointers.monitors.add(index as usize) };
        index += 1;
        if monitor.kind != MonitorRecord::NODE_MEAN {
            continue;
        }
        let (rows, due) = rows_after(monitor, recorded);
        if !due {
            continue;
        }
        any = true;
        let mut number = thread::thread_idx_x();
        while number < a.variables << a.point_shift {
            let variable = number >> a.point_shift;
            let point = number - (variable << a.point_shift);
            number += thread::block_dim_x();
            let Some(first) = group.lane(point) else { continue };
            let mut sum = (T::ZERO, T::ZERO);
            let mut node = 0;
            while node < a.nodes {
                let lane = Lane { number: (node << a.point_shift) + point, ..first };
                // SAFETY: a column of every variable.
                let value = unsafe { group.recorded(variable, lane).load() };
                sum = accumulate(sum.0, sum.1, value);
                node += 1;
            }
            let row = row(monitor, first.point, rows - 1, variable);
            // SAFETY: there is room for the rows of the chunk.
            unsafe {
                *group.pointers.rows.add(monitor.rows as usize + row) =
                    sum.0 / T::from_u32(a.nodes);
            }
        }
    }
    any
}

/// The number of a row and variable among all of a time series.
#[inline(always)]
fn row(monitor: &MonitorRecord, point: u32, row: u32, variable: u32) -> usize {
    (point as usize * monitor.capacity as usize + row as usize) * monitor.variables as usize
        + variable as usize
}

/// Moves the haemodynamic response of a lane on where a haemodynamic step ends, and samples it where a
/// sample is due.
///
/// # Safety
/// As [`observe`]; the monitor is a response.
#[inline(always)]
unsafe fn respond<T: KernelFloat>(
    group: &Group<T>,
    monitor: &MonitorRecord,
    recorded: u32,
    lane: Lane,
) {
    let column = |at: u32| group.column(monitor.column + at, lane);
    // SAFETY: six columns a response, and there is room for the rows of the chunk.
    unsafe {
        let value = group.recorded(monitor.variable, lane).load();
        let (sum, compensation) = accumulate(column(0).load(), column(1).load(), value);
        column(0).store(sum);
        column(1).store(compensation);
        if !(monitor.stride_phase + recorded).is_multiple_of(monitor.stride) {
            return;
        }
        let activity = sum / T::from_u32(monitor.stride);
        column(0).store(T::ZERO);
        column(1).store(T::ZERO);
        let constants = Constants::from_array(monitor.constants);
        let state = [column(2).load(), column(3).load(), column(4).load(), column(5).load()];
        let [signal, flow, volume, content] = balloon_step(state, activity, &constants);
        column(2).store(signal);
        column(3).store(flow);
        column(4).store(volume);
        column(5).store(content);
        // The first haemodynamic step that ends at or after a multiple of the period.
        let since = monitor.phase + recorded;
        let rows = since / monitor.period;
        if rows > (since - monitor.stride) / monitor.period {
            let nodes = group.arguments.nodes as usize;
            let row = row(monitor, lane.point, rows - 1, monitor.place) * nodes;
            *group.pointers.rows.add(monitor.rows as usize + row + lane.node as usize) =
                bold_signal(volume, content, &constants);
        }
    }
}

/// Adds a recorded value to the compensated sum in a column; returns the place of the sum.
///
/// # Safety
/// The lane exists, and there are two columns a variable from `column` on.
#[inline(always)]
unsafe fn add_to_mean<T: KernelFloat>(
    group: &Group<T>,
    column: u32,
    variable: u32,
    lane: Lane,
) -> SharedPtr<T> {
    let place = group.column(column + variable, lane);
    // SAFETY: the caller's.
    unsafe {
        let value = group.recorded(variable, lane).load();
        let low = group.column(column + group.arguments.variables + variable, lane);
        let (sum, compensation) = accumulate(place.load(), low.load(), value);
        place.store(sum);
        low.store(compensation);
    }
    place
}
