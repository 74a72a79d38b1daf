//! Results read back: the arrays of a `.npz` or `.zarr` that this program wrote, and its manifest.
//!
//! Opening reads names and shapes only. Values are read array by array, or, since a sweep's time
//! courses may be larger than memory, a range of points at a time.

mod manifest;
mod npz;
mod zarr;

pub use manifest::{Better, ExperimentText, Manifest, Score, Skipped, Sweep, SweepAxis, Variable};

use super::ElementType;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file or folder can't be read.
    #[error("{path}: can't read results: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A name that is neither `.npz` nor `.zarr`.
    #[error("{path}: results are .npz files or .zarr folders")]
    UnknownFormat {
        /// The name.
        path: PathBuf,
    },
    /// Something else than a result of this program.
    #[error("{path}: this is not a result of `host run`: {why}")]
    NotAResult {
        /// Which.
        path: PathBuf,
        /// What is missing or damaged.
        why: String,
    },
    /// An array is damaged.
    #[error("{path}: array `{array}`: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The array.
        array: String,
        /// How.
        why: String,
    },
    /// No array has this name.
    #[error("{path}: there is no array `{array}`; it has {}", .available.join(", "))]
    NoArray {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        array: String,
        /// What is there.
        available: Vec<String>,
    },
    /// Numbers were asked of an array of names, or names of one of numbers.
    #[error("{path}: array `{array}` holds {holds}")]
    WrongType {
        /// The file.
        path: PathBuf,
        /// The array.
        array: String,
        /// `text` or `numbers`.
        holds: &'static str,
    },
}

/// An array of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayInfo {
    /// Its name.
    pub name: String,
    /// Name and extent of each dimension, slowest first.
    pub dimensions: Vec<(String, u64)>,
    /// Its numbers; none for an array of names.
    pub element: Option<ElementType>,
}

impl ArrayInfo {
    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.dimensions.iter().fold(1, |all, (_, n)| all.saturating_mul(*n))
    }

    /// Elements of one entry along the first dimension.
    fn entry(&self) -> u64 {
        self.dimensions.iter().skip(1).fold(1, |all, (_, n)| all.saturating_mul(*n))
    }
}

/// Numbers as they are stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 64-bit integers.
    I64(Vec<i64>),
}

