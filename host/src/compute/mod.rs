//! Bytes and launches on a device: memory, streams, kernels, graphs, time.
//!
//! The engines build on [`CudaComputeContext`]: one slab of device memory with a ring allocator
//! ([`slab`]), a compute stream, a prefetch stream that uploads beside it, a cache of loaded
//! functions ([`module`]) and graph capture ([`graph`]). [`OracleContext`] is the part that the
//! [`CpuContext`] has too, so that one test runs on both.
//!
//! Below the context lies a trait of the few operations of a driver, implemented over `cust` and by
//! [`fake::FakeDriver`], which runs on CPU memory and checks the order of calls. The trait cannot be
//! named outside: its calls are safe in the order in which the context makes them, not in any.
//! Nothing here knows what is computed.
//!
//! Every use of a view is checked: released memory gives [`ComputeError::StaleView`]. Uploads,
//! prefetches and launches that touch the same view are ordered by events without the caller's
//! doing. While a graph is recorded, only launches and fills are possible.
//!
//! Unsafe code is in `driver/cuda.rs` and `nvrtc.rs` with what lies below them, and nowhere else.

#![deny(unsafe_code)]

mod buffer;
mod context;
mod cpu;
mod device;
mod driver;
mod error;
pub mod fake;
pub mod graph;
mod kernel;
mod launch;
pub mod module;
pub mod nvrtc;
mod oracle;
mod ptx_signature;
pub mod slab;
mod staging;
mod timeline;

pub use buffer::{BufferUsage, BufferView};
pub use context::{CapturedCudaGraph, ComputeContext, CudaComputeContext, StreamKind, Timestamp};
pub use cpu::CpuContext;
pub use device::{AdapterConstraints, AdapterIdentity, DeviceMemory, DeviceSummary, cuda_devices};
pub use driver::{
    CudaDriver, DeviceAddress, DriverError, EventHandle, FunctionLimits, LaunchShape, LoadError,
    Owned, StreamHandle,
};
pub use error::ComputeError;
// For functions of this crate over any context; see the module's description.
pub(crate) use driver::Driver;
pub use kernel::{
    BufferBinding, KernelBody, KernelSpec, NativeKernel, PtxText, Schedule, SourceDigest,
    SourceText,
};
pub use launch::Arguments;
pub use oracle::{OracleContext, compare_f32};
