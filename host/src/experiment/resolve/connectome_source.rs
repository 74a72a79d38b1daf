//! Connectomes that come from outside the experiment: files, folders, generators.
//!
//! The call sites of the connectome readers are here and nowhere else.

use super::edges::{self, Built};
use super::network::NodeSpec;
use super::read::Context;
use crate::connectome::Connectome;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::files::EMBEDDED;
use crate::yaml::Node;
use std::path::{Path, PathBuf};

/// Where a connectome comes from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    kind: Kind,
    location: Location,
}

/// The kinds of source.
#[derive(Clone, Debug)]
enum Kind {
    /// HDF5, TVB zip, npy, csv: one file.
    File(PathBuf),
    /// A BEP017 folder and the measures to take as weights and lengths.
    Bids { folder: PathBuf, measures: Vec<String> },
    /// A random or regular graph.
    Generator {
        kind: String,
        seed: Option<u64>,
        directed: bool,
        nodes: Option<usize>,
        parameters: Vec<(String, f64)>,
    },
}

/// What the network block names; nothing where it lists edges or only counts nodes.
pub(super) fn find(cx: &mut Context<'_>, node: &Node, count: Option<usize>) -> Option<Source> {
    let mut found: Vec<(&str, Source)> = Vec::new();
    if let Some(file) = node.get("data_file") {
        if let Some(text) = cx.text(file, "data_file") {
            let kind = Kind::File(cx.base.join(text));
            found.push(("data_file", Source { kind, location: file.location.clone() }));
        }
    }
    if let Some(files) = node.get("edge_matrix_files") {
        let list = if files.is_sequence() { files.items() } else { std::slice::from_ref(files) };
        if let Some(more) = list.get(1) {
            let message = "only one edge matrix file is read";
            let help = "one file of weights; for lengths too, use a zip, HDF5 or BIDS connectome";
            cx.error_help(Code::NotSupported, message, &more.location, help);
        }
        let first = list.first().map(|n| n.get("path").unwrap_or(n));
        if let Some(path) = first.and_then(|n| cx.text(n, "edge_matrix_files")) {
            let kind = Kind::File(cx.base.join(path));
            found.push(("edge_matrix_files", Source { kind, location: files.location.clone() }));
        }
    }
    if let Some(folder) = node.get("bids_dir") {
        let measures = node.get("structural_measures");
        let measures = measures.map_or(Vec::new(), |n| cx.names(n, "structural_measures"));
        if let Some(text) = cx.text(folder, "bids_dir") {
            let measures = measures.iter().map(|(m, _)| (*m).to_owned()).collect();
            let kind = Kind::Bids { folder: cx.base.join(text), measures };
            found.push(("bids_dir", Source { kind, location: folder.location.clone() }));
        }
    }
    if let Some(generator) = node.get("graph_generator") {
        if let Some(source) = self::generator(cx, generator, count) {
            found.push(("graph_generator", source));
        }
    }
    if let [first, second, ..] = &found[..] {
        let message = format!("both `{}` and `{}` give a connectome", first.0, second.0);
        cx.out.push(
            Diagnostic::error(Code::BadValue, message)
                .at(second.1.location.clone(), "this")
                .at(first.1.location.clone(), "and this")
                .help("keep one of the two"),
        );
    }
    if found.is_empty() && node.get("edges").is_none() {
        return data_set(cx, node);
    }
    found.into_iter().next().map(|(_, source)| source)
}

fn generator(cx: &mut Context<'_>, node: &Node, count: Option<usize>) -> Option<Source> {
    let Some(kind) = node.any(&["type", "name"]) else {
        cx.error(Code::MissingKey, "the graph generator has no `type`", &node.location);
        return None;
    };
    let kind = cx.text(kind, "`type`")?.to_owned();
    let seed = node.get("seed").and_then(|n| cx.whole(n, "`seed`"));
    let directed = cx.flag_or(node, "directed", false);
    let mut parameters = Vec::new();
    for member in cx.named(node.get("parameters"), "a parameter") {
        if let Some(value) = edges::parameter(cx, member.node, &format!("`{}`", member.name)) {
            parameters.push((member.name.to_owned(), value));
        }
    }
    let kind = Kind::Generator { kind, seed, directed, nodes: count, parameters };
    Some(Source { kind, location: node.location.clone() })
}

