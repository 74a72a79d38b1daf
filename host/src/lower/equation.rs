//! Equations of the experiment, parsed.

use super::findings::Findings;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::experiment::Equation;
use crate::expr::{self, Expr};
use std::ops::Range;

/// Where an expression stands: an equation, and the byte of its text where the expression's text
/// starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) equation: &'a Equation,
    pub(super) offset: usize,
}

impl Place<'_> {
    pub(super) fn locate(&self, span: Range<usize>) -> Location {
        self.equation.locate(span.start + self.offset..span.end + self.offset)
    }
}

/// An equation's tree, or none where it had none and that was reported.
#[derive(Clone, Debug)]
pub(super) struct Parsed<'a> {
    pub(super) expr: Option<Expr>,
    pub(super) place: Place<'a>,
}

impl<'a> Parsed<'a> {
    pub(super) fn new(
        equation: &'a Equation,
        is_symbol: &dyn Fn(&str) -> bool,
        findings: &Findings,
    ) -> Self {
        Self::part(equation, 0..equation.text.len(), is_symbol, findings)
    }

    /// A part of an equation's text, such as one of several assignments.
    pub(super) fn part(
        equation: &'a Equation,
        part: Range<usize>,
        is_symbol: &dyn Fn(&str) -> bool,
        findings: &Findings,
    ) -> Self {
        let place = Place { equation, offset: part.start };
        let expr = match expr::parse(&equation.text[part], is_symbol) {
            Ok(expr) => Some(expr),
            Err(error) => {
                let location = place.locate(error.span.clone());
                let mut found = Diagnostic::error(Code::EquationSyntax, error.to_string());
                found = found.at(location, "");
                findings.push(match error.help() {
                    Some(help) => found.help(help),
                    None => found,
                });
                None
            }
        };
        Self { expr, place }
    }
}
