//! Results of the engine into a store.

use super::recording::MonitorTarget;
use crate::output::results::Places;
use crate::output::{OutputError, Store};
use crate::sweep::{PointResult, RowBlock, Samples, Sink, SinkError, Status};

/// Sizes and places of what arrives.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub places: Places,
    pub variables: usize,
    pub nodes: usize,
    pub monitors: Vec<MonitorTarget>,
}

/// Writes results of points to a store as they arrive.
pub struct StoreSink {
    store: Box<dyn Store>,
    shape: Shape,
    /// Rows of each monitor, which is the stride of a point.
    nonfinite: Vec<(usize, u64)>,
    rows: Vec<u64>,
}

impl StoreSink {
    pub(super) fn new(store: Box<dyn Store>, shape: Shape, rows: Vec<u64>) -> Self {
        Self { store, shape, nonfinite: Vec::new(), rows }
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
        let target = &self.shape.monitors[block.monitor];
        let array = match target.observed {
            Some(at) => self.shape.places.observed[at],
            // A monitor without an array of its own is the series, which then is in the layout.
            None => self.shape.places.series.ok_or("no series was asked for")?,
        };
        let row = target.variables.len() * target.values;
        let first = (block.point as u64 * self.rows[block.monitor] + block.first_row) * row as u64;
        let all = self.shape.variables * target.values;
        let bytes = if target.variables.len() == self.shape.variables {
            bytes(block.values)
        } else {
            match block.values {
                Samples::F32(v) => bytes(Samples::F32(&select(v, all, target))),
                Samples::F64(v) => bytes(Samples::F64(&select(v, all, target))),
            }
        };
        Ok(self.store.write(array, first, &bytes)?)
    }

    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError> {
        let (places, at) = (&self.shape.places, result.point as u64);
        if let Some(mean) = result.mean {
            let size = (self.shape.variables * self.shape.nodes) as u64;
            self.store.write(places.tavg, at * size, &bytes(mean))?;
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

/// The variables of `target` out of rows of all.
fn select<T: Copy>(values: &[T], row: usize, target: &MonitorTarget) -> Vec<T> {
    let mut kept = Vec::with_capacity(values.len());
    for row in values.chunks_exact(row) {
        for &variable in &target.variables {
            let from = variable * target.values;
            kept.extend_from_slice(&row[from..from + target.values]);
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
