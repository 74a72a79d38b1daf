//! Observations that are one value, or one matrix, a point: computed on the host while the rows of a
//! monitor arrive, whichever engine made them, in memory that does not grow with the duration
//! except where a method needs the whole recording.
//!
//! All of it is in 64 bits and in the order of time, so it depends on the rows alone and not on the
//! pieces in which they arrive. The arithmetic is that of [`crate::analysis`].

#[cfg(test)]
mod tests;

use crate::analysis::{
    self, Accumulator, Correlation, DynamicConnectivity, Moments, Peak, Spectrum, Synchrony,
    SynchronyMeasure, Welch, Windows, kolmogorov_smirnov, sorted, upper_triangle,
};
use crate::experiment::Score;
use crate::sweep::Samples;
use std::sync::Arc;

/// What is computed from rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Statistic {
    /// The mean over time.
    Mean,
    /// The variance over time, of the samples themselves (no `n − 1`).
    Variance,
    /// Its root.
    StandardDeviation,
    /// Pearson correlation of every pair of nodes.
    Correlation,
    /// Correlation of the correlations of every pair of windows.
    DynamicConnectivity(Windows),
    /// Welch's spectrum.
    Spectrum(Welch),
    /// The frequency in Hz of the largest value of Welch's spectrum.
    PeakFrequency(Welch),
    /// A measure of synchrony.
    Synchrony {
        /// Which.
        measure: SynchronyMeasure,
        /// Whether the rows are phases, or signals of which phases have to be found.
        phases: bool,
    },
}

/// A score of a statistic's result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScoreTarget {
    /// Place among `Recording::observed`.
    pub observed: usize,
    /// Which.
    pub score: Score,
    /// The empirical matrix' entries above the diagonal; sorted for a distance of distributions.
    pub reference: Arc<[f64]>,
}

impl ScoreTarget {
    /// The score of a square matrix.
    fn of(&self, matrix: &[f64], size: usize) -> f64 {
        let simulated = upper_triangle(matrix, size);
        match self.score {
            Score::FcCorrelation => analysis::pearson(&simulated, &self.reference),
            Score::FcRmse => analysis::root_mean_square_error(&simulated, &self.reference),
            Score::MeanFcDifference => analysis::mean_difference(&simulated, &self.reference),
            Score::FcdKs => kolmogorov_smirnov(&sorted(&simulated), &self.reference),
        }
    }
}

/// One observation of a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Derived {
    /// Place among `Recording::observed`; none where only scores are kept.
    pub observed: Option<usize>,
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
    /// Scores of the result.
    pub scores: Vec<ScoreTarget>,
}

impl Derived {
    fn channels(&self) -> usize {
        self.variables.len() * self.values
    }

    fn kept_rows(&self) -> u64 {
        self.rows.saturating_sub(self.skip)
    }

    /// The extent of the square matrix that the result is for each variable, if it is one.
    fn matrix_size(&self) -> Option<usize> {
        match self.statistic {
            Statistic::Correlation => Some(self.values),
            Statistic::DynamicConnectivity(windows) => Some(windows.count(self.kept_rows())),
            _ => None,
        }
    }

    /// Values of the result of one point.
    pub(super) fn results(&self) -> usize {
        let variables = self.variables.len();
        match (self.statistic, self.matrix_size()) {
            (_, Some(size)) => variables * size * size,
            (Statistic::Spectrum(welch), _) => self.channels() * welch.frequencies(),
            (Statistic::Synchrony { measure: SynchronyMeasure::OrderParameter, .. }, _) => {
                variables * self.kept_rows() as usize
            }
            (Statistic::Synchrony { .. }, _) => variables,
            _ => self.channels(),
        }
    }

    /// Bytes for each point that is being computed.
    pub(super) fn bytes(&self) -> u64 {
        let (channels, values) = (self.channels() as u64, self.values as u64);
        let (rows, results) = (self.kept_rows(), self.results() as u64);
        8 * match self.statistic {
            Statistic::Mean | Statistic::Variance | Statistic::StandardDeviation => 2 * channels,
            Statistic::Correlation => channels * (2 * values + analysis::BLOCK as u64),
            Statistic::DynamicConnectivity(windows) => {
                let patterns = windows.count(rows) as u64 * channels * values / 2;
                results + patterns + windows.length as u64 * channels
            }
            Statistic::Spectrum(welch) | Statistic::PeakFrequency(welch) => {
                2 * channels * welch.segment as u64 + results
            }
            Statistic::Synchrony { measure, phases } => {
                let signals = if phases { 0 } else { 2 * rows * channels };
                let pairs = match measure {
                    SynchronyMeasure::PhaseCoherence => channels * values,
                    _ => 0,
                };
                results + signals + pairs
            }
        }
    }

    /// An observer of one point.
    pub(super) fn start(&self) -> Observer {
        let (variables, values, channels) = (self.variables.len(), self.values, self.channels());
        let accumulator: Box<dyn Accumulator> = match self.statistic {
            Statistic::Mean => Box::new(Moments::mean(channels)),
            Statistic::Variance => Box::new(Moments::variance(channels)),
            Statistic::StandardDeviation => Box::new(Moments::standard_deviation(channels)),
            Statistic::Correlation => Box::new(Correlation::new(variables, values)),
            Statistic::DynamicConnectivity(windows) => {
                Box::new(DynamicConnectivity::new(variables, values, windows))
            }
            Statistic::Spectrum(welch) => Box::new(Spectrum::new(channels, welch)),
            Statistic::PeakFrequency(welch) => Box::new(Peak::new(channels, welch)),
            Statistic::Synchrony { measure, phases: true } => {
                Box::new(Synchrony::of_phases(measure, variables, values))
            }
            Statistic::Synchrony { measure, phases: false } => {
                Box::new(Synchrony::of_signals(measure, variables, values))
            }
        };
        Observer { skip: self.skip, row: Vec::with_capacity(channels), accumulator }
    }

    /// Place among `Recording::observed` and values of each score of a result, one a variable.
    pub(super) fn scores(&self, result: &[f64]) -> Vec<(usize, Vec<f64>)> {
        let size = self.matrix_size().unwrap_or(0);
        let matrices = || result.chunks_exact((size * size).max(1));
        let scored = |target: &ScoreTarget| {
            (target.observed, matrices().map(|matrix| target.of(matrix, size)).collect())
        };
        self.scores.iter().map(scored).collect()
    }
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
