//! Means over nodes.

use super::{Monitor, TileShape};
use crate::back::cpu::Real;
use kernels_gpu::mean;

/// The mean over nodes after the last step of each period: a compensated sum in ascending node
/// order, divided by the number of nodes.
#[derive(Debug)]
pub struct GlobalAverage<T> {
    shape: TileShape,
    period: u64,
    row: Vec<T>,
}

impl<T: Real> GlobalAverage<T> {
    /// For one tile, a row each `period` steps.
    pub fn new(shape: TileShape, period: u64) -> Self {
        Self { shape, period, row: vec![T::default(); shape.variables * shape.width] }
    }
}

impl<T: Real> Monitor<T> for GlobalAverage<T> {
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]> {
        if !(step + 1).is_multiple_of(self.period) {
            return None;
        }
        let TileShape { nodes, width, .. } = self.shape;
        for (row, values) in self.row.chunks_exact_mut(width).zip(variables) {
            for (point, mean) in row.iter_mut().enumerate() {
                let mut sum = (T::default(), T::default());
                for node in 0..nodes {
                    sum = mean::accumulate(sum.0, sum.1, values[node * width + point]);
                }
                *mean = sum.0 / T::from_f64(nodes as f64);
            }
        }
        Some(&self.row)
    }
}
