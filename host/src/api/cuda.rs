//! The functions of CUDA: compile, run, export, verify.

use super::options::Reporter;
use super::prepare::{Prepared, device};
use super::{Backend, Error, RunOptions, SimulationExperiment};
use crate::back::cuda_c;
use crate::back::gpu::{DeviceJob, kernels_for};
use crate::compute::module::Function;
use crate::compute::{CudaComputeContext, KernelSpec, Schedule, SourceText};
use crate::experiment::LoadError;
use crate::simulation::{
    self, Device, ExportError, Record, ResultArray, RunResult, RunSummary, Simulation,
    Verification, VerifyError,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The slab of a compiled kernel's context.
const SLAB_BYTES: u64 = 1 << 20;

/// What a kernel is compiled from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelSource {
    /// The program's kernel, written in Rust, whose slots are filled with the experiment: what
    /// [`run_cuda`] runs.
    #[default]
    Rust,
    /// The experiment as CUDA C, which [`save_cuda`] writes, compiled by NVRTC.
    CudaC,
}

/// An experiment's kernel, loaded on a device.
#[derive(Debug)]
pub struct CompiledKernel {
    /// The module's text: PTX whose slots are filled, or CUDA C.
    pub module: SourceText,
    /// The loaded function; its entry point, the sizes of its parameters and what a block needs.
    pub function: Arc<Function>,
    /// A context on the device, from which the function can be launched. Its slab has 1 MiB; any other
    /// context of the same device can launch the function as well.
    pub context: CudaComputeContext,
    /// What it was compiled from.
    pub source: KernelSource,
    /// How long compiling and loading took.
    pub compilation: Duration,
}

/// Fills the program's kernel with an experiment and loads it on the first CUDA device.
///
/// # Errors
/// [`Error::Device`] without a device or driver; an experiment that can't be run.
///
/// ```
/// use host::{Error, SimulationExperiment, compile_cuda};
///
/// let experiment = SimulationExperiment::from_file("embedded:models/Kuramoto.yaml")?;
/// match compile_cuda(&experiment) {
///     Ok(kernel) => assert!(kernel.function.entry().starts_with("simulate_")),
///     Err(Error::Device(reason)) => println!("{reason}"),
///     Err(Error::Kernels(reason)) => println!("{reason}"),
///     Err(other) => return Err(other),
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn compile_cuda(experiment: &SimulationExperiment) -> Result<CompiledKernel, Error> {
    compile_cuda_with(experiment, &RunOptions::default(), KernelSource::Rust)
}

/// [`compile_cuda`] with options, from one of two sources. The first of
/// [`devices`](RunOptions::devices) is taken.
///
/// # Errors
/// As [`compile_cuda`]; with [`KernelSource::CudaC`] also where NVRTC is missing or refuses.
pub fn compile_cuda_with(
    experiment: &SimulationExperiment,
    options: &RunOptions,
    source: KernelSource,
) -> Result<CompiledKernel, Error> {
    let prepared = means(experiment, options, Device::Cpu)?;
    let simulation = prepared.simulation()?;
    let job = simulation.job();
    let ordinal = options.devices.first().copied().unwrap_or(0);
    let mut context = CudaComputeContext::on_device(ordinal, SLAB_BYTES)?;
    let from = Instant::now();
    let (entry, module) = match source {
        KernelSource::Rust => {
            let device_job = DeviceJob::new(&job, true)?;
            // The plain plan has one kernel.
            let text = device_job.modules(kernels_for(context.constraints())?)?.concat();
            (device_job.kernel().entry.clone(), text)
        }
        KernelSource::CudaC => {
            (cuda_c::ENTRY.to_owned(), cuda_c::source(simulation.experiment(), &job)?)
        }
    };
    let module: Arc<str> = module.into();
    let spec = match source {
        KernelSource::Rust => KernelSpec::ptx(&entry, Arc::clone(&module)),
        KernelSource::CudaC => KernelSpec::cuda_c(&entry, Arc::clone(&module)),
    };
    let function = context.load_function(&spec, &Schedule::default())?;
    let compilation = from.elapsed();
    Ok(CompiledKernel { module: SourceText::new(module), function, context, source, compilation })
}

/// What [`run_cuda`] returns.
#[derive(Clone, Debug)]
pub struct CudaResult {
    /// Means over the recorded steps, `[n_work_items, n_state, n_node]`; NaN for a work item that left
    /// the finite numbers.
    pub tavg: ResultArray,
    /// Nodes of the network.
    pub n_node: usize,
    /// Recorded steps.
    pub n_steps: u64,
    /// Step in the model's own time unit.
    pub dt: f64,
    /// Names of the state variables, in the order of `tavg`.
    pub states: Vec<String>,
    /// Whether a work item stayed within the finite numbers, one a work item.
    pub finite: Vec<bool>,
    /// Of the engine.
    pub summary: RunSummary,
}

