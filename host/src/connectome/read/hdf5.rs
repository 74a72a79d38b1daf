//! TVBO's network data in HDF5.

use super::layout::{self, ArrayStore, Numbers};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use hdf5_pure::{Error, File, FormatError};
use nalgebra::DMatrix;
use std::path::Path;

/// Reads a connectome. `primary_weight` names the edges that are the weights, where a file holds
/// several; without it they are `weight`, `weights` or `sc`.
///
/// # Errors
/// A file that isn't HDF5 or is damaged, no weights in it, or data that isn't what its path says.
pub fn hdf5(
    path: &Path,
    primary_weight: Option<&str>,
    files: &dyn Files,
) -> Result<RawConnectome, ConnectomeError> {
    layout::connectome(&Hdf5::open(path, files)?, primary_weight)
}

/// Reads the matrix of one kind of edge, for example `fc`.
///
/// # Errors
/// As [`hdf5`].
pub fn hdf5_edge(
    path: &Path,
    name: &str,
    files: &dyn Files,
) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    layout::edge(&Hdf5::open(path, files)?, name)
}

struct Hdf5 {
    file: File,
    place: Place,
}

impl Hdf5 {
    fn open(path: &Path, files: &dyn Files) -> Result<Self, ConnectomeError> {
        let place = Place::file(path);
        let bytes = files.read(path).map_err(|e| super::unreadable(&place, &e))?;
        let file = File::from_bytes(bytes.into_owned()).map_err(|e| super::damaged(&place, &e))?;
        Ok(Self { file, place })
    }

    fn dataset(&self, path: &str) -> Result<Option<hdf5_pure::Dataset>, ConnectomeError> {
        match self.file.dataset(path) {
            Ok(dataset) => Ok(Some(dataset)),
            Err(
                Error::Format(FormatError::PathNotFound(_))
                | Error::NotADataset(_)
                | Error::NotAGroup(_),
            ) => Ok(None),
            Err(error) => Err(self.unsupported(path, &error)),
        }
    }

    /// A dataset that is there and can't be read.
    fn unsupported(&self, path: &str, error: &Error) -> ConnectomeError {
        ConnectomeError::Unsupported {
            place: self.place.member(path),
            what: error.to_string(),
            help:
                "check that the file is whole; a file of a newer HDF5 version can be saved again \
                   for an older one, as h5py does by default"
                    .into(),
        }
    }
}

impl ArrayStore for Hdf5 {
    fn numbers(&self, path: &str) -> Result<Option<Numbers>, ConnectomeError> {
        let Some(dataset) = self.dataset(path)? else { return Ok(None) };
        let unsupported = |e: Error| self.unsupported(path, &e);
        let shape = dataset.shape().map_err(unsupported)?;
        let values = dataset.read_f64().map_err(unsupported)?;
        Ok(Some((shape.into_iter().map(|n| n as usize).collect(), values)))
    }

    fn text(&self, path: &str) -> Result<Option<Vec<String>>, ConnectomeError> {
        let Some(dataset) = self.dataset(path)? else { return Ok(None) };
        dataset.read_string().map(Some).map_err(|e| self.unsupported(path, &e))
    }

    fn attribute(&self, path: &str, name: &str) -> Option<String> {
        let attributes = match self.file.group(path) {
            Ok(group) => group.attrs(),
            Err(_) => self.file.dataset(path).ok()?.attrs(),
        };
        attributes.ok()?.get(name)?.as_str().map(str::to_string)
    }

