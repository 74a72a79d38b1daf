//! The network block: nodes, edges and where a connectome comes from.

use super::connectome_source;
use super::edges;
use super::parameters::Extent;
use super::read::{Context, Named, number, value};
use super::transforms;
use crate::connectome::Connectome;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::experiment::Network;
use crate::yaml::{Node, tvbo};
use std::collections::HashMap;

/// mm/ms where a file gives none.
/// Nodes, at most: matrices are dense.
const MOST_NODES: usize = 1 << 15;

const DEFAULT_SPEED: f64 = 3.0;

/// The network and what other parts need of its block.
pub(super) struct Parts<'n> {
    pub(super) network: Network,
    /// Whether the number of nodes is known; false where the network could not be read.
    pub(super) sized: bool,
    /// Index in `Network::matrices` of each coupling that edges name.
    pub(super) matrix_of: Vec<(String, usize)>,
    /// Index of the matrix of couplings that no edge names.
    pub(super) default_matrix: usize,
    /// The couplings block.
    pub(super) coupling: Option<&'n Node>,
    /// Parameters of the network beside the conduction speed.
    pub(super) parameters: Vec<Named<'n>>,
    /// Parameters that single nodes set, with the node's index.
    pub(super) node_parameters: Vec<(usize, Named<'n>)>,
    /// Initial values that single nodes set.
    pub(super) node_states: Vec<(usize, Named<'n>)>,
    /// Where the network stands.
    pub(super) location: Option<Location>,
}

impl Parts<'_> {
    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.network.connectome.nodes()
    }

    /// What lists of values can run over, with a model of `modes` modes.
    pub(super) fn extent(&self, modes: usize) -> Extent {
        Extent { nodes: self.sized.then(|| self.nodes()), modes }
    }
}

/// A node of the file.
pub(super) struct NodeSpec {
    /// Its number in the file.
    pub(super) id: u64,
    pub(super) label: Option<String>,
    pub(super) position: Option<[f64; 3]>,
}

/// The network block with its templates laid under its nodes and edges.
pub(super) fn with_templates(node: &Node) -> Node {
    let mut result = node.clone();
    for (list, template) in [("nodes", "node_template"), ("edges", "edge_template")] {
        let Some(template) = node.get(template) else { continue };
        let crate::yaml::Kind::Mapping(entries) = &mut result.kind else { continue };
        let Some(entry) = entries.iter_mut().find(|e| e.key == list) else { continue };
        match &mut entry.value.kind {
            crate::yaml::Kind::Sequence(items) => {
                items.iter_mut().for_each(|item| *item = item.over(template));
            }
            crate::yaml::Kind::Mapping(members) => {
                members.iter_mut().for_each(|m| m.value = m.value.over(template));
            }
            crate::yaml::Kind::Scalar(_) => {}
        }
    }
    result
}

/// The members of `nodes` or `edges`, which may be a list or a mapping.
pub(super) fn members<'n>(node: &'n Node, key: &str) -> Vec<&'n Node> {
    let Some(list) = node.get(key) else { return Vec::new() };
    list.items().iter().chain(list.entries().iter().map(|e| &e.value)).collect()
}

/// The model that nodes name, if they do: its name, where, and its entry of `network.dynamics`.
pub(super) fn named_model<'n>(
    cx: &mut Context<'_>,
    network: &'n Node,
) -> Option<(&'n str, &'n Location, Option<&'n Node>)> {
    let mut first: Option<(&str, &Location)> = None;
    for node in members(network, "nodes") {
        let Some(dynamics) = node.get("dynamics") else { continue };
        let Some(scalar) = dynamics.scalar() else {
            let message = "a model inside a node is not supported";
            let help = "put it under `network.dynamics` and name it in the nodes";
            cx.error_help(Code::NotSupported, message, &dynamics.location, help);
            continue;
        };
        match first {
            None => first = Some((&scalar.text, &dynamics.location)),
            Some((name, place)) if name != scalar.text => {
                let message = format!("nodes of different models: `{name}` and `{}`", scalar.text);
                cx.out.push(
                    Diagnostic::error(Code::NotSupported, message)
                        .at(dynamics.location.clone(), "another model here")
                        .at(place.clone(), "the first model")
                        .help("all nodes share one model; their parameters may differ"),
                );
                return first.map(|(n, at)| (n, at, None));
            }
            Some(_) => {}
        }
    }
    let (name, at) = first?;
    Some((name, at, network.at(&["dynamics", name])))
}

