//! What a device is and what it can do, as it says itself.

use super::ComputeError;
use super::driver::{CudaDriver, Driver};

/// Who made a device, which one it is, and what drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterIdentity {
    /// Maker, for example `NVIDIA` or `AuthenticAMD`.
    pub vendor: String,
    /// Product name.
    pub device: String,
    /// Driver with its versions; for a CPU, the operating system.
    pub driver: String,
    /// Number of the device within this process, as the driver counts.
    pub ordinal: u32,
    /// Identity that stays the same over processes and orderings, where the device has one.
    pub uuid: Option<[u8; 16]>,
}

/// Limits of a device. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterConstraints {
    /// Most threads of one block.
    pub max_threads_per_block: u32,
    /// Most threads of a block along x, y, z.
    pub max_block: [u32; 3],
    /// Most blocks of a grid along x, y, z.
    pub max_grid: [u32; 3],
    /// Threads that run in step: 32 on every NVIDIA device so far.
    pub warp_size: u32,
    /// Shared memory of a block without asking for more.
    pub shared_bytes_per_block: u32,
    /// Shared memory of a block that may be asked for.
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Most threads that a multiprocessor holds.
    pub max_threads_per_multiprocessor: u32,
    /// Multiprocessors; for a CPU, threads that run at once.
    pub multiprocessors: u32,
    /// Copies that run beside a kernel.
    pub async_copy_engines: u32,
    /// Memory of the device.
    pub total_memory: u64,
    /// Compute capability (major, minor); none for a CPU.
    pub compute_capability: Option<(u32, u32)>,
}

/// Memory of a device at one moment, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Not allocated by anyone.
    pub free: u64,
    /// Of the device.
    pub total: u64,
}

/// A device that was found, with what a listing shows.
#[derive(Debug, Clone)]
pub struct DeviceSummary {
    /// Who it is.
    pub identity: AdapterIdentity,
    /// What it can do.
    pub constraints: AdapterConstraints,
    /// How much memory is free now.
    pub memory: DeviceMemory,
}

/// The CUDA devices of this machine, in the driver's order.
///
/// # Errors
///
/// [`ComputeError::GpuUnavailable`] where there is no driver or no device, with the reason.
pub fn cuda_devices() -> Result<Vec<DeviceSummary>, ComputeError> {
    let count = super::driver::device_count()?;
    (0..count)
        .map(|ordinal| {
            let driver = CudaDriver::shared(ordinal)?;
            Ok(DeviceSummary {
                identity: driver.identity().clone(),
                constraints: driver.constraints().clone(),
                memory: driver.memory()?,
            })
        })
        .collect()
}
