//! Results of the engine into a store.

use super::observe::{Derived, Observer};
use super::recording::{Destination, MeanTarget, MonitorTarget};
use crate::output::results::Places;
use crate::output::{OutputError, Store};
use crate::sweep::{PointResult, RowBlock, Samples, Sink, SinkError, Status};
use std::collections::BTreeMap;

/// Sizes and places of what arrives.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub places: Places,
    pub variables: usize,
    pub nodes: usize,
    pub monitors: Vec<MonitorTarget>,
    pub means: Vec<MeanTarget>,
    pub derived: Vec<Derived>,
    /// Whether the store holds 64-bit numbers.
    pub wide: bool,
}

/// Writes results of points to a store as they arrive.
pub struct StoreSink {
    store: Box<dyn Store>,
    shape: Shape,
    nonfinite: Vec<(usize, u64)>,
    /// Rows of each monitor, which is the stride of a point.
    rows: Vec<u64>,
    /// Statistics of the points that are being computed.
    observers: BTreeMap<usize, Vec<Observer>>,
}

impl StoreSink {
    pub(super) fn new(store: Box<dyn Store>, shape: Shape, rows: Vec<u64>) -> Self {
        Self { store, shape, nonfinite: Vec::new(), rows, observers: BTreeMap::new() }
    }

    /// Completes the store; returns the points, by position, that left the finite numbers, with the
    /// step.
    ///
    /// # Errors
    /// If something is missing or the store can't be put in its place.
    pub fn finish(mut self) -> Result<Vec<(usize, u64)>, OutputError> {
        self.store.finish()?;
        self.nonfinite.sort_unstable();
        Ok(self.nonfinite)
    }
}

impl Sink for StoreSink {
    fn rows(&mut self, block: RowBlock<'_>) -> Result<(), SinkError> {
        self.observe(&block);
        let target = &self.shape.monitors[block.monitor];
        let array = match target.destination {
            Destination::Observed(at) => self.shape.places.observed[at],
            // A monitor for the series is only there if the layout has one.
            Destination::Series => self.shape.places.series.ok_or("no series was asked for")?,
            Destination::Statistics => return Ok(()),
        };
        let row = target.variables.len() * target.values;
        let first = (block.point as u64 * self.rows[block.monitor] + block.first_row) * row as u64;
        let bytes = if target.variables.len() == target.row_variables {
            bytes(block.values)
        } else {
            let (from, kept, of_each) = (target.row_variables, &target.variables, target.values);
            chosen(block.values, from, kept, of_each)
        };
        Ok(self.store.write(array, first, &bytes)?)
    }

    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError> {
        self.statistics(&result)?;
        let (places, at) = (&self.shape.places, result.point as u64);
        if let Some(mean) = result.mean {
            let (variables, nodes) = (self.shape.variables, self.shape.nodes);
            self.store.write(places.tavg, at * (variables * nodes) as u64, &bytes(mean))?;
            for target in &self.shape.means {
                let size = (target.variables.len() * nodes) as u64;
                let bytes = chosen(mean, variables, &target.variables, nodes);
                self.store.write(places.observed[target.observed], at * size, &bytes)?;
            }
        }
        let step = match result.status {
            Status::Finite => -1,
            Status::NonFinite { step } => {
                self.nonfinite.push((result.point, step));
                step as i64
            }
        };
        Ok(self.store.write(places.nonfinite_step, at, &step.to_le_bytes())?)
    }
}

impl StoreSink {
    /// Shows rows to the statistics that are made of them.
    fn observe(&mut self, block: &RowBlock<'_>) {
        let derived = &self.shape.derived;
        if derived.iter().any(|d| d.monitor == block.monitor) {
            let start = || derived.iter().map(Derived::start).collect();
            let observers = self.observers.entry(block.point).or_insert_with(start);
            for (observer, derived) in observers.iter_mut().zip(derived) {
                if derived.monitor == block.monitor {
                    observer.take(derived, block.values);
                }
            }
        }
    }

    /// Writes the statistics of a finished point.
    fn statistics(&mut self, result: &PointResult<'_>) -> Result<(), SinkError> {
        let derived = &self.shape.derived;
        let observers = self.observers.remove(&result.point);
        let observers = observers.unwrap_or_else(|| derived.iter().map(Derived::start).collect());
        for (observer, derived) in observers.into_iter().zip(derived) {
            let values = match result.status {
                Status::Finite => observer.finish(),
                Status::NonFinite { .. } => vec![f64::NAN; derived.results()],
            };
            let first = result.point as u64 * values.len() as u64;
            let bytes = if self.shape.wide {
                bytes(Samples::F64(&values))
            } else {
                bytes(Samples::F32(&values.iter().map(|&v| v as f32).collect::<Vec<_>>()))
            };
            self.store.write(self.shape.places.observed[derived.observed], first, &bytes)?;
        }
        Ok(())
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
