//! Stimuli: equations of time onto some nodes.

use super::dynamics::Model;
use super::events::is_stimulus;
use super::network::Parts;
use super::parameters;
use super::read::{Context, Named};
use crate::diagnostic::{Code, Location};
use crate::experiment::{Integration, Parameter, ParameterValue, Scope, Stimulus, StimulusTarget};
use crate::yaml::Node;

/// Reads the stimuli among the events and the old `stimulation` block.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    tree: &Node,
    model: &Model<'_>,
    network: &Parts<'_>,
    time: &Integration,
    into: &mut Vec<Parameter>,
) -> Vec<Stimulus> {
    let mut stimuli = Vec::new();
    let mut found = Vec::new();
    if let Some(entry) = tree.entry("stimulation").filter(|e| !e.value.is_null()) {
        found.push(Named { name: "stimulation", location: &entry.location, node: &entry.value });
    }
    let inner = tree.get("dynamics").and_then(|d| d.get("events"));
    for events in [tree.get("events"), inner].into_iter().flatten() {
        found
            .extend(cx.named(Some(events), "an event").into_iter().filter(|m| is_stimulus(m.node)));
    }
    for member in found {
        if let Some(stimulus) = one(cx, member, stimuli.len(), model, network, time, into) {
            stimuli.push(stimulus);
        }
    }
    stimuli
}

fn one(
    cx: &mut Context<'_>,
    member: Named<'_>,
    index: usize,
    model: &Model<'_>,
    network: &Parts<'_>,
    time: &Integration,
    into: &mut Vec<Parameter>,
) -> Option<Stimulus> {
    let node = member.node;
    let what = format!("the stimulus `{}`", member.name);
    let Some(equation) = node.any(&["equation", "affect"]) else {
        if node.get("dataLocation").is_none() {
            cx.error(Code::MissingKey, format!("{what} has no equation"), member.location);
        }
        return None;
    };
    // The old block keeps its parameters inside the equation.
    let inner = equation.get("parameters");
    let equation = cx.right_side(equation, &what)?;
    let (extent, scope) = (network.extent(1), Scope::Stimulus(index));
    for block in [node.get("parameters"), inner].into_iter().flatten() {
        for parameter in cx.named(Some(block), "a parameter") {
            into.push(parameters::resolve(cx, parameter, scope, extent));
        }
    }
    if let Some(given) = node.get("duration") {
        let whole = time.transient + time.duration;
        if cx.number(given, "`duration`").is_some_and(|d| d < whole) {
            let message = format!("{what} ends before the simulation");
            let help = "write the end into its equation, as a Piecewise of t";
            cx.error_help(Code::NotSupported, message, &given.location, help);
        }
    }
    let target = match node.get("target_variable") {
        Some(given) => {
            let name = cx.text(given, "target_variable")?;
            match model.state(name) {
                Some(state) => StimulusTarget::Derivative(state),
                None if model.mentions(name) => StimulusTarget::Symbol(name.to_owned()),
                None => {
                    let known = model.state_names();
                    let known = known.iter().map(String::as_str);
                    cx.unknown(
                        Code::UnknownName,
                        "no variable to stimulate is called",
                        name,
                        &given.location,
                        known,
                    );
                    return None;
                }
            }
        }
        None => match model.stimulated {
            Some(state) => StimulusTarget::Derivative(state),
            None if model.mentions(member.name) => StimulusTarget::Symbol(member.name.to_owned()),
            None if model.mentions("stimulus") => StimulusTarget::Symbol("stimulus".to_owned()),
            None => {
                let message = format!("{what} doesn't say what it drives");
                cx.error_help(
                    Code::MissingKey,
                    message,
                    member.location,
                    "write target_variable: a state variable",
                );
                return None;
            }
        },
    };
    let weights = weights(cx, node, &what, network)?;
    into.push(Parameter {
        name: "weight".to_owned(),
        scope,
        value: ParameterValue::PerNode(weights),
        unit: None,
        description: Some(format!("Weight of {what} at each node")),
        location: member.location.clone(),
    });
    Some(Stimulus { name: member.name.to_owned(), equation, target, weight: into.len() - 1 })
}

/// One weight a node.
fn weights(cx: &mut Context<'_>, node: &Node, what: &str, network: &Parts<'_>) -> Option<Vec<f64>> {
    let labels = &network.network.connectome.labels;
    let list = node.any(&["nodes", "regions"]).or_else(|| node.get("target_regions"));
    let mut targets: Vec<usize> = Vec::new();
    match list {
        None => targets.extend(0..labels.len()),
        Some(list) => {
            for (name, location) in cx.names(list, "nodes of a stimulus") {
                match region(name, labels) {
                    Some(found) => targets.extend(found),
                    None => {
                        no_region(cx, what, name, location, labels);
                        return None;
                    }
                }
            }
        }
    }
    let given = match node.any(&["weights", "weighting"]) {
        Some(given) => cx.numbers(given, "weights of a stimulus")?,
        None => vec![1.0],
    };
    if given.len() != 1 && given.len() != targets.len() {
        let at = node.any(&["weights", "weighting"]).map_or(&node.location, |n| &n.location);
        let message = format!("{what} has {} weights for {} nodes", given.len(), targets.len());
        cx.error(Code::ShapeMismatch, message, at);
        return None;
    }
    let mut weights = vec![0.0; labels.len()];
    for (k, target) in targets.into_iter().enumerate() {
        weights[target] = if given.len() == 1 { given[0] } else { given[k] };
    }
    Some(weights)
}

/// The nodes that a label, an index or `all` names.
fn region(name: &str, labels: &[String]) -> Option<Vec<usize>> {
    if name == "all" {
        return Some((0..labels.len()).collect());
    }
    let by_label = labels.iter().position(|l| l == name);
    let by_index = || name.parse::<usize>().ok().filter(|&i| i < labels.len());
    by_label.or_else(by_index).map(|i| vec![i])
}

fn no_region(cx: &mut Context<'_>, what: &str, name: &str, location: &Location, labels: &[String]) {
    let message = format!("{what} names a node that isn't there:");
    cx.unknown(Code::UnknownName, &message, name, location, labels.iter().map(String::as_str));
}
