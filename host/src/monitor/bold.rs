//! The BOLD signal of functional magnetic resonance imaging.

use super::{CompensatedMean, Monitor, TileShape};
use crate::back::JobError;
use crate::back::cpu::{Isa, Real};
use crate::experiment::BalloonWindkessel;
use kernels_gpu::bold::Constants;

/// Which variables drive the haemodynamics, and in which steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Haemodynamics {
    /// Positions among the recorded variables; each has a signal of its own.
    pub variables: Vec<usize>,
    /// Integration steps between samples, the repetition time.
    pub period: u64,
    /// Integration steps of a haemodynamic step, at most `period`.
    pub stride: u64,
    /// The haemodynamic step in seconds of real time.
    pub seconds: f64,
    /// Constants.
    pub model: BalloonWindkessel,
}

impl Haemodynamics {
    /// Haemodynamic steps as near to a millisecond as integration steps of `dt_ms` allow, but no
    /// longer than the period.
    pub fn new(variables: Vec<usize>, period: u64, dt_ms: f64, model: BalloonWindkessel) -> Self {
        let stride = ((1.0 / dt_ms).round() as u64).min(period).max(1);
        Self { variables, period, stride, seconds: stride as f64 * dt_ms / 1000.0, model }
    }

    /// Samples in `steps` integration steps.
    pub(super) fn rows(&self, steps: u64) -> u64 {
        (steps - steps % self.stride) / self.period
    }

    /// Integration steps after which sample `row` is known: the end of the first haemodynamic step
    /// that ends at or after its period.
    pub(super) fn row_end(&self, row: u64) -> u64 {
        ((row + 1) * self.period).next_multiple_of(self.stride)
    }

    /// Whether a sample is due at the haemodynamic step that ends after `steps` integration steps:
    /// it is the first at or after a multiple of the period.
    fn is_sample(&self, steps: u64) -> bool {
        steps / self.period > (steps - self.stride) / self.period
    }

    pub(super) fn check(&self, recorded: usize) -> Result<(), JobError> {
        if let Some(&index) = self.variables.iter().find(|&&v| v >= recorded) {
            return Err(JobError::Index { what: "variable for BOLD", index, count: recorded });
        }
        if self.stride == 0 || self.stride > self.period {
            return Err(JobError::Value {
                what: "the haemodynamic step in integration steps",
                value: self.stride as f64,
                needs: "at least 1 and at most the period",
            });
        }
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Err(JobError::Value {
                what: "the haemodynamic step in seconds",
                value: self.seconds,
                needs: "positive and finite",
            });
        }
        Ok(())
    }
}

/// The Balloon–Windkessel model, driven by the mean activity over each haemodynamic step; it starts
/// at rest with the recording.
#[derive(Debug)]
pub struct Bold<T> {
    haemodynamics: Haemodynamics,
    constants: Constants<T>,
    isa: Isa,
    lanes: usize,
    drives: Vec<Drive<T>>,
    activity: Vec<T>,
    row: Vec<T>,
}

/// One variable's response.
#[derive(Debug)]
struct Drive<T> {
    mean: CompensatedMean<T>,
    /// Signal, flow, volume and content by lane, as deviations from rest.
    state: [Vec<T>; 4],
}

impl<T: Real> Bold<T> {
    /// For one tile.
    pub fn new(shape: TileShape, haemodynamics: &Haemodynamics) -> Self {
        let rest = || vec![T::default(); shape.lanes];
        let drive = |_: &usize| Drive {
            mean: CompensatedMean::new(TileShape { variables: 1, ..shape }),
            state: std::array::from_fn(|_| rest()),
        };
        Self {
            constants: Constants::new(&haemodynamics.model, haemodynamics.seconds),
            isa: shape.isa,
            lanes: shape.lanes,
            drives: haemodynamics.variables.iter().map(drive).collect(),
            activity: Vec::with_capacity(shape.lanes),
            row: vec![T::default(); haemodynamics.variables.len() * shape.lanes],
            haemodynamics: haemodynamics.clone(),
        }
    }
}

impl<T: Real> Monitor<T> for Bold<T> {
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]> {
        let haemodynamics = &self.haemodynamics;
        let steps = step + 1;
        let due = steps.is_multiple_of(haemodynamics.stride);
        for (drive, &variable) in self.drives.iter_mut().zip(&haemodynamics.variables) {
            drive.mean.add(&[variables[variable]]);
            if due {
                self.activity.clear();
                self.activity.extend(drive.mean.means());
                drive.mean.reset();
                T::haemodynamics(self.isa, &mut drive.state, &self.activity, &self.constants);
            }
        }
        if !due || !haemodynamics.is_sample(steps) {
            return None;
        }
        for (row, drive) in self.row.chunks_exact_mut(self.lanes).zip(&self.drives) {
            let [_, _, volume, content] = &drive.state;
            T::bold(self.isa, volume, content, &self.constants, row);
        }
        Some(&self.row)
    }
}

#[cfg(test)]
mod tests;
