//! Measured data that the experiment or the caller names.

use super::{Around, Named};
use crate::analysis::{Accumulator, Correlation};
use crate::connectome::{ConnectomeError, Place, RawConnectome, read};
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::experiment::Empirical;
use crate::experiment::resolve::connectome_source::join;
use crate::experiment::resolve::read::Context;
use crate::yaml::Node;
use nalgebra::DMatrix;
use std::path::Path;

/// Measured data, and which observations stand for it.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) data: Empirical,
    /// Observations of the experiment that are data.
    pub(super) names: Vec<String>,
}

/// Correlations may leave −1 to 1 by rounding, and a matrix its mirror image.
const ROUNDING: f64 = 1e-5;

/// Reads measured data: what the caller names wins over what the experiment does.
pub(super) fn resolve(cx: &mut Context<'_>, members: &[Named<'_>], around: Around<'_>) -> Measured {
    let mut measured = Measured::default();
    let overrides = around.overrides;
    for member in members {
        let from_caller = overrides.empirical_fc.is_some() || overrides.empirical_bold.is_some();
        if let Some(path) = member.node.at(&["data_source", "path"]) {
            // The lead field of sensors is data as well.
            if member.node.get("imaging_modality").is_some_and(|m| !is(m, "BOLD")) {
                continue;
            }
            measured.names.push(member.name.to_owned());
            if !from_caller && let Some(text) = cx.text(path, "`path`") {
                let path_of_data = join(cx.base, text);
                file(cx, &mut measured.data, &path_of_data, Some(&path.location), around);
            }
        } else if let Some((measure, at)) = network_observation(cx, member.node) {
            measured.names.push(member.name.to_owned());
            if from_caller {
                continue;
            }
            match of_network(cx, &measure, around) {
                Some(Ok(raw)) => connectivity(cx, &mut measured.data, raw, Some(&at), around),
                Some(Err(error @ ConnectomeError::Missing { .. })) => {
                    cx.skip(format!("observations.{}", member.name), error.to_string());
                }
                Some(Err(error)) => cx.out.push(Diagnostic::from(error).at(at, "")),
                None => cx.skip(
                    format!("observations.{}", member.name),
                    "the network has no file that holds observations; --empirical-fc gives one",
                ),
            }
        }
    }
    if let Some(path) = &overrides.empirical_bold {
        bold(cx, &mut measured.data, path, None, around);
    }
    if let Some(path) = &overrides.empirical_fc {
        match read_connectivity(path, cx) {
            Ok(raw) => connectivity(cx, &mut measured.data, raw, None, around),
            Err(error) => cx.out.push(Diagnostic::from(error)),
        }
    }
    if measured.data.fc.is_none()
        && let Some(bold) = &measured.data.bold
    {
        measured.data.fc = Some(of_series(bold));
    }
    measured
}

fn is(node: &Node, text: &str) -> bool {
    node.scalar().is_some_and(|s| s.text.eq_ignore_ascii_case(text))
}

/// The measure of an observation whose only source is `network.observations.MEASURE`.
fn network_observation(cx: &mut Context<'_>, node: &Node) -> Option<(String, Location)> {
    let sources = cx.names(node.get("source")?, "`source`");
    let [(name, at)] = sources[..] else { return None };
    let measure = name.strip_prefix("network.observations.")?;
    Some((measure.to_owned(), at.clone()))
}

/// The matrix of an observation of the network: a measure in its BIDS folder, or a kind of edge in
/// its data file.
fn of_network(
    cx: &mut Context<'_>,
    measure: &str,
    around: Around<'_>,
) -> Option<Result<RawConnectome, ConnectomeError>> {
    let block = around.block?;
    let path = |key: &str| block.get(key)?.scalar().map(|s| join(cx.base, &s.text));
    let matrix = if let Some(folder) = path("bids_dir") {
        read::bids_measure(&folder, measure, cx.files)
    } else {
        let file = path("data_file")?;
        match file.extension().and_then(|e| e.to_str()) {
            Some("zarr") => read::zarr_edge(&file, measure, cx.files),
            _ => read::hdf5_edge(&file, measure, cx.files),
        }
    };
    Some(matrix.map(RawConnectome::from_weights))
}

/// Reads a file of a connectivity or of a time course, whichever its shape says.
fn file(
    cx: &mut Context<'_>,
    data: &mut Empirical,
    path: &Path,
    at: Option<&Location>,
    around: Around<'_>,
) {
    let hdf5 = path.extension().is_some_and(|e| e == "h5" || e == "hdf5" || e == "zarr");
    let nodes = around.network.nodes();
    let square = read::table(path, cx.files).is_ok_and(|t| t.values.shape() == (nodes, nodes));
    if !hdf5 && !square {
        return bold(cx, data, path, at, around);
    }
    match read_connectivity(path, cx) {
        Ok(raw) => connectivity(cx, data, raw, at, around),
        Err(error) => finding(cx, Diagnostic::from(error), at),
    }
}

fn finding(cx: &mut Context<'_>, diagnostic: Diagnostic, at: Option<&Location>) {
    cx.out.push(match at {
        Some(at) => diagnostic.at(at.clone(), ""),
        None => diagnostic,
    });
}

