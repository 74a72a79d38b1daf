//! The source as C++ on the CPU, against the CPU engine.

use crate::{absent, experiment, experiments, normals, only_means, root};
use host::back::Job;
use host::back::cuda_c::{self, Arguments};
use host::experiment::load_str_with;
use host::experiment::{Experiment, Normals, Overrides, Precision};
use host::simulation::Simulation;
use libtest_mimic::{Failed, Trial};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Recorded steps.
const STEPS: u64 = 1000;
/// Steps before, which the means leave out.
const TRANSIENT: u64 = 70;
/// Points of a sweep.
const POINTS: u64 = 2;

/// Experiments whose trajectories part from any other that differs in the last bit: fewer steps.
const CHAOTIC: [(&str, u64); 3] =
    [("models/LogisticMap", 12), ("examples/logistic_map", 12), ("models/LarterBreakspear", 300)];

/// All constructs at once, under names that C++ has other uses for.
pub(crate) const EVERYTHING: &str = r#"
label: "*/ #error \\"
dynamics:
  name: Everything
  parameters:
    double: {value: 0.3}
    dt: {value: 1.5}
    N: {value: 0.02}
    I: {value: 0.4}
    local: {value: 0.1}
  coupling_inputs: {near: {}, far: {}, contact: {}}
  derived_variables:
    k1: {equation: {rhs: "Max(t, int) + near*0.5"}, record: true}
  state_variables:
    t_end:
      equation: {rhs: "-double*t_end + far + I*sin(0.7*t) + Mod(int, 0.3)"}
      initial_value: 0.2
      coupling_variable: true
      noise: {additive: true, parameters: {sigma: {value: 0.05}}}
    int:
      equation: {rhs: "local + dt*near - N*int**3 + 0.1*sign(t_end) + contact"}
      initial_value: 0.1
      domain: {lo: -1.0, hi: 1.5, enforce: clamp}
      noise: {additive: true, parameters: {sigma: {value: 0.03}}}
    while:
      equation: {rhs: "0.4 + 0.05*exp(-t_end**2)"}
      domain: {lo: 0.0, hi: 3.0, enforce: wrap}
      noise: {additive: true, parameters: {sigma: {value: 0.001}}}
  events:
    reset:
      event_type: discrete
      condition: {rhs: "int > 1.2"}
      affect: {rhs: "int = int - 0.9; t_end = t_end + 0.01*t"}
network:
  parameters: {conduction_speed: {value: 1.0}}
  nodes:
    - {id: 0, label: a, parameters: {local: {value: 0.3}}, state: {int: {value: -0.5}}}
    - {id: 1, label: b, parameters: {local: {value: 0.1}}}
    - {id: 2, label: c, parameters: {local: {value: 0.2}}}
    - {id: 3, label: d, parameters: {local: {value: 0.25}}}
  edges:
    - {source: 0, target: 1, directed: true, parameters: {weight: {value: 1.0}, length: {value: 5.0}}}
    - {source: 1, target: 2, directed: true, parameters: {weight: {value: 0.5}, length: {value: 0.4}}}
    - {source: 2, target: 0, directed: true, parameters: {weight: {value: 0.7}, length: {value: 1.6}}}
    - {source: 3, target: 0, directed: true, parameters: {weight: {value: 0.9}, length: {value: 1.59}}}
    - {source: 0, target: 3, directed: true, parameters: {weight: {value: -0.3}, length: {value: 0.0}}}
  coupling:
    near:
      delayed: false
      incoming_states: [t_end]
      local_states: [int]
      parameters: {G: {value: 0.2}}
      pre_expression: {rhs: "tanh(G*t_end_j*int_i - int_i)"}
      post_expression: {rhs: "G*gx"}
    far:
      delayed: true
      incoming_states: [t_end, int]
      local_states: [t_end]
      parameters: {G: {value: 0.3}}
      pre_expression: {rhs: "1/(1 + exp(int_j - t_end_i))"}
      post_expression: {rhs: "G*gx"}
    contact:
      delayed: true
      incoming_states: [int]
      local_states: [int]
      parameters: {G: {value: 0.05}}
      pre_expression: {rhs: "int_j - int_i"}
      post_expression: {rhs: "G*gx"}
integration: {method: @METHOD@, step_size: 0.05, duration: 30.0, transient_time: 5.0}
explorations:
  sweep:
    mode: zip
    space:
      Everything.I: {explored_values: [0.3, 0.2]}
      network.conduction_speed: {explored_values: [1.0, 1.3]}
execution: {random_seed: 18446744073}
"#;

/// Without functions nothing but rounding is left, which is the engine's.
const LINEAR: &str = include_str!("../../../tests/experiments/linear.yaml");

