//! Weighted sums over nodes: groups of nodes, and sensors by a lead field.

use super::kind::setting;
use super::{Around, Named};
use crate::connectome::read;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::resolve::connectome_source::join;
use crate::experiment::resolve::read::Context;
use crate::experiment::{ObservationKind, Projection, Target};
use crate::yaml::{Kind, Node};
use nalgebra::DMatrix;
use std::sync::Arc;

/// A projection before anything is known of it.
pub(super) fn unset(onto: Target) -> ObservationKind {
    let matrix = DMatrix::zeros(0, 0);
    ObservationKind::Projection(Arc::new(Projection { onto, labels: Vec::new(), matrix }))
}

/// Names under which regions may be given, and lead fields.
const REGIONS: &[&str] = &["region_mapping", "groups", "regions", "spatial_mask"];
const LEAD_FIELDS: &[&str] = &["gain", "lead_field", "leadfield", "projection"];

/// Reads the matrix of a projection.
///
/// # Errors
/// Why it is left out: nothing says what the groups or the lead field are.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    member: Named<'_>,
    onto: Target,
    around: Around<'_>,
) -> Result<ObservationKind, String> {
    let projection = match onto {
        Target::Regions => regions(cx, member, around),
        Target::Sensors => sensors(cx, member, around),
    }?;
    // A finding stands already where there is none.
    let empty = Projection { onto, labels: Vec::new(), matrix: DMatrix::zeros(0, 0) };
    Ok(ObservationKind::Projection(Arc::new(projection.unwrap_or(empty))))
}

/// Means over groups of nodes: a list with one group a node, or the nodes of each group by name.
fn regions(
    cx: &mut Context<'_>,
    member: Named<'_>,
    around: Around<'_>,
) -> Result<Option<Projection>, String> {
    let Some(given) = setting(member.node, REGIONS) else {
        return Err("it needs `groups` or a `region_mapping` among its parameters".to_owned());
    };
    let labels = &around.network.network.connectome.labels;
    let nodes = labels.len();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut join_group = |name: String, node: usize| {
        match groups.iter_mut().find(|(n, _)| *n == name) {
            Some((_, members)) => members.push(node),
            None => groups.push((name, vec![node])),
        };
    };
    if let Kind::Mapping(entries) = &given.kind {
        for entry in entries {
            for (name, at) in cx.names(&entry.value, "a group") {
                let index = name.parse().ok().filter(|&i: &usize| i < nodes);
                match labels.iter().position(|l| l == name).or(index) {
                    Some(node) => join_group(entry.key.clone(), node),
                    None => {
                        let known = labels.iter().map(String::as_str);
                        cx.unknown(Code::UnknownName, "no node is called", name, at, known);
                        return Ok(None);
                    }
                }
            }
        }
    } else {
        let Some(names) = group_of_each(cx, given) else { return Ok(None) };
        if names.len() != nodes {
            let message =
                format!("the region mapping has {} entries for {nodes} nodes", names.len());
            let help = "give one group a node, in the order of the connectome";
            cx.error_help(Code::ShapeMismatch, message, &given.location, help);
            return Ok(None);
        }
        // A negative number is no group.
        let grouped = names.into_iter().enumerate().filter(|(_, n)| !n.starts_with('-'));
        grouped.for_each(|(node, name)| join_group(name, node));
        if groups.iter().all(|(name, _)| name.parse::<i64>().is_ok()) {
            groups.sort_by_key(|(name, _)| name.parse::<i64>().unwrap_or(0));
        }
    }
    if groups.is_empty() {
        cx.error(Code::BadValue, "no node is in a group", &given.location);
        return Ok(None);
    }
    let mut matrix = DMatrix::zeros(groups.len(), nodes);
    for (row, (_, members)) in groups.iter().enumerate() {
        for &node in members {
            matrix[(row, node)] = 1.0 / members.len() as f64;
        }
    }
    let labels = groups.into_iter().map(|(name, _)| name).collect();
    Ok(Some(Projection { onto: Target::Regions, labels, matrix }))
}

