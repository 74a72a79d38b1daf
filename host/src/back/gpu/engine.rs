//! The GPU engine: batches of points on one device or several.
//!
//! Every device has a thread of its own with a compute context; batches come from one queue, results
//! go to one sink. While a batch computes, the arrays of the next are uploaded on the context's
//! prefetch stream. A batch that does not fit after all is halved and tried again.

use super::chunks::Chunks;
use super::{
    Batch, Collector, DeviceJob, DeviceLimits, KernelsError, ModuleError, PlanName, PrepareError,
    kernels_for,
};
use crate::back::{Job, Progress, Sink, SinkError};
use crate::compute::module::Function;
use crate::compute::{ComputeError, CudaComputeContext, CudaDriver, Driver, KernelSpec, Schedule};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a caller may fix; results do not depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// Devices by ordinal; the first if empty.
    pub devices: Vec<u32>,
    /// Most points of a batch; as many as fit if `None`.
    pub batch_points: Option<usize>,
    /// Steps of a chunk, between which rows are fetched; chosen by the size of the batch if `None`.
    pub launch_steps: Option<u32>,
    /// Which kernels.
    pub plan: PlanName,
}

/// Why a run on GPUs stopped.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// The job does not fit together.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The program has no kernels for the device.
    #[error(transparent)]
    Kernels(#[from] KernelsError),
    /// The kernels are not those that the program expects.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The device or its driver.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// Not even one point fits.
    #[error("one point needs more memory than the device has free ({free} bytes)")]
    TooLarge {
        /// Bytes that are free on the device.
        free: u64,
    },
    /// The sink refused.
    #[error("the results could not be kept")]
    Sink(#[source] SinkError),
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
}

/// What a run on GPUs did.
#[derive(Clone, Debug)]
pub struct GpuSummary {
    /// Names of the devices.
    pub devices: Vec<String>,
    /// Nodes × steps × points.
    pub node_steps: u64,
    /// All of it.
    pub elapsed: Duration,
    /// The driver's compilation of the kernels, on the slowest device.
    pub compilation: Duration,
    /// Which kernels ran.
    pub plan: &'static str,
}

/// Bytes of the device that are left to others and to the driver.
const LEFT_FREE: u64 = 256 << 20;
/// Bytes of tables and of time series that a batch may take beside its points.
const BESIDE_POINTS: u64 = 512 << 20;
/// Node-steps of a launch: enough to hide its cost, few enough to be cancelled soon.
const LAUNCH_NODE_STEPS: u64 = 200_000_000;

/// Runs a job on CUDA devices.
///
/// # Errors
/// See [`GpuError`].
pub fn run(
    job: &Job<'_>,
    options: &GpuOptions,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<GpuSummary, GpuError> {
    let from = Instant::now();
    let ordinals = if options.devices.is_empty() { vec![0] } else { options.devices.clone() };
    let limits = limits(&ordinals)?;
    let device_job = DeviceJob::with_plan(job, true, options.plan, &limits)?;
    let shared = Shared {
        device_job: &device_job,
        point_bytes: point_bytes(&device_job),
        options,
        queue: Mutex::new(VecDeque::from([points_by_speed(job)])),
        sink: Mutex::new(sink),
        progress,
        cancel,
        stop: AtomicBool::new(false),
        devices: ordinals.len(),
    };
    let results: Vec<Result<(String, Duration), GpuError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = ordinals
            .iter()
            .map(|&ordinal| {
                let shared = &shared;
                scope.spawn(move || {
                    let result = shared.work(ordinal);
                    if result.is_err() {
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    });
    let mut devices = Vec::new();
    let mut compilation = Duration::ZERO;
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok((device, time)) => {
                devices.push(device);
                compilation = compilation.max(time);
            }
            Err(error) => errors.push(error),
        }
    }
    // The error that made the other devices stop comes first.
    errors.sort_by_key(|error| matches!(error, GpuError::Cancelled));
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let node_steps = job.points.len() as u64 * job.nodes as u64 * job.total_steps();
    let plan = device_job.plan_name();
    Ok(GpuSummary { devices, node_steps, elapsed: from.elapsed(), compilation, plan })
}

/// What all devices have.
fn limits(ordinals: &[u32]) -> Result<DeviceLimits, GpuError> {
    let mut least: Option<DeviceLimits> = None;
    for &ordinal in ordinals {
        let driver = CudaDriver::shared(ordinal)?;
        let constraints = driver.constraints();
        let own = DeviceLimits {
            shared_bytes: constraints.shared_bytes_per_block_optin,
            processors: constraints.multiprocessors,
        };
        least = Some(least.map_or(own, |least| DeviceLimits {
            shared_bytes: least.shared_bytes.min(own.shared_bytes),
            processors: least.processors.min(own.processors),
        }));
    }
    Ok(least.unwrap_or_default())
}

/// All points, slow conduction first: few delay classes in a batch, the largest histories early.
fn points_by_speed(job: &Job<'_>) -> Vec<usize> {
    let mut points: Vec<usize> = (0..job.points.len()).collect();
    points.sort_by(|&a, &b| job.speed.of(a).total_cmp(&job.speed.of(b)).then(a.cmp(&b)));
    points
}

/// Bytes that each point needs on a device. Points of one speed have one longest delay: all edges are
/// looked at once a speed.
fn point_bytes(device_job: &DeviceJob<'_>) -> Vec<u64> {
    let job = device_job.job();
    let mut known: HashMap<u64, u64> = HashMap::new();
    let bytes = |speed: f64| {
        let longest = job.program.gathers.iter().filter(|g| g.delayed).map(|g| {
            // A delay that can't be had is reported when the batch is made.
            job.matrices[g.matrix as usize].longest_delay(speed, job.dt_ms).unwrap_or(0)
        });
        // Arrays start at multiples of 256 bytes; a point's own share of that is small.
        device_job.bytes_per_point(longest.max().unwrap_or(0)) + 64
    };
    let speeds = (0..job.points.len()).map(|index| job.speed.of(index));
    speeds.map(|speed| *known.entry(speed.to_bits()).or_insert_with(|| bytes(speed))).collect()
}

/// What the threads of the devices share.
struct Shared<'a, 'j> {
    device_job: &'a DeviceJob<'j>,
    /// Bytes that each point needs on a device.
    point_bytes: Vec<u64>,
    options: &'a GpuOptions,
    /// Points that no device has taken yet, in pieces.
    queue: Mutex<VecDeque<Vec<usize>>>,
    sink: Mutex<&'a mut dyn Sink>,
    progress: &'a dyn Progress,
    cancel: &'a AtomicBool,
    /// Set by the first error.
    stop: AtomicBool,
    devices: usize,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A batch that is on the device.
struct Loaded<'a> {
    batch: Batch<'a>,
    chunks: Chunks,
    /// The ring's write head behind its arrays.
    end: u64,
}

impl<'a, 'j> Shared<'a, 'j> {
    fn check(&self) -> Result<(), GpuError> {
        let stopped = self.cancel.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
        if stopped { Err(GpuError::Cancelled) } else { Ok(()) }
    }

    /// One device until nothing is left to do; its name and how long its kernel took to compile.
    fn work(&self, ordinal: u32) -> Result<(String, Duration), GpuError> {
        let driver = CudaDriver::shared(ordinal)?;
        let name = driver.identity().device.clone();
        let free = driver.memory().map_err(ComputeError::from)?.free.saturating_sub(LEFT_FREE);
        let capacity = free.min(self.wanted_bytes()).max(1 << 22);
        let mut context = CudaComputeContext::with_driver(driver, capacity)?;

        let modules = self.device_job.modules(kernels_for(context.constraints())?)?;
        let from = Instant::now();
        let mut functions = Vec::new();
        for ((entry, _), text) in self.device_job.entries().iter().zip(modules) {
            let spec = KernelSpec::ptx(entry, text);
            functions.push(context.load_function(&spec, &Schedule::default())?);
        }
        let compilation = from.elapsed();

        let mut next = self.next_batch(&mut context, capacity, false)?;
        while let Some(current) = next.take() {
            next = self.compute(&mut context, &functions, current, capacity)?;
        }
        Ok((name, compilation))
    }

    /// Bytes for all points at once, and for a second batch beside the first.
    fn wanted_bytes(&self) -> u64 {
        let bytes = self.point_bytes.iter().fold(0, |sum: u64, &own| sum.saturating_add(own));
        bytes.saturating_mul(5) / 4 + 2 * BESIDE_POINTS
    }

    /// Takes points from the queue, as many as fit, and uploads their arrays.
    fn next_batch(
        &self,
        context: &mut CudaComputeContext,
        capacity: u64,
        prefetch: bool,
    ) -> Result<Option<Loaded<'_>>, GpuError> {
        loop {
            self.check()?;
            let Some(points) = self.take(capacity) else { return Ok(None) };
            let checkpoint = context.write_checkpoint();
            match self.upload(context, &points, prefetch) {
                Ok(loaded) => return Ok(Some(loaded)),
                Err(GpuError::Compute(
                    ComputeError::OutOfSlab(_) | ComputeError::OutOfMemory { .. },
                )) => {
                    context.restore_checkpoint(checkpoint)?;
                    if prefetch {
                        // There is room when the current batch is done.
                        locked(&self.queue).push_front(points);
                        return Ok(None);
                    }
                    if points.len() == 1 {
                        return Err(GpuError::TooLarge { free: capacity });
                    }
                    let mut points = points;
                    let rest = points.split_off(points.len() / 2);
                    let mut queue = locked(&self.queue);
                    queue.push_front(rest);
                    queue.push_front(points);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Points for one batch: what fits in the slab, or in half of it where there is more to do.
    fn take(&self, capacity: u64) -> Option<Vec<usize>> {
        let mut queue = locked(&self.queue);
        let mut points = queue.pop_front()?;
        let room = capacity.saturating_sub(BESIDE_POINTS).max(capacity / 2);
        let total: u64 = points.iter().map(|&p| self.point_bytes[p]).sum();
        let room = if total <= room && self.devices == 1 { room } else { room / 2 };
        let share = points.len().div_ceil(self.devices);
        let most = self.options.batch_points.unwrap_or(usize::MAX).min(share).max(1);
        let mut bytes = 0;
        let fit = points
            .iter()
            .take(most)
            .take_while(|&&p| {
                bytes += self.point_bytes[p];
                bytes <= room
            })
            .count();
        let rest = points.split_off(fit.max(1));
        if !rest.is_empty() {
            queue.push_front(rest);
        }
        Some(points)
    }

    fn launch_steps(&self, points: usize) -> u32 {
        let job = self.device_job.job();
        if let Some(steps) = self.options.launch_steps {
            return steps;
        }
        let by_work = LAUNCH_NODE_STEPS / (points as u64 * job.nodes as u64).max(1);
        let rows = |steps: u64| {
            let floats = self.device_job.row_floats(steps as u32) * points as u64;
            floats * self.device_job.float_bytes() as u64
        };
        let mut steps = by_work.clamp(32, 1 << 16);
        while steps > 32 && rows(steps) > BESIDE_POINTS / 4 {
            steps /= 2;
        }
        steps as u32
    }

    fn upload(
        &self,
        context: &mut CudaComputeContext,
        points: &[usize],
        prefetch: bool,
    ) -> Result<Loaded<'_>, GpuError> {
        let (batch, arrays) = self.device_job.batch(points, self.launch_steps(points.len()))?;
        let chunks = Chunks::upload(context, self.device_job, &batch, arrays, prefetch)?;
        Ok(Loaded { batch, chunks, end: context.write_checkpoint() })
    }

    /// Runs a batch to its end; returns the next one, which was uploaded meanwhile.
    fn compute(
        &self,
        context: &mut CudaComputeContext,
        functions: &[Arc<Function>],
        current: Loaded<'_>,
        capacity: u64,
    ) -> Result<Option<Loaded<'_>>, GpuError> {
        let Loaded { batch, mut chunks, end } = current;
        let mut collector = Collector::new(&batch);
        let node_steps = batch.points().len() as u64 * self.device_job.job().nodes as u64;
        let mut next = None;
        for (index, launch) in batch.launches().enumerate() {
            self.check()?;
            chunks.launch(context, functions, self.device_job, &launch)?;
            if index == 0 {
                next = self.next_batch(context, capacity, true)?;
            }
            chunks.collect(context, &launch, |rows, nonfinite| {
                let mut sink = locked(&self.sink);
                collector.launch(&launch, rows, nonfinite, &mut **sink).map_err(GpuError::Sink)
            })?;
            self.progress.advance(node_steps * u64::from(launch.steps));
        }
        let (columns, nonfinite) = chunks.finish(context)?;
        if let Some(columns) = columns.samples() {
            let mut sink = locked(&self.sink);
            collector.finish(columns, nonfinite, &mut **sink).map_err(GpuError::Sink)?;
        }
        context.advance_read_head(end)?;
        match next {
            Some(next) => Ok(Some(next)),
            None => self.next_batch(context, capacity, false),
        }
    }
}
