//! The compute context: one slab of device memory, a stream, and what runs on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::buffer::BufferView;
use super::device::{AdapterConstraints, AdapterIdentity, DeviceMemory};
use super::driver::{
    CudaDriver, DeviceAddress, Driver, EventHandle, LaunchShape, MemoryHandle, Owned, StreamHandle,
};
use super::error::ComputeError;
use super::graph::{CaptureState, CapturedGraph};
use super::kernel::{KernelSpec, Schedule};
use super::launch::{Argument, Arguments, check_shape};
use super::module::{self, Function, ModuleCache};
use super::slab::{Lifetime, RingAllocator, SlabReport};
use super::staging::Staging;
use super::timeline::Timeline;

/// Bytes of one staging chunk; four of them lie in page-locked memory for each stream.
const STAGING_CHUNK: u64 = 4 << 20;

static NEXT_CONTEXT: AtomicU64 = AtomicU64::new(0);

/// The compute context on an NVIDIA device.
pub type CudaComputeContext = ComputeContext<CudaDriver>;

/// A graph recorded by [`CudaComputeContext`].
pub type CapturedCudaGraph = CapturedGraph<CudaDriver>;

/// The stream that a time stamp is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// Launches, ordinary uploads and reads.
    Compute,
    /// Uploads beside the compute stream.
    Prefetch,
}

/// A moment on the device's clock, known when the stream has come to it.
#[derive(Debug)]
pub struct Timestamp<D: Driver>(Owned<D, EventHandle>);

#[derive(Debug)]
struct Prefetch<D: Driver> {
    staging: Staging<D>,
    joined: Owned<D, EventHandle>,
    stream: Owned<D, StreamHandle>,
}

/// One owned slab of device memory with a ring allocator, a compute stream, a prefetch stream
/// (made at first use), a cache of loaded functions, and graph capture.
///
/// Calls queue work and return; reads wait. A context is used from one thread at a time, and may
/// move between threads. Several contexts may share a device.
#[derive(Debug)]
pub struct ComputeContext<D: Driver> {
    id: u64,
    capture: CaptureState,
    module_cache: ModuleCache,
    timeline: Timeline<D>,
    allocator: RingAllocator,
    // Dropped in this order, after `drop` below has waited for both streams.
    prefetch: Option<Prefetch<D>>,
    staging: Staging<D>,
    slab: Owned<D, MemoryHandle>,
    stream: Owned<D, StreamHandle>,
    driver: Arc<D>,
}

impl CudaComputeContext {
    /// A context on the first device, with a slab of `capacity_bytes` (rounded down to 256).
    ///
    /// # Errors
    ///
    /// [`ComputeError::GpuUnavailable`] without a driver or a device; [`ComputeError::OutOfMemory`].
    pub fn new(capacity_bytes: u64) -> Result<Self, ComputeError> {
        Self::on_device(0, capacity_bytes)
    }

    /// A context on the device with this number.
    ///
    /// # Errors
    ///
    /// As [`Self::new`]; a number without a device is [`ComputeError::GpuUnavailable`].
    pub fn on_device(ordinal: u32, capacity_bytes: u64) -> Result<Self, ComputeError> {
        Self::with_driver(CudaDriver::shared(ordinal)?, capacity_bytes)
    }
}

impl<D: Driver> ComputeContext<D> {
    /// A context on a driver.
    ///
    /// # Errors
    ///
    /// What the driver refuses.
    pub fn with_driver(driver: Arc<D>, capacity_bytes: u64) -> Result<Self, ComputeError> {
        let allocator = RingAllocator::new(capacity_bytes)?;
        let requested = allocator.capacity();
        let memory = driver.allocate(requested).map_err(|cause| {
            if cause.is_out_of_memory() {
                ComputeError::OutOfMemory { requested, cause }
            } else {
                cause.into()
            }
        })?;
        let slab = Owned::new(&driver, memory);
        let stream = Owned::new(&driver, driver.create_stream()?);
        Ok(Self {
            id: NEXT_CONTEXT.fetch_add(1, Ordering::Relaxed),
            capture: CaptureState::Idle,
            module_cache: ModuleCache::default(),
            timeline: Timeline::new(),
            prefetch: None,
            staging: Staging::new(&driver, staging_chunk(requested))?,
            allocator,
            slab,
            stream,
            driver,
        })
    }