/// Reads the network; without a block it is one node.
pub(super) fn resolve<'n>(cx: &mut Context<'_>, node: Option<&'n Node>) -> Parts<'n> {
    let Some(node) = node else {
        let connectome = Connectome::unconnected(1);
        let matrices = vec![connectome.weights.clone()];
        return Parts {
            network: Network { connectome, matrices, conduction_speed_mm_per_ms: DEFAULT_SPEED },
            sized: true,
            matrix_of: Vec::new(),
            default_matrix: 0,
            coupling: None,
            parameters: Vec::new(),
            node_parameters: Vec::new(),
            node_states: Vec::new(),
            location: None,
        };
    };
    let (speed, parameters) = parameters(cx, node);
    let specs = nodes(cx, node);
    let given = node.any(&["number_of_nodes", "number_of_regions"]);
    let count = given.and_then(|n| cx.whole(n, "number_of_nodes").map(|n| n as usize));
    if let (Some(n), Some(given)) = (count, given)
        && n > MOST_NODES
    {
        let message = format!("number_of_nodes is {n}: at most {MOST_NODES} are possible");
        cx.error(Code::TooLarge, message, &given.location);
    }
    let count = count.filter(|&n| n <= MOST_NODES);
    if let (Some(0), Some(given)) = (count, given) {
        cx.error(Code::BadValue, "a network needs at least one node", &given.location);
    }
    if let (Some(count), Some(given)) = (count, given)
        && !specs.is_empty()
        && specs.len() != count
    {
        let message = format!("number_of_nodes is {count} but {} nodes are listed", specs.len());
        let at = node.get("nodes").map_or(&node.location, |n| &n.location);
        cx.out.push(
            Diagnostic::error(Code::ShapeMismatch, message)
                .at(given.location.clone(), "this many")
                .at(at.clone(), "listed here"),
        );
    }
    let source = connectome_source::find(cx, node, count);
    let listed = members(node, "edges");
    let drawn: Vec<&Node> = listed
        .iter()
        .copied()
        .filter(|e| e.get("source").is_some() || e.get("target").is_some())
        .collect();
    let built = match source {
        Some(source) => {
            if let Some(edge) = drawn.first() {
                let message = "edges beside a connectome that comes from elsewhere";
                cx.error_help(Code::BadValue, message, &edge.location, "keep one of the two");
            }
            let read = connectome_source::read(cx, node, &source, &specs, count);
            read.map(edges::Built::whole)
        }
        None => {
            for edge in
                listed.iter().filter(|e| e.get("source").is_none() && e.get("target").is_none())
            {
                let message = "an edge without `source` and `target` needs a `data_file`";
                cx.error(Code::MissingKey, message, &edge.location);
            }
            edges::build(cx, node, &specs, count, &drawn)
        }
    };
    // On failure go on with a network of the right size, to find what else is wrong.
    let fallback =
        || edges::Built::whole(Connectome::unconnected(count.unwrap_or(specs.len()).max(1)));
    let readable = built.is_some();
    let sized = readable || count.is_some() || !specs.is_empty();
    let built = built.unwrap_or_else(fallback);
    let built = if readable { transforms::apply(cx, node, built) } else { built };
    let (mut node_parameters, mut node_states) = (Vec::new(), Vec::new());
    for (index, member) in members(node, "nodes").into_iter().enumerate() {
        for parameter in cx.named(member.get("parameters"), "a parameter") {
            node_parameters.push((index, parameter));
        }
        for state in cx.named(member.get("state"), "an initial value") {
            node_states.push((index, state));
        }
    }
    Parts {
        network: Network {
            connectome: built.connectome,
            matrices: built.matrices,
            conduction_speed_mm_per_ms: speed,
        },
        sized,
        matrix_of: built.matrix_of,
        default_matrix: built.default_matrix,
        coupling: node.get("coupling"),
        parameters,
        node_parameters,
        node_states,
        location: Some(node.location.clone()),
    }
}

/// Conduction speed in mm/ms, and the other parameters.
fn parameters<'n>(cx: &mut Context<'_>, node: &'n Node) -> (f64, Vec<Named<'n>>) {
    let mut speed = DEFAULT_SPEED;
    let mut others = Vec::new();
    for member in cx.named(node.get("parameters"), "a parameter") {
        if member.name != "conduction_speed" {
            others.push(member);
            continue;
        }
        let Some(given) = value(member.node) else { continue };
        let Some(value) = cx.number(given, "the conduction speed") else { continue };
        if value.is_nan() || value <= 0.0 {
            let message = format!("the conduction speed must be positive, not {value}");
            cx.error_help(Code::BadNumber, message, &given.location, "typical is 3 to 10 mm/ms");
            continue;
        }
        speed = value;
        let unit = member.node.get("unit").and_then(Node::scalar).map(|s| s.text.as_str());
        if let Some(unit) = unit.filter(|u| !is_metres_per_second(u)) {
            let message = format!("conduction speed in `{unit}`: only mm/ms (= m/s) is known");
            cx.error(Code::NotSupported, message, member.location);
        }
    }
    (speed, others)
}

fn is_metres_per_second(unit: &str) -> bool {
    matches!(unit, "mm_per_ms" | "mm/ms" | "m_per_s" | "m/s" | "meter_per_second" | "dimensionless")
}

