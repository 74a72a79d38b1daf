//! The CPU context: the same slab and views, and kernels with a native body.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::buffer::{BufferUsage, BufferView};
use super::device::{AdapterConstraints, AdapterIdentity};
use super::error::ComputeError;
use super::kernel::{KernelSpec, Schedule};
use super::oracle::OracleContext;
use super::slab::{Lifetime, RingAllocator};

/// Numbers the contexts so that a view of one is refused by another; the upper half of the range,
/// away from the numbers of device contexts.
static NEXT_CONTEXT: AtomicU64 = AtomicU64::new(1 << 63);

/// A compute context on CPU memory.
#[derive(Debug)]
pub struct CpuContext {
    id: u64,
    adapter: AdapterIdentity,
    constraints: AdapterConstraints,
    allocator: RingAllocator,
    /// Words, so that every view is aligned for `f64`.
    slab: Vec<u64>,
}

impl CpuContext {
    /// A context with a slab of `capacity_bytes` (rounded down to 256).
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`] for a slab without room.
    pub fn new(capacity_bytes: u64) -> Result<Self, ComputeError> {
        let allocator = RingAllocator::new(capacity_bytes)?;
        let words = usize::try_from(allocator.capacity() / 8).unwrap_or(usize::MAX);
        Ok(Self {
            id: NEXT_CONTEXT.fetch_add(1, Ordering::Relaxed),
            adapter: adapter(),
            constraints: constraints(),
            slab: vec![0; words],
            allocator,
        })
    }

    /// The allocator of the slab.
    pub fn allocator(&self) -> &RingAllocator {
        &self.allocator
    }

    fn range(&self, view: &BufferView) -> Result<std::ops::Range<usize>, ComputeError> {
        if view.context != self.id || !self.allocator.is_live(view.serial) {
            return Err(ComputeError::StaleView { start: view.start, size: view.size });
        }
        let begin = self.allocator.place(view.start) as usize;
        Ok(begin..begin + view.size as usize)
    }

    fn allocate(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        lifetime: Lifetime,
    ) -> Result<BufferView, ComputeError> {
        let allocation = self.allocator.allocate(size, lifetime)?;
        Ok(BufferView {
            context: self.id,
            serial: allocation.serial,
            start: allocation.start,
            size,
            binding,
            group,
        })
    }

    /// The bytes of several views at once, in their order.
    fn slices(
        &mut self,
        spec: &KernelSpec,
        views: &[BufferView],
    ) -> Result<Vec<&mut [u8]>, ComputeError> {
        let mut ranges = Vec::with_capacity(views.len());
        for (argument, view) in views.iter().enumerate() {
            ranges.push((self.range(view)?, argument));
        }
        ranges.sort_by_key(|(range, _)| range.start);
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut self.slab);
        let mut at = 0;
        let mut slices = Vec::with_capacity(views.len());
        for (range, argument) in ranges {
            let Some(gap) = range.start.checked_sub(at) else {
                return Err(ComputeError::InvalidArguments {
                    entry: spec.entry.clone(),
                    problem: "one view is given for two buffers".to_owned(),
                });
            };
            let (slice, tail) = rest.split_at_mut(gap).1.split_at_mut(range.len());
            slices.push((argument, slice));
            rest = tail;
            at = range.end;
        }
        slices.sort_by_key(|(argument, _)| *argument);
        Ok(slices.into_iter().map(|(_, slice)| slice).collect())
    }
}

impl OracleContext for CpuContext {
    fn run_kernel(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
        views: &[BufferView],
        element_count: u64,
        warmups: u32,
        samples: u32,
    ) -> Result<Vec<u64>, ComputeError> {
        schedule.launch_shape(element_count, &self.constraints)?;
        let body = spec
            .native
            .clone()
            .ok_or_else(|| ComputeError::NoBody { entry: spec.entry.clone(), missing: "native" })?;
        let ordered = spec.order_views(views)?;
        let mut buffers = self.slices(spec, &ordered)?;
        for _ in 0..warmups {
            body(&mut buffers, element_count);
        }
        Ok((0..samples)
            .map(|_| {
                let begin = Instant::now();
                body(&mut buffers, element_count);
                u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
            })
            .collect())
    }

    fn allocate_and_write(
        &mut self,
        bytes: &[u8],
        binding: u32,
        group: u32,
        _usage: BufferUsage,
    ) -> Result<BufferView, ComputeError> {
        let view = self.allocate(bytes.len() as u64, binding, group, Lifetime::Kept)?;
        let range = self.range(&view)?;
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.slab)[range].copy_from_slice(bytes);
        Ok(view)
    }

    fn allocate_transient(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        _usage: BufferUsage,
    ) -> Result<BufferView, ComputeError> {
        self.allocate(size, binding, group, Lifetime::Transient)
    }

    fn read_buffer_f32(&mut self, view: &BufferView) -> Result<Vec<f32>, ComputeError> {
        let range = self.range(view)?;
        if !range.len().is_multiple_of(4) {
            return Err(ComputeError::ViewSize {
                what: "a read in elements that do not divide the view",
                bytes: 4,
                size: view.size,
            });
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.slab);
        Ok(bytemuck::pod_collect_to_vec(&bytes[range]))
    }

    fn clear_transient_allocations(&mut self) -> Result<(), ComputeError> {
        self.allocator.clear_transient();
        Ok(())
    }

    fn adapter(&self) -> &AdapterIdentity {
        &self.adapter
    }

    fn constraints(&self) -> &AdapterConstraints {
        &self.constraints
    }

    fn timestamp_supported(&self) -> bool {
        false
    }
}

/// Vendor and model as the kernel lists them, and the operating system.
fn adapter() -> AdapterIdentity {
    let listing = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        listing
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))
            .map(|value| value.trim().to_owned())
    };
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    AdapterIdentity {
        vendor: field("vendor_id")
            .or_else(|| field("CPU implementer"))
            .unwrap_or_else(|| "unknown".to_owned()),
        device: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        driver: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
        ordinal: 0,
        uuid: None,
    }
}

/// A native body takes any grid, so only the count of threads and the memory say something.
fn constraints() -> AdapterConstraints {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    AdapterConstraints {
        max_threads_per_block: 1_024,
        max_block: [1_024; 3],
        max_grid: [u32::MAX; 3],
        warp_size: 1,
        shared_bytes_per_block: 0,
        shared_bytes_per_block_optin: 0,
        shared_bytes_per_multiprocessor: 0,
        registers_per_multiprocessor: 0,
        max_threads_per_multiprocessor: 1,
        multiprocessors: threads,
        async_copy_engines: 0,
        total_memory: kib.unwrap_or(0) << 10,
        compute_capability: None,
    }
}
