//! What is kept of a run, and how often: streaming, lane by lane, while the engine steps.
//!
//! A [`Monitor`] sees every recorded variable of a tile after each recorded step and now and then
//! makes a row. Lanes are node-major: `lane = node·width + point`.

mod global_average;
mod mean;
mod raw;
mod subsample;
mod temporal_average;

pub use global_average::GlobalAverage;
pub use mean::CompensatedMean;
pub use raw::Raw;
pub use subsample::SubSample;
pub use temporal_average::TemporalAverage;

use crate::back::JobError;
use crate::back::cpu::{Isa, Real};

/// Which time series is kept. Periods are in steps.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorKind {
    /// Every step.
    Raw,
    /// The last step of each period.
    SubSample {
        /// Steps between samples.
        period: u64,
    },
    /// The mean over each period.
    TemporalAverage {
        /// Steps of a window.
        period: u64,
    },
    /// The mean over nodes, at the last step of each period.
    GlobalAverage {
        /// Steps between samples.
        period: u64,
    },
}

/// The tile that a monitor watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileShape {
    /// Nodes.
    pub nodes: usize,
    /// Points side by side.
    pub width: usize,
    /// Lanes, padded.
    pub lanes: usize,
    /// Recorded variables.
    pub variables: usize,
    /// Instruction set for its loops.
    pub isa: Isa,
}

impl MonitorKind {
    /// Steps between rows.
    pub fn period(&self) -> u64 {
        match self {
            Self::Raw => 1,
            Self::SubSample { period }
            | Self::TemporalAverage { period }
            | Self::GlobalAverage { period } => *period,
        }
    }

    /// Rows made in `steps` recorded steps.
    pub fn rows(&self, steps: u64) -> u64 {
        steps / self.period()
    }

    /// Values of a row for one variable of one point: one a node, or 1.
    pub fn values(&self, nodes: usize) -> usize {
        match self {
            Self::GlobalAverage { .. } => 1,
            _ => nodes,
        }
    }

    /// Bytes that a monitor takes for each lane of a tile, for words of `word` bytes.
    pub fn bytes_per_lane(&self, variables: usize, word: usize) -> usize {
        match self {
            Self::TemporalAverage { .. } => 3 * variables * word,
            _ => variables * word,
        }
    }

    /// Checks periods.
    ///
    /// # Errors
    /// A period of 0 steps.
    pub fn check(&self, _variables: usize) -> Result<(), JobError> {
        if self.period() == 0 {
            let (what, needs) = ("the period of a monitor", "at least one step");
            return Err(JobError::Value { what, value: 0.0, needs });
        }
        Ok(())
    }

    /// A monitor of this kind for one tile.
    pub fn start<T: Real>(&self, shape: TileShape) -> Box<dyn Monitor<T>> {
        match *self {
            Self::Raw => Box::new(Raw::new(shape)),
            Self::SubSample { period } => Box::new(SubSample::new(shape, period)),
            Self::TemporalAverage { period } => Box::new(TemporalAverage::new(shape, period)),
            Self::GlobalAverage { period } => Box::new(GlobalAverage::new(shape, period)),
        }
    }
}

/// A streaming observer of one tile.
pub trait Monitor<T: Real>: Send {
    /// Takes the variables, by lane, after recorded step `step` (from 0). Returns a row where one is
    /// complete: `[variable][lane]`, or `[variable][point]` for means over nodes.
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]>;
}
