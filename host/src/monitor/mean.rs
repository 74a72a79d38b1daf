//! Means over time, by lane.

use super::TileShape;
use crate::back::cpu::{Isa, Real};

/// Running compensated means of all variables in all lanes.
#[derive(Clone, Debug)]
pub struct CompensatedMean<T> {
    isa: Isa,
    lanes: usize,
    count: u64,
    sums: Vec<T>,
    compensations: Vec<T>,
}

impl<T: Real> CompensatedMean<T> {
    /// Of nothing yet.
    pub fn new(shape: TileShape) -> Self {
        let zeros = vec![T::default(); shape.variables * shape.lanes];
        Self {
            isa: shape.isa,
            lanes: shape.lanes,
            count: 0,
            sums: zeros.clone(),
            compensations: zeros,
        }
    }

    /// Adds one step.
    pub fn add(&mut self, variables: &[&[T]]) {
        let sums = self.sums.chunks_exact_mut(self.lanes);
        let compensations = self.compensations.chunks_exact_mut(self.lanes);
        for ((sums, compensations), values) in sums.zip(compensations).zip(variables) {
            T::accumulate(self.isa, sums, compensations, values);
        }
        self.count += 1;
    }

    /// The sums divided by the number of steps, `[variable][lane]`; NaN of no steps.
    pub fn means(&self) -> impl Iterator<Item = T> + '_ {
        let count = T::from_f64(self.count as f64);
        self.sums.iter().map(move |&sum| sum / count)
    }

    /// Steps since the last reset.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Starts anew.
    pub fn reset(&mut self) {
        self.count = 0;
        self.sums.fill(T::default());
        self.compensations.fill(T::default());
    }
}
