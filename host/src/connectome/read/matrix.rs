//! One matrix, or a few named ones, from `.csv`, `.tsv`, `.txt`, `.npy` and `.npz`.

use super::{npy, text};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use nalgebra::DMatrix;
use std::io::{Cursor, Read};
use std::path::Path;

/// The names under which an `.npz` may hold a piece, most telling first.
const WEIGHTS: &[&str] = &["weights", "weight", "W", "sc", "SC", "connectivity"];
const LENGTHS: &[&str] = &["tract_lengths", "lengths", "length", "L", "distances"];
const LABELS: &[&str] = &["region_labels", "labels", "regions", "names"];
const CENTRES: &[&str] = &["centres", "centers", "coordinates", "positions"];
const DELAYS: &[&str] = &["delays", "delay"];

/// Reads one square matrix.
///
/// # Errors
/// A file that isn't there, a format that isn't one of the above, or a file that doesn't hold one
/// square matrix; each with the line where there are lines.
pub fn matrix(path: &Path, files: &dyn Files) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    raw(path, files).map(|raw| raw.weights)
}

/// A matrix of any shape, with the names of its columns where the file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The values.
    pub values: DMatrix<f64>,
    /// One name a column.
    pub columns: Option<Vec<String>>,
    /// Where it stood.
    pub place: Place,
}

/// Reads a matrix of any shape: measured time courses, lead fields, one value a node. A list of
/// numbers in an `.npy` or `.npz` is one column.
///
/// # Errors
/// As [`matrix`], but for the shape.
pub fn table(path: &Path, files: &dyn Files) -> Result<Table, ConnectomeError> {
    let place = Place::file(path);
    let extension = super::extension(path);
    let unreadable = |e| super::unreadable(&place, &e);
    let column = |numbers: npy::NpyNumbers, place: &Place| match numbers.shape[..] {
        [count] => Ok(DMatrix::from_column_slice(count, 1, &numbers.values)),
        _ => numbers.into_matrix(place),
    };
    match extension.as_str() {
        "npy" => {
            let numbers = npy::numbers(&files.read(path).map_err(unreadable)?, &place)?;
            Ok(Table { values: column(numbers, &place)?, columns: None, place })
        }
        "npz" => {
            let bytes = files.read(path).map_err(unreadable)?;
            let mut archive = super::archive(Cursor::new(&bytes[..]), &place)?;
            if archive.len() != 1 {
                let held: Vec<&str> = archive.file_names().collect();
                let help = format!("the file holds {}: save the one as .npy", held.join(", "));
                let what = "an .npz of more than one array is ambiguous".to_owned();
                return Err(ConnectomeError::Unsupported { place, what, help });
            }
            let mut member = archive.by_index(0).map_err(|e| super::damaged(&place, &e))?;
            let place = place.member(member.name());
            let mut content = Vec::new();
            member.read_to_end(&mut content).map_err(|e| super::unreadable(&place, &e))?;
            let values = column(npy::numbers(&content, &place)?, &place)?;
            Ok(Table { values, columns: None, place })
        }
        "csv" | "tsv" | "txt" => {
            let reader = files.open(path).map_err(unreadable)?;
            let text::TextMatrix { values, labels } = text::table(reader, &place, None)?;
            Ok(Table { values, columns: labels, place })
        }
        _ if !files.exists(path) => Err(unreadable(std::io::ErrorKind::NotFound.into())),
        other => Err(ConnectomeError::Unsupported {
            place,
            what: format!("`.{other}` is not a known format of matrices"),
            help: "give a .csv, .tsv, .txt, .npy or .npz; of MATLAB's .mat, \
                   `numpy.save(\"x.npy\", scipy.io.loadmat(\"x.mat\")[\"x\"])` makes one"
                .into(),
        }),
    }
}

/// Reads a matrix as weights, with whatever else the file names: labels, lengths, centres.
///
/// # Errors
/// As [`matrix`].
pub(super) fn raw(path: &Path, files: &dyn Files) -> Result<RawConnectome, ConnectomeError> {
    let place = Place::file(path);
    match super::extension(path).as_str() {
        "npy" => {
            let bytes = files.read(path).map_err(|e| super::unreadable(&place, &e))?;
            let values = npy::numbers(&bytes, &place)?.into_matrix(&place)?;
            Ok(RawConnectome::from_weights(Piece::new(values, place)))
        }
        "npz" => npz(&files.read(path).map_err(|e| super::unreadable(&place, &e))?, &place),
        _ => {
            let reader = files.open(path).map_err(|e| super::unreadable(&place, &e))?;
            let matrix = text::square_matrix(reader, &place)?;
            let mut raw = RawConnectome::from_weights(Piece::new(matrix.values, place.clone()));
            raw.labels = matrix.labels.map(|labels| Piece::new(labels, place));
            Ok(raw)
        }
    }
}