/// One point leaves the finite numbers, one doesn't.
pub(crate) const EXPLOSION: &str = "
dynamics:
  name: Explosion
  parameters: {a: {value: 1.0}}
  state_variables: {x: {equation: {rhs: a*x**2}, initial_value: 1.0}}
network: {number_of_nodes: 3}
integration: {method: euler, step_size: 0.1, duration: 10.0}
explorations: {sweep: {space: {Explosion.a: {explored_values: [1.0, -1.0]}}}}
";

pub(crate) fn trials() -> Vec<Trial> {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "g++".into());
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        let reason = format!("{}: {error}", compiler.to_string_lossy());
        return vec![absent("cplusplus", "REQUIRE_CXX", reason)];
    }
    let mut trials = Vec::new();
    for (name, path) in experiments() {
        for precision in [Precision::F32, Precision::F64] {
            let (compiler, own, path) = (compiler.clone(), name.clone(), path.clone());
            trials.push(Trial::test(format!("cplusplus/{name}_{precision:?}"), move || {
                let steps = CHAOTIC.iter().find(|(n, _)| *n == own).map_or(STEPS, |(_, n)| *n);
                let experiment = short(&path, precision, steps)?;
                compare(&compiler, &own, &experiment, 1, 1)
            }));
        }
    }
    for (method, precision) in
        [("euler", Precision::F32), ("heun", Precision::F32), ("rk4", Precision::F64)]
    {
        let compiler = compiler.clone();
        trials.push(Trial::test(format!("cplusplus/everything_{method}"), move || {
            let text = EVERYTHING.replace("@METHOD@", method);
            let overrides = Overrides { precision: Some(precision), ..Overrides::default() };
            let folder = Path::new("nowhere");
            let loaded = load_str_with(&text, "everything.yaml", folder, &overrides)
                .map_err(|error| error.render(false))?;
            compare(&compiler, &format!("everything_{method}"), &loaded.experiment, 2, 3)
        }));
    }
    let again = compiler.clone();
    trials.push(Trial::test("cplusplus/explosion", move || {
        let folder = Path::new("nowhere");
        let loaded = load_str_with(EXPLOSION, "explosion.yaml", folder, &Overrides::default())
            .map_err(|error| error.render(false))?;
        compare(&again, "explosion", &loaded.experiment, 2, 3)
    }));
    for (method, precision) in [("euler", Precision::F32), ("heun", Precision::F64)] {
        let compiler = compiler.clone();
        trials.push(Trial::test(format!("cplusplus/everything_{method}_curand"), move || {
            let text = EVERYTHING.replace("@METHOD@", method);
            let overrides = Overrides {
                precision: Some(precision),
                normals: Some(Normals::Curand),
                ..Overrides::default()
            };
            let loaded = load_str_with(&text, "everything.yaml", Path::new("nowhere"), &overrides)
                .map_err(|error| error.render(false))?;
            compare(&compiler, &format!("everything_{method}_curand"), &loaded.experiment, 2, 3)
        }));
    }
    for precision in [Precision::F32, Precision::F64] {
        let compiler = compiler.clone();
        let name = format!("cplusplus/a_linear_model_has_the_bits_of_the_engine_{precision:?}");
        trials.push(Trial::test(name, move || {
            let overrides = Overrides { precision: Some(precision), ..Overrides::default() };
            let loaded = load_str_with(LINEAR, "linear.yaml", Path::new("nowhere"), &overrides)
                .map_err(|error| error.render(false))?;
            compare_within(&compiler, "linear", &loaded.experiment, 5, 3, Some(0.0))
        }));
    }
    trials.extend(normals::cplusplus_trials(&compiler));
    let path = root().join("examples/jansen_rit_delays.yaml");
    let again = compiler.clone();
    trials.push(Trial::test("cplusplus/threads_and_launches", move || {
        let experiment = short(&path, Precision::F32, 200)?;
        compare(&again, "threads_and_launches", &experiment, 3, 7)
    }));
    trials
}

fn short(path: &Path, precision: Precision, steps: u64) -> Result<Experiment, Failed> {
    let overrides =
        Overrides { precision: Some(precision), steps: Some(steps), ..Overrides::default() };
    let mut experiment = experiment(path, &overrides)?;
    let transient = TRANSIENT.min(steps);
    experiment.integration.transient = transient as f64 * experiment.integration.dt;
    Ok(experiment)
}

/// Means of every recorded variable at every node and point.
fn compare(
    compiler: &OsString,
    name: &str,
    experiment: &Experiment,
    threads: u32,
    launches: u32,
) -> Result<(), Failed> {
    compare_within(compiler, name, experiment, threads, launches, None)
}

