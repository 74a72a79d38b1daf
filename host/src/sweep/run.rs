//! Tiles to threads, results to the sink.

use super::{Plan, Progress, Sink, SinkError, plan};
use crate::back::cpu::{Compiled, Isa, Real, Tile, TileError};
use crate::back::{Job, JobError};
use crate::experiment::Precision;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The job does not fit together.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The sink refused.
    #[error("the results could not be kept")]
    Sink(#[source] SinkError),
    /// Somebody asked for it. Points that finished before were delivered.
    #[error("cancelled")]
    Cancelled,
    /// No threads.
    #[error("the threads could not be started")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl From<TileError> for RunError {
    fn from(error: TileError) -> Self {
        match error {
            TileError::Job(error) => Self::Job(error),
            TileError::Sink(error) => Self::Sink(error),
            TileError::Cancelled => Self::Cancelled,
        }
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The instruction set that was used.
    pub isa: Isa,
    /// Nodes × steps × points.
    pub node_steps: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// Plans and runs a sweep on the CPU.
///
/// # Errors
/// See [`RunError`].
pub fn run(
    job: &Job<'_>,
    threads: usize,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<Summary, RunError> {
    let plan = plan(job, threads)?;
    run_plan(job, &plan, Isa::detect(), sink, progress, cancel)
}

/// Runs a sweep as planned, with an instruction set.
///
/// # Errors
/// See [`RunError`].
pub fn run_plan(
    job: &Job<'_>,
    plan: &Plan,
    isa: Isa,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<Summary, RunError> {
    job.check()?;
    if job.draws_curand() && job.noise_replay.is_none() {
        return Err(JobError::CurandOnCpu.into());
    }
    let from = Instant::now();
    match job.precision {
        Precision::F32 => run_tiles::<f32>(job, plan, isa, sink, progress, cancel)?,
        Precision::F64 => run_tiles::<f64>(job, plan, isa, sink, progress, cancel)?,
    }
    let points: u64 = plan.tiles.iter().map(|t| t.points.len() as u64).sum();
    let node_steps = points * job.nodes as u64 * job.total_steps();
    Ok(Summary { isa, node_steps, elapsed: from.elapsed() })
}

fn run_tiles<T: Real>(
    job: &Job<'_>,
    plan: &Plan,
    isa: Isa,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<(), RunError> {
    let compiled = Compiled::new(job);
    let sink = Mutex::new(sink);
    // Set by the first error, so that the other tiles stop too.
    let stop = AtomicBool::new(false);
    let one = |tile: &super::TilePlan| -> Result<(), RunError> {
        if cancel.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        let result = Tile::<T>::new(job, &compiled, &tile.points, isa)
            .map_err(RunError::from)
            .and_then(|mut tile| tile.run(&sink, progress, cancel).map_err(RunError::from));
        if result.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        result
    };
    if plan.threads == 1 || plan.tiles.len() < 2 {
        return plan.tiles.iter().try_for_each(one);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build()?;
    let results: Vec<Result<(), RunError>> =
        pool.install(|| plan.tiles.par_iter().with_max_len(1).map(one).collect());
    // The error that made the others stop comes first.
    let mut errors = results.into_iter().filter_map(Result::err).collect::<Vec<_>>();
    errors.sort_by_key(|e| matches!(e, RunError::Cancelled));
    errors.into_iter().next().map_or(Ok(()), Err)
}
