//! What a run keeps: the time course, and the experiment's observations.

mod statistics;

use super::observe::Derived;
use super::transform::{Convolution, Transform};
use crate::back;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Experiment, Integration, Observation, ObservationKind, Target};
use crate::lower::{Lowered, Recorded};
use crate::monitor::{Haemodynamics, MonitorKind};
use crate::output::results::{ObservedArray, Recording, Sampling, observation_array_name};
use crate::output::{ArraySpec, Content};

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Destination {
    /// The series.
    Series,
    /// An observation, by its place among `Recording::observed`.
    Observed(usize),
    /// Nowhere: statistics are made of them.
    Statistics,
}

/// What becomes of the rows of a monitor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MonitorTarget {
    pub destination: Destination,
    /// Variables of a row.
    pub row_variables: usize,
    /// Positions in a row of those that are kept, in order.
    pub variables: Vec<usize>,
    /// Values of a variable in a row of the monitor: one a node, or 1.
    pub source_values: usize,
    /// What rows are turned into before they are kept or looked at.
    pub transform: Option<Transform>,
    /// Values of a variable in a row after that.
    pub values: usize,
    /// The dimension of these values.
    pub dimension: String,
    /// Rows of a point after that.
    pub rows: u64,
    /// Integration steps from a row to the next.
    pub period: u64,
}

impl MonitorTarget {
    /// Bytes for each point that is being computed.
    pub(super) fn bytes(&self) -> u64 {
        let channels = self.variables.len() * self.source_values;
        self.transform.as_ref().map_or(0, |t| t.bytes(channels))
    }

    /// Variables of a row that statistics see: a transform takes only those that are kept.
    fn kept_row(&self) -> usize {
        if self.transform.is_some() { self.variables.len() } else { self.row_variables }
    }

    /// Positions of those that are kept in such a row.
    fn kept_variables(&self) -> Vec<usize> {
        match self.transform {
            Some(_) => (0..self.variables.len()).collect(),
            None => self.variables.clone(),
        }
    }
}

/// An observation that is the mean of recorded variables: a part of `tavg`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeanTarget {
    /// Place among `Recording::observed`.
    pub observed: usize,
    /// Positions of its variables among the recorded ones.
    pub variables: Vec<usize>,
}

