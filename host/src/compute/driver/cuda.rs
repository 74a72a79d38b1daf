//! The driver of a real device: `cust` where it serves, the driver API where it does not.
//!
//! `cust` 0.3.2 drops the flag of a non-blocking stream, cannot record a graph, hides the JIT
//! compiler's log and knows no attribute after number 91. These go through `cust::sys`; so does
//! whatever needs such a stream. `ModuleJitOption::DetermineTargetFromContext` is never used: it
//! leaves the array of values one short, and the driver reads beyond it.
#![expect(unsafe_code, reason = "calls into the CUDA driver")]

mod load;
mod probe;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::context::Context;
use cust::device::Device;
use cust::error::CudaError;
use cust::sys;
use sys::{CUevent, CUfunction, CUgraph, CUgraphExec, CUresult, CUstream};

use super::*;
use crate::compute::ComputeError;
use load::Modules;

/// A stream that does not wait for the default stream (`CU_STREAM_NON_BLOCKING`).
const STREAM_NON_BLOCKING: u32 = 1;
/// Page-locked for every context of the process (`CU_MEMHOSTALLOC_PORTABLE`).
const HOST_MEMORY_PORTABLE: u32 = 1;
/// An event without time (`CU_EVENT_DISABLE_TIMING`).
const EVENT_DISABLE_TIMING: u32 = 2;

/// One NVIDIA device, through its primary context. All contexts of the process share it.
#[derive(Debug)]
pub struct CudaDriver {
    identity: AdapterIdentity,
    constraints: AdapterConstraints,
    modules: Modules,
    context: Context,
}

impl CudaDriver {
    /// The driver of the device with this number, opened once in a process and never closed.
    ///
    /// # Errors
    ///
    /// [`ComputeError::GpuUnavailable`] without a driver or such a device.
    pub fn shared(ordinal: u32) -> Result<Arc<Self>, ComputeError> {
        static OPEN: Mutex<BTreeMap<u32, Arc<CudaDriver>>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = open.get(&ordinal) {
            return Ok(Arc::clone(driver));
        }
        initialise()?;
        let device = Device::get_device(ordinal).map_err(|e| cust_error("cuDeviceGet", e))?;
        let driver = Arc::new(Self {
            identity: probe::identity(device, ordinal)?,
            constraints: probe::constraints(device)?,
            modules: Modules::default(),
            context: Context::new(device).map_err(|e| cust_error("cuDevicePrimaryCtxRetain", e))?,
        });
        open.insert(ordinal, Arc::clone(&driver));
        Ok(driver)
    }

    /// Makes the context that of the calling thread, as every call into the driver needs.
    fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: the context is retained as long as `self` lives.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.context.as_raw()) })
    }
}

/// Number of devices.
pub(in crate::compute) fn device_count() -> Result<u32, ComputeError> {
    initialise()?;
    let count = Device::num_devices().map_err(|e| cust_error("cuDeviceGetCount", e))?;
    if count > 0 {
        return Ok(count);
    }
    Err(ComputeError::GpuUnavailable {
        reason: "the driver lists no device".to_owned(),
        cause: None,
    })
}

/// Initialises the driver API; says which library is missing where it is.
fn initialise() -> Result<(), ComputeError> {
    if let Err(missing) = cust_raw::driver() {
        return Err(ComputeError::GpuUnavailable { reason: missing.to_string(), cause: None });
    }
    Ok(cust::init(cust::CudaFlags::empty()).map_err(|e| cust_error("cuInit", e))?)
}

fn check(operation: &'static str, result: CUresult) -> Result<(), DriverError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(driver_error(operation, result))
}

fn cust_error(operation: &'static str, error: CudaError) -> DriverError {
    driver_error(operation, cust_raw::result_from_code(error as i32))
}

