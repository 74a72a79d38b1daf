//! The tree of an equation.

use std::ops::Range;

/// An expression with the bytes of the equation's text that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands in the equation's text.
    pub span: Range<usize>,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number; integers are exact up to 2^53.
    Number(f64),
    /// `True` or `False`.
    Boolean(bool),
    /// A name.
    Symbol(String),
    /// `-x`, `~x`.
    Unary(UnaryOperator, Box<Expr>),
    /// `x + y` and so on.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `x < y`; chains are taken apart into `And`.
    Compare(CompareOperator, Box<Expr>, Box<Expr>),
    /// `f(x, y)`.
    Call(String, Vec<Expr>),
    /// `x[i]`, `x[i, j]`.
    Index(Box<Expr>, Vec<Expr>),
    /// `(x, y)`: a case of `Piecewise` or the range of a `Sum`.
    Tuple(Vec<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-x`
    Negate,
    /// `~x`, `not x`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `x + y`
    Add,
    /// `x - y`
    Subtract,
    /// `x * y` or `2x`
    Multiply,
    /// `x / y`: always a true quotient
    Divide,
    /// `x % y`: the sign of the divisor
    Modulo,
    /// `x ** y`, `x ^ y`
    Power,
    /// `x & y`, `x and y`
    And,
    /// `x | y`, `x or y`
    Or,
}

/// Relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOperator {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`, `Eq(x, y)`
    Equal,
    /// `!=`, `Ne(x, y)`
    NotEqual,
}
