//! A tree as text that parses to the same tree.

use super::ast::{BinaryOperator, CompareOperator, Expr, ExprKind, UnaryOperator};
use std::fmt::{Display, Formatter, Result};

/// Every operation stands in its own parentheses, so no reader needs the precedence rules.
impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExprKind::Number(value) => write!(f, "{value:?}"),
            ExprKind::Boolean(true) => f.write_str("True"),
            ExprKind::Boolean(false) => f.write_str("False"),
            ExprKind::Symbol(name) => f.write_str(name),
            ExprKind::Unary(operator, x) => write!(f, "({operator}{x})"),
            ExprKind::Binary(operator, x, y) => write!(f, "({x} {operator} {y})"),
            ExprKind::Compare(operator, x, y) => write!(f, "({x} {operator} {y})"),
            ExprKind::Call(name, arguments) => {
                write!(f, "{name}(")?;
                list(f, arguments)?;
                f.write_str(")")
            }
            ExprKind::Index(base, indices) => {
                write!(f, "{base}[")?;
                list(f, indices)?;
                f.write_str("]")
            }
            ExprKind::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

fn list(f: &mut Formatter<'_>, items: &[Expr]) -> Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for UnaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Negate => "-",
            Self::Not => "~",
        })
    }
}

impl Display for BinaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Power => "**",
            Self::And => "&",
            Self::Or => "|",
        })
    }
}

impl Display for CompareOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        })
    }
}
