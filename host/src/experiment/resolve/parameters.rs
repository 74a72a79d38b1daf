//! Values of parameters.

use super::connectome_source::join;
use super::read::{Context, Named, value};
use crate::connectome::read;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Parameter, ParameterValue, Scope};
use crate::yaml::{Node, ScalarValue};

fn note(node: &Node, keys: &[&str]) -> Option<String> {
    node.any(keys).and_then(Node::scalar).map(|s| s.text.clone())
}

/// What a list of values can run over.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Nodes of the network; unknown where it could not be read.
    pub(super) nodes: Option<usize>,
    /// Modes of the model.
    pub(super) modes: usize,
}

/// Reads a parameter.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    member: Named<'_>,
    scope: Scope,
    extent: Extent,
) -> Parameter {
    let given = value(member.node).or_else(|| member.node.get("default"));
    let value = match given {
        Some(given) => values(cx, member, given, extent),
        None => {
            let message = format!("the parameter `{}` has no value", member.name);
            cx.error_help(Code::MissingKey, message, member.location, "write `value: …`");
            None
        }
    };
    Parameter {
        name: member.name.to_owned(),
        scope,
        value: value.unwrap_or(ParameterValue::Uniform(0.0)),
        unit: note(member.node, &["unit"]),
        description: note(member.node, &["description", "label", "definition"]),
        location: member.location.clone(),
    }
}

fn values(
    cx: &mut Context<'_>,
    member: Named<'_>,
    given: &Node,
    extent: Extent,
) -> Option<ParameterValue> {
    let what = format!("the value of `{}`", member.name);
    if !given.is_sequence() {
        if let Some(scalar) = given.scalar().filter(|s| s.value == ScalarValue::Text)
            && super::read::number(given).is_none()
        {
            if is_map(&scalar.text) {
                return map(cx, member.name, given, &scalar.text, extent);
            }
            let message = format!("{what} is the text `{}`", scalar.text);
            let help = "a number is needed here, a list or a file (.csv, .tsv, .txt, .npy) with one \
                        a node; an expression goes among derived parameters";
            cx.error_help(Code::WrongType, message, &given.location, help);
            return None;
        }
        return cx.finite(given, &what).map(ParameterValue::Uniform);
    }
    let mut shape = Vec::new();
    let mut flat = Vec::new();
    if !flatten(cx, given, &what, 0, &mut shape, &mut flat) {
        return None;
    }
    // `shape: "(n_nodes,)"` and `heterogeneous` say that the list runs over nodes.
    let text = |key| member.node.get(key).and_then(Node::scalar);
    let per_node = text("shape").is_some_and(|s| s.text.contains("node"))
        || text("heterogeneous").is_some_and(|s| s.value == ScalarValue::Bool(true));
    let Extent { nodes, modes } = extent;
    match shape[..] {
        [1] if nodes != Some(1) && modes == 1 => Some(ParameterValue::Uniform(flat[0])),
        [n] if nodes.is_none_or(|nodes| nodes == n) && (per_node || modes == 1) => {
            Some(ParameterValue::PerNode(flat))
        }
        _ if modes > 1 && !per_node && shape.iter().all(|&n| n == modes) => {
            Some(ParameterValue::Array { shape, values: flat })
        }
        _ => {
            let sizes: Vec<_> = shape.iter().map(ToString::to_string).collect();
            let nodes = nodes.map_or("an unknown number of".to_owned(), |n| n.to_string());
            let mut message =
                format!("`{}` has {} values for {nodes} node(s)", member.name, sizes.join("×"));
            if modes > 1 {
                message += &format!(" and {modes} modes");
            }
            cx.error(Code::ShapeMismatch, message, &given.location);
            None
        }
    }
}

/// Whether a text names a file of numbers.
pub(super) fn is_map(text: &str) -> bool {
    [".csv", ".tsv", ".txt", ".npy", ".npz"].iter().any(|end| text.to_lowercase().ends_with(end))
}

/// One number a node, a row or a column of a file.
fn map(
    cx: &mut Context<'_>,
    name: &str,
    given: &Node,
    path: &str,
    extent: Extent,
) -> Option<ParameterValue> {
    let table = match read::table(&join(cx.base, path), cx.files) {
        Ok(table) => table,
        Err(error) => {
            cx.out.push(Diagnostic::from(error).at(given.location.clone(), ""));
            return None;
        }
    };
    let (rows, columns) = table.values.shape();
    let values: Vec<f64> = table.values.iter().copied().collect();
    let fits = rows.min(columns) == 1 && extent.nodes.is_none_or(|nodes| nodes == values.len());
    if !fits {
        let nodes = extent.nodes.map_or("an unknown number of".to_owned(), |n| n.to_string());
        let place = table.place;
        let message = format!("{place}: {rows}×{columns} values of `{name}` for {nodes} node(s)");
        let help = "give one number a node, in the order of the connectome";
        cx.error_help(Code::ShapeMismatch, message, &given.location, help);
        return None;
    }
    if let Some(node) = values.iter().position(|v| !v.is_finite()) {
        let message = format!("{}: `{name}` is {} at node {node}", table.place, values[node]);
        cx.error(Code::BadNumber, message, &given.location);
        return None;
    }
    Some(ParameterValue::PerNode(values))
}

/// Row-major elements and extents of a nested list; false, with a finding, if it is ragged or holds
/// anything but numbers.
fn flatten(
    cx: &mut Context<'_>,
    node: &Node,
    what: &str,
    depth: usize,
    shape: &mut Vec<usize>,
    flat: &mut Vec<f64>,
) -> bool {
    if !node.is_sequence() {
        let leaf = shape.len() == depth;
        if !leaf {
            cx.error(Code::ShapeMismatch, format!("{what} is a ragged list"), &node.location);
            return false;
        }
        return match cx.finite(node, what) {
            Some(value) => {
                flat.push(value);
                true
            }
            None => false,
        };
    }
    let items = node.items();
    if depth == shape.len() && flat.is_empty() {
        shape.push(items.len());
    }
    if shape.get(depth) != Some(&items.len()) || items.is_empty() {
        cx.error(Code::ShapeMismatch, format!("{what} is a ragged or empty list"), &node.location);
        return false;
    }
    items.iter().all(|item| flatten(cx, item, what, depth + 1, shape, flat))
}
