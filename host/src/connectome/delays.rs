//! Conduction delays in steps.
//!
//! `D_ij = rint(length_ij / speed / dt)`, half to even, computed in 64 bits in that order of
//! operations; or `rint(delay_ij / dt)` where an edge has a delay of its own. Edges of weight 0 do
//! not exist: they take no part in a sum and do not size the history.

use nalgebra::DMatrix;

/// The longest delay in steps that the engines take: 2^30.
pub const MAX_DELAY_STEPS: u32 = 1 << 30;

/// Why an edge has no delay.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DelayError {
    /// The conduction speed is not a positive number.
    #[error("the conduction speed is {0} mm/ms, it must be positive")]
    Speed(f64),
    /// NaN, negative, or too many steps.
    #[error(
        "the delay from node {source_node} to node {target} is {steps} steps of {dt_ms} ms, it must lie between 0 and {MAX_DELAY_STEPS}"
    )]
    Steps {
        /// Row.
        target: usize,
        /// Column.
        source_node: usize,
        /// The delay as computed.
        steps: f64,
        /// The step.
        dt_ms: f64,
    },
}

/// How long an edge takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Tract length in mm, covered at the conduction speed of the point.
    LengthMm(f64),
    /// A delay of its own in ms, whatever the speed.
    DelayMs(f64),
}

impl Span {
    /// The delay in steps, before it is checked.
    pub fn steps(self, speed_mm_per_ms: f64, dt_ms: f64) -> f64 {
        match self {
            Self::LengthMm(length) => (length / speed_mm_per_ms / dt_ms).round_ties_even(),
            Self::DelayMs(delay) => (delay / dt_ms).round_ties_even(),
        }
    }
}

/// The afferents of every node: rows of a weight matrix without its zeros, sources ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct AfferentMatrix {
    row_starts: Vec<usize>,
    sources: Vec<u32>,
    weights: Vec<f64>,
    spans: Vec<Span>,
}

impl AfferentMatrix {
    /// From dense matrices `[target, source]`, all of one square shape.
    ///
    /// A `delays_ms` that is not NaN wins over the length.
    pub fn from_dense(
        weights: &DMatrix<f64>,
        lengths_mm: &DMatrix<f64>,
        delays_ms: Option<&DMatrix<f64>>,
    ) -> Self {
        let n = weights.nrows();
        let entries = (0..n).map(|i| {
            (0..n)
                .map(|j| {
                    let span = match delays_ms.map(|d| d[(i, j)]) {
                        Some(delay) if !delay.is_nan() => Span::DelayMs(delay),
                        _ => Span::LengthMm(lengths_mm[(i, j)]),
                    };
                    (j as u32, weights[(i, j)], span)
                })
                .collect::<Vec<_>>()
        });
        Self::from_rows(entries)
    }

    /// From rows of `(source, weight, span)`, sources ascending; zero weights are dropped.
    pub fn from_rows<R: IntoIterator<Item = (u32, f64, Span)>>(
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut matrix = Self {
            row_starts: vec![0],
            sources: Vec::new(),
            weights: Vec::new(),
            spans: Vec::new(),
        };
        for row in rows {
            for (source, weight, span) in row {
                if weight != 0.0 {
                    matrix.sources.push(source);
                    matrix.weights.push(weight);
                    matrix.spans.push(span);
                }
            }
            matrix.row_starts.push(matrix.sources.len());
        }
        matrix
    }

    /// The number of target nodes.
    pub fn nodes(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// The afferents of `target`: `(edge, source, weight)`, ascending in both.
    pub fn row(&self, target: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (self.row_starts[target]..self.row_starts[target + 1])
            .map(|e| (e, self.sources[e] as usize, self.weights[e]))
    }

    /// The delay of every edge in steps, in the order of edges.
    ///
    /// # Errors
    /// A speed that is not positive; a delay that is NaN, negative or beyond [`MAX_DELAY_STEPS`].
    pub fn delay_steps(&self, speed_mm_per_ms: f64, dt_ms: f64) -> Result<Vec<u32>, DelayError> {
        if speed_mm_per_ms.is_nan() || speed_mm_per_ms <= 0.0 {
            return Err(DelayError::Speed(speed_mm_per_ms));
        }
        let mut delays = Vec::with_capacity(self.edges());
        for target in 0..self.nodes() {
            for (edge, source_node, _) in self.row(target) {
                let steps = self.spans[edge].steps(speed_mm_per_ms, dt_ms);
                if !(0.0..=f64::from(MAX_DELAY_STEPS)).contains(&steps) {
                    return Err(DelayError::Steps { target, source_node, steps, dt_ms });
                }
                delays.push(steps as u32);
            }
        }
        Ok(delays)
    }

    /// The longest delay in steps, 0 without edges.
    ///
    /// # Errors
    /// As [`delay_steps`](Self::delay_steps).
    pub fn longest_delay(&self, speed_mm_per_ms: f64, dt_ms: f64) -> Result<u32, DelayError> {
        Ok(self.delay_steps(speed_mm_per_ms, dt_ms)?.into_iter().max().unwrap_or(0))
    }
}
