//! Where NVRTC may lie: named by the user, known to the loader, in a toolkit, in a Python package.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAMES: [&str; 5] =
    ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.11", "libnvrtc.so"];

/// Folders below `site-packages` in which NVIDIA's wheels put the library, newest first.
const WHEEL_FOLDERS: [&str; 3] = ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu12/lib"];

/// Environment variables that name a toolkit.
const TOOLKIT_VARIABLES: [&str; 3] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"];

/// Names and paths to try, in order. `variable` reads an environment variable.
///
/// `NVRTC_LIBRARY` names the library or its folder, and then nothing else is tried.
pub(super) fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(named) = variable("NVRTC_LIBRARY").map(PathBuf::from) {
        return if named.is_dir() { existing(&named) } else { vec![named] };
    }
    let mut found: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
    for name in TOOLKIT_VARIABLES {
        if let Some(root) = variable(name).map(PathBuf::from) {
            found.extend(in_toolkit(&root));
        }
    }
    found.extend(in_toolkit(Path::new("/usr/local/cuda")));
    for prefix in python_prefixes(&variable) {
        for packages in site_packages(&prefix) {
            found.extend(WHEEL_FOLDERS.iter().flat_map(|folder| existing(&packages.join(folder))));
        }
    }
    found
}

/// Prefixes of Python environments: the active ones, then that of each `python3` on the path.
fn python_prefixes(variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|v| variable(v))
        .map(Into::into)
        .collect();
    if let Some(path) = variable("PATH") {
        for folder in std::env::split_paths(&path) {
            if folder.join("python3").exists()
                && let Some(prefix) = folder.parent()
            {
                prefixes.push(prefix.to_owned());
            }
        }
    }
    prefixes
}

fn site_packages(prefix: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(prefix.join("lib")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .map(|entry| entry.path().join("site-packages"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

fn in_toolkit(root: &Path) -> Vec<PathBuf> {
    ["lib64", "lib", "targets/x86_64-linux/lib"]
        .iter()
        .flat_map(|folder| existing(&root.join(folder)))
        .collect()
}

fn existing(folder: &Path) -> Vec<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
}

/// Folders with headers: beside the library, then in toolkits and wheels, for a library that the
/// loader found by its name.
pub(super) fn include_folders(
    library: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let beside = library.parent().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
    let mut folders = beside.map_or_else(Vec::new, headers_of_package);
    if folders.is_empty() {
        let toolkits = TOOLKIT_VARIABLES.iter().filter_map(|name| variable(name));
        let roots = toolkits.map(PathBuf::from).chain(["/usr/local/cuda".into()]);
        folders.extend(roots.flat_map(|root| headers_of_package(&root)));
        for prefix in python_prefixes(&variable) {
            for packages in site_packages(&prefix) {
                let wheel = |folder: &&str| packages.join(folder);
                let packages = WHEEL_FOLDERS.iter().map(wheel);
                folders.extend(
                    packages.filter_map(|p| Some(headers_of_package(p.parent()?))).flatten(),
                );
            }
        }
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// In a toolkit or the wheels of CUDA 13 all headers lie in one folder, and those of the C++ library,
/// which cuRAND's need, below it; in the wheels of CUDA 12 each package has its own.
fn headers_of_package(package: &Path) -> Vec<PathBuf> {
    let mut folders = vec![package.join("include"), package.join("include/cccl")];
    if let Some(wheels) = package.parent().filter(|folder| folder.ends_with("nvidia")) {
        let packages = ["cuda_runtime/include", "curand/include", "cuda_cccl/include"];
        folders.extend(packages.map(|folder| wheels.join(folder)));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, []).unwrap();
    }

    #[test]
    fn the_named_library_is_the_only_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libnvrtc.so.12");
        touch(&library);
        let named = |value: &Path| {
            let value = value.as_os_str().to_owned();
            candidates(move |name| (name == "NVRTC_LIBRARY").then(|| value.clone()))
        };
        assert_eq!(named(&library), std::slice::from_ref(&library));
        assert_eq!(named(folder.path()), [library]);
        assert_eq!(named(Path::new("/nowhere")), [PathBuf::from("/nowhere")]);
    }

    #[test]
    fn both_layouts_of_the_wheels_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("lib/python3.12/site-packages/nvidia");
        let old = packages.join("cuda_nvrtc/lib/libnvrtc.so.12");
        let new = packages.join("cu13/lib/libnvrtc.so.13");
        touch(&old);
        touch(&new);
        touch(&packages.join("cu13/include/curand_kernel.h"));
        touch(&packages.join("cu13/include/cccl/nv/target"));
        touch(&packages.join("curand/include/curand_kernel.h"));
        let prefix = folder.path().as_os_str().to_owned();
        let found = candidates(|name| (name == "VIRTUAL_ENV").then(|| prefix.clone()));
        assert_eq!(found[0], PathBuf::from("libnvrtc.so.13"));
        let place = |path: &Path| found.iter().position(|f| f == path).unwrap();
        assert!(place(&new) < place(&old));
        let none = |_: &str| None;
        assert_eq!(include_folders(&old, none), [packages.join("curand/include")]);
        let all = ["cu13/include", "cu13/include/cccl", "curand/include"];
        let all = all.map(|folder| packages.join(folder));
        assert_eq!(include_folders(&new, none), all);
        // A library that the loader found by its name says nothing about its headers.
        let active = |name: &str| (name == "VIRTUAL_ENV").then(|| prefix.clone());
        let found = include_folders(Path::new("libnvrtc.so.13"), active);
        assert!(all.iter().all(|folder| found.contains(folder)), "{found:?}");
    }
}
