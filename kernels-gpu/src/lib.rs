//! The numerical core of a whole-brain network simulation.
//!
//! Everything in this crate is `no_std` and is compiled twice from one source: natively, for the
//! CPU engine, and to PTX, for the GPU kernels. That is how both give the same bits.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]

pub mod lane;
pub mod math;
pub mod philox;
pub mod probe;
