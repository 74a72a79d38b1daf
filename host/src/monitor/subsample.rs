//! The last step of each period.

use super::{Monitor, TileShape};
use crate::back::cpu::Real;

/// Keeps the state after the last step of each period.
#[derive(Debug)]
pub struct SubSample<T> {
    period: u64,
    lanes: usize,
    row: Vec<T>,
}

impl<T: Real> SubSample<T> {
    /// For one tile, a row each `period` steps.
    pub fn new(shape: TileShape, period: u64) -> Self {
        let row = vec![T::default(); shape.variables * shape.lanes];
        Self { period, lanes: shape.lanes, row }
    }
}

impl<T: Real> Monitor<T> for SubSample<T> {
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]> {
        if !(step + 1).is_multiple_of(self.period) {
            return None;
        }
        for (row, values) in self.row.chunks_exact_mut(self.lanes).zip(variables) {
            row.copy_from_slice(values);
        }
        Some(&self.row)
    }
}
