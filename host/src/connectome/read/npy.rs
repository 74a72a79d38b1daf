//! NumPy's array files, `.npy` (format versions 1 to 3): numbers, and text for labels.
//!
//! The layout is that of NumPy Enhancement Proposal 1 and `numpy.lib.format`: a magic string, a
//! version, the length of a header, a Python dictionary as text, then the elements.

use crate::connectome::error::{ConnectomeError, Place};
use nalgebra::DMatrix;

/// An array of numbers in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NpyNumbers {
    /// Elements along each axis.
    pub(super) shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub(super) values: Vec<f64>,
}

impl NpyNumbers {
    /// The array as a matrix.
    ///
    /// # Errors
    /// Another number of axes than two.
    pub(super) fn into_matrix(self, place: &Place) -> Result<DMatrix<f64>, ConnectomeError> {
        match self.shape[..] {
            [rows, columns] => Ok(DMatrix::from_row_slice(rows, columns, &self.values)),
            _ => Err(unsupported(place, format!("an array of shape {:?}", self.shape))),
        }
    }
}

struct Header<'b> {
    kind: char,
    size: usize,
    big_endian: bool,
    shape: Vec<usize>,
    fortran_order: bool,
    data: &'b [u8],
}

/// Reads an array of numbers; integers and truth values become numbers.
///
/// # Errors
/// A damaged file, complex numbers, text, or pickled Python objects.
pub(super) fn numbers(bytes: &[u8], place: &Place) -> Result<NpyNumbers, ConnectomeError> {
    let header = header(bytes, place)?;
    let decode = decoder(header.kind, header.size).ok_or_else(|| {
        unsupported(place, format!("elements of type `{}{}`", header.kind, header.size))
    })?;
    let count = header.shape.iter().fold(1usize, |count, &n| count.saturating_mul(n));
    let mut little = [0u8; 8];
    let stored: Vec<f64> = header
        .data
        .chunks_exact(header.size)
        .take(count)
        .map(|element| {
            little = [0; 8];
            little[..element.len()].copy_from_slice(element);
            if header.big_endian {
                little[..element.len()].reverse();
            }
            decode(little)
        })
        .collect();
    let values = if header.fortran_order { row_major(&stored, &header.shape) } else { stored };
    Ok(NpyNumbers { shape: header.shape, values })
}

/// Reads an array of text, `<U…` or `|S…`.
///
/// # Errors
/// A damaged file, or an array of anything else.
pub(super) fn text(bytes: &[u8], place: &Place) -> Result<Vec<String>, ConnectomeError> {
    let header = header(bytes, place)?;
    let count = header.shape.iter().fold(1usize, |count, &n| count.saturating_mul(n));
    let elements = header.data.chunks_exact(header.size.max(1)).take(count);
    let trimmed = |text: String| text.trim_end_matches('\0').trim().to_string();
    match header.kind {
        'S' => Ok(elements.map(|e| trimmed(String::from_utf8_lossy(e).into_owned())).collect()),
        'U' => Ok(elements
            .map(|element| {
                let characters = element.chunks_exact(4).map(|c| {
                    let c = [c[0], c[1], c[2], c[3]];
                    let c = if header.big_endian {
                        u32::from_be_bytes(c)
                    } else {
                        u32::from_le_bytes(c)
                    };
                    char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)
                });
                trimmed(characters.collect())
            })
            .collect()),
        kind => Err(unsupported(place, format!("labels of type `{kind}`"))),
    }
}

fn unsupported(place: &Place, what: String) -> ConnectomeError {
    ConnectomeError::Unsupported {
        place: place.clone(),
        what: format!("{what} can't be read as a connectome"),
        help: "save plain arrays: matrices of float64, labels of str".into(),
    }
}

fn damaged(place: &Place, what: &str) -> ConnectomeError {
    ConnectomeError::Unreadable {
        place: place.clone(),
        reason: format!("not a NumPy array file: {what}"),
    }
}

fn header<'b>(bytes: &'b [u8], place: &Place) -> Result<Header<'b>, ConnectomeError> {
    let rest = bytes
        .strip_prefix(b"\x93NUMPY")
        .ok_or_else(|| damaged(place, "it doesn't start as one"))?;
    let short = || damaged(place, "it ends in its header");
    let (length, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (usize::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        [version, ..] => return Err(damaged(place, &format!("format version {version}"))),
        [] => return Err(short()),
    };
    let (dictionary, data) = rest.split_at_checked(length).ok_or_else(short)?;
    let dictionary = String::from_utf8_lossy(dictionary);
    let field = |key: &str| {
        let after = dictionary.split_once(&format!("'{key}'"))?.1;
        Some(after.trim_start().strip_prefix(':')?.trim_start())
    };
    let bad = || damaged(place, "its header can't be understood");
    let description = field("descr").ok_or_else(bad)?;
    let description = description
        .strip_prefix('\'')
        .and_then(|d| d.split_once('\''))
        .ok_or_else(|| unsupported(place, "an array of records".into()))?
        .0;
    let (order, kind) = description.split_at_checked(1).ok_or_else(bad)?;
    let kind_letter = kind.chars().next().ok_or_else(bad)?;
    if kind_letter == 'O' {
        return Err(unsupported(place, "an array of pickled Python objects".into()));
    }
    let units: usize = kind[kind_letter.len_utf8()..].parse().map_err(|_| bad())?;
    let size = if kind_letter == 'U' { units.checked_mul(4).ok_or_else(bad)? } else { units };
    let shape = field("shape")
        .and_then(|s| s.strip_prefix('(')?.split_once(')'))
        .ok_or_else(bad)?
        .0
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(str::parse::<usize>)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| bad())?;
    let needed = shape.iter().try_fold(size, |product, &n| product.checked_mul(n));
    if needed.is_none_or(|needed| needed > data.len()) {
        return Err(damaged(place, "it is shorter than its header says"));
    }
    let fortran_order = field("fortran_order").ok_or_else(bad)?.starts_with("True");
    Ok(Header { kind: kind_letter, size, big_endian: order == ">", shape, fortran_order, data })
}

