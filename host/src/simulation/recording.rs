//! What a run keeps: the time course, and the experiment's observations.

use super::observe::{Derived, Statistic};
use crate::back;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Experiment, Integration, Observation, ObservationKind};
use crate::lower::{Lowered, Recorded};
use crate::monitor::{Haemodynamics, MonitorKind};
use crate::output::results::{ObservedArray, Recording, Sampling, observation_array_name};

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
    /// Values of a variable in a row: one a node, or 1.
    pub values: usize,
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
        named: Vec::new(),
        means: Vec::new(),
        derived: Vec::new(),
        notes,
    };
    let series = choice.series(record)?;
    // Time courses first, because statistics may be of any of them.
    let mut statistics = Vec::new();
    for observation in &experiment.observations {
        if is_statistic(&observation.kind) {
            statistics.push(observation);
        } else if choice.reads_observation(observation) {
            choice.not_computed(observation, "it is a time course of another observation");
        } else {
            let kind = choice.monitor_kind(observation)?;
            choice.time_course(observation, kind)?;
        }
    }
    for observation in statistics {
        choice.statistic(observation)?;
    }
    let Choice { monitors, targets, observed, means, derived, .. } = choice;
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
    Ok((Recording { variables, units, points, whole_sweep, series, observed }, kept))
}

