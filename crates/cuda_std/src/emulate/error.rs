//! What can go wrong in an emulated launch.

use super::Dim3;
use std::{error, fmt, io};

/// Why a launch did not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum EmulationError {
    /// The block has no threads, or more than a GPU allows (1024).
    BlockSize {
        /// The block's extent.
        block_dim: Dim3,
    },
    /// Some threads wait for others that will not come.
    Divergence {
        /// The block in which it happened.
        block: Dim3,
        /// Threads that wait in `sync_threads`.
        at_barrier: usize,
        /// Threads that wait for other lanes of their warp.
        in_warp: usize,
        /// Threads that have returned.
        returned: usize,
    },
    /// A thread panicked.
    Panic {
        /// The thread's block.
        block: Dim3,
        /// The thread in its block.
        thread: Dim3,
        /// The panic's message.
        message: String,
    },
    /// The operating system gave no thread.
    Spawn(io::Error),
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl fmt::Display for EmulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockSize { block_dim } => {
                write!(f, "a block of {block_dim} threads: a block has 1 to 1024")
            }
            Self::Divergence { block, at_barrier, in_warp, returned } => write!(
                f,
                "the threads of block {block} diverged: {at_barrier} wait at a barrier, {in_warp} \
                 for other lanes of their warp, {returned} have returned"
            ),
            Self::Panic { block, thread, message } => {
                write!(f, "thread {thread} of block {block} panicked: {message}")
            }
            Self::Spawn(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl error::Error for EmulationError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Spawn(error) => Some(error),
            _ => None,
        }
    }
}
