//! The source as C++ on the CPU, against the CPU engine.

use crate::{absent, experiment, experiments, only_means, root};
use host::back::Job;
use host::back::cuda_c::{self, Arguments};
use host::experiment::{Experiment, Overrides, Precision};
use host::simulation::Simulation;
use libtest_mimic::{Failed, Trial};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
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
    let points = experiment.sweep.points().unwrap_or(1).min(POINTS);
    let simulation = Simulation::new(experiment, &only_means(points))?;
    let result = simulation.run()?;
    let expected = result.tavg();
    let job = simulation.job();
    let found = run(compiler, name, experiment, &job, threads, launches)?;
    let shape = expected.shape();
    let noisy = !job.program.noisy.is_empty();
    let tolerance = match experiment.precision {
        Precision::F32 => 1e-5,
        // The normals are of 32 bits, and not to the last bit the same.
        Precision::F64 if noisy => 1e-6,
        Precision::F64 => 1e-10,
    };
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

fn compile(compiler: &OsString, source: &Path, program: &PathBuf) -> Result<(), Failed> {
    let shim = root().join("tests/cuda_shim");
    let output = Command::new(compiler)
        .args(["-std=c++20", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-pthread"])
        .arg(format!("-DKERNEL=\"{}\"", source.display()))
        .arg("-I")
        .arg(&shim)
        .arg(shim.join("run.cpp"))
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
