//! Coupling inputs and the functions that feed them.

use super::dynamics::{Input, Model};
use super::network::Parts;
use super::parameters;
use super::read::{Context, Named, identifiers};
use crate::diagnostic::{Code, Location};
use crate::experiment::{Coupling, Equation, Parameter, Scope};
use crate::library::{self, Shelf};
use crate::yaml::{Kind, Node, class, nearest, tvbo};

/// Where a coupling input's function comes from.
#[derive(Clone, Copy)]
enum Choice {
    /// Entry of the couplings by name.
    Own(usize),
    /// The one coupling of the experiment, which feeds every input.
    Shared,
}

/// A coupling of the file with what the library adds.
#[derive(Clone)]
struct Filled {
    node: Node,
    location: Location,
}

/// Couplings and the names under which sweep axes find them.
pub(super) struct Resolved {
    pub(super) couplings: Vec<Coupling>,
    /// Names of coupling functions with the scope of their parameters.
    pub(super) names: Vec<(String, Scope)>,
}

/// Finds a function for every coupling input and adds the functions' parameters.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    top: Option<&Node>,
    model: &mut Model<'_>,
    network: &Parts<'_>,
    delayed: bool,
    into: &mut Vec<Parameter>,
) -> Resolved {
    let top_many = top.filter(|n| is_collection(n));
    let top_one = top.filter(|n| !is_collection(n));
    match (top_many, top_one) {
        (Some(many), _) => {
            for member in many.entries() {
                class::check(&member.value, &tvbo::COUPLING, &mut cx.out, &mut cx.skipped);
            }
        }
        (_, Some(one)) => class::check(one, &tvbo::COUPLING, &mut cx.out, &mut cx.skipped),
        _ => {}
    }
    let mut named = cx.named(network.coupling, "a coupling");
    for member in cx.named(top_many, "a coupling") {
        if !named.iter().any(|m| m.name == member.name) {
            named.push(member);
        }
    }
    // A coupling whose symbol equations read is an input even if the model forgets to list it.
    for member in &named {
        let listed = model
            .inputs
            .iter()
            .any(|i| i.name == member.name || i.source.as_deref() == Some(member.name));
        if !listed && model.mentions(member.name) {
            model.inputs.push(Input {
                name: member.name.to_owned(),
                location: member.location.clone(),
                source: None,
                dimension: 1,
                local: false,
            });
        }
    }
    let choices = choose(cx, &model.inputs, &named);
    let sharing = choices.iter().filter(|c| matches!(c, Some(Choice::Shared))).count();
    let mut result = Resolved { couplings: Vec::new(), names: Vec::new() };
    let mut shared: Option<Filled> = None;
    let mut parameters_done = false;
    for (index, (input, choice)) in model.inputs.iter().zip(choices).enumerate() {
        let Some(choice) = choice.filter(|_| !input.local) else {
            result.couplings.push(unconnected(input));
            continue;
        };
        let filled = match choice {
            Choice::Own(at) => fill(cx, named[at].node, named[at].name, named[at].location),
            Choice::Shared => {
                let filled = match shared.take() {
                    Some(filled) => filled,
                    None => match top_one {
                        Some(node) => fill(cx, node, "Linear", &node.location),
                        None => default(cx, input),
                    },
                };
                shared.insert(filled).clone()
            }
        };
        let scope = match choice {
            Choice::Shared if sharing > 1 => Scope::Couplings,
            _ => Scope::Coupling(index),
        };
        if scope != Scope::Couplings || !std::mem::replace(&mut parameters_done, true) {
            for member in cx.named(filled.node.get("parameters"), "a parameter") {
                let extent = network.extent(model.dynamics.modes);
                into.push(parameters::resolve(cx, member, scope, extent));
            }
        }
        let own_name = filled.node.get("name").and_then(Node::scalar).map(|s| s.text.clone());
        for name in [Some(input.name.clone()), own_name, input.source.clone()].into_iter().flatten()
        {
            if !result.names.contains(&(name.clone(), scope)) {
                result.names.push((name, scope));
            }
        }
        let key = match choice {
            Choice::Own(at) => named[at].name,
            Choice::Shared => "",
        };
        let matrix = network.matrix_of.iter().find(|(name, _)| name == key);
        let matrix = matrix.map_or(network.default_matrix, |(_, matrix)| *matrix);
        result.couplings.push(one(cx, &filled, input, model, network, delayed, matrix));
    }
    result
}

/// Whether a top-level `coupling` holds several couplings by name and not one.
fn is_collection(node: &Node) -> bool {
    let known = |key: &str| {
        class::NOTES.contains(&key) || tvbo::COUPLING.keys.iter().any(|k| k.name == key)
    };
    !node.entries().is_empty()
        && node
            .entries()
            .iter()
            .all(|e| !known(&e.key) && (e.value.is_mapping() || e.value.is_null()))
}

