//! Transforms of a connectome's matrices, such as `W / W_max`.
//!
//! An equation is evaluated with whole matrices, in double precision: operators and functions work
//! entry by entry, and a number, a column (one value a row) or a row (one value a column) is
//! repeated to fit a matrix. What it may name:
//!
//! | symbol | value |
//! |---|---|
//! | `W`, `M` | the matrix that is transformed |
//! | `L` | the tract lengths, in mm |
//! | `W_min`, `W_max`, `M_min`, `M_max`, `L_min`, `L_max` | least and largest entry, NaN left out |
//! | `W_rowsum`, `W_colsum` | sums of the rows (a column) and of the columns (a row) |
//! | `W_rowsum_safe`, `W_colsum_safe` | the same with 1 in place of sums that aren't positive |
//! | `n` | the number of nodes |
//! | `pi`, and parameters of the equation | numbers |
//!
//! `max(W)`, `min(W)`, `sum(W)`, `mean(W)` and `std(W)` are over all entries; with two or more
//! arguments `max` and `min` compare entry by entry, as `Max` and `Min` do.

mod function;
mod value;

use crate::diagnostic::{Code, Diagnostic, Location};
use crate::expr::{BinaryOperator, CompareOperator, Expr, ExprKind, UnaryOperator};
use nalgebra::DMatrix;
use std::collections::BTreeMap;
use std::ops::Range;
use value::Value;

/// What a transform is evaluated with.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'a> {
    /// The matrix that is transformed.
    pub matrix: &'a DMatrix<f64>,
    /// Tract lengths, of the same size.
    pub lengths: &'a DMatrix<f64>,
    /// Parameters of the equation.
    pub parameters: &'a BTreeMap<String, f64>,
}

/// A transform that can't be evaluated, with the bytes of the equation where it can't.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A symbol that a transform doesn't have.
    #[error("`{name}` is not known in a transform of a connectome")]
    UnknownSymbol {
        /// The name.
        name: String,
        /// Where it stands.
        span: Range<usize>,
    },
    /// A function that a transform doesn't have.
    #[error("`{name}` is not a function that a transform of a connectome can use")]
    UnknownFunction {
        /// The name.
        name: String,
        /// Where it is called.
        span: Range<usize>,
    },
    /// A function called with the wrong number of arguments.
    #[error("`{name}` takes {expected} argument(s), not {found}")]
    Arity {
        /// The function.
        name: String,
        /// How many it takes.
        expected: &'static str,
        /// How many it got.
        found: usize,
        /// Where it is called.
        span: Range<usize>,
    },
    /// A condition where numbers are needed, or the other way round.
    #[error("{expected} needed here, but this is {found}")]
    Kind {
        /// What is needed.
        expected: &'static str,
        /// What is there.
        found: &'static str,
        /// Where.
        span: Range<usize>,
    },
    /// An entry of the equation that no transform can have, such as an index.
    #[error("{what} can't be used in a transform of a connectome")]
    Unsupported {
        /// What it is.
        what: &'static str,
        /// Where.
        span: Range<usize>,
    },
    /// A result that is not a matrix.
    #[error("the transform gives {found} instead of a matrix")]
    NotAMatrix {
        /// What it gives.
        found: &'static str,
        /// The whole equation.
        span: Range<usize>,
    },
}

impl TransformError {
    /// The stable code of this kind of finding.
    pub fn code(&self) -> Code {
        match self {
            Self::UnknownSymbol { .. } => Code::UnknownSymbol,
            Self::UnknownFunction { .. } | Self::Unsupported { .. } => Code::Unsupported,
            Self::Arity { .. } => Code::WrongArity,
            Self::Kind { .. } | Self::NotAMatrix { .. } => Code::WrongKind,
        }
    }

    /// The bytes of the equation that it is about.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::UnknownSymbol { span, .. }
            | Self::UnknownFunction { span, .. }
            | Self::Arity { span, .. }
            | Self::Kind { span, .. }
            | Self::Unsupported { span, .. }
            | Self::NotAMatrix { span, .. } => span.clone(),
        }
    }

    /// The finding with its place, given where the equation's text stands.
    pub fn diagnostic(&self, equation: &Location) -> Diagnostic {
        let diagnostic =
            Diagnostic::error(self.code(), self.to_string()).at(equation.slice(self.span()), "");
        match self {
            Self::UnknownSymbol { .. } => diagnostic.help(
                "there are W, L, n, W_min, W_max, L_min, L_max, W_rowsum, W_rowsum_safe, \
                 W_colsum, W_colsum_safe, and the equation's parameters",
            ),
            Self::NotAMatrix { .. } => diagnostic.help("let the equation depend on W"),
            _ => diagnostic,
        }
    }
}

/// Evaluates a transform.
///
/// Entries may be NaN or infinite; checking a connectome finds them.
///
/// # Errors
/// Names and constructs that a transform doesn't have, and results that aren't a matrix.
pub fn evaluate(equation: &Expr, matrices: &Matrices<'_>) -> Result<DMatrix<f64>, TransformError> {
    let span = || equation.span.clone();
    if matrices.lengths.shape() != matrices.matrix.shape() {
        let what = "a matrix of lengths of another size";
        return Err(TransformError::Unsupported { what, span: span() });
    }
    if matrices.matrix.is_empty() {
        return Ok(matrices.matrix.clone());
    }
    let value = numbers(equation, matrices)?;
    let found = value.description();
    value
        .into_matrix(matrices.matrix.shape())
        .ok_or(TransformError::NotAMatrix { found, span: equation.span.clone() })
}

/// The transforms that an experiment can call by name.
pub const CALLABLES: &[&str] =
    &["graph_laplacian", "normalized_graph_laplacian", "normalize_by_max", "normalize_by_rowsum"];