/// A data set named by atlas and tractogram, or by IRI: looked for beside the experiment and among
/// shipped connectomes. Not finding it is an error; a network is never made up.
fn data_set(cx: &mut Context<'_>, node: &Node) -> Option<Source> {
    let text = |path: &[&str]| node.at(path).and_then(Node::scalar).map(|s| s.text.clone());
    let last = |iri: String| iri.rsplit([':', '/']).next().unwrap_or("").to_owned();
    let iri = text(&["iri"]).map(last);
    let atlas = text(&["parcellation", "atlas", "name"])
        .or_else(|| text(&["parcellation", "atlas", "iri"]).map(last))
        .or_else(|| text(&["parcellation", "atlas"]))
        .or_else(|| text(&["parcellation", "label"]))
        .or_else(|| text(&["parcellation"]));
    let tractogram = text(&["tractogram", "name"])
        .or_else(|| text(&["tractogram", "iri"]).map(last))
        .or_else(|| text(&["tractogram", "label"]))
        .or_else(|| text(&["tractogram"]));
    let key = ["tractogram", "parcellation", "iri"].into_iter().find_map(|key| node.entry(key))?;
    if iri.is_none() && tractogram.is_none() && node.any(&["number_of_nodes", "nodes"]).is_some() {
        // An atlas alone documents what the nodes are.
        return None;
    }
    let mut wanted = Vec::new();
    wanted.extend(iri);
    if let Some(tractogram) = &tractogram {
        wanted.push(format!("rec-{tractogram}"));
    }
    if let Some(atlas) = &atlas {
        wanted.push(format!("atlas-{atlas}"));
    }
    let folders = [cx.base.to_path_buf(), PathBuf::from(format!("{EMBEDDED}connectomes"))];
    for folder in &folders {
        let files = cx.files.list(folder).unwrap_or_default();
        let matches = files.into_iter().find(|path| {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
            let data = [".h5", ".hdf5", ".zip"].iter().any(|end| name.ends_with(end));
            data && wanted.iter().all(|part| name.contains(part.as_str()))
        });
        if let Some(path) = matches {
            return Some(Source { kind: Kind::File(path), location: key.location.clone() });
        }
    }
    let places: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
    let message = format!("no connectome data for {}", wanted.join(", "));
    cx.error_help(
        Code::ConnectomeMissing,
        message,
        &key.location,
        format!(
            "looked for `*{}*.h5` in {}; give `data_file`, `bids_dir`, `edge_matrix_files`, \
             `graph_generator` or `edges`",
            wanted.join("*"),
            places
                .iter()
                .map(|p| if p.is_empty() { "." } else { p })
                .collect::<Vec<_>>()
                .join(" and ")
        ),
    );
    None
}

/// Reads a source and holds it against the nodes of the file.
pub(super) fn read(
    cx: &mut Context<'_>,
    source: &Source,
    specs: &[NodeSpec],
    count: Option<usize>,
) -> Option<Connectome> {
    if let Kind::File(path) | Kind::Bids { folder: path, .. } = &source.kind {
        if !cx.files.exists(path) {
            let message = format!("no connectome at `{}`", shown(path));
            cx.error_help(
                Code::ConnectomeMissing,
                message,
                &source.location,
                "paths start from the folder of the experiment",
            );
            return None;
        }
    }
    let (mut connectome, warnings) = match load(source, cx) {
        Ok(read) => read,
        Err(finding) => {
            cx.out.push(finding.at(source.location.clone(), ""));
            return None;
        }
    };
    for warning in warnings {
        cx.out.push(warning.at(source.location.clone(), ""));
    }
    let n = connectome.nodes();
    let listed = if specs.is_empty() { count } else { Some(specs.len()) };
    if let Some(listed) = listed.filter(|&listed| listed != n) {
        let message = format!("the connectome has {n} nodes, the experiment {listed}");
        cx.error(Code::ShapeMismatch, message, &source.location);
        return None;
    }
    for (index, (label, spec)) in connectome.labels.iter_mut().zip(specs).enumerate() {
        let Some(own) = &spec.label else { continue };
        let nameless = *label == index.to_string();
        if !nameless && own != label.trim() {
            let message = format!(
                "node {index} is `{own}` in the experiment and `{label}` in the connectome"
            );
            cx.error(Code::ShapeMismatch, message, &source.location);
            return None;
        }
        label.clone_from(own);
    }
    Some(connectome)
}

/// A path without `./` and `a/..`.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Reads the source.
fn load(source: &Source, _cx: &Context<'_>) -> Result<(Connectome, Vec<Diagnostic>), Diagnostic> {
    let what = match &source.kind {
        Kind::File(path) => format!("the connectome file `{}`", path.display()),
        Kind::Bids { folder, measures } => {
            format!("the BIDS folder `{}` ({})", folder.display(), measures.join(", "))
        }
        Kind::Generator { kind, seed, directed, nodes, parameters } => {
            format!("the generator {kind} ({seed:?}, {directed}, {nodes:?}, {parameters:?})")
        }
    };
    Err(Diagnostic::error(Code::NotSupported, format!("{what} can't be read yet")))
}

/// Applies the transforms of the network block.
pub(super) fn transform(cx: &mut Context<'_>, node: &Node, built: Built) -> Built {
    if let Some(transforms) = node.get("transforms").filter(|n| !n.items().is_empty()) {
        let message = "transforms can't be applied yet";
        cx.error(Code::NotSupported, message, &transforms.location);
    }
    built
}
