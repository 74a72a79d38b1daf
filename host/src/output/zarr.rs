//! `.zarr`: a Zarr version 3 group with named dimensions, as `xarray.open_zarr` expects it.
//!
//! Streamed arrays are chunked by point (and by rows of a time course), so that points are written
//! independently and a reader loads only what it looks at.

use super::{
    ArraySpec, Content, ElementType, OutputError, Store, folder_of, npy, require_space, unfinished,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarrs::array::{Array, ArrayBuilder, ArrayBytes, ArrayMetadataOptions, FillValue, data_type};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::{Group, GroupBuilder};
use zarrs::metadata_ext::group::consolidated_metadata::ConsolidatedMetadata;
use zarrs::node::Node;

/// A chunk holds at most about this many elements, if rows can be split that finely.
const CHUNK_ELEMENTS: u64 = 1 << 20;

struct Streamed {
    array: Array<FilesystemStore>,
    element: ElementType,
    written: AtomicU64,
}

/// A Zarr store that is being written.
pub struct ZarrStore {
    target: PathBuf,
    temporary: Temporary,
    /// One a layout entry; none for arrays that were known beforehand.
    arrays: Vec<Option<Streamed>>,
    names: Vec<String>,
}

struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing can be done about a failure here, and the next run uses another name.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

impl ZarrStore {
    /// Creates the store's metadata beside `path` and writes what is known beforehand.
    ///
    /// # Errors
    /// If the folder can't be written or has too little room, or if `path` is something else than a
    /// Zarr store.
    pub fn create(path: &Path, layout: &[ArraySpec]) -> Result<Self, OutputError> {
        if path.exists() && !holds_only_zarr(path) {
            let source = std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "it exists and is not a Zarr store, or holds other files too; it is left alone",
            );
            return Err(OutputError::Write { path: path.to_owned(), source });
        }
        require_space(folder_of(path), npy::all_values_len(layout))?;
        let folder = unfinished(path);
        std::fs::create_dir(&folder).map_err(OutputError::write(path))?;
        let temporary = Temporary(Some(folder.clone()));
        let fail = |e: &dyn std::fmt::Display| OutputError::Write {
            path: path.to_owned(),
            source: std::io::Error::other(e.to_string()),
        };
        let store = Arc::new(FilesystemStore::new(&folder).map_err(|e| fail(&e))?);
        let mut group = GroupBuilder::new().build(store.clone(), "/").map_err(|e| fail(&e))?;
        for spec in layout.iter().filter(|s| s.dimensions.is_empty()) {
            // Single values are attributes: xarray shows them with the dataset.
            if let Content::Strings(text) = &spec.content {
                let value = text.first().cloned().unwrap_or_default().into();
                group.attributes_mut().insert(spec.name.clone(), value);
            }
        }
        group.store_metadata().map_err(|e| fail(&e))?;
        let mut arrays = Vec::with_capacity(layout.len());
        for spec in layout {
            if spec.dimensions.is_empty() {
                arrays.push(None);
                continue;
            }
            let array = build(&store, spec).map_err(|e| fail(&e))?;
            array
                .store_metadata_opt(
                    &ArrayMetadataOptions::default().with_include_zarrs_metadata(false),
                )
                .map_err(|e| fail(&e))?;
            if let Content::Streamed(element) = spec.content {
                arrays.push(Some(Streamed { array, element, written: AtomicU64::new(0) }));
            } else {
                store_all(&array, &spec.content).map_err(|e| fail(&e))?;
                arrays.push(None);
            }
        }
        consolidate(&mut group, &store).map_err(|e| fail(&e))?;
        let names = layout.iter().map(|s| s.name.clone()).collect();
        Ok(Self { target: path.to_owned(), temporary, arrays, names })
    }
}

/// Whether a folder is a Zarr group with arrays and nothing else, which may be replaced.
fn holds_only_zarr(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    let of_zarr = |entry: &Path| {
        entry.file_name().is_some_and(|n| n == "zarr.json") || entry.join("zarr.json").is_file()
    };
    path.join("zarr.json").is_file()
        && entries.map(|e| e.map(|e| e.path())).all(|e| e.is_ok_and(|path| of_zarr(&path)))
}

type Error = Box<dyn std::error::Error + Send + Sync>;

