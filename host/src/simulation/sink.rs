//! Results of the engine into a store.

use super::observe::{Derived, Observer};
use super::recording::{Destination, MeanTarget, MonitorTarget};
use super::transform::Running;
use super::trials::{Summary, Trials};
use crate::experiment::Better;
use crate::output::results::Places;
use crate::output::{OutputError, Store};
use crate::sweep::{PointResult, RowBlock, Samples, Sink, SinkError, Status};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sizes and places of what arrives.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub places: Places,
    pub variables: usize,
    pub nodes: usize,
    pub monitors: Vec<MonitorTarget>,
    pub means: Vec<MeanTarget>,
    pub derived: Vec<Derived>,
    /// Places among `Recording::observed` of scores, and which of their values are better.
    pub scores: Vec<(usize, Better)>,
    /// Points of a cell of which mean and spread are stored; 1 for none.
    pub trials: u64,
    /// Whether the store holds 64-bit numbers.
    pub wide: bool,
}

/// What a sink has seen of a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Points, by position, that left the finite numbers, with the step.
    pub nonfinite: Vec<(usize, u64)>,
    /// For each score the position of the best point and its value; none where all are NaN. With
    /// trials it is the first trial of the cell with the best mean.
    pub best: Vec<Option<(usize, f64)>>,
}

/// Writes results of points to a store as they arrive.
pub struct StoreSink {
    store: Box<dyn Store>,
    shape: Arc<Shape>,
    seen: Seen,
    trials: Trials,
    /// Transforms of the points that are being computed, by point and monitor, with the rows that
    /// have come out.
    transforms: BTreeMap<(usize, usize), (Running, u64)>,
    /// Statistics of the points that are being computed.
    observers: BTreeMap<usize, Vec<Observer>>,
}

impl StoreSink {
    pub(super) fn new(store: Box<dyn Store>, shape: Shape) -> Self {
        let seen = Seen { best: vec![None; shape.scores.len()], ..Seen::default() };
        let trials = Trials::new(shape.trials);
        let (transforms, observers) = (BTreeMap::new(), BTreeMap::new());
        Self { store, shape: Arc::new(shape), seen, trials, transforms, observers }
    }

    /// Completes the store; returns what was seen.
    ///
    /// # Errors
    /// If something is missing or the store can't be put in its place.
    pub fn finish(mut self) -> Result<Seen, OutputError> {
        self.store.finish()?;
        self.seen.nonfinite.sort_unstable();
        Ok(self.seen)
    }
}

impl Sink for StoreSink {
    fn rows(&mut self, block: RowBlock<'_>) -> Result<(), SinkError> {
        let target = &self.shape.monitors[block.monitor];
        if target.transform.is_some() {
            let (values, first_row) = self.transformed(&block);
            self.observe(block.point, block.monitor, Samples::F64(&values));
            let bytes = narrowed(&values, self.shape.wide);
            return self.keep(block.point, block.monitor, first_row, &bytes);
        }
        let bytes = match target.destination {
            Destination::Statistics => Vec::new(),
            _ if target.variables.len() == target.row_variables => bytes(block.values),
            _ => {
                let (from, kept, of_each) =
                    (target.row_variables, &target.variables, target.values);
                chosen(block.values, from, kept, of_each)
            }
        };
        self.observe(block.point, block.monitor, block.values);
        self.keep(block.point, block.monitor, block.first_row, &bytes)
    }

    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError> {
        self.statistics(&result)?;
        for monitor in 0..self.shape.monitors.len() {
            self.transforms.remove(&(result.point, monitor));
        }
        let shape = self.shape.clone();
        let (places, at) = (&shape.places, result.point as u64);
        if let Some(mean) = result.mean {
            let (variables, nodes) = (shape.variables, shape.nodes);
            self.store.write(places.tavg, at * (variables * nodes) as u64, &bytes(mean))?;
            for target in &shape.means {
                let size = (target.variables.len() * nodes) as u64;
                let bytes = chosen(mean, variables, &target.variables, nodes);
                self.store.write(places.observed[target.observed], at * size, &bytes)?;
            }
            if shape.trials > 1 {
                let mean = mean.to_f64();
                for target in &shape.means {
                    let part = select(&mean, variables, &target.variables, nodes);
                    self.over_trials(target.observed + 1, result.point, part)?;
                }
                self.over_trials(0, result.point, mean)?;
            }
        }
        let step = match result.status {
            Status::Finite => -1,
            Status::NonFinite { step } => {
                self.seen.nonfinite.push((result.point, step));
                step as i64
            }
        };
        Ok(self.store.write(places.nonfinite_step, at, &step.to_le_bytes())?)
    }
}

impl StoreSink {
    /// What becomes of rows that are transformed, and the number of the first that comes out.
    fn transformed(&mut self, block: &RowBlock<'_>) -> (Vec<f64>, u64) {
        let target = &self.shape.monitors[block.monitor];
        let Some(transform) = &target.transform else { return (Vec::new(), 0) };
        let values = target.source_values;
        let channels = target.variables.len() * values;
        let key = (block.point, block.monitor);
        let (running, rows) =
            self.transforms.entry(key).or_insert_with(|| (transform.start(channels), 0));
        let chosen = match block.values {
            Samples::F32(v) => {
                let kept = select(v, target.row_variables, &target.variables, values);
                kept.into_iter().map(f64::from).collect()
            }
            Samples::F64(v) => select(v, target.row_variables, &target.variables, values),
        };
        let mut out = Vec::new();
        for row in chosen.chunks_exact(channels.max(1)) {
            running.take(row, &mut out);
        }
        let first = *rows;
        *rows += (out.len() / (target.variables.len() * target.values).max(1)) as u64;
        (out, first)
    }

