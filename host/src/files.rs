//! Where files come from: the disk, or the content that ships inside the program.
//!
//! A path that starts with `embedded:` names shipped content, `embedded:models/JansenRit.yaml` for
//! example; every other path is on disk. Both kinds go through [`Files`], so that a shipped example
//! that refers to `../connectomes/x` works as one on disk does.

use crate::library;
use std::borrow::Cow;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// The start of a path of shipped content.
pub const EMBEDDED: &str = "embedded:";

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

/// Shipped content only.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddedFiles;

impl EmbeddedFiles {
    fn bytes(path: &Path) -> io::Result<&'static [u8]> {
        let name = embedded_name(path);
        name.as_deref()
            .and_then(library::file)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such shipped file"))
    }
}

impl Files for EmbeddedFiles {
    fn read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>> {
        Self::bytes(path).map(Cow::Borrowed)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Self::bytes(path)?))
    }

    fn exists(&self, path: &Path) -> bool {
        embedded_name(path).is_some_and(|name| {
            library::file(&name).is_some() || library::paths().any(|p| is_inside(p, &name))
        })
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such shipped folder");
        let name = embedded_name(folder).ok_or_else(missing)?;
        let mut paths: Vec<PathBuf> = library::paths()
            .filter(|p| is_inside(p, &name))
            .map(|p| {
                let start = if name.is_empty() { 0 } else { name.len() + 1 };
                let end = p[start..].find('/').map_or(p.len(), |at| start + at);
                PathBuf::from(format!("{EMBEDDED}{}", &p[..end]))
            })
            .collect();
        paths.sort();
        paths.dedup();
        if paths.is_empty() { Err(missing()) } else { Ok(paths) }
    }
}

/// Shipped content for `embedded:` paths, the disk for all others.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllFiles;

impl AllFiles {
    fn of(path: &Path) -> &'static dyn Files {
        if is_embedded(path) { &EmbeddedFiles } else { &DiskFiles }
    }
}

impl Files for AllFiles {
    fn read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>> {
        Self::of(path).read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        Self::of(path).open(path)
    }

    fn exists(&self, path: &Path) -> bool {
        Self::of(path).exists(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        Self::of(folder).list(folder)
    }
}

/// Whether a path names shipped content.
pub fn is_embedded(path: &Path) -> bool {
    path.to_str().is_some_and(|p| p.starts_with(EMBEDDED))
}

fn is_inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The name of shipped content without prefix, `.` and `..`; `None` where it leaves the content.
fn embedded_name(path: &Path) -> Option<String> {
    let inner = path.to_str()?.strip_prefix(EMBEDDED)?;
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(inner).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir | Component::RootDir => {}
            Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_paths_are_normalised() {
        let name = |p: &str| embedded_name(Path::new(p));
        assert_eq!(name("embedded:examples/../connectomes/a"), Some("connectomes/a".into()));
        assert_eq!(name("embedded:"), Some(String::new()));
        assert_eq!(name("embedded:../x"), None);
        assert_eq!(name("models/x"), None);
        assert!(is_inside("a/b", "a") && is_inside("a/b", "") && !is_inside("ab/c", "a"));
    }

    #[test]
    fn shipped_files_are_found_and_listed() {
        let path = PathBuf::from(format!("{EMBEDDED}couplings"));
        let listed = AllFiles.list(&path).unwrap();
        assert!(!listed.is_empty());
        for file in listed {
            assert!(AllFiles.exists(&file) && !AllFiles.read(&file).unwrap().is_empty());
        }
        assert!(AllFiles.exists(&path));
        assert!(!AllFiles.exists(Path::new("embedded:coupling")));
        assert!(AllFiles.read(&path).is_err());
    }

    #[test]
    fn disk_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b"), "2").unwrap();
        std::fs::write(folder.path().join("a"), "1").unwrap();
        let listed = AllFiles.list(folder.path()).unwrap();
        assert_eq!(listed, [folder.path().join("a"), folder.path().join("b")]);
        assert_eq!(AllFiles.read(&listed[1]).unwrap().as_ref(), b"2");
    }
}