/// How the little-endian bytes of an element, padded with zeros, become a number.
fn decoder(kind: char, size: usize) -> Option<fn([u8; 8]) -> f64> {
    Some(match (kind, size) {
        ('f', 8) => f64::from_le_bytes,
        ('f', 4) => |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        ('f', 2) => |b| half(u16::from_le_bytes([b[0], b[1]])),
        ('i', 8) => |b| i64::from_le_bytes(b) as f64,
        ('i', 4) => |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        ('i', 2) => |b| f64::from(i16::from_le_bytes([b[0], b[1]])),
        ('i', 1) => |b| f64::from(i8::from_le_bytes([b[0]])),
        ('u', 1 | 2 | 4 | 8) | ('b', 1) => |b| u64::from_le_bytes(b) as f64,
        _ => return None,
    })
}

/// A number of IEEE 754's 16-bit format.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Elements whose first axis is fastest, in the order whose last is.
fn row_major(stored: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut values = Vec::with_capacity(stored.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..stored.len() {
        let at = index.iter().zip(shape).rev().fold(0, |at, (&i, &n)| at * n + i);
        values.push(stored[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(description: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': {description}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    fn place() -> Place {
        Place::file("w.npy")
    }

    #[test]
    fn element_types_and_orders() {
        let doubles: Vec<u8> = [1.5f64, 2.0, 3.0, 4.0, 5.0, 6.0].map(f64::to_le_bytes).concat();
        let array = numbers(&file("'<f8'", "False", "(2, 3)", &doubles), &place()).unwrap();
        assert_eq!((array.shape, array.values), (vec![2, 3], vec![1.5, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let array = numbers(&file("'<f8'", "True", "(2, 3)", &doubles), &place()).unwrap();
        assert_eq!(array.values, [1.5, 3.0, 5.0, 2.0, 4.0, 6.0]);
        let floats = [1.5f32, -2.0].map(f32::to_be_bytes).concat();
        let array = numbers(&file("'>f4'", "False", "(2,)", &floats), &place()).unwrap();
        assert_eq!(array.values, [1.5, -2.0]);
        let halves = [0x3c00u16, 0xc100, 0x0001, 0x7c00].map(u16::to_le_bytes).concat();
        let array = numbers(&file("'<f2'", "False", "(4,)", &halves), &place()).unwrap();
        assert_eq!(array.values, [1.0, -2.5, 2f64.powi(-24), f64::INFINITY]);
        let integers = [-1i16, 300].map(i16::to_le_bytes).concat();
        let array = numbers(&file("'<i2'", "False", "(2, 1)", &integers), &place()).unwrap();
        assert_eq!(array.values, [-1.0, 300.0]);
        let truths = numbers(&file("'|b1'", "False", "(2,)", &[0, 1]), &place()).unwrap();
        assert_eq!(truths.values, [0.0, 1.0]);
    }

    #[test]
    fn text_arrays() {
        let characters: Vec<u8> =
            ['L', 'é', '\0', 'R', ' ', '\0'].map(|c| (c as u32).to_le_bytes()).concat();
        let labels = text(&file("'<U3'", "False", "(2,)", &characters), &place()).unwrap();
        assert_eq!(labels, ["Lé", "R"]);
        let labels = text(&file("'|S2'", "False", "(2,)", b"a\0bc"), &place()).unwrap();
        assert_eq!(labels, ["a", "bc"]);
    }

    #[test]
    fn damaged_and_foreign_arrays_are_refused() {
        let cases: [(Vec<u8>, &str); 6] = [
            (b"PK\x03\x04".to_vec(), "doesn't start as one"),
            (b"\x93NUMPY\x01\x00\xff\xff{}".to_vec(), "ends in its header"),
            (file("'<f8'", "False", "(2, 2)", &[0; 31]), "shorter than its header says"),
            (file("'<f8'", "False", "(4294967296, 4294967296)", &[]), "shorter"),
            (file("'|O'", "False", "(1,)", &[0; 8]), "pickled Python objects"),
            (file("'<c16'", "False", "(1,)", &[0; 16]), "elements of type `c16`"),
        ];
        for (bytes, message) in cases {
            let error = numbers(&bytes, &place()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            description in "'[<>|=]?[a-zA-Z]?[0-9]{0,3}'?",
            shape in "\\(?[0-9]{0,4},? ?[0-9]{0,3}\\)?",
            data: Vec<u8>,
        ) {
            let bytes = file(&description, "True", &shape, &data);
            let _ = numbers(&bytes, &place());
            let _ = text(&bytes, &place());
            let _ = numbers(&data, &place());
        }
    }
}
