//! Names and what they stand for, one table a scope.

use super::equation::Parsed;
use super::findings::Findings;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::ir::Input;
use indexmap::IndexMap;
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// Time in the model's unit.
    Time,
    /// A coupling input that no network feeds: zeros of this shape.
    Zero(Vec<usize>),
    /// Values from outside.
    Inputs(Inputs),
    /// Entry of the dynamics' definitions.
    Derived(usize),
    /// The sum of these stimuli.
    Stimuli(Vec<usize>),
}

/// Values from outside, an array of a shape.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) shape: Vec<usize>,
    pub(super) inputs: Vec<Input>,
    /// The first dimension counts state variables: a single one is dropped unless it is indexed.
    pub(super) vector: bool,
}

impl Inputs {
    pub(super) fn symbol(shape: Vec<usize>, inputs: Vec<Input>) -> Symbol {
        Symbol::Inputs(Self { shape, inputs, vector: false })
    }
}

/// A derived parameter or variable.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    pub(super) name: &'a str,
    /// Condition and value; the first that holds wins.
    pub(super) cases: Vec<(Parsed<'a>, Parsed<'a>)>,
    /// The value where no case holds.
    pub(super) otherwise: Option<Parsed<'a>>,
    pub(super) location: &'a Location,
}

/// A function of the model.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) arguments: &'a [String],
    pub(super) body: Parsed<'a>,
}

/// The names of a scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Table<'a> {
    pub(super) symbols: IndexMap<String, Symbol>,
    pub(super) functions: Rc<IndexMap<&'a str, Function<'a>>>,
}

impl Table<'_> {
    /// Whether a name is a symbol here.
    pub(super) fn has(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }
}

/// Finds names that two things define.
#[derive(Default)]
pub(super) struct Definitions<'a>(IndexMap<&'a str, (&'static str, Option<&'a Location>)>);

impl<'a> Definitions<'a> {
    /// Notes that a name is a `what`, and complains if it is something already.
    pub(super) fn add(
        &mut self,
        name: &'a str,
        what: &'static str,
        location: Option<&'a Location>,
        findings: &Findings,
    ) {
        let Some((before, first)) = self.0.insert(name, (what, location)) else { return };
        if (before, what) == ("parameter", "derived variable") {
            findings.push(overshadowed(name, location, first));
            return;
        }
        let message = if before == what {
            format!("`{name}` is defined twice, each time as a {what}")
        } else {
            format!("`{name}` is defined twice, as a {before} and as a {what}")
        };
        let mut diagnostic = Diagnostic::error(Code::DefinedTwice, message);
        if let Some(location) = location {
            diagnostic = diagnostic.at(location.clone(), format!("a {what} here"));
        }
        if let Some(first) = first {
            diagnostic = diagnostic.at(first.clone(), format!("a {before} here"));
        }
        findings.push(diagnostic.help("rename one of them"));
    }
}

/// Models in circulation do this, and the derived variable is what they mean.
fn overshadowed(
    name: &str,
    location: Option<&Location>,
    parameter: Option<&Location>,
) -> Diagnostic {
    let message = format!("`{name}` is a parameter and a derived variable: the latter is used");
    let mut diagnostic = Diagnostic::warning(Code::DefinedTwice, message);
    if let Some(location) = location {
        diagnostic = diagnostic.at(location.clone(), "this is used");
    }
    if let Some(parameter) = parameter {
        diagnostic = diagnostic.at(parameter.clone(), "this has no effect");
    }
    diagnostic.help("remove the parameter")
}
