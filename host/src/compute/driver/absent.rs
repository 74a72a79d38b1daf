//! The driver of a build without the `cuda` feature: it cannot be opened.

use std::sync::Arc;

use super::*;
use crate::compute::ComputeError;

/// A driver that does not exist: there is no value of it, so its methods are never called.
#[derive(Debug)]
pub enum AbsentDriver {}

impl AbsentDriver {
    /// Never succeeds.
    ///
    /// # Errors
    ///
    /// [`ComputeError::GpuUnavailable`].
    pub fn shared(_ordinal: u32) -> Result<Arc<Self>, ComputeError> {
        Err(unavailable())
    }
}

fn unavailable() -> ComputeError {
    ComputeError::GpuUnavailable {
        reason: "this program was built without the `cuda` feature".to_owned(),
        cause: None,
    }
}

/// Never succeeds.
pub(in crate::compute) fn device_count() -> Result<u32, ComputeError> {
    Err(unavailable())
}

macro_rules! never {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $answer:ty;)*) => {
        impl Driver for AbsentDriver {
            $(fn $name(&self $(, $argument: $type)*) -> $answer {
                $(let _ = $argument;)*
                match *self {}
            })*
        }
    };
}

never! {
    fn identity(&self) -> &AdapterIdentity;
    fn constraints(&self) -> &AdapterConstraints;
    fn memory(&self) -> Result<DeviceMemory, DriverError>;
    fn allocate(&self, bytes: u64) -> Result<MemoryHandle, DriverError>;
    fn address(&self, memory: &MemoryHandle) -> DeviceAddress;
    fn free(&self, memory: MemoryHandle) -> Result<(), DriverError>;
    fn allocate_host(&self, bytes: usize) -> Result<HostMemoryHandle, DriverError>;
    fn free_host(&self, memory: HostMemoryHandle) -> Result<(), DriverError>;
    fn write_host(&self, memory: &HostMemoryHandle, offset: usize, bytes: &[u8]) -> Result<(), DriverError>;
    fn read_host(&self, memory: &HostMemoryHandle, offset: usize, bytes: &mut [u8]) -> Result<(), DriverError>;
    fn create_stream(&self) -> Result<StreamHandle, DriverError>;
    fn destroy_stream(&self, stream: StreamHandle) -> Result<(), DriverError>;
    fn synchronize(&self, stream: &StreamHandle) -> Result<(), DriverError>;
    fn copy_to_device(&self, stream: &StreamHandle, from: HostRange<'_>, to: DeviceAddress) -> Result<(), DriverError>;
    fn copy_to_host(&self, stream: &StreamHandle, from: DeviceAddress, to: HostRange<'_>) -> Result<(), DriverError>;
    fn fill(&self, stream: &StreamHandle, at: DeviceAddress, bytes: u64, value: u8) -> Result<(), DriverError>;
    fn create_event(&self, timed: bool) -> Result<EventHandle, DriverError>;
    fn destroy_event(&self, event: EventHandle) -> Result<(), DriverError>;
    fn record_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError>;
    fn wait_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError>;
    fn synchronize_event(&self, event: &EventHandle) -> Result<(), DriverError>;
    fn elapsed_ns(&self, from: &EventHandle, to: &EventHandle) -> Result<i64, DriverError>;
    fn load_function(&self, image: &ModuleImage, entry: &str) -> Result<FunctionHandle, LoadError>;
    fn function_limits(&self, function: &FunctionHandle) -> Result<FunctionLimits, DriverError>;
    fn allow_dynamic_shared(&self, function: &FunctionHandle, bytes: u32) -> Result<(), DriverError>;
    fn launch(&self, stream: &StreamHandle, function: &FunctionHandle, shape: &LaunchShape, arguments: &[&[u8]]) -> Result<(), DriverError>;
    fn begin_capture(&self, stream: &StreamHandle) -> Result<(), DriverError>;
    fn end_capture(&self, stream: &StreamHandle) -> Result<GraphHandle, DriverError>;
    fn abandon_capture(&self, stream: &StreamHandle) -> Result<(), DriverError>;
    fn launch_graph(&self, stream: &StreamHandle, graph: &GraphHandle) -> Result<(), DriverError>;
    fn destroy_graph(&self, graph: GraphHandle) -> Result<(), DriverError>;
}
