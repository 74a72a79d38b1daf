//! TVBO's network data in a Zarr folder.

use super::layout::{self, ArrayStore, Numbers};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use nalgebra::DMatrix;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::{Array, ArrayCreateError, data_type};
use zarrs::group::Group;
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{StoreKey, WritableStorageTraits};

/// Reads a connectome. `primary_weight` is as for HDF5.
///
/// # Errors
/// A folder that isn't Zarr, data in a compression that isn't known, no weights in it, or data that
/// isn't what its path says.
pub fn zarr(
    folder: &Path,
    primary_weight: Option<&str>,
    files: &dyn Files,
) -> Result<RawConnectome, ConnectomeError> {
    layout::connectome(&Zarr::open(folder, files)?, primary_weight)
}

/// Reads the matrix of one kind of edge, for example `fc`.
///
/// # Errors
/// As [`zarr`].
pub fn zarr_edge(
    folder: &Path,
    name: &str,
    files: &dyn Files,
) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    layout::edge(&Zarr::open(folder, files)?, name)
}

/// The parts of a folder that may hold connectomes; others, such as meshes, are not read.
const PARTS: &[&str] = &[
    "zarr.json",
    ".zgroup",
    ".zattrs",
    "edges",
    "nodes",
    "weights",
    "tract_lengths",
    "region_labels",
    "centres",
];

struct Zarr {
    store: Arc<MemoryStore>,
    place: Place,
}

impl Zarr {
    fn open(folder: &Path, files: &dyn Files) -> Result<Self, ConnectomeError> {
        let place = Place::file(folder);
        let store = MemoryStore::new();
        files.list(folder).map_err(|e| super::unreadable(&place, &e))?;
        for part in PARTS {
            if files.exists(&folder.join(part)) {
                copy(folder, part, files, &store, &place)?;
            }
        }
        Ok(Self { store: Arc::new(store), place })
    }

    fn array(&self, path: &str) -> Result<Option<Array<MemoryStore>>, ConnectomeError> {
        match Array::open(Arc::clone(&self.store), &format!("/{path}")) {
            Ok(array) => Ok(Some(array)),
            Err(ArrayCreateError::MissingMetadata) => Ok(None),
            Err(error) => Err(self.unsupported(path, &error)),
        }
    }

    /// An array that is there and can't be read.
    fn unsupported(&self, path: &str, error: &dyn std::error::Error) -> ConnectomeError {
        ConnectomeError::Unsupported {
            place: self.place.member(path),
            what: error.to_string(),
            help: "check that the folder is whole; arrays may be compressed with zstd or gzip, or \
                   not at all"
                .into(),
        }
    }
}

/// Copies a file, or a folder with all in it, to a store.
fn copy(
    root: &Path,
    key: &str,
    files: &dyn Files,
    store: &MemoryStore,
    place: &Place,
) -> Result<(), ConnectomeError> {
    let path = root.join(key);
    let unreadable = |e| super::unreadable(&place.member(key), &e);
    if let Ok(inside) = files.list(&path) {
        for child in inside {
            if let Some(name) = child.file_name() {
                let key = format!("{key}/{}", name.to_string_lossy());
                copy(root, &key, files, store, place)?;
            }
        }
        return Ok(());
    }
    let bytes = files.read(&path).map_err(unreadable)?.into_owned();
    let damaged = |e: &dyn std::error::Error| super::damaged(&place.member(key), e);
    let key = StoreKey::new(key).map_err(|e| damaged(&e))?;
    store.set(&key, bytes.into()).map_err(|e| damaged(&e))
}

/// All elements of an array that holds one of the listed types, as doubles.
macro_rules! as_doubles {
    ($array:expr, $($kind:ident: $element:ty),*) => {{
        let array = $array;
        let all = array.subset_all();
        $(if array.data_type() == &data_type::$kind() {
            array
                .retrieve_array_subset::<Vec<$element>>(&all)
                .map(|values| Some(values.into_iter().map(|x| x as f64).collect::<Vec<f64>>()))
        } else)* {
            Ok(None)
        }
    }};
}

