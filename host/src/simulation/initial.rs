//! How the states start.

use super::swept_slots;
use crate::back;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Distribution, Experiment, Initial, ParameterValue};
use crate::ir::Input;
use crate::ir::interp;
use crate::lower::Lowered;
use kernels_gpu::philox;

/// Subsequences from here on are for initial values; those of the noise are below, see
/// `kernels_gpu::noise`.
const INITIAL_SUBSEQUENCES: u64 = 1 << 63;

/// The initial states of the points, `[state][node]`.
///
/// # Errors
/// A value that is not finite.
pub(super) fn states(
    experiment: &Experiment,
    lowered: &Lowered,
    points: &[u64],
) -> Result<back::Initial, Diagnostics> {
    let shared = fixed(experiment, lowered);
    let computed = &lowered.initial;
    if computed.states.is_empty() {
        check(experiment, lowered, &shared)?;
        return Ok(back::Initial::Shared(shared));
    }
    let swept: Vec<_> = swept_slots(experiment, lowered).collect();
    let of_point = |point: u64| -> Result<Vec<f64>, Diagnostics> {
        let mut states = shared.clone();
        let mut slots = parameters(experiment);
        for &(axis, slot) in &swept {
            slots[slot] = ParameterValue::Uniform(experiment.sweep.value(axis, point));
        }
        compute(lowered, &slots, &mut states);
        check(experiment, lowered, &states)?;
        Ok(states)
    };
    if swept.is_empty() {
        return Ok(back::Initial::Shared(of_point(0)?));
    }
    points.iter().map(|&p| of_point(p)).collect::<Result<_, _>>().map(back::Initial::PerPoint)
}

/// The value of every parameter slot.
fn parameters(experiment: &Experiment) -> Vec<ParameterValue> {
    let values = experiment.parameters.iter().flat_map(|p| match &p.value {
        ParameterValue::Array { values, .. } => {
            values.iter().map(|&v| ParameterValue::Uniform(v)).collect()
        }
        other => vec![other.clone()],
    });
    values.collect()
}

/// Values that are given or drawn; 0 for those that are computed.
fn fixed(experiment: &Experiment, lowered: &Lowered) -> Vec<f64> {
    let nodes = experiment.network.connectome.nodes();
    let mut states = Vec::with_capacity(lowered.program.states.len() * nodes);
    for (at, variable) in experiment.dynamics.state_variables.iter().enumerate() {
        for mode in 0..lowered.modes {
            let state = (at * lowered.modes + mode) as u64;
            match &variable.initial {
                Initial::Uniform(value) => states.extend(std::iter::repeat_n(*value, nodes)),
                Initial::PerNode(values) => states.extend(values),
                Initial::Equation(_) => states.extend(std::iter::repeat_n(0.0, nodes)),
                Initial::Distribution { kind, seed } => {
                    let seed = seed.unwrap_or(experiment.seed);
                    states.extend(
                        (0..nodes as u64).map(|node| {
                            draw(*kind, seed, INITIAL_SUBSEQUENCES | state << 32 | node)
                        }),
                    );
                }
            }
        }
    }
    states
}

fn draw(kind: Distribution, seed: u64, subsequence: u64) -> f64 {
    match kind {
        Distribution::Uniform { lo, hi } => {
            let [high, low, ..] = philox::words(seed, subsequence, 0);
            // 53 bits: every multiple of 2^-53 in [0, 1).
            let bits = (u64::from(high) << 21) ^ (u64::from(low) >> 11);
            lo + (hi - lo) * (bits as f64 / (1u64 << 53) as f64)
        }
        Distribution::Gaussian { mean, sd } => {
            mean + sd * f64::from(philox::normal(seed, subsequence, 0))
        }
    }
}

fn compute(lowered: &Lowered, slots: &[ParameterValue], states: &mut [f64]) {
    let nodes = states.len() / lowered.program.states.len().max(1);
    for node in 0..nodes {
        let input = |input: Input| match input {
            Input::Parameter(slot) => match &slots[slot as usize] {
                ParameterValue::Uniform(value) => *value,
                ParameterValue::PerNode(values) => values[node],
                // Slots hold elements, never whole arrays.
                ParameterValue::Array { .. } => f64::NAN,
            },
            _ => f64::NAN,
        };
        let mut values = Vec::new();
        interp::run_section::<f64>(&lowered.initial.section, &input, &mut values);
        for (&state, value) in lowered.initial.states.iter().zip(values) {
            states[state as usize * nodes + node] = value;
        }
    }
}

fn check(experiment: &Experiment, lowered: &Lowered, states: &[f64]) -> Result<(), Diagnostics> {
    let nodes = experiment.network.connectome.nodes();
    let Some(at) = states.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let (state, node) = (at / nodes, at % nodes);
    let variable = &experiment.dynamics.state_variables[state / lowered.modes];
    let message = format!(
        "`{}` starts at {} at node {node}: initial values must be finite",
        lowered.program.states[state], states[at],
    );
    Err(Diagnostic::error(Code::BadValue, message).at(variable.location.clone(), "").into())
}
