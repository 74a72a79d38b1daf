//! A job with the kernel that runs it.

use super::layout::Columns;
use crate::back::ptx::{
    self, CheckError, FillError, Filler, ParameterPlacement, SpliceError, edge_states,
};
use crate::back::{Job, JobError};
use crate::connectome::delays::DelayError;
use crate::experiment::Precision;
use crate::monitor::MonitorKind;
use cuda_std::slot::SlotError;
use kernels_gpu::kernels::REGISTER_STATES;

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

/// A job, its kernel and where everything is.
#[derive(Clone, Debug)]
pub struct DeviceJob<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) kernel: Kernel,
    pub(super) columns: Columns,
    pub(super) placements: Vec<ParameterPlacement>,
    /// Values that enter the history.
    pub(super) channels: usize,
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
        })
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

    /// The module to load: `kernels` cut to the job's kernel, its slots filled.
    ///
    /// # Errors
    /// Kernels that are not those this program was built with.
    pub fn module(&self, kernels: &str) -> Result<String, ModuleError> {
        let kernel = ptx::cut(kernels, &self.kernel.entry)?;
        let module = Filler::new(self.job, &self.placements).fill(&kernel)?;
        ptx::check(&module)?;
        Ok(module)
    }

    /// Bytes of a float of the run.
    pub fn float_bytes(&self) -> usize {
        match self.job.precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }

    /// Steps that the history of a point keeps whose slowest delay is so long.
    pub fn history_steps(longest_delay: u32) -> u32 {
        let needed = longest_delay + kernels_gpu::abi::HISTORY_MARGIN;
        if longest_delay == 0 { needed } else { needed.next_multiple_of(32) }
    }

    /// Bytes on the device for each point whose slowest delay is so long, without rows of time
    /// series: columns, history, parameters, the first non-finite steps, its record.
    pub fn bytes_per_point(&self, longest_delay: u32) -> u64 {
        let nodes = self.job.nodes as u64;
        let (by_point, _) = ParameterPlacement::counts(&self.placements);
        let history = u64::from(Self::history_steps(longest_delay)) * self.channels as u64 * nodes;
        let floats = u64::from(self.columns.count) * nodes + history + u64::from(by_point);
        floats * self.float_bytes() as u64
            + 8 * nodes
            + size_of::<kernels_gpu::abi::PointRecord>() as u64
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
