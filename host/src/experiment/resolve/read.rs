//! Values out of a tree, with a finding for each that is not what it should be.

use crate::diagnostic::{Code, Collector, Diagnostic, Location, Sources};
use crate::experiment::Equation;
use crate::files::Files;
use crate::yaml::class::Skipped;
use crate::yaml::{Kind, Node, ScalarValue, nearest};
use std::path::Path;

/// What the parts of the resolver share.
pub(crate) struct Context<'a> {
    /// Findings so far.
    pub(crate) out: Collector,
    /// What was left out so far.
    pub(crate) skipped: Skipped,
    /// Where files come from.
    pub(crate) files: &'a dyn Files,
    /// Texts of all files that were read.
    pub(crate) sources: &'a mut Sources,
    /// The folder that relative paths start from.
    pub(crate) base: &'a Path,
}

/// A member of a named collection.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) location: &'a Location,
    pub(crate) node: &'a Node,
}

impl Context<'_> {
    pub(crate) fn error(&mut self, code: Code, message: impl Into<String>, at: &Location) {
        self.out.push(Diagnostic::error(code, message).at(at.clone(), ""));
    }

    pub(crate) fn error_help(
        &mut self,
        code: Code,
        message: impl Into<String>,
        at: &Location,
        help: impl Into<String>,
    ) {
        self.out.push(Diagnostic::error(code, message).at(at.clone(), "").help(help));
    }

    pub(crate) fn warning(&mut self, code: Code, message: impl Into<String>, at: &Location) {
        self.out.push(Diagnostic::warning(code, message).at(at.clone(), ""));
    }

    pub(crate) fn note(&mut self, code: Code, message: impl Into<String>, at: &Location) {
        self.out.push(Diagnostic::note(code, message).at(at.clone(), ""));
    }

    pub(crate) fn skip(&mut self, name: impl Into<String>, why: impl Into<String>) {
        self.skipped.push((name.into(), why.into()));
    }

    fn wrong(&mut self, node: &Node, what: &str, expected: &str) {
        let message = format!("{what} must be {expected}, not {}", node.describe());
        self.error(Code::WrongType, message, &node.location);
    }

    /// A name that refers to nothing, with the nearest that would.
    pub(crate) fn unknown<'n>(
        &mut self,
        code: Code,
        what: &str,
        name: &str,
        at: &Location,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let finding = Diagnostic::error(code, format!("{what} `{name}`")).at(at.clone(), "");
        self.out.push(match nearest(name, known.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => finding,
            None => finding.help(format!("known: {}", known.join(", "))),
        });
    }

    /// A number; numbers in quotes and truth values count.
    pub(crate) fn number(&mut self, node: &Node, what: &str) -> Option<f64> {
        let value = number(node);
        if value.is_none() {
            self.wrong(node, what, "a number");
        }
        value
    }

    /// A number that is neither infinite nor NaN.
    pub(crate) fn finite(&mut self, node: &Node, what: &str) -> Option<f64> {
        let value = self.number(node, what)?;
        if value.is_finite() {
            return Some(value);
        }
        self.error(Code::BadNumber, format!("{what} must be finite, not {value}"), &node.location);
        None
    }

    /// A whole number that is not negative.
    pub(crate) fn whole(&mut self, node: &Node, what: &str) -> Option<u64> {
        if let Some(value) = node.scalar().and_then(|s| s.text.parse().ok()) {
            return Some(value);
        }
        let number = self.number(node, what)?;
        if number >= 0.0 && number.fract() == 0.0 && number < 9e15 {
            return Some(number as u64);
        }
        let message = format!("{what} must be a whole number, not {number}");
        self.error(Code::BadValue, message, &node.location);
        None
    }

    /// A truth value.
    pub(crate) fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        let scalar = node.scalar();
        let value = match scalar.map(|s| (&s.value, s.text.to_ascii_lowercase())) {
            Some((ScalarValue::Bool(value), _)) => Some(*value),
            Some((_, text)) => match text.as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            None => None,
        };
        if value.is_none() {
            self.wrong(node, what, "true or false");
        }
        value
    }

    /// The truth value of a key, or a default where it is absent or wrong.
    pub(crate) fn flag_or(&mut self, node: &Node, key: &str, default: bool) -> bool {
        node.get(key).and_then(|n| self.flag(n, &format!("`{key}`"))).unwrap_or(default)
    }

    /// A text; numbers count as what is written.
    pub(crate) fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let text = node.scalar().filter(|_| !node.is_null()).map(|s| s.text.as_str());
        if text.is_none() {
            self.wrong(node, what, "a text");
        }
        text
    }

    /// One name or a list of names.
    pub(crate) fn names<'n>(&mut self, node: &'n Node, what: &str) -> Vec<(&'n str, &'n Location)> {
        let items = if node.is_sequence() { node.items() } else { std::slice::from_ref(node) };
        items.iter().filter_map(|n| Some((self.text(n, what)?, &n.location))).collect()
    }

    /// A number or a list of numbers.
    pub(crate) fn numbers(&mut self, node: &Node, what: &str) -> Option<Vec<f64>> {
        let items = if node.is_sequence() { node.items() } else { std::slice::from_ref(node) };
        items.iter().map(|n| self.finite(n, what)).collect()
    }

    /// An equation: its text, or a mapping with `rhs`.
    pub(crate) fn equation(&mut self, node: &Node, what: &str) -> Option<Equation> {
        if let Some(own) = node.get("parameters").filter(|n| !n.entries().is_empty()) {
            let message = format!("parameters inside the equation of {what} are not supported");
            let help = "put them among the parameters of the model, the coupling or the event";
            self.error_help(Code::NotSupported, message, &own.location, help);
        }
        self.right_side(node, what)
    }

    /// As [`Context::equation`], leaving parameters inside the equation to the caller.
    pub(crate) fn right_side(&mut self, node: &Node, what: &str) -> Option<Equation> {
        let side = if node.is_mapping() {
            match node.any(&["rhs", "righthandside"]) {
                Some(side) => side,
                None => {
                    let message = format!("the equation of {what} has no `rhs`");
                    self.error(Code::MissingKey, message, &node.location);
                    return None;
                }
            }
        } else {
            node
        };
        let Some(scalar) = side.scalar().filter(|_| !side.is_null()) else {
            self.wrong(side, &format!("the equation of {what}"), "a text");
            return None;
        };
        Some(Equation {
            text: scalar.text.clone(),
            location: side.location.clone(),
            exact: scalar.exact,
        })
    }

    /// The members of a collection that is a mapping by name or a list with names.
    pub(crate) fn named<'n>(&mut self, node: Option<&'n Node>, what: &str) -> Vec<Named<'n>> {
        let Some(node) = node else { return Vec::new() };
        match &node.kind {
            Kind::Mapping(entries) => entries
                .iter()
                .map(|e| Named { name: &e.key, location: &e.location, node: &e.value })
                .collect(),
            Kind::Sequence(items) => {
                let mut members: Vec<Named<'n>> = Vec::new();
                for item in items {
                    let key = item.get("name").unwrap_or(item);
                    let Some(name) = key.scalar().filter(|_| !key.is_null()) else {
                        self.error(
                            Code::MissingKey,
                            format!("{what} without a name"),
                            &item.location,
                        );
                        continue;
                    };
                    if let Some(first) = members.iter().find(|m| m.name == name.text) {
                        let finding = Diagnostic::error(
                            Code::DuplicateKey,
                            format!("{what} `{}` stands twice", name.text),
                        )
                        .at(key.location.clone(), "here again")
                        .at(first.location.clone(), "first here");
                        self.out.push(finding);
                        continue;
                    }
                    members.push(Named { name: &name.text, location: &key.location, node: item });
                }
                members
            }
            Kind::Scalar(_) => {
                self.wrong(node, &format!("{what}s"), "a mapping or a list");
                Vec::new()
            }
        }
    }
}

/// The number that a node holds, in quotes or not.
pub(crate) fn number(node: &Node) -> Option<f64> {
    let scalar = node.scalar()?;
    match scalar.value {
        ScalarValue::Number(value) => Some(value),
        ScalarValue::Bool(value) => Some(f64::from(u8::from(value))),
        ScalarValue::Null => None,
        ScalarValue::Text => match scalar.text.to_ascii_lowercase().trim_start_matches('+') {
            ".inf" | "inf" | "infinity" | "oo" => Some(f64::INFINITY),
            "-.inf" | "-inf" | "-infinity" | "-oo" => Some(f64::NEG_INFINITY),
            ".nan" | "nan" => Some(f64::NAN),
            text => text.parse().ok(),
        },
    }
}

/// The value of a node that may be `{value: x}` or `x`.
pub(crate) fn value(node: &Node) -> Option<&Node> {
    if node.is_mapping() { node.get("value") } else { Some(node).filter(|n| !n.is_null()) }
}

/// The identifiers in a text.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}