fn unconnected(input: &Input) -> Coupling {
    Coupling {
        name: input.name.clone(),
        delayed: false,
        incoming_states: Vec::new(),
        local_states: Vec::new(),
        pre: None,
        post: None,
        matrix: 0,
        connected: false,
        dimension: input.dimension,
    }
}

fn choose(cx: &mut Context<'_>, inputs: &[Input], named: &[Named<'_>]) -> Vec<Option<Choice>> {
    let mut used = vec![false; named.len()];
    let mut choices: Vec<Option<Choice>> = inputs
        .iter()
        .map(|input| {
            let of = |wanted: &str| named.iter().position(|m| m.name == wanted);
            let at = of(&input.name).or_else(|| input.source.as_deref().and_then(of))?;
            used[at] = true;
            Some(Choice::Own(at))
        })
        .collect();
    let open: Vec<usize> =
        (0..inputs.len()).filter(|&i| choices[i].is_none() && !inputs[i].local).collect();
    let spare: Vec<usize> = (0..named.len()).filter(|&at| !used[at]).collect();
    match (&open[..], &spare[..]) {
        (open, _) if named.is_empty() => {
            open.iter().for_each(|&i| choices[i] = Some(Choice::Shared))
        }
        // One of each: they belong together, whatever they are called.
        (&[input], &[at]) => {
            let message = format!(
                "the coupling `{}` feeds the coupling input `{}`",
                named[at].name, inputs[input].name
            );
            cx.note(Code::UnknownName, message, named[at].location);
            choices[input] = Some(Choice::Own(at));
        }
        // Every coupling has found its input: the others are not fed.
        (open, []) => {
            for &input in open {
                let message = format!(
                    "the coupling input `{}` is 0: no coupling feeds it",
                    inputs[input].name
                );
                cx.note(Code::UnknownName, message, &inputs[input].location);
            }
        }
        (open, spare) => {
            for &input in open {
                let message =
                    format!("no coupling feeds the coupling input `{}`", inputs[input].name);
                let known: Vec<_> = named.iter().map(|m| m.name).collect();
                let help = match nearest(&inputs[input].name, known.iter().copied()) {
                    Some(near) => format!("did you mean it where you wrote `{near}`?"),
                    None => format!("couplings here: {}", known.join(", ")),
                };
                cx.error_help(Code::UnknownName, message, &inputs[input].location, help);
            }
            for &at in spare {
                let message = format!("the coupling `{}` feeds no coupling input", named[at].name);
                let known = inputs.iter().map(|i| i.name.as_str());
                let help = match nearest(named[at].name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if inputs.is_empty() => {
                        "the model has no coupling inputs: list it under `coupling_inputs` and use \
                         its name in an equation"
                            .to_owned()
                    }
                    None => format!(
                        "the model's coupling inputs are {}",
                        known.collect::<Vec<_>>().join(", ")
                    ),
                };
                cx.error_help(Code::UnknownName, message, named[at].location, help);
            }
        }
    }
    choices
}

/// The coupling where nothing is said.
fn default(cx: &mut Context<'_>, input: &Input) -> Filled {
    let node = cx
        .default_coupling(None)
        .unwrap_or(Node { kind: Kind::Mapping(Vec::new()), location: input.location.clone() });
    Filled { node, location: input.location.clone() }
}

/// A coupling of the file with the library's expressions and parameters where it has none.
fn fill(cx: &mut Context<'_>, node: &Node, key: &str, location: &Location) -> Filled {
    let keep = |node: Node| Filled { node, location: location.clone() };
    let expressions = ["pre_expression", "post_expression"];
    let has_expression = expressions.iter().any(|e| node.get(e).is_some());
    let iri = node.get("iri").and_then(Node::scalar);
    if has_expression && iri.is_none() {
        return keep(node.clone());
    }
    if let Some(mut filled) = cx.coupling_entry(node) {
        drop_unused(&mut filled, node);
        return keep(filled);
    }
    if has_expression {
        return keep(node.clone());
    }
    let name = node.get("name").or(Some(node)).and_then(Node::scalar).map(|s| s.text.clone());
    if let Some(wanted) = iri.map(|s| s.text.clone()).or(name) {
        let bare = wanted.rsplit([':', '/']).next().unwrap_or(&wanted);
        let known = library::names(Shelf::Couplings);
        let help = match nearest(bare, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "write pre_expression and post_expression, or name one of: {}",
                known.join(", ")
            ),
        };
        let message = format!("no shipped coupling function is called `{bare}`");
        cx.error_help(Code::UnknownName, message, location, help);
        return keep(node.clone());
    }
    // Neither name nor expressions: the key may name a function, and Linear is the default.
    if library::find_coupling(key).is_some() {
        let mut bare = node.clone();
        if let Kind::Scalar(_) = bare.kind {
            bare.kind = Kind::Mapping(Vec::new());
        }
        let base = super::library::named(cx, key);
        let mut filled = base.map_or(bare.clone(), |base| bare.over(&base));
        drop_unused(&mut filled, node);
        return keep(filled);
    }
    let own = node.get("parameters").map_or(&[][..], Node::entries);
    if let Some(foreign) = own.iter().find(|e| !["a", "b"].contains(&e.key.as_str())) {
        let message =
            format!("the coupling `{key}` has the parameter `{}` and no expressions", foreign.key);
        let help = "write pre_expression and post_expression, or name a shipped coupling function";
        cx.error_help(Code::MissingKey, message, location, help);
        return keep(node.clone());
    }
    let linear = cx.default_coupling(Some(node)).unwrap_or_else(|| node.clone());
    keep(linear)
}

