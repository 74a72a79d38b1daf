//! A job as one file of CUDA C, to be read and to be run elsewhere: by nvcc, NVRTC or PyCUDA.
//!
//! Each section of the program becomes a device [function](function), and a [kernel](kernel) around
//! them advances all points of the sweep. The order of operations is that of the engines, see
//! `docs/semantics.md`; functions such as `exp` are CUDA's own. `docs/export.md` is for users.

mod arguments;
mod function;
mod header;
mod kernel;
mod launch;
mod literal;
mod name;
mod normals;
mod template;

pub use arguments::Arguments;
pub use launch::{ENTRY, LaunchError, Means, run, slab_bytes};

use crate::back::{Job, JobError};
use crate::experiment::{Experiment, Precision};
use crate::ir::{Input, Inst, Program, Section};
use arguments::Placement;
use function::{Function, Helper, Names, Out};
use kernel::Functions;
use std::collections::BTreeSet;

/// Why a job can't be written as CUDA C.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SourceError {
    /// The parts of the job don't fit together.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A stimulus that is sampled and not an equation.
    #[error("the stimulus `{0}` is sampled in time; only equations can be exported")]
    SampledStimulus(String),
    /// No variable is recorded.
    #[error("the experiment records no variable")]
    NothingRecorded,
}

/// The source of a job: the kernel `simulate`, with a comment that says how to call it.
///
/// `experiment` gives labels and units.
///
/// # Errors
/// A job that can't be run, or has a sampled stimulus.
///
/// ```
/// use host::back::cuda_c;
/// use host::experiment::load;
/// use host::simulation::{Options, Simulation};
///
/// let experiment = load("embedded:examples/three_nodes.yaml".as_ref())?.experiment;
/// let simulation = Simulation::new(&experiment, &Options::default())?;
/// let text = cuda_c::source(&experiment, &simulation.job())?;
/// assert!(text.contains("extern \"C\" __global__ void simulate("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn source(experiment: &Experiment, job: &Job<'_>) -> Result<String, SourceError> {
    job.check()?;
    if let Some(signal) = job.program.signals.first() {
        return Err(SourceError::SampledStimulus(signal.clone()));
    }
    if job.record.variables.is_empty() {
        return Err(SourceError::NothingRecorded);
    }
    let placement = Placement::new(job);
    let names = names(job, &placement);
    let functions = functions(job, &names);
    let kernel = kernel::text(job, &names, &functions);
    let mut text = header::text(experiment, job, &names, &placement);
    // Its templates need C++ linkage: it stays outside any `extern "C"`.
    text += "#include <curand_kernel.h>\n\n";
    text += match job.precision {
        Precision::F32 => "typedef float real;\n\n",
        Precision::F64 => "typedef double real;\n\n",
    };
    text += &kernel::constants(job, &names, placement.item);
    text.push('\n');
    let mut helpers: BTreeSet<Helper> =
        functions.all().flat_map(|f| f.helpers.iter().copied()).collect();
    helpers.extend(kernel::helpers(job));
    for helper in helpers {
        text += &helper.text(job.precision);
    }
    if !job.program.noisy.is_empty() {
        text += normals::text(job.normals);
    }
    for function in functions.all() {
        text += &function.text;
    }
    Ok(text + &kernel)
}

fn names(job: &Job<'_>, placement: &Placement) -> Names {
    let program = job.program;
    Names {
        precision: job.precision,
        states: name::identifiers("x", &program.states),
        sources: name::identifiers("s", &program.states),
        parameters: name::identifiers("p", &program.parameters),
        places: placement.places.clone(),
        couplings: name::identifiers("c", &program.couplings),
        edge_states: edge_states(program),
        channels: program.emit.results.len(),
    }
}

/// The states that sections of edges read at the source: the last channels of the history.
pub(crate) fn edge_states(program: &Program) -> Vec<u32> {
    let insts = program.edges.iter().flat_map(|section| &section.insts);
    let states: BTreeSet<u32> = insts
        .filter_map(|inst| match inst {
            Inst::Input(Input::SourceState(state)) => Some(*state),
            _ => None,
        })
        .collect();
    states.into_iter().collect()
}

fn functions(job: &Job<'_>, names: &Names) -> Functions {
    let program = job.program;
    let some = |name: &str, about: &str, section: &Section, array: &str, remarks: &[String]| {
        let remarks: Vec<String> = remarks.iter().map(|r| name::comment(r)).collect();
        let out = Out::Written(array, &remarks);
        let wanted = !section.results.is_empty();
        wanted.then(|| Function::new(name, about, section, names, out))
    };
    let channels: Vec<String> =
        (0..program.emit.results.len()).map(|c| format!("channel {c}")).collect();
    let noisy: Vec<String> =
        program.noisy.iter().map(|&s| program.states[s as usize].clone()).collect();
    let edges = program.edges.iter().enumerate().map(|(at, section)| {
        let about = "What one connection adds to a sum, from the delayed state of its source.";
        Function::new(&format!("edge_{at}"), about, section, names, Out::Returned)
    });
    let derivative = match job.method {
        crate::experiment::Method::Map => "The next values of the state variables.",
        _ => "The derivatives of the state variables.",
    };
    let drift =
        Out::Written("dx", &program.states.iter().map(|s| name::comment(s)).collect::<Vec<_>>());
    Functions {
        emit: some("emit", "What a node sends to the others.", &program.emit, "h", &channels),
        edges: edges.collect(),
        post: some(
            "post",
            "The coupling inputs of a node, from its weighted sums.",
            &program.post,
            "c",
            &program.couplings,
        ),
        observe: some(
            "observe",
            "Recorded variables that are not states.",
            &program.observe,
            "o",
            &program.observed,
        ),
        drift: Function::new("drift", derivative, &program.drift, names, drift),
        diffusion: some(
            "diffusion",
            "The amplitude of the noise.",
            &program.diffusion,
            "sigma",
            &noisy,
        ),
        events: some(
            "events",
            "The state after events.",
            &program.events,
            "after",
            &program.states,
        ),
    }
}
