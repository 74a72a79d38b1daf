//! Every step.

use super::{Monitor, SubSample, TileShape};
use crate::back::cpu::Real;

/// Keeps the state after every step.
#[derive(Debug)]
pub struct Raw<T>(SubSample<T>);

impl<T: Real> Raw<T> {
    /// For one tile.
    pub fn new(shape: TileShape) -> Self {
        Self(SubSample::new(shape, 1))
    }
}

impl<T: Real> Monitor<T> for Raw<T> {
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]> {
        self.0.record(step, variables)
    }
}