fn build(store: &Arc<FilesystemStore>, spec: &ArraySpec) -> Result<Array<FilesystemStore>, Error> {
    let shape = spec.shape();
    let (kind, fill) = match &spec.content {
        Content::Streamed(ElementType::F32) => (data_type::float32(), FillValue::from(f32::NAN)),
        Content::Streamed(ElementType::F64) | Content::Reals(_) | Content::Regular { .. } => {
            (data_type::float64(), FillValue::from(f64::NAN))
        }
        Content::Streamed(ElementType::I64) | Content::Integers(_) => {
            (data_type::int64(), FillValue::from(0i64))
        }
        Content::Unsigned(_) => (data_type::uint64(), FillValue::from(0u64)),
        Content::Strings(_) => (data_type::string(), FillValue::from("")),
    };
    // A chunk needs at least one element, also of an empty array.
    let mut chunk: Vec<u64> = shape.iter().map(|&n| n.max(1)).collect();
    if matches!(spec.content, Content::Streamed(_)) {
        chunk[0] = 1;
        if let [_, rows, rest @ ..] = &mut chunk[..]
            && !rest.is_empty()
        {
            let row: u64 = rest.iter().product();
            *rows = (CHUNK_ELEMENTS / row).clamp(1, *rows);
        }
    }
    let names: Vec<&str> = spec.dimensions.iter().map(|(name, _)| name.as_str()).collect();
    let array = ArrayBuilder::new(shape, chunk, kind, fill)
        .dimension_names(Some(names))
        .build(store.clone(), &format!("/{}", spec.name))?;
    Ok(array)
}

/// Gathers all metadata in the group's, so that a reader opens one file; xarray warns without it.
fn consolidate(
    group: &mut Group<FilesystemStore>,
    store: &Arc<FilesystemStore>,
) -> Result<(), Error> {
    let metadata = Node::open(store, "/")?.consolidate_metadata().unwrap_or_default();
    let consolidated = ConsolidatedMetadata { metadata, ..Default::default() };
    group.set_consolidated_metadata(Some(consolidated));
    group.store_metadata()?;
    // The specification allows a codec without configuration to be written as its bare name, and
    // zarrs does; zarr-python 3.1 reads that in an array's own metadata but not in consolidated.
    let file = store.key_to_fspath(&zarrs::storage::StoreKey::new("zarr.json")?);
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let arrays = json["consolidated_metadata"]["metadata"].as_object_mut();
    for codec in arrays.into_iter().flat_map(|a| a.values_mut()).flat_map(codecs) {
        if codec.is_string() {
            *codec = serde_json::json!({ "name": codec.take() });
        }
    }
    std::fs::write(&file, serde_json::to_vec_pretty(&json)?)?;
    Ok(())
}

fn codecs(array: &mut serde_json::Value) -> impl Iterator<Item = &mut serde_json::Value> {
    array.get_mut("codecs").and_then(|c| c.as_array_mut()).into_iter().flatten()
}

fn store_all(array: &Array<FilesystemStore>, content: &Content) -> Result<(), Error> {
    let origin = vec![0; array.shape().len()];
    if array.shape().contains(&0) {
        return Ok(());
    }
    match content {
        Content::Reals(values) => array.store_chunk(&origin, values.as_slice())?,
        &Content::Regular { first, step, count } => {
            let values: Vec<f64> = Content::regular(first, step, count).collect();
            array.store_chunk(&origin, values.as_slice())?;
        }
        Content::Integers(values) => array.store_chunk(&origin, values.as_slice())?,
        Content::Unsigned(values) => array.store_chunk(&origin, values.as_slice())?,
        Content::Strings(texts) => array.store_chunk(&origin, texts.as_slice())?,
        Content::Streamed(_) => {}
    }
    Ok(())
}

impl Streamed {
    /// Stores elements that are a whole number of entries along the second dimension of one point,
    /// or whole points.
    fn store(&self, first: u64, bytes: &[u8]) -> Result<(), Error> {
        let shape = self.array.shape();
        let count = bytes.len() as u64 / self.element.size();
        let point: u64 = shape[1..].iter().product();
        let row: u64 = shape.get(2..).unwrap_or(&[]).iter().product();
        let mut done = 0;
        while done < count {
            let at = first + done;
            let (p, within) = (at / point, at % point);
            let n = (point - within).min(count - done);
            let this = p..p + 1;
            let mut ranges = vec![this];
            if shape.len() > 1 {
                ranges.push(within / row..(within + n) / row);
                ranges.extend(shape[2..].iter().map(|&n| 0..n));
            }
            let from = (done * self.element.size()) as usize;
            let piece = &bytes[from..from + (n * self.element.size()) as usize];
            self.array.store_array_subset(&ranges, ArrayBytes::new_flen(piece.to_vec()))?;
            done += n;
        }
        self.written.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }
}

