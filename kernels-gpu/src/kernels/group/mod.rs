//! The fast simulation kernels: one block a *group* of sweep points that share their delays, all that
//! a step touches in shared memory.
//!
//! Delayed sums are split as the numerical contract splits them. [`far`] computes the far part of a
//! block of 32 steps for all nodes, before [`advance`] makes these steps: in sub-blocks of 8 it adds
//! the edges that reach back at least 8 steps, then step by step the shortest. So threads of a block wait for
//! each other once a step only where some edge is shorter than 8 steps.
//!
//! Sums without delays are the product of a dense matrix and the channels of all points of the group.

mod advance;
mod far;
mod model;
#[cfg(not(target_arch = "nvptx64"))]
mod native;
mod observe;
mod place;
mod sums;

pub use far::*;
pub use model::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use native::{NativeAdvance, NativeFar, NativeGroups};
pub use place::GroupPointers;
