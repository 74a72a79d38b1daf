//! Which kernel runs a job, and how.

use crate::back::Job;
use crate::experiment::Precision;
use crate::ir::GatherSource;
use crate::monitor::MonitorKind;
use kernels_gpu::abi::RING;
use kernels_gpu::kernels::group::ADVANCE_STATES;
use kernels_gpu::ring::NEAR_BLOCK;

/// A choice of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanName {
    /// The fastest that is known for the job.
    #[default]
    Auto,
    /// One block a point, everything in global memory: runs every job.
    Plain,
    /// Delayed sums in blocks of 32 steps, over dense tables.
    Delayed,
    /// The same over compressed rows.
    Sparse,
    /// Sums without delays as products of a dense matrix and the points of a group.
    Dense,
}

impl PlanName {
    /// All that can be asked for.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Plain, Self::Delayed, Self::Sparse, Self::Dense];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Plain => "plain",
            Self::Delayed => "delayed",
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

/// What a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Shared memory that a block may ask for, in bytes.
    pub shared_bytes: u32,
    /// Multiprocessors.
    pub processors: u32,
}

impl Default for DeviceLimits {
    /// What every device since compute capability 7.5 has.
    fn default() -> Self {
        Self { shared_bytes: 64 << 10, processors: 32 }
    }
}

/// Why a job can't be run in groups.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ineligible {
    /// Too many states.
    #[error("the model has {0} state variables; kernels for groups hold {most} at most", most = ADVANCE_STATES[ADVANCE_STATES.len() - 1])]
    States(usize),
    /// A coupling is evaluated edge by edge.
    #[error("a coupling does not separate into functions of source and target")]
    Edges,
    /// Sums over different matrices or with different delays.
    #[error("delayed sums are over different weights, or stand beside sums without delays")]
    Matrices,
    /// More channels than are read at once.
    #[error("{channels} values of a node enter its history; {most} at most are read at once")]
    Channels {
        /// How many.
        channels: usize,
        /// How many could.
        most: usize,
    },
    /// Shared memory is too small.
    #[error("a point needs {needed} bytes of shared memory, the device has {available}")]
    Shared {
        /// Bytes.
        needed: u64,
        /// Bytes.
        available: u32,
    },
    /// The plan is for other sums.
    #[error("the model's sums have {0}")]
    Delays(&'static str),
}

/// How groups of points are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Sums are delayed.
    pub delayed: bool,
    /// Far sums run over compressed rows.
    pub sparse: bool,
    /// Points of a group are `1 << point_shift`.
    pub point_shift: u32,
    /// Values of a node and step in the history.
    pub width: u32,
    /// Threads of a block.
    pub threads: u32,
    /// State variables that the kernel has room for.
    pub states: u32,
    /// Rows of a far sum that a warp computes.
    pub far_targets: u32,
    /// Warps of a block of the far kernel.
    pub far_warps: u32,
    pub(in crate::back::gpu) layout: Layout,
    pub(super) nodes: u32,
    pub(super) precision: Precision,
}

/// Where things are in shared memory, in bytes, and what lanes keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::back::gpu) struct Layout {
    pub(in crate::back::gpu) columns: u32,
    pub(in crate::back::gpu) mean_column: u32,
    /// First columns of windows, one entry a monitor.
    pub(in crate::back::gpu) windows: Vec<u32>,
    pub(in crate::back::gpu) columns_at: u32,
    pub(in crate::back::gpu) gathered_at: u32,
    pub(in crate::back::gpu) ring_at: u32,
    pub(in crate::back::gpu) coupling_at: u32,
    pub(in crate::back::gpu) sigma_at: u32,
    pub(in crate::back::gpu) noise_at: u32,
    pub(in crate::back::gpu) recorded_at: u32,
    pub(in crate::back::gpu) recorded_by_lane: bool,
    pub(in crate::back::gpu) bytes: u64,
}

