//! The compute context: one slab of device memory, a stream, and what runs on it.

mod memory;
mod run;
mod transfer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::buffer::BufferView;
use super::device::{AdapterConstraints, AdapterIdentity, DeviceMemory};
use super::driver::{
    CudaDriver, DeviceAddress, Driver, EventHandle, MemoryHandle, Owned, StreamHandle,
};
use super::error::ComputeError;
use super::graph::{CaptureState, CapturedGraph};
use super::module::ModuleCache;
use super::slab::{RingAllocator, SlabReport};
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

    /// The driver, which holds the device's CUDA context.
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