impl ArrayStore for Zarr {
    fn numbers(&self, path: &str) -> Result<Option<Numbers>, ConnectomeError> {
        let Some(array) = self.array(path)? else { return Ok(None) };
        let place = self.place.member(path);
        let values = as_doubles!(
            &array, float64: f64, float32: f32, int64: i64, int32: i32, int16: i16, int8: i8,
            uint64: u64, uint32: u32, uint16: u16, uint8: u8
        )
        .map_err(|e| self.unsupported(path, &e))?;
        match values {
            Some(values) => {
                let shape = array.shape().iter().map(|&n| n as usize).collect();
                Ok(Some((shape, values)))
            }
            None => Err(ConnectomeError::Unsupported {
                place,
                what: format!("elements of type {:?}", array.data_type()),
                help: "save matrices as float64 or float32".into(),
            }),
        }
    }

    fn text(&self, path: &str) -> Result<Option<Vec<String>>, ConnectomeError> {
        let Some(array) = self.array(path)? else { return Ok(None) };
        array
            .retrieve_array_subset(&array.subset_all())
            .map(Some)
            .map_err(|e| self.unsupported(path, &e))
    }

    fn attribute(&self, path: &str, name: &str) -> Option<String> {
        let path = format!("/{path}");
        let value = match Group::open(Arc::clone(&self.store), &path) {
            Ok(group) => group.attributes().get(name)?.clone(),
            Err(_) => {
                let array = Array::open(Arc::clone(&self.store), &path).ok()?;
                array.attributes().get(name)?.clone()
            }
        };
        value.as_str().map(str::to_string)
    }

    fn groups(&self, path: &str) -> Vec<String> {
        let path = format!("/{path}");
        let children = Group::open(Arc::clone(&self.store), &path)
            .ok()
            .and_then(|group| group.child_groups().ok())
            .unwrap_or_default();
        let mut names: Vec<String> = children
            .iter()
            .filter_map(|g| g.path().as_str().rsplit('/').next().map(str::to_string))
            .collect();
        names.sort();
        names
    }

    fn place(&self) -> &Place {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DiskFiles;
    use zarrs::array::ArrayBuilder;
    use zarrs::filesystem::FilesystemStore;
    use zarrs::group::GroupBuilder;

    #[test]
    fn a_folder_gives_weights_and_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.zarr");
        let store = Arc::new(FilesystemStore::new(&path).unwrap());
        for group in ["/", "/edges", "/edges/weight", "/edges/length", "/nodes"] {
            GroupBuilder::new().build(store.clone(), group).unwrap().store_metadata().unwrap();
        }
        let weights = ArrayBuilder::new(vec![3, 3], vec![2, 2], data_type::float32(), 0.0f32)
            .build(store.clone(), "/edges/weight/data")
            .unwrap();
        weights.store_metadata().unwrap();
        let values = [0.0f32, 1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0];
        weights.store_array_subset(&weights.subset_all(), &values).unwrap();
        let lengths = ArrayBuilder::new(vec![3, 3], vec![3, 3], data_type::int32(), 7i32)
            .build(store.clone(), "/edges/length/data")
            .unwrap();
        lengths.store_metadata().unwrap();

        let raw = zarr(&path, None, &DiskFiles).unwrap();
        let (connectome, _) = raw.finish().unwrap();
        let expected = values.map(f64::from);
        assert_eq!(connectome.weights, DMatrix::from_row_slice(3, 3, &expected));
        assert_eq!(connectome.tract_lengths_mm, DMatrix::from_element(3, 3, 7.0));
        assert_eq!(zarr_edge(&path, "length", &DiskFiles).unwrap().value[(0, 0)], 7.0);
        let error = zarr_edge(&path, "fc", &DiskFiles).unwrap_err();
        assert!(error.to_string().ends_with("net.zarr: `edges/fc/data` not found"));
        assert_eq!(error.help(), "the file holds the edges length, weight");
    }

    #[test]
    fn a_folder_without_data_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = zarr(folder.path(), None, &DiskFiles).unwrap_err();
        assert_eq!(error.code(), crate::diagnostic::Code::ConnectomeMissing);
        assert!(zarr(&folder.path().join("absent.zarr"), None, &DiskFiles).is_err());
    }
}
