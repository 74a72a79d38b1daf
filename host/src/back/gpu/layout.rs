//! Which column of a point holds what.

use crate::back::Job;
use crate::ir::Program;
use crate::monitor::MonitorKind;

/// First columns. A column is one value a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// State variables, dummies included; they start at column 0.
    pub states: u32,
    /// Gathered sums.
    pub gathered: u32,
    /// Coupling inputs.
    pub coupling: u32,
    /// Noise amplitudes.
    pub sigma: u32,
    /// Noise of the current step.
    pub noise: u32,
    /// Recorded variables.
    pub recorded: u32,
    /// Means over the run: sums, then compensations.
    pub mean: u32,
    /// Windows of time series, one entry a monitor: sums, then compensations. Of BOLD for each of its
    /// variables sum, compensation and four states. 0 where none is kept.
    pub windows: Vec<u32>,
    /// Stages of the kernel over memory.
    pub stages: u32,
    /// How many there are.
    pub count: u32,
}

/// Sets of states that the kernel over memory keeps: four derivatives and a state.
const STAGE_SETS: u32 = 5;

/// Columns of the response to one variable: sum, compensation, and the four states.
pub(super) const BOLD_COLUMNS: u32 = 6;

impl Columns {
    /// For a kernel of `states` states, with stages in memory or not.
    pub(super) fn new(job: &Job<'_>, states: u32, stages_in_memory: bool) -> Self {
        let program: &Program = job.program;
        let variables = job.record.variables.len() as u32;
        let mut count = states;
        let mut take = |columns: u32| {
            count += columns;
            count - columns
        };
        let gathered = take(program.gathers.len() as u32);
        let coupling = take(program.couplings.len() as u32);
        let sigma = take(program.noisy.len() as u32);
        let noise = take(program.noisy.len() as u32);
        let recorded = take(variables);
        let mean = take(if job.record.mean { 2 * variables } else { 0 });
        let windows = job.record.monitors.iter().map(|kind| match kind {
            MonitorKind::TemporalAverage { .. } => take(2 * variables),
            MonitorKind::Bold(response) => take(BOLD_COLUMNS * response.variables.len() as u32),
            _ => 0,
        });
        let windows = windows.collect();
        let stages = take(if stages_in_memory { STAGE_SETS * states } else { 0 });
        Self { states, gathered, coupling, sigma, noise, recorded, mean, windows, stages, count }
    }
}