    /// Writes rows of a time course.
    fn keep(
        &mut self,
        point: usize,
        monitor: usize,
        first_row: u64,
        bytes: &[u8],
    ) -> Result<(), SinkError> {
        let target = &self.shape.monitors[monitor];
        let array = match target.destination {
            Destination::Observed(at) => self.shape.places.observed[at],
            // A monitor for the series is only there if the layout has one.
            Destination::Series => self.shape.places.series.ok_or("no series was asked for")?,
            Destination::Statistics => return Ok(()),
        };
        let row = (target.variables.len() * target.values) as u64;
        let first = (point as u64 * target.rows + first_row) * row;
        Ok(self.store.write(array, first, bytes)?)
    }

    /// Shows rows to the statistics that are made of them.
    fn observe(&mut self, point: usize, monitor: usize, values: Samples<'_>) {
        let derived = &self.shape.derived;
        if derived.iter().any(|d| d.monitor == monitor) {
            let start = || derived.iter().map(Derived::start).collect();
            let observers = self.observers.entry(point).or_insert_with(start);
            for (observer, derived) in observers.iter_mut().zip(derived) {
                if derived.monitor == monitor {
                    observer.take(derived, values);
                }
            }
        }
    }

    /// Takes a result of a point; when its cell is complete, writes mean and spread, and returns the
    /// cell's first point and the mean. Array 0 is `tavg`, array k + 1 observation k.
    fn over_trials(
        &mut self,
        array: usize,
        point: usize,
        values: Vec<f64>,
    ) -> Result<Option<(usize, Vec<f64>)>, SinkError> {
        let Some([means, deviations]) = self.shape.places.trials.get(array).copied().flatten()
        else {
            return Ok(None);
        };
        let Some(summary) = self.trials.take(array, point as u64, values) else {
            return Ok(None);
        };
        let Summary { cell, mean, deviation } = summary;
        let (first, wide) = (cell * mean.len() as u64, self.shape.wide);
        self.store.write(means, first, &narrowed(&mean, wide))?;
        self.store.write(deviations, first, &narrowed(&deviation, wide))?;
        Ok(Some(((cell * self.shape.trials) as usize, mean)))
    }

    /// Writes the statistics of a finished point.
    fn statistics(&mut self, result: &PointResult<'_>) -> Result<(), SinkError> {
        let shape = self.shape.clone();
        let derived = &shape.derived;
        let observers = self.observers.remove(&result.point);
        let observers = observers.unwrap_or_else(|| derived.iter().map(Derived::start).collect());
        for (observer, derived) in observers.into_iter().zip(derived) {
            let values = match result.status {
                Status::Finite => observer.finish(),
                Status::NonFinite { .. } => vec![f64::NAN; derived.results()],
            };
            let own = derived.observed.map(|at| (at, values.clone()));
            for (observed, values) in own.into_iter().chain(derived.scores(&values)) {
                let first = result.point as u64 * values.len() as u64;
                let bytes = narrowed(&values, self.shape.wide);
                self.store.write(self.shape.places.observed[observed], first, &bytes)?;
                if self.shape.trials == 1 {
                    self.seen.compare(&self.shape.scores, observed, result.point, &values);
                    continue;
                }
                // The store's own values, so that the mean is theirs.
                let stored = |&v: &f64| if self.shape.wide { v } else { f64::from(v as f32) };
                let stored = values.iter().map(stored).collect();
                if let Some((first, mean)) = self.over_trials(observed + 1, result.point, stored)? {
                    self.seen.compare(&self.shape.scores, observed, first, &mean);
                }
            }
        }
        Ok(())
    }
}

impl Seen {
    /// Remembers a point whose score of the first variable is better than all before; of equal ones
    /// the first in the sweep, whatever the order in which they come.
    fn compare(&mut self, scores: &[(usize, Better)], observed: usize, point: usize, of: &[f64]) {
        let Some(at) = scores.iter().position(|(o, _)| *o == observed) else { return };
        let Some(&value) = of.first().filter(|v| !v.is_nan()) else { return };
        let better = scores[at].1;
        let rank = |(point, value): (usize, f64)| (better.merit(value), std::cmp::Reverse(point));
        let best = &mut self.best[at];
        if best.is_none_or(|before| rank((point, value)) > rank(before)) {
            *best = Some((point, value));
        }
    }
}

/// Bytes in the precision of the store.
fn narrowed(values: &[f64], wide: bool) -> Vec<u8> {
    if wide {
        bytes(Samples::F64(values))
    } else {
        bytes(Samples::F32(&values.iter().map(|&v| v as f32).collect::<Vec<_>>()))
    }
}

/// Bytes of some variables out of rows of `all`.
fn chosen(samples: Samples<'_>, all: usize, variables: &[usize], values: usize) -> Vec<u8> {
    match samples {
        Samples::F32(v) => bytes(Samples::F32(&select(v, all, variables, values))),
        Samples::F64(v) => bytes(Samples::F64(&select(v, all, variables, values))),
    }
}

/// Some variables out of rows of `all`, each with so many values.
fn select<T: Copy>(rows: &[T], all: usize, variables: &[usize], values: usize) -> Vec<T> {
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact((all * values).max(1)) {
        for &variable in variables {
            kept.extend_from_slice(&row[variable * values..][..values]);
        }
    }
    kept
}

fn bytes(samples: Samples<'_>) -> Vec<u8> {
    match samples {
        Samples::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Samples::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}
