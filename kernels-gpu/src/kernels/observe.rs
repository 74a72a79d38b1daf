//! Noise going in, observations coming out: what a step does with columns, whatever the model.

use super::KernelFloat;
use super::block::{Block, Clock};
use crate::abi::{MonitorRecord, features};
use crate::bold::{Constants, balloon_step, bold_signal};
use crate::mean::accumulate;
use crate::noise::{normal_index, subsequence};
use crate::{curand, philox, scheme};
use cuda_std::thread;

/// The normal numbers that a thread drew last: a block of Philox serves four, which may be those of
/// several noisy variables or of several steps.
#[derive(Clone, Copy)]
pub(super) struct Normals {
    subsequence: u64,
    block: u64,
    values: [f32; 4],
}

impl Normals {
    /// None yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        // No normal has a number that large: numbers are four times their block's.
        Self { subsequence: 0, block: u64::MAX, values: [0.0; 4] }
    }

    /// Normal `index` of a subsequence, cuRAND's or the portable one.
    #[inline(always)]
    pub(super) fn get(&mut self, curand: bool, seed: u64, subsequence: u64, index: u64) -> f32 {
        let block = index / 4;
        if block != self.block || subsequence != self.subsequence {
            let values = if curand {
                curand::normals(seed, subsequence, block)
            } else {
                philox::normals(seed, subsequence, block)
            };
            *self = Self { subsequence, block, values };
        }
        // Selected, because an array that is indexed at run time would live in local memory.
        let [a, b, c, d] = self.values;
        let (low, high) = if index & 1 == 0 { (a, c) } else { (b, d) };
        if index & 2 == 0 { low } else { high }
    }
}

/// Draws the noise of a node for a step into its columns.
///
/// # Safety
/// The node exists.
#[inline(always)]
pub(super) unsafe fn draw_noise<T: KernelFloat>(
    block: &Block<T>,
    normals: &mut Normals,
    step: u64,
    node: u32,
) {
    let a = &block.arguments;
    let sequence = subsequence(block.record.key, node);
    let curand = block.has(features::CURAND);
    let mut variable = 0;
    while variable < a.noisy {
        let index = normal_index(step, a.noisy, variable);
        let z = T::from_f32(normals.get(curand, a.seed, sequence, index));
        // SAFETY: one column a noisy variable.
        unsafe {
            let sigma = *block.column(a.sigma_column + variable, node);
            *block.column(a.noise_column + variable, node) = scheme::noise(sigma, block.dt.root, z);
        }
        variable += 1;
    }
}

/// How many rows of a time series are complete after `recorded` recorded steps of this launch, and
/// whether the last of these steps completed one.
#[inline(always)]
pub(super) fn rows_after(monitor: &MonitorRecord, recorded: u32) -> (u32, bool) {
    let since = monitor.phase + recorded;
    let rows = since / monitor.period;
    (rows, rows * monitor.period == since)
}

/// Recorded steps of this launch up to and with the clock's; 0 during the transient.
#[inline(always)]
pub(super) fn recorded_steps<T: KernelFloat>(block: &Block<T>, clock: Clock) -> u32 {
    let a = &block.arguments;
    if clock.step < a.transient_steps {
        return 0;
    }
    let start = if a.first_step > a.transient_steps { a.first_step } else { a.transient_steps };
    (clock.step - start) as u32 + 1
}

