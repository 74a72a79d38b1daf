//! Edges of the file to matrices.

use super::network::{NodeSpec, quantity};
use super::read::Context;
use crate::connectome::Connectome;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::yaml::Node;
use nalgebra::DMatrix;
use std::collections::{HashMap, HashSet};

/// A connectome with one matrix for each coupling that edges name.
pub(super) struct Built {
    pub(super) connectome: Connectome,
    pub(super) matrices: Vec<DMatrix<f64>>,
    pub(super) matrix_of: Vec<(String, usize)>,
    pub(super) default_matrix: usize,
}

impl Built {
    /// A connectome whose edges feed every coupling.
    pub(super) fn whole(connectome: Connectome) -> Self {
        let matrices = vec![connectome.weights.clone()];
        Self { connectome, matrices, matrix_of: Vec::new(), default_matrix: 0 }
    }
}

/// An edge of the file in one direction.
struct Directed<'n> {
    source: usize,
    target: usize,
    weight: f64,
    length_mm: f64,
    delay_ms: f64,
    coupling: Option<&'n str>,
    location: &'n Location,
}

/// Builds the matrices; without nodes and a count, the ids that edges name are the nodes.
pub(super) fn build(
    cx: &mut Context<'_>,
    network: &Node,
    specs: &[NodeSpec],
    count: Option<usize>,
    edges: &[&Node],
) -> Option<Built> {
    let endpoint = |edge: &Node, key: &str| {
        edge.get(key).and_then(|n| n.scalar()).and_then(|s| s.text.parse::<u64>().ok())
    };
    let highest = || {
        let ends = edges.iter().flat_map(|e| [endpoint(e, "source"), endpoint(e, "target")]);
        ends.flatten().max().map_or(1, |id| id as usize + 1)
    };
    let n = if specs.is_empty() { count.unwrap_or_else(highest) } else { specs.len() };
    if n > MOST_NODES {
        let message = format!("{n} nodes: more than {MOST_NODES}");
        cx.error(Code::TooLarge, message, &network.location);
        return None;
    }
    let index: HashMap<u64, usize> = match specs {
        [] => (0..n as u64).zip(0..).collect(),
        _ => specs.iter().map(|s| s.id).zip(0..).collect(),
    };
    let units = Units::read(cx, network);
    let mut directed = Vec::new();
    for edge in edges {
        one(cx, edge, &index, specs, &units, &mut directed);
    }
    assemble(cx, n, specs, &directed)
}

/// Dense matrices of more nodes than this do not fit any machine that this is for.
const MOST_NODES: usize = 50_000;

/// Factors to mm and ms.
pub(super) struct Units {
    pub(super) length: f64,
    pub(super) time: f64,
}

impl Units {
    pub(super) fn read(cx: &mut Context<'_>, network: &Node) -> Self {
        let mut factor = |key: &str, known: &[(&str, f64)]| {
            let Some(node) = network.get(key) else { return 1.0 };
            let text = cx.text(node, key).unwrap_or("");
            match known.iter().find(|(name, _)| *name == text) {
                Some((_, 1.0)) => 1.0,
                Some((_, factor)) => {
                    let message = format!("`{key}` is {text}: values are multiplied with {factor}");
                    cx.note(Code::Implausible, message, &node.location);
                    *factor
                }
                None => {
                    let known = known.iter().map(|(name, _)| *name);
                    cx.unknown(
                        Code::BadValue,
                        &format!("unknown {key}"),
                        text,
                        &node.location,
                        known,
                    );
                    1.0
                }
            }
        };
        Self { length: factor("distance_unit", LENGTHS), time: factor("time_unit", TIMES) }
    }
}

/// Millimetres in a unit of length.
const LENGTHS: &[(&str, f64)] = &[("mm", 1.0), ("cm", 10.0), ("m", 1000.0), ("um", 1e-3)];
/// Milliseconds in a unit of time.
const TIMES: &[(&str, f64)] = &[("ms", 1.0), ("s", 1000.0), ("us", 1e-3)];

/// The factor of the unit that stands beside one of `keys` in an edge; `default` without one.
fn own_unit(
    cx: &mut Context<'_>,
    edge: &Node,
    keys: &[&str],
    known: &[(&str, f64)],
    default: f64,
) -> f64 {
    let beside = |key: &&str| edge.get(key).or_else(|| edge.at(&["parameters", key]));
    let Some(unit) = keys.iter().find_map(beside).and_then(|given| given.get("unit")) else {
        return default;
    };
    let text = unit.scalar().map_or("", |s| s.text.as_str());
    if let Some((_, factor)) = known.iter().find(|(name, _)| *name == text) {
        return *factor;
    }
    let names = known.iter().map(|(name, _)| *name);
    cx.unknown(
        Code::BadValue,
        &format!("unknown unit of an edge's {}", keys[0]),
        text,
        &unit.location,
        names,
    );
    default
}