/// With a tolerance, or that of the precision.
fn compare_within(
    compiler: &OsString,
    name: &str,
    experiment: &Experiment,
    threads: u32,
    launches: u32,
    tolerance: Option<f64>,
) -> Result<(), Failed> {
    let points = experiment.sweep.points().unwrap_or(1).min(POINTS);
    let simulation = Simulation::new(experiment, &only_means(points))?;
    // The CPU draws the portable normals, which are cuRAND's but for the last bits.
    let portable = Experiment { normals: Normals::Portable, ..experiment.clone() };
    let result = Simulation::new(&portable, &only_means(points))?.run()?;
    let expected = result.tavg();
    let job = simulation.job();
    let found = run(compiler, name, experiment, &job, threads, launches)?;
    let shape = expected.shape();
    for (point, &step) in found[found.len() - shape[0]..].iter().enumerate() {
        let expected = result.nonfinite_step(point).map_or(-1.0, |step| step as f64);
        assert!(
            step == expected,
            "point {point} left the finite numbers at {step}, not {expected}"
        );
    }
    let tolerance = tolerance.unwrap_or(match experiment.precision {
        Precision::F32 => 1e-5,
        // cuRAND's normals are of 32 bits, and not to the last bit those of the CPU.
        Precision::F64 if job.draws_curand() => 1e-6,
        Precision::F64 => 1e-10,
    });
    let mut worst = (0.0, String::new());
    for variable in 0..shape[1] {
        let places = (0..shape[0]).flat_map(|p| (0..shape[2]).map(move |n| (p, n)));
        let at = |(p, n): (usize, usize)| (p * shape[1] + variable) * shape[2] + n;
        let scale = places.clone().map(|p| expected.values[at(p)].abs()).fold(0.0, f64::max);
        for place in places {
            let (a, b) = (expected.values[at(place)], found[at(place)]);
            if a.is_nan() && b.is_nan() {
                continue;
            }
            let error = (a - b).abs() / scale.max(f64::MIN_POSITIVE);
            if error > worst.0 || error.is_nan() {
                worst =
                    (error, format!("variable {variable}, point and node {place:?}: {b}, not {a}"));
            }
        }
    }
    if worst.0 <= tolerance { Ok(()) } else { Err(format!("{:e}: {}", worst.0, worst.1).into()) }
}

/// `tavg`, the states and `nonfinite_step` of the compiled source.
fn run(
    compiler: &OsString,
    name: &str,
    experiment: &Experiment,
    job: &Job<'_>,
    threads: u32,
    launches: u32,
) -> Result<Vec<f64>, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_c");
    fs::create_dir_all(&folder)?;
    let stem = format!("{}_{:?}", name.replace('/', "_"), experiment.precision);
    let (source, program) = (folder.join(format!("{stem}.cu")), folder.join(stem));
    fs::write(&source, cuda_c::source(experiment, job)?)?;
    compile(compiler, &source, &program)?;
    let mut child = Command::new(&program)
        .args([threads.to_string(), launches.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // The program reads everything before it writes anything.
    child.stdin.take().ok_or("no input")?.write_all(&arguments(job)?)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), output.status).into());
    }
    let words = output.stdout.chunks_exact(8);
    Ok(words.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default())).collect())
}

fn compile(compiler: &OsString, source: &Path, program: &Path) -> Result<(), Failed> {
    let kernel = format!("-DKERNEL=\"{}\"", source.display());
    build(compiler, &[kernel], &root().join("tests/cuda_shim/run.cpp"), program)
}

/// Compiles C++ that may include the stand-in for cuRAND.
pub(crate) fn build(
    compiler: &OsString,
    options: &[String],
    source: &Path,
    program: &Path,
) -> Result<(), Failed> {
    let output = Command::new(compiler)
        .args(["-std=c++20", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-pthread"])
        .args(options)
        .arg("-I")
        .arg(root().join("tests/cuda_shim"))
        .arg(source)
        .arg("-o")
        .arg(program)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(())
}

/// What `tests/cuda_shim/run.cpp` reads.
fn arguments(job: &Job<'_>) -> Result<Vec<u8>, Failed> {
    let arguments = Arguments::new(job)?;
    let mut numbers = vec![
        arguments.n_item as f64,
        arguments.n_node as f64,
        job.total_steps() as f64,
        job.dt,
        job.seed as f64,
        job.transient_steps as f64,
        arguments.n_ring as f64,
    ];
    let mut array = |values: Vec<f64>| {
        numbers.push(values.len() as f64);
        numbers.extend(values);
    };
    let wide = |values: Vec<i64>| values.into_iter().map(|v| v as f64).collect();
    array(arguments.parameters);
    array(arguments.node_parameters);
    array(arguments.weights);
    array(wide(arguments.delays));
    array(wide(arguments.delay_class));
    array(arguments.state);
    Ok(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
}
