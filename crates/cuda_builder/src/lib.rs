//! Builds a Rust crate of GPU kernels to PTX from a build script.
//!
//! ```no_run
//! use cuda_builder::{Arch, CudaBuilder};
//!
//! let ptx = CudaBuilder::new("../kernels-gpu").arch(Arch::Compute80).build()?;
//! println!("cargo::rustc-env=KERNELS_PTX={}", ptx.display());
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```
//!
//! The compiler is a stock `rustc` with its own `nvptx64-nvidia-cuda` back end; where one is
//! looked for is described at [`Toolchain::find`]. The kernels are built in a target folder of
//! their own, `cuda-builder/<arch>` beside the profile folders of the outer build: cargo locks a
//! target folder while it builds, so sharing one with the outer build would wait for ever. A first
//! build takes well under a minute, most of it `core`; a build without changes a fraction of a second.
//!
//! With [`SKIP_VARIABLE`] set to `1` nothing is built and [`CudaBuilderError::Skipped`] is
//! returned.

mod arch;
mod command;
mod error;
mod toolchain;

pub use arch::Arch;
pub use error::CudaBuilderError;
pub use toolchain::{Attempt, CoreLibrary, RUSTC_VARIABLE, Toolchain};

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The target triple of the kernels.
pub const TARGET: &str = "nvptx64-nvidia-cuda";

/// Set to `1` to build no kernels, for a quick look at everything else.
pub const SKIP_VARIABLE: &str = "CUDA_BUILDER_SKIP";

/// A build of one crate of kernels for one architecture.
#[derive(Clone, Debug)]
#[must_use = "nothing is built before `build` is called"]
pub struct CudaBuilder {
    crate_dir: PathBuf,
    arch: Arch,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    emit_cargo_lines: bool,
}

impl CudaBuilder {
    /// Prepares a build of the crate in `crate_dir`, a path relative to the package whose build
    /// script calls.
    pub fn new(crate_dir: impl Into<PathBuf>) -> Self {
        Self {
            crate_dir: crate_dir.into(),
            arch: Arch::Compute75,
            copy_to: None,
            target_dir: None,
            emit_cargo_lines: true,
        }
    }

    /// The oldest generation the PTX must load on. Default: [`Arch::Compute75`].
    pub fn arch(mut self, arch: Arch) -> Self {
        self.arch = arch;
        self
    }

    /// Also copies the PTX to this file.
    pub fn copy_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(file.into());
        self
    }

    /// Builds in this folder. Default: `cuda-builder/<arch>` in the outer build's target folder.
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Whether to print the `cargo::rerun-if-…` lines of a build script. Default: yes. Switch it
    /// off to build kernels from a test.
    pub fn emit_cargo_lines(mut self, emit: bool) -> Self {
        self.emit_cargo_lines = emit;
        self
    }

    /// Builds the kernels and returns the path of the PTX file.
    ///
    /// # Errors
    /// [`CudaBuilderError::is_absence`] tells a machine that cannot build kernels, where the
    /// caller can go on without them, from kernels that do not compile.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        self.say_rerun_if_env_changed(SKIP_VARIABLE);
        self.say_rerun_if_env_changed(RUSTC_VARIABLE);
        self.say_rerun_if_changed(&self.crate_dir.join("src"));
        let manifest = self.crate_dir.join("Cargo.toml");
        self.say_rerun_if_changed(&manifest);
        if env::var_os(SKIP_VARIABLE).is_some_and(|value| value == "1") {
            return Err(CudaBuilderError::Skipped);
        }
        let toolchain = Toolchain::find(self.arch).map_err(|tried| {
            if let Some(list) = Toolchain::component_list() {
                self.say_rerun_if_changed(&list);
            }
            CudaBuilderError::NoToolchain { tried }
        })?;

        let target_dir = self.build_folder()?;
        let output =
            command::cargo_rustc(&toolchain, &manifest, &target_dir, self.arch)
                .output()
                .map_err(|source| CudaBuilderError::Io { path: toolchain.cargo.clone(), source })?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(CudaBuilderError::Compile { manifest, messages });
        }

        let release = target_dir.join(TARGET).join("release");
        let stem = self.library_name(&manifest)?;
        self.say_rerun_if_dependencies_changed(&release.join(format!("{stem}.d")));
        let ptx = release.join("deps").join(format!("{stem}.s"));
        if !ptx.is_file() {
            return Err(CudaBuilderError::NoPtx { path: ptx });
        }
        let Some(copy) = self.copy_to else { return Ok(ptx) };
        copy_if_different(&ptx, &copy)?;
        Ok(copy)
    }

    fn build_folder(&self) -> Result<PathBuf, CudaBuilderError> {
        if let Some(folder) = &self.target_dir {
            return Ok(folder.clone());
        }
        let out = env::var_os("OUT_DIR").ok_or(CudaBuilderError::NotABuildScript)?;
        Ok(outer_target_dir(Path::new(&out)).join("cuda-builder").join(self.arch.target_cpu()))
    }

    /// The name of the crate's library: `name` of the manifest's `[package]`, with underscores.
    fn library_name(&self, manifest: &Path) -> Result<String, CudaBuilderError> {
        let text = fs::read_to_string(manifest)
            .map_err(|source| CudaBuilderError::Io { path: manifest.to_path_buf(), source })?;
        library_name(&text)
            .ok_or_else(|| CudaBuilderError::NoName { manifest: manifest.to_path_buf() })
    }

    fn say_rerun_if_env_changed(&self, variable: &str) {
        self.say(&format!("cargo::rerun-if-env-changed={variable}"));
    }

    fn say_rerun_if_changed(&self, path: &Path) {
        self.say(&format!("cargo::rerun-if-changed={}", path.display()));
    }

    /// Names every source file that went into the PTX, from the dependency file cargo wrote.
    fn say_rerun_if_dependencies_changed(&self, dependency_file: &Path) {
        let Ok(text) = fs::read_to_string(dependency_file) else { return };
        for source in dependencies(&text) {
            self.say_rerun_if_changed(Path::new(&source));
        }
    }

    #[expect(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
    fn say(&self, line: &str) {
        if self.emit_cargo_lines {
            println!("{line}");
        }
    }
}

/// The target folder that holds `OUT_DIR`: the one cargo marked as a cache, or `OUT_DIR` itself
/// where none is marked.
fn outer_target_dir(out_dir: &Path) -> &Path {
    out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(out_dir)
}

/// Reads `name` of `[lib]` or `[package]` from a manifest, as the file name of the library.
fn library_name(manifest: &str) -> Option<String> {
    let (mut table, mut package, mut library) = ("", None, None);
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        if key.trim() == "name" {
            let value = value.trim().trim_matches('"').replace('-', "_");
            match table {
                "[lib]" => library = Some(value),
                "[package]" => package = Some(value),
                _ => {}
            }
        }
    }
    library.or(package)
}

/// Splits the right-hand side of a Makefile rule; a space inside a path is written `\ `.
fn dependencies(rule: &str) -> Vec<String> {
    let Some((_, files)) = rule.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    files.replace("\\ ", "\0").split_whitespace().map(|file| file.replace('\0', " ")).collect()
}

/// Copies without touching a file that is already right, so that cargo sees no change.
fn copy_if_different(from: &Path, to: &Path) -> Result<(), CudaBuilderError> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CudaBuilderError::Io { path, source }
    };
    let new = fs::read(from).map_err(io(from))?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    fs::write(to, new).map_err(io(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_named_by_lib_before_package() {
        let package = "[package]\nname = \"kernels-gpu\"\n[dependencies]\nname = \"other\"\n";
        assert_eq!(library_name(package).as_deref(), Some("kernels_gpu"));
        let both = "[package]\nname = \"a\"\n\n[lib]\nname = \"b-c\"\n";
        assert_eq!(library_name(both).as_deref(), Some("b_c"));
        assert_eq!(library_name("[workspace]\n"), None);
    }

    #[test]
    fn dependency_files_may_hold_spaces() {
        let rule = "/t/lib.so: /a\\ b/lib.rs /c/lane.rs\n\n/c/lane.rs:\n";
        assert_eq!(dependencies(rule), ["/a b/lib.rs", "/c/lane.rs"]);
    }
}
