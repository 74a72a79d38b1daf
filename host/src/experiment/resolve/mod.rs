//! A checked tree to an [`Experiment`]: names become indices, defaults are filled in, missing
//! pieces come from the shipped library. Each part reads on after a finding, so that all are
//! reported at once.

mod connectome_source;
mod coupling;
mod dynamics;
mod edges;
mod events;
mod library;
mod network;
mod observations;
mod parameters;
mod range;
mod read;
mod state;
mod stimuli;
mod sweep;
mod time;
mod transforms;

#[cfg(test)]
mod tests;

pub(super) use range::{lin_space, log_space};
pub(super) use read::Context;

use super::{
    AxisTarget, Experiment, Initial, Integration, Method, Overrides, Parameter, ParameterValue,
    Scope,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::yaml::{Node, class, tvbo};
use dynamics::Model;
use network::Parts;
use read::identifiers;

/// Resolves a whole experiment. Nothing comes back where the model or the shape of the file is so
/// wrong that no part makes sense; any error stands in the context.
pub(super) fn experiment(
    cx: &mut Context<'_>,
    tree: &Node,
    (name, text): (&str, &str),
    overrides: &Overrides,
) -> Option<Experiment> {
    let given = overrides;
    let completed = given.compat.map(|compat| compat.complete(given));
    let overrides = completed.as_ref().unwrap_or(given);
    let wrapped = wrap(cx, tree)?;
    let tree = wrapped.as_ref().unwrap_or(tree);
    class::check(tree, &tvbo::EXPERIMENT, &mut cx.out, &mut cx.skipped);
    let network_node = network_block(cx, tree);
    let model_node = model(cx, tree, network_node.as_ref())?;
    let mut model = dynamics::resolve(cx, &model_node);
    functions(cx, tree, &mut model);
    let mut network = network::resolve(cx, network_node.as_ref());
    let mut parameters = model_parameters(cx, &model, &network);
    let uniform: Vec<(String, f64)> = parameters
        .iter()
        .filter_map(|p| match p.value {
            ParameterValue::Uniform(v) => Some((p.name.clone(), v)),
            _ => None,
        })
        .collect();
    state::domains(cx, &mut model, |name| {
        uniform.iter().find(|(n, _)| n == name).map(|(_, value)| *value)
    });
    initial_values(cx, &mut model, &network);
    let integration_node = tree.get("integration");
    let mut integration = time::integration(cx, integration_node, model.dynamics.discrete);
    override_time(cx, &mut integration, overrides);
    let delayed = integration_node.is_none_or(|n| cx.flag_or(n, "delayed", true));
    let coupling = tree.get("coupling");
    let resolved = coupling::resolve(cx, coupling, &mut model, &network, delayed, &mut parameters);
    for member in &network.parameters {
        let extent = network.extent(model.dynamics.modes);
        parameters.push(parameters::resolve(cx, *member, Scope::Network, extent));
    }
    let seeds = time::noise(cx, integration_node, &mut model, &network, &mut parameters);
    let (seed, precision) = time::execution(cx, tree.get("execution"), &seeds);
    let stimuli = stimuli::resolve(cx, tree, &model, &network, &integration, &mut parameters);
    for event in cx.named(tree.get("events"), "an event") {
        if let Some(event) = events::event(cx, event) {
            model.dynamics.events.push(event);
        }
    }
    let around = observations::Around {
        block: network_node.as_ref(),
        network: &network,
        time: &integration,
        explorations: tree.get("explorations"),
        overrides,
    };
    let (observations, empirical) =
        observations::resolve(cx, tree.get("observations"), &mut model, around);
    let mut names = sweep::Names {
        dynamics: &mut model.dynamics,
        parameters: &mut parameters,
        couplings: &resolved.names,
        stimuli: stimuli.iter().map(|s| s.name.clone()).collect(),
        observations: observations.iter().map(|o| o.name.clone()).collect(),
        location: model.location.clone(),
    };
    let fixed = override_values(cx, &mut names, &mut network, overrides);
    let explorations = tree.get("explorations");
    let sweep = sweep::explorations(cx, explorations, &mut names, &fixed, overrides);
    let noisy = model.dynamics.state_variables.iter().any(|s| s.noise.is_some());
    if sweep.trials > 1 && !noisy {
        let message = "there is no noise: all trials of a point are alike";
        cx.out.push(Diagnostic::warning(Code::Implausible, message));
    }
    let any_delay = resolved.couplings.iter().any(|c| c.connected && c.delayed);
    if !cx.out.failed() {
        network::plausible(cx, &network, integration.dt_ms(), any_delay);
    }
    let text_of = |key: &str| tree.get(key).and_then(Node::scalar).map(|s| s.text.clone());
    let mut experiment = Experiment {
        label: text_of("label").unwrap_or_else(|| model.dynamics.name.clone()),
        description: text_of("description"),
        source: (name.to_owned(), text.to_owned()),
        changes: given.clone(),
        dynamics: model.dynamics,
        parameters,
        couplings: resolved.couplings,
        stimuli,
        network: network.network,
        integration,
        observations,
        empirical,
        sweep,
        seed: overrides.seed.unwrap_or(seed),
        precision: overrides.precision.unwrap_or(precision),
        normals: overrides.normals.unwrap_or_default(),
        compat: overrides.compat,
        skipped: std::mem::take(&mut cx.skipped),
    };
    if let Some(compat) = given.compat {
        compat.apply(&mut experiment);
        let message = format!("by the rules of {}: {}", compat.name(), compat.about());
        cx.out.push(Diagnostic::note(Code::NotSupported, message));
    }
    Some(experiment)
}

/// A file that holds a model alone is an experiment of that model.
fn wrap(cx: &mut Context<'_>, tree: &Node) -> Option<Option<Node>> {
    if !tree.is_mapping() {
        let message = format!("an experiment is a mapping, not {}", tree.describe());
        cx.error(Code::WrongType, message, &tree.location);
        return None;
    }
    if network::is_network(tree) {
        let first = &tree.entries()[0];
        let message = "this is a network, not an experiment";
        let help = "put it under `network:` of an experiment with `dynamics:`";
        cx.error_help(Code::WrongType, message, &first.location, help);
        return None;
    }
    if tree.get("state_variables").is_none() || tree.get("dynamics").is_some() {
        return Some(None);
    }
    let first = &tree.entries()[0];
    cx.note(
        Code::MissingKey,
        "a model alone: one node is simulated, with defaults",
        &first.location,
    );
    let entry = crate::yaml::Entry {
        key: "dynamics".to_owned(),
        location: first.location.clone(),
        value: tree.clone(),
    };
    let kind = crate::yaml::Kind::Mapping(vec![entry]);
    Some(Some(Node { kind, location: tree.location.clone() }))
}

/// `network`, or `connectivity` by its older name.
fn network_block(cx: &mut Context<'_>, tree: &Node) -> Option<Node> {
    let (network, older) = (tree.entry("network"), tree.entry("connectivity"));
    if let (Some(network), Some(older)) = (network, older)
        && !network.value.is_null()
        && !older.value.is_null()
    {
        let message = "`network` and `connectivity` are the same thing";
        cx.out.push(
            Diagnostic::error(Code::DuplicateKey, message)
                .at(older.location.clone(), "this")
                .at(network.location.clone(), "and this")
                .help("keep one of the two"),
        );
    }
    let block = tree.any(&["network", "connectivity"])?;
    Some(network::with_templates(block))
}

/// The model that all nodes share, with what the library adds.
fn model(cx: &mut Context<'_>, tree: &Node, network: Option<&Node>) -> Option<Node> {
    let own = tree.get("dynamics").or_else(|| tree.get("model"));
    let named = network.and_then(|n| network::named_model(cx, n));
    let own_name = own.and_then(|n| n.get("name").unwrap_or(n).scalar()).map(|s| s.text.as_str());
    let chosen = match named {
        Some((name, _, _)) if own_name == Some(name) => own.cloned(),
        Some((_, _, Some(entry))) => Some(entry.clone()),
        Some((name, location, None)) => {
            if let Some(own_name) = own_name {
                let message =
                    format!("nodes are of the model `{name}`, the experiment of `{own_name}`");
                let help = "all nodes share one model: use one name";
                cx.error_help(Code::NotSupported, message, location, help);
                own.cloned()
            } else {
                let node = network?.at(&["nodes"])?;
                let first = node.items().iter().chain(node.entries().iter().map(|e| &e.value));
                first.into_iter().find_map(|n| n.get("dynamics")).cloned()
            }
        }
        None => own.cloned(),
    };
    if let Some(network) = network {
        network::unused_models(cx, network, named.map(|(name, _, _)| name));
    }
    let Some(chosen) = chosen else {
        let first = tree.entries().first().map_or(&tree.location, |e| &e.location);
        let help = "write `dynamics: {iri: tvbo:JansenRit}`, for example, or a model of your own";
        cx.error_help(Code::MissingKey, "the experiment has no `dynamics`", first, help);
        return None;
    };
    cx.model(&chosen)
}

/// Functions of the experiment that the model's equations call join the model's; the rest serve
/// Python and are left out.
fn functions(cx: &mut Context<'_>, tree: &Node, model: &mut Model<'_>) {
    let members = cx.named(tree.get("functions"), "a function");
    let mut open = members.clone();
    loop {
        let called =
            |name: &str| model.texts().any(|text| identifiers(text).any(|word| word == name));
        let Some(at) = open.iter().position(|m| called(m.name)) else { break };
        let member = open.remove(at);
        if model.dynamics.functions.iter().any(|f| f.name == member.name) {
            continue;
        }
        class::check(member.node, &tvbo::FUNCTION, &mut cx.out, &mut cx.skipped);
        if let Some(function) = dynamics::function(cx, member) {
            model.dynamics.functions.push(function);
        }
    }
    for member in open {
        let python = ["source_code", "callable"].iter().any(|k| member.node.get(k).is_some());
        let why = if python { "Python is not run" } else { "no equation of the model calls it" };
        cx.skip(format!("functions.{}", member.name), why);
    }
}

/// The model's parameters with what single nodes set.
fn model_parameters(
    cx: &mut Context<'_>,
    model: &Model<'_>,
    network: &Parts<'_>,
) -> Vec<Parameter> {
    let (nodes, extent) = (network.nodes(), network.extent(model.dynamics.modes));
    let mut parameters: Vec<Parameter> = model
        .parameters
        .iter()
        .map(|member| parameters::resolve(cx, *member, Scope::Dynamics, extent))
        .collect();
    for parameter in &mut parameters {
        if !network.node_parameters.iter().any(|(_, m)| m.name == parameter.name) {
            continue;
        }
        let shared = match &parameter.value {
            ParameterValue::Uniform(value) => vec![*value; nodes],
            ParameterValue::PerNode(values) => values.clone(),
            ParameterValue::Array { .. } => {
                let message = format!("`{}` is an array: nodes can't set it", parameter.name);
                cx.error(Code::NotSupported, message, &parameter.location);
                continue;
            }
        };
        let values = network::per_node(cx, shared, &parameter.name, &network.node_parameters);
        parameter.value = ParameterValue::PerNode(values);
    }
    for (_, member) in &network.node_parameters {
        if !parameters.iter().any(|p| p.name == member.name) {
            let known = parameters.iter().map(|p| p.name.as_str());
            let what = "the model has no parameter";
            cx.unknown(Code::UnknownName, what, member.name, member.location, known);
        }
    }
    parameters
}

/// Lays what single nodes start from over the model's initial values.
fn initial_values(cx: &mut Context<'_>, model: &mut Model<'_>, network: &Parts<'_>) {
    let nodes = network.nodes();
    for state in &mut model.dynamics.state_variables {
        if let Initial::PerNode(values) = &mut state.initial {
            if values.len() == 1 {
                state.initial = Initial::Uniform(values[0]);
            } else if values.len() != nodes && network.sized {
                let message = format!(
                    "`{}` has {} initial values for {nodes} node(s)",
                    state.name,
                    values.len()
                );
                cx.error(Code::ShapeMismatch, message, &state.location);
                state.initial = Initial::Uniform(0.0);
            }
        }
        if !network.node_states.iter().any(|(_, m)| m.name == state.name) {
            continue;
        }
        let shared = match &state.initial {
            Initial::Uniform(value) => vec![*value; nodes],
            Initial::PerNode(values) => values.clone(),
            Initial::Equation(_) | Initial::Distribution { .. } => {
                let covered =
                    network.node_states.iter().filter(|(_, m)| m.name == state.name).count();
                if covered < nodes {
                    let message = format!(
                        "`{}` starts from a distribution or an equation, and some nodes set it",
                        state.name
                    );
                    cx.error(Code::NotSupported, message, &state.location);
                }
                vec![0.0; nodes]
            }
        };
        let values = network::per_node(cx, shared, &state.name, &network.node_states);
        state.initial = Initial::PerNode(values);
    }
    let known = model.state_names();
    for (_, member) in &network.node_states {
        if model.state(member.name).is_none() {
            let known = known.iter().map(String::as_str);
            let what = "no state variable is called";
            cx.unknown(Code::UnknownName, what, member.name, member.location, known);
        }
    }
}

fn override_time(cx: &mut Context<'_>, time: &mut Integration, overrides: &Overrides) {
    if let Some(method) = overrides.method.filter(|_| time.method != Method::Map) {
        time.method = method;
    }
    let mut set = |slot: &mut f64, value: Option<f64>, what: &str, least: f64| {
        let Some(value) = value else { return };
        if value.is_finite() && value >= least {
            *slot = value;
        } else {
            let message = format!("the {what} can't be {value}");
            cx.out.push(Diagnostic::error(Code::BadNumber, message));
        }
    };
    set(&mut time.dt, overrides.dt, "step size", f64::MIN_POSITIVE);
    set(&mut time.duration, overrides.duration, "duration", 0.0);
    set(&mut time.transient, overrides.transient, "transient time", 0.0);
    if let Some(steps) = overrides.steps {
        time.duration = steps as f64 * time.dt;
    }
    if time.steps() == 0 {
        let message =
            format!("nothing to record: a duration of {} and a step of {}", time.duration, time.dt);
        cx.out.push(Diagnostic::error(Code::BadNumber, message));
    }
    for (what, span) in [("duration", time.duration), ("transient time", time.transient)] {
        let steps = span / time.dt;
        if (steps - steps.round()).abs() > 1e-6 * steps.max(1.0) {
            let message =
                format!("the {what} is {steps} steps: it is rounded to {}", steps.round());
            cx.out.push(Diagnostic::warning(Code::Implausible, message));
        }
    }
}

/// Sets what the caller fixes; returns it, so that no axis of the file sweeps it.
fn override_values(
    cx: &mut Context<'_>,
    names: &mut sweep::Names<'_>,
    network: &mut Parts<'_>,
    overrides: &Overrides,
) -> Vec<AxisTarget> {
    let mut fixed = Vec::new();
    let mut speeds: Vec<f64> = overrides.conduction_speed.into_iter().collect();
    let mut set = overrides.set.clone();
    if let Some(value) = overrides.global_coupling {
        set.push((sweep::GLOBAL_COUPLING.to_owned(), value));
    }
    for (name, value) in set {
        if !value.is_finite() {
            let message = format!("`{name}` can't be {value}");
            cx.out.push(Diagnostic::error(Code::BadNumber, message));
            continue;
        }
        let target = sweep::target(cx, names, &name, None);
        fixed.extend(target);
        match target {
            Some(AxisTarget::Parameter(index)) => {
                names.parameters[index].value = ParameterValue::Uniform(value);
            }
            Some(AxisTarget::ConductionSpeed) => speeds.push(value),
            None => {}
        }
    }
    fixed.extend(overrides.conduction_speed.map(|_| AxisTarget::ConductionSpeed));
    for speed in speeds {
        if speed.is_nan() || speed <= 0.0 {
            let message = format!("the conduction speed must be positive, not {speed}");
            cx.out.push(Diagnostic::error(Code::BadNumber, message));
        } else {
            network.network.conduction_speed_mm_per_ms = speed;
        }
    }
    fixed
}
