//! Whether the pieces of a connectome fit together and hold numbers that a brain can have.

use super::Connectome;
use super::error::{ConnectomeError, Edge, Place, Warning};
use super::raw::{Piece, RawConnectome};
use nalgebra::DMatrix;

/// Longer than any tract of a human brain, in mm.
const LONGEST_PLAUSIBLE_MM: f64 = 1000.0;
/// A longest tract shorter than this, in mm, is no brain's.
const SHORTEST_PLAUSIBLE_MM: f64 = 1.0;
/// Delays longer than this, in ms, are no axon's: 250 mm at 0.5 m/s.
const LONGEST_PLAUSIBLE_MS: f64 = 500.0;
/// A longest delay shorter than this, in ms, means no delay at all.
const SHORTEST_PLAUSIBLE_MS: f64 = 0.05;
/// So many different lengths must agree on a step before it is believed.
const STEP_EVIDENCE: usize = 12;

/// Checks sizes and numbers.
///
/// # Errors
/// The first of: weights not square, another size of lengths or delays, another number of labels
/// or centres, weights that are not finite, lengths or delays that are not finite or are negative.
pub fn pieces(raw: &RawConnectome) -> Result<(), ConnectomeError> {
    let n = square(&raw.weights)?;
    for (piece, what) in [(&raw.lengths, "tract lengths"), (&raw.delays, "delays")] {
        if let Some(piece) = piece {
            let other = square(piece)?;
            if other != n {
                return Err(ConnectomeError::Shapes {
                    weights_place: raw.weights.place.clone(),
                    weights: n,
                    place: piece.place.clone(),
                    what,
                    other,
                });
            }
        }
    }
    let count = |count: usize, what, place: &Place| {
        if count == n {
            return Ok(());
        }
        Err(ConnectomeError::Count { weights: n, count, what, place: place.clone() })
    };
    if let Some(labels) = &raw.labels {
        count(labels.value.len(), "labels", &labels.place)?;
    }
    if let Some(centres) = &raw.centres {
        count(centres.value.len(), "centres", &centres.place)?;
        for (node, &value) in centres.value.iter().enumerate() {
            if !value.iter().all(|x| x.is_finite()) {
                let place = centres.place.clone();
                return Err(ConnectomeError::BadCentre { place, node, value });
            }
        }
    }
    let labels = raw.labels.as_ref().map(|l| l.value.as_slice());
    numbers(&raw.weights.value, &raw.weights.place, "weight", labels, |w| w.is_finite())?;
    if let Some(lengths) = &raw.lengths {
        numbers(&lengths.value, &lengths.place, "tract length", labels, |l| {
            l.is_finite() && l >= 0.0
        })?;
    }
    if let Some(delays) = &raw.delays {
        numbers(&delays.value, &delays.place, "delay", labels, |d| {
            d.is_nan() || (d.is_finite() && d >= 0.0)
        })?;
    }
    Ok(())
}

/// Checks the numbers of a connectome again, after a transform that stands at `place`.
///
/// # Errors
/// A weight that is not finite; a length that is not finite or is negative.
pub fn transformed(connectome: &Connectome, place: &Place) -> Result<(), ConnectomeError> {
    let labels = Some(connectome.labels.as_slice());
    numbers(&connectome.weights, place, "weight", labels, f64::is_finite)?;
    let lengths = &connectome.tract_lengths_mm;
    numbers(lengths, place, "tract length", labels, |l| l.is_finite() && l >= 0.0)
}

/// What is probably not meant in pieces that passed [`pieces`].
pub fn suspicions(raw: &RawConnectome) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(lengths) = &raw.lengths {
        warnings.extend(implausible_lengths(&raw.weights.value, lengths));
    }
    if let Some(labels) = &raw.labels {
        let mut seen = std::collections::BTreeMap::new();
        for (second, label) in labels.value.iter().enumerate() {
            if let Some(first) = seen.insert(label, second) {
                warnings.push(Warning::DuplicateLabel {
                    place: labels.place.clone(),
                    label: label.clone(),
                    first,
                    second,
                });
                break;
            }
        }
    }
    warnings
}

/// Whether the longest delay of an existing connection, at a conduction speed in mm/ms, is outside
/// what brains have. Networks without any length are not suspected.
pub fn delays(connectome: &Connectome, speed_mm_per_ms: f64) -> Option<Warning> {
    let longest_mm = longest(&connectome.weights, &connectome.tract_lengths_mm);
    let longest_ms = longest_mm / speed_mm_per_ms;
    let plausible =
        longest_mm == 0.0 || (SHORTEST_PLAUSIBLE_MS..=LONGEST_PLAUSIBLE_MS).contains(&longest_ms);
    (!plausible).then_some(Warning::ImplausibleDelays { longest_ms, longest_mm, speed_mm_per_ms })
}