/// Applies a named transform, or gives nothing where there is none of this name.
///
/// - `graph_laplacian`: `W − diag(row sums of W)`, TVBO's sign: rows sum to 0, and it is the
///   operator of diffusive coupling.
/// - `normalized_graph_laplacian`: the same of `W / max(W)`, as in TVBO; not the symmetric
///   normalisation by degrees that the name stands for in graph theory.
/// - `normalize_by_max`: `W / max(W)`.
/// - `normalize_by_rowsum`: every row divided by its sum, if that is positive.
pub fn callable(name: &str, matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let laplacian = |m: DMatrix<f64>| {
        let sums = DMatrix::from_diagonal(&m.column_sum());
        m - sums
    };
    let over_max = || matrix / value::largest(matrix);
    match name {
        "graph_laplacian" => Some(laplacian(matrix.clone())),
        "normalized_graph_laplacian" => Some(laplacian(over_max())),
        "normalize_by_max" => Some(over_max()),
        "normalize_by_rowsum" => {
            let sums = value::row_sums(matrix, true);
            Some(matrix.map_with_location(|row, _, w| w / sums[(row, 0)]))
        }
        _ => None,
    }
}

fn eval(expr: &Expr, matrices: &Matrices<'_>) -> Result<Value, TransformError> {
    let span = || expr.span.clone();
    match &expr.kind {
        ExprKind::Number(x) => Ok(Value::number(*x)),
        ExprKind::Boolean(b) => Ok(Value::truth(*b)),
        ExprKind::Symbol(name) => symbol(name, matrices)
            .ok_or_else(|| TransformError::UnknownSymbol { name: name.clone(), span: span() }),
        ExprKind::Unary(UnaryOperator::Negate, x) => Ok(numbers(x, matrices)?.map(|x| -x)),
        ExprKind::Unary(UnaryOperator::Not, x) => Ok(conditions(x, matrices)?.not()),
        ExprKind::Binary(operator, a, b) => {
            let operation: fn(f64, f64) -> f64 = match operator {
                BinaryOperator::Add => |a, b| a + b,
                BinaryOperator::Subtract => |a, b| a - b,
                BinaryOperator::Multiply => |a, b| a * b,
                BinaryOperator::Divide => |a, b| a / b,
                BinaryOperator::Modulo => |a, b| a - b * (a / b).floor(),
                BinaryOperator::Power => f64::powf,
                BinaryOperator::And | BinaryOperator::Or => {
                    let (a, b) = (conditions(a, matrices)?, conditions(b, matrices)?);
                    let operation: fn(f64, f64) -> f64 =
                        if *operator == BinaryOperator::And { f64::min } else { f64::max };
                    return Ok(a.zip(&b, operation).into_condition());
                }
            };
            Ok(numbers(a, matrices)?.zip(&numbers(b, matrices)?, operation))
        }
        ExprKind::Compare(operator, a, b) => {
            let relation: fn(&f64, &f64) -> bool = match operator {
                CompareOperator::Less => f64::lt,
                CompareOperator::LessEqual => f64::le,
                CompareOperator::Greater => f64::gt,
                CompareOperator::GreaterEqual => f64::ge,
                CompareOperator::Equal => f64::eq,
                CompareOperator::NotEqual => f64::ne,
            };
            let (a, b) = (numbers(a, matrices)?, numbers(b, matrices)?);
            Ok(a.zip(&b, |a, b| f64::from(u8::from(relation(&a, &b)))).into_condition())
        }
        ExprKind::Call(name, arguments) => function::call(name, arguments, expr, matrices),
        ExprKind::Index(..) => Err(TransformError::Unsupported { what: "an index", span: span() }),
        ExprKind::Tuple(..) => {
            Err(TransformError::Unsupported { what: "a group of values", span: span() })
        }
    }
}

fn numbers(expr: &Expr, matrices: &Matrices<'_>) -> Result<Value, TransformError> {
    kind(eval(expr, matrices)?, false, expr)
}

fn conditions(expr: &Expr, matrices: &Matrices<'_>) -> Result<Value, TransformError> {
    kind(eval(expr, matrices)?, true, expr)
}

fn kind(value: Value, condition: bool, expr: &Expr) -> Result<Value, TransformError> {
    let word = |condition| if condition { "a condition" } else { "a number" };
    if value.is_condition() == condition {
        return Ok(value);
    }
    Err(TransformError::Kind {
        expected: word(condition),
        found: word(!condition),
        span: expr.span.clone(),
    })
}

fn symbol(name: &str, matrices: &Matrices<'_>) -> Option<Value> {
    let (matrix, lengths) = (matrices.matrix, matrices.lengths);
    if let Some(&value) = matrices.parameters.get(name) {
        return Some(Value::number(value));
    }
    Some(match name {
        "W" | "M" => Value::matrix(matrix.clone()),
        "L" => Value::matrix(lengths.clone()),
        "W_min" | "M_min" => Value::number(value::least(matrix)),
        "W_max" | "M_max" => Value::number(value::largest(matrix)),
        "L_min" => Value::number(value::least(lengths)),
        "L_max" => Value::number(value::largest(lengths)),
        "W_rowsum" => Value::matrix(value::row_sums(matrix, false)),
        "W_rowsum_safe" => Value::matrix(value::row_sums(matrix, true)),
        "W_colsum" => Value::matrix(value::column_sums(matrix, false)),
        "W_colsum_safe" => Value::matrix(value::column_sums(matrix, true)),
        "n" => Value::number(matrix.nrows() as f64),
        "pi" => Value::number(std::f64::consts::PI),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
