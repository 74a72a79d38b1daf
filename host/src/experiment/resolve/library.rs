//! Missing pieces of a model or a coupling from the shipped library.

use super::read::{Context, identifiers};
use crate::diagnostic::Code;
use crate::files::EMBEDDED;
use crate::library::{self, Shipped};
use crate::yaml::class::{self, Class};
use crate::yaml::{Entry, Kind, Node, parse, tvbo};
use std::collections::BTreeSet;

/// The name in an IRI: `JansenRit` of `tvbo:JansenRit`.
fn tvbo_name(iri: &str) -> Option<&str> {
    iri.strip_prefix("tvbo:").or_else(|| iri.rsplit_once("/tvbo/").map(|(_, name)| name))
}

impl Context<'_> {
    fn shipped(&mut self, shipped: Shipped, class: &'static Class) -> Option<Node> {
        let file = self.sources.add(format!("{EMBEDDED}{}", shipped.path), shipped.text);
        let tree = parse(shipped.text, file, &mut self.out)?;
        class::check(&tree, class, &mut self.out, &mut Vec::new());
        Some(tree)
    }

    /// The model of `node` with what its library entry adds. `name` alone, as a text, is an entry.
    pub(super) fn model(&mut self, node: &Node) -> Option<Node> {
        let by_name = node.scalar().map(|s| s.text.as_str());
        let iri = node.get("iri").and_then(Node::scalar).and_then(|s| tvbo_name(&s.text));
        let complete = has_all_equations(node);
        let name = node.get("name").and_then(Node::scalar).map(|s| s.text.as_str());
        let wanted = match by_name.map(|n| tvbo_name(n).unwrap_or(n)).or(iri) {
            Some(wanted) => wanted,
            // Only a name and nothing to simulate: the name is meant.
            None if node.get("state_variables").is_none() => name.unwrap_or(""),
            None => return Some(node.clone()),
        };
        let Some(shipped) = library::find_model(wanted) else {
            if complete {
                return Some(node.clone());
            }
            let at = node.get("iri").map_or(&node.location, |n| &n.location);
            let message = if wanted.is_empty() {
                "the model has no state variables".to_owned()
            } else {
                format!("no shipped model is called `{wanted}`, and its equations are not all here")
            };
            let near = crate::yaml::nearest(wanted, library::names(library::Shelf::Models));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "write the state variables with their equations, or name one of: ".to_owned()
                        + &library::names(library::Shelf::Models).join(", ")
                }
            };
            self.error_help(Code::UnknownName, message, at, help);
            return None;
        };
        let tree = self.shipped(shipped, &tvbo::EXPERIMENT)?;
        let base = tree.get("dynamics").unwrap_or(&tree);
        if !node.is_mapping() {
            return Some(base.clone());
        }
        if complete { Some(add_needed(node, base)) } else { Some(node.over(base)) }
    }

    /// A coupling with what its library entry adds. `iri` names the entry, or `name` where there
    /// are no expressions. `None` if there is no such entry.
    pub(super) fn coupling_entry(&mut self, node: &Node) -> Option<Node> {
        let text = |key: &str| node.get(key).and_then(Node::scalar).map(|s| s.text.as_str());
        let iri = text("iri").and_then(tvbo_name);
        let bare = node.scalar().filter(|_| !node.is_null()).map(|s| s.text.as_str());
        let name = bare.map(|n| tvbo_name(n).unwrap_or(n)).or_else(|| text("name"));
        let shipped = iri
            .and_then(library::find_coupling)
            .or_else(|| name.and_then(library::find_coupling))?;
        let base = self.shipped(shipped, &tvbo::COUPLING)?;
        Some(if node.is_mapping() { node.over(&base) } else { base })
    }

    /// The coupling that holds where nothing is said.
    pub(super) fn default_coupling(&mut self, node: Option<&Node>) -> Option<Node> {
        let base = self.shipped(library::find_coupling("Linear")?, &tvbo::COUPLING)?;
        Some(node.map_or(base.clone(), |n| n.over(&base)))
    }
}

