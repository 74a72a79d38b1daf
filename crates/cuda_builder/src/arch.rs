//! The virtual architectures PTX can be written for.

use std::fmt;

/// The oldest GPU generation that the PTX must load on.
///
/// PTX runs on its own generation and on every later one, because the driver compiles it for the
/// device when it is loaded. A newer generation is worth asking for only for its instructions:
/// 8.0 brings asynchronous copies into shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Arch {
    /// Volta, 2017.
    Compute70,
    /// Turing, 2018.
    Compute75,
    /// Ampere (A100), 2020.
    Compute80,
    /// Ampere (consumer), 2020.
    Compute86,
    /// Ada Lovelace, 2022.
    Compute89,
    /// Hopper, 2022.
    Compute90,
    /// Blackwell (data centre), 2024.
    Compute100,
    /// Blackwell (consumer), 2025.
    Compute120,
}

impl Arch {
    /// The name that `rustc -Ctarget-cpu`, `.target` in PTX and `ptxas -arch` use.
    #[must_use]
    pub const fn target_cpu(self) -> &'static str {
        match self {
            Self::Compute70 => "sm_70",
            Self::Compute75 => "sm_75",
            Self::Compute80 => "sm_80",
            Self::Compute86 => "sm_86",
            Self::Compute89 => "sm_89",
            Self::Compute90 => "sm_90",
            Self::Compute100 => "sm_100",
            Self::Compute120 => "sm_120",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target_cpu())
    }
}