/// What the engine records, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub record: back::Record,
    /// One a monitor.
    pub monitors: Vec<MonitorTarget>,
    /// Parts of `tavg` under names of their own.
    pub means: Vec<MeanTarget>,
    /// Statistics of rows.
    pub derived: Vec<Derived>,
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
        fixed: Vec::new(),
        named: Vec::new(),
        named_statistics: Vec::new(),
        means: Vec::new(),
        derived: Vec::new(),
        notes,
    };
    let series = choice.series(record)?;
    // Time courses first, because statistics may be of any of them.
    let mut statistics = Vec::new();
    for observation in &experiment.observations {
        if observation.kind.is_statistic() {
            statistics.push(observation);
        } else if choice.reads_observation(observation) {
            choice.not_computed(observation, "it is a time course of another observation");
        } else {
            choice.time_course(observation)?;
        }
    }
    // Scores are of statistics, and come last.
    let score = |o: &&Observation| matches!(o.kind, ObservationKind::Score(_));
    let (scores, statistics): (Vec<_>, Vec<_>) = statistics.into_iter().partition(score);
    for observation in statistics {
        choice.statistic(observation)?;
    }
    for observation in scores {
        choice.score(observation);
    }
    let scores = choice.scores();
    let Choice { monitors, targets, observed, fixed, means, derived, .. } = choice;
    let engine_variable = |r: &Recorded| match *r {
        Recorded::State(at) => back::Recorded::State(at as usize),
        Recorded::Observed(at) => back::Recorded::Observed(at as usize),
    };
    let record = back::Record {
        variables: lowered.recorded.iter().map(engine_variable).collect(),
        mean: true,
        monitors,
    };
    let kept = Kept { record, monitors: targets, means, derived };
    let recording =
        Recording { variables, units, points, whole_sweep, series, observed, fixed, scores };
    Ok((recording, kept))
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
    /// Arrays that are known beforehand: coordinates, labels, measured data.
    fixed: Vec<ArraySpec>,
    /// Observations that are time courses, with their monitors.
    named: Vec<(&'a Observation, usize)>,
    /// Observations that are statistics, with their places among `derived`.
    named_statistics: Vec<(&'a Observation, usize)>,
    means: Vec<MeanTarget>,
    derived: Vec<Derived>,
    notes: &'a mut Vec<Diagnostic>,
}

impl<'a> Choice<'a> {
    fn series(&mut self, record: Record) -> Result<Option<Sampling>, Diagnostics> {
        let kind = match record {
            Record::None => return Ok(None),
            Record::Raw => MonitorKind::Raw,
            Record::Average(period) => {
                MonitorKind::TemporalAverage { period: self.steps("the recording", period)? }
            }
        };
        let at = self.watch(kind, Destination::Series, (0..self.variables.len()).collect(), None);
        self.warn_if_empty(at, "the recording");
        Ok(Some(self.sampling(at)))
    }

    /// Adds a monitor; returns its place.
    fn watch(
        &mut self,
        kind: MonitorKind,
        destination: Destination,
        variables: Vec<usize>,
        transform: Option<Transform>,
    ) -> usize {
        let row_variables = kind.variables(self.variables.len());
        let source_values = kind.values(self.nodes);
        let rows = kind.rows(self.experiment.integration.steps());
        let period = match &transform {
            Some(Transform::Convolve(convolution)) => convolution.period,
            _ => kind.period(),
        };
        self.monitors.push(kind);
        self.targets.push(MonitorTarget {
            destination,
            row_variables,
            variables,
            source_values,
            values: transform.as_ref().map_or(source_values, |t| t.values(source_values)),
            rows: transform.as_ref().map_or(rows, |t| t.rows(rows)),
            transform,
            dimension: "node".to_owned(),
            period,
        });
        self.monitors.len() - 1
    }

    /// The monitor of an observation that is a time course, and what its rows are turned into.
    fn monitor_kind(
        &mut self,
        observation: &Observation,
    ) -> Result<(MonitorKind, Option<Transform>), Diagnostics> {
        let period = match observation.period.filter(|_| observation.kind != ObservationKind::Raw) {
            Some(period) => self.steps(&format!("observation `{}`", observation.name), period)?,
            None => 1,
        };
        let dt_ms = self.experiment.integration.dt_ms();
        let kind = match &observation.kind {
            ObservationKind::SubSample => MonitorKind::SubSample { period },
            ObservationKind::TemporalAverage => MonitorKind::TemporalAverage { period },
            ObservationKind::GlobalAverage => MonitorKind::GlobalAverage { period },
            ObservationKind::Projection(projection) => {
                let kind = match projection.onto {
                    Target::Regions => MonitorKind::SubSample { period },
                    Target::Sensors => MonitorKind::TemporalAverage { period },
                };
                return Ok((kind, Some(Transform::Project(projection.clone()))));
            }
            ObservationKind::Bold(model) => {
                let variables = self.sources(observation)?;
                MonitorKind::Bold(Haemodynamics::new(variables, period, dt_ms, *model))
            }
            ObservationKind::VolterraBold(kernel) => {
                let convolution = Convolution::new(*kernel, period, dt_ms);
                let kind = MonitorKind::TemporalAverage { period: convolution.stride };
                return Ok((kind, Some(Transform::Convolve(convolution))));
            }
            // Statistics never come here.
            _ => MonitorKind::Raw,
        };
        Ok((kind, None))
    }

    fn time_course(&mut self, observation: &'a Observation) -> Result<(), Diagnostics> {
        let (kind, transform) = self.monitor_kind(observation)?;
        let sources = self.sources(observation)?;
        let mut dimensions = Vec::from_iter(self.variable_dimension(observation, &sources));
        // BOLD has its sources only; other monitors see all variables.
        let variables = match kind {
            MonitorKind::Bold(_) => (0..sources.len()).collect(),
            _ => sources,
        };
        let monitor = self.watch(kind, Destination::Statistics, variables, transform);
        let name = observation_array_name(&observation.name);
        if let ObservationKind::Projection(projection) = &observation.kind {
            let unit = match projection.onto {
                Target::Regions => "region",
                Target::Sensors => "sensor",
            };
            let dimension = format!("{name}_{unit}");
            self.fixed.push(ArraySpec {
                name: dimension.clone(),
                dimensions: vec![(dimension.clone(), projection.labels.len() as u64)],
                content: Content::Strings(projection.labels.clone()),
            });
            self.targets[monitor].dimension = dimension;
        }
        let target = &self.targets[monitor];
        if target.dimension != "node" || target.values > 1 || self.nodes == 1 {
            dimensions.push((target.dimension.clone(), target.values as u64));
        }
        if observation.stored {
            let sampling = self.sampling(monitor);
            let observed = self.array(observation, Some(sampling), dimensions);
            self.targets[monitor].destination = Destination::Observed(observed);
        }
        self.warn_if_empty(monitor, &format!("observation `{}`", observation.name));
        self.named.push((observation, monitor));
        Ok(())
    }

    fn reads_observation(&self, observation: &Observation) -> bool {
        let other = |o: &Observation, name: &String| o.name == *name && o.name != observation.name;
        observation.sources.iter().any(|s| self.experiment.observations.iter().any(|o| other(o, s)))
    }

    fn not_computed(&mut self, observation: &Observation, why: &str) {
        let message = format!("observation `{}` is not computed: {why}", observation.name);
        self.notes.push(Diagnostic::note(Code::NotSupported, message));
    }

    /// Adds an array; returns its place.
    fn array(
        &mut self,
        observation: &Observation,
        sampling: Option<Sampling>,
        dimensions: Vec<(String, u64)>,
    ) -> usize {
        let name = observation_array_name(&observation.name);
        let kind = observation.kind.name();
        let sources = observation.sources.clone();
        self.observed.push(ObservedArray { name, kind, sources, sampling, dimensions });
        self.observed.len() - 1
    }

    /// The dimension of an observation's variables, unless it has exactly one.
    fn variable_dimension(
        &self,
        observation: &Observation,
        variables: &[usize],
    ) -> Option<(String, u64)> {
        let name = match variables.len() {
            1 => return None,
            n if n == self.variables.len() => "variable".to_owned(),
            _ => format!("{}_variable", observation.name),
        };
        Some((name, variables.len() as u64))
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

    /// Warns of a monitor that makes no row.
    fn warn_if_empty(&mut self, monitor: usize, what: &str) {
        let Sampling { rows, period, .. } = self.sampling(monitor);
        if rows == 0 {
            let duration = self.experiment.integration.duration;
            let message = format!(
                "{what} is empty: its period of {period} is longer than the duration of {duration}"
            );
            self.notes.push(Diagnostic::warning(Code::Implausible, message));
        }
    }

    /// When the rows of a monitor are.
    fn sampling(&self, monitor: usize) -> Sampling {
        let integration: &Integration = &self.experiment.integration;
        let MonitorTarget { period, rows, .. } = self.targets[monitor];
        let period = period as f64 * integration.dt;
        let first = integration.transient_steps() as f64 * integration.dt + period;
        Sampling { rows, first, period }
    }
}
