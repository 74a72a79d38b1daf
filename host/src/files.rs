//! Reading files, from disk or from wherever else a front end keeps them.
//!
//! Everything that reads an experiment goes through [`Files`], so that a set of files compiled into
//! the program, or held in memory by a test, is read by the same code as a folder on disk.

use std::borrow::Cow;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// A place where files are.
pub trait Files {
    /// The whole content of a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such file, and whatever else reading meets.
    fn read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>>;

    /// A file to be read from its start, piece by piece; for text that may be huge.
    ///
    /// # Errors
    /// As [`Files::read`].
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>>;

    /// Whether a file or a folder is there.
    fn exists(&self, path: &Path) -> bool;

    /// The paths of what is directly in a folder, sorted, so that no result depends on the order
    /// in which a file system lists.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such folder, and whatever else listing meets.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>> {
        std::fs::read(path).map(Cow::Owned)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(BufReader::new(std::fs::File::open(path)?)))
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = std::fs::read_dir(folder)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }
}