/// Whether an observation is one result a point, and not a time course.
fn is_statistic(kind: &ObservationKind) -> bool {
    matches!(
        kind,
        ObservationKind::Mean
            | ObservationKind::StandardDeviation
            | ObservationKind::FunctionalConnectivity
            | ObservationKind::PeakFrequency
    )
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
    /// Observations that are time courses, with their monitors.
    named: Vec<(&'a Observation, usize)>,
    means: Vec<MeanTarget>,
    derived: Vec<Derived>,
    notes: &'a mut Vec<Diagnostic>,
}

/// The rows that a statistic is made of.
struct Source {
    monitor: usize,
    variables: Vec<usize>,
    /// The dimension of the variables, if they are not exactly one.
    dimension: Option<(String, u64)>,
    /// Rows at the start that its observation asks to leave out.
    skip: usize,
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
        let sampling = self.sampling(&kind, "the recording");
        self.watch(kind, Destination::Series, (0..self.variables.len()).collect());
        Ok(Some(sampling))
    }

    /// Adds a monitor; returns its place.
    fn watch(
        &mut self,
        kind: MonitorKind,
        destination: Destination,
        variables: Vec<usize>,
    ) -> usize {
        let row_variables = kind.variables(self.variables.len());
        let values = kind.values(self.nodes);
        self.monitors.push(kind);
        self.targets.push(MonitorTarget { destination, row_variables, variables, values });
        self.monitors.len() - 1
    }

    /// The monitor of an observation that is a time course.
    fn monitor_kind(&mut self, observation: &Observation) -> Result<MonitorKind, Diagnostics> {
        let period = |choice: &mut Self| match observation.period {
            Some(period) => choice.steps(&format!("observation `{}`", observation.name), period),
            None => Ok(1),
        };
        Ok(match &observation.kind {
            ObservationKind::SubSample => MonitorKind::SubSample { period: period(self)? },
            ObservationKind::TemporalAverage => {
                MonitorKind::TemporalAverage { period: period(self)? }
            }
            ObservationKind::GlobalAverage => MonitorKind::GlobalAverage { period: period(self)? },
            ObservationKind::Bold(model) => {
                let variables = self.sources(observation)?;
                let dt_ms = self.experiment.integration.dt_ms();
                let period = period(self)?;
                MonitorKind::Bold(Haemodynamics::new(variables, period, dt_ms, *model))
            }
            // Statistics never come here.
            _ => MonitorKind::Raw,
        })
    }

    fn time_course(
        &mut self,
        observation: &'a Observation,
        kind: MonitorKind,
    ) -> Result<(), Diagnostics> {
        let sources = self.sources(observation)?;
        let sampling = self.sampling(&kind, &format!("observation `{}`", observation.name));
        let mut dimensions = Vec::from_iter(self.variable_dimension(observation, &sources));
        let values = kind.values(self.nodes);
        if values > 1 || self.nodes == 1 {
            dimensions.push(("node".to_owned(), self.nodes as u64));
        }
        // BOLD has its sources only; other monitors see all variables.
        let variables = match kind {
            MonitorKind::Bold(_) => (0..sources.len()).collect(),
            _ => sources,
        };
        let observed = self.array(observation, Some(sampling), dimensions);
        let monitor = self.watch(kind, Destination::Observed(observed), variables);
        self.named.push((observation, monitor));
        Ok(())
    }

    fn statistic(&mut self, observation: &'a Observation) -> Result<(), Diagnostics> {
        let of_observation = self.reads_observation(observation);
        let whole_mean = observation.kind == ObservationKind::Mean && observation.skip == 0;
        if whole_mean && !of_observation {
            let variables = self.sources(observation)?;
            let mut dimensions = Vec::from_iter(self.variable_dimension(observation, &variables));
            dimensions.push(("node".to_owned(), self.nodes as u64));
            // `tavg` under its own name is there already.
            if observation.name != "tavg" {
                let observed = self.array(observation, None, dimensions);
                self.means.push(MeanTarget { observed, variables });
            }
            return Ok(());
        }
        let source = match self.source(observation, of_observation)? {
            Ok(source) => source,
            Err(why) => {
                self.not_computed(observation, &why);
                return Ok(());
            }
        };
        let integration = &self.experiment.integration;
        let kind = &self.monitors[source.monitor];
        let rows = kind.rows(integration.steps());
        let statistic = match observation.kind {
            ObservationKind::StandardDeviation => Statistic::StandardDeviation,
            ObservationKind::FunctionalConnectivity => Statistic::Correlation,
            ObservationKind::PeakFrequency => Statistic::PeakFrequency {
                interval: kind.period() as f64 * integration.dt_ms() / 1000.0,
            },
            _ => Statistic::Mean,
        };
        let values = self.targets[source.monitor].values;
        let mut dimensions = Vec::from_iter(source.dimension);
        match statistic {
            Statistic::Correlation => {
                dimensions.extend(["node_a", "node_b"].map(|n| (n.to_owned(), values as u64)));
            }
            _ if values > 1 || self.nodes == 1 => {
                dimensions.push(("node".to_owned(), values as u64));
            }
            _ => {}
        }
        let skip = (source.skip + observation.skip) as u64;
        if skip + 1 >= rows {
            let message = format!(
                "observation `{}` leaves out {skip} of {rows} samples: what is left is too little",
                observation.name
            );
            self.notes.push(Diagnostic::note(Code::BadNumber, message));
        }
        let derived = Derived {
            observed: self.array(observation, None, dimensions),
            statistic,
            monitor: source.monitor,
            row_variables: self.targets[source.monitor].row_variables,
            variables: source.variables,
            values,
            rows,
            skip,
        };
        self.derived.push(derived);
        Ok(())
    }

    /// What a statistic is made of, or why it can't be had.
    fn source(
        &mut self,
        observation: &Observation,
        of_observation: bool,
    ) -> Result<Result<Source, String>, Diagnostics> {
        if !of_observation {
            let variables = self.sources(observation)?;
            let dimension = self.variable_dimension(observation, &variables);
            let monitor = self.unkept_monitor(observation)?;
            return Ok(Ok(Source { monitor, variables, dimension, skip: 0 }));
        }
        let [name] = &observation.sources[..] else {
            return Ok(Err("it reads more than one observation".to_owned()));
        };
        let Some(&(read, monitor)) = self.named.iter().find(|(o, _)| o.name == *name) else {
            return Ok(Err(format!("`{name}` is not a time course")));
        };
        let target = &self.targets[monitor];
        let correlation = observation.kind == ObservationKind::FunctionalConnectivity;
        if correlation && target.values != self.nodes {
            return Ok(Err(format!("`{name}` has no nodes to compare")));
        }
        let dimension = match target.destination {
            Destination::Observed(at) if target.variables.len() != 1 => {
                self.observed[at].dimensions.first().cloned()
            }
            _ => None,
        };
        let variables = target.variables.clone();
        Ok(Ok(Source { monitor, variables, dimension, skip: read.skip }))
    }

    /// A monitor for a statistic of recorded variables: every step, or the observation's period. A
    /// spectrum without a period is that of means over about a millisecond.
    fn unkept_monitor(&mut self, observation: &Observation) -> Result<usize, Diagnostics> {
        let kind = match (observation.period, &observation.kind) {
            (Some(period), _) => {
                let what = format!("observation `{}`", observation.name);
                MonitorKind::TemporalAverage { period: self.steps(&what, period)? }
            }
            (None, ObservationKind::PeakFrequency) => {
                let steps = (1.0 / self.experiment.integration.dt_ms()).round() as u64;
                MonitorKind::TemporalAverage { period: steps.max(1) }
            }
            (None, _) => MonitorKind::Raw,
        };
        if let Some(at) = self.monitors.iter().position(|m| *m == kind) {
            return Ok(at);
        }
        Ok(self.watch(kind, Destination::Statistics, (0..self.variables.len()).collect()))
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
        self.observed.push(ObservedArray { name, sampling, dimensions });
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

    /// When samples are, with a warning where there are none.
    fn sampling(&mut self, kind: &MonitorKind, what: &str) -> Sampling {
        let integration: &Integration = &self.experiment.integration;
        let period = kind.period() as f64 * integration.dt;
        let first = integration.transient_steps() as f64 * integration.dt + period;
        let rows = kind.rows(integration.steps());
        if rows == 0 {
            let duration = integration.duration;
            let message = format!(
                "{what} is empty: its period of {period} is longer than the duration of {duration}"
            );
            self.notes.push(Diagnostic::warning(Code::Implausible, message));
        }
        Sampling { rows, first, period }
    }
}
