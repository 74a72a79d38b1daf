//! The pieces of a connectome as a file gave them, before anything was checked.

use super::error::{ConnectomeError, Place, Warning};
use super::{Connectome, check};
use nalgebra::DMatrix;

/// A piece of a connectome with the place that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece<T> {
    /// The piece.
    pub value: T,
    /// Where it stood.
    pub place: Place,
}

impl<T> Piece<T> {
    /// A piece that stood at `place`.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

/// A connectome as read. Matrices are `[target, source]`.
///
/// Nothing is known to fit together yet; [`RawConnectome::finish`] sees to that.
#[derive(Clone, Debug, PartialEq)]
pub struct RawConnectome {
    /// Connection weights.
    pub weights: Piece<DMatrix<f64>>,
    /// Tract lengths in mm.
    pub lengths: Option<Piece<DMatrix<f64>>>,
    /// One label a node, in the order of the rows.
    pub labels: Option<Piece<Vec<String>>>,
    /// One centre a node, in mm.
    pub centres: Option<Piece<Vec<[f64; 3]>>>,
    /// Conduction delays in ms, NaN where an edge has none of its own; they win over lengths.
    pub delays: Option<Piece<DMatrix<f64>>>,
}

impl RawConnectome {
    /// Weights and nothing else.
    pub fn from_weights(weights: Piece<DMatrix<f64>>) -> Self {
        Self { weights, lengths: None, labels: None, centres: None, delays: None }
    }

    /// Checks the pieces and completes them.
    ///
    /// Missing lengths become the Euclidean distances of the centres, or 0 where there are none
    /// either. Missing labels become the nodes' indices.
    ///
    /// # Errors
    /// Pieces of different size, a weight that is not finite, a length or delay that is not finite
    /// or is negative.
    pub fn finish(self) -> Result<(Connectome, Vec<Warning>), ConnectomeError> {
        check::pieces(&self)?;
        let mut warnings = check::suspicions(&self);
        let n = self.weights.value.nrows();
        let tract_lengths_mm = match (self.lengths, self.centres) {
            (Some(lengths), _) => lengths.value,
            (None, Some(centres)) => distances(&centres.value),
            (None, None) => {
                if self.delays.is_none() && n > 1 {
                    warnings.push(Warning::NoLengths { place: self.weights.place.clone() });
                }
                DMatrix::zeros(n, n)
            }
        };
        let labels = match self.labels {
            Some(labels) => labels.value,
            None => (0..n).map(|i| i.to_string()).collect(),
        };
        let connectome = Connectome {
            weights: self.weights.value,
            tract_lengths_mm,
            delays_ms: self.delays.map(|delays| delays.value),
            labels,
        };
        Ok((connectome, warnings))
    }
}

/// Euclidean distances between all centres.
fn distances(centres: &[[f64; 3]]) -> DMatrix<f64> {
    DMatrix::from_fn(centres.len(), centres.len(), |target, source| {
        let (a, b) = (centres[target], centres[source]);
        ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2)).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece<T>(value: T) -> Piece<T> {
        Piece::new(value, Place::file("net"))
    }

    #[test]
    fn lengths_default_to_distances_of_centres() {
        let mut raw = RawConnectome::from_weights(piece(DMatrix::from_element(2, 2, 1.0)));
        raw.centres = Some(piece(vec![[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]));
        let (connectome, warnings) = raw.finish().unwrap();
        assert_eq!(connectome.tract_lengths_mm, DMatrix::from_row_slice(2, 2, &[0., 5., 5., 0.]));
        assert_eq!(connectome.labels, ["0", "1"]);
        assert_eq!(warnings, []);
    }

    #[test]
    fn weights_alone_have_no_length_and_say_so() {
        let raw = RawConnectome::from_weights(piece(DMatrix::from_element(3, 3, 1.0)));
        let (connectome, warnings) = raw.finish().unwrap();
        assert_eq!(connectome.tract_lengths_mm, DMatrix::zeros(3, 3));
        assert!(matches!(warnings[..], [Warning::NoLengths { .. }]));
    }

    #[test]
    fn lengths_win_over_centres() {
        let mut raw = RawConnectome::from_weights(piece(DMatrix::from_element(2, 2, 1.0)));
        raw.centres = Some(piece(vec![[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]));
        raw.lengths = Some(piece(DMatrix::from_row_slice(2, 2, &[0., 7., 9., 0.])));
        let (connectome, _) = raw.finish().unwrap();
        assert_eq!(connectome.tract_lengths_mm[(0, 1)], 7.0);
        assert_eq!(connectome.tract_lengths_mm[(1, 0)], 9.0);
    }
}
