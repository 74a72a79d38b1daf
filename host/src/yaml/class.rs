//! Tables of keys, and a tree held against them.

use super::{Kind, Node, ScalarValue, nearest};
use crate::diagnostic::{Code, Collector, Diagnostic};

/// The keys of one class of the format.
#[derive(Debug)]
pub struct Class {
    /// What it is, for messages: "a parameter".
    pub what: &'static str,
    /// Whether a scalar or a list may stand for it.
    pub short: bool,
    /// Its keys, beside [`NOTES`].
    pub keys: &'static [Key],
}

/// A key and what becomes of it.
#[derive(Debug)]
pub struct Key {
    /// Its spelling.
    pub name: &'static str,
    /// What becomes of it.
    pub rule: Rule,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// It is read, or is documentation; its value is not looked into here.
    Any,
    /// It is read; the value is of this class.
    One(&'static Class),
    /// It is read; the value holds named members of this class, as a mapping or as a list.
    Named(&'static Class),
    /// It has a meaning that can't be honoured: an error, unless the value says nothing (null,
    /// `false`, `none`, empty).
    Refuse(&'static str),
    /// It holds Python code, which is not run: an error, unless the value says nothing.
    Python,
    /// It asks for more than a simulation: left out, by name and with this reason.
    Skip(&'static str),
}

/// Keys that document, allowed everywhere.
pub const NOTES: &[&str] = &[
    "name",
    "label",
    "description",
    "definition",
    "references",
    "grounding",
    "iri",
    "provenance",
    "comment",
    "symbol",
    "acronym",
    "unit",
    "tvbo_class",
    "schema_version",
    "has_reference",
];

/// Parts that were left out: their name and why.
pub type Skipped = Vec<(String, String)>;

/// Reports every key of `node` that `class` does not have or that can't be honoured, all the way
/// down, and what is skipped.
pub fn check(node: &Node, class: &'static Class, out: &mut Collector, skipped: &mut Skipped) {
    Checker { out, skipped }.one(node, class, "");
}

struct Checker<'a> {
    out: &'a mut Collector,
    skipped: &'a mut Skipped,
}

impl Checker<'_> {
    fn one(&mut self, node: &Node, class: &'static Class, path: &str) {
        if node.is_null() || (class.short && !node.is_mapping()) {
            return;
        }
        let Kind::Mapping(entries) = &node.kind else {
            return self.wrong(node, class.what, "a mapping");
        };
        for entry in entries {
            let path = join(path, &entry.key);
            let Some(key) = class.keys.iter().find(|k| k.name == entry.key) else {
                if !NOTES.contains(&entry.key.as_str()) {
                    self.unknown(entry, class);
                }
                continue;
            };
            match key.rule {
                Rule::Any => {}
                Rule::One(inner) => self.one(&entry.value, inner, &path),
                Rule::Named(inner) => self.named(&entry.value, inner, &path),
                _ if says_nothing(&entry.value) => {}
                Rule::Refuse(why) => {
                    let message = format!("`{}` of {} is not supported", entry.key, class.what);
                    let finding = Diagnostic::error(Code::NotSupported, message);
                    self.out.push(finding.at(entry.location.clone(), "").help(why));
                }
                Rule::Python => {
                    let message = format!("`{}` of {} is Python code", entry.key, class.what);
                    let finding = Diagnostic::error(Code::PythonCallable, message)
                        .at(entry.location.clone(), "")
                        .help("Python is not run here; write an equation");
                    self.out.push(finding);
                }
                Rule::Skip(why) => match &entry.value.kind {
                    Kind::Mapping(members) if members.iter().all(|m| m.value.is_mapping()) => {
                        for member in members {
                            self.skipped.push((join(&path, &member.key), why.into()));
                        }
                    }
                    _ => self.skipped.push((path, why.into())),
                },
            }
        }
    }

    fn named(&mut self, node: &Node, class: &'static Class, path: &str) {
        match &node.kind {
            Kind::Mapping(members) => {
                for member in members {
                    self.one(&member.value, class, &join(path, &member.key));
                }
            }
            Kind::Sequence(members) => {
                for member in members {
                    let name = member.get("name").and_then(Node::scalar);
                    let path = name.map_or_else(|| path.to_owned(), |n| join(path, &n.text));
                    self.one(member, class, &path);
                }
            }
            Kind::Scalar(_) if node.is_null() => {}
            Kind::Scalar(_) => self.wrong(node, class.what, "a mapping or a list of them"),
        }
    }

    fn wrong(&mut self, node: &Node, what: &str, expected: &str) {
        self.out.push(
            Diagnostic::error(
                Code::WrongType,
                format!("expected {what}, found {}", node.describe()),
            )
            .at(node.location.clone(), format!("this should be {expected}")),
        );
    }

    fn unknown(&mut self, entry: &super::Entry, class: &Class) {
        let known = || class.keys.iter().map(|k| k.name);
        let message = format!("unknown key `{}` in {}", entry.key, class.what);
        let finding = Diagnostic::error(Code::UnknownKey, message).at(entry.location.clone(), "");
        let near = nearest(&entry.key, known().chain(NOTES.iter().copied()));
        self.out.push(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => {
                let mut keys: Vec<&str> = known().collect();
                keys.sort_unstable();
                finding.help(format!("its keys are {}", keys.join(", ")))
            }
        });
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn says_nothing(node: &Node) -> bool {
    match &node.kind {
        Kind::Mapping(entries) => entries.is_empty(),
        Kind::Sequence(items) => items.is_empty(),
        Kind::Scalar(s) => match s.value {
            ScalarValue::Null | ScalarValue::Bool(false) => true,
            ScalarValue::Text => s.text == "none" || s.text.is_empty(),
            _ => false,
        },
    }
}
