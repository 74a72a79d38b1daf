//! A job with the kernel that runs it.

use super::array::ArrayId;
use super::batch::POINTS;
use super::group::{ADVANCE, DeviceLimits, FAR_DENSE, FAR_SPARSE, GroupPlan, Ineligible, PlanName};
use super::layout::Columns;
use crate::back::ptx::{
    self, CheckError, FillError, Filler, ParameterPlacement, SharedColumns, SpliceError,
    edge_states,
};
use crate::back::{Job, JobError};
use crate::connectome::delays::DelayError;
use crate::experiment::Precision;
use crate::monitor::MonitorKind;
use cuda_std::slot::SlotError;
use kernels_gpu::kernels::REGISTER_STATES;
use kernels_gpu::ring::BLOCK;

/// Why a job cannot be prepared for a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrepareError {
    /// Its parts do not fit together.
    #[error(transparent)]
    Job(#[from] JobError),
    /// More edges than tables can hold.
    #[error("the tables of edges of a batch hold 2^32 edges or more; run fewer speeds at once")]
    TooManyEdges,
    /// Noise that is given, not drawn: a means of tests on the CPU.
    #[error("given noise is replayed on the CPU only")]
    NoiseReplay,
    /// A period that does not fit.
    #[error("a recording period of {0} steps is too long: at most 2^30 are possible")]
    Period(u64),
    /// A plan that was asked for does not fit.
    #[error("plan `{plan}` can't run this experiment: {reason}")]
    Plan {
        /// Its name.
        plan: &'static str,
        /// Why.
        reason: Ineligible,
    },
}

impl From<DelayError> for PrepareError {
    fn from(error: DelayError) -> Self {
        Self::Job(error.into())
    }
}

/// Why there is no module: a fault of the program, or kernels that were not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// The kernel is not there.
    #[error(transparent)]
    Splice(#[from] SpliceError),
    /// A slot is not what is expected.
    #[error(transparent)]
    Fill(#[from] SlotError<FillError>),
    /// The result is not sound.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Which kernel runs a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub entry: String,
    /// State variables that it has room for.
    pub states: u32,
    /// Whether it keeps them in memory.
    pub in_memory: bool,
}

impl Kernel {
    /// For so many state variables.
    pub fn new(precision: Precision, states: usize) -> Self {
        let float = match precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        };
        match REGISTER_STATES.into_iter().find(|&room| room >= states) {
            Some(room) => Self {
                entry: format!("simulate_{float}_{room}"),
                states: room as u32,
                in_memory: false,
            },
            None => Self {
                entry: format!("simulate_{float}_memory"),
                states: states as u32,
                in_memory: true,
            },
        }
    }
}

/// Which kernels run a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One block a point.
    Plain,
    /// One block a group of points.
    Groups(GroupPlan),
}

/// A job, its kernels and where everything is.
#[derive(Clone, Debug)]
pub struct DeviceJob<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) kernel: Kernel,
    pub(super) columns: Columns,
    pub(super) placements: Vec<ParameterPlacement>,
    /// Values that enter the history.
    pub(super) channels: usize,
    pub(super) plan: Plan,
}

impl<'a> DeviceJob<'a> {
    /// With `fold`, parameters that are the same for all points and nodes are folded into the
    /// instructions: faster, but another module for other values.
    ///
    /// # Errors
    /// A job whose parts do not fit together.
    pub fn new(job: &'a Job<'a>, fold: bool) -> Result<Self, PrepareError> {
        job.check()?;
        if job.noise_replay.is_some() {
            return Err(PrepareError::NoiseReplay);
        }
        for kind in &job.record.monitors {
            if kind.period() > 1 << 30 {
                return Err(PrepareError::Period(kind.period()));
            }
        }
        let program = job.program;
        let kernel = Kernel::new(job.precision, program.states.len());
        Ok(Self {
            job,
            columns: Columns::new(job, kernel.states, kernel.in_memory),
            kernel,
            placements: ParameterPlacement::of_job(job, fold),
            channels: program.emit.results.len() + edge_states(program).len(),
            plan: Plan::Plain,
        })
    }

    /// The same with the kernels that a plan names, on a device with these limits.
    ///
    /// # Errors
    /// As [`new`](Self::new); a plan that the job can't be run with.
    pub fn with_plan(
        job: &'a Job<'a>,
        fold: bool,
        name: PlanName,
        limits: &DeviceLimits,
    ) -> Result<Self, PrepareError> {
        let mut own = Self::new(job, fold)?;
        if name != PlanName::Plain {
            match GroupPlan::new(job, name, limits) {
                Ok(plan) => own.plan = Plan::Groups(plan),
                Err(_) if name == PlanName::Auto => {}
                Err(reason) => return Err(PrepareError::Plan { plan: name.name(), reason }),
            }
        }
        Ok(own)
    }

