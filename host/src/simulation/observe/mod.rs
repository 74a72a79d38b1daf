//! Observations that are one value, or one matrix, a point: computed on the host while the rows of a
//! monitor arrive, whichever engine made them, in memory that does not grow with the duration.
//!
//! All of it is in 64 bits and in the order of time, so it depends on the rows alone and not on the
//! pieces in which they arrive.

mod correlation;
mod moments;
mod spectrum;
#[cfg(test)]
mod tests;

use correlation::Correlation;
use moments::Moments;
use spectrum::Spectrum;

use crate::sweep::Samples;

/// What is computed from rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Statistic {
    /// The mean over time.
    Mean,
    /// The standard deviation over time, of the samples themselves (no `n − 1`).
    StandardDeviation,
    /// Pearson correlation of every pair of nodes.
    Correlation,
    /// The frequency in Hz of the largest value of Welch's spectrum, for rows so many seconds apart.
    PeakFrequency {
        /// Seconds between rows.
        interval: f64,
    },
}

/// One observation of a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Derived {
    /// Place among `Recording::observed`.
    pub observed: usize,
    /// What.
    pub statistic: Statistic,
    /// The monitor that is read.
    pub monitor: usize,
    /// Variables of the monitor's rows.
    pub row_variables: usize,
    /// Those that are read.
    pub variables: Vec<usize>,
    /// Values of a variable in a row.
    pub values: usize,
    /// Rows that the monitor makes.
    pub rows: u64,
    /// Of those, how many at the start are left out.
    pub skip: u64,
}

impl Derived {
    /// Values of the result of one point.
    pub(super) fn results(&self) -> usize {
        match self.statistic {
            Statistic::Correlation => self.variables.len() * self.values * self.values,
            _ => self.variables.len() * self.values,
        }
    }

    /// Bytes for each point that is being computed.
    pub(super) fn bytes(&self) -> u64 {
        let channels = (self.variables.len() * self.values) as u64;
        let rows = self.rows.saturating_sub(self.skip);
        8 * match self.statistic {
            Statistic::Mean | Statistic::StandardDeviation => 2 * channels,
            Statistic::Correlation => {
                channels * (2 * self.values as u64 + correlation::BLOCK as u64)
            }
            Statistic::PeakFrequency { interval } => {
                2 * channels * spectrum::segment(rows, interval) as u64
            }
        }
    }

    /// An observer of one point.
    pub(super) fn start(&self) -> Observer {
        let channels = self.variables.len() * self.values;
        let rows = self.rows.saturating_sub(self.skip);
        let accumulator: Box<dyn Accumulator> = match self.statistic {
            Statistic::Mean => Box::new(Moments::mean(channels)),
            Statistic::StandardDeviation => Box::new(Moments::standard_deviation(channels)),
            Statistic::Correlation => Box::new(Correlation::new(self.variables.len(), self.values)),
            Statistic::PeakFrequency { interval } => {
                Box::new(Spectrum::new(channels, rows, interval))
            }
        };
        Observer { skip: self.skip, row: Vec::with_capacity(channels), accumulator }
    }
}

/// Takes rows in the order of time.
trait Accumulator: Send {
    /// One row, `[variable][node]`.
    fn take(&mut self, row: &[f64]);
    /// The result; NaN where there is none.
    fn finish(&mut self) -> Vec<f64>;
}

/// One observation of one point, being computed.
pub(super) struct Observer {
    /// Rows still to be left out.
    skip: u64,
    row: Vec<f64>,
    accumulator: Box<dyn Accumulator>,
}

impl Observer {
    /// Takes the next rows of the monitor.
    pub(super) fn take(&mut self, derived: &Derived, samples: Samples<'_>) {
        match samples {
            Samples::F32(values) => self.rows(derived, values, f64::from),
            Samples::F64(values) => self.rows(derived, values, |x| x),
        }
    }

    fn rows<T: Copy>(&mut self, derived: &Derived, values: &[T], widen: impl Fn(T) -> f64) {
        let length = (derived.row_variables * derived.values).max(1);
        for row in values.chunks_exact(length) {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.row.clear();
            for &variable in &derived.variables {
                let from = variable * derived.values;
                self.row.extend(row[from..from + derived.values].iter().map(|&x| widen(x)));
            }
            self.accumulator.take(&self.row);
        }
    }

    /// The result of the point.
    pub(super) fn finish(mut self) -> Vec<f64> {
        self.accumulator.finish()
    }
}

/// Which channels have shown more than one value: a constant one has no correlation and no spectrum,
/// and rounding must not give it one.
struct Variation {
    first: Vec<f64>,
    varies: Vec<bool>,
}

impl Variation {
    fn new(channels: usize) -> Self {
        Self { first: Vec::new(), varies: vec![false; channels] }
    }

    fn take(&mut self, row: &[f64]) {
        if self.first.is_empty() {
            self.first.extend_from_slice(row);
        }
        for ((varies, first), x) in self.varies.iter_mut().zip(&self.first).zip(row) {
            *varies |= first != x;
        }
    }
}
