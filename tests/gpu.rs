//! The GPU engine against the CPU engine, bit for bit, on whatever GPU this machine has.
//!
//! Exported CUDA C is compared as well, within rounding, where there is NVRTC; `REQUIRE_NVRTC=1` makes
//! its absence a failure.
//!
//! Without a GPU every trial is reported as ignored; with `REQUIRE_GPU=1` it fails instead. With
//! `GPU_EXPERIMENTS` naming a folder, the experiments (`*.yaml`) in it are compared too. The binary
//! needs no files, so it can be copied to a machine that has a GPU and no Rust.

#[path = "gpu/curand.rs"]
mod curand;

use host::back::gpu::PlanName;
use host::compute::cuda_devices;
use host::compute::nvrtc::Nvrtc;
use host::experiment::{LoadError, Loaded, Overrides, Precision, load_str_with, load_with};
use host::library::{self, Shelf};
use host::simulation::{Device, Options, Record, RunResult, Simulation, verify_cuda};
use host::{
    Backend, KernelSource, RunOptions, SimulationExperiment, compile_cuda, compile_cuda_with,
    run_cuda,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::ops::Range;
use std::path::{Path, PathBuf};

const REFERENCE: [(&str, &str); 5] = [
    ("01_smallest", include_str!("reference/01_smallest.yaml")),
    ("02_delayed", include_str!("reference/02_delayed.yaml")),
    ("03_delayed_stochastic", include_str!("reference/03_delayed_stochastic.yaml")),
    ("04_sweep", include_str!("reference/04_sweep.yaml")),
    ("05_delayed_heun", include_str!("reference/05_delayed_heun.yaml")),
];

/// A network of any size with two couplings, one of which doesn't separate, noise and bounds.
const NETWORK: &str = "
label: network
dynamics:
  name: Ring
  parameters: {a: {value: 0.3}, w: {value: 0.25}}
  state_variables:
    x:
      equation: {rhs: (a - x^2 - y^2)*x - w*y + c + 0.1*tanh(d)}
      initial_value: 0.2
      coupling_variable: true
      domain: {lo: -1.5, hi: 1.5, enforce: clamp}
      noise: {additive: true, parameters: {sigma: {value: 0.05}}}
    y: {equation: {rhs: (a - x^2 - y^2)*y + w*x}}
  coupling_inputs: {c: {}, d: {}}
network:
  graph_generator:
    name: graph
    type: WattsStrogatz
    seed: 3
    parameters: {n: {value: NODES}, k: {value: 6}, p: {value: 0.2}}
  coupling:
    c: {pre_expression: {rhs: sin(x_j - x_i)}, post_expression: {rhs: 0.2*gx}}
    d: {delayed: false, pre_expression: {rhs: x_j/(1 + (x_j - x_i)^2)}, post_expression: {rhs: gx}}
integration: {method: METHOD, step_size: 0.1, duration: 20.0, transient_time: 3.0}
explorations:
  grid: {space: {Ring.a: {domain: {lo: 0.1, hi: 0.9, n: 3}}}}
";

/// What is run.
#[derive(Clone)]
enum Source {
    Text(String, String),
    File(PathBuf),
}

impl Source {
    fn load(&self, changes: &Overrides) -> Result<Loaded, LoadError> {
        match self {
            Self::Text(name, text) => load_str_with(text, name, Path::new("."), changes),
            Self::File(path) => load_with(path, changes),
        }
    }
}

/// How it is run.
#[derive(Clone, Default)]
struct Case {
    changes: Overrides,
    record: Option<Record>,
    points: Vec<Range<u64>>,
    batch_points: Option<usize>,
    launch_steps: Option<u32>,
    plan: PlanName,
}

fn same(source: &Source, case: &Case) -> Result<(), Failed> {
    let loaded = source.load(&case.changes).map_err(|e| e.render(false))?;
    let run = |device: Device| -> Result<RunResult, Failed> {
        let options =
            Options { record: case.record, points: case.points.clone(), threads: None, device };
        let simulation = Simulation::new(&loaded.experiment, &options)?;
        Ok(simulation.run()?)
    };
    let cpu = run(Device::Cpu)?;
    let gpu = run(Device::Cuda {
        ordinals: vec![0],
        batch_points: case.batch_points,
        launch_steps: case.launch_steps,
        plan: case.plan,
    })?;
    if cpu.nonfinite != gpu.nonfinite {
        return Err(format!("non-finite points {:?} and {:?}", cpu.nonfinite, gpu.nonfinite).into());
    }
    for (a, b) in cpu.arrays().iter().zip(gpu.arrays()) {
        let differs =
            |(x, y): (&f64, &f64)| x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan());
        let count = a.values.iter().zip(&b.values).filter(|&pair| differs(pair)).count();
        if a.dimensions != b.dimensions || count > 0 {
            let at = a.values.iter().zip(&b.values).position(differs).unwrap_or(0);
            return Err(format!(
                "{}: {count} of {} values differ, the first at {at}: {:?} on the CPU, {:?} on the GPU",
                a.name,
                a.values.len(),
                a.values.get(at),
                b.values.get(at)
            )
            .into());
        }
    }
    Ok(())
}

/// Experiments whose trajectories part from any other that differs in the last bit.
const CHAOTIC: [&str; 2] = ["LogisticMap", "logistic_map"];

/// The exported CUDA C, compiled by NVRTC, against the program's own kernel.
fn verified(name: &str, source: &Source, case: &Case) -> Result<(), Failed> {
    let mut changes = case.changes.clone();
    if CHAOTIC.contains(&name) {
        changes.steps = Some(12);
    } else if name == "LarterBreakspear" {
        changes.steps = Some(300);
    }
    let loaded = source.load(&changes).map_err(|e| e.render(false))?;
    let found = verify_cuda(&loaded.experiment, 0)?;
    if found.agrees() { Ok(()) } else { Err(format!("{found:?}").into()) }
}