    /// The driver and its device: what the seed of this interface calls `ctx`.
    pub fn driver(&self) -> &Arc<D> {
        &self.driver
    }

    /// Who the device is.
    pub fn adapter(&self) -> &AdapterIdentity {
        self.driver.identity()
    }

    /// What the device can do.
    pub fn constraints(&self) -> &AdapterConstraints {
        self.driver.constraints()
    }

    /// Memory of the device now, of all its users.
    ///
    /// # Errors
    ///
    /// What the driver refuses.
    pub fn device_memory(&self) -> Result<DeviceMemory, ComputeError> {
        Ok(self.driver.memory()?)
    }

    /// The compute stream.
    pub fn stream(&self) -> &StreamHandle {
        &self.stream
    }

    /// The prefetch stream, made now if it was not.
    ///
    /// # Errors
    ///
    /// What the driver refuses.
    pub fn prefetch_stream(&mut self) -> Result<&StreamHandle, ComputeError> {
        Ok(&self.prefetch()?.stream)
    }

    /// The cache of loaded functions.
    pub fn module_cache(&self) -> &ModuleCache {
        &self.module_cache
    }

    /// Replaces the cache of loaded functions.
    pub fn set_module_cache(&mut self, cache: ModuleCache) {
        self.module_cache = cache;
    }

    /// The allocator of the slab.
    pub fn allocator(&self) -> &RingAllocator {
        &self.allocator
    }

    /// Device address of the slab's first byte.
    pub fn slab(&self) -> DeviceAddress {
        self.driver.address(&self.slab)
    }

    /// How full the slab is.
    pub fn slab_report(&self) -> SlabReport {
        self.allocator.report()
    }

    // ---- memory -------------------------------------------------------------------------------

