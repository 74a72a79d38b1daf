//! A folder in the layout of BIDS' connectivity extension (BEP017).
//!
//! A measure `m` is a matrix in `*_meas-m_relmat.dense.tsv`, tab-separated without a header; the
//! nodes are in `*_nodeindices.tsv`, with the columns `matrix_index` and `label`. Row and column
//! of a matrix are both nodes; `Directed` in the matrix' `.json` is not looked at, since a
//! symmetric matrix reads the same both ways.

use super::text::{self, Lines};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use nalgebra::DMatrix;
use std::path::{Path, PathBuf};

/// Names under which a folder may hold weights and lengths, most telling first.
const WEIGHTS: &[&str] = &["streamlinecount", "streamlinedensity", "weights", "weight"];
const LENGTHS: &[&str] =
    &["tractlength", "tractlengths", "tract_length", "tract_lengths", "length", "lengths"];

/// Reads the structural connectome of a folder.
///
/// `structural_measures` names the measures of weights and of lengths; the one with a usual name of
/// lengths is the lengths, else the second is. What is not named is looked for under the usual
/// names, for which `weights` and `lengths` may stand.
///
/// # Errors
/// A folder or measure that isn't there, a measure in more than one file, or a file that isn't a
/// square matrix.
pub fn bids(
    folder: &Path,
    structural_measures: &[String],
    files: &dyn Files,
) -> Result<RawConnectome, ConnectomeError> {
    let held = Folder::list(folder, files)?;
    let is_length = |measure: &&String| LENGTHS.contains(&measure.to_lowercase().as_str());
    let named_lengths = structural_measures.iter().find(is_length);
    let mut others = structural_measures.iter().filter(|m| Some(*m) != named_lengths);
    let weights = match others.next() {
        Some(measure) => held.file_of(measure, WEIGHTS)?,
        None => held.usual(WEIGHTS)?.ok_or_else(|| held.missing("a measure of weights"))?,
    };
    let lengths = match named_lengths.or_else(|| others.next()) {
        Some(measure) => Some(held.file_of(measure, LENGTHS)?),
        None => held.usual(LENGTHS)?,
    };
    let mut raw = RawConnectome::from_weights(read_matrix(&weights, files)?);
    raw.lengths = lengths.map(|path| read_matrix(&path, files)).transpose()?;
    raw.labels = held.node_indices(&weights)?.map(|path| labels(&path, files)).transpose()?;
    Ok(raw)
}

/// Reads one measure of a folder, for example `BoldCorrelation`.
///
/// # Errors
/// As [`bids`].
pub fn bids_measure(
    folder: &Path,
    measure: &str,
    files: &dyn Files,
) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    let held = Folder::list(folder, files)?;
    read_matrix(&held.file_of(measure, &[])?, files)
}

fn read_matrix(path: &Path, files: &dyn Files) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    let place = Place::file(path);
    let reader = files.open(path).map_err(|e| super::unreadable(&place, &e))?;
    Ok(Piece::new(text::square_matrix(reader, &place)?.values, place))
}

/// What a folder holds.
struct Folder {
    place: Place,
    /// Measure and file of each matrix, sorted by file.
    matrices: Vec<(String, PathBuf)>,
    node_indices: Vec<PathBuf>,
}

impl Folder {
    fn list(folder: &Path, files: &dyn Files) -> Result<Self, ConnectomeError> {
        let place = Place::file(folder);
        let paths = files.list(folder).map_err(|e| super::unreadable(&place, &e))?;
        let mut matrices = Vec::new();
        let mut node_indices = Vec::new();
        for path in paths {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            let stem =
                ["_relmat.dense.tsv", "_relmat.tsv"].iter().find_map(|e| name.strip_suffix(e));
            let measure = stem.and_then(|s| s.split('_').find_map(|e| e.strip_prefix("meas-")));
            if let Some(measure) = measure {
                matrices.push((measure.to_string(), path));
            } else if name.ends_with("nodeindices.tsv") {
                node_indices.push(path);
            }
        }
        Ok(Self { place, matrices, node_indices })
    }