fn driver_error(operation: &'static str, result: CUresult) -> DriverError {
    let mut text = ptr::null();
    // SAFETY: `text` is a local pointer; the function of this workspace always sets it.
    unsafe { sys::cuGetErrorString(result, &mut text) };
    // SAFETY: the text set just now is a constant of the driver or of `cust_raw`.
    let text = unsafe { CStr::from_ptr(text) };
    DriverError {
        operation,
        code: result as i32,
        name: cust_raw::result_name(result).to_string_lossy().into_owned(),
        text: text.to_string_lossy().into_owned(),
    }
}

fn stream_of(handle: &StreamHandle) -> CUstream {
    handle.0 as CUstream
}

fn event_of(handle: &EventHandle) -> CUevent {
    handle.0 as CUevent
}

/// The first byte of a range of page-locked memory, if the range lies inside.
fn host_pointer(
    operation: &'static str,
    memory: &HostMemoryHandle,
    offset: usize,
    size: usize,
) -> Result<*mut u8, DriverError> {
    if offset.checked_add(size).is_none_or(|end| end > memory.size) {
        return Err(driver_error(operation, CUresult::CUDA_ERROR_INVALID_VALUE));
    }
    // The offset lies inside one allocation, so the addition does not wrap.
    Ok((memory.raw as *mut u8).wrapping_add(offset))
}

impl Driver for CudaDriver {
    fn identity(&self) -> &AdapterIdentity {
        &self.identity
    }

    fn constraints(&self) -> &AdapterConstraints {
        &self.constraints
    }

    fn memory(&self) -> Result<DeviceMemory, DriverError> {
        self.bind()?;
        let (free, total) =
            cust::memory::mem_get_info().map_err(|e| cust_error("cuMemGetInfo_v2", e))?;
        Ok(DeviceMemory { free: free as u64, total: total as u64 })
    }

    fn allocate(&self, bytes: u64) -> Result<MemoryHandle, DriverError> {
        self.bind()?;
        let mut address = 0;
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: `address` is a local; `bind` made a context current.
        check("cuMemAlloc_v2", unsafe { sys::cuMemAlloc_v2(&mut address, size) })?;
        Ok(MemoryHandle(address))
    }

    fn address(&self, memory: &MemoryHandle) -> DeviceAddress {
        DeviceAddress(memory.0)
    }

    fn free(&self, memory: MemoryHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: `allocate` made the address, and the handle is consumed.
        check("cuMemFree_v2", unsafe { sys::cuMemFree_v2(memory.0) })
    }

    fn allocate_host(&self, bytes: usize) -> Result<HostMemoryHandle, DriverError> {
        self.bind()?;
        let mut pointer: *mut c_void = ptr::null_mut();
        // SAFETY: `pointer` is a local; `bind` made a context current.
        let result = unsafe { sys::cuMemHostAlloc(&mut pointer, bytes, HOST_MEMORY_PORTABLE) };
        check("cuMemHostAlloc", result)?;
        // SAFETY: `cuMemHostAlloc` gave `bytes` bytes that nobody else knows of.
        unsafe { pointer.cast::<u8>().write_bytes(0, bytes) };
        Ok(HostMemoryHandle { raw: pointer as u64, size: bytes })
    }

    fn free_host(&self, memory: HostMemoryHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: `allocate_host` made the pointer, and the handle is consumed.
        check("cuMemFreeHost", unsafe { sys::cuMemFreeHost(memory.raw as *mut c_void) })
    }

