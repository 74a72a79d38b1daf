//! The numerical core of a whole-brain network simulation.
//!
//! Everything in this crate is `no_std` and is compiled twice from one source: natively, for the
//! CPU engine, and to PTX, for the GPU kernels. That is how both give the same bits.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch, core_float_math))]

// Natively only for the two operations that `core` does not offer on stable: see `lane::scalar`.
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod abi;
pub mod bold;
pub mod curand;
pub mod kernels;
pub mod lane;
pub mod math;
pub mod mean;
pub mod noise;
pub mod op;
pub mod philox;
pub mod probe;
pub mod ring;
pub mod scheme;
pub mod summation;
