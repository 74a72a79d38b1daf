//! The cargo call that turns a crate into PTX.

use crate::toolchain::{CoreLibrary, IDLE_LINKER, Toolchain, without_outer_libraries};
use crate::{Arch, TARGET};
use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What the release profile must say, whatever the workspace's own says. One code generation unit
/// and whole-program optimisation make rustc itself write one linked PTX text.
const PROFILE: [(&str, &str); 8] = [
    ("OPT_LEVEL", "3"),
    ("LTO", "fat"),
    ("CODEGEN_UNITS", "1"),
    ("PANIC", "abort"),
    ("OVERFLOW_CHECKS", "false"),
    ("DEBUG_ASSERTIONS", "false"),
    ("DEBUG", "false"),
    ("INCREMENTAL", "false"),
];

/// Variables of cargo's that are settings of the user's, not facts about the outer build.
const SETTINGS: [&str; 7] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTR",
    "CARGO_TERM_",
    "CARGO_MAKEFLAGS",
    "CARGO_SOURCE_",
];

/// Builds the call. The crate keeps its `rlib` type for native use: `--crate-type cdylib` holds
/// for this call only.
pub(crate) fn cargo_rustc(
    toolchain: &Toolchain,
    manifest: &Path,
    target_dir: &Path,
    arch: Arch,
) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    without_outer_libraries(&mut command);
    for (name, _) in env::vars_os() {
        if is_of_the_outer_build(&name) {
            command.env_remove(name);
        }
    }
    for (key, value) in PROFILE {
        command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
    command
        .env("RUSTC", &toolchain.rustc)
        // An empty wrapper overrides one from a configuration file: sccache and its like do not
        // know `--emit=asm`.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        // The PTX kernel ABI and inline assembly for this target are not stable yet. This holds
        // for the kernels and what they depend on, and for nothing else.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(toolchain.core, arch).join("\x1f"))
        .args(["rustc", "--lib", "--release", "--crate-type", "cdylib", "--target", TARGET])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target_dir);
    if toolchain.core == CoreLibrary::FromSource {
        command.arg("-Zbuild-std=core");
    }
    command.args(["--", "--emit=asm"]);
    command
}

fn rustflags(core: CoreLibrary, arch: Arch) -> Vec<String> {
    let mut flags = vec![
        format!("-Ctarget-cpu={arch}"),
        "-Zunstable-options".to_owned(),
        // rustc has written the PTX by the time it would link, so the linker has nothing to do.
        "-Clinker-flavor=llbc".to_owned(),
        format!("-Clinker={IDLE_LINKER}"),
    ];
    if core == CoreLibrary::FromSource {
        // A panic is one trap, without the formatting of a message that nobody would see.
        flags.push("-Cpanic=immediate-abort".to_owned());
    }
    flags
}

fn is_of_the_outer_build(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if SETTINGS.iter().any(|setting| name.starts_with(setting)) {
        return false;
    }
    name.starts_with("CARGO")
        || name.starts_with("RUSTC")
        || name.starts_with("RUSTDOC")
        || name.starts_with("RUSTUP_TOOLCHAIN")
        || name.starts_with("DEP_")
        || ["RUSTFLAGS", "TARGET", "HOST", "OUT_DIR", "OPT_LEVEL", "PROFILE", "DEBUG", "NUM_JOBS"]
            .contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn call(core: CoreLibrary) -> Command {
        let toolchain = Toolchain { rustc: "/t/rustc".into(), cargo: "/t/cargo".into(), core };
        cargo_rustc(&toolchain, Path::new("/k/Cargo.toml"), Path::new("/out"), Arch::Compute75)
    }

    fn arguments(command: &Command) -> Vec<OsString> {
        command.get_args().map(OsStr::to_os_string).collect()
    }

    #[test]
    fn only_a_core_from_source_is_built_and_aborts_at_once() {
        let build_std = OsString::from("-Zbuild-std=core");
        assert!(arguments(&call(CoreLibrary::FromSource)).contains(&build_std));
        assert!(!arguments(&call(CoreLibrary::Prebuilt)).contains(&build_std));
        let immediate = "-Cpanic=immediate-abort".to_owned();
        assert!(rustflags(CoreLibrary::FromSource, Arch::Compute75).contains(&immediate));
        assert!(!rustflags(CoreLibrary::Prebuilt, Arch::Compute75).contains(&immediate));
    }

    #[test]
    fn the_outer_build_does_not_leak_in() {
        for name in ["CARGO_PKG_NAME", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO"] {
            assert!(is_of_the_outer_build(OsStr::new(name)), "{name}");
        }
        for name in ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN", "OUT_DIR", "CARGO_CFG_UNIX"]
        {
            assert!(is_of_the_outer_build(OsStr::new(name)), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "PATH", "CARGO_MAKEFLAGS", "RUSTUP_HOME"] {
            assert!(!is_of_the_outer_build(OsStr::new(name)), "{name}");
        }
    }
}
