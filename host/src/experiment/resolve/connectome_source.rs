//! Connectomes that come from outside the experiment: files, folders, generators.
//!
//! Matrices beside connectomes, such as measured connectivity and lead fields, are read where they
//! are used.

use super::edges::Units;
use super::network::NodeSpec;
use super::read::{Context, number, value};
use crate::connectome::generator::{self, GeneratorSpec, Parameter, WeightDistribution};
use crate::connectome::{Connectome, ConnectomeError, Piece, Place, RawConnectome, read};
use crate::diagnostic::{Code, Diagnostic, Location, Sources};
use crate::files::{EMBEDDED, Files, is_embedded};
use crate::yaml::{self, Node};
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
    /// One file, or a folder of another format than BIDS; of several weights the named ones.
    File { path: PathBuf, primary_weight: Option<String> },
    /// A BEP017 folder and the measures to take as weights and lengths.
    Bids { folder: PathBuf, measures: Vec<String> },
    /// A random or regular graph.
    Generator(GeneratorSpec),
}

impl Kind {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::Bids { folder: path, .. } => Some(path),
            Self::Generator(_) => None,
        }
    }

    fn read(&self, files: &dyn Files) -> Result<RawConnectome, ConnectomeError> {
        match self {
            Self::File { path, primary_weight } => {
                let primary = primary_weight.as_deref();
                match path.extension().and_then(|e| e.to_str()) {
                    Some("h5" | "hdf5") => read::hdf5(path, primary, files),
                    Some("zarr") => read::zarr(path, primary, files),
                    _ => read::any(path, files),
                }
            }
            Self::Bids { folder, measures } => read::bids(folder, measures, files),
            Self::Generator(spec) => generator::generate(spec),
        }
    }
}