impl Values {
    /// Reads little-endian elements; bytes after the last whole element are left out.
    pub fn from_le_bytes(element: ElementType, bytes: &[u8]) -> Self {
        match element {
            ElementType::F32 => {
                Self::F32(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
            }
            ElementType::F64 => {
                Self::F64(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
            }
            ElementType::I64 => {
                Self::I64(bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect())
            }
        }
    }

    /// The elements as little-endian bytes.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        match self {
            Self::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::I64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }

    /// The elements widened to 64-bit floats.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.iter().map(|&v| v.into()).collect(),
            Self::F64(values) => values.clone(),
            Self::I64(values) => values.iter().map(|&v| v as f64).collect(),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

enum Container {
    Npz(npz::Archive),
    Zarr(zarr::Group),
}

/// A result that was opened for reading.
pub struct ResultFile {
    path: PathBuf,
    arrays: BTreeMap<String, ArrayInfo>,
    manifest: Manifest,
    container: Container,
}

impl ResultFile {
    /// Opens a result by its ending, `.npz` or `.zarr`.
    ///
    /// # Errors
    /// If it can't be read, or is not a result of this program.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let (container, mut arrays, meta) = match path.extension().and_then(|e| e.to_str()) {
            Some("npz") => {
                let (archive, arrays, meta) = npz::open(path)?;
                (Container::Npz(archive), arrays, meta)
            }
            Some("zarr") => {
                let (group, arrays, meta) = zarr::open(path)?;
                (Container::Zarr(group), arrays, meta)
            }
            _ => return Err(ReadError::UnknownFormat { path: path.to_owned() }),
        };
        let not_a_result = |why: String| ReadError::NotAResult { path: path.to_owned(), why };
        let manifest: Manifest = serde_json::from_str(&meta)
            .map_err(|e| not_a_result(format!("its manifest `meta` can't be understood: {e}")))?;
        for info in &mut arrays {
            // Zarr names its dimensions itself, and what is written last is right.
            let Some(names) = manifest.dimensions.get(&info.name) else { continue };
            if names.len() != info.dimensions.len() {
                let (n, m) = (info.dimensions.len(), names.len());
                let why = format!("array `{}` has {n} dimensions, not {m}", info.name);
                return Err(not_a_result(why));
            }
            for ((name, _), known) in info.dimensions.iter_mut().zip(names) {
                name.clone_from(known);
            }
        }
        let arrays: BTreeMap<_, _> = arrays.into_iter().map(|a| (a.name.clone(), a)).collect();
        if !arrays.contains_key("tavg") && !arrays.contains_key("nonfinite_step") {
            return Err(not_a_result("it has neither `tavg` nor `nonfinite_step`".into()));
        }
        Ok(Self { path: path.to_owned(), arrays, manifest, container })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was run.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Every array but the manifest, by name.
    pub fn arrays(&self) -> impl Iterator<Item = &ArrayInfo> {
        self.arrays.values()
    }

    /// The array of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn array(&self, name: &str) -> Result<&ArrayInfo, ReadError> {
        self.arrays.get(name).ok_or_else(|| ReadError::NoArray {
            path: self.path.clone(),
            array: name.to_owned(),
            available: self.arrays.keys().cloned().collect(),
        })
    }

    /// All numbers of an array, in C order.
    ///
    /// # Errors
    /// If it isn't there, holds names, or can't be read.
    pub fn values(&self, name: &str) -> Result<Values, ReadError> {
        let info = self.array(name)?;
        let entries = info.dimensions.first().map_or(1, |(_, n)| *n);
        self.entries(name, 0..entries)
    }

    /// Numbers of a range of entries along the first dimension: of points, where that is `point`.
    ///
    /// # Errors
    /// If the array isn't there, holds names, ends before the range does, or can't be read.
    pub fn entries(&self, name: &str, range: Range<u64>) -> Result<Values, ReadError> {
        let info = self.array(name)?;
        let Some(element) = info.element else {
            return Err(self.wrong_type(name, "names, not numbers"));
        };
        let available = info.dimensions.first().map_or(1, |(_, n)| *n);
        if range.start > range.end || range.end > available {
            let why = format!("entries {} to {} of {available}", range.start, range.end);
            return Err(self.damaged(name, why));
        }
        if info.entry() == 0 || range.is_empty() {
            return Ok(Values::from_le_bytes(element, &[]));
        }
        match &self.container {
            Container::Npz(archive) => archive.read(name, element, range.start * info.entry(), {
                (range.end - range.start) * info.entry()
            }),
            Container::Zarr(group) => group.read(info, element, range),
        }
        .map_err(|why| self.damaged(name, why))
    }

    /// All names of an array of names.
    ///
    /// # Errors
    /// If it isn't there, holds numbers, or can't be read.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, ReadError> {
        let info = self.array(name)?;
        if info.element.is_some() {
            return Err(self.wrong_type(name, "numbers, not names"));
        }
        match &self.container {
            Container::Npz(archive) => archive.texts(name),
            Container::Zarr(group) => group.texts(name),
        }
        .map_err(|why| self.damaged(name, why))
    }

    fn damaged(&self, array: &str, why: String) -> ReadError {
        ReadError::Damaged { path: self.path.clone(), array: array.to_owned(), why }
    }

    fn wrong_type(&self, array: &str, holds: &'static str) -> ReadError {
        ReadError::WrongType { path: self.path.clone(), array: array.to_owned(), holds }
    }
}

#[cfg(test)]
mod tests;