/// The arrays of an `.npz`, which is a zip of `.npy` files. Arrays of other names are not unpacked.
fn npz(bytes: &[u8], place: &Place) -> Result<RawConnectome, ConnectomeError> {
    let mut archive = super::archive(Cursor::new(bytes), place)?;
    let held: Vec<String> =
        archive.file_names().map(|name| name.trim_end_matches(".npy").to_string()).collect();
    let find = |names: &[&'static str]| {
        names.iter().find(|&&name| held.iter().any(|h| h == name)).map(|name| name.to_string())
    };
    let mut read = |name: String| {
        let place = place.member(&name);
        let mut member =
            archive.by_name(&format!("{name}.npy")).map_err(|e| super::damaged(&place, &e))?;
        let mut content = Vec::new();
        member.read_to_end(&mut content).map_err(|e| super::unreadable(&place, &e))?;
        Ok((content, place))
    };
    let mut matrix = |name: String| {
        let (content, place) = read(name)?;
        let values = npy::numbers(&content, &place)?.into_matrix(&place)?;
        Ok(Piece::new(values, place))
    };
    let weights = match (find(WEIGHTS), &held[..]) {
        (Some(name), _) => name,
        (None, [only]) => only.clone(),
        (None, _) => {
            return Err(ConnectomeError::Missing {
                place: place.clone(),
                what: "array `weights`".into(),
                help: format!("the file holds {}", held.join(", ")),
            });
        }
    };
    let mut raw = RawConnectome::from_weights(matrix(weights)?);
    raw.lengths = find(LENGTHS).map(&mut matrix).transpose()?;
    raw.delays = find(DELAYS).map(&mut matrix).transpose()?;
    if let Some(table) = find(CENTRES).map(&mut matrix).transpose()? {
        let centres = super::centres(&table.value, &table.place)?;
        raw.centres = Some(Piece::new(centres, table.place));
    }
    if let Some((content, place)) = find(LABELS).map(read).transpose()? {
        raw.labels = Some(Piece::new(npy::text(&content, &place)?, place));
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connectome::read::MemoryFiles;
    use std::io::Write;

    /// An array of doubles as NumPy writes it.
    fn npy(shape: &str, values: &[f64]) -> Vec<u8> {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &data].concat()
    }

    fn npz(arrays: &[(&str, Vec<u8>)]) -> MemoryFiles {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in arrays {
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(format!("{name}.npy"), options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        MemoryFiles::new(&[("a.npz", &writer.finish().unwrap().into_inner())])
    }

    #[test]
    fn tables_have_any_shape() {
        let files = MemoryFiles::new(&[
            ("t.csv", b"left,right\n1,2\n3,4\n5,6\n"),
            ("t.npy", &npy("(3,)", &[1.0, 2.0, 3.0])),
            ("bad.txt", b"1 2 3\n4 x 6\n"),
            ("t.mat", b""),
        ]);
        let read = |name: &str| table(Path::new(name), &files);
        let text = read("t.csv").unwrap();
        assert_eq!(text.values, DMatrix::from_row_slice(3, 2, &[1., 2., 3., 4., 5., 6.]));
        assert_eq!(text.columns.unwrap(), ["left", "right"]);
        assert_eq!(read("t.npy").unwrap().values, DMatrix::from_row_slice(3, 1, &[1., 2., 3.]));
        let message = |name: &str| read(name).unwrap_err().to_string();
        assert_eq!(
            message("bad.txt"),
            "bad.txt: line 2: column 2 holds `x`, which is not a number"
        );
        assert_eq!(message("t.mat"), "t.mat: `.mat` is not a known format of matrices");
        assert_eq!(message("none.csv"), "none.csv: file not found");
        let one = npz(&[("arr_0", npy("(1, 2)", &[7.0, 8.0]))]);
        assert_eq!(table(Path::new("a.npz"), &one).unwrap().values[(0, 1)], 8.0);
        let two = npz(&[("a", npy("(1,)", &[7.0])), ("b", npy("(1,)", &[7.0]))]);
        assert!(table(Path::new("a.npz"), &two).is_err());
    }

    #[test]
    fn arrays_are_found_by_name() {
        let weights = || npy("(2, 2)", &[0.0, 1.0, 2.0, 0.0]);
        let files = npz(&[
            ("fc", b"not read".to_vec()),
            ("W", weights()),
            ("lengths", npy("(2, 2)", &[0.0, 30.0, 40.0, 0.0])),
            ("centres", npy("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ]);
        let raw = raw(Path::new("a.npz"), &files).unwrap();
        assert_eq!(raw.weights.value, DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, 0.0]));
        assert_eq!(raw.lengths.unwrap().value[(1, 0)], 40.0);
        assert_eq!(raw.centres.unwrap().value[1], [4.0, 5.0, 6.0]);
        let only = npz(&[("arr_0", weights())]);
        assert_eq!(matrix(Path::new("a.npz"), &only).unwrap().value[(0, 1)], 1.0);
        let neither = npz(&[("a", weights()), ("b", weights())]);
        let error = matrix(Path::new("a.npz"), &neither).unwrap_err();
        assert_eq!(error.to_string(), "a.npz: array `weights` not found");
        assert_eq!(error.help(), "the file holds a, b");
        let flat = npz(&[("W", npy("(4,)", &[0.0; 4]))]);
        let error = matrix(Path::new("a.npz"), &flat).unwrap_err();
        assert!(error.to_string().starts_with("a.npz: W: an array of shape [4] can't"), "{error}");
    }
}
