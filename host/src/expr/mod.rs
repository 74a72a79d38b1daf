//! Equation text to a tree with spans.
//!
//! The language is the one that TVBO's equations are written in: Python's operators and precedence
//! as sympy reads them, with implicit multiplication (`2x`, `a (b + c)`), `^` for powers and
//! implicit application of known functions (`sin x`). Names are never split: `omega` is one symbol.
//! A symbol of the model wins over a function or constant of the same name, so [`parse`] asks its
//! caller which names are symbols.

mod application;
mod ast;
mod error;
pub mod function;
mod lexer;
mod parser;
mod print;

#[cfg(test)]
mod tests;

pub use ast::{BinaryOperator, CompareOperator, Expr, ExprKind, UnaryOperator};
pub use error::{ExprError, ExprErrorKind};
pub use parser::parse;
