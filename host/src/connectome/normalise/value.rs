//! A number, a row, a column or a matrix; of numbers or of conditions.

use nalgebra::DMatrix;

/// What a part of a transform evaluates to. Each axis has either one entry, which is repeated as
/// needed, or as many as there are nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    entries: DMatrix<f64>,
    /// Whether the entries, then 0 and 1, are truth values.
    condition: bool,
}

impl Value {
    pub(super) fn number(x: f64) -> Self {
        Self::matrix(DMatrix::from_element(1, 1, x))
    }

    pub(super) fn truth(b: bool) -> Self {
        Self::number(f64::from(u8::from(b))).into_condition()
    }

    pub(super) fn matrix(entries: DMatrix<f64>) -> Self {
        Self { entries, condition: false }
    }

    pub(super) fn into_condition(self) -> Self {
        Self { condition: true, ..self }
    }

    pub(super) fn is_condition(&self) -> bool {
        self.condition
    }

    pub(super) fn entries(&self) -> &DMatrix<f64> {
        &self.entries
    }

    /// In words.
    pub(super) fn description(&self) -> &'static str {
        match self.entries.shape() {
            (1, 1) => "one number",
            (1, _) => "one row",
            (_, 1) => "one column",
            _ => "a matrix",
        }
    }

    pub(super) fn into_matrix(self, shape: (usize, usize)) -> Option<DMatrix<f64>> {
        (self.entries.shape() == shape).then_some(self.entries)
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { entries: self.entries.map(f), condition: self.condition }
    }

    pub(super) fn not(&self) -> Self {
        self.map(|truth| 1.0 - truth)
    }

    /// Entry by entry with another; the result is a number if this one is.
    pub(super) fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (rows, columns) = joint_shape(self, other);
        let entries = DMatrix::from_fn(rows, columns, |i, j| f(self.at(i, j), other.at(i, j)));
        Self { entries, condition: self.condition }
    }

    /// `yes` where this condition holds, `no` elsewhere.
    pub(super) fn choose(&self, yes: &Self, no: &Self) -> Self {
        let both = joint_shape(yes, no);
        let own = self.entries.shape();
        let (rows, columns) = (own.0.max(both.0), own.1.max(both.1));
        let entries = DMatrix::from_fn(rows, columns, |i, j| {
            if self.at(i, j) != 0.0 { yes.at(i, j) } else { no.at(i, j) }
        });
        Self { entries, condition: yes.condition }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let (rows, columns) = self.entries.shape();
        self.entries[(row.min(rows - 1), column.min(columns - 1))]
    }
}

fn joint_shape(a: &Value, b: &Value) -> (usize, usize) {
    let (a, b) = (a.entries.shape(), b.entries.shape());
    (a.0.max(b.0), a.1.max(b.1))
}

/// The least entry, NaN left out; NaN if there is no other.
pub(super) fn least(matrix: &DMatrix<f64>) -> f64 {
    matrix.iter().copied().fold(f64::NAN, f64::min)
}

/// The largest entry, NaN left out; NaN if there is no other.
pub(super) fn largest(matrix: &DMatrix<f64>) -> f64 {
    matrix.iter().copied().fold(f64::NAN, f64::max)
}

/// The sum of each row as a column; `safe` puts 1 in place of sums that aren't positive.
pub(super) fn row_sums(matrix: &DMatrix<f64>, safe: bool) -> DMatrix<f64> {
    DMatrix::from_iterator(matrix.nrows(), 1, matrix.row_iter().map(|r| guard(r.sum(), safe)))
}

/// The sum of each column as a row; `safe` as for [`row_sums`].
pub(super) fn column_sums(matrix: &DMatrix<f64>, safe: bool) -> DMatrix<f64> {
    DMatrix::from_iterator(1, matrix.ncols(), matrix.column_iter().map(|c| guard(c.sum(), safe)))
}

fn guard(sum: f64, safe: bool) -> f64 {
    let positive = sum > 0.0;
    if safe && !positive { 1.0 } else { sum }
}
