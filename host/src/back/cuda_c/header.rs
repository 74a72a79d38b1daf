//! The comment at the top of the source: what it computes, how it was made, how it is called.

use super::arguments::Placement;
use super::function::{Names, Place};
use super::name::comment;
use super::normals;
use crate::back::{Job, ParameterValues, Recorded};
use crate::experiment::{Experiment, Method, ParameterValue, Precision};
use std::fmt::Write;

/// The comment.
pub(super) fn text(
    experiment: &Experiment,
    job: &Job<'_>,
    names: &Names,
    placement: &Placement,
) -> String {
    let mut out = String::from("/*\n");
    let mut line = |text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", format!(" * {}", comment(text)).trim_end());
    };
    line(&experiment.label);
    line("");
    if let Some(description) = &experiment.description {
        description.lines().for_each(|text| line(text.trim()));
        line("");
    }
    let file = experiment.source.0.rsplit(['/', '\\']).next().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    line(&format!("Written by host {version} from {file}:"));
    let changes = experiment.changes.changes();
    let (options, others): (Vec<&String>, Vec<&String>) =
        changes.iter().partition(|change| change.starts_with("--"));
    let mut command = format!("  host export {file} -o kernel.cu");
    for option in options {
        if command.len() + option.len() > WIDTH {
            line(&command);
            command = "     ".to_owned();
        }
        command = format!("{command} {option}");
    }
    line(&command);
    if !others.is_empty() {
        let others: Vec<&str> = others.into_iter().map(String::as_str).collect();
        line(&format!("Changed by the program that wrote it: {}.", others.join(", ")));
    }
    if let Some(compat) = experiment.compat {
        line(&format!("The rules are those of {}: {}.", compat.name(), compat.about()));
    }
    let method = match job.method {
        Method::Euler => "Euler's scheme",
        Method::Heun => "Heun's scheme",
        Method::Rk4 => "the classical Runge-Kutta scheme of order 4",
        Method::Map => "a map, x <- f(x)",
    };
    line(&format!("Model {}, {} nodes, {method}.", experiment.dynamics.name, job.nodes));
    let unit = time_unit(job.dt_ms / job.dt);
    line(&format!(
        "The experiment: dt = {}, {} steps that are recorded after {} that are not (n_transient),",
        job.dt, job.steps, job.transient_steps
    ));
    line(&format!("{} work items, seed {}. Time is in {unit}.", job.points.len(), job.seed));
    LAYOUT.lines().for_each(&mut line);
    line("");
    table(&mut line, "State variables, N_STATE:", states(experiment, job));
    let recorded = job.record.variables.iter().map(|variable| match *variable {
        Recorded::State(s) => job.program.states[s].clone(),
        Recorded::Observed(o) => format!("{}, from the start of the step", job.program.observed[o]),
    });
    table(&mut line, "Recorded variables, N_RECORDED:", recorded);
    let units = parameter_units(experiment);
    let mut parameters: [Vec<(usize, String)>; 2] = [Vec::new(), Vec::new()];
    for (slot, place) in placement.places.iter().enumerate() {
        let name = &job.program.parameters[slot];
        let unit =
            units.get(slot).and_then(Option::as_deref).map_or(String::new(), |u| format!(" {u}"));
        let swept = job.parameters.swept.iter().any(|s| s.slot == slot);
        let value = match &job.parameters.base[slot] {
            _ if swept => format!("{name}: swept{unit}"),
            ParameterValues::Uniform(value) => format!("{name} = {value}{unit}"),
            ParameterValues::PerNode(_) => format!("{name}{unit}"),
        };
        match *place {
            Place::Item(at) => parameters[0].push((at, value)),
            Place::Node(at) => parameters[1].push((at, value)),
        }
    }
    let [item, node] = parameters;
    table(&mut line, "Parameters, N_PARAMETER:", item.into_iter().map(|(_, text)| text));
    table(&mut line, "Node parameters:", node.into_iter().map(|(_, text)| text));
    line(match names.precision {
        Precision::F32 => F32,
        Precision::F64 => F64,
    });
    NUMERICS.lines().for_each(&mut line);
    if !job.program.noisy.is_empty() {
        NOISE.lines().chain(normals::remark(job.normals).lines()).for_each(&mut line);
    }
    out + " */\n"
}

