//! The few operations of a CUDA driver that the context is built on.
//!
//! Three drivers implement them: [`CudaDriver`] over `cust` and the driver API (a driver that
//! refuses everything, in a build without the `cuda` feature), and [`super::fake::FakeDriver`] over
//! CPU memory, which checks the order of the calls. Handles are not `Copy`: what is destroyed
//! cannot be used again.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod cuda;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::device::{AdapterConstraints, AdapterIdentity, DeviceMemory};
use super::module::ModuleImage;

#[cfg(not(feature = "cuda"))]
pub use absent::AbsentDriver as CudaDriver;
#[cfg(not(feature = "cuda"))]
pub(in crate::compute) use absent::device_count;
#[cfg(feature = "cuda")]
pub use cuda::CudaDriver;
#[cfg(feature = "cuda")]
pub(in crate::compute) use cuda::device_count;

/// A refusal of the driver: which call, which result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {name} ({code}), {text}")]
pub struct DriverError {
    /// Function of the driver API.
    pub operation: &'static str,
    /// NVIDIA's number of the result.
    pub code: i32,
    /// NVIDIA's name of the result.
    pub name: String,
    /// The result in words.
    pub text: String,
}

impl DriverError {
    /// No driver, or a driver without a device.
    pub fn is_no_device(&self) -> bool {
        // NOT_INITIALIZED, STUB_LIBRARY, NO_DEVICE, INVALID_DEVICE, SYSTEM_NOT_READY,
        // SYSTEM_DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED_ON_DEVICE
        matches!(self.code, 3 | 34 | 100 | 101 | 802..=804)
    }

    /// Memory ran out.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == 2
    }

    /// The errors after which every later call fails too.
    pub fn is_device_lost(&self) -> bool {
        // ECC and NVLINK; illegal address, launch timeout, assert, hardware stack, illegal
        // instruction, misaligned address, address space, program counter, launch failed
        matches!(self.code, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719)
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, PartialEq, Eq)]
        pub struct $name(pub(super) u64);
    };
}
handle!(
    /// A queue of work on the device.
    StreamHandle
);
handle!(
    /// A point in a stream.
    EventHandle
);
handle!(
    /// Recorded launches, ready to be replayed.
    GraphHandle
);
handle!(
    /// Device memory.
    MemoryHandle
);

/// Page-locked host memory.
#[derive(Debug, PartialEq, Eq)]
pub struct HostMemoryHandle {
    pub(super) raw: u64,
    pub(super) size: usize,
}

/// Address on the device, for kernel arguments and copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceAddress(pub(super) u64);

impl DeviceAddress {
    /// The address as the device counts.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The address `bytes` further on.
    #[must_use]
    pub(super) fn offset(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }
}

/// A range of page-locked memory.
#[derive(Debug, Clone, Copy)]
pub struct HostRange<'a> {
    /// The memory.
    pub memory: &'a HostMemoryHandle,
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// A function of a loaded module, which stays loaded as long as this lives.
pub struct FunctionHandle {
    pub(super) raw: u64,
    pub(super) _module: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for FunctionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionHandle").field("raw", &self.raw).finish_non_exhaustive()
    }
}

/// What the compiled function needs of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionLimits {
    /// Most threads of a block of this function, by its registers.
    pub max_threads_per_block: u32,
    /// Shared memory that the function declares itself, in bytes.
    pub static_shared_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread in bytes: spills and arrays indexed at run time.
    pub local_bytes: u32,
}

/// Grid, block and dynamic shared memory of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: u32,
}

/// A module that was refused, with what the driver's compiler wrote.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{log}")]
pub struct LoadError {
    /// The result.
    #[source]
    pub error: DriverError,
    /// The JIT compiler's error log; may be empty.
    pub log: String,
}

