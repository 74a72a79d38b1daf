//! Connectome files to [`RawConnectome`]s, one format a file.
//!
//! | file | format |
//! |---|---|
//! | folder | BIDS (BEP017) |
//! | `.zip` | The Virtual Brain's connectivity archive |
//! | `.csv` `.tsv` `.txt` `.npy` `.npz` | matrices |
//! | `.h5` `.hdf5` | TVBO's network data |
//! | `.zarr` | the same layout in Zarr |
//!
//! Nothing is transposed: row = target, column = source in all of them.

mod bids;
mod hdf5;
mod layout;
mod matrix;
mod npy;
mod text;
mod tvb_zip;
mod zarr;

pub use bids::{bids, bids_measure};
pub use hdf5::{hdf5, hdf5_edge};
pub use matrix::{Table, matrix, table};
pub use tvb_zip::tvb_zip;
pub use zarr::{zarr, zarr_edge};

use super::error::{ConnectomeError, Place};
use super::raw::RawConnectome;
use crate::files::Files;
use nalgebra::DMatrix;
use std::io::{ErrorKind, Read, Seek};
use std::path::Path;

/// Reads a connectome in whatever format the name of the file says.
///
/// # Errors
/// A file that isn't there or can't be read, a format that isn't known, and whatever the format's
/// own reader finds wrong.
pub fn any(path: &Path, files: &dyn Files) -> Result<RawConnectome, ConnectomeError> {
    match extension(path).as_str() {
        "csv" | "tsv" | "txt" | "npy" | "npz" => matrix::raw(path, files),
        "zip" => tvb_zip(path, files),
        "h5" | "hdf5" => hdf5(path, None, files),
        "zarr" => zarr(path, None, files),
        _ if files.list(path).is_ok() => bids(path, &[], files),
        _ if !files.exists(path) => {
            Err(unreadable(&Place::file(path), &ErrorKind::NotFound.into()))
        }
        other => Err(ConnectomeError::Unsupported {
            place: Place::file(path),
            what: format!("`.{other}` is not a known format of connectomes"),
            help: "give a .zip of The Virtual Brain, a .csv, .tsv, .txt, .npy or .npz matrix, a \
                   TVBO .h5 or .zarr, or a BIDS folder"
                .into(),
        }),
    }
}

/// A file's extension in small letters.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn unreadable(place: &Place, error: &std::io::Error) -> ConnectomeError {
    let place = place.clone();
    if error.kind() == ErrorKind::NotFound {
        let what = if place.member.is_some() { "member" } else { "file" };
        let help = "paths are relative to the experiment's file".into();
        return ConnectomeError::Missing { place, what: what.into(), help };
    }
    ConnectomeError::Unreadable { place, reason: error.to_string() }
}

fn damaged(place: &Place, error: &dyn std::error::Error) -> ConnectomeError {
    ConnectomeError::Unreadable { place: place.clone(), reason: error.to_string() }
}

fn archive<R: Read + Seek>(bytes: R, place: &Place) -> Result<zip::ZipArchive<R>, ConnectomeError> {
    zip::ZipArchive::new(bytes).map_err(|e| damaged(place, &e))
}

/// The rows of an N×3 matrix.
fn centres(matrix: &DMatrix<f64>, place: &Place) -> Result<Vec<[f64; 3]>, ConnectomeError> {
    if matrix.ncols() != 3 {
        return Err(ConnectomeError::Unsupported {
            place: place.clone(),
            what: format!("coordinates are {}×{}", matrix.nrows(), matrix.ncols()),
            help: "give three coordinates in mm a node".into(),
        });
    }
    Ok(matrix.row_iter().map(|row| [row[0], row[1], row[2]]).collect())
}

/// Files held in memory, for tests.
#[cfg(test)]
pub(super) struct MemoryFiles(std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>);

#[cfg(test)]
impl MemoryFiles {
    pub(super) fn new(files: &[(&str, &[u8])]) -> Self {
        Self(files.iter().map(|(path, bytes)| (path.into(), bytes.to_vec())).collect())
    }
}

#[cfg(test)]
impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> std::io::Result<std::borrow::Cow<'static, [u8]>> {
        self.0.get(path).cloned().map(Into::into).ok_or(ErrorKind::NotFound.into())
    }

    fn open(&self, path: &Path) -> std::io::Result<Box<dyn Read + '_>> {
        let bytes = self.0.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(Box::new(bytes.as_slice()))
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.keys().any(|p| p.starts_with(path))
    }

    fn list(&self, folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
        let mut inside: Vec<_> = self
            .0
            .keys()
            .filter_map(|p| p.strip_prefix(folder).ok()?.components().next())
            .map(|first| folder.join(first))
            .collect();
        inside.dedup();
        if inside.is_empty() { Err(ErrorKind::NotFound.into()) } else { Ok(inside) }
    }
}