fn square(piece: &Piece<DMatrix<f64>>) -> Result<usize, ConnectomeError> {
    let (rows, columns) = piece.value.shape();
    let place = piece.place.clone();
    match (rows, columns) {
        (0, _) | (_, 0) => Err(ConnectomeError::Empty { place }),
        _ if rows != columns => Err(ConnectomeError::NotSquare { place, rows, columns }),
        _ => Ok(rows),
    }
}

/// The first entry, row by row, that is not as it must be.
fn numbers(
    matrix: &DMatrix<f64>,
    place: &Place,
    what: &'static str,
    labels: Option<&[String]>,
    good: impl Fn(f64) -> bool,
) -> Result<(), ConnectomeError> {
    let count = matrix.iter().filter(|&&x| !good(x)).count();
    if count == 0 {
        return Ok(());
    }
    let (rows, columns) = matrix.shape();
    let first = (0..rows)
        .flat_map(|target| (0..columns).map(move |source| (target, source)))
        .find(|&at| !good(matrix[at]));
    match first {
        None => Ok(()),
        Some((target, source)) => Err(ConnectomeError::BadNumber {
            place: place.clone(),
            what,
            value: matrix[(target, source)],
            edge: Edge {
                target,
                source,
                labels: labels.map(|l| Box::new((l[target].clone(), l[source].clone()))),
            },
            count,
        }),
    }
}

/// The longest length of a connection that exists.
fn longest(weights: &DMatrix<f64>, lengths: &DMatrix<f64>) -> f64 {
    weights.iter().zip(lengths).filter(|&(&w, _)| w != 0.0).map(|(_, &l)| l).fold(0.0, f64::max)
}

fn implausible_lengths(weights: &DMatrix<f64>, lengths: &Piece<DMatrix<f64>>) -> Option<Warning> {
    let longest_mm = longest(weights, &lengths.value);
    let place = lengths.place.clone();
    if longest_mm == 0.0 {
        None
    } else if longest_mm < SHORTEST_PLAUSIBLE_MM {
        Some(Warning::LengthsTooShort { place, longest_mm })
    } else if longest_mm > LONGEST_PLAUSIBLE_MM {
        Some(Warning::LengthsTooLong { place, longest_mm })
    } else {
        let step = common_step(weights, &lengths.value)?;
        Some(Warning::LengthsInSteps { place, longest_mm, step })
    }
}

