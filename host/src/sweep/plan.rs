//! Which points run together, and what memory that takes.

use crate::back::cpu::{Compiled, bytes};
use crate::back::{Job, JobError};
use crate::experiment::Precision;
use crate::ir::GatherSource;
use kernels_gpu::ring;
use std::collections::HashMap;

/// What the hot data of a tile should fit in: most of a second-level cache.
const CACHE_BYTES: u64 = 1 << 20;
/// Lanes below which a tile wastes time on overhead.
const FEW_LANES: usize = 256;
/// Lanes beyond which a tile gains nothing.
const MANY_LANES: usize = 8192;

/// One point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointPlan {
    /// Its slowest delay in steps.
    pub longest_delay: u32,
    /// Steps of history that it keeps for it: a multiple of 32, or 0 if no delay is 32 or more.
    pub history_steps: usize,
}

/// Points that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilePlan {
    /// Positions in `Job::points`, those of one speed side by side.
    pub points: Vec<usize>,
    /// Bytes that it takes while it runs.
    pub bytes: u64,
}

/// A sweep, packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// One a point of the job.
    pub points: Vec<PointPlan>,
    /// In the order in which they start.
    pub tiles: Vec<TilePlan>,
    /// Threads.
    pub threads: usize,
    /// Bytes at any one time: the largest tiles, one a thread.
    pub bytes: u64,
}

/// Packs the points of a job for `threads` threads.
///
/// # Errors
/// A job whose parts do not fit together, or delays that cannot be had.
pub fn plan(job: &Job<'_>, threads: usize) -> Result<Plan, JobError> {
    job.check()?;
    let threads = threads.max(1);
    let compiled = Compiled::new(job);
    let word = match job.precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    };
    let points = delays(job)?;
    let mut order: Vec<usize> = (0..points.len()).collect();
    // Slow conduction first, which makes the largest tiles; equal speeds side by side.
    order.sort_by(|&a, &b| job.speed.of(a).total_cmp(&job.speed.of(b)).then(a.cmp(&b)));

    let share = order.len().div_ceil(threads).max(1);
    let mut tiles = Vec::new();
    let mut rest = &order[..];
    while let Some(&first) = rest.first() {
        let longest = points[first].longest_delay;
        let one = bytes(job, &compiled, word, [longest]).max(1);
        let two = bytes(job, &compiled, word, [longest; 2]).max(one + 1);
        let fit = (CACHE_BYTES / (two - one)).max(1) as usize;
        let few = FEW_LANES.div_ceil(job.nodes);
        let many = (MANY_LANES / job.nodes).max(1);
        let mut width = fit.clamp(few.min(many), many).min(share).min(rest.len());
        if width > 16 {
            width -= width % 16;
        }
        let (now, later) = rest.split_at(width);
        let longest = now.iter().map(|&p| points[p].longest_delay);
        tiles.push(TilePlan { points: now.to_vec(), bytes: bytes(job, &compiled, word, longest) });
        rest = later;
    }
    let mut sizes: Vec<u64> = tiles.iter().map(|t| t.bytes).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let bytes = sizes.iter().take(threads).sum();
    Ok(Plan { points, tiles, threads, bytes })
}

fn delays(job: &Job<'_>) -> Result<Vec<PointPlan>, JobError> {
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut points = Vec::with_capacity(job.points.len());
    for index in 0..job.points.len() {
        let speed = job.speed.of(index);
        let longest_delay = match known.get(&speed.to_bits()) {
            Some(&longest) => longest,
            None => {
                let mut longest = 0;
                for gather in &job.program.gathers {
                    if gather.delayed {
                        let matrix = &job.matrices[gather.matrix as usize];
                        let delay = matrix.longest_delay(speed, job.dt_ms)?;
                        if gather.source != GatherSource::Ones {
                            longest = longest.max(delay);
                        }
                    }
                }
                known.insert(speed.to_bits(), longest);
                longest
            }
        };
        let history_steps = ring::capacity(longest_delay);
        points.push(PointPlan { longest_delay, history_steps });
    }
    Ok(points)
}