/// Drops parameters that only the library has and no expression reads.
fn drop_unused(filled: &mut Node, own: &Node) {
    let mut words = std::collections::BTreeSet::new();
    for key in ["pre_expression", "post_expression"] {
        let side = filled.get(key).map(|n| n.any(&["rhs", "righthandside"]).unwrap_or(n));
        if let Some(scalar) = side.and_then(Node::scalar) {
            words.extend(identifiers(&scalar.text).map(str::to_owned));
        }
    }
    let Kind::Mapping(entries) = &mut filled.kind else { return };
    let Some(parameters) = entries.iter_mut().find(|e| e.key == "parameters") else { return };
    if let Kind::Mapping(members) = &mut parameters.value.kind {
        members.retain(|m| words.contains(&m.key) || own.at(&["parameters", &m.key]).is_some());
    }
}

fn one(
    cx: &mut Context<'_>,
    filled: &Filled,
    input: &Input,
    model: &Model<'_>,
    network: &Parts<'_>,
    delayed: bool,
    matrix: usize,
) -> Coupling {
    let node = &filled.node;
    let what = format!("the coupling `{}`", input.name);
    let mut expression =
        |key: &str| -> Option<Equation> { node.get(key).and_then(|n| cx.equation(n, &what)) };
    let (mut pre, post) = (expression("pre_expression"), expression("post_expression"));
    let delayed = cx.flag_or(node, "delayed", true) && delayed;
    if let Some(symmetry) = node.get("symmetry")
        && symmetry.scalar().is_none_or(|s| s.text != "directed")
    {
        let message = format!("{what} has a symmetry; only `directed` is known");
        cx.error(Code::NotSupported, message, &symmetry.location);
    }
    let mut states = |key: &str| -> Option<Vec<usize>> {
        let given = node.get(key)?;
        let mut found = Vec::new();
        for (name, location) in cx.names(given, key) {
            match model.state(name) {
                Some(index) => found.push(index),
                None => {
                    let known = model.state_names();
                    let known = known.iter().map(String::as_str);
                    cx.unknown(
                        Code::UnknownName,
                        "no state variable is called",
                        name,
                        location,
                        known,
                    );
                }
            }
        }
        Some(found)
    };
    let (mut incoming, mut local) = (states("incoming_states"), states("local_states"));
    // TVBO's fast path: an undelayed coupling whose pre is `local_states` sums those states over
    // the sources.
    if pre.as_ref().is_some_and(|e| e.text == "local_states") && !delayed {
        let message = format!("{what} reads `local_states` at the source, as TVBO does here");
        let at = pre.as_ref().map_or(&filled.location, |e| &e.location);
        cx.note(Code::Implausible, message, at);
        incoming = local.clone().or(incoming);
        pre = None;
    }
    let flagged = || -> Vec<usize> {
        let states = model.dynamics.state_variables.iter().enumerate();
        states.filter(|(_, s)| s.coupling_variable).map(|(i, _)| i).collect()
    };
    let mut default = || {
        let flagged = flagged();
        if !flagged.is_empty() || model.dynamics.state_variables.is_empty() {
            return flagged;
        }
        if network.nodes() > 1 && incoming.is_none() {
            let message = format!(
                "{what} reads `{}`, the first state variable: none is marked as coupling variable",
                model.dynamics.state_variables[0].name
            );
            cx.note(Code::Implausible, message, &input.location);
        }
        vec![0]
    };
    let all = default();
    let mut incoming = incoming.take().unwrap_or_else(|| all.clone());
    let mut local = local.take().unwrap_or(all);
    // `V_j` and `V_i` name a state even where the lists don't.
    for (end, list) in [("_j", &mut incoming), ("_i", &mut local)] {
        for word in pre.iter().chain(&post).flat_map(|e| identifiers(&e.text)) {
            // `x_j` and `x_i` stand for the lists themselves, also where a state is called `x`.
            let name = word.strip_suffix(end).filter(|name| *name != "x");
            let state = name.and_then(|name| model.state(name));
            if let Some(state) = state.filter(|s| !list.contains(s)) {
                list.push(state);
            }
        }
    }
    Coupling {
        name: input.name.clone(),
        delayed,
        incoming_states: incoming,
        local_states: local,
        pre,
        post,
        matrix,
        connected: true,
        dimension: input.dimension,
    }
}