    /// The file of the measure of this name; `weights` and `lengths` may stand for usual names.
    fn file_of(&self, measure: &str, usual: &[&str]) -> Result<PathBuf, ConnectomeError> {
        if let Some(path) = self.only(measure)? {
            return Ok(path);
        }
        let generic = usual.contains(&measure.to_lowercase().as_str())
            && matches!(
                measure.to_lowercase().as_str(),
                "weight" | "weights" | "length" | "lengths"
            );
        match if generic { self.usual(usual)? } else { None } {
            Some(path) => Ok(path),
            None => Err(self.missing(&format!("measure `{measure}`"))),
        }
    }

    fn usual(&self, names: &[&str]) -> Result<Option<PathBuf>, ConnectomeError> {
        for name in names {
            if let Some(path) = self.only(name)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The file of a measure, if it is in exactly one.
    fn only(&self, measure: &str) -> Result<Option<PathBuf>, ConnectomeError> {
        let mut found = self.matrices.iter().filter(|(m, _)| m.eq_ignore_ascii_case(measure));
        let first = found.next().map(|(_, path)| path.clone());
        if found.next().is_some() {
            let of_measure = self.matrices.iter().filter(|(m, _)| m.eq_ignore_ascii_case(measure));
            return Err(ConnectomeError::Ambiguous {
                place: self.place.clone(),
                what: format!("file of the measure `{measure}`"),
                found: of_measure.map(|(_, path)| file_name(path)).collect(),
            });
        }
        Ok(first)
    }

    fn missing(&self, what: &str) -> ConnectomeError {
        let measures: Vec<&str> = self.matrices.iter().map(|(m, _)| m.as_str()).collect();
        let help = if measures.is_empty() {
            "the folder holds no file named *_meas-<measure>_relmat.dense.tsv".to_string()
        } else {
            format!("the folder holds the measures {}", measures.join(", "))
        };
        ConnectomeError::Missing { place: self.place.clone(), what: what.to_string(), help }
    }

    /// The node table of a matrix: the only one, or the one that shares the most of its name.
    fn node_indices(&self, matrix: &Path) -> Result<Option<PathBuf>, ConnectomeError> {
        let name = file_name(matrix);
        let entities = |path: &Path| -> usize {
            let table = file_name(path);
            table.split('_').filter(|entity| name.split('_').any(|e| e == *entity)).count()
        };
        let Some(most) = self.node_indices.iter().map(|path| entities(path)).max() else {
            return Ok(None);
        };
        let best: Vec<_> = self.node_indices.iter().filter(|path| entities(path) == most).collect();
        match best[..] {
            [one] => Ok(Some(one.clone())),
            _ => Err(ConnectomeError::Ambiguous {
                place: self.place.clone(),
                what: format!("node table for {name}"),
                found: best.iter().map(|path| file_name(path)).collect(),
            }),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The labels of a node table, in the order of `matrix_index`.
fn labels(path: &Path, files: &dyn Files) -> Result<Piece<Vec<String>>, ConnectomeError> {
    let place = Place::file(path);
    let reader = files.open(path).map_err(|e| super::unreadable(&place, &e))?;
    let mut lines = Lines::new(reader, &place);
    let unsupported = |place: Place, what: String| ConnectomeError::Unsupported {
        place,
        what,
        help: "a node table is tab-separated, with a header and the columns matrix_index and label"
            .into(),
    };
    let Some((_, header)) = lines.next_line()? else {
        return Err(ConnectomeError::Empty { place });
    };
    let column = |names: &[&str]| header.split('\t').position(|c| names.contains(&c.trim()));
    let index_column = column(&["matrix_index", "index"]);
    let Some(label_column) = column(&["label", "name", "region"]) else {
        let what = format!("no column `label` in `{header}`");
        return Err(unsupported(place.clone(), what));
    };
    let mut rows: Vec<(usize, String)> = Vec::new();
    while let Some((line, text)) = lines.next_line()? {
        let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
        let label = cells.get(label_column).copied().unwrap_or_default();
        let index = match index_column {
            None => Some(rows.len()),
            Some(column) => cells.get(column).and_then(|c| c.parse().ok()),
        };
        match index {
            Some(index) if !label.is_empty() => rows.push((index, label.to_string())),
            _ => return Err(unsupported(place.line(line), format!("no node in `{text}`"))),
        }
    }
    rows.sort();
    // Indices from 0 or from 1, each once.
    let first = rows.first().map_or(0, |row| row.0);
    if first > 1 || rows.iter().enumerate().any(|(at, row)| row.0 != at + first) {
        let what = "matrix_index doesn't count the nodes from 0, each once".to_string();
        return Err(unsupported(place, what));
    }
    Ok(Piece::new(rows.into_iter().map(|row| row.1).collect(), place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connectome::read::MemoryFiles;

    const NODES: &str = "matrix_index\tnode_file\tlabel\n1\tx\tR.A\n0\tx\tL.A\n";

    fn folder() -> MemoryFiles {
        MemoryFiles::new(&[
            ("b/atlas-A_meas-streamlineCount_relmat.dense.tsv", b"0\t1\n2\t0\n"),
            ("b/atlas-A_meas-tractLength_relmat.dense.tsv", b"0\t10\n20\t0\n"),
            ("b/atlas-A_meas-BoldCorrelation_relmat.dense.tsv", b"1\t0.5\n0.5\t1\n"),
            ("b/atlas-A_nodeindices.tsv", NODES.as_bytes()),
            ("b/dataset_description.json", b"{}"),
        ])
    }

    #[test]
    fn a_folder_gives_weights_lengths_and_labels() {
        for measures in [
            &[][..],
            &["streamlineCount", "tractLength"],
            &["tractLength", "streamlineCount"],
            &["weights", "lengths"],
            &["weights"],
        ] {
            let measures: Vec<String> = measures.iter().map(|s| s.to_string()).collect();
            let raw = bids(Path::new("b"), &measures, &folder()).unwrap();
            let (connectome, warnings) = raw.finish().unwrap();
            assert_eq!(connectome.weights, DMatrix::from_row_slice(2, 2, &[0., 1., 2., 0.]));
            assert_eq!(connectome.tract_lengths_mm[(1, 0)], 20.0);
            assert_eq!(connectome.labels, ["L.A", "R.A"], "sorted by matrix_index");
            assert_eq!(warnings, []);
        }
        let fc = bids_measure(Path::new("b"), "BoldCorrelation", &folder()).unwrap();
        assert_eq!(fc.value[(0, 1)], 0.5);
    }

    #[test]
    fn missing_measures_list_what_is_there() {
        let error = bids_measure(Path::new("b"), "fc", &folder()).unwrap_err();
        assert_eq!(error.to_string(), "b: measure `fc` not found");
        assert!(error.help().contains("BoldCorrelation, streamlineCount, tractLength"));
        let error = bids(Path::new("c"), &[], &folder()).unwrap_err();
        assert_eq!(error.code(), crate::diagnostic::Code::ConnectomeMissing);
    }

    #[test]
    fn node_tables_are_checked() {
        let with = |table: &'static str| {
            MemoryFiles::new(&[
                ("b/meas-weights_relmat.dense.tsv", b"0\t1\n2\t0\n"),
                ("b/nodeindices.tsv", table.as_bytes()),
            ])
        };
        let read = |table| bids(Path::new("b"), &[], &with(table)).map(|raw| raw.labels.unwrap());
        assert_eq!(read("index\tname\n1\tA\n2\tB\n").unwrap().value, ["A", "B"]);
        assert!(read("matrix_index\tlabel\n0\tA\n0\tB\n").is_err());
        assert!(read("matrix_index\tlabel\n0\tA\n2\tB\n").is_err());
        assert!(read("matrix_index\tcolour\n0\tA\n").unwrap_err().to_string().contains("`label`"));
        let error = read("matrix_index\tlabel\n0\t\n").unwrap_err().to_string();
        assert!(error.starts_with("b/nodeindices.tsv: line 2: no node in"), "{error}");
    }
}