impl Layout {
    fn new(
        job: &Job<'_>,
        states: u32,
        delayed: bool,
        channels: u32,
        lanes: u64,
        threads: u64,
    ) -> Self {
        let program = job.program;
        let variables = job.record.variables.len() as u32;
        let mut columns = states;
        let mut keep = |count: u32| {
            columns += count;
            columns - count
        };
        let mean_column = keep(if job.record.mean { 2 * variables } else { 0 });
        let windows = job.record.monitors.iter().map(|kind| match kind {
            MonitorKind::TemporalAverage { .. } => keep(2 * variables),
            MonitorKind::Bold(response) => {
                keep(super::super::layout::BOLD_COLUMNS * response.variables.len() as u32)
            }
            _ => 0,
        });
        let windows = windows.collect();
        let size = match job.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        let mut bytes = 0_u64;
        // Offsets that do not fit are never used: the plan is refused by its size.
        let mut take = |values: u64| {
            let at = bytes;
            bytes += (values * size).next_multiple_of(16);
            at as u32
        };
        let (sums_steps, ring_steps) =
            if delayed { (NEAR_BLOCK as u64, u64::from(RING)) } else { (1, 1) };
        let noisy = program.noisy.len() as u64;
        let by_lane = job
            .record
            .monitors
            .iter()
            .any(|kind| matches!(kind, MonitorKind::GlobalAverage { .. }));
        Self {
            columns,
            mean_column,
            windows,
            columns_at: take(u64::from(columns) * lanes),
            gathered_at: take(sums_steps * program.gathers.len() as u64 * lanes),
            ring_at: take(ring_steps * u64::from(channels) * lanes),
            coupling_at: take(program.couplings.len() as u64 * threads),
            sigma_at: take(noisy * threads),
            noise_at: take(noisy * threads),
            recorded_at: take(u64::from(variables) * if by_lane { lanes } else { threads }),
            recorded_by_lane: by_lane,
            bytes,
        }
    }
}

/// What the sums of a job are.
struct Sums {
    delayed: bool,
    density: f64,
}

impl Sums {
    fn of(job: &Job<'_>) -> Result<Self, Ineligible> {
        let gathers = &job.program.gathers;
        if gathers.iter().any(|g| matches!(g.source, GatherSource::Edge(_))) {
            return Err(Ineligible::Edges);
        }
        let late = |matrix: u32| {
            let longest = |speed| job.matrices[matrix as usize].longest_delay(speed, job.dt_ms);
            let points = 0..job.points.len();
            points.map(|p| job.speed.of(p)).any(|speed| longest(speed).is_ok_and(|steps| steps > 0))
        };
        let channels = || gathers.iter().filter(|g| g.source != GatherSource::Ones);
        let delayed = channels().any(|g| g.delayed && late(g.matrix));
        if delayed {
            let mut tables = gathers.iter().map(|g| (g.matrix, g.delayed));
            let first = tables.next();
            if tables.any(|table| Some(table) != first) {
                return Err(Ineligible::Matrices);
            }
        }
        let nodes = job.nodes as f64;
        let edges = channels().map(|g| job.matrices[g.matrix as usize].edges()).min();
        let density = edges.map_or(1.0, |edges| edges as f64 / (nodes * nodes));
        Ok(Self { delayed, density })
    }
}

/// Below this share of edges compressed rows are read.
const SPARSE: f64 = 0.3;
/// Widest reads of the history, in bytes.
const WIDEST: usize = 16;