    fn write_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        let target = host_pointer("write_host", memory, offset, bytes.len())?;
        // SAFETY: the range was checked just now; `bytes` is ordinary memory, apart from it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        Ok(())
    }

    fn read_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &mut [u8],
    ) -> Result<(), DriverError> {
        let source = host_pointer("read_host", memory, offset, bytes.len())?;
        // SAFETY: the range was checked just now, and `allocate_host` set all of it once; `bytes` is
        // ordinary memory, apart from it.
        unsafe { ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn create_stream(&self) -> Result<StreamHandle, DriverError> {
        self.bind()?;
        let mut stream = ptr::null_mut();
        // SAFETY: `stream` is a local; `bind` made a context current.
        let result =
            unsafe { sys::cuStreamCreateWithPriority(&mut stream, STREAM_NON_BLOCKING, 0) };
        check("cuStreamCreateWithPriority", result)?;
        Ok(StreamHandle(stream as u64))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: `create_stream` made the stream, and the handle is consumed.
        check("cuStreamDestroy_v2", unsafe { sys::cuStreamDestroy_v2(stream_of(&stream)) })
    }

    fn synchronize(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the handle's stream is not destroyed.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(stream_of(stream)) })
    }

    fn copy_to_device(
        &self,
        stream: &StreamHandle,
        from: HostRange<'_>,
        to: DeviceAddress,
    ) -> Result<(), DriverError> {
        self.bind()?;
        let source = host_pointer("cuMemcpyHtoDAsync_v2", from.memory, from.offset, from.size)?;
        // SAFETY: the source is page-locked memory that is freed after the stream's work; the
        // driver checks the device's range.
        let result =
            unsafe { sys::cuMemcpyHtoDAsync_v2(to.0, source.cast(), from.size, stream_of(stream)) };
        check("cuMemcpyHtoDAsync_v2", result)
    }

    fn copy_to_host(
        &self,
        stream: &StreamHandle,
        from: DeviceAddress,
        to: HostRange<'_>,
    ) -> Result<(), DriverError> {
        self.bind()?;
        let target = host_pointer("cuMemcpyDtoHAsync_v2", to.memory, to.offset, to.size)?;
        // SAFETY: the target is page-locked memory that is freed after the stream's work; the
        // driver checks the device's range.
        let result =
            unsafe { sys::cuMemcpyDtoHAsync_v2(target.cast(), from.0, to.size, stream_of(stream)) };
        check("cuMemcpyDtoHAsync_v2", result)
    }

    fn fill(
        &self,
        stream: &StreamHandle,
        at: DeviceAddress,
        bytes: u64,
        value: u8,
    ) -> Result<(), DriverError> {
        self.bind()?;
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the handle's stream is not destroyed; the driver checks the device's range.
        let result = unsafe { sys::cuMemsetD8Async(at.0, value, size, stream_of(stream)) };
        check("cuMemsetD8Async", result)
    }

    fn create_event(&self, timed: bool) -> Result<EventHandle, DriverError> {
        self.bind()?;
        let mut event = ptr::null_mut();
        let flags = if timed { 0 } else { EVENT_DISABLE_TIMING };
        // SAFETY: `event` is a local; `bind` made a context current.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&mut event, flags) })?;
        Ok(EventHandle(event as u64))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: `create_event` made the event, and the handle is consumed.
        check("cuEventDestroy_v2", unsafe { sys::cuEventDestroy_v2(event_of(&event)) })
    }

    fn record_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: neither handle is destroyed.
        let result = unsafe { sys::cuEventRecord(event_of(event), stream_of(stream)) };
        check("cuEventRecord", result)
    }

    fn wait_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: neither handle is destroyed.
        let result = unsafe { sys::cuStreamWaitEvent(stream_of(stream), event_of(event), 0) };
        check("cuStreamWaitEvent", result)
    }

    fn synchronize_event(&self, event: &EventHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the handle's event is not destroyed.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(event_of(event)) })
    }

    fn elapsed_ns(&self, from: &EventHandle, to: &EventHandle) -> Result<i64, DriverError> {
        self.bind()?;
        let mut milliseconds = 0.0f32;
        // SAFETY: neither handle is destroyed; the pointer is to a local.
        let result =
            unsafe { sys::cuEventElapsedTime(&mut milliseconds, event_of(from), event_of(to)) };
        check("cuEventElapsedTime", result)?;
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }

    fn load_function(&self, image: &ModuleImage, entry: &str) -> Result<FunctionHandle, LoadError> {
        self.bind().map_err(|error| LoadError { error, log: String::new() })?;
        self.modules.function(&self.context, image, entry)
    }

    fn function_limits(&self, function: &FunctionHandle) -> Result<FunctionLimits, DriverError> {
        use sys::CUfunction_attribute_enum as Attribute;
        self.bind()?;
        let read = |attribute| {
            let mut value = 0;
            // SAFETY: the function's module is kept by the handle; the pointer is to a local.
            let result = unsafe {
                sys::cuFuncGetAttribute(&mut value, attribute, function.raw as CUfunction)
            };
            check("cuFuncGetAttribute", result)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        Ok(FunctionLimits {
            max_threads_per_block: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        })
    }

    fn allow_dynamic_shared(
        &self,
        function: &FunctionHandle,
        bytes: u32,
    ) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the function's module is kept by the handle.
        let result = unsafe {
            sys::cuFuncSetAttribute(
                function.raw as CUfunction,
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                i32::try_from(bytes).unwrap_or(i32::MAX),
            )
        };
        check("cuFuncSetAttribute", result)
    }

    fn launch(
        &self,
        stream: &StreamHandle,
        function: &FunctionHandle,
        shape: &LaunchShape,
        arguments: &[&[u8]],
    ) -> Result<(), DriverError> {
        self.bind()?;
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let LaunchShape { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared_bytes } = *shape;
        // SAFETY: the function's module is kept by the handle. The caller compared number and sizes
        // of the arguments with the function's parameters; the driver copies them, and does not
        // write them, before it returns.
        let result = unsafe {
            sys::cuLaunchKernel(
                function.raw as CUfunction,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                dynamic_shared_bytes,
                stream_of(stream),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check("cuLaunchKernel", result)
    }

    fn begin_capture(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        self.bind()?;
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the handle's stream is not destroyed.
        let result = unsafe { sys::cuStreamBeginCapture_v2(stream_of(stream), mode) };
        check("cuStreamBeginCapture_v2", result)
    }

    fn end_capture(&self, stream: &StreamHandle) -> Result<GraphHandle, DriverError> {
        self.bind()?;
        let mut graph: CUgraph = ptr::null_mut();
        // SAFETY: the handle's stream is not destroyed; the pointer is to a local.
        let result = unsafe { sys::cuStreamEndCapture(stream_of(stream), &mut graph) };
        check("cuStreamEndCapture", result)?;
        let mut executable: CUgraphExec = ptr::null_mut();
        // SAFETY: `cuStreamEndCapture` made the graph; the pointer is to a local.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
        let instantiated = check("cuGraphInstantiateWithFlags", result);
        // SAFETY: `cuStreamEndCapture` made the graph; the executable does not need it.
        unsafe { sys::cuGraphDestroy(graph) };
        instantiated?;
        let handle = GraphHandle(executable as u64);
        // SAFETY: `cuGraphInstantiateWithFlags` made the executable.
        let uploaded =
            check("cuGraphUpload", unsafe { sys::cuGraphUpload(executable, stream_of(stream)) });
        match uploaded {
            Ok(()) => Ok(handle),
            Err(error) => {
                let _ = self.destroy_graph(handle);
                Err(error)
            }
        }
    }

    fn abandon_capture(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        self.bind()?;
        let mut graph: CUgraph = ptr::null_mut();
        // SAFETY: the handle's stream is not destroyed; the pointer is to a local. A capture that is
        // invalid already gives an error and no graph, which is what is wanted here.
        unsafe { sys::cuStreamEndCapture(stream_of(stream), &mut graph) };
        if !graph.is_null() {
            // SAFETY: `cuStreamEndCapture` made the graph.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        Ok(())
    }

    fn launch_graph(&self, stream: &StreamHandle, graph: &GraphHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: neither handle is destroyed.
        let result = unsafe { sys::cuGraphLaunch(graph.0 as CUgraphExec, stream_of(stream)) };
        check("cuGraphLaunch", result)
    }

    fn destroy_graph(&self, graph: GraphHandle) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: `end_capture` made the graph, and the handle is consumed; the driver keeps what a
        // replay under way needs.
        check("cuGraphExecDestroy", unsafe { sys::cuGraphExecDestroy(graph.0 as CUgraphExec) })
    }
}