/// A title and numbered lines, unless there are none.
fn table(line: &mut impl FnMut(&str), title: &str, rows: impl Iterator<Item = String>) {
    let mut rows = rows.enumerate().peekable();
    if rows.peek().is_none() {
        return;
    }
    line(title);
    rows.for_each(|(at, row)| line(&format!("  {at:>3}  {row}")));
    line("");
}

fn states(experiment: &Experiment, job: &Job<'_>) -> impl Iterator<Item = String> {
    let modes = experiment.dynamics.modes.max(1);
    job.program.states.iter().enumerate().map(move |(at, name)| {
        let variable = experiment.dynamics.state_variables.get(at / modes);
        let unit = variable.and_then(|v| v.unit.as_deref());
        unit.map_or_else(|| name.clone(), |unit| format!("{name}, {unit}"))
    })
}

/// The unit of every parameter slot.
fn parameter_units(experiment: &Experiment) -> Vec<Option<String>> {
    let units = experiment.parameters.iter().flat_map(|parameter| {
        let count = match &parameter.value {
            ParameterValue::Array { values, .. } => values.len(),
            _ => 1,
        };
        std::iter::repeat_n(parameter.unit.clone(), count)
    });
    units.collect()
}

fn time_unit(ms: f64) -> String {
    if (ms - 1.0).abs() < 1e-9 {
        "ms".to_owned()
    } else if (ms - 1000.0).abs() < 1e-6 {
        "s".to_owned()
    } else {
        format!("units of {ms} ms")
    }
}

/// Longer commands go on in another line.
const WIDTH: usize = 104;

const LAYOUT: &str = "
`simulate` advances every work item by n_step steps, from step i_step. A work item, one parameter set of
the whole network, is one block; its nodes are shared out over the threads of the block, of which there
may be any number. Launch it with gridDim.x = work items, blockDim.x = 128 for instance, and as often as
wanted: i_step = 0 first, then where the last launch ended. After each, `state` is the state at
t = (i_step + n_step) dt: to sample it every n steps, launch n steps at a time.

Arguments; arrays are in C order, `real` is the type below, node i receives from node j:
  i_step         the first step of this launch; 0 sets up history, accumulator and nonfinite_step
  n_node         nodes of the network
  n_step         steps of this launch
  dt             step size, in the model's unit of time
  seed           of the noise
  first_item     number of the first work item in the whole sweep, 0 if they are not split up
  n_transient    steps at the beginning that tavg leaves out
  n_ring         steps that the history holds: at least the longest delay + 1
  parameters     [item][N_PARAMETER]
  node_parameters  [parameter][node]; not read where there are none
  weights        [matrix][i][j]; 0 is no connection
  delays         [class][i][j] in steps: rint(tract length in mm / speed in mm/ms / dt in ms); they
                 belong to dt
  delay_class    [item]: which of the delays a work item has
  state          [item][N_STATE][node], in: initial values, out: the state after this launch
  history        [item][n_ring][N_CHANNEL][node], scratch that is kept between launches
  accumulator    [item][2][N_RECORDED][node], scratch that is kept between launches
  tavg           [item][N_RECORDED][node], out: means over the recorded steps so far
  nonfinite_step [item], out: the step at which a work item left the finite numbers, where it stops and
                 its tavg is NaN; -1 for the others";

const F32: &str = "Arithmetic is in 32 bits; functions are CUDA's own (expf, sinf, ...), so that results agree with `host run`";
const F64: &str = "Arithmetic is in 64 bits; functions are CUDA's own (exp, sin, ...), so that results agree with `host run`";

const NUMERICS: &str = "\
to a few units in the last place of every step, not to the bit: to 1e-5 over a thousand steps in 32 bits,
unless the model is chaotic. The order of summation is that of `host run`. Compile without contraction:
  nvcc -fmad=false -cubin -arch=native kernel.cu
  nvrtc: --fmad=false, and the include folders of CUDA: include, and include/cccl where it exists
  PyCUDA: SourceModule(text, options=[\"-fmad=false\"], no_extern_c=True).get_function(\"simulate\")";

const NOISE: &str = "\
Noise is Philox4x32-10 as in cuRAND: each node of each work item has its own subsequence, numbered by step,
so that it depends on the seed only, not on how the steps are split into launches.";
