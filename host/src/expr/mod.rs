//! Equation text to a tree with spans.

mod ast;
pub use ast::{BinaryOperator, CompareOperator, Expr, ExprKind, UnaryOperator};
