//! Statistics of what is recorded, and scores of statistics.

use super::{Choice, Destination};
use crate::analysis::{
    Accumulator, DynamicConnectivity, SynchronyMeasure, Welch, Windows, sorted, upper_triangle,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Better, Enforce, Observation, ObservationKind, PhaseSource, Score};
use crate::monitor::MonitorKind;
use crate::output::results::observation_array_name;
use crate::output::{ArraySpec, Content};
use crate::simulation::observe::{Derived, ScoreTarget, Statistic};
use crate::simulation::recording::MeanTarget;
use nalgebra::DMatrix;

/// Length and step of windows where none are given, in seconds.
const WINDOW_SECONDS: f64 = 60.0;
const WINDOW_STEP_SECONDS: f64 = 2.0;

/// The rows that a statistic is made of.
struct Source {
    monitor: usize,
    variables: Vec<usize>,
    /// The dimension of the variables, if they are not exactly one.
    dimension: Option<(String, u64)>,
    /// Rows at the start that its observation asks to leave out.
    skip: usize,
    /// Name of the only variable, where it is one that the program records.
    variable: Option<String>,
}

impl<'a> Choice<'a> {
    /// Decides about an observation that is one result a point.
    ///
    /// # Errors
    /// A source that is not recorded, a period shorter than half a step, too short a recording.
    pub(super) fn statistic(&mut self, observation: &'a Observation) -> Result<(), Diagnostics> {
        let of_observation = self.reads_observation(observation);
        let whole_mean = observation.kind == ObservationKind::Mean && observation.skip == 0;
        if whole_mean && !of_observation {
            let variables = self.sources(observation)?;
            let mut dimensions = Vec::from_iter(self.variable_dimension(observation, &variables));
            dimensions.push(("node".to_owned(), self.nodes as u64));
            // `tavg` under its own name is there already.
            if observation.name != "tavg" && observation.stored {
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
        let target = &self.targets[source.monitor];
        let (rows, values, row_variables) = (target.rows, target.values, target.kept_row());
        let interval = target.period as f64 * self.experiment.integration.dt_ms() / 1000.0;
        let skip = (source.skip + observation.skip) as u64;
        if skip + 1 >= rows {
            let message = format!(
                "observation `{}` leaves out {skip} of {rows} samples: what is left is too little",
                observation.name
            );
            self.notes.push(Diagnostic::note(Code::BadNumber, message));
        }
        let kept = rows.saturating_sub(skip);
        let statistic = self.what(observation, &source, kept, interval)?;
        let mut derived = Derived {
            observed: None,
            statistic,
            monitor: source.monitor,
            row_variables,
            variables: source.variables.clone(),
            values,
            rows,
            skip,
            scores: Vec::new(),
        };
        if observation.stored {
            derived.observed = Some(self.statistic_array(observation, source, &derived));
        }
        self.named_statistics.push((observation, self.derived.len()));
        self.derived.push(derived);
        Ok(())
    }

    /// What is computed from `kept` rows that are `interval` seconds apart.
    fn what(
        &mut self,
        observation: &Observation,
        source: &Source,
        kept: u64,
        interval: f64,
    ) -> Result<Statistic, Diagnostics> {
        let welch = |segment: &Option<u64>| match segment {
            Some(samples) => Welch::with_segment(kept, interval, *samples),
            None => Welch::new(kept, interval),
        };
        Ok(match &observation.kind {
            ObservationKind::Variance => Statistic::Variance,
            ObservationKind::StandardDeviation => Statistic::StandardDeviation,
            ObservationKind::FunctionalConnectivity => Statistic::Correlation,
            ObservationKind::Spectrum(segment) => Statistic::Spectrum(welch(segment)),
            ObservationKind::PeakFrequency(segment) => Statistic::PeakFrequency(welch(segment)),
            ObservationKind::DynamicConnectivity(given) => {
                let samples = |seconds: f64| (seconds / interval).round().max(1.0) as usize;
                let usual = || Windows {
                    length: samples(WINDOW_SECONDS).max(3),
                    step: samples(WINDOW_STEP_SECONDS),
                };
                let windows = given.unwrap_or_else(usual);
                if windows.count(kept) < 2 {
                    let message = format!(
                        "observation `{}` has {kept} samples, and windows of {} that move by {}: \
                         two windows at least are needed",
                        observation.name, windows.length, windows.step
                    );
                    let help = "record longer, or choose shorter windows: --observe fcd:LENGTH:STEP \
                                in samples, `window_size` and `window_step` in the file";
                    return Err(Diagnostic::error(Code::BadNumber, message).help(help).into());
                }
                Statistic::DynamicConnectivity(windows)
            }
            ObservationKind::Synchrony(measure, phases) => {
                let phases = match phases {
                    PhaseSource::Variable => true,
                    PhaseSource::Hilbert => false,
                    PhaseSource::Unit => {
                        let phase = source.variable.as_deref().is_some_and(|v| self.is_phase(v));
                        if !phase {
                            let message = format!(
                                "`{}` takes phases by the Hilbert transform: they mean something \
                                 where the signal oscillates at one rhythm",
                                observation.name
                            );
                            self.notes.push(Diagnostic::note(Code::Implausible, message));
                        }
                        phase
                    }
                };
                Statistic::Synchrony { measure: *measure, phases }
            }
            _ => Statistic::Mean,
        })
    }

    /// Whether a recorded variable is a phase: its unit is radians, or it is wrapped.
    fn is_phase(&self, variable: &str) -> bool {
        let dynamics = &self.experiment.dynamics;
        let state = dynamics.state_variables.iter().find(|s| s.name == variable);
        let radians =
            |unit: &str| matches!(unit.to_ascii_lowercase().as_str(), "rad" | "radian" | "radians");
        state.is_some_and(|s| s.enforce == Enforce::Wrap)
            || super::unit(self.experiment, variable).as_deref().is_some_and(radians)
    }

    /// Adds the array of a statistic and its coordinates; returns its place.
    fn statistic_array(
        &mut self,
        observation: &Observation,
        source: Source,
        derived: &Derived,
    ) -> usize {
        let target = &self.targets[derived.monitor];
        let (dimension, values) = (target.dimension.clone(), derived.values);
        let name = observation_array_name(&observation.name);
        let mut dimensions = Vec::from_iter(source.dimension);
        let mut sampling = None;
        let nodes = || {
            let many = values > 1 || self.nodes == 1 || dimension != "node";
            many.then(|| (dimension.clone(), values as u64))
        };
        match derived.statistic {
            Statistic::Correlation => {
                for side in ["a", "b"] {
                    let labelled = format!("{dimension}_{side}");
                    if dimension != "node" && !self.fixed.iter().any(|f| f.name == labelled) {
                        let labels = self.fixed.iter().find(|f| f.name == dimension);
                        let content =
                            labels.map_or(Content::Strings(Vec::new()), |l| l.content.clone());
                        let shape = vec![(labelled.clone(), values as u64)];
                        let coordinate =
                            ArraySpec { name: labelled.clone(), dimensions: shape, content };
                        self.fixed.push(coordinate);
                    }
                    dimensions.push((labelled, values as u64));
                }
            }
            Statistic::DynamicConnectivity(windows) => {
                let sampling = self.sampling(derived.monitor);
                let count = windows.count(derived.rows.saturating_sub(derived.skip)) as u64;
                // The middle of a window of samples that each stand at the end of their period.
                let first = sampling.first
                    + sampling.period * (derived.skip as f64 + (windows.length as f64 - 1.0) / 2.0);
                let step = sampling.period * windows.step as f64;
                for side in ["a", "b"] {
                    let dimension = (format!("{name}_window_{side}"), count);
                    self.coordinate(&dimension, Content::Regular { first, step, count });
                    dimensions.push(dimension);
                }
            }
            Statistic::Spectrum(welch) => {
                dimensions.extend(nodes());
                let count = welch.frequencies() as u64;
                let dimension = (format!("{name}_frequency"), count);
                let content = Content::Regular { first: 0.0, step: welch.resolution(), count };
                self.coordinate(&dimension, content);
                dimensions.push(dimension);
            }
            Statistic::Synchrony { measure: SynchronyMeasure::OrderParameter, .. } => {
                let mut times = self.sampling(derived.monitor);
                times.rows = times.rows.saturating_sub(derived.skip);
                times.first += times.period * derived.skip as f64;
                sampling = Some(times);
            }
            Statistic::Synchrony { .. } => {}
            _ => dimensions.extend(nodes()),
        }
        self.array(observation, sampling, dimensions)
    }

    fn coordinate(&mut self, dimension: &(String, u64), content: Content) {
        let (name, dimensions) = (dimension.0.clone(), vec![dimension.clone()]);
        self.fixed.push(ArraySpec { name, dimensions, content });
    }

    /// Adds a score to the statistic that it is of.
    pub(super) fn score(&mut self, observation: &'a Observation) {
        let ObservationKind::Score(score) = observation.kind else { return };
        let read = |(read, at): &(&Observation, usize)| {
            observation.sources.contains(&read.name).then_some(*at)
        };
        let Some(at) = self.named_statistics.iter().find_map(read) else {
            let why = format!("`{}` is not computed", observation.sources.join("`, `"));
            return self.not_computed(observation, &why);
        };
        let derived = &self.derived[at];
        let nodes =
            derived.values == self.nodes && self.targets[derived.monitor].dimension == "node";
        let (statistic, variables) = (derived.statistic, derived.variables.len() as u64);
        let reference = match (score, statistic) {
            (Score::FcdKs, Statistic::DynamicConnectivity(windows)) => self.empirical_fcd(windows),
            (Score::FcdKs, _) => None,
            (_, Statistic::Correlation) if nodes => self.empirical_fc(),
            _ => None,
        };
        let Some(reference) = reference else {
            let why = match score {
                Score::FcdKs => {
                    "it needs the dynamics of functional connectivity (fcd) and \
                                 empirical BOLD of two windows at least"
                }
                _ => "it needs the functional connectivity (fc) of the nodes and an empirical one",
            };
            return self.not_computed(observation, why);
        };
        let dimension =
            (variables != 1).then(|| (format!("{}_variable", observation.sources[0]), variables));
        let observed = self.array(observation, None, Vec::from_iter(dimension));
        self.derived[at].scores.push(ScoreTarget { observed, score, reference: reference.into() });
    }

    /// The empirical connectivity's entries above the diagonal; the matrix becomes an array.
    fn empirical_fc(&mut self) -> Option<Vec<f64>> {
        let fc = self.experiment.empirical.fc.as_ref()?;
        let matrix = row_major(fc);
        let triangle = upper_triangle(&matrix, fc.nrows());
        let dimensions = ["node_a", "node_b"].map(|d| (d.to_owned(), fc.nrows() as u64));
        self.measured("empirical_fc", dimensions.to_vec(), matrix);
        Some(triangle)
    }

    /// The same of the empirical connectivity's dynamics, sorted.
    fn empirical_fcd(&mut self, windows: Windows) -> Option<Vec<f64>> {
        let bold = self.experiment.empirical.bold.as_ref()?;
        let count = windows.count(bold.nrows() as u64);
        if count < 2 {
            return None;
        }
        let mut dynamics = DynamicConnectivity::new(1, bold.ncols(), windows);
        for row in row_major(bold).chunks_exact(bold.ncols()) {
            dynamics.take(row);
        }
        let matrix = dynamics.finish();
        let triangle = upper_triangle(&matrix, count);
        let sides = ["empirical_fcd_window_a", "empirical_fcd_window_b"];
        let dimensions = sides.map(|d| (d.to_owned(), count as u64)).to_vec();
        self.measured("empirical_fcd", dimensions, matrix);
        Some(sorted(&triangle))
    }

    fn measured(&mut self, name: &str, dimensions: Vec<(String, u64)>, matrix: Vec<f64>) {
        if !self.fixed.iter().any(|f| f.name == name) {
            let content = Content::Reals(matrix);
            self.fixed.push(ArraySpec { name: name.to_owned(), dimensions, content });
        }
    }

    /// Which of the arrays are scores.
    pub(super) fn scores(&self) -> Vec<(usize, Better)> {
        let targets = self.derived.iter().flat_map(|d| &d.scores);
        let mut scores: Vec<_> = targets.map(|t| (t.observed, t.score.better())).collect();
        scores.sort_by_key(|(at, _)| *at);
        scores
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
            let monitor = self.unkept_monitor(observation, &variables)?;
            let variable = match variables[..] {
                [only] => Some(self.variables[only].clone()),
                _ => None,
            };
            return Ok(Ok(Source { monitor, variables, dimension, skip: 0, variable }));
        }
        let [name] = &observation.sources[..] else {
            return Ok(Err("it reads more than one observation".to_owned()));
        };
        let Some(&(read, monitor)) = self.named.iter().find(|(o, _)| o.name == *name) else {
            return Ok(Err(format!("`{name}` is not a time course")));
        };
        let target = &self.targets[monitor];
        let pairs = matches!(
            observation.kind,
            ObservationKind::FunctionalConnectivity
                | ObservationKind::DynamicConnectivity(_)
                | ObservationKind::Synchrony(..)
        );
        if pairs && target.values == 1 && self.nodes > 1 {
            return Ok(Err(format!("`{name}` has no nodes to compare")));
        }
        let dimension = match target.destination {
            Destination::Observed(at) if target.variables.len() != 1 => {
                self.observed[at].dimensions.first().cloned()
            }
            _ if target.variables.len() != 1 => {
                Some((format!("{name}_variable"), target.variables.len() as u64))
            }
            _ => None,
        };
        let variables = target.kept_variables();
        let plain = matches!(read.kind, ObservationKind::Raw | ObservationKind::SubSample);
        let variable = match variables[..] {
            [only] if plain => Some(self.variables[only].clone()),
            _ => None,
        };
        Ok(Ok(Source { monitor, variables, dimension, skip: read.skip, variable }))
    }

    /// A monitor for a statistic of recorded variables: every step, or the observation's period. A
    /// spectrum without a period is that of means over about a millisecond; phases are sampled, as
    /// a mean of phases is none.
    fn unkept_monitor(
        &mut self,
        observation: &Observation,
        variables: &[usize],
    ) -> Result<usize, Diagnostics> {
        let millisecond = (1.0 / self.experiment.integration.dt_ms()).round().max(1.0) as u64;
        let period = match observation.period {
            Some(period) => {
                let what = format!("observation `{}`", observation.name);
                Some(self.steps(&what, period)?)
            }
            None => None,
        };
        let kind = match (&observation.kind, period) {
            (ObservationKind::Synchrony(..), period) => {
                MonitorKind::SubSample { period: period.unwrap_or(millisecond) }
            }
            (_, Some(period)) => MonitorKind::TemporalAverage { period },
            (ObservationKind::PeakFrequency(_) | ObservationKind::Spectrum(_), None) => {
                MonitorKind::TemporalAverage { period: millisecond }
            }
            (_, None) => MonitorKind::Raw,
        };
        let untouched =
            |at: &usize| self.monitors[*at] == kind && self.targets[*at].transform.is_none();
        if let Some(at) = (0..self.monitors.len()).find(untouched) {
            return Ok(at);
        }
        Ok(self.watch(kind, Destination::Statistics, variables.to_vec(), None))
    }
}

fn row_major(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}
