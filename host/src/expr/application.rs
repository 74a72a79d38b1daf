//! Names, calls and functions applied without brackets.

use super::ast::{BinaryOperator as B, CompareOperator as C, Expr, ExprKind, UnaryOperator};
use super::error::{ExprError, ExprErrorKind};
use super::function;
use super::lexer::{Token, TokenKind};
use super::parser::{HEIGHT, NOT, Node, POWER, Parser, SIGN};
use std::ops::Range;

impl Parser<'_> {
    pub(super) fn name(&mut self, token: &Token) -> Result<Node, ExprError> {
        let name = &self.text[token.span.clone()];
        let span = token.span.clone();
        match name {
            "not" => return self.unary(UnaryOperator::Not, span.start, NOT),
            "True" => return self.node(ExprKind::Boolean(true), span, 0),
            "False" => return self.node(ExprKind::Boolean(false), span, 0),
            "if" | "else" => return self.fail(ExprErrorKind::Conditional, span),
            "and" | "or" => {
                return self.fail(ExprErrorKind::ExpectedValue(format!("`{name}`")), span);
            }
            _ => {}
        }
        if (self.is_symbol)(name) || function::constant(name).is_some() {
            return self.node(ExprKind::Symbol(name.into()), span, 0);
        }
        if self.is("(") {
            return self.call(name, span.start);
        }
        if self.is_function(name) {
            return self.implicit_application(name, span);
        }
        self.node(ExprKind::Symbol(name.into()), span, 0)
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Node, ExprError> {
        let bracket = self.advance().span.start;
        let (arguments, end, height) = self.items(")", '(', bracket)?;
        if height >= HEIGHT {
            return self.fail(ExprErrorKind::TooDeep(HEIGHT), start..end);
        }
        let expr = operator_call(name, arguments, start..end);
        let height = height + depth_of_operator_call(&expr);
        Ok(Node { expr, height })
    }

    /// `sin x`, `sin 2x`, `sin^2 x`, `sin**2(x)`.
    fn implicit_application(&mut self, name: &str, span: Range<usize>) -> Result<Node, ExprError> {
        let exponent = if self.is("**") {
            self.advance();
            match self.peek().kind {
                TokenKind::Number(_) => Some(self.prefix()?),
                _ => return self.fail(ExprErrorKind::BareFunction(name.into()), span),
            }
        } else {
            None
        };
        let applied = if self.is("(") {
            self.call(name, span.start)?
        } else if self.starts_factor() {
            let mut argument = self.expression(SIGN)?;
            // As sympy: a product continues the argument, written or implied, so that `sin x cos y`
            // is `sin(x*cos(y))`; a quotient or sum ends it.
            loop {
                let implied =
                    self.starts_factor() && !matches!(self.peek().kind, TokenKind::Number(_));
                if !implied && !self.eat("*") {
                    break;
                }
                let factor = self.expression(SIGN)?;
                argument = self.binary(B::Multiply, argument, factor)?;
            }
            let span = span.start..argument.expr.span.end;
            let expr = operator_call(name, vec![argument.expr], span);
            Node { expr, height: argument.height + 1 }
        } else {
            return self.fail(ExprErrorKind::BareFunction(name.into()), span);
        };
        match exponent {
            None => Ok(applied),
            Some(mut exponent) => {
                // As sympy: `sin**2(x)**3` is `sin(x)**2**3`.
                if self.eat("**") {
                    let power = self.expression(POWER - 1)?;
                    exponent = self.binary(B::Power, exponent, power)?;
                }
                let span = applied.expr.span.clone();
                let below = applied.height.max(exponent.height);
                let (x, n) = (Box::new(applied.expr), Box::new(exponent.expr));
                self.node(ExprKind::Binary(B::Power, x, n), span, below)
            }
        }
    }

    fn starts_factor(&self) -> bool {
        match self.peek().kind {
            TokenKind::Number(_) => true,
            TokenKind::Name => !matches!(self.word(), Some("and" | "or" | "not" | "if" | "else")),
            TokenKind::Symbol(symbol) => symbol == "(",
            TokenKind::End => false,
        }
    }
}

/// How many nodes [`operator_call`] puts above its arguments.
fn depth_of_operator_call(expr: &Expr) -> usize {
    let mut depth = 1;
    let mut at = expr;
    while let ExprKind::Binary(B::And | B::Or, left, _) = &at.kind {
        depth += 1;
        at = left;
    }
    depth
}

/// A call, or the operator that a function such as `Eq` or `And` is another spelling of.
///
/// With the wrong number of arguments it stays a call, which lowering refuses.
fn operator_call(name: &str, mut arguments: Vec<Expr>, span: Range<usize>) -> Expr {
    let compare = match name {
        "Eq" => Some(C::Equal),
        "Ne" => Some(C::NotEqual),
        "Lt" => Some(C::Less),
        "Le" => Some(C::LessEqual),
        "Gt" => Some(C::Greater),
        "Ge" => Some(C::GreaterEqual),
        _ => None,
    };
    let binary = match name {
        "Mod" => Some(B::Modulo),
        "Pow" | "pow" => Some(B::Power),
        _ => None,
    };
    let junction = match name {
        "And" => Some(B::And),
        "Or" => Some(B::Or),
        _ => None,
    };
    let kind = match (compare, binary, junction, arguments.len()) {
        (Some(operator), _, _, 2) => {
            let y = Box::new(arguments.remove(1));
            ExprKind::Compare(operator, Box::new(arguments.remove(0)), y)
        }
        (_, Some(operator), _, 2) => {
            let y = Box::new(arguments.remove(1));
            ExprKind::Binary(operator, Box::new(arguments.remove(0)), y)
        }
        (_, _, Some(operator), 2..=16) => {
            let whole = span.clone();
            let joined = arguments.into_iter().reduce(|x, y| Expr {
                kind: ExprKind::Binary(operator, Box::new(x), Box::new(y)),
                span: whole.clone(),
            });
            return joined.unwrap_or(Expr { kind: ExprKind::Boolean(true), span });
        }
        (_, _, _, 1) if name == "Not" => {
            ExprKind::Unary(UnaryOperator::Not, Box::new(arguments.remove(0)))
        }
        _ => ExprKind::Call(name.into(), arguments),
    };
    Expr { kind, span }
}