/// Adds the recorded variables of a node to its means and to time series with one value a node.
///
/// # Safety
/// The node exists; its recorded columns are those of the clock's step, the `recorded`th.
#[inline(always)]
pub(super) unsafe fn observe<T: KernelFloat>(block: &Block<T>, recorded: u32, node: u32) {
    let a = &block.arguments;
    if a.mean != 0 {
        let mut variable = 0;
        while variable < a.variables {
            // SAFETY: two columns a variable.
            unsafe { add_to_mean(block, a.mean_column, variable, node) };
            variable += 1;
        }
    }
    let mut index = 0;
    while index < a.monitors {
        // SAFETY: one record a time series.
        let monitor = unsafe { *block.pointers.monitors.add(index as usize) };
        index += 1;
        if monitor.kind == MonitorRecord::NODE_MEAN {
            continue;
        }
        if block.has(features::BOLD) && monitor.kind == MonitorRecord::BOLD {
            // SAFETY: the caller's.
            unsafe { respond(block, &monitor, recorded, node) };
            continue;
        }
        let (rows, due) = rows_after(&monitor, recorded);
        let window = monitor.kind == MonitorRecord::WINDOW;
        let mut variable = 0;
        while variable < a.variables {
            // SAFETY: the columns exist, and there is room for the rows of the launch.
            unsafe {
                let value = if window {
                    add_to_mean(block, monitor.column, variable, node)
                } else {
                    block.column(a.recorded_column + variable, node)
                };
                if due {
                    let row = row(block, &monitor, rows - 1, variable) * a.nodes as usize;
                    let place =
                        block.pointers.rows.add(monitor.rows as usize + row + node as usize);
                    if window {
                        *place = *value / T::from_u32(monitor.period);
                        *value = T::ZERO;
                        *block.column(monitor.column + a.variables + variable, node) = T::ZERO;
                    } else {
                        *place = *value;
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
/// The recorded columns of all nodes are those of the clock's step, the `recorded`th.
#[inline(always)]
pub(super) unsafe fn observe_network<T: KernelFloat>(block: &Block<T>, recorded: u32) -> bool {
    let a = &block.arguments;
    let (mut index, mut any) = (0, false);
    while index < a.monitors {
        // SAFETY: one record a time series.
        let monitor = unsafe { *block.pointers.monitors.add(index as usize) };
        index += 1;
        let (rows, due) = rows_after(&monitor, recorded);
        if monitor.kind != MonitorRecord::NODE_MEAN || !due {
            continue;
        }
        any = true;
        let mut variable = thread::thread_idx_x();
        while variable < a.variables {
            let mut sum = (T::ZERO, T::ZERO);
            let mut node = 0;
            while node < a.nodes {
                // SAFETY: a column of every variable.
                let value = unsafe { *block.column(a.recorded_column + variable, node) };
                sum = accumulate(sum.0, sum.1, value);
                node += 1;
            }
            let row = row(block, &monitor, rows - 1, variable);
            // SAFETY: there is room for the rows of the launch.
            unsafe {
                *block.pointers.rows.add(monitor.rows as usize + row) =
                    sum.0 / T::from_u32(a.nodes);
            }
            variable += thread::block_dim_x();
        }
    }
    any
}

/// The number of a row and variable among all of a time series.
#[inline(always)]
fn row<T: KernelFloat>(
    block: &Block<T>,
    monitor: &MonitorRecord,
    row: u32,
    variable: u32,
) -> usize {
    (block.point as usize * monitor.capacity as usize + row as usize) * monitor.variables as usize
        + variable as usize
}

/// Moves the haemodynamic response of a node on where a haemodynamic step ends, and samples it where
/// a sample is due.
///
/// # Safety
/// As [`observe`]; the monitor is a response.
#[inline(always)]
unsafe fn respond<T: KernelFloat>(
    block: &Block<T>,
    monitor: &MonitorRecord,
    recorded: u32,
    node: u32,
) {
    let column = |at: u32| block.column(monitor.column + at, node);
    // SAFETY: six columns a response, and there is room for the rows of the launch.
    unsafe {
        let value = *block.column(block.arguments.recorded_column + monitor.variable, node);
        let (sum, compensation) = accumulate(*column(0), *column(1), value);
        (*column(0), *column(1)) = (sum, compensation);
        if !(monitor.stride_phase + recorded).is_multiple_of(monitor.stride) {
            return;
        }
        let activity = sum / T::from_u32(monitor.stride);
        (*column(0), *column(1)) = (T::ZERO, T::ZERO);
        let constants = Constants::from_array(monitor.constants);
        let state = [*column(2), *column(3), *column(4), *column(5)];
        let state = balloon_step(state, activity, &constants);
        let [signal, flow, volume, content] = state;
        (*column(2), *column(3), *column(4), *column(5)) = (signal, flow, volume, content);
        // The first haemodynamic step that ends at or after a multiple of the period.
        let since = monitor.phase + recorded;
        let rows = since / monitor.period;
        if rows > (since - monitor.stride) / monitor.period {
            let row = row(block, monitor, rows - 1, monitor.place) * block.arguments.nodes as usize;
            *block.pointers.rows.add(monitor.rows as usize + row + node as usize) =
                bold_signal(volume, content, &constants);
        }
    }
}

/// Adds a recorded value to the compensated sum in a column; returns the place of the sum.
///
/// # Safety
/// The node exists, and there are two columns a variable from `column` on.
#[inline(always)]
unsafe fn add_to_mean<T: KernelFloat>(
    block: &Block<T>,
    column: u32,
    variable: u32,
    node: u32,
) -> *mut T {
    let a = &block.arguments;
    let place = block.column(column + variable, node);
    // SAFETY: the caller's.
    unsafe {
        let value = *block.column(a.recorded_column + variable, node);
        let low = block.column(column + a.variables + variable, node);
        (*place, *low) = accumulate(*place, *low, value);
    }
    place
}