    fn groups(&self, path: &str) -> Vec<String> {
        let mut names = self.file.group(path).and_then(|g| g.groups()).unwrap_or_default();
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
    use crate::connectome::read::MemoryFiles;
    use hdf5_pure::{AttrValue, FileBuilder};

    const WEIGHTS: [f32; 9] = [0.0, 1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0];
    const LENGTHS: [f64; 9] = [0.0, 11.5, 22.0, 33.0, 0.0, 44.0, 55.0, 66.0, 0.0];

    /// A file in TVBO's layout; `fill` writes the weights' group.
    fn file(fill: impl FnOnce(&mut hdf5_pure::GroupBuilder)) -> MemoryFiles {
        let mut builder = FileBuilder::new();
        let mut edges = builder.create_group("edges");
        let mut weight = edges.create_group("weight");
        fill(&mut weight);
        edges.add_group(weight.finish());
        let mut length = edges.create_group("length");
        length
            .create_dataset("data")
            .with_f64_data(&LENGTHS)
            .with_shape(&[3, 3])
            .with_chunks(&[2, 2])
            .with_deflate(6);
        edges.add_group(length.finish());
        builder.add_group(edges.finish());
        let mut nodes = builder.create_group("nodes");
        nodes.create_dataset("labels").with_vlen_strings(&["A", "B ", "Cé"]);
        nodes.create_dataset("coordinates").with_f32_data(&[0.0; 9]).with_shape(&[3, 3]);
        builder.add_group(nodes.finish());
        MemoryFiles::new(&[("net.h5", &builder.finish().unwrap())])
    }

    fn dense(group: &mut hdf5_pure::GroupBuilder) {
        group.set_attr("format", AttrValue::VarLenString("dense".into()));
        group.create_dataset("data").with_f32_data(&WEIGHTS).with_shape(&[3, 3]);
    }

    fn read(files: &MemoryFiles) -> Result<RawConnectome, ConnectomeError> {
        hdf5(Path::new("net.h5"), None, files)
    }

    #[test]
    fn dense_chunked_and_compressed_data() {
        let (connectome, warnings) = read(&file(dense)).unwrap().finish().unwrap();
        let weights: Vec<f64> = WEIGHTS.iter().map(|&w| f64::from(w)).collect();
        assert_eq!(connectome.weights, DMatrix::from_row_slice(3, 3, &weights));
        assert_eq!(connectome.tract_lengths_mm, DMatrix::from_row_slice(3, 3, &LENGTHS));
        assert_eq!(connectome.labels, ["A", "B", "Cé"]);
        assert_eq!(warnings, []);
        let length = hdf5_edge(Path::new("net.h5"), "length", &file(dense)).unwrap();
        assert_eq!(length.value, connectome.tract_lengths_mm);
    }

    #[test]
    fn sparse_matrices_are_filled_up() {
        let expected = read(&file(dense)).unwrap().weights.value;
        let csr = file(|group| {
            group.set_attr("format", AttrValue::String("csr".into()));
            group.create_dataset("data").with_f64_data(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
            group.create_dataset("indices").with_i32_data(&[1, 2, 0, 2, 0, 1]);
            group.create_dataset("indptr").with_i32_data(&[0, 2, 4, 6]);
        });
        assert_eq!(read(&csr).unwrap().weights.value, expected);
        let coo = file(|group| {
            group.set_attr("format", AttrValue::String("coo".into()));
            group.create_dataset("data").with_f64_data(&[2.0, 1.0]);
            group.create_dataset("row").with_i32_data(&[0, 1]);
            group.create_dataset("col").with_i32_data(&[1, 0]);
        });
        let weights = read(&coo).unwrap().weights.value;
        assert_eq!(weights, DMatrix::from_row_slice(3, 3, &[0., 2., 0., 1., 0., 0., 0., 0., 0.]));
        let bad = file(|group| {
            group.set_attr("format", AttrValue::String("coo".into()));
            group.create_dataset("data").with_f64_data(&[2.0, 1.0]);
            group.create_dataset("row").with_i32_data(&[0]);
            group.create_dataset("col").with_i32_data(&[1, 0]);
        });
        assert!(read(&bad).unwrap_err().to_string().contains("don't fit"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let files = file(|group| {
            group.set_attr("format", AttrValue::String("dense".into()));
        });
        let error = read(&files).unwrap_err();
        assert_eq!(error.to_string(), "net.h5: `edges/weight/data` not found");
        let error = hdf5(Path::new("net.h5"), Some("alpha"), &file(dense)).unwrap_err();
        assert_eq!(error.to_string(), "net.h5: `edges/alpha/data` not found");
        assert_eq!(error.help(), "the file holds the edges length, weight");
        let files = MemoryFiles::new(&[("net.h5", b"no HDF5")]);
        assert_eq!(read(&files).unwrap_err().code(), crate::diagnostic::Code::Unreadable);
        let error = read(&MemoryFiles::new(&[])).unwrap_err();
        assert_eq!(error.code(), crate::diagnostic::Code::ConnectomeMissing);
    }

    #[test]
    fn the_virtual_brains_own_names() {
        let mut builder = FileBuilder::new();
        builder.create_dataset("weights").with_f32_data(&WEIGHTS).with_shape(&[3, 3]);
        builder.create_dataset("tract_lengths").with_f64_data(&LENGTHS).with_shape(&[3, 3]);
        let files = MemoryFiles::new(&[("net.h5", &builder.finish().unwrap())]);
        let raw = read(&files).unwrap();
        assert_eq!(raw.lengths.unwrap().value[(2, 1)], 66.0);
        assert_eq!(raw.weights.place.to_string(), "net.h5: weights");
    }
}
