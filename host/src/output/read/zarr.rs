//! Reading `.zarr`, version 3.

use super::{ArrayInfo, ElementType, ReadError, Values};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::{Array, data_type};
use zarrs::filesystem::FilesystemStore;

/// A store whose arrays are known.
pub(super) struct Group(Arc<FilesystemStore>);

/// Opens a store: what it holds, and the text of `meta`.
pub(super) fn open(path: &Path) -> Result<(Group, Vec<ArrayInfo>, String), ReadError> {
    let read = |source| ReadError::Read { path: path.to_owned(), source };
    let not = |why: String| ReadError::NotAResult { path: path.to_owned(), why };
    let entries = std::fs::read_dir(path).map_err(read)?;
    let text = std::fs::read(path.join("zarr.json"))
        .map_err(|e| not(format!("it has no zarr.json: {e}")))?;
    let group: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| not(format!("zarr.json: {e}")))?;
    let meta = group["attributes"]["meta"].as_str();
    let meta = meta.ok_or_else(|| not("it has no manifest `meta`".into()))?.to_owned();
    let store = Arc::new(FilesystemStore::new(path).map_err(|e| not(e.to_string()))?);
    let mut arrays = Vec::new();
    for entry in entries {
        let entry = entry.map_err(read)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.path().join("zarr.json").is_file() {
            continue;
        }
        let array = Array::open(store.clone(), &format!("/{name}"))
            .map_err(|e| not(format!("`{name}`: {e}")))?;
        let kind = array.data_type();
        let element = if *kind == data_type::float32() {
            Some(ElementType::F32)
        } else if *kind == data_type::float64() {
            Some(ElementType::F64)
        } else if *kind == data_type::int64() {
            Some(ElementType::I64)
        } else if *kind == data_type::string() {
            None
        } else {
            return Err(not(format!("`{name}` has elements of type {kind:?}")));
        };
        let names = array.dimension_names().clone().unwrap_or_default();
        let named = |(at, &n): (usize, &u64)| {
            (names.get(at).cloned().flatten().unwrap_or_default().to_string(), n)
        };
        let dimensions = array.shape().iter().enumerate().map(named).collect();
        arrays.push(ArrayInfo { name, dimensions, element });
    }
    Ok((Group(store), arrays, meta))
}

impl Group {
    fn open(&self, name: &str) -> Result<Array<FilesystemStore>, String> {
        Array::open(self.0.clone(), &format!("/{name}")).map_err(|e| e.to_string())
    }

    /// Entries along the first dimension.
    pub(super) fn read(
        &self,
        info: &ArrayInfo,
        element: ElementType,
        range: Range<u64>,
    ) -> Result<Values, String> {
        let array = self.open(&info.name)?;
        let mut ranges: Vec<Range<u64>> = array.shape().iter().map(|&n| 0..n).collect();
        if let Some(first) = ranges.first_mut() {
            *first = range;
        }
        match element {
            ElementType::F32 => array.retrieve_array_subset(&ranges).map(Values::F32),
            ElementType::F64 => array.retrieve_array_subset(&ranges).map(Values::F64),
            ElementType::I64 => array.retrieve_array_subset(&ranges).map(Values::I64),
        }
        .map_err(|e| e.to_string())
    }

    /// All texts of an array of them.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let array = self.open(name)?;
        let all: Vec<Range<u64>> = array.shape().iter().map(|&n| 0..n).collect();
        array.retrieve_array_subset(&all).map_err(|e| e.to_string())
    }
}
