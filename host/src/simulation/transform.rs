//! What becomes of a monitor's rows before they are kept: sums over nodes, and BOLD by convolution.
//! It is done on the host, in 64 bits, from the rows of either engine.

use crate::analysis::VolterraFilter;
use crate::experiment::{FirstOrderVolterra, Projection};
use nalgebra::{DVector, DVectorView};
use std::sync::Arc;

/// What rows are turned into.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Transform {
    /// Weighted sums over the nodes, for each variable.
    Project(Arc<Projection>),
    /// Haemodynamic response of each channel.
    Convolve(Convolution),
}

/// Means over short steps to BOLD samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Convolution {
    /// The response.
    pub kernel: FirstOrderVolterra,
    /// Seconds of a row that comes in.
    pub seconds: f64,
    /// Integration steps of a row that comes in, at most `period`.
    pub stride: u64,
    /// Integration steps between samples.
    pub period: u64,
}

impl Convolution {
    /// Steps as near to 4 ms as integration steps of `dt_ms` allow, but no longer than the period.
    pub(super) fn new(kernel: FirstOrderVolterra, period: u64, dt_ms: f64) -> Self {
        let wanted = FirstOrderVolterra::STEP_SECONDS * 1000.0 / dt_ms;
        let stride = (wanted.round() as u64).clamp(1, period.max(1));
        Self { kernel, seconds: stride as f64 * dt_ms / 1000.0, stride, period }
    }

    /// Whether a sample is due after `rows` rows: it is the first at or after its period.
    fn is_sample(&self, rows: u64) -> bool {
        rows * self.stride / self.period > (rows - 1) * self.stride / self.period
    }
}

impl Transform {
    /// Rows that come out of `rows`.
    pub(super) fn rows(&self, rows: u64) -> u64 {
        match self {
            Self::Project(_) => rows,
            Self::Convolve(convolution) => rows * convolution.stride / convolution.period,
        }
    }

    /// Values of a variable in a row that comes out.
    pub(super) fn values(&self, nodes: usize) -> usize {
        match self {
            Self::Project(projection) => projection.labels.len(),
            Self::Convolve(_) => nodes,
        }
    }

    /// Bytes for each point that is being computed.
    pub(super) fn bytes(&self, channels: usize) -> u64 {
        match self {
            Self::Project(_) => 0,
            Self::Convolve(_) => 24 * channels as u64,
        }
    }

    /// The transform of one point's rows of so many channels.
    pub(super) fn start(&self, channels: usize) -> Running {
        match self {
            Self::Project(projection) => Running::Project(projection.clone()),
            Self::Convolve(convolution) => Running::Convolve {
                filter: VolterraFilter::new(&convolution.kernel, channels, convolution.seconds),
                convolution: *convolution,
                rows: 0,
            },
        }
    }
}

/// A transform at work on one point.
#[derive(Debug)]
pub(super) enum Running {
    Project(Arc<Projection>),
    Convolve { filter: VolterraFilter, convolution: Convolution, rows: u64 },
}

impl Running {
    /// Takes a row `[variable][node]`; adds the row that comes out of it, if one does.
    pub(super) fn take(&mut self, row: &[f64], out: &mut Vec<f64>) {
        match self {
            Self::Project(projection) => {
                let matrix = &projection.matrix;
                for nodes in row.chunks_exact(matrix.ncols().max(1)) {
                    let mut sums = DVector::zeros(matrix.nrows());
                    sums.gemv(1.0, matrix, &DVectorView::from_slice(nodes, nodes.len()), 0.0);
                    out.extend(sums.iter());
                }
            }
            Self::Convolve { filter, convolution, rows } => {
                filter.take(row);
                *rows += 1;
                if convolution.is_sample(*rows) {
                    out.extend(filter.signal());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Target;
    use nalgebra::DMatrix;

    #[test]
    fn projections_are_matrix_products_for_each_variable() {
        let matrix = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, -1.0, 0.0, 0.5]);
        let labels = vec!["a".to_owned(), "b".to_owned()];
        let transform =
            Transform::Project(Arc::new(Projection { onto: Target::Sensors, labels, matrix }));
        assert_eq!((transform.rows(7), transform.values(3)), (7, 2));
        let mut out = Vec::new();
        transform.start(6).take(&[1.0, 1.0, 1.0, 0.0, 10.0, 4.0], &mut out);
        assert_eq!(out, [6.0, -0.5, 32.0, 2.0]);
    }

    #[test]
    fn samples_come_when_they_are_due() {
        for (period, dt_ms) in [(10_000, 0.1), (1000, 1.0), (333, 3.0), (7, 1.0), (1, 1.0)] {
            let convolution = Convolution::new(FirstOrderVolterra::default(), period, dt_ms);
            assert!(convolution.stride <= period);
            let transform = Transform::Convolve(convolution);
            let mut running = transform.start(2);
            let mut out = Vec::new();
            for rows in 1..=3000 {
                running.take(&[0.2, 0.1], &mut out);
                assert_eq!(out.len() as u64 / 2, transform.rows(rows), "{period} {dt_ms} {rows}");
            }
        }
    }
}
