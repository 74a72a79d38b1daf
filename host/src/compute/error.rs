//! Everything that can go wrong between a caller and a device.

use std::sync::Arc;

use super::driver::DriverError;
use super::nvrtc::NvrtcError;
use super::slab::SlabError;

/// Error of the compute context. Causes are kept as sources.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// No driver, no device, or a build without the `cuda` feature.
    #[error("no usable NVIDIA GPU: {reason}")]
    GpuUnavailable {
        /// What was found missing.
        reason: String,
        /// What the driver answered, where there is one.
        #[source]
        cause: Option<DriverError>,
    },
    /// The device stopped answering, or a kernel faulted: the context is of no more use.
    #[error("the device is lost for this process (a kernel faulted, or the hardware did)")]
    DeviceLost(#[source] DriverError),
    /// Device or pinned host memory ran out.
    #[error("the device has no {requested} bytes free")]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// What the driver answered.
        #[source]
        cause: DriverError,
    },
    /// The slab is full or too small.
    #[error("out of slab")]
    OutOfSlab(#[from] SlabError),
    /// Another refusal of the driver.
    #[error("the CUDA driver refused")]
    Driver(#[source] DriverError),
    /// The kernel's text does not compile or load.
    #[error("invalid kernel `{entry}`: {problem}")]
    InvalidKernel {
        /// Entry point.
        entry: String,
        /// What is wrong with it, with the compiler's log where there is one.
        problem: String,
        /// What the driver answered, where it was asked.
        #[source]
        cause: Option<DriverError>,
    },
    /// CUDA C could not be compiled: NVRTC is missing, or it found errors.
    #[error("invalid kernel `{entry}`: its CUDA C was not compiled")]
    Nvrtc {
        /// Entry point.
        entry: String,
        /// What NVRTC or its absence says.
        #[source]
        cause: Arc<NvrtcError>,
    },
    /// The arguments of a launch are not those that the kernel declares.
    #[error("wrong arguments for kernel `{entry}`: {problem}")]
    InvalidArguments {
        /// Entry point.
        entry: String,
        /// What differs.
        problem: String,
    },
    /// A schedule or launch shape beyond the device's limits.
    #[error("invalid schedule: {what} is {value}, allowed is {allowed}")]
    InvalidSchedule {
        /// Quantity.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The range in words.
        allowed: String,
    },
    /// The view's memory was released, or the view belongs to another context.
    #[error("the view at {start} ({size} bytes) is released or belongs to another context")]
    StaleView {
        /// Absolute counter of its begin.
        start: u64,
        /// Its bytes.
        size: u64,
    },
    /// Data that do not fit a view.
    #[error("{what}: {bytes} bytes against a view of {size} bytes")]
    ViewSize {
        /// What was tried.
        what: &'static str,
        /// Bytes of the data, or of one element.
        bytes: u64,
        /// Bytes of the view.
        size: u64,
    },
    /// While launches are recorded only launches and copies on the device may be made.
    #[error("{operation} is not possible while a graph is recorded")]
    RecordingForbids {
        /// What was tried.
        operation: &'static str,
    },
    /// A graph was ended without having been begun, or begun twice.
    #[error("graph capture: {problem}")]
    Capture {
        /// What is out of order.
        problem: &'static str,
    },
    /// Two contexts that should agree do not.
    #[error("{what}: element {index} is {actual} and should be {expected} ({ulps} ulp apart)")]
    OracleMismatch {
        /// What was compared.
        what: String,
        /// First element that differs too much.
        index: usize,
        /// Value of the oracle.
        expected: f64,
        /// Value under test.
        actual: f64,
        /// Distance in units in the last place of `f32`.
        ulps: u64,
    },
    /// The kernel has no body that this context can run.
    #[error("kernel `{entry}` has no {missing} body")]
    NoBody {
        /// Entry point.
        entry: String,
        /// The kind that is missing.
        missing: &'static str,
    },
}

impl From<DriverError> for ComputeError {
    fn from(error: DriverError) -> Self {
        if error.is_no_device() {
            Self::GpuUnavailable { reason: error.to_string(), cause: Some(error) }
        } else if error.is_device_lost() {
            Self::DeviceLost(error)
        } else {
            Self::Driver(error)
        }
    }
}