/// `host::run_cuda` and `host::compile_cuda` from both sources.
fn public_functions() -> Result<(), Failed> {
    let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
    let options = RunOptions::new().n_steps(500).swept_param("I", [0.1, 0.2, 0.4]);
    let found = run_cuda(&experiment, &options)?;
    let cpu = experiment.run_with(&options.clone().backend(Backend::Cpu))?;
    if &found.tavg != cpu.tavg() || found.finite != [true; 3] {
        return Err(format!("{found:?}").into());
    }
    let rust = compile_cuda(&experiment)?;
    let c = compile_cuda_with(&experiment, &options, KernelSource::CudaC)?;
    let arguments = [rust.function.parameters().len(), c.function.parameters().len()];
    if arguments == [15, 18] { Ok(()) } else { Err(format!("{arguments:?}").into()) }
}

fn with_steps(steps: u64) -> Case {
    Case { changes: Overrides { steps: Some(steps), ..Overrides::default() }, ..Case::default() }
}

fn cases() -> Vec<(String, Source, Case)> {
    let mut cases: Vec<(String, Source, Case)> = Vec::new();
    for (name, text) in REFERENCE {
        let source = Source::Text(name.into(), text.into());
        cases.push((format!("reference::{name}"), source, Case::default()));
    }
    let shipped = |path: &str| Source::File(format!("embedded:{path}").into());
    for name in library::names(Shelf::Models) {
        let source = shipped(&format!("models/{name}.yaml"));
        cases.push((format!("model::{name}"), source, with_steps(500)));
    }
    for name in library::names(Shelf::Examples) {
        let source = shipped(&format!("examples/{name}.yaml"));
        let mut case = with_steps(200);
        case.changes.transient = Some(0.0);
        cases.push((format!("example::{name}"), source, case));
    }
    let kuramoto = shipped("examples/kuramoto_sweep.yaml");
    for (name, batch_points, launch_steps) in [
        ("batches_of_7", Some(7), None),
        ("launches_of_13", None, Some(13)),
        ("both", Some(50), Some(100)),
    ] {
        let mut case = Case { batch_points, launch_steps, ..with_steps(250) };
        case.changes.transient = Some(5.0);
        cases.push((format!("split::{name}"), kuramoto.clone(), case));
    }
    let mut alone = with_steps(250);
    alone.points.push(200..201);
    alone.record = Some(Record::Average(1.0));
    cases.push(("split::one_point".into(), kuramoto, alone));
    for (nodes, method) in [(10, "euler"), (33, "rk4"), (300, "heun"), (1000, "heun")] {
        let text = NETWORK.replace("NODES", &nodes.to_string()).replace("METHOD", method);
        let source = Source::Text(format!("network of {nodes}"), text);
        let mut case = Case { record: Some(Record::Average(0.5)), ..Case::default() };
        case.launch_steps = Some(64);
        cases.push((format!("network::{nodes}_{method}"), source, case));
    }
    if let Some(folder) = std::env::var_os("GPU_EXPERIMENTS") {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        for path in paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "yaml")) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let case = Case { record: Some(Record::Raw), ..Case::default() };
            cases.push((format!("folder::{stem}"), Source::File(path), case));
        }
    }
    cases
}

fn main() {
    let arguments = Arguments::from_args();
    let absent = match cuda_devices() {
        Ok(devices) if !devices.is_empty() => None,
        Ok(_) => Some("no NVIDIA GPU".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    let required = std::env::var_os("REQUIRE_GPU").is_some_and(|v| v == "1");
    let mut trials = Vec::new();
    for (name, source, case) in cases() {
        for (precision, suffix) in [(Precision::F32, "f32"), (Precision::F64, "f64")] {
            let (source, mut case) = (source.clone(), case.clone());
            case.changes.precision = Some(precision);
            let absent = absent.clone();
            let trial =
                Trial::test(format!("cpu_equals_gpu::{name}::{suffix}"), move || match absent {
                    Some(reason) => Err(reason.into()),
                    None => same(&source, &case),
                });
            trials.push(trial);
        }
    }
    for (name, check) in curand::checks() {
        let absent = absent.clone();
        trials.push(Trial::test(name, move || absent.map_or_else(check, |why| Err(why.into()))));
    }
    let nvrtc = Nvrtc::shared().err().map(|error| error.to_string());
    let absent_c = absent.clone().or(nvrtc);
    for (name, source, mut case) in cases() {
        let Some((group @ ("model" | "example"), own)) = name.split_once("::") else { continue };
        case.changes.precision = Some(Precision::F32);
        let (own, reason) = (own.to_owned(), absent_c.clone());
        let title = format!("exported_equals_gpu::{group}::{own}");
        let trial = Trial::test(title, move || match reason {
            Some(reason) => Err(reason.into()),
            None => verified(&own, &source, &case),
        });
        let ignored = absent_c.is_some() && std::env::var_os("REQUIRE_NVRTC").is_none();
        trials.push(trial.with_ignored_flag(ignored));
    }
    let ignored = absent_c.is_some() && std::env::var_os("REQUIRE_NVRTC").is_none();
    trials.push(Trial::test("public_functions", public_functions).with_ignored_flag(ignored));
    if let Some(reason) = absent.filter(|_| !required) {
        trials = trials
            .into_iter()
            .map(|t| {
                let reason = reason.clone();
                Trial::ignorable_test(t.name().to_owned(), move || {
                    Ok(libtest_mimic::Completion::ignored_with(reason))
                })
            })
            .collect();
    }
    libtest_mimic::run(&arguments, trials).exit();
}