impl GroupPlan {
    /// For a job on a device with these limits, where `name` allows it.
    ///
    /// # Errors
    /// Why not.
    pub fn new(job: &Job<'_>, name: PlanName, limits: &DeviceLimits) -> Result<Self, Ineligible> {
        let program = job.program;
        let count = program.states.len();
        let states = ADVANCE_STATES
            .into_iter()
            .find(|&room| room >= count)
            .ok_or(Ineligible::States(count))? as u32;
        let sums = Sums::of(job)?;
        match name {
            PlanName::Delayed | PlanName::Sparse if !sums.delayed => {
                return Err(Ineligible::Delays("no delays"));
            }
            PlanName::Dense if sums.delayed => return Err(Ineligible::Delays("delays")),
            PlanName::Auto if !sums.delayed && sums.density < SPARSE / 4.0 => {
                return Err(Ineligible::Delays("few edges and no delays"));
            }
            _ => {}
        }
        let channels = program.emit.results.len();
        let size = match job.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        let most = WIDEST / size;
        if sums.delayed && channels > most {
            return Err(Ineligible::Channels { channels, most });
        }
        let widest = if sums.delayed { (most / channels.max(1)).ilog2() } else { 5 };
        let points = job.points.len() as u64;
        let classes = Self::classes(job);
        let mut shift = widest;
        // Groups are full, and every processor has one.
        while shift > 0
            && (points.div_ceil(classes) < 1 << shift
                || points >> shift < u64::from(limits.processors) * 3 / 4)
        {
            shift -= 1;
        }
        loop {
            let plan = Self::of_size(job, states, &sums, name, shift, limits);
            if plan.layout.bytes <= u64::from(limits.shared_bytes) {
                return Ok(plan);
            }
            if shift == 0 {
                let needed = plan.layout.bytes;
                return Err(Ineligible::Shared { needed, available: limits.shared_bytes });
            }
            shift -= 1;
        }
    }

    /// Sets of delays among the points.
    fn classes(job: &Job<'_>) -> u64 {
        let mut speeds: Vec<u64> =
            (0..job.points.len()).map(|p| job.speed.of(p).to_bits()).collect();
        speeds.sort_unstable();
        speeds.dedup();
        speeds.len().max(1) as u64
    }

    fn of_size(
        job: &Job<'_>,
        states: u32,
        sums: &Sums,
        name: PlanName,
        shift: u32,
        limits: &DeviceLimits,
    ) -> Self {
        let channels = job.program.emit.results.len() as u32;
        let lanes = (job.nodes as u64) << shift;
        let most = if sums.delayed { 256 } else { 512 };
        // A block is whole warps, and whole rows of a product.
        let threads = lanes.next_multiple_of(32).min(most);
        let layout = Layout::new(job, states, sums.delayed, channels, lanes, threads);
        let groups = (job.points.len() as u64) >> shift;
        let far_targets = if groups < u64::from(limits.processors) { 2 } else { 8 };
        let warps = (job.nodes as u64).div_ceil(far_targets);
        let far_warps = warps.min(if far_targets == 2 { 4 } else { 16 });
        Self {
            delayed: sums.delayed,
            sparse: match name {
                PlanName::Sparse => true,
                PlanName::Delayed => false,
                _ => sums.density < SPARSE,
            },
            point_shift: shift,
            width: if sums.delayed { (channels << shift).next_power_of_two() } else { 0 },
            threads: threads as u32,
            states,
            far_targets: far_targets as u32,
            far_warps: far_warps as u32,
            layout,
            nodes: job.nodes as u32,
            precision: job.precision,
        }
    }

    fn float(&self) -> &'static str {
        match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// The name of the plan.
    pub fn name(&self) -> PlanName {
        match (self.delayed, self.sparse) {
            (false, _) => PlanName::Dense,
            (true, false) => PlanName::Delayed,
            (true, true) => PlanName::Sparse,
        }
    }

    /// The kernel that makes steps.
    pub fn advance_entry(&self) -> String {
        format!("advance_{}_{}", self.float(), self.states)
    }

    /// The kernel for far sums, where sums are delayed.
    pub fn far_entry(&self) -> Option<String> {
        let (float, width, targets) = (self.float(), self.width, self.far_targets);
        self.delayed.then(|| {
            if self.sparse {
                format!("far_{float}_{width}_sparse")
            } else {
                format!("far_{float}_{width}_{targets}")
            }
        })
    }

    /// Lanes of a block.
    pub fn lanes(&self) -> u32 {
        self.nodes << self.point_shift
    }

    /// Shared memory of a block, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.layout.bytes as u32
    }

    /// Steps that a history keeps whose slowest delay is so long: a power of two.
    pub fn history_steps(longest_delay: u32) -> u32 {
        (longest_delay + kernels_gpu::ring::BLOCK as u32 + 1).next_power_of_two()
    }
}
