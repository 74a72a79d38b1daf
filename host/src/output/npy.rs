//! The `.npy` format (NumPy's `numpy.lib.format`, version 1.0 and 2.0), writing headers and values
//! and reading whole arrays of floats.

use super::{ArraySpec, Content, ElementType};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The header of an array, its length a multiple of 64 as the format asks.
pub fn header(spec: &ArraySpec) -> Vec<u8> {
    let shape = match &spec.shape()[..] {
        [] => "()".to_owned(),
        [n] => format!("({n},)"),
        more => format!("({})", more.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let descr = descr(&spec.content);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

fn descr(content: &Content) -> String {
    match content {
        Content::Streamed(ElementType::F32) => "<f4".into(),
        Content::Streamed(ElementType::F64) | Content::Reals(_) | Content::Regular { .. } => {
            "<f8".into()
        }
        Content::Streamed(ElementType::I64) | Content::Integers(_) => "<i8".into(),
        Content::Unsigned(_) => "<u8".into(),
        Content::Strings(texts) => format!("<U{}", width(texts)),
    }
}

/// Characters of the longest text; NumPy has no strings of width 0.
fn width(texts: &[String]) -> usize {
    texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1)
}

/// The values of an array that is known beforehand; nothing for a streamed one.
pub fn values(content: &Content) -> Vec<u8> {
    match content {
        Content::Streamed(_) => Vec::new(),
        Content::Reals(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        &Content::Regular { first, step, count } => {
            Content::regular(first, step, count).flat_map(f64::to_le_bytes).collect()
        }
        Content::Integers(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Content::Unsigned(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Content::Strings(texts) => {
            let width = width(texts);
            let mut bytes = Vec::with_capacity(texts.len() * width * 4);
            for text in texts {
                let start = bytes.len();
                bytes.extend(text.chars().flat_map(|c| (c as u32).to_le_bytes()));
                bytes.resize(start + width * 4, 0);
            }
            bytes
        }
    }
}

/// Bytes of the values of an array.
pub fn values_len(spec: &ArraySpec) -> u64 {
    match &spec.content {
        Content::Streamed(element) => spec.elements().saturating_mul(element.size()),
        Content::Reals(values) => 8 * values.len() as u64,
        Content::Regular { count, .. } => count.saturating_mul(8),
        Content::Integers(values) => 8 * values.len() as u64,
        Content::Unsigned(values) => 8 * values.len() as u64,
        Content::Strings(texts) => 4 * (texts.len() * width(texts)) as u64,
    }
}

/// Bytes of the values of all arrays; the largest number there is if it is larger.
pub fn all_values_len(layout: &[ArraySpec]) -> u64 {
    layout.iter().map(values_len).fold(0, u64::saturating_add)
}

/// An array of numbers that was read, widened to 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The extents, slowest first.
    pub shape: Vec<usize>,
    /// The elements in C order.
    pub values: Vec<f64>,
}

/// Reads the bytes of a `.npy` file of little-endian floats or integers.
///
/// # Errors
/// A sentence about what is wrong with the bytes.
pub fn parse(bytes: &[u8]) -> Result<Array, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("this is not a .npy file")?;
    let (header, data) = match rest {
        [1, _, a, b, rest @ ..] => rest.split_at_checked(u16::from_le_bytes([*a, *b]).into()),
        [2 | 3, _, a, b, c, d, rest @ ..] => {
            rest.split_at_checked(u32::from_le_bytes([*a, *b, *c, *d]) as usize)
        }
        _ => return Err("an unknown version of the .npy format".into()),
    }
    .ok_or("the file ends within its header")?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    let field = |name: &str| {
        let start = header.find(&format!("'{name}':"))? + name.len() + 3;
        Some(header[start..].trim_start())
    };
    let fortran = field("fortran_order").is_some_and(|f| f.starts_with("True"));
    let shape: Vec<usize> = field("shape")
        .and_then(|f| f.strip_prefix('(')?.split_once(')'))
        .and_then(|(list, _)| {
            let entries = list.split(',').map(str::trim).filter(|n| !n.is_empty());
            entries.map(|n| n.parse().ok()).collect()
        })
        .ok_or("the header has no shape")?;
    let descr = field("descr").and_then(|f| f.get(1..4)).ok_or("the header has no type")?;
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or("too large")?;
    let numbers = numbers(descr, data)
        .ok_or_else(|| format!("elements of type {descr} are not supported: use <f8 or <f4"))?;
    if numbers.len() != count {
        return Err(format!("{} elements for a shape of {count}", numbers.len()));
    }
    let values = if fortran { transpose(&shape, &numbers) } else { numbers };
    Ok(Array { shape, values })
}

fn numbers(descr: &str, data: &[u8]) -> Option<Vec<f64>> {
    macro_rules! read {
        ($t:ty) => {
            data.as_chunks().0.iter().map(|b| <$t>::from_le_bytes(*b) as f64).collect()
        };
    }
    Some(match descr {
        "<f8" => read!(f64),
        "<f4" => read!(f32),
        "<i8" => read!(i64),
        "<i4" => read!(i32),
        "<i2" => read!(i16),
        "|i1" => read!(i8),
        "|u1" | "|b1" => read!(u8),
        _ => return None,
    })
}

/// Column-major elements in row-major order.
fn transpose(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let mut index = vec![0usize; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i);
        out.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(dimensions: &[u64], content: Content) -> ArraySpec {
        let dimensions = dimensions.iter().map(|&n| ("d".to_owned(), n)).collect();
        ArraySpec { name: "a".into(), dimensions, content }
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![6], vec![2, 3], vec![1, 2, 3]] {
            let values_in: Vec<f64> = (0..6).map(f64::from).collect();
            let spec = spec(&shape, Content::Reals(values_in.clone()));
            let mut bytes = header(&spec);
            assert_eq!(bytes.len() % 64, 0);
            bytes.extend(values(&spec.content));
            let array = parse(&bytes).unwrap();
            assert_eq!(array.values, values_in);
            assert_eq!(array.shape, shape.iter().map(|&n| n as usize).collect::<Vec<_>>());
        }
    }

    #[test]
    fn columns_first_is_turned_round() {
        assert_eq!(transpose(&[2, 3], &[0., 3., 1., 4., 2., 5.]), [0., 1., 2., 3., 4., 5.]);
    }

    #[test]
    fn damage_is_an_error() {
        let spec = spec(&[2], Content::Reals(vec![1.0, 2.0]));
        let mut bytes = header(&spec);
        bytes.extend(values(&spec.content));
        assert!(parse(&bytes).is_ok());
        for cut in [0, 3, 8, 20, 64, bytes.len() - 9, bytes.len() - 1] {
            assert!(parse(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
