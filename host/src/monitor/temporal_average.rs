//! Means over windows.

use super::{CompensatedMean, Monitor, TileShape};
use crate::back::cpu::Real;

/// The mean over each window of `period` steps.
#[derive(Debug)]
pub struct TemporalAverage<T> {
    period: u64,
    mean: CompensatedMean<T>,
    row: Vec<T>,
}

impl<T: Real> TemporalAverage<T> {
    /// For one tile, windows of `period` steps.
    pub fn new(shape: TileShape, period: u64) -> Self {
        let row = Vec::with_capacity(shape.variables * shape.lanes);
        Self { period, mean: CompensatedMean::new(shape), row }
    }
}

impl<T: Real> Monitor<T> for TemporalAverage<T> {
    fn record(&mut self, _step: u64, variables: &[&[T]]) -> Option<&[T]> {
        self.mean.add(variables);
        if self.mean.count() < self.period {
            return None;
        }
        self.row.clear();
        self.row.extend(self.mean.means());
        self.mean.reset();
        Some(&self.row)
    }
}
