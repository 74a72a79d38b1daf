//! TVBO's layout of network data, which HDF5 files and Zarr folders share.
//!
//! | path | content |
//! |---|---|
//! | `edges/<name>/data` | an N×N matrix, or the values of a sparse one |
//! | `edges/<name>/indices`, `indptr` | of a sparse matrix by rows (attribute `format` = `csr`) |
//! | `edges/<name>/row`, `col` | of a list of entries (`format` = `coo`) |
//! | `edges/<name>/_dim_row_labels` | node labels |
//! | `nodes/coordinates` | N×3, mm |
//! | `nodes/labels` | node labels |
//!
//! The usual names of edges are `weight` and `length`. Where there are no `edges`, The Virtual
//! Brain's own names at the root are looked for: `weights`, `tract_lengths`, `region_labels`,
//! `centres`.

use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use nalgebra::DMatrix;

/// An array of numbers in row-major order, with its shape.
pub(super) type Numbers = (Vec<usize>, Vec<f64>);

/// A file of named arrays.
pub(super) trait ArrayStore {
    /// An array of numbers, or nothing where there is none of this path.
    fn numbers(&self, path: &str) -> Result<Option<Numbers>, ConnectomeError>;
    /// An array of text, or nothing where there is none of this path.
    fn text(&self, path: &str) -> Result<Option<Vec<String>>, ConnectomeError>;
    /// A text attribute of a group or of an array.
    fn attribute(&self, path: &str, name: &str) -> Option<String>;
    /// The names of the groups in a group, sorted; none where there is no such group.
    fn groups(&self, path: &str) -> Vec<String>;
    /// The file.
    fn place(&self) -> &Place;
}

/// Names of edges that are weights, most telling first.
const WEIGHTS: &[&str] = &["weight", "weights", "sc"];
/// Names of edges that are lengths, most telling first.
const LENGTHS: &[&str] =
    &["length", "lengths", "tract_length", "tract_lengths", "tractLength", "tractLengths"];
const DELAYS: &[&str] = &["delay", "delays"];

/// More nodes than a dense matrix of this program may have: 8 GiB.
const MOST_NODES: usize = 1 << 15;
/// More entries than such a matrix can have.
const MOST_ENTRIES: f64 = (MOST_NODES * MOST_NODES + 1) as f64;

/// Reads the connectome of a store. `primary_weight` names the edges that are the weights.
pub(super) fn connectome(
    store: &dyn ArrayStore,
    primary_weight: Option<&str>,
) -> Result<RawConnectome, ConnectomeError> {
    let edges = store.groups("edges");
    let pick = |names: &[&str]| -> Option<String> {
        names.iter().find(|name| edges.iter().any(|e| e == *name)).map(|name| name.to_string())
    };
    let weights_name = match primary_weight {
        Some(name) => name.to_string(),
        None => match pick(WEIGHTS) {
            Some(name) => name,
            None => return at_root(store, &edges),
        },
    };
    let mut raw = RawConnectome::from_weights(edge(store, &weights_name)?);
    raw.lengths = pick(LENGTHS).map(|name| edge(store, &name)).transpose()?;
    raw.delays = pick(DELAYS).map(|name| edge(store, &name)).transpose()?;
    let labels_of_rows = format!("edges/{weights_name}/_dim_row_labels");
    raw.labels = labels(store, &["nodes/labels", "nodes/label", &labels_of_rows])?;
    raw.centres = centres(store, &["nodes/coordinates"])?;
    Ok(raw)
}

