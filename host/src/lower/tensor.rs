//! What an expression is while it is compiled: a scalar, or an array over modes, of IR values.

use crate::ir::{Type, Value};

/// Values in row-major order. A scalar has no dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) items: Vec<Value>,
    pub(super) ty: Type,
}

impl Tensor {
    /// One real.
    pub(super) fn scalar(value: Value) -> Self {
        Self { shape: Vec::new(), items: vec![value], ty: Type::Real }
    }

    /// Reals of a shape.
    pub(super) fn reals(shape: Vec<usize>, items: Vec<Value>) -> Self {
        Self { shape, items, ty: Type::Real }
    }

    /// The value of a scalar.
    pub(super) fn single(&self) -> Option<Value> {
        (self.shape.is_empty()).then(|| self.items[0])
    }

    /// The values repeated to a larger shape by numpy's rule; none where they don't fit.
    pub(super) fn broadcast(&self, shape: &[usize]) -> Option<Vec<Value>> {
        if broadcast_shape(&self.shape, shape)? != shape {
            return None;
        }
        let total: usize = shape.iter().product();
        let missing = shape.len() - self.shape.len();
        let item = |mut at: usize| {
            let (mut index, mut stride) = (0, 1);
            for (dimension, &extent) in shape.iter().enumerate().rev() {
                let here = at % extent;
                at /= extent;
                if dimension >= missing {
                    let own = self.shape[dimension - missing];
                    index += stride * if own == 1 { 0 } else { here };
                    stride *= own;
                }
            }
            self.items[index]
        };
        Some((0..total).map(item).collect())
    }

    /// Entry `at` of the first dimension.
    pub(super) fn entry(&self, at: usize) -> Self {
        let shape = self.shape[1..].to_vec();
        let size: usize = shape.iter().product();
        let items = self.items[at * size..(at + 1) * size].to_vec();
        Self { shape, items, ty: self.ty }
    }
}

/// The shape of an elementwise result, by numpy's rule: dimensions are aligned at the last, and an
/// extent of 1 is repeated.
pub(super) fn broadcast_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let extent =
        |s: &[usize], d: usize| (d + s.len()).checked_sub(rank).map_or(1, |inside| s[inside]);
    (0..rank)
        .map(|d| match (extent(a, d), extent(b, d)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_align_at_the_last_dimension() {
        assert_eq!(broadcast_shape(&[3], &[2, 3]), Some(vec![2, 3]));
        assert_eq!(broadcast_shape(&[2, 1], &[3]), Some(vec![2, 3]));
        assert_eq!(broadcast_shape(&[2], &[3]), None);
        let column = Tensor::reals(vec![2, 1], vec![Value(7), Value(8)]);
        let wide: Vec<u32> = column.broadcast(&[2, 3]).unwrap().iter().map(|v| v.0).collect();
        assert_eq!(wide, [7, 7, 7, 8, 8, 8]);
        let row = Tensor::reals(vec![2], vec![Value(7), Value(8)]);
        let wide: Vec<u32> = row.broadcast(&[2, 2]).unwrap().iter().map(|v| v.0).collect();
        assert_eq!(wide, [7, 8, 7, 8]);
    }
}
