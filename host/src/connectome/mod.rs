//! Who is connected to whom, how strongly and how far away.

pub mod check;
pub mod delays;
mod error;
pub mod generator;
pub mod normalise;
mod raw;
pub mod read;

pub use error::{ConnectomeError, Edge, Place, Warning};
pub use raw::{Piece, RawConnectome};

use nalgebra::DMatrix;

/// A structural connectome.
///
/// Matrices are `[target, source]`: row i holds the afferents of node i.
#[derive(Clone, Debug, PartialEq)]
pub struct Connectome {
    /// Connection weights, dimensionless unless the source says otherwise.
    pub weights: DMatrix<f64>,
    /// Tract lengths in mm.
    pub tract_lengths_mm: DMatrix<f64>,
    /// Conduction delays in ms where a file gives them in place of lengths; they win over lengths.
    /// NaN where an edge has none of its own.
    pub delays_ms: Option<DMatrix<f64>>,
    /// One label a node.
    pub labels: Vec<String>,
}

impl Connectome {
    /// `n` nodes without any connection, labelled by their index.
    pub fn unconnected(n: usize) -> Self {
        Self {
            weights: DMatrix::zeros(n, n),
            tract_lengths_mm: DMatrix::zeros(n, n),
            delays_ms: None,
            labels: (0..n).map(|i| i.to_string()).collect(),
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }
}