    /// Which kernels run the job.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The name of the plan.
    pub fn plan_name(&self) -> &'static str {
        match &self.plan {
            Plan::Plain => PlanName::Plain.name(),
            Plan::Groups(plan) => plan.name().name(),
        }
    }

    /// The kernels that calls name by position, and their parameters after the arguments.
    pub fn entries(&self) -> Vec<(String, &'static [ArrayId])> {
        match &self.plan {
            Plan::Plain => vec![(self.kernel.entry.clone(), &POINTS)],
            Plan::Groups(plan) => {
                let mut entries: Vec<(String, &'static [ArrayId])> =
                    vec![(plan.advance_entry(), &ADVANCE)];
                let parameters: &'static [ArrayId] =
                    if plan.sparse { &FAR_SPARSE } else { &FAR_DENSE };
                entries.extend(plan.far_entry().map(|entry| (entry, parameters)));
                entries
            }
        }
    }

    /// First column of the means.
    pub(super) fn mean_column(&self) -> u32 {
        match &self.plan {
            Plan::Plain => self.columns.mean,
            Plan::Groups(plan) => plan.layout.mean_column,
        }
    }

    /// First column of a time series.
    pub(super) fn window_column(&self, monitor: usize) -> u32 {
        match &self.plan {
            Plan::Plain => self.columns.windows[monitor],
            Plan::Groups(plan) => plan.layout.windows[monitor],
        }
    }

    /// The job.
    pub fn job(&self) -> &'a Job<'a> {
        self.job
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Where the values of the parameters are.
    pub fn placements(&self) -> &[ParameterPlacement] {
        &self.placements
    }

    /// The modules to load, one for each of [`entries`](Self::entries): `kernels` cut to a kernel, its
    /// slots filled.
    ///
    /// # Errors
    /// Kernels that are not those this program was built with.
    pub fn modules(&self, kernels: &str) -> Result<Vec<String>, ModuleError> {
        let filler = Filler::new(self.job, &self.placements);
        let filler = match &self.plan {
            Plan::Plain => filler,
            Plan::Groups(plan) => filler.grouped(&SharedColumns {
                lanes: plan.lanes(),
                threads: plan.threads,
                recorded: if plan.layout.recorded_by_lane { plan.lanes() } else { plan.threads },
                width: plan.width,
                delayed: plan.delayed,
            }),
        };
        let module = |(entry, _): &(String, _)| {
            let module = filler.fill(&ptx::cut(kernels, entry)?)?;
            ptx::check(&module)?;
            Ok(module)
        };
        self.entries().iter().map(module).collect()
    }

    /// Bytes of a float of the run.
    pub fn float_bytes(&self) -> usize {
        match self.job.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }

    /// Steps that the history of a point keeps whose slowest delay is so long.
    pub fn history_steps(&self, longest_delay: u32) -> u32 {
        if let Plan::Groups(_) = &self.plan {
            return GroupPlan::history_steps(longest_delay);
        }
        let needed = longest_delay + kernels_gpu::abi::HISTORY_MARGIN;
        if longest_delay == 0 { needed } else { needed.next_multiple_of(32) }
    }

    /// Bytes on the device for each point whose slowest delay is so long, without rows of time
    /// series: columns, history, parameters, the first non-finite steps, its record.
    pub fn bytes_per_point(&self, longest_delay: u32) -> u64 {
        let nodes = self.job.nodes as u64;
        let (by_point, _) = ParameterPlacement::counts(&self.placements);
        let steps = u64::from(self.history_steps(longest_delay));
        let (columns, history) = match &self.plan {
            Plan::Plain => (self.columns.count, steps * self.channels as u64),
            Plan::Groups(plan) if !plan.delayed => (plan.layout.columns, 0),
            Plan::Groups(plan) => {
                let values = (steps + BLOCK as u64) * u64::from(plan.width);
                (plan.layout.columns, values.div_ceil(1 << plan.point_shift))
            }
        };
        let floats = (u64::from(columns) + history) * nodes + u64::from(by_point);
        floats * self.float_bytes() as u64
            + 8 * nodes
            + size_of::<kernels_gpu::abi::PointRecord>() as u64
            + size_of::<kernels_gpu::abi::GroupRecord>() as u64
    }

    /// Floats of time series for each point and launch of so many steps.
    pub fn row_floats(&self, steps: u32) -> u64 {
        let record = &self.job.record;
        let floats = |kind: &MonitorKind| {
            let values = kind.variables(record.variables.len()) * kind.values(self.job.nodes);
            kind.most_rows(u64::from(steps)) * values as u64
        };
        record.monitors.iter().map(floats).sum()
    }
}