fn nodes(cx: &mut Context<'_>, node: &Node) -> Vec<NodeSpec> {
    let mut specs = Vec::new();
    let mut seen: HashMap<u64, Location> = HashMap::new();
    for (index, member) in members(node, "nodes").into_iter().enumerate() {
        let id = match member.get("id") {
            Some(id) => cx.whole(id, "a node's `id`").unwrap_or(index as u64),
            None => index as u64,
        };
        let at = member.get("id").map_or(&member.location, |n| &n.location);
        if let Some(first) = seen.insert(id, at.clone()) {
            let finding =
                Diagnostic::error(Code::DuplicateKey, format!("two nodes have the id {id}"))
                    .at(at.clone(), "here again")
                    .at(first, "first here");
            cx.out.push(finding);
        }
        let label = member.any(&["label", "name"]).and_then(|n| cx.text(n, "a node's `label`"));
        let position = member.get("position").and_then(|n| position(cx, n));
        specs.push(NodeSpec { id, label: label.map(|l| l.trim().to_owned()), position });
    }
    specs
}

fn position(cx: &mut Context<'_>, node: &Node) -> Option<[f64; 3]> {
    let mut place = [0.0; 3];
    for (axis, slot) in ["x", "y", "z"].iter().zip(0..) {
        let part = if node.is_sequence() { node.items().get(slot) } else { node.get(axis) };
        place[slot] = cx.finite(part.unwrap_or(node), "a coordinate")?;
    }
    Some(place)
}

/// Lays what single nodes set over a value that all share.
pub(super) fn per_node(
    cx: &mut Context<'_>,
    shared: Vec<f64>,
    name: &str,
    set: &[(usize, Named<'_>)],
) -> Vec<f64> {
    let mut values = shared;
    for (index, member) in set.iter().filter(|(_, m)| m.name == name) {
        let Some(given) = value(member.node) else { continue };
        if let (Some(value), Some(slot)) =
            (cx.finite(given, &format!("`{name}` of a node")), values.get_mut(*index))
        {
            *slot = value;
        }
    }
    values
}

/// Reports what makes no sense for a brain once everything is known.
pub(super) fn plausible(cx: &mut Context<'_>, parts: &Parts<'_>, dt_ms: f64, delayed: bool) {
    let Some(location) = &parts.location else { return };
    let network = &parts.network;
    let connectome = &network.connectome;
    let connected = || connectome.weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
    if connected().next().is_none() {
        if connectome.nodes() > 1 {
            let message = format!("{} nodes without a single connection", connectome.nodes());
            cx.warning(Code::Implausible, message, location);
        }
        return;
    }
    if !delayed {
        return;
    }
    let speed = network.conduction_speed_mm_per_ms;
    let delay = |at: usize| {
        let own = connectome.delays_ms.as_ref().map(|d| d[at]).filter(|d| !d.is_nan());
        own.unwrap_or(connectome.tract_lengths_mm[at] / speed)
    };
    let longest = connected().map(|(at, _)| delay(at)).fold(0.0, f64::max);
    if longest > 0.0 && longest < dt_ms / 2.0 {
        let message = format!(
            "every conduction delay rounds to 0 steps: the longest is {longest} ms, a step {dt_ms} ms"
        );
        let finding = Diagnostic::warning(Code::Implausible, message)
            .at(location.clone(), "")
            .help("are lengths in mm and the speed in mm/ms? `delayed: false` says it on purpose");
        cx.out.push(finding);
    } else if longest > 500.0 {
        let message = format!("the longest conduction delay is {longest} ms");
        let finding = Diagnostic::warning(Code::Implausible, message)
            .at(location.clone(), "no axon is that slow")
            .help("are lengths in mm and the speed in mm/ms?");
        cx.out.push(finding);
    } else if longest > 0.0 && longest < 0.5 {
        let message = format!("the longest conduction delay is {longest} ms");
        let finding = Diagnostic::warning(Code::Implausible, message)
            .at(location.clone(), "a brain's longest is ten to a hundred times that")
            .help("are lengths in mm and the speed in mm/ms?");
        cx.out.push(finding);
    }
}

/// Names the models of `network.dynamics` that no node uses.
pub(super) fn unused_models(cx: &mut Context<'_>, network: &Node, used: Option<&str>) {
    for model in cx.named(network.get("dynamics"), "a model") {
        if Some(model.name) != used {
            cx.skip(format!("network.dynamics.{}", model.name), "no node is of this model");
        }
    }
}

/// Whether a tree is a network's and not an experiment's.
pub(super) fn is_network(tree: &Node) -> bool {
    let known = |key: &str| tvbo::EXPERIMENT.keys.iter().any(|k| k.name == key);
    tree.get("dynamics").is_none()
        && ["nodes", "edges", "data_file", "number_of_nodes"]
            .iter()
            .any(|key| tree.get(key).is_some() && !known(key))
}

/// A number under a key, either bare or as `{value: …}`.
pub(super) fn quantity<'n>(node: &'n Node, keys: &[&str]) -> Option<(&'n Node, f64)> {
    keys.iter().find_map(|key| {
        let found = node.get(key).or_else(|| node.at(&["parameters", key]))?;
        let inner = value(found)?;
        Some((inner, number(inner).unwrap_or(f64::NAN)))
    })
}
