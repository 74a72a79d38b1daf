//! The hot loops of the CPU engine: each compiled for several instruction sets and both precisions.
//!
//! They are a crate of their own because they take a minute to compile and seldom change. What they
//! compute with is `kernels_gpu`'s; what they compute for, the engine in `host` knows. Everything is a
//! function of [`Real`], whose first argument says which instructions to use:
//!
//! - [`interpret`]: a program's instructions over lanes;
//! - [`gather`]: weighted sums over afferents;
//! - [`transpose`]: between lanes side by side and steps side by side;
//! - [`noise`]: normals; [`lanes`]: what monitors need.
//!
//! No loop changes a bit of a result, whatever the instruction set.

pub mod gather;
pub mod interpret;
mod isa;
pub mod lanes;
pub mod noise;
mod real;
pub mod transpose;

pub use isa::Isa;
pub use real::{Number, Real, truth};

/// Lanes that an instruction works on at a time. A multiple of [`PACK`].
pub const CHUNK: usize = 256;

/// Lanes are padded to a multiple of this, so that vector loops have no remainder.
pub const PACK: usize = 16;
