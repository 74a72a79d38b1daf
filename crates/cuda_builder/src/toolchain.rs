//! Finding a Rust tool chain that can write PTX.
//!
//! Writing PTX takes three things: a `rustc` whose LLVM has the NVPTX back end, the `cargo` that
//! belongs to it, and the `core` library for the target, ready made or as source.

use crate::{Arch, TARGET};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the `rustc` to use. Its `cargo` is the one beside it.
pub const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";

/// A program that ignores its arguments and succeeds. Every Unix has it; on Windows it comes with
/// Git.
pub(crate) const IDLE_LINKER: &str = "true";

/// Where `core` for the GPU comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreLibrary {
    /// The compiled library that `rustup target add nvptx64-nvidia-cuda` installs.
    Prebuilt,
    /// Built from the library sources (`rust-src`, or Debian's `rust-web-src`).
    FromSource,
}

/// A tool chain that can write PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler itself, not a rustup proxy.
    pub rustc: PathBuf,
    /// The build tool of the same release.
    pub cargo: PathBuf,
    /// Where `core` comes from.
    pub core: CoreLibrary,
}

/// One place that was looked at, and why it did not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The place, in words.
    pub place: String,
    /// What it lacks.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl Toolchain {
    /// Looks for a tool chain: the one named by [`RUSTC_VARIABLE`] (then no other), the one that
    /// runs this build, Debian's.
    ///
    /// # Errors
    /// What was tried, in order, when none serves.
    pub fn find(arch: Arch) -> Result<Self, Vec<Attempt>> {
        let mut tried = Vec::new();
        for (place, rustc) in candidates(std::env::var_os(RUSTC_VARIABLE)) {
            match Self::inspect(&rustc, arch) {
                Ok(toolchain) => return Ok(toolchain),
                Err(reason) => tried.push(Attempt { place, reason }),
            }
        }
        Err(tried)
    }

    /// Says whether the tool chain of this `rustc` (a compiler or a rustup proxy) can write PTX
    /// for `arch`.
    fn inspect(rustc: &Path, arch: Arch) -> Result<Self, String> {
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim());
        // Behind a rustup proxy the real compiler is in the sysroot. Calling it directly keeps the
        // choice independent of the directory the kernels are in.
        let own = sysroot.join("bin").join(executable("rustc"));
        let rustc = if own.is_file() { own } else { rustc.to_path_buf() };
        let cargo = rustc.with_file_name(executable("cargo"));
        if !cargo.is_file() {
            return Err(format!("no cargo beside {}", rustc.display()));
        }
        let processors = ask(&rustc, &["--print", "target-cpus", "--target", TARGET])
            .map_err(|reason| format!("its LLVM has no NVPTX back end ({reason})"))?;
        if !processors.split_whitespace().any(|name| name == arch.target_cpu()) {
            return Err(format!("it does not know {arch}"));
        }
        ask(Path::new(IDLE_LINKER), &[])?;
        let core = core_library(&sysroot).ok_or_else(|| {
            format!("{} has neither {TARGET} nor the library sources", sysroot.display())
        })?;
        Ok(Self { rustc, cargo, core })
    }

    /// A file that changes when components are added to the tool chain that runs this build, so
    /// that a build script can look again. Only rustup keeps one.
    #[must_use]
    pub fn component_list() -> Option<PathBuf> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = ask(Path::new(&rustc), &["--print", "sysroot"]).ok()?;
        let list = Path::new(sysroot.trim()).join("lib/rustlib/components");
        list.is_file().then_some(list)
    }
}

/// The compilers to look at, best first.
fn candidates(named: Option<OsString>) -> Vec<(String, PathBuf)> {
    if let Some(named) = named {
        // A named compiler that does not serve is a mistake to report, not to work around.
        return vec![(format!("{RUSTC_VARIABLE}={}", named.display()), named.into())];
    }
    let active = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    vec![
        (format!("the active tool chain ({})", active.display()), active.into()),
        ("Debian's /usr/bin/rustc".to_owned(), "/usr/bin/rustc".into()),
    ]
}

/// Prebuilt first: it needs neither a minute nor a network.
fn core_library(sysroot: &Path) -> Option<CoreLibrary> {
    let rustlib = sysroot.join("lib").join("rustlib");
    let prebuilt = rustlib.join(TARGET).join("lib").read_dir().is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| is_core_rlib(&entry.file_name())))
    });
    if prebuilt {
        return Some(CoreLibrary::Prebuilt);
    }
    rustlib.join("src/rust/library/core/Cargo.toml").is_file().then_some(CoreLibrary::FromSource)
}

fn is_core_rlib(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("libcore-") && name.ends_with(".rlib"))
}

/// Takes back the library path that cargo gives to build scripts and tests. It leads to the outer
/// tool chain, and a compiler of the same release would load that one's libraries, with that one's
/// idea of where `core` is.
pub(crate) fn without_outer_libraries(command: &mut Command) -> &mut Command {
    command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH")
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Runs a compiler query and returns its output, or the first line of what it complained about.
fn ask(rustc: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = without_outer_libraries(&mut Command::new(rustc))
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", rustc.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(complaint.lines().next().unwrap_or("no message").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sysroot(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("cuda_builder-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        root
    }

    #[test]
    fn a_bare_sysroot_has_no_core_for_the_gpu() {
        assert_eq!(core_library(&sysroot("bare")), None);
    }

    #[test]
    fn sources_serve_and_a_prebuilt_core_is_preferred() {
        let root = sysroot("both");
        let source = root.join("lib/rustlib/src/rust/library/core");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("Cargo.toml"), "").unwrap();
        assert_eq!(core_library(&root), Some(CoreLibrary::FromSource));

        let prebuilt = root.join("lib/rustlib").join(TARGET).join("lib");
        fs::create_dir_all(&prebuilt).unwrap();
        fs::write(prebuilt.join("libcore-0123456789abcdef.rlib"), "").unwrap();
        assert_eq!(core_library(&root), Some(CoreLibrary::Prebuilt));
    }

    #[test]
    fn a_named_compiler_is_the_only_candidate() {
        let named = candidates(Some("/opt/rust/bin/rustc".into()));
        assert_eq!(named.len(), 1);
        assert_eq!(named[0].1, Path::new("/opt/rust/bin/rustc"));
        assert!(candidates(None).len() > 1);
    }

    #[test]
    fn a_compiler_that_is_not_there_is_reported() {
        let reason = Toolchain::inspect(Path::new("/nowhere/rustc"), Arch::Compute80).unwrap_err();
        assert!(reason.contains("/nowhere/rustc"), "{reason}");
    }
}