    /// Allocates and uploads. The view lives until the heads of the ring pass it.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`]; [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn allocate_and_write(
        &mut self,
        bytes: &[u8],
        binding: u32,
        group: u32,
    ) -> Result<BufferView, ComputeError> {
        let view = self.allocate(bytes.len() as u64, binding, group, Lifetime::Kept)?;
        self.write_view(&view, bytes)?;
        Ok(view)
    }

    /// Allocates without writing: the content is undefined. The view lives until
    /// [`Self::clear_transient_allocations`], if the heads of the ring do not pass it before.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`]; [`ComputeError::RecordingForbids`].
    pub fn allocate_transient(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
    ) -> Result<BufferView, ComputeError> {
        self.allocate(size, binding, group, Lifetime::Transient)
    }

    fn allocate(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        lifetime: Lifetime,
    ) -> Result<BufferView, ComputeError> {
        self.capture.require_idle("an allocation")?;
        let allocation = self.allocator.allocate(size, lifetime)?;
        self.timeline.allocated(allocation.serial);
        Ok(BufferView {
            context: self.id,
            serial: allocation.serial,
            start: allocation.start,
            size,
            binding,
            group,
        })
    }

    /// Releases everything that begins before the absolute counter `offset`.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`] where `offset` is not between the heads.
    pub fn advance_read_head(&mut self, offset: u64) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.advance_read_head(offset)?;
        self.after_release()
    }

    /// Releases the views made by [`Self::allocate_transient`].
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn clear_transient_allocations(&mut self) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.clear_transient();
        self.after_release()
    }

    /// The write head of the ring, for [`Self::restore_checkpoint`].
    pub fn write_checkpoint(&self) -> u64 {
        self.allocator.write_checkpoint()
    }

    /// Releases everything that was allocated since the checkpoint.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`] where the value is no checkpoint of the ring as it is now.
    pub fn restore_checkpoint(&mut self, checkpoint: u64) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.restore_checkpoint(checkpoint)?;
        self.after_release()
    }

    /// Memory that a prefetch still writes may be given out again: the compute stream then waits.
    fn after_release(&mut self) -> Result<(), ComputeError> {
        self.timeline.released(&self.allocator);
        self.join_prefetch()
    }

    /// Uploads into a view, in the order of the compute stream, without allocating. `bytes` may be
    /// shorter than the view and are copied before this returns.
    ///
    /// # Errors
    ///
    /// [`ComputeError::ViewSize`] where they do not fit; [`ComputeError::StaleView`];
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn write_view(&mut self, view: &BufferView, bytes: &[u8]) -> Result<(), ComputeError> {
        self.capture.require_idle("an upload")?;
        let address = self.writable(view, bytes)?;
        self.join_if_prefetched(std::iter::once(view))?;
        self.staging.upload(&self.stream, bytes, address)?;
        self.used(std::iter::once(view))
    }

    /// Uploads into a view on the prefetch stream, beside the work of the compute stream. The upload
    /// waits for the compute stream's last use of this view, and for nothing else.
    ///
    /// # Errors
    ///
    /// As [`Self::write_view`].
    pub fn write_view_prefetch(
        &mut self,
        view: &BufferView,
        bytes: &[u8],
    ) -> Result<(), ComputeError> {
        self.capture.require_idle("a prefetch")?;
        let address = self.writable(view, bytes)?;
        self.prefetch()?;
        let Some(prefetch) = &mut self.prefetch else { return Ok(()) };
        self.timeline.wait_for_last_use(&self.driver, &prefetch.stream, view.serial)?;
        // Noted first: a copy that is refused half-way has been queued in part.
        self.timeline.prefetched(view.serial);
        prefetch.staging.upload(&prefetch.stream, bytes, address)?;
        Ok(())
    }

    /// Makes the compute stream wait for all prefetches so far; nothing if there were none.
    ///
    /// Launches, reads and writes that touch a prefetched view do this by themselves.
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn join_prefetch(&mut self) -> Result<(), ComputeError> {
        let Some(prefetch) = &self.prefetch else { return Ok(()) };
        if !self.timeline.is_pending() {
            return Ok(());
        }
        self.capture.require_idle("a join")?;
        self.driver.record_event(&prefetch.stream, &prefetch.joined)?;
        self.driver.wait_event(&self.stream, &prefetch.joined)?;
        self.timeline.joined();
        Ok(())
    }

    fn prefetch(&mut self) -> Result<&mut Prefetch<D>, ComputeError> {
        if self.prefetch.is_none() {
            self.capture.require_idle("the first use of the prefetch stream")?;
            let stream = Owned::new(&self.driver, self.driver.create_stream()?);
            let joined = Owned::new(&self.driver, self.driver.create_event(false)?);
            let chunk = staging_chunk(self.allocator.capacity());
            let staging = Staging::new(&self.driver, chunk)?;
            // Covers the uses that were made before events were kept.
            self.timeline.mark(&self.driver, &self.stream)?;
            self.prefetch = Some(Prefetch { staging, joined, stream });
        }
        match &mut self.prefetch {
            Some(prefetch) => Ok(prefetch),
            None => Err(ComputeError::RecordingForbids { operation: "a prefetch" }),
        }
    }

    /// Sets every byte of a view, in the order of the compute stream. May be recorded.
    ///
    /// # Errors
    ///
    /// [`ComputeError::StaleView`]; what the driver refuses.
    pub fn fill_view(&mut self, view: &BufferView, value: u8) -> Result<(), ComputeError> {
        let address = self.address_of(view)?;
        self.join_if_prefetched(std::iter::once(view))?;
        if view.size > 0 {
            let filled = self.driver.fill(&self.stream, address, view.size, value);
            self.note_failure(filled)?;
            self.capture.launched(std::iter::once(view));
        }
        self.used(std::iter::once(view))
    }

    /// Reads a view as `f32`, after everything that is queued on the compute stream.
    ///
    /// # Errors
    ///
    /// [`ComputeError::ViewSize`] where the view is no whole number of elements;
    /// [`ComputeError::StaleView`]; [`ComputeError::RecordingForbids`]; an error of earlier work.
    pub fn read_buffer_f32(&mut self, view: &BufferView) -> Result<Vec<f32>, ComputeError> {
        self.read_elements(view)
    }

    /// Reads a view as `f64`.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_f32`].
    pub fn read_buffer_f64(&mut self, view: &BufferView) -> Result<Vec<f64>, ComputeError> {
        self.read_elements(view)
    }

    /// Reads the first elements of a view into `out` as `u32`, without allocating on the host.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_f32`]; [`ComputeError::ViewSize`] where `out` is longer than the view.
    pub fn read_buffer_u32_into(
        &mut self,
        view: &BufferView,
        out: &mut [u32],
    ) -> Result<(), ComputeError> {
        self.read_buffer_into(view, bytemuck::cast_slice_mut(out))
    }

    /// Reads the first bytes of a view into `out`, without allocating on the host.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_u32_into`].
    pub fn read_buffer_into(
        &mut self,
        view: &BufferView,
        out: &mut [u8],
    ) -> Result<(), ComputeError> {
        self.capture.require_idle("a read")?;
        let address = self.address_of(view)?;
        fits("a read longer than the view", out.len() as u64, view)?;
        self.join_if_prefetched(std::iter::once(view))?;
        self.staging.download(&self.stream, address, out)?;
        self.used(std::iter::once(view))
    }

    fn read_elements<T: bytemuck::Pod>(
        &mut self,
        view: &BufferView,
    ) -> Result<Vec<T>, ComputeError> {
        let element = size_of::<T>() as u64;
        if !view.size.is_multiple_of(element) {
            return Err(ComputeError::ViewSize {
                what: "a read in elements that do not divide the view",
                bytes: element,
                size: view.size,
            });
        }
        self.address_of(view)?;
        let mut elements = vec![T::zeroed(); (view.size / element) as usize];
        self.read_buffer_into(view, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// Waits for the compute stream.
    ///
    /// # Errors
    ///
    /// An error of earlier work; [`ComputeError::RecordingForbids`].
    pub fn synchronize(&mut self) -> Result<(), ComputeError> {
        self.capture.require_idle("waiting")?;
        Ok(self.driver.synchronize(&self.stream)?)
    }

    // ---- launches -----------------------------------------------------------------------------

    /// The loaded function of a kernel, from the cache or compiled now.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidKernel`] with the compiler's log, [`ComputeError::Nvrtc`],
    /// [`ComputeError::NoBody`]; [`ComputeError::RecordingForbids`] where it is not loaded yet.
    pub fn load_function(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
    ) -> Result<Arc<Function>, ComputeError> {
        let image = module::image(spec, schedule, self.constraints().compute_capability)?;
        if let Some(function) = self.module_cache.get(&image.ptx, &spec.entry) {
            return Ok(function);
        }
        self.capture.require_idle("the loading of a module")?;
        let function = Arc::new(module::load(&*self.driver, &image, &spec.entry)?);
        self.module_cache.insert(&image.ptx, &function);
        Ok(function)
    }

    /// Queues a launch, or records it.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidArguments`] where number or sizes of the arguments are not those of
    /// the kernel; [`ComputeError::InvalidSchedule`] beyond a limit; [`ComputeError::StaleView`];
    /// what the driver refuses.
    pub fn launch(
        &mut self,
        function: &Function,
        shape: &LaunchShape,
        arguments: &Arguments,
    ) -> Result<(), ComputeError> {
        arguments.check(function)?;
        check_shape(shape, function, self.driver.constraints())?;
        let mut bytes = Vec::with_capacity(arguments.list.len());
        for argument in &arguments.list {
            bytes.push(match argument {
                Argument::View(view) => self.address_of(view)?.0.to_ne_bytes().to_vec(),
                Argument::Value(value) => value.clone(),
            });
        }
        self.join_if_prefetched(arguments.views())?;
        function.permit_shared(&*self.driver, shape.dynamic_shared_bytes)?;
        let pointers: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let launched = self.driver.launch(&self.stream, function.handle(), shape, &pointers);
        self.note_failure(launched)?;
        self.capture.launched(arguments.views());
        self.used(arguments.views())
    }

    /// Runs a kernel over `element_count` elements, `warmups` times untimed and `samples` times
    /// timed by events around the launch, and waits. Returns the nanoseconds of each timed run.
    ///
    /// # Errors
    ///
    /// As [`Self::load_function`] and [`Self::launch`].
    pub fn run_kernel(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
        views: &[BufferView],
        element_count: u64,
        warmups: u32,
        samples: u32,
    ) -> Result<Vec<u64>, ComputeError> {
        self.capture.require_idle("a timed run")?;
        let shape = schedule.launch_shape(element_count, self.constraints())?;
        let ordered = spec.order_views(views)?;
        let function = self.load_function(spec, schedule)?;
        let arguments = ordered
            .iter()
            .fold(Arguments::new(), |arguments, view| arguments.view(*view))
            .value(&element_count);
        for _ in 0..warmups {
            self.launch(&function, &shape, &arguments)?;
        }
        let mut stamps = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let begin = self.timestamp(StreamKind::Compute)?;
            self.launch(&function, &shape, &arguments)?;
            stamps.push((begin, self.timestamp(StreamKind::Compute)?));
        }
        self.synchronize()?;
        stamps
            .iter()
            .map(|(begin, end)| Ok(self.driver.elapsed_ns(&begin.0, &end.0)?.unsigned_abs()))
            .collect()
    }

    // ---- graphs -------------------------------------------------------------------------------

    /// Records launches from now on instead of running them.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Capture`] where a graph is being recorded; what the driver refuses.
    pub fn begin_graph_capture(&mut self) -> Result<(), ComputeError> {
        if !self.capture.is_idle() {
            return Err(ComputeError::Capture { problem: "a graph is being recorded already" });
        }
        // A wait for a prefetch cannot be part of a graph.
        self.join_prefetch()?;
        self.driver.begin_capture(&self.stream)?;
        self.capture = CaptureState::Recording { views: Vec::new(), launches: 0 };
        Ok(())
    }

    /// Ends recording; the graph is instantiated and uploaded.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Capture`] where nothing was recorded, or a launch was refused meanwhile.
    pub fn end_graph_capture(&mut self) -> Result<CapturedGraph<D>, ComputeError> {
        match std::mem::take(&mut self.capture) {
            CaptureState::Idle => Err(ComputeError::Capture { problem: "none was begun" }),
            CaptureState::Broken => {
                self.driver.abandon_capture(&self.stream)?;
                Err(ComputeError::Capture { problem: "a launch was refused while recording" })
            }
            CaptureState::Recording { views, launches } => {
                let graph = Owned::new(&self.driver, self.driver.end_capture(&self.stream)?);
                Ok(CapturedGraph { graph, views, launches })
            }
        }
    }

    /// Queues a replay.
    ///
    /// # Errors
    ///
    /// [`ComputeError::StaleView`] where a view of its launches was released, or the graph belongs
    /// to another context; what the driver refuses.
    pub fn launch_graph(&mut self, graph: &CapturedGraph<D>) -> Result<(), ComputeError> {
        self.capture.require_idle("a replay")?;
        for view in &graph.views {
            self.address_of(view)?;
        }
        self.join_if_prefetched(graph.views.iter())?;
        self.driver.launch_graph(&self.stream, &graph.graph)?;
        self.used(graph.views.iter())
    }

    // ---- time ---------------------------------------------------------------------------------

    /// Puts a time stamp behind what is queued on a stream.
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn timestamp(&mut self, stream: StreamKind) -> Result<Timestamp<D>, ComputeError> {
        self.capture.require_idle("a time stamp")?;
        let event = Owned::new(&self.driver, self.driver.create_event(true)?);
        let driver = Arc::clone(&self.driver);
        match stream {
            StreamKind::Compute => driver.record_event(&self.stream, &event)?,
            StreamKind::Prefetch => driver.record_event(&self.prefetch()?.stream, &event)?,
        }
        Ok(Timestamp(event))
    }

    /// Time from one stamp to another, waiting for both; zero where `to` came first.
    ///
    /// # Errors
    ///
    /// An error of earlier work.
    pub fn elapsed(
        &self,
        from: &Timestamp<D>,
        to: &Timestamp<D>,
    ) -> Result<Duration, ComputeError> {
        self.capture.require_idle("waiting")?;
        self.driver.synchronize_event(&from.0)?;
        self.driver.synchronize_event(&to.0)?;
        let nanoseconds = self.driver.elapsed_ns(&from.0, &to.0)?;
        Ok(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0)))
    }

    // ---- checks -------------------------------------------------------------------------------

    /// Device address of a view, if it is a live view of this context.
    ///
    /// # Errors
    ///
    /// [`ComputeError::StaleView`].
    pub fn address_of(&self, view: &BufferView) -> Result<DeviceAddress, ComputeError> {
        if view.context != self.id || !self.allocator.is_live(view.serial) {
            return Err(ComputeError::StaleView { start: view.start, size: view.size });
        }
        Ok(self.slab().offset(self.allocator.place(view.start)))
    }

    fn writable(&self, view: &BufferView, bytes: &[u8]) -> Result<DeviceAddress, ComputeError> {
        let address = self.address_of(view)?;
        fits("data longer than the view", bytes.len() as u64, view)?;
        Ok(address)
    }

    fn join_if_prefetched<'a>(
        &mut self,
        mut views: impl Iterator<Item = &'a BufferView>,
    ) -> Result<(), ComputeError> {
        if self.timeline.is_pending() && views.any(|v| self.timeline.is_prefetched(v.serial)) {
            self.join_prefetch()?;
        }
        Ok(())
    }

    /// Notes work on the compute stream. While recording nothing runs, so nothing is noted.
    fn used<'a>(
        &mut self,
        views: impl Iterator<Item = &'a BufferView>,
    ) -> Result<(), ComputeError> {
        if self.capture.is_idle() {
            self.timeline.used(views.map(|view| view.serial));
            if self.prefetch.is_some() {
                self.timeline.mark(&self.driver, &self.stream)?;
            }
        }
        Ok(())
    }

    fn note_failure<T, E>(&mut self, result: Result<T, E>) -> Result<T, ComputeError>
    where
        ComputeError: From<E>,
    {
        result.map_err(|error| {
            self.capture.broke();
            error.into()
        })
    }
}

impl<D: Driver> Drop for ComputeContext<D> {
    fn drop(&mut self) {
        // Memory must not be released under work that uses it. A lost device refuses all of this,
        // and then there is no such work.
        if !self.capture.is_idle() {
            let _ = self.driver.abandon_capture(&self.stream);
        }
        if let Some(prefetch) = &self.prefetch {
            let _ = self.driver.synchronize(&prefetch.stream);
        }
        let _ = self.driver.synchronize(&self.stream);
    }
}

fn staging_chunk(capacity: u64) -> usize {
    usize::try_from(STAGING_CHUNK.min(capacity)).unwrap_or(1 << 20)
}

fn fits(what: &'static str, bytes: u64, view: &BufferView) -> Result<(), ComputeError> {
    if bytes <= view.size {
        return Ok(());
    }
    Err(ComputeError::ViewSize { what, bytes, size: view.size })
}

#[cfg(test)]
mod tests;
