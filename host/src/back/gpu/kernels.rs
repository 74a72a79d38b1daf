//! The kernels that this program was built with.

use crate::compute::AdapterConstraints;

/// For the oldest devices.
const SM_75: &str = include_str!(env!("KERNELS_GPU_PTX_SM75"));
/// For devices with asynchronous copies.
const SM_80: &str = include_str!(env!("KERNELS_GPU_PTX_SM80"));

/// Why there are no kernels for a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelsError {
    /// The program was built without.
    #[error("this program was built without GPU kernels: {0}")]
    Absent(&'static str),
    /// The device is too old.
    #[error("GPU kernels need compute capability 7.5, the device has {major}.{minor}")]
    Capability {
        /// Of the device.
        major: u32,
        /// Of the device.
        minor: u32,
    },
}

/// The kernels as PTX, with slots, for a device.
///
/// # Errors
/// As [`kernels`].
pub fn kernels_for(constraints: &AdapterConstraints) -> Result<&'static str, KernelsError> {
    let (major, minor) = constraints.compute_capability.unwrap_or((0, 0));
    kernels(major, minor)
}

/// The kernels as PTX, with slots, for a device of compute capability `major.minor`.
///
/// # Errors
/// A program without kernels; a device that is too old.
pub fn kernels(major: u32, minor: u32) -> Result<&'static str, KernelsError> {
    let text = match (major, minor) {
        (8.., _) => SM_80,
        (7, 5..) => SM_75,
        _ => return Err(KernelsError::Capability { major, minor }),
    };
    if text.is_empty() {
        return Err(KernelsError::Absent(env!("KERNELS_GPU_ABSENT")));
    }
    Ok(text)
}