/// Whether there are state variables and each has an equation.
fn has_all_equations(node: &Node) -> bool {
    let Some(states) = node.get("state_variables") else { return false };
    let members: Vec<&Node> = match &states.kind {
        Kind::Mapping(entries) => entries.iter().map(|e| &e.value).collect(),
        Kind::Sequence(items) => items.iter().collect(),
        Kind::Scalar(_) => return false,
    };
    !members.is_empty() && members.iter().all(|m| m.get("equation").is_some())
}

/// Collections whose members are symbols of equations.
const SYMBOLS: [&str; 6] = [
    "parameters",
    "derived_parameters",
    "derived_variables",
    "functions",
    "coupling_inputs",
    "coupling_terms",
];

/// A complete model with those members of `base` that its equations name and it doesn't have, and
/// with values for its parameters that have none. Nothing else: a library entry may cut the same
/// model into other symbols.
fn add_needed(node: &Node, base: &Node) -> Node {
    let mut result = node.clone();
    let mut defined = BTreeSet::new();
    for key in SYMBOLS.iter().chain(&["state_variables"]) {
        defined.extend(node.get(key).into_iter().flat_map(member_names));
    }
    let mut named = BTreeSet::new();
    collect_identifiers(node, &mut named);
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for key in SYMBOLS {
            for member in base.get(key).map_or(&[][..], Node::entries) {
                if named.contains(&member.key) && defined.insert(member.key.clone()) {
                    collect_identifiers(&member.value, &mut named);
                    add(&mut result, key, member.clone());
                    grown = true;
                }
            }
        }
    }
    fill_values(&mut result, base);
    result
}

fn member_names(collection: &Node) -> Vec<String> {
    let keys = collection.entries().iter().map(|e| e.key.clone());
    let listed = collection
        .items()
        .iter()
        .filter_map(|n| n.get("name").unwrap_or(n).scalar().map(|s| s.text.clone()));
    keys.chain(listed).collect()
}

/// Every identifier in a text of the tree. Prose only makes the set larger.
fn collect_identifiers(node: &Node, into: &mut BTreeSet<String>) {
    match &node.kind {
        Kind::Scalar(s) => into.extend(identifiers(&s.text).map(str::to_owned)),
        Kind::Sequence(items) => items.iter().for_each(|n| collect_identifiers(n, into)),
        Kind::Mapping(entries) => entries
            .iter()
            .filter(|e| !class::NOTES.contains(&e.key.as_str()))
            .for_each(|e| collect_identifiers(&e.value, into)),
    }
}

fn add(node: &mut Node, collection: &str, member: Entry) {
    let Kind::Mapping(entries) = &mut node.kind else { return };
    let location = member.location.clone();
    let index = entries.iter().position(|e| e.key == collection).unwrap_or_else(|| {
        let value = Node { kind: Kind::Mapping(Vec::new()), location: location.clone() };
        entries.push(Entry { key: collection.to_owned(), location, value });
        entries.len() - 1
    });
    if let Kind::Mapping(members) = &mut entries[index].value.kind {
        members.push(member);
    }
}

fn fill_values(node: &mut Node, base: &Node) {
    let Kind::Mapping(entries) = &mut node.kind else { return };
    let Some(parameters) = entries.iter_mut().find(|e| e.key == "parameters") else { return };
    let Kind::Mapping(members) = &mut parameters.value.kind else { return };
    for member in members {
        if let Some(below) = base.at(&["parameters", &member.key])
            && (member.value.is_null()
                || (member.value.is_mapping() && member.value.get("value").is_none()))
        {
            member.value = member.value.over(below);
        }
    }
}

/// A shipped coupling function by name.
pub(super) fn named(cx: &mut Context<'_>, name: &str) -> Option<Node> {
    cx.shipped(library::find_coupling(name)?, &tvbo::COUPLING)
}