/// The step that all lengths of existing connections are multiples of, if there is one.
///
/// Steps of 1, 0.1, 0.01 … are not reported: that is how lengths in mm are rounded. Nor is one that
/// only a few different lengths agree on.
fn common_step(weights: &DMatrix<f64>, lengths: &DMatrix<f64>) -> Option<f64> {
    // Lengths that were rounded to 1/1000 or coarser, as whole thousandths. Single precision in the
    // file moves a length by less than the tolerance.
    const PER_MM: f64 = 1000.0;
    let mut thousandths = std::collections::BTreeSet::new();
    for (_, &length) in weights.iter().zip(lengths).filter(|&(&w, &l)| w != 0.0 && l > 0.0) {
        let whole = (length * PER_MM).round();
        if (length * PER_MM - whole).abs() > 0.05 {
            return None;
        }
        thousandths.insert(whole as u64);
    }
    if thousandths.len() < STEP_EVIDENCE {
        return None;
    }
    let step = thousandths.iter().fold(0, |a, &b| gcd(a, b));
    let rounding = matches!(step, 1 | 2 | 5 | 10 | 20 | 50 | 100 | 200 | 500 | 1000);
    (!rounding).then_some(step as f64 / PER_MM)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, Diagnostic};

    fn raw(n: usize) -> RawConnectome {
        RawConnectome::from_weights(Piece::new(
            DMatrix::from_element(n, n, 1.0),
            Place::file("weights.txt"),
        ))
    }

    fn with_lengths(n: usize, length: impl FnMut(usize, usize) -> f64) -> RawConnectome {
        let lengths = Piece::new(DMatrix::from_fn(n, n, length), Place::file("lengths.txt"));
        RawConnectome { lengths: Some(lengths), ..raw(n) }
    }

    #[test]
    fn label_count_names_both_numbers() {
        let mut raw = raw(167);
        let labels = (0..164).map(|i| i.to_string()).collect();
        raw.labels = Some(Piece::new(labels, Place::file("centres.txt")));
        let error = raw.finish().unwrap_err();
        assert_eq!(error.to_string(), "weights are 167×167 but there are 164 labels (centres.txt)");
        assert_eq!(Diagnostic::from(error).code, Code::ShapeMismatch);
    }

    #[test]
    fn shapes_name_both_files() {
        let mut raw = raw(3);
        raw.lengths = Some(Piece::new(DMatrix::zeros(4, 4), Place::file("lengths.txt")));
        assert_eq!(
            raw.finish().unwrap_err().to_string(),
            "weights are 3×3 (weights.txt) but tract lengths are 4×4 (lengths.txt)"
        );
        let mut wide = self::raw(3);
        wide.weights.value = DMatrix::zeros(3, 4);
        assert!(wide.finish().unwrap_err().to_string().contains("3 rows and 4 columns"));
    }

    #[test]
    fn bad_numbers_name_the_edge() {
        let mut nan = raw(3);
        nan.weights.value[(1, 2)] = f64::NAN;
        nan.weights.value[(2, 2)] = f64::NAN;
        let labels = ["A", "B", "C"].map(String::from).to_vec();
        nan.labels = Some(Piece::new(labels, Place::file("labels")));
        let error = nan.finish().unwrap_err();
        assert_eq!(
            error.to_string(),
            "weights.txt: weight is NaN at row 1, column 2 (from C to B)"
        );
        assert!(error.help().starts_with("2 such"));
        assert_eq!(error.code(), Code::BadNumber);

        let mut infinite = raw(2);
        infinite.weights.value[(0, 1)] = f64::INFINITY;
        assert!(infinite.finish().unwrap_err().to_string().contains("weight is inf at row 0"));

        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let negative = with_lengths(3, |i, j| if (i, j) == (2, 0) { bad } else { 10.0 });
            let text = negative.finish().unwrap_err().to_string();
            assert_eq!(text, format!("lengths.txt: tract length is {bad} at row 2, column 0"));
        }
        let mut delays = raw(2);
        delays.delays =
            Some(Piece::new(DMatrix::from_element(2, 2, f64::NAN), Place::file("delays")));
        assert!(delays.finish().is_ok(), "NaN means: no delay of its own");
    }

    /// Lengths of a real brain's size that share no step.
    fn plausible(i: usize, j: usize) -> f64 {
        if i == j { 0.0 } else { 20.0 + ((i * 31 + j * 17) % 97) as f64 * 1.234_56 }
    }

    #[test]
    fn lengths_in_metres_voxels_or_micrometres_are_suspected() {
        assert_eq!(with_lengths(8, plausible).finish().unwrap().1, []);
        let metres = with_lengths(8, |i, j| plausible(i, j) / 1000.0).finish().unwrap().1;
        assert!(metres[0].to_string().contains("implausible"), "{}", metres[0]);
        assert!(matches!(metres[..], [Warning::LengthsTooShort { .. }]));
        let micrometres = with_lengths(8, |i, j| plausible(i, j) * 1000.0).finish().unwrap().1;
        assert!(matches!(micrometres[..], [Warning::LengthsTooLong { .. }]));
        let steps = with_lengths(8, |i, j| ((i * 31 + j * 17) % 97) as f64 * 2.5).finish();
        assert!(matches!(steps.unwrap().1[..], [Warning::LengthsInSteps { step: 2.5, .. }]));
        let voxels = with_lengths(8, |i, j| ((i * 31 + j * 17) % 401) as f64 * 0.6).finish();
        let voxels = voxels.unwrap().1;
        assert!(voxels[0].to_string().contains("multiples of 0.6 up to"), "{}", voxels[0]);
        let rounded = with_lengths(8, |i, j| plausible(i, j).round()).finish().unwrap().1;
        assert_eq!(rounded, [], "whole mm are plausible");
    }

    #[test]
    fn transforms_are_checked_again() {
        let (mut connectome, _) = with_lengths(3, plausible).finish().unwrap();
        let place = Place::file("transform of weight");
        assert_eq!(transformed(&connectome, &place), Ok(()));
        connectome.weights[(2, 0)] = f64::NAN;
        assert_eq!(
            transformed(&connectome, &place).unwrap_err().to_string(),
            "transform of weight: weight is NaN at row 2, column 0 (from 0 to 2)"
        );
    }

    #[test]
    fn lengths_without_a_weight_are_not_suspected() {
        let mut raw = with_lengths(8, plausible);
        raw.weights.value[(0, 1)] = 0.0;
        if let Some(lengths) = &mut raw.lengths {
            lengths.value[(0, 1)] = 1e6;
        }
        assert_eq!(raw.finish().unwrap().1, []);
    }

    #[test]
    fn delays_are_judged_with_the_speed() {
        let (connectome, _) = with_lengths(8, plausible).finish().unwrap();
        assert_eq!(delays(&connectome, 3.0), None);
        assert!(delays(&connectome, 0.003).is_some());
        assert!(delays(&connectome, 3000.0).is_some());
        assert_eq!(delays(&Connectome::unconnected(3), 3.0), None);
    }

    #[test]
    fn repeated_labels_are_pointed_out() {
        let mut raw = with_lengths(3, plausible);
        let labels = ["A", "B", "A"].map(String::from).to_vec();
        raw.labels = Some(Piece::new(labels, Place::file("labels")));
        let warnings = raw.finish().unwrap().1;
        assert!(warnings[0].to_string().contains("nodes 0 and 2 are both labelled `A`"));
    }
}
