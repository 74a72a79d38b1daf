//! What is kept of a run, and how often: streaming, lane by lane, while the engine steps.
//!
//! A [`Monitor`] sees every recorded variable of a tile after each recorded step and now and then
//! makes a row. Lanes are node-major: `lane = node·width + point`.

mod bold;
mod global_average;
mod mean;
mod raw;
mod subsample;
mod temporal_average;

pub use bold::{Bold, Haemodynamics};
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
    /// The BOLD response to some of the variables.
    Bold(Haemodynamics),
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
            Self::Bold(haemodynamics) => haemodynamics.period,
        }
    }

    /// Rows made in `steps` recorded steps.
    pub fn rows(&self, steps: u64) -> u64 {
        match self {
            Self::Bold(haemodynamics) => haemodynamics.rows(steps),
            _ => steps / self.period(),
        }
    }

    /// Recorded steps after which row `row` is complete.
    pub fn row_end(&self, row: u64) -> u64 {
        match self {
            Self::Bold(haemodynamics) => haemodynamics.row_end(row),
            _ => (row + 1) * self.period(),
        }
    }

    /// Rows that `steps` recorded steps complete at most, whenever they start.
    pub fn most_rows(&self, steps: u64) -> u64 {
        match self {
            // A sample that is due may have waited for the end of a haemodynamic step.
            Self::Bold(_) => steps / self.period() + 2,
            _ => steps / self.period() + 1,
        }
    }

    /// Variables of a row, of `recorded` that there are.
    pub fn variables(&self, recorded: usize) -> usize {
        match self {
            Self::Bold(haemodynamics) => haemodynamics.variables.len(),
            _ => recorded,
        }
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
            // State, sums, activity and row.
            Self::Bold(haemodynamics) => 8 * haemodynamics.variables.len() * word,
            _ => variables * word,
        }
    }

    /// Checks periods, and the variables that are chosen of `variables`.
    ///
    /// # Errors
    /// A period of 0 steps, a variable that does not exist.
    pub fn check(&self, variables: usize) -> Result<(), JobError> {
        if self.period() == 0 {
            let (what, needs) = ("the period of a monitor", "at least one step");
            return Err(JobError::Value { what, value: 0.0, needs });
        }
        if let Self::Bold(haemodynamics) = self {
            haemodynamics.check(variables)?;
        }
        Ok(())
    }

    /// A monitor of this kind for one tile.
    pub fn start<T: Real>(&self, shape: TileShape) -> Box<dyn Monitor<T>> {
        match self {
            Self::Raw => Box::new(Raw::new(shape)),
            Self::SubSample { period } => Box::new(SubSample::new(shape, *period)),
            Self::TemporalAverage { period } => Box::new(TemporalAverage::new(shape, *period)),
            Self::GlobalAverage { period } => Box::new(GlobalAverage::new(shape, *period)),
            Self::Bold(haemodynamics) => Box::new(Bold::new(shape, haemodynamics)),
        }
    }
}

/// A streaming observer of one tile.
pub trait Monitor<T: Real>: Send {
    /// Takes the variables, by lane, after recorded step `step` (from 0). Returns a row where one is
    /// complete: `[variable][lane]`, or `[variable][point]` for means over nodes.
    fn record(&mut self, step: u64, variables: &[&[T]]) -> Option<&[T]>;
}
