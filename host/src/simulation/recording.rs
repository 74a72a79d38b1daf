//! What a run keeps: the time course, and the experiment's observations.

use crate::back;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Experiment, Integration, Observation, ObservationKind};
use crate::lower::{Lowered, Recorded};
use crate::monitor::MonitorKind;
use crate::output::results::{ObservedArray, Recording, Sampling};

/// What is kept of the time course of the recorded variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// Every step.
    Raw,
    /// Means over periods of this length, in the model's time unit.
    Average(f64),
    /// Nothing.
    None,
}

/// Where rows of a monitor go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MonitorTarget {
    /// Place among `Recording::observed`, or `None` for the series.
    pub observed: Option<usize>,
    /// Positions of the variables that are kept, in order.
    pub variables: Vec<usize>,
    /// Values of a variable in a row: one a node, or 1.
    pub values: usize,
}

/// What the engine records, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub record: back::Record,
    /// One a monitor.
    pub monitors: Vec<MonitorTarget>,
}

/// Decides what is recorded.
///
/// # Errors
/// A period shorter than half a step; a source that is not recorded.
pub(super) fn choose(
    experiment: &Experiment,
    lowered: &Lowered,
    record: Option<Record>,
    (points, whole_sweep): (Vec<u64>, bool),
    notes: &mut Vec<Diagnostic>,
) -> Result<(Recording, Kept), Diagnostics> {
    let record = record.unwrap_or(if points.len() == 1 { Record::Raw } else { Record::None });
    let program = &lowered.program;
    let name = |r: &Recorded| match *r {
        Recorded::State(at) => program.states[at as usize].clone(),
        Recorded::Observed(at) => program.observed[at as usize].clone(),
    };
    let variables: Vec<String> = lowered.recorded.iter().map(name).collect();
    let units = variables.iter().map(|v| unit(experiment, v)).collect();
    let mut choice = Choice {
        experiment,
        variables: &variables,
        nodes: experiment.network.connectome.nodes(),
        monitors: Vec::new(),
        targets: Vec::new(),
        observed: Vec::new(),
        notes,
    };
    let series = choice.series(record)?;
    for observation in &experiment.observations {
        choice.observation(observation)?;
    }
    let Choice { monitors, targets, observed, .. } = choice;
    let engine_variable = |r: &Recorded| match *r {
        Recorded::State(at) => back::Recorded::State(at as usize),
        Recorded::Observed(at) => back::Recorded::Observed(at as usize),
    };
    let record = back::Record {
        variables: lowered.recorded.iter().map(engine_variable).collect(),
        mean: true,
        monitors,
    };
    let kept = Kept { record, monitors: targets };
    Ok((Recording { variables, units, points, whole_sweep, series, observed }, kept))
}

/// The unit of a recorded variable; `name[k]` is a mode of `name`.
fn unit(experiment: &Experiment, name: &str) -> Option<String> {
    let whole = name.split('[').next().unwrap_or(name);
    let dynamics = &experiment.dynamics;
    let states = dynamics.state_variables.iter().map(|s| (&s.name, &s.unit));
    let derived = dynamics.derived_variables.iter().map(|d| (&d.name, &d.unit));
    states.chain(derived).find(|(n, _)| *n == whole).and_then(|(_, unit)| unit.clone())
}

struct Choice<'a> {
    experiment: &'a Experiment,
    variables: &'a [String],
    nodes: usize,
    monitors: Vec<MonitorKind>,
    targets: Vec<MonitorTarget>,
    observed: Vec<ObservedArray>,
    notes: &'a mut Vec<Diagnostic>,
}

impl Choice<'_> {
    fn series(&mut self, record: Record) -> Result<Option<Sampling>, Diagnostics> {
        let kind = match record {
            Record::None => return Ok(None),
            Record::Raw => MonitorKind::Raw,
            Record::Average(period) => {
                MonitorKind::TemporalAverage { period: self.steps("the recording", period)? }
            }
        };
        let sampling = self.sampling(&kind);
        let variables = (0..self.variables.len()).collect();
        self.monitors.push(kind);
        self.targets.push(MonitorTarget { observed: None, variables, values: self.nodes });
        Ok(Some(sampling))
    }

    fn observation(&mut self, observation: &Observation) -> Result<(), Diagnostics> {
        let period = match observation.period {
            Some(period) => self.steps(&format!("observation `{}`", observation.name), period)?,
            None => 1,
        };
        let kind = match observation.kind {
            ObservationKind::Raw => MonitorKind::Raw,
            ObservationKind::SubSample => MonitorKind::SubSample { period },
            ObservationKind::TemporalAverage => MonitorKind::TemporalAverage { period },
            ObservationKind::GlobalAverage => MonitorKind::GlobalAverage { period },
            ObservationKind::Mean => return Ok(()), // this is `tavg`
            _ => {
                self.notes.push(Diagnostic::note(
                    Code::NotSupported,
                    format!("observation `{}` is not computed yet", observation.name),
                ));
                return Ok(());
            }
        };
        let variables = self.sources(observation)?;
        let sampling = self.sampling(&kind);
        let values = kind.values(self.nodes);
        let mut dimensions = Vec::new();
        if variables.len() != 1 {
            let name = if variables.len() == self.variables.len() {
                "variable".to_owned()
            } else {
                format!("{}_variable", observation.name)
            };
            dimensions.push((name, variables.len() as u64));
        }
        if values > 1 || self.nodes == 1 {
            dimensions.push(("node".to_owned(), self.nodes as u64));
        }
        self.targets.push(MonitorTarget { observed: Some(self.observed.len()), variables, values });
        self.monitors.push(kind);
        let name = observation.name.clone();
        self.observed.push(ObservedArray { name, sampling: Some(sampling), dimensions });
        Ok(())
    }

    /// Positions of the recorded variables that an observation reads; all if it names none.
    fn sources(&self, observation: &Observation) -> Result<Vec<usize>, Diagnostics> {
        if observation.sources.is_empty() {
            return Ok((0..self.variables.len()).collect());
        }
        let mut found = Vec::new();
        for source in &observation.sources {
            let matches = |v: &String| v == source || v.split('[').next() == Some(source);
            let before = found.len();
            found.extend((0..self.variables.len()).filter(|&i| matches(&self.variables[i])));
            if found.len() == before {
                let message = format!(
                    "observation `{}` reads `{source}`, which is not recorded",
                    observation.name
                );
                let help = format!("recorded are {}", self.variables.join(", "));
                return Err(Diagnostic::error(Code::UnknownName, message).help(help).into());
            }
        }
        Ok(found)
    }

    /// A period in steps, with a note where it is not a whole number of them.
    fn steps(&mut self, what: &str, period: f64) -> Result<u64, Diagnostics> {
        let dt = self.experiment.integration.dt;
        let steps = (period / dt).round();
        if steps < 1.0 {
            let message = format!("{what} has a period of {period}, less than a step of {dt}");
            return Err(Diagnostic::error(Code::BadNumber, message).into());
        }
        let exact = steps * dt;
        if (exact - period).abs() > 1e-9 * period {
            let message =
                format!("{what} has a period of {exact}, the whole steps nearest to {period}");
            self.notes.push(Diagnostic::note(Code::BadNumber, message));
        }
        Ok(steps as u64)
    }

    fn sampling(&self, kind: &MonitorKind) -> Sampling {
        let integration: &Integration = &self.experiment.integration;
        let period = kind.period() as f64 * integration.dt;
        let first = integration.transient_steps() as f64 * integration.dt + period;
        Sampling { rows: kind.rows(integration.steps()), first, period }
    }
}
