//! What can go wrong between a crate of kernels and its PTX.

use crate::{Attempt, RUSTC_VARIABLE, SKIP_VARIABLE};
use std::path::PathBuf;
use std::{error, fmt, io};

/// Why there is no PTX.
#[derive(Debug)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The build was switched off by [`SKIP_VARIABLE`].
    Skipped,
    /// No tool chain on this machine can write PTX.
    NoToolchain {
        /// Where it was looked for, and what each place lacks.
        tried: Vec<Attempt>,
    },
    /// Neither `OUT_DIR` nor an explicit target folder says where to build.
    NotABuildScript,
    /// The manifest names no package.
    NoName {
        /// The manifest.
        manifest: PathBuf,
    },
    /// The kernels do not compile.
    Compile {
        /// The manifest of the kernels.
        manifest: PathBuf,
        /// What cargo and rustc said.
        messages: String,
    },
    /// The build succeeded, but its PTX is not where it should be.
    NoPtx {
        /// Where it should be.
        path: PathBuf,
    },
    /// A file or program could not be used.
    Io {
        /// The file or program.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl CudaBuilderError {
    /// Whether kernels cannot or shall not be built on this machine, as opposed to kernels that
    /// are wrong. A program that also runs without a GPU goes on in the first case only.
    #[must_use]
    pub const fn is_absence(&self) -> bool {
        matches!(self, Self::Skipped | Self::NoToolchain { .. })
    }
}

impl fmt::Display for CudaBuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped => write!(f, "skipped, because {SKIP_VARIABLE}=1"),
            Self::NoToolchain { tried } => {
                write!(f, "no Rust tool chain here can write PTX. ")?;
                for attempt in tried {
                    write!(f, "Tried {attempt}. ")?;
                }
                write!(
                    f,
                    "Get one with `rustup component add rust-src`, or with `apt-get install \
                     rustc-web rust-web-src`; or name one in {RUSTC_VARIABLE}"
                )
            }
            Self::NotABuildScript => {
                write!(f, "OUT_DIR is not set: call this from a build script or set target_dir")
            }
            Self::NoName { manifest } => {
                write!(f, "{} does not name its package", manifest.display())
            }
            Self::Compile { manifest, messages } => {
                write!(f, "the kernels of {} do not compile:\n{messages}", manifest.display())
            }
            Self::NoPtx { path } => {
                write!(f, "the build succeeded without writing {}", path.display())
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl error::Error for CudaBuilderError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
