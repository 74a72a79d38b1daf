//! An experiment as CUDA C, with what it is called with.

use super::{Options, Record, Simulation};
use crate::back::Job;
use crate::back::cuda_c::{self, Arguments, SourceError};
use crate::diagnostic::Diagnostics;
use crate::experiment::Experiment;
use crate::output::{self, ArraySpec, Content, OutputError};
use std::fs;
use std::path::{Path, PathBuf};

/// Why an experiment was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Its equations or its sweep are wrong.
    #[error(transparent)]
    Experiment(#[from] Diagnostics),
    /// It has no form in CUDA C.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The source or the driver can't be written.
    #[error("{path}: can't write: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The arrays can't be written.
    #[error(transparent)]
    Inputs(#[from] OutputError),
}

/// The files of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The CUDA C.
    pub source: PathBuf,
    /// A Python program that runs it.
    pub driver: PathBuf,
    /// The arrays that the driver reads, `.npz`.
    pub inputs: PathBuf,
}

/// Writes an experiment as CUDA C to `path`, which nvcc, NVRTC and PyCUDA (`no_extern_c=True`) compile,
/// and returns the path.
///
/// # Errors
/// An experiment that can't be run, or a path that can't be written.
///
/// ```
/// use host::experiment::load;
/// use host::simulation::save_cuda;
///
/// let experiment = load("embedded:examples/three_nodes.yaml".as_ref())?.experiment;
/// let folder = tempfile::tempdir()?;
/// let path = save_cuda(&experiment, &folder.path().join("kernel.cu"))?;
/// assert!(std::fs::read_to_string(path)?.contains("__global__ void simulate("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_cuda(experiment: &Experiment, path: &Path) -> Result<PathBuf, ExportError> {
    let simulation = Simulation::new(experiment, &options())?;
    write_source(experiment, &simulation.job(), path)?;
    Ok(path.to_owned())
}

/// Writes an experiment as CUDA C to `path`, and beside it, with the endings `.py` and `.npz`, a Python
/// driver for PyCUDA and the arrays that it reads.
///
/// # Errors
/// As [`save_cuda`].
pub fn save_cuda_with_driver(
    experiment: &Experiment,
    path: &Path,
) -> Result<Exported, ExportError> {
    let simulation = Simulation::new(experiment, &options())?;
    let job = simulation.job();
    let (driver, inputs) = (path.with_extension("py"), path.with_extension("npz"));
    write_source(experiment, &job, path)?;
    let arguments = Arguments::new(&job).map_err(SourceError::from)?;
    output::create(&inputs, &arrays(&job, arguments))?.finish()?;
    write(&driver, &driver_text(path, &inputs))?;
    Ok(Exported { source: path.to_owned(), driver, inputs })
}

fn options() -> Options {
    Options { record: Some(Record::None), ..Options::default() }
}

fn write_source(experiment: &Experiment, job: &Job<'_>, path: &Path) -> Result<(), ExportError> {
    write(path, &cuda_c::source(experiment, job)?)
}

fn write(path: &Path, text: &str) -> Result<(), ExportError> {
    fs::write(path, text).map_err(|source| ExportError::Write { path: path.to_owned(), source })
}

/// The kernel's arguments by name.
fn arrays(job: &Job<'_>, arguments: Arguments) -> Vec<ArraySpec> {
    let Arguments { n_item, n_node, n_ring, .. } = arguments;
    let program = job.program;
    let reals = |name: &str, shape: Vec<(&str, usize)>, values: Vec<f64>| {
        let dimensions = shape.into_iter().map(|(name, n)| (name.to_owned(), n as u64)).collect();
        ArraySpec { name: name.to_owned(), dimensions, content: Content::Reals(values) }
    };
    let integers = |name: &str, shape: Vec<(&str, usize)>, values: Vec<i64>| {
        let dimensions = shape.into_iter().map(|(name, n)| (name.to_owned(), n as u64)).collect();
        ArraySpec { name: name.to_owned(), dimensions, content: Content::Integers(values) }
    };
    let number = |name: &str, value: u64| integers(name, vec![], vec![value as i64]);
    let (node, item) = (("node", n_node), ("item", n_item));
    let square = [("target", n_node), ("source", n_node)];
    let nth = |name, count: usize| vec![(name, count), square[0], square[1]];
    let per = |total: usize, of: usize| total.checked_div(of).unwrap_or(0);
    let n_parameter = per(arguments.parameters.len(), n_item);
    let n_node_parameter = per(arguments.node_parameters.len(), n_node);
    let n_class = per(arguments.delays.len(), n_node * n_node);
    let channels = program.emit.results.len() + cuda_c::edge_states(program).len();
    vec![
        number("n_step", job.total_steps()),
        number("n_transient", job.transient_steps),
        number("n_ring", n_ring as u64),
        number("n_channel", channels as u64),
        number("n_recorded", job.record.variables.len() as u64),
        // Any 64 bits, of which `number` would make negative ones.
        ArraySpec {
            name: "seed".to_owned(),
            dimensions: vec![],
            content: Content::Unsigned(vec![job.seed]),
        },
        reals("dt", vec![], vec![job.dt]),
        reals("parameters", vec![item, ("parameter", n_parameter)], arguments.parameters),
        reals(
            "node_parameters",
            vec![("node_parameter", n_node_parameter), node],
            arguments.node_parameters,
        ),
        reals("weights", nth("matrix", job.matrices.len()), arguments.weights),
        integers("delays", nth("delay_class", n_class), arguments.delays),
        integers("delay_class", vec![item], arguments.delay_class),
        reals("state", vec![item, ("state", program.states.len()), node], arguments.state),
    ]
}

/// The Python driver of a source and its inputs, which lie beside it.
fn driver_text(source: &Path, inputs: &Path) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A JSON string is a Python string.
        serde_json::Value::from(name).to_string()
    };
    include_str!("driver.py.in")
        .replace("@SOURCE@", &name(source))
        .replace("@INPUTS@", &name(inputs))
}