/// What the network block names; nothing where it lists edges or only counts nodes.
pub(super) fn find(cx: &mut Context<'_>, node: &Node, count: Option<usize>) -> Option<Source> {
    let mut found: Vec<(&str, Source)> = Vec::new();
    if let Some(file) = node.get("data_file")
        && let Some(text) = cx.text(file, "data_file")
    {
        let primary = node.get("primary_weight");
        let primary = primary.and_then(|n| cx.text(n, "primary_weight")).map(str::to_owned);
        let kind = Kind::File { path: join(cx.base, text), primary_weight: primary };
        found.push(("data_file", Source { kind, location: file.location.clone() }));
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
            let kind = Kind::File { path: join(cx.base, path), primary_weight: None };
            found.push(("edge_matrix_files", Source { kind, location: files.location.clone() }));
        }
    }
    if let Some(folder) = node.get("bids_dir") {
        let measures = node.get("structural_measures");
        let measures = measures.map_or(Vec::new(), |n| cx.names(n, "structural_measures"));
        if let Some(text) = cx.text(folder, "bids_dir") {
            let measures = measures.iter().map(|(m, _)| (*m).to_owned()).collect();
            let kind = Kind::Bids { folder: join(cx.base, text), measures };
            found.push(("bids_dir", Source { kind, location: folder.location.clone() }));
        }
    }
    if let Some(generator) = node.get("graph_generator")
        && let Some(source) = self::generator(cx, generator, count)
    {
        found.push(("graph_generator", source));
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

/// A path that the experiment names: shipped content, or a file from the experiment's folder on.
pub(super) fn join(base: &Path, path: &str) -> PathBuf {
    if is_embedded(Path::new(path)) { path.into() } else { base.join(path) }
}

/// Seed of a generator that names none.
const DEFAULT_SEED: u64 = 42;

fn generator(cx: &mut Context<'_>, node: &Node, count: Option<usize>) -> Option<Source> {
    let Some(kind_node) = node.any(&["type", "name"]) else {
        cx.error(Code::MissingKey, "the graph generator has no `type`", &node.location);
        return None;
    };
    let kind: generator::Kind = match cx.text(kind_node, "`type`")?.parse() {
        Ok(kind) => kind,
        Err(error) => {
            cx.out.push(Diagnostic::from(error).at(kind_node.location.clone(), ""));
            return None;
        }
    };
    let mut spec = GeneratorSpec::new(kind, &[]);
    spec.seed = node.get("seed").and_then(|n| cx.whole(n, "`seed`")).unwrap_or(DEFAULT_SEED);
    spec.directed = cx.flag_or(node, "directed", false);
    for member in cx.named(node.get("parameters"), "a parameter") {
        let Some(given) = value(member.node).or(Some(member.node)) else { continue };
        let parameter = if let Some(number) = number(given) {
            Parameter::Number(number)
        } else if let Some(distribution) = member.node.get("distribution") {
            Parameter::Distribution(weights(cx, distribution)?)
        } else {
            let text = cx.text(given, &format!("`{}`", member.name))?;
            if kind == generator::Kind::WeightShuffle && member.name == "source" {
                let path = join(cx.base, text);
                match read::any(&path, cx.files) {
                    Ok(raw) => spec.source = Some(raw.weights.value),
                    Err(error) => {
                        cx.out.push(Diagnostic::from(error).at(given.location.clone(), ""));
                        return None;
                    }
                }
            }
            Parameter::Text(text.to_owned())
        };
        spec.parameters.insert(member.name.to_owned(), parameter);
    }
    // The network's own count serves where the generator has none; a grid has two.
    let sized =
        ["n", "n_nodes", "number_of_nodes"].iter().any(|n| spec.parameters.contains_key(*n));
    let countable = !matches!(kind, generator::Kind::Grid | generator::Kind::WeightShuffle);
    if let Some(count) = count.filter(|_| !sized && countable) {
        spec.parameters.insert("n".to_owned(), Parameter::Number(count as f64));
    }
    Some(Source { kind: Kind::Generator(spec), location: kind_node.location.clone() })
}

/// The distribution of a reservoir's weights.
fn weights(cx: &mut Context<'_>, node: &Node) -> Option<WeightDistribution> {
    let name_node = node.get("name").unwrap_or(node);
    let name = cx.text(name_node, "the distribution's name")?.to_ascii_lowercase();
    let parameter = |keys: &[&str], default: f64| {
        let found =
            keys.iter().find_map(|k| node.at(&["parameters", k]).or(node.at(&["domain", k])));
        found.and_then(value).and_then(number).unwrap_or(default)
    };
    let (mean, std) = (&["mean", "mu", "loc"], &["std", "sigma", "sd", "scale"]);
    Some(match name.as_str() {
        "normal" | "gaussian" => {
            WeightDistribution::Normal { mean: parameter(mean, 0.0), std: parameter(std, 1.0) }
        }
        "lognormal" => {
            WeightDistribution::LogNormal { mu: parameter(mean, 0.0), sigma: parameter(std, 1.0) }
        }
        "uniform" => WeightDistribution::Uniform {
            lo: parameter(&["lo", "low"], 0.0),
            hi: parameter(&["hi", "high"], 1.0),
        },
        _ => {
            let known = ["Normal", "Uniform", "LogNormal"];
            cx.unknown(Code::BadValue, "unknown distribution", &name, &name_node.location, known);
            return None;
        }
    })
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
            let kind = Kind::File { path, primary_weight: None };
            return Some(Source { kind, location: key.location.clone() });
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
    node: &Node,
    source: &Source,
    specs: &[NodeSpec],
    count: Option<usize>,
) -> Option<Connectome> {
    let at = &source.location;
    if let Some(path) = source.kind.path().filter(|path| !cx.files.exists(path)) {
        let message = format!("no connectome at `{}`", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shipped = format!("{EMBEDDED}connectomes/{name}");
        let help = if cx.files.exists(Path::new(&shipped)) {
            format!("one of this name ships with the program: write `{shipped}` to use it")
        } else {
            "paths start from the folder of the experiment".to_owned()
        };
        cx.error_help(Code::ConnectomeMissing, message, at, help);
        return None;
    }
    let units = Units::read(cx, node);
    let mut raw = match source.kind.read(cx.files) {
        Ok(raw) => raw,
        Err(error) => {
            cx.out.push(Diagnostic::from(error).at(at.clone(), ""));
            return None;
        }
    };
    if let Some(lengths) = &mut raw.lengths {
        lengths.value *= units.length;
    }
    for centre in raw.centres.iter_mut().flat_map(|c| &mut c.value) {
        *centre = centre.map(|x| x * units.length);
    }
    // What the experiment says of its nodes completes what the file doesn't.
    let place = || Place::file("network.nodes");
    let positions: Option<Vec<[f64; 3]>> = specs.iter().map(|s| s.position).collect();
    if raw.centres.is_none() && raw.lengths.is_none() {
        let positions = positions.filter(|p| !p.is_empty());
        raw.centres = positions.map(|centres| {
            let scaled = centres.into_iter().map(|c| c.map(|x| x * units.length)).collect();
            Piece::new(scaled, place())
        });
    }
    if raw.labels.is_none() {
        raw.labels = source.kind.path().and_then(|path| sidecar_labels(path, cx.files));
    }
    let own_labels = raw.labels.is_some();
    let n = raw.weights.value.nrows();
    let listed = if specs.is_empty() { count } else { Some(specs.len()) };
    if let Some(listed) = listed.filter(|&listed| listed != n) {
        let message = format!("the connectome has {n} nodes, the experiment {listed}");
        cx.error(Code::ShapeMismatch, message, at);
        return None;
    }
    let (mut connectome, warnings) = match raw.finish() {
        Ok(finished) => finished,
        Err(error) => {
            cx.out.push(Diagnostic::from(error).at(at.clone(), ""));
            return None;
        }
    };
    for warning in warnings {
        cx.out.push(Diagnostic::from(warning).at(at.clone(), ""));
    }
    for (index, (label, spec)) in connectome.labels.iter_mut().zip(specs).enumerate() {
        let Some(own) = &spec.label else { continue };
        if own_labels && own != label.trim() {
            let message = format!(
                "node {index} is `{own}` in the experiment and `{label}` in the connectome"
            );
            cx.error(Code::ShapeMismatch, message, at);
            return None;
        }
        label.clone_from(own);
    }
    Some(connectome)
}

/// Labels from the YAML file beside a data file, as TVBO writes it.
fn sidecar_labels(path: &Path, files: &dyn Files) -> Option<Piece<Vec<String>>> {
    let sidecar = path.with_extension("yaml");
    if path == sidecar || !files.exists(&sidecar) {
        return None;
    }
    let text = String::from_utf8(files.read(&sidecar).ok()?.into_owned()).ok()?;
    let file = Sources::default().add(sidecar.display().to_string(), "");
    let tree = yaml::parse(&text, file, &mut Default::default())?;
    let nodes = super::network::members(&tree, "nodes");
    let label = |node: &&Node| Some(node.get("label")?.scalar()?.text.trim().to_owned());
    let labels: Option<Vec<String>> = nodes.iter().map(label).collect();
    Some(Piece::new(labels.filter(|l| !l.is_empty())?, Place::file(sidecar)))
}