/// Reads the matrix of one kind of edge, for example `fc`.
pub(super) fn edge(
    store: &dyn ArrayStore,
    name: &str,
) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    let group = format!("edges/{name}");
    let data = format!("{group}/data");
    let place = store.place().member(&data);
    let Some((shape, values)) = store.numbers(&data)? else {
        return Err(missing(store, &data, &store.groups("edges")));
    };
    let format = store.attribute(&group, "format").or_else(|| store.attribute(&data, "format"));
    let indices = |name: &str| -> Result<Vec<usize>, ConnectomeError> {
        let path = format!("{group}/{name}");
        let found = store.numbers(&path)?.ok_or_else(|| missing(store, &path, &[]))?;
        let index = |x: f64| (0.0..MOST_ENTRIES).contains(&x).then_some(x as usize);
        let all = found.1.into_iter().map(index).collect::<Option<Vec<usize>>>();
        all.ok_or_else(|| unfit(&store.place().member(&path)))
    };
    let matrix = match format.as_deref().unwrap_or("dense") {
        "dense" => return matrix(shape, values, place),
        "csr" => {
            let row_starts = indices("indptr")?;
            let rows: Vec<usize> = row_starts
                .windows(2)
                .enumerate()
                .flat_map(|(row, ends)| std::iter::repeat_n(row, ends[1].saturating_sub(ends[0])))
                .take(values.len() + 1)
                .collect();
            let nodes = row_starts.len().saturating_sub(1);
            sparse(&rows, &indices("indices")?, &values, nodes)
        }
        "coo" => {
            let (rows, columns) = (indices("row")?, indices("col")?);
            let nodes = rows.iter().chain(&columns).max().map_or(0, |last| last + 1);
            // The last nodes may have no edge at all.
            let nodes = nodes.max(node_count(store)?.unwrap_or(0));
            sparse(&rows, &columns, &values, nodes)
        }
        other => {
            return Err(ConnectomeError::Unsupported {
                place,
                what: format!("format `{other}` of a matrix"),
                help: "save the matrix as dense, csr or coo".into(),
            });
        }
    };
    let matrix = matrix.ok_or_else(|| unfit(&place))?;
    Ok(Piece::new(matrix, place))
}

fn unfit(place: &Place) -> ConnectomeError {
    ConnectomeError::Unreadable {
        place: place.clone(),
        reason: "the indices of this sparse matrix don't fit its values".into(),
    }
}

/// A matrix from its entries; entries of one place are added. Nothing if they don't fit.
fn sparse(rows: &[usize], columns: &[usize], values: &[f64], n: usize) -> Option<DMatrix<f64>> {
    if rows.len() != values.len() || columns.len() != values.len() || n > MOST_NODES {
        return None;
    }
    let mut matrix = DMatrix::zeros(n, n);
    for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
        *matrix.get_mut((row, column))? += value;
    }
    Some(matrix)
}

fn node_count(store: &dyn ArrayStore) -> Result<Option<usize>, ConnectomeError> {
    Ok(store.numbers("nodes/coordinates")?.and_then(|(shape, _)| shape.first().copied()))
}

/// The Virtual Brain's own names.
fn at_root(store: &dyn ArrayStore, edges: &[String]) -> Result<RawConnectome, ConnectomeError> {
    let read = |path: &str| match store.numbers(path)? {
        Some((shape, values)) => matrix(shape, values, store.place().member(path)).map(Some),
        None => Ok(None),
    };
    let Some(weights) = read("weights")? else {
        return Err(missing(store, "edges/weight/data", edges));
    };
    let mut raw = RawConnectome::from_weights(weights);
    raw.lengths = read("tract_lengths")?;
    raw.labels = labels(store, &["region_labels", "labels"])?;
    raw.centres = centres(store, &["centres"])?;
    Ok(raw)
}

fn labels(
    store: &dyn ArrayStore,
    paths: &[&str],
) -> Result<Option<Piece<Vec<String>>>, ConnectomeError> {
    for path in paths {
        if let Some(text) = store.text(path)? {
            let trimmed = text.iter().map(|label| label.trim().to_string()).collect();
            return Ok(Some(Piece::new(trimmed, store.place().member(path))));
        }
    }
    Ok(None)
}

fn centres(
    store: &dyn ArrayStore,
    paths: &[&str],
) -> Result<Option<Piece<Vec<[f64; 3]>>>, ConnectomeError> {
    for path in paths {
        if let Some((shape, values)) = store.numbers(path)? {
            let place = store.place().member(path);
            let table = matrix(shape, values, place)?;
            let rows = super::centres(&table.value, &table.place)?;
            return Ok(Some(Piece::new(rows, table.place)));
        }
    }
    Ok(None)
}

fn matrix(
    shape: Vec<usize>,
    values: Vec<f64>,
    place: Place,
) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    match shape[..] {
        [rows, columns] if rows.checked_mul(columns) == Some(values.len()) => {
            Ok(Piece::new(DMatrix::from_row_slice(rows, columns, &values), place))
        }
        _ => Err(ConnectomeError::Unsupported {
            place,
            what: format!("an array of shape {shape:?} is not a matrix"),
            help: "give an N×N matrix, row = target node, column = source node".into(),
        }),
    }
}

fn missing(store: &dyn ArrayStore, path: &str, edges: &[String]) -> ConnectomeError {
    let help = if edges.is_empty() {
        "the file holds no such data; TVBO's layout is edges/weight/data and edges/length/data"
            .to_string()
    } else {
        format!("the file holds the edges {}", edges.join(", "))
    };
    ConnectomeError::Missing { place: store.place().clone(), what: format!("`{path}`"), help }
}