/// Runs an experiment on CUDA devices and returns the means of all its state variables: the numbers
/// that [`SimulationExperiment::run_with`] gives on any device.
///
/// # Errors
/// [`Error::Device`] without a device or driver; options that the experiment doesn't take;
/// [`Error::Cancelled`].
///
/// ```
/// use host::{Error, RunOptions, SimulationExperiment, run_cuda};
///
/// let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
/// let options = RunOptions::new().n_steps(100).swept_param("I", [0.1, 0.2, 0.3]);
/// match run_cuda(&experiment, &options) {
///     Ok(result) => {
///         assert_eq!(result.tavg.shape(), [3, 2, 3]);
///         assert_eq!(result.finite, [true; 3]);
///     }
///     Err(Error::Device(reason)) => println!("{reason}"),
///     Err(Error::Kernels(reason)) => println!("{reason}"),
///     Err(other) => return Err(other),
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn run_cuda(
    experiment: &SimulationExperiment,
    options: &RunOptions,
) -> Result<CudaResult, Error> {
    means_on(experiment, options, device(Backend::Cuda, &options.devices))
}

/// [`run_cuda`] on any device.
pub(super) fn means_on(
    experiment: &SimulationExperiment,
    options: &RunOptions,
    device: Device,
) -> Result<CudaResult, Error> {
    let prepared = means(experiment, options, device)?;
    let simulation = prepared.simulation()?;
    let reporter = Reporter::new(options, simulation.node_steps());
    let result = simulation.run_watched(&reporter, options.cancel.flag())?;
    Ok(CudaResult::new(result, &simulation))
}

/// An experiment that records the means of its state variables and nothing else.
fn means<'a>(
    experiment: &'a SimulationExperiment,
    options: &RunOptions,
    device: Device,
) -> Result<Prepared<'a>, Error> {
    let options = options.clone().record(Record::None);
    let mut prepared = Prepared::new(experiment.loaded(), &options, device)?;
    let states = |e: &crate::experiment::Experiment| -> Vec<String> {
        e.dynamics.state_variables.iter().map(|s| s.name.clone()).collect()
    };
    let now = &prepared.loaded.experiment;
    if now.dynamics.output != states(now) || !now.observations.is_empty() {
        let changed = &mut prepared.loaded.to_mut().experiment;
        changed.dynamics.output = states(changed);
        changed.observations.clear();
    }
    Ok(prepared)
}

impl CudaResult {
    fn new(result: RunResult, simulation: &Simulation<'_>) -> Self {
        let integration = &simulation.experiment().integration;
        let items = 0..result.points.len();
        Self {
            n_node: result.nodes.len(),
            n_steps: integration.steps(),
            dt: integration.dt,
            finite: items.map(|item| result.nonfinite_step(item).is_none()).collect(),
            states: result.variables.clone(),
            summary: result.summary.clone(),
            tavg: result.into_tavg(),
        }
    }
}

/// Writes an experiment as CUDA C to `path`, which nvcc, NVRTC and PyCUDA (`no_extern_c=True`) compile,
/// and returns the path.
///
/// # Errors
/// [`Error::Export`] where the path can't be written; an experiment that can't be run or exported.
///
/// ```
/// use host::{SimulationExperiment, save_cuda};
///
/// let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
/// let folder = std::env::temp_dir().join(format!("save_cuda_{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = save_cuda(&experiment, folder.join("kernel.cu"))?;
/// assert!(std::fs::read_to_string(path)?.contains("extern \"C\" __global__ void simulate("));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_cuda(
    experiment: &SimulationExperiment,
    path: impl AsRef<Path>,
) -> Result<PathBuf, Error> {
    let saved = simulation::save_cuda(experiment.resolved(), path.as_ref());
    saved.map_err(|error| match error {
        ExportError::Experiment(diagnostics) => refused(experiment, diagnostics),
        ExportError::Source(error) => Error::Source(error),
        other => Error::Export(other),
    })
}

/// Runs a short piece of an experiment on a CUDA device with the program's own kernel and as the CUDA C
/// that [`save_cuda`] writes, and compares the means, see [`simulation::verify_cuda`].
///
/// # Errors
/// [`Error::Device`] without a device, driver or NVRTC; an experiment that can't be run or exported.
pub fn verify_cuda(
    experiment: &SimulationExperiment,
    options: &RunOptions,
) -> Result<Verification, Error> {
    let prepared = Prepared::new(experiment.loaded(), options, Device::Cpu)?;
    let ordinal = options.devices.first().copied().unwrap_or(0);
    let verified = simulation::verify_cuda(&prepared.loaded.experiment, ordinal);
    verified.map_err(|error| match error {
        VerifyError::Experiment(diagnostics) => refused(experiment, diagnostics),
        VerifyError::Source(error) => Error::Source(error),
        VerifyError::Compute(error) => Error::Device(error),
        VerifyError::Simulation(error) => error.into(),
        other @ VerifyError::Launch(_) => Error::Verify(Box::new(other)),
    })
}

fn refused(
    experiment: &SimulationExperiment,
    diagnostics: crate::diagnostic::Diagnostics,
) -> Error {
    LoadError { diagnostics, sources: experiment.loaded().sources.clone() }.into()
}
