//! Transforms of weights and tract lengths, such as `W / W_max`.

use super::edges::Built;
use super::read::{Context, Named, value};
use crate::connectome::normalise::{self, Matrices};
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::expr;
use crate::yaml::Node;
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// Applies the transforms of the network block, in order.
pub(super) fn apply(cx: &mut Context<'_>, node: &Node, mut built: Built) -> Built {
    for transform in cx.named(node.get("transforms"), "a transform") {
        if built.matrices.len() > 1 {
            let message = "transforms of a network with several couplings among its edges";
            cx.error(Code::NotSupported, message, transform.location);
            return built;
        }
        let connectome = &mut built.connectome;
        let is_length = match transform.name.to_ascii_lowercase().as_str() {
            "weight" | "weights" => false,
            "length" | "lengths" | "distance" | "tract_length" | "tract_lengths" => true,
            _ => {
                let what = "nothing of the network to transform is called";
                let known = ["weight", "length"];
                cx.unknown(Code::UnknownName, what, transform.name, transform.location, known);
                continue;
            }
        };
        let matrix = if is_length { &connectome.tract_lengths_mm } else { &connectome.weights };
        let Some(result) = one(cx, transform, matrix, &connectome.tract_lengths_mm) else {
            continue;
        };
        let least = if is_length { 0.0 } else { f64::NEG_INFINITY };
        if let Some(bad) = result.iter().find(|x| !x.is_finite() || **x < least) {
            let message = format!("the transform of `{}` gives {bad}", transform.name);
            cx.error(Code::BadNumber, message, transform.location);
            continue;
        }
        if is_length {
            connectome.tract_lengths_mm = result;
        } else {
            connectome.weights = result;
        }
    }
    if let [whole] = &mut built.matrices[..] {
        whole.clone_from(&built.connectome.weights);
    }
    built
}

fn one(
    cx: &mut Context<'_>,
    transform: Named<'_>,
    matrix: &DMatrix<f64>,
    lengths: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let node = transform.node;
    if let Some(callable) = node.get("callable") {
        let name_node = callable.get("name").unwrap_or(callable);
        let name = cx.text(name_node, "the callable's name")?;
        let result = normalise::callable(name, matrix);
        if result.is_none() {
            let message = format!("the Python function `{name}` is not run");
            let help =
                format!("write an equation of W, or one of {}", normalise::CALLABLES.join(", "));
            cx.error_help(Code::PythonCallable, message, &name_node.location, help);
        }
        return result;
    }
    let Some(equation) = node.get("equation") else {
        let message = format!("the transform of `{}` has no equation", transform.name);
        cx.error(Code::MissingKey, message, transform.location);
        return None;
    };
    let mut parameters = BTreeMap::new();
    for block in [equation.get("parameters"), node.get("arguments")].into_iter().flatten() {
        for member in cx.named(Some(block), "a parameter") {
            if let Some(given) = value(member.node) {
                let value = cx.finite(given, &format!("`{}`", member.name))?;
                parameters.insert(member.name.to_owned(), value);
            }
        }
    }
    let text = cx.right_side(equation, "a transform")?;
    let stem = |name: &str| matches!(name.split('_').next(), Some("W" | "M" | "L"));
    let is_symbol = |name: &str| stem(name) || name == "n" || parameters.contains_key(name);
    let place = |span| -> Location { text.locate(span) };
    let tree = match expr::parse(&text.text, &is_symbol) {
        Ok(tree) => tree,
        Err(error) => {
            let mut finding = Diagnostic::error(Code::EquationSyntax, error.to_string());
            finding.help = error.help();
            cx.out.push(finding.at(place(error.span), ""));
            return None;
        }
    };
    match normalise::evaluate(&tree, &Matrices { matrix, lengths, parameters: &parameters }) {
        Ok(result) => Some(result),
        Err(error) if text.exact => {
            cx.out.push(error.diagnostic(&text.location));
            None
        }
        Err(error) => {
            cx.error(error.code(), error.to_string(), &text.location);
            None
        }
    }
}
