//! A driver on CPU memory that checks the order of the calls.
//!
//! Queued work runs late and in an order that a seed chooses among those that streams and events
//! permit, so a missing wait shows as wrong bytes under some seed. What a real device leaves
//! undefined is noted as a violation: host memory touched while a copy is under way, freed memory
//! used, waiting or allocating while launches are recorded, a handle that was destroyed.

mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::device::{AdapterConstraints, AdapterIdentity, DeviceMemory};
use super::driver::{
    DeviceAddress, Driver, DriverError, EventHandle, FunctionHandle, FunctionLimits, GraphHandle,
    HostMemoryHandle, HostRange, LaunchShape, LoadError, MemoryHandle, StreamHandle,
};
use super::module::ModuleImage;
use state::{Operation, State};

pub use state::FakeLaunch;

/// What a kernel does to the memory of the fake device.
pub type FakeKernel = Arc<dyn Fn(&mut FakeLaunch<'_>) + Send + Sync>;

const OUT_OF_MEMORY: i32 = 2;
const INVALID_PTX: i32 = 218;
const INVALID_HANDLE: i32 = 400;
const NOT_FOUND: i32 = 500;
const NOT_READY: i32 = 600;
const CAPTURE_VIOLATION: i32 = 900;

/// The driver; see the module's description.
#[derive(Debug)]
pub struct FakeDriver {
    identity: AdapterIdentity,
    constraints: AdapterConstraints,
    kernels: Kernels,
    state: Mutex<State>,
}

struct Kernels(HashMap<String, FakeKernel>);

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FakeDriver {
    /// A device with this much memory; `seed` chooses the order of concurrent work.
    pub fn new(total_memory: u64, seed: u64) -> Self {
        Self {
            identity: AdapterIdentity {
                vendor: "none".to_owned(),
                device: "fake device on CPU memory".to_owned(),
                driver: "recording".to_owned(),
                ordinal: 0,
                uuid: None,
            },
            constraints: AdapterConstraints {
                max_threads_per_block: 1_024,
                max_block: [1_024, 1_024, 64],
                max_grid: [i32::MAX as u32, 65_535, 65_535],
                warp_size: 32,
                shared_bytes_per_block: 48 << 10,
                shared_bytes_per_block_optin: 99 << 10,
                shared_bytes_per_multiprocessor: 100 << 10,
                registers_per_multiprocessor: 65_536,
                max_threads_per_multiprocessor: 1_536,
                multiprocessors: 2,
                async_copy_engines: 2,
                total_memory,
                compute_capability: Some((8, 6)),
            },
            kernels: Kernels(HashMap::new()),
            state: Mutex::new(State::new(seed)),
        }
    }

    /// Gives an entry point its meaning.
    #[must_use]
    pub fn kernel(
        mut self,
        entry: &str,
        body: impl Fn(&mut FakeLaunch<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.kernels.0.insert(entry.to_owned(), Arc::new(body));
        self
    }

    /// What was done that a real device leaves undefined, in the order in which it was noticed.
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    /// Kinds of handles that are not given back, with their numbers.
    pub fn leaks(&self) -> Vec<String> {
        self.lock().leaks()
    }

    /// How many times a module was compiled.
    pub fn compilations(&self) -> usize {
        self.lock().compiled.len()
    }

    /// How many kernels ran, and how many graphs were replayed.
    pub fn launches_and_replays(&self) -> (usize, usize) {
        let state = self.lock();
        (state.launches, state.replays)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that is forbidden while any stream records.
    fn unless_recording(
        &self,
        operation: &'static str,
    ) -> Result<MutexGuard<'_, State>, DriverError> {
        let mut state = self.lock();
        if state.is_recording() {
            state.violations.push(format!("{operation} while recording"));
            return Err(refuse(operation, CAPTURE_VIOLATION));
        }
        Ok(state)
    }

    fn enqueue(
        &self,
        name: &'static str,
        stream: &StreamHandle,
        operation: Operation,
    ) -> Result<(), DriverError> {
        if self.lock().enqueue(stream.0, operation) {
            return Ok(());
        }
        Err(refuse(name, INVALID_HANDLE))
    }
}

fn refuse(operation: &'static str, code: i32) -> DriverError {
    DriverError { operation, code, name: format!("FAKE_{code}"), text: "refused".to_owned() }
}

impl Driver for FakeDriver {
    fn identity(&self) -> &AdapterIdentity {
        &self.identity
    }

    fn constraints(&self) -> &AdapterConstraints {
        &self.constraints
    }

    fn memory(&self) -> Result<DeviceMemory, DriverError> {
        let used = self.lock().allocated_bytes();
        let total = self.constraints.total_memory;
        Ok(DeviceMemory { free: total.saturating_sub(used), total })
    }

    fn allocate(&self, bytes: u64) -> Result<MemoryHandle, DriverError> {
        let free = self.memory()?.free;
        let mut state = self.unless_recording("allocate")?;
        if bytes > free {
            return Err(refuse("allocate", OUT_OF_MEMORY));
        }
        Ok(MemoryHandle(state.allocate(bytes)))
    }

    fn address(&self, memory: &MemoryHandle) -> DeviceAddress {
        DeviceAddress(memory.0)
    }

    fn free(&self, memory: MemoryHandle) -> Result<(), DriverError> {
        let mut state = self.unless_recording("free")?;
        if state.free(memory.0) { Ok(()) } else { Err(refuse("free", INVALID_HANDLE)) }
    }

    fn allocate_host(&self, bytes: usize) -> Result<HostMemoryHandle, DriverError> {
        let raw = self.unless_recording("allocate_host")?.allocate_host(bytes);
        Ok(HostMemoryHandle { raw, size: bytes })
    }

    fn free_host(&self, memory: HostMemoryHandle) -> Result<(), DriverError> {
        let mut state = self.unless_recording("free_host")?;
        if state.free_host(memory.raw) { Ok(()) } else { Err(refuse("free_host", INVALID_HANDLE)) }
    }

    fn write_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        match self.lock().host_bytes("write_host", memory.raw, offset, bytes.len()) {
            Some(target) => {
                target.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(refuse("write_host", INVALID_HANDLE)),
        }
    }

    fn read_host(
        &self,
        memory: &HostMemoryHandle,
        offset: usize,
        bytes: &mut [u8],
    ) -> Result<(), DriverError> {
        match self.lock().host_bytes("read_host", memory.raw, offset, bytes.len()) {
            Some(source) => {
                bytes.copy_from_slice(source);
                Ok(())
            }
            None => Err(refuse("read_host", INVALID_HANDLE)),
        }
    }

    fn create_stream(&self) -> Result<StreamHandle, DriverError> {
        Ok(StreamHandle(self.unless_recording("create_stream")?.create_stream()))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<(), DriverError> {
        let mut state = self.lock();
        if state.run_stream(stream.0) && state.streams.remove(&stream.0).is_some() {
            return Ok(());
        }
        Err(refuse("destroy_stream", INVALID_HANDLE))
    }

    fn synchronize(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        let mut state = self.unless_recording("synchronize")?;
        if state.run_stream(stream.0) {
            return Ok(());
        }
        Err(refuse("synchronize", INVALID_HANDLE))
    }

    fn copy_to_device(
        &self,
        stream: &StreamHandle,
        from: HostRange<'_>,
        to: DeviceAddress,
    ) -> Result<(), DriverError> {
        let HostRange { memory, offset, size } = from;
        let operation = Operation::ToDevice { host: memory.raw, offset, size, device: to.0 };
        self.enqueue("copy_to_device", stream, operation)
    }

    fn copy_to_host(
        &self,
        stream: &StreamHandle,
        from: DeviceAddress,
        to: HostRange<'_>,
    ) -> Result<(), DriverError> {
        let HostRange { memory, offset, size } = to;
        let operation = Operation::ToHost { device: from.0, host: memory.raw, offset, size };
        self.enqueue("copy_to_host", stream, operation)
    }

    fn fill(
        &self,
        stream: &StreamHandle,
        at: DeviceAddress,
        bytes: u64,
        value: u8,
    ) -> Result<(), DriverError> {
        self.enqueue("fill", stream, Operation::Fill { device: at.0, size: bytes, value })
    }

    fn create_event(&self, timed: bool) -> Result<EventHandle, DriverError> {
        Ok(EventHandle(self.lock().create_event(timed)))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<(), DriverError> {
        match self.lock().events.remove(&event.0) {
            Some(_) => Ok(()),
            None => Err(refuse("destroy_event", INVALID_HANDLE)),
        }
    }

    fn record_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError> {
        let mut state = self.lock();
        match state.new_recording(event.0) {
            Some(ticket) if state.enqueue(stream.0, Operation::Record { ticket }) => Ok(()),
            _ => Err(refuse("record_event", INVALID_HANDLE)),
        }
    }

    fn wait_event(&self, stream: &StreamHandle, event: &EventHandle) -> Result<(), DriverError> {
        let mut state = self.lock();
        // An event that was never recorded is nothing to wait for.
        let Some(ticket) = state.last_recording(event.0) else { return Ok(()) };
        if state.enqueue(stream.0, Operation::Wait { ticket }) {
            return Ok(());
        }
        Err(refuse("wait_event", INVALID_HANDLE))
    }

    fn synchronize_event(&self, event: &EventHandle) -> Result<(), DriverError> {
        let mut state = self.unless_recording("synchronize_event")?;
        let Some(ticket) = state.last_recording(event.0) else { return Ok(()) };
        if state.run_until_recorded(ticket) {
            return Ok(());
        }
        Err(refuse("synchronize_event", INVALID_HANDLE))
    }

    fn elapsed_ns(&self, from: &EventHandle, to: &EventHandle) -> Result<i64, DriverError> {
        let state = self.lock();
        match (state.time_of(from.0), state.time_of(to.0)) {
            (Some(from), Some(to)) => Ok(to - from),
            _ => Err(refuse("elapsed_ns", NOT_READY)),
        }
    }

    fn load_function(&self, image: &ModuleImage, entry: &str) -> Result<FunctionHandle, LoadError> {
        let fail = |code, log: &str| LoadError {
            error: refuse("load_function", code),
            log: log.to_owned(),
        };
        let mut state = self
            .unless_recording("load_function")
            .map_err(|error| LoadError { error, log: String::new() })?;
        if !image.ptx.as_str().contains(".version") {
            return Err(fail(INVALID_PTX, "line 1; fatal: missing .version directive"));
        }
        let Some(kernel) = self.kernels.0.get(entry) else {
            return Err(fail(NOT_FOUND, ""));
        };
        state.compiled.insert(*image.ptx.digest());
        let raw = state.add_function(Arc::clone(kernel));
        Ok(FunctionHandle { raw, _module: Arc::new(()) })
    }

    fn function_limits(&self, _: &FunctionHandle) -> Result<FunctionLimits, DriverError> {
        Ok(FunctionLimits {
            max_threads_per_block: 512,
            static_shared_bytes: 1_024,
            registers: 128,
            local_bytes: 0,
        })
    }

    fn allow_dynamic_shared(&self, _: &FunctionHandle, _: u32) -> Result<(), DriverError> {
        Ok(())
    }

    fn launch(
        &self,
        stream: &StreamHandle,
        function: &FunctionHandle,
        shape: &LaunchShape,
        arguments: &[&[u8]],
    ) -> Result<(), DriverError> {
        let arguments = arguments.iter().map(|bytes| bytes.to_vec()).collect();
        let operation = Operation::Launch { function: function.raw, shape: *shape, arguments };
        self.enqueue("launch", stream, operation)
    }

    fn begin_capture(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        if self.lock().begin_recording(stream.0) {
            return Ok(());
        }
        Err(refuse("begin_capture", CAPTURE_VIOLATION))
    }

    fn end_capture(&self, stream: &StreamHandle) -> Result<GraphHandle, DriverError> {
        match self.lock().end_recording(stream.0) {
            Some(graph) => Ok(GraphHandle(graph)),
            None => Err(refuse("end_capture", CAPTURE_VIOLATION)),
        }
    }

    fn abandon_capture(&self, stream: &StreamHandle) -> Result<(), DriverError> {
        self.end_capture(stream).and_then(|graph| self.destroy_graph(graph))
    }

    fn launch_graph(&self, stream: &StreamHandle, graph: &GraphHandle) -> Result<(), DriverError> {
        self.enqueue("launch_graph", stream, Operation::Replay { graph: graph.0 })
    }

    fn destroy_graph(&self, graph: GraphHandle) -> Result<(), DriverError> {
        match self.lock().destroy_graph(graph.0) {
            true => Ok(()),
            false => Err(refuse("destroy_graph", INVALID_HANDLE)),
        }
    }
}