/// The operations of a driver on one device. All of them may be called from any thread.
///
/// Work is queued on streams and runs later; copies to and from the host use page-locked memory,
/// which the caller neither reads nor writes before an event says that the copy is done.
pub trait Driver: Send + Sync + Sized + 'static {
    /// Who the device is.
    fn identity(&self) -> &AdapterIdentity;
    /// What it can do.
    fn constraints(&self) -> &AdapterConstraints;
    /// Its memory now.
    fn memory(&self) -> Result<DeviceMemory, DriverError>;

    /// Allocates device memory, with undefined content.
    fn allocate(&self, bytes: u64) -> Result<MemoryHandle, DriverError>;
    /// Address of an allocation's first byte.
    fn address(&self, memory: &MemoryHandle) -> DeviceAddress;
    /// Releases device memory, after the work that uses it.
    fn free(&self, memory: MemoryHandle) -> Result<(), DriverError>;
    /// Allocates page-locked host memory, zeroed.
    fn allocate_host(&self, bytes: usize) -> Result<HostMemoryHandle, DriverError>;
    /// Releases page-locked memory; no copy may be under way.
    fn free_host(&self, memory: HostMemoryHandle) -> Result<(), DriverError>;
    /// Copies into page-locked memory, at once.
    fn write_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), DriverError>;
    /// Copies out of page-locked memory, at once.
    fn read_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &mut [u8],
    ) -> Result<(), DriverError>;

    /// A stream that does not wait for the default stream.
    fn create_stream(&self) -> Result<StreamHandle, DriverError>;
    /// Destroys a stream; its work is finished first.
    fn destroy_stream(&self, stream: StreamHandle) -> Result<(), DriverError>;
    /// Waits for a stream's work.
    fn synchronize(&self, stream: &StreamHandle) -> Result<(), DriverError>;

    /// Queues a copy from the host to the device.
    fn copy_to_device(
        &self,
        stream: &StreamHandle,
        from: HostRange<'_>,
        to: DeviceAddress,
    ) -> Result<(), DriverError>;
    /// Queues a copy from the device to the host.
    fn copy_to_host(
        &self,
        stream: &StreamHandle,
        from: DeviceAddress,
        to: HostRange<'_>,
    ) -> Result<(), DriverError>;
    /// Queues the setting of `bytes` bytes to one value.
    fn fill(
        &self,
        stream: &StreamHandle,
        at: DeviceAddress,
        bytes: u64,
        value: u8,
    ) -> Result<(), DriverError>;

    /// An event, with or without a time stamp.
    fn create_event(&self, timed: bool) -> Result<EventHandle, DriverError>;
    /// Destroys an event.
    fn destroy_event(&self, event: EventHandle) -> Result<(), DriverError>;
    /// Queues the event.
    fn record_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError>;
    /// Makes later work of the stream wait for the event's last recording.
    fn wait_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError>;
    /// Makes the host wait for the event.
    fn synchronize_event(&self, event: &EventHandle) -> Result<(), DriverError>;
    /// Nanoseconds from one finished event to another; negative where the second came first.
    fn elapsed_ns(&self, from: &EventHandle, to: &EventHandle) -> Result<i64, DriverError>;

    /// Loads a module and finds a function in it. The same text is compiled and loaded once.
    fn load_function(&self, image: &ModuleImage, entry: &str) -> Result<FunctionHandle, LoadError>;
    /// What the function needs.
    fn function_limits(&self, function: &FunctionHandle) -> Result<FunctionLimits, DriverError>;
    /// Permits the function this much dynamic shared memory.
    fn allow_dynamic_shared(
        &self,
        function: &FunctionHandle,
        bytes: u32,
    ) -> Result<(), DriverError>;
    /// Queues a launch. Each argument's bytes are copied before the call returns; the caller has
    /// compared their number and sizes with the function's parameters.
    fn launch(
        &self,
        stream: &StreamHandle,
        function: &FunctionHandle,
        shape: &LaunchShape,
        arguments: &[&[u8]],
    ) -> Result<(), DriverError>;

    /// Records the stream's work from now on instead of running it; only this thread's calls are
    /// restricted meanwhile.
    fn begin_capture(&self, stream: &StreamHandle) -> Result<(), DriverError>;
    /// Ends recording; the graph is instantiated and on the device.
    fn end_capture(&self, stream: &StreamHandle) -> Result<GraphHandle, DriverError>;
    /// Ends recording and throws away what was recorded.
    fn abandon_capture(&self, stream: &StreamHandle) -> Result<(), DriverError>;
    /// Queues a replay.
    fn launch_graph(&self, stream: &StreamHandle, graph: &GraphHandle) -> Result<(), DriverError>;
    /// Destroys a graph.
    fn destroy_graph(&self, graph: GraphHandle) -> Result<(), DriverError>;
}

/// What a driver can give back.
pub trait Resource: Sized {
    /// Gives it back.
    fn release<D: Driver>(self, driver: &D) -> Result<(), DriverError>;
}

macro_rules! resource {
    ($handle:ident, $release:ident) => {
        impl Resource for $handle {
            fn release<D: Driver>(self, driver: &D) -> Result<(), DriverError> {
                driver.$release(self)
            }
        }
    };
}
resource!(StreamHandle, destroy_stream);
resource!(EventHandle, destroy_event);
resource!(GraphHandle, destroy_graph);
resource!(MemoryHandle, free);
resource!(HostMemoryHandle, free_host);

/// A handle together with its driver: given back when dropped.
#[derive(Debug)]
pub struct Owned<D: Driver, R: Resource> {
    driver: Arc<D>,
    resource: Option<R>,
}

impl<D: Driver, R: Resource> Owned<D, R> {
    /// Takes the handle, which `driver` made.
    pub fn new(driver: &Arc<D>, resource: R) -> Self {
        Self { driver: Arc::clone(driver), resource: Some(resource) }
    }
}

impl<D: Driver, R: Resource> std::ops::Deref for Owned<D, R> {
    type Target = R;

    fn deref(&self) -> &R {
        match &self.resource {
            Some(resource) => resource,
            None => unreachable!("the handle is taken in `drop` only"),
        }
    }
}

impl<D: Driver, R: Resource> Drop for Owned<D, R> {
    fn drop(&mut self) {
        if let Some(resource) = self.resource.take() {
            // A device that is lost refuses this too, and there is nobody left to tell.
            let _ = resource.release(&*self.driver);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ComputeError;

    #[test]
    fn results_are_sorted_into_kinds() {
        let kind = |code| {
            let error = DriverError {
                operation: "call",
                code,
                name: "NAME".to_owned(),
                text: "text".to_owned(),
            };
            assert_eq!(error.to_string(), format!("call: NAME ({code}), text"));
            match ComputeError::from(error) {
                ComputeError::GpuUnavailable { .. } => "unavailable",
                ComputeError::DeviceLost(_) => "lost",
                ComputeError::Driver(_) => "driver",
                other => panic!("{other}"),
            }
        };
        assert_eq!([3, 34, 100, 101, 803].map(kind), ["unavailable"; 5]);
        assert_eq!([214, 700, 702, 714, 719].map(kind), ["lost"; 5]);
        assert_eq!([1, 2, 218, 222, 701, 801, 900, 999].map(kind), ["driver"; 8]);
    }
}
