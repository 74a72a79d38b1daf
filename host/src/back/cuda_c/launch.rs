//! The source on a device: its arrays are uploaded, its kernel is launched, its means are read.

use super::Arguments;
use crate::back::gpu::HostArray;
use crate::back::{Job, JobError};
use crate::compute::module::Function;
use crate::compute::{self, BufferView, ComputeContext, ComputeError, Driver, LaunchShape};
use crate::experiment::Precision;

/// The name of the kernel.
pub const ENTRY: &str = "simulate";

/// Threads of a block; any number is right.
const THREADS: u32 = 128;
/// Steps of a launch.
const STEPS: u64 = 1000;

/// Why a source was not run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The job's parts don't fit together.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The kernel numbers its work items one after the other.
    #[error("the points of one launch must be numbered without a gap")]
    Points,
    /// More nodes or a longer delay than the kernel's integers hold.
    #[error("the network or its history is too large for the exported kernel")]
    TooLarge,
    /// The device refused.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// What the kernel leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// Means over the recorded steps, `[item][recorded variable][node]`, widened to 64 bits.
    pub tavg: Vec<f64>,
    /// The step at which a work item left the finite numbers, `[item]`.
    pub nonfinite_step: Vec<Option<u64>>,
}

/// Elements of the arrays that only the kernel writes: history, accumulator, means.
fn scratch(job: &Job<'_>, arguments: &Arguments) -> [usize; 3] {
    let Arguments { n_item, n_node, n_ring, .. } = *arguments;
    let channels = job.program.emit.results.len() + super::edge_states(job.program).len();
    let recorded = job.record.variables.len() * n_node;
    [n_item * n_ring * channels * n_node, n_item * 2 * recorded, n_item * recorded]
}

/// Bytes of a slab that holds all arrays of a run.
pub fn slab_bytes(job: &Job<'_>, arguments: &Arguments) -> u64 {
    let reals = arguments.parameters.len()
        + arguments.node_parameters.len()
        + arguments.weights.len()
        + arguments.state.len()
        + scratch(job, arguments).iter().sum::<usize>();
    let integers = arguments.delays.len() + arguments.delay_class.len();
    // Each of the ten arrays begins at a multiple of 256 and has at least one element.
    8 * (reals + integers + arguments.n_item) as u64 + 10 * 512
}

/// Runs the loaded kernel of a job's [`source`](super::source) over all steps.
///
/// # Errors
/// Points with gaps between them; what the device refuses.
pub fn run<D: Driver>(
    context: &mut ComputeContext<D>,
    function: &Function,
    job: &Job<'_>,
) -> Result<Means, LaunchError> {
    let arguments = Arguments::new(job)?;
    let first = job.points.first().copied().unwrap_or(0);
    if job.points.iter().zip(first..).any(|(&point, expected)| point != expected) {
        return Err(LaunchError::Points);
    }
    let small = |n: usize| i32::try_from(n).map_err(|_| LaunchError::TooLarge);
    let (n_node, n_ring) = (small(arguments.n_node)?, small(arguments.n_ring)?);
    let grid = small(arguments.n_item)? as u32;
    let [history, accumulator, tavg] = scratch(job, &arguments);

    let checkpoint = context.write_checkpoint();
    let mut views = Vec::new();
    let floats = |values: &[f64]| HostArray::floats(job.precision, values.iter().copied());
    for values in [&arguments.parameters, &arguments.node_parameters, &arguments.weights] {
        views.push(put(context, floats(values).bytes())?);
    }
    for values in [&arguments.delays, &arguments.delay_class] {
        // Delays have at most 2^30 steps, and there are not more classes than work items.
        let values: Vec<i32> = values.iter().map(|&v| v as i32).collect();
        views.push(put(context, bytemuck::cast_slice(&values))?);
    }
    views.push(put(context, floats(&arguments.state).bytes())?);
    let word = match job.precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    };
    for elements in [history, accumulator, tavg] {
        views.push(reserve(context, elements * word)?);
    }
    views.push(reserve(context, arguments.n_item * 8)?);

    let shape = LaunchShape { grid: [grid, 1, 1], block: [THREADS, 1, 1], dynamic_shared_bytes: 0 };
    let total = job.total_steps();
    for begin in (0..total).step_by(STEPS as usize) {
        let scalars = compute::Arguments::new()
            .value(&(begin as i64))
            .value(&n_node)
            .value(&(STEPS.min(total - begin) as i32))
            .value(&job.dt)
            .value(&job.seed)
            .value(&(first as i64))
            .value(&(job.transient_steps as i64))
            .value(&n_ring);
        let list = views.iter().fold(scalars, |list, view| list.view(*view));
        context.launch(function, &shape, &list)?;
    }
    let [.., means, steps] = &views[..] else { return Err(LaunchError::Points) };
    let mut found = HostArray::zeros(job.precision, tavg);
    context.read_buffer_into(means, found.bytes_mut())?;
    let mut nonfinite = vec![0_i64; arguments.n_item];
    context.read_buffer_into(steps, bytemuck::cast_slice_mut(&mut nonfinite))?;
    context.restore_checkpoint(checkpoint)?;
    Ok(Means {
        tavg: found.samples().map(|s| s.to_f64()).unwrap_or_default(),
        nonfinite_step: nonfinite.into_iter().map(|step| u64::try_from(step).ok()).collect(),
    })
}

/// An array of at least one element: the kernel gets an address for an empty one too.
fn reserve<D: Driver>(
    context: &mut ComputeContext<D>,
    bytes: usize,
) -> Result<BufferView, ComputeError> {
    context.allocate_kept(bytes.max(8) as u64, 0, 0)
}

fn put<D: Driver>(
    context: &mut ComputeContext<D>,
    bytes: &[u8],
) -> Result<BufferView, ComputeError> {
    let view = reserve(context, bytes.len())?;
    context.write_view(&view, bytes)?;
    Ok(view)
}