fn read_connectivity(path: &Path, cx: &Context<'_>) -> Result<RawConnectome, ConnectomeError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("h5" | "hdf5") => {
            read::hdf5_edge(path, "fc", cx.files).map(RawConnectome::from_weights)
        }
        Some("zarr") => read::zarr_edge(path, "fc", cx.files).map(RawConnectome::from_weights),
        _ => read::any(path, cx.files),
    }
}

/// Checks a functional connectivity and takes it.
fn connectivity(
    cx: &mut Context<'_>,
    data: &mut Empirical,
    raw: RawConnectome,
    at: Option<&Location>,
    around: Around<'_>,
) {
    let connectome = &around.network.network.connectome;
    let nodes = connectome.nodes();
    let (matrix, place) = (raw.weights.value, raw.weights.place);
    let refuse = |cx: &mut Context<'_>, code, message: String, help: &str| {
        finding(cx, Diagnostic::error(code, format!("{place}: {message}")).help(help), at);
    };
    let (rows, columns) = matrix.shape();
    if (rows, columns) != (nodes, nodes) {
        let message = format!("a functional connectivity of {rows}×{columns} for {nodes} nodes");
        let help = "it needs the nodes of the connectome, in their order";
        return refuse(cx, Code::ShapeMismatch, message, help);
    }
    if let Some(labels) = &raw.labels
        && let Some(node) = (0..nodes).find(|&n| labels.value[n] != connectome.labels[n])
        && labels.value[node].parse::<f64>().is_err()
    {
        let (own, other) = (&labels.value[node], &connectome.labels[node]);
        let message = format!("node {node} is `{own}` here and `{other}` in the connectome");
        let help = "sort its rows and columns as the connectome's, or leave out the labels";
        return refuse(cx, Code::ShapeMismatch, message, help);
    }
    for a in 0..nodes {
        for b in a + 1..nodes {
            let (value, mirror) = (matrix[(a, b)], matrix[(b, a)]);
            if !value.is_finite() {
                let message = format!("row {a}, column {b} is {value}");
                let help = "leave out nodes without data, from the connectome too";
                return refuse(cx, Code::BadNumber, message, help);
            }
            if value.abs() > 1.0 + ROUNDING {
                let message = format!("row {a}, column {b} is {value}, which is no correlation");
                let help = "give Pearson's r; of Fisher's z take the hyperbolic tangent, of a time \
                            course use --empirical-bold";
                return refuse(cx, Code::BadNumber, message, help);
            }
            if (value - mirror).abs() > ROUNDING || mirror.is_nan() {
                let message = format!(
                    "row {a}, column {b} is {value}, and row {b}, column {a} is {mirror}: a \
                     functional connectivity is symmetric"
                );
                let help = "give the whole matrix, and not one triangle of it";
                return refuse(cx, Code::BadNumber, message, help);
            }
        }
    }
    data.fc = Some(matrix);
}

/// Reads BOLD `[sample, node]`, or `[node, sample]` where only that fits.
fn bold(
    cx: &mut Context<'_>,
    data: &mut Empirical,
    path: &Path,
    at: Option<&Location>,
    around: Around<'_>,
) {
    let read::Table { values, place, .. } = match read::table(path, cx.files) {
        Ok(table) => table,
        Err(error) => return finding(cx, Diagnostic::from(error), at),
    };
    let nodes = around.network.nodes();
    let refuse = |cx: &mut Context<'_>, place: &Place, code, message: String, help: &str| {
        finding(cx, Diagnostic::error(code, format!("{place}: {message}")).help(help), at);
    };
    let (rows, columns) = values.shape();
    let values = if columns == nodes {
        values
    } else if rows == nodes {
        values.transpose()
    } else {
        let message = format!("BOLD of {rows}×{columns} for {nodes} nodes");
        let help = "give one row a sample and one column a node";
        return refuse(cx, &place, Code::ShapeMismatch, message, help);
    };
    if values.nrows() < 3 {
        let message = format!("{} samples are too few to correlate", values.nrows());
        let help = "give one row a sample and one column a node";
        return refuse(cx, &place, Code::BadValue, message, help);
    }
    for (node, column) in values.column_iter().enumerate() {
        if let Some(sample) = column.iter().position(|v| !v.is_finite()) {
            let message = format!("sample {sample} of node {node} is {}", column[sample]);
            let help = "leave out samples and nodes without data";
            return refuse(cx, &place, Code::BadNumber, message, help);
        }
        if column.iter().all(|v| *v == column[0]) {
            let label = &around.network.network.connectome.labels[node];
            let message =
                format!("node {node} (`{label}`) is constant: it correlates with nothing");
            let help = "leave out nodes without data, from the connectome too";
            return refuse(cx, &place, Code::BadNumber, message, help);
        }
    }
    data.bold = Some(values);
}

/// Pearson correlation of all pairs of columns.
fn of_series(series: &DMatrix<f64>) -> DMatrix<f64> {
    let nodes = series.ncols();
    let mut correlation = Correlation::new(1, nodes);
    for row in series.row_iter() {
        correlation.take(&row.iter().copied().collect::<Vec<_>>());
    }
    DMatrix::from_row_slice(nodes, nodes, &correlation.finish())
}
