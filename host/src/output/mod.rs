//! Results on disk: arrays with named dimensions, filled point by point in any order.
//!
//! A [`Store`] is created with its whole layout before the run starts, so that a path that can't be
//! written or a disk that is too small is reported before any computing. It is written beside its
//! target and renamed when it is complete: a run that is killed at any moment leaves what was there
//! before, or nothing.

pub mod memory;
pub mod npy;
pub mod npz;
pub mod read;
pub mod results;
pub mod zarr;

use std::path::{Path, PathBuf};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file or folder can't be created or written.
    #[error("{path}: can't write results: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The results won't fit.
    #[error(
        "{path}: the results need {needed} bytes and {available} are free there; record less \
         (--record none), sweep fewer points, or write elsewhere (--out)"
    )]
    NoSpace {
        /// Where.
        path: PathBuf,
        /// Bytes of the results.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// A name that is neither `.npz` nor `.zarr`.
    #[error("{path}: results are written as .npz or .zarr; name a file that ends so")]
    UnknownFormat {
        /// The name.
        path: PathBuf,
    },
    /// An array that was not completely filled, or filled twice: a fault of this program.
    #[error("{array}: {what}")]
    Incomplete {
        /// Which array.
        array: String,
        /// How.
        what: String,
    },
}

impl OutputError {
    fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 64-bit signed integer.
    I64,
}

impl ElementType {
    /// Bytes of an element.
    pub fn size(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

/// What an array holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Written during the run with [`Store::write`].
    Streamed(ElementType),
    /// Known beforehand.
    Reals(Vec<f64>),
    /// Evenly spaced numbers, such as times; not in memory before there is room for them on disk.
    Regular {
        /// The first.
        first: f64,
        /// From each to the next.
        step: f64,
        /// How many.
        count: u64,
    },
    /// Known beforehand.
    Integers(Vec<i64>),
    /// Known beforehand, up to 2^64 - 1.
    Unsigned(Vec<u64>),
    /// Known beforehand.
    Strings(Vec<String>),
}

/// An array of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// Its name.
    pub name: String,
    /// Name and extent of each dimension, slowest first; none for a single value.
    pub dimensions: Vec<(String, u64)>,
    /// Its elements.
    pub content: Content,
}

impl Content {
    /// The numbers of `Content::Regular`.
    pub(crate) fn regular(first: f64, step: f64, count: u64) -> impl Iterator<Item = f64> {
        (0..count).map(move |k| first + k as f64 * step)
    }
}

impl ArraySpec {
    /// The number of elements; the largest number there is if it is larger.
    pub fn elements(&self) -> u64 {
        self.dimensions.iter().fold(1, |all, (_, n)| all.saturating_mul(*n))
    }

    /// The extents.
    pub fn shape(&self) -> Vec<u64> {
        self.dimensions.iter().map(|(_, n)| *n).collect()
    }
}

/// Where a run's arrays go. Methods may be called from several threads.
pub trait Store: Send + Sync {
    /// Writes little-endian elements of streamed array `array` (its place in the layout), from
    /// element `first` in C order. Every element is to be written exactly once.
    ///
    /// # Errors
    /// If the file can't be written.
    fn write(&self, array: usize, first: u64, bytes: &[u8]) -> Result<(), OutputError>;

    /// Completes the store and puts it in its place.
    ///
    /// # Errors
    /// If an element was not written or the file can't be put in its place.
    fn finish(self: Box<Self>) -> Result<(), OutputError>;
}

/// Creates a store of the format that the path's ending names.
///
/// # Errors
/// If the ending is unknown, the path can't be written or the disk has too little room.
pub fn create(path: &Path, layout: &[ArraySpec]) -> Result<Box<dyn Store>, OutputError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("npz") => Ok(Box::new(npz::NpzStore::create(path, layout)?)),
        Some("zarr") => Ok(Box::new(zarr::ZarrStore::create(path, layout)?)),
        _ => Err(OutputError::UnknownFormat { path: path.to_owned() }),
    }
}

/// Fails if less than `needed` bytes are free in `folder`.
fn require_space(folder: &Path, needed: u64) -> Result<(), OutputError> {
    let available = fs4::available_space(folder).map_err(OutputError::write(folder))?;
    if available < needed {
        return Err(OutputError::NoSpace { path: folder.to_owned(), needed, available });
    }
    Ok(())
}

/// Writes a file beside its target and puts it in its place, so that it is never there by half.
///
/// # Errors
/// If it can't be written.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let temporary = unfinished(path);
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing can be done about a failure here, and the next run uses another name.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// The folder that holds `path`.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A name beside `path` for what is not complete yet, different for every process.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder_of(path).join(format!(".{name}.unfinished-{}", std::process::id()))
}