fn one<'n>(
    cx: &mut Context<'_>,
    edge: &'n Node,
    index: &HashMap<u64, usize>,
    specs: &[NodeSpec],
    units: &Units,
    into: &mut Vec<Directed<'n>>,
) {
    let mut end = |key: &str| {
        let Some(given) = edge.get(key) else {
            cx.error(Code::MissingKey, format!("an edge without `{key}`"), &edge.location);
            return None;
        };
        let id = cx.whole(given, &format!("`{key}` of an edge"))?;
        let found = index.get(&id).copied();
        if found.is_none() {
            let message = format!("an edge names node {id}, which is not there");
            cx.error(Code::UnknownName, message, &given.location);
        }
        found
    };
    let (source, target) = (end("source"), end("target"));
    for member in cx.named(edge.get("parameters"), "a parameter") {
        if !["weight", "length", "distance", "tract_length", "delay"].contains(&member.name) {
            let message = format!("an edge's parameter `{}` is not supported", member.name);
            let help = "edges have weight, length and delay";
            cx.error_help(Code::NotSupported, message, member.location, help);
        }
    }
    let mut checked = |keys: &[&str], least: f64, what: &str| -> Option<f64> {
        let (node, number) = quantity(edge, keys)?;
        if number.is_finite() && number >= least {
            return Some(number);
        }
        let rule = if least == 0.0 { "finite and not negative" } else { "finite" };
        let given = node.scalar().map_or("", |s| s.text.as_str());
        let message = format!("the {what} of an edge must be {rule}, not {given}");
        cx.error(Code::BadNumber, message, &node.location);
        None
    };
    let weight = checked(&["weight"], f64::NEG_INFINITY, "weight").unwrap_or(1.0);
    const LENGTH: &[&str] = &["length", "distance", "tract_length"];
    let length = checked(LENGTH, 0.0, "length");
    let delay = checked(&["delay"], 0.0, "delay");
    let length = length.map(|l| l * own_unit(cx, edge, LENGTH, LENGTHS, units.length));
    let delay = delay.map(|d| d * own_unit(cx, edge, &["delay"], TIMES, units.time));
    let coupling = edge.get("coupling").and_then(|node| match node.scalar() {
        Some(scalar) => Some(scalar.text.as_str()),
        None => {
            let message = "a coupling inside an edge is not supported";
            let help = "put it under `network.coupling` and name it in the edge";
            cx.error_help(Code::NotSupported, message, &node.location, help);
            None
        }
    });
    let both_ways = !cx.flag_or(edge, "directed", false);
    let (Some(source), Some(target)) = (source, target) else { return };
    let place = |i: usize| specs.get(i).and_then(|s| s.position);
    let distance = || match (place(source), place(target)) {
        (Some(a), Some(b)) => (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt(),
        _ => 0.0,
    };
    let forth = Directed {
        source,
        target,
        weight,
        length_mm: length.unwrap_or_else(|| distance() * units.length),
        delay_ms: delay.unwrap_or(f64::NAN),
        coupling,
        location: &edge.location,
    };
    if both_ways && source != target {
        into.push(Directed { source: target, target: source, ..forth });
    }
    into.push(forth);
}

fn assemble(
    cx: &mut Context<'_>,
    n: usize,
    specs: &[NodeSpec],
    edges: &[Directed<'_>],
) -> Option<Built> {
    let mut connectome = Connectome::unconnected(n);
    for (label, spec) in connectome.labels.iter_mut().zip(specs) {
        *label = spec.label.clone().unwrap_or_else(|| spec.id.to_string());
    }
    // Couplings that edges name, in the order of the file; one name for all is no distinction.
    let mut names: Vec<Option<&str>> = Vec::new();
    for edge in edges {
        if !names.contains(&edge.coupling) {
            names.push(edge.coupling);
        }
    }
    let mut parts = vec![DMatrix::zeros(n, n); names.len()];
    let mut delays = DMatrix::from_element(n, n, f64::NAN);
    let mut seen: HashMap<(usize, usize), &Directed<'_>> = HashMap::new();
    let mut by_coupling: HashMap<(usize, usize, Option<&str>), &Directed<'_>> = HashMap::new();
    let mut good = true;
    let mut reported = HashSet::new();
    for edge in edges {
        let at = (edge.target, edge.source);
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        let mut clash = |first: &Directed<'_>, code, message: String| {
            good = false;
            // An edge that counts both ways clashes twice.
            let pair = (edge.location.span.start, first.location.span.start);
            if !reported.insert(pair) {
                return;
            }
            cx.out.push(
                Diagnostic::error(code, message)
                    .at(edge.location.clone(), "another edge here")
                    .at(first.location.clone(), "the first edge")
                    .help("edges count both ways unless they say `directed: true`"),
            );
        };
        if let Some(first) = by_coupling.insert((at.0, at.1, edge.coupling), edge)
            && first.weight != edge.weight
        {
            let message = format!(
                "two weights from node {} to node {}: {} and {}",
                edge.source, edge.target, first.weight, edge.weight
            );
            clash(first, Code::BadValue, message);
        }
        if let Some(first) = seen.insert(at, edge)
            && (!same(first.length_mm, edge.length_mm) || !same(first.delay_ms, edge.delay_ms))
        {
            let message = format!(
                "edges from node {} to node {} differ in length or delay",
                edge.source, edge.target
            );
            clash(first, Code::NotSupported, message);
        }
        let part = names.iter().position(|name| *name == edge.coupling).unwrap_or(0);
        parts[part][at] = edge.weight;
        connectome.tract_lengths_mm[at] = edge.length_mm;
        delays[at] = edge.delay_ms;
    }
    if !good {
        return None;
    }
    for part in &parts {
        connectome.weights += part;
    }
    if delays.iter().any(|d| !d.is_nan()) {
        connectome.delays_ms = Some(delays);
    }
    let mut matrices = vec![connectome.weights.clone()];
    let mut matrix_of = Vec::new();
    let mut default_matrix = 0;
    match names[..] {
        [Some(only)] => matrix_of.push((only.to_owned(), 0)),
        [] | [None] => {}
        _ => {
            for (name, part) in names.iter().zip(parts) {
                match name {
                    Some(name) => matrix_of.push(((*name).to_owned(), matrices.len())),
                    None => default_matrix = matrices.len(),
                }
                matrices.push(part);
            }
        }
    }
    Some(Built { connectome, matrices, matrix_of, default_matrix })
}