impl Store for ZarrStore {
    fn write(&self, array: usize, first: u64, bytes: &[u8]) -> Result<(), OutputError> {
        let Some(streamed) = &self.arrays[array] else {
            let what = "not an array that is written during the run".to_owned();
            return Err(OutputError::Incomplete { array: self.names[array].clone(), what });
        };
        streamed.store(first, bytes).map_err(|e| OutputError::Write {
            path: self.target.clone(),
            source: std::io::Error::other(e),
        })
    }

    fn finish(mut self: Box<Self>) -> Result<(), OutputError> {
        for (name, streamed) in self.names.iter().zip(&self.arrays) {
            let Some(streamed) = streamed else { continue };
            let all: u64 = streamed.array.shape().iter().product();
            let written = streamed.written.load(Ordering::Relaxed);
            if written != all {
                let what = format!("{written} of {all} elements were written");
                return Err(OutputError::Incomplete { array: name.clone(), what });
            }
        }
        self.arrays.clear();
        let Some(temporary) = self.temporary.0.take() else { return Ok(()) };
        let old = unfinished(&self.target).with_extension("old");
        let replaced = self.target.exists();
        if replaced {
            std::fs::rename(&self.target, &old).map_err(OutputError::write(&self.target))?;
        }
        std::fs::rename(temporary, &self.target).map_err(OutputError::write(&self.target))?;
        if replaced {
            std::fs::remove_dir_all(&old).map_err(OutputError::write(&old))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::create;

    fn layout() -> Vec<ArraySpec> {
        let dims = |d: &[(&str, u64)]| d.iter().map(|(n, k)| ((*n).to_owned(), *k)).collect();
        vec![
            ArraySpec {
                name: "series".into(),
                dimensions: dims(&[("point", 3), ("time", 4), ("variable", 1), ("node", 2)]),
                content: Content::Streamed(ElementType::F32),
            },
            ArraySpec {
                name: "node".into(),
                dimensions: dims(&[("node", 2)]),
                content: Content::Strings(vec!["links".into(), "rechts".into()]),
            },
            ArraySpec {
                name: "meta".into(),
                dimensions: vec![],
                content: Content::Strings(vec!["{\"seed\": 1}".into()]),
            },
        ]
    }

    fn bytes(from: u64, count: u64) -> Vec<u8> {
        (from..from + count).flat_map(|i| (i as f32).to_le_bytes()).collect()
    }

    #[test]
    fn points_and_rows_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.zarr");
        for _ in 0..2 {
            let store = create(&path, &layout()).unwrap();
            store.write(0, 16, &bytes(16, 8)).unwrap(); // the last point at once
            store.write(0, 8, &bytes(8, 2)).unwrap(); // the second, row by row
            store.write(0, 10, &bytes(10, 6)).unwrap();
            store.write(0, 0, &bytes(0, 8)).unwrap();
            store.finish().unwrap();
        }
        let store = Arc::new(FilesystemStore::new(&path).unwrap());
        let array = Array::open(store, "/series").unwrap();
        let all: Vec<f32> = array.retrieve_array_subset(&array.subset_all()).unwrap();
        assert_eq!(all, (0..24).map(|i| i as f32).collect::<Vec<_>>());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_store_leaves_nothing_and_a_gap_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.zarr");
        let store = create(&path, &layout()).unwrap();
        store.write(0, 0, &bytes(0, 8)).unwrap();
        assert!(store.finish().unwrap_err().to_string().contains("8 of 24"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_no_store_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious.zarr");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("thesis.tex"), "x").unwrap();
        let text = create(&path, &layout()).err().unwrap().to_string();
        assert!(text.contains("left alone"), "{text}");
        assert!(path.join("thesis.tex").exists());
    }

    #[test]
    fn a_store_with_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.zarr");
        let mut empty = layout();
        empty.remove(0);
        create(&path, &empty).unwrap().finish().unwrap();
        create(&path, &empty).unwrap().finish().unwrap();
        std::fs::write(path.join("notes.txt"), "x").unwrap();
        let text = create(&path, &empty).err().unwrap().to_string();
        assert!(text.contains("other files"), "{text}");
        assert!(path.join("notes.txt").exists());
    }
}