/// The group of each node: a list in the file, or a file with one a line.
fn group_of_each(cx: &mut Context<'_>, given: &Node) -> Option<Vec<String>> {
    if given.is_sequence() {
        return Some(cx.names(given, "a group").into_iter().map(|(n, _)| n.to_owned()).collect());
    }
    let path = join(cx.base, cx.text(given, "the region mapping")?);
    if path.extension().is_some_and(|e| e == "npy" || e == "npz") {
        return match read::table(&path, cx.files) {
            Ok(table) => Some(table.values.iter().map(|v| (*v as i64).to_string()).collect()),
            Err(error) => {
                cx.out.push(Diagnostic::from(error).at(given.location.clone(), ""));
                None
            }
        };
    }
    match cx.files.read(&path).map(|bytes| String::from_utf8(bytes.into_owned())) {
        Ok(Ok(text)) => {
            let words = text.split([',', '\n', '\t', ';']).map(str::trim);
            Some(
                words.filter(|w| !w.is_empty() && !w.starts_with('#')).map(str::to_owned).collect(),
            )
        }
        other => {
            let why = match other {
                Err(error) => error.to_string(),
                Ok(_) => "this is not text".to_owned(),
            };
            let message = format!("{}: the region mapping can't be read: {why}", path.display());
            cx.error(Code::Unreadable, message, &given.location);
            None
        }
    }
}

/// Sensors by a lead field `[sensor, node]` from a file.
fn sensors(
    cx: &mut Context<'_>,
    member: Named<'_>,
    around: Around<'_>,
) -> Result<Option<Projection>, String> {
    let source = member.node.at(&["data_source", "path"]);
    let Some(given) = setting(member.node, LEAD_FIELDS).or(source) else {
        return Err(
            "it needs a lead field: `parameters: {gain: {value: leadfield.npy}}`, one row a \
                    sensor and one column a node"
                .to_owned(),
        );
    };
    let Some(text) = cx.text(given, "the lead field") else { return Ok(None) };
    let path = join(cx.base, text);
    let table = match read::table(&path, cx.files) {
        Ok(table) => table,
        Err(error) => {
            cx.out.push(Diagnostic::from(error).at(given.location.clone(), ""));
            return Ok(None);
        }
    };
    let nodes = around.network.nodes();
    let (rows, columns) = table.values.shape();
    if columns != nodes {
        let message =
            format!("{}: a lead field of {rows}×{columns} for {nodes} nodes", table.place);
        let help = if rows == nodes {
            "one row a sensor and one column a node is needed: transpose it"
        } else {
            "one row a sensor and one column a node is needed, in the order of the connectome"
        };
        cx.error_help(Code::ShapeMismatch, message, &given.location, help);
        return Ok(None);
    }
    if let Some(at) = table.values.iter().position(|v| !v.is_finite()) {
        let (row, column) = (at % rows, at / rows);
        let value = table.values[(row, column)];
        let message = format!("{}: row {row}, column {column} is {value}", table.place);
        let help = "a lead field has a finite number for every sensor and node";
        cx.error_help(Code::BadNumber, message, &given.location, help);
        return Ok(None);
    }
    let labels = match setting(member.node, &["sensor_labels", "sensors"]) {
        Some(list) => {
            let labels: Vec<String> =
                cx.names(list, "a sensor").into_iter().map(|(n, _)| n.to_owned()).collect();
            if labels.len() != rows {
                let message = format!("{} labels for {rows} sensors", labels.len());
                cx.error(Code::ShapeMismatch, message, &list.location);
                return Ok(None);
            }
            labels
        }
        None => (0..rows).map(|row| row.to_string()).collect(),
    };
    Ok(Some(Projection { onto: Target::Sensors, labels, matrix: table.values }))
}
