//! Kernels that use everything `cuda_std` has. The tests run each natively, and assemble its PTX.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]

pub mod copies;
pub mod counters;
pub mod reduce;
pub mod slots;
pub mod sort;
pub mod vectors;
