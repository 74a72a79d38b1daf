//! The simulation kernels: one block a sweep point, nodes across its threads.
//!
//! Everything that does not depend on the model is here: the integrators, the delayed sums over
//! afferents, the noise, the observers. The model's equations are [slots](cuda_std::slot), filled when
//! a job is loaded. Arguments, launch shape and memory are in `docs/gpu-kernels.md`.
//!
//! A step of a node is: gather, post, observe, noise, drift at each stage, bounds, events, then the channels of
//! the new state go into the history and the observers see it. One barrier a step separates what is
//! written into the history from who reads it.

mod block;
mod float;
mod gather;
pub mod group;
mod memory;
#[cfg(not(target_arch = "nvptx64"))]
mod native;
mod observe;
mod registers;
mod stages;

pub use block::Pointers;
pub use float::KernelFloat;
pub use memory::{simulate_f32_memory, simulate_f64_memory};
#[cfg(not(target_arch = "nvptx64"))]
pub use native::{NativeFloat, NativeKernel};
pub use registers::*;
