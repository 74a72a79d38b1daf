//! Where a program of the CUDA toolkit is: shared by the tests that run one.

use std::env;
use std::path::{Path, PathBuf};

/// The file that `variable` names, or `program` in `PATH`, in `/usr/local/cuda/bin`, or in a package of
/// the Python environment `VIRTUAL_ENV`.
pub(crate) fn find(variable: &str, program: &str) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable) {
        return Some(named.into());
    }
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").iter().flat_map(|path| env::split_paths(path)).collect();
    folders.push("/usr/local/cuda/bin".into());
    if let Some(python) = env::var_os("VIRTUAL_ENV") {
        let versions = sub_folders(&Path::new(&python).join("lib"));
        let packages = versions.iter().map(|version| version.join("site-packages/nvidia"));
        folders.extend(packages.flat_map(|nvidia| sub_folders(&nvidia)).map(|p| p.join("bin")));
    }
    folders.into_iter().map(|folder| folder.join(program)).find(|found| found.is_file())
}

fn sub_folders(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default()
}
