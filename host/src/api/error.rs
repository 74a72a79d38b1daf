//! The one error of the public functions.

use crate::back::gpu::{KernelsError, ModuleError, PrepareError};
use crate::back::{JobError, cuda_c::SourceError};
use crate::compute::ComputeError;
use crate::diagnostic::Diagnostics;
use crate::experiment::LoadError;
use crate::output::OutputError;
use crate::simulation::{ExportError, SimulationError, VerifyError};

/// Why an experiment was not loaded, run, compiled or exported. Causes are kept as sources.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The experiment, or a value that an option gave it, is wrong: every finding, with its place.
    #[error("the experiment was refused: {0}")]
    Experiment(#[source] Box<LoadError>),
    /// A swept parameter that the experiment doesn't have, or that its name doesn't single out.
    #[error("swept parameter `{name}`: {reason}")]
    SweptName {
        /// The name as given.
        name: String,
        /// What is wrong with it, and the nearest name.
        reason: String,
    },
    /// A swept parameter without exactly one value per work item.
    #[error("swept parameter `{name}` has {found} values for {expected} work items")]
    SweptLength {
        /// The parameter.
        name: String,
        /// The number of work items.
        expected: usize,
        /// The number of its values.
        found: usize,
    },
    /// A number of work items that is not that of the experiment's own sweep.
    #[error(
        "n_work_items is {given}, but the experiment's sweep has {there} points: leave it out, \
         or give swept_params, which take the place of the sweep"
    )]
    WorkItems {
        /// As given.
        given: usize,
        /// Points of the sweep.
        there: u64,
    },
    /// A history that can't hold the longest delay.
    #[error(
        "buffer_length is {given}, but point {point}, the slowest, has a delay of {longest_delay} \
         steps and needs {}", u64::from(*longest_delay) + 1
    )]
    BufferLength {
        /// As given, in steps.
        given: usize,
        /// The number of the point.
        point: u64,
        /// Its longest delay in steps.
        longest_delay: u32,
    },
    /// An option outside what it may be.
    #[error("{option} is {given}: {needs}")]
    Option {
        /// The option.
        option: &'static str,
        /// As given.
        given: String,
        /// What it must be.
        needs: &'static str,
    },
    /// The parts of the run don't fit together, or a delay can't be had.
    #[error("the experiment can't be run")]
    Job(#[from] JobError),
    /// No usable device, or the device, its driver or NVRTC refused.
    #[error("the CUDA device can't be used")]
    Device(#[from] ComputeError),
    /// The program has no kernels for the device.
    #[error("there is no kernel for the device")]
    Kernels(#[from] KernelsError),
    /// The experiment can't be prepared for a device.
    #[error("the experiment can't be prepared for a CUDA device")]
    Prepare(#[from] PrepareError),
    /// The kernel's slots could not be filled: a fault of the program.
    #[error("the kernel can't be filled")]
    Module(#[from] ModuleError),
    /// The experiment has no form in CUDA C.
    #[error("the experiment can't be exported")]
    Source(#[from] SourceError),
    /// Results or sources can't be written.
    #[error("can't write")]
    Output(#[from] OutputError),
    /// A source or driver can't be written.
    #[error("can't export")]
    Export(#[source] ExportError),
    /// The exported source was not run.
    #[error("can't verify")]
    Verify(#[source] Box<VerifyError>),
    /// The run stopped for another reason.
    #[error("the run stopped")]
    Run(#[source] SimulationError),
    /// The run was cancelled by its [`CancelToken`](super::CancelToken).
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// The findings about the experiment, where it was refused.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Self::Experiment(error) => Some(&error.diagnostics),
            _ => None,
        }
    }

    /// The error for people: findings with the lines that they point at, or the error and its causes
    /// in one line.
    pub fn render(&self) -> String {
        if let Self::Experiment(error) = self {
            return error.render(false);
        }
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        text
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        Self::Experiment(Box::new(error))
    }
}

impl From<SimulationError> for Error {
    fn from(error: SimulationError) -> Self {
        use crate::sweep::RunError;
        if error.is_cancelled() {
            return Self::Cancelled;
        }
        match error {
            SimulationError::Run(RunError::Job(error)) => Self::Job(error),
            SimulationError::Output(error) => Self::Output(error),
            SimulationError::NoGpuSupport => Self::Device(ComputeError::GpuUnavailable {
                reason: SimulationError::NoGpuSupport.to_string(),
                cause: None,
            }),
            #[cfg(feature = "cuda")]
            SimulationError::Gpu(error) => error.into(),
            other => Self::Run(other),
        }
    }
}

#[cfg(feature = "cuda")]
impl From<crate::back::gpu::GpuError> for Error {
    fn from(error: crate::back::gpu::GpuError) -> Self {
        use crate::back::gpu::GpuError;
        match error {
            GpuError::Prepare(error) => Self::Prepare(error),
            GpuError::Kernels(error) => Self::Kernels(error),
            GpuError::Module(error) => Self::Module(error),
            GpuError::Compute(error) => Self::Device(error),
            GpuError::Cancelled => Self::Cancelled,
            other => Self::Run(SimulationError::Gpu(other)),
        }
    }
}
