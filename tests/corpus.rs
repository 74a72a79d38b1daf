//! Models and experiments that TVBO ships, where a folder of them is at hand.
//!
//! `TVBO_CORPUS` names it: `models/*.yaml`, each an experiment; `models/*.npy`, the trajectory
//! `[time, variable, node]` of another implementation; `models/TRUSTED.txt`, the models on which two
//! other implementations agree; `experiments/*.yaml`. `BLESS=1` rewrites `docs/corpus.md`.

mod runs;

use host::experiment::{
    Experiment, Initial, Method, Overrides, ParameterValue, Precision, load_with,
};
use host::output::npy::{self, Array};
use host::simulation::{Options, RunResult, Simulation};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use runs::every_step;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// Agreement asked for, relative to the largest value of a variable.
const TOLERANCE: f64 = 1e-6;

/// Rows of the table, by model.
type Table = Arc<Mutex<BTreeMap<String, String>>>;

#[expect(clippy::print_stderr, reason = "a test program says why it failed")]
fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let Some(corpus) = std::env::var_os("TVBO_CORPUS").map(PathBuf::from) else {
        let reason = "TVBO_CORPUS names no folder of TVBO's models";
        let trial = Trial::ignorable_test("corpus", move || Ok(Completion::ignored_with(reason)));
        return libtest_mimic::run(&arguments, vec![trial]).exit_code();
    };
    let table = Table::default();
    let trusted = std::fs::read_to_string(corpus.join("models/TRUSTED.txt")).unwrap_or_default();
    let trusted: Vec<String> = trusted.split_whitespace().map(str::to_owned).collect();
    let mut trials = Vec::new();
    for path in yaml_files(&corpus.join("models")) {
        let (name, table) = (stem(&path), table.clone());
        let trusted = trusted.contains(&name);
        trials.push(Trial::test(format!("model::{name}"), move || {
            let row = model(&path, trusted)?;
            table.lock().map_err(|e| e.to_string())?.insert(name, row);
            Ok(())
        }));
    }
    for path in yaml_files(&corpus.join("experiments")) {
        let name = format!("experiment::{}", stem(&path));
        trials.push(Trial::test(name, move || whole_experiment(&path)));
    }
    let models = trials.iter().filter(|t| t.name().starts_with("model::")).count();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let table = table.lock().expect("no trial runs any more");
    if !conclusion.has_failed() && table.len() == models {
        let page = page(&table);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/corpus.md");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, page).expect("a page that can be written");
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(&page) {
            eprintln!("docs/corpus.md is not what this run found; BLESS=1 rewrites it");
            return ExitCode::FAILURE;
        }
    }
    conclusion.exit_code()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the corpus");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    paths
}

fn page(table: &BTreeMap<String, String>) -> String {
    let mut page = String::from(
        "# Models of TVBO, tried

Each model below was run as TVBO 0.5.3 ships it, in 64-bit floats, 500 steps unless its file says otherwise. \"Agrees\"
is the largest difference from the trajectory of tvboptim 0.4.0, relative to the largest value of each variable.
`tests/corpus.rs` writes this page.

| model | result |
|---|---|
",
    );
    for (model, row) in table {
        page.push_str(&format!("| {model} | {row} |\n"));
    }
    page
}

fn load(path: &Path, overrides: Overrides) -> Result<Experiment, Failed> {
    let overrides = Overrides { precision: Some(Precision::F64), ..overrides };
    Ok(load_with(path, &overrides).map_err(|e| e.render(false))?.experiment)
}

fn run(experiment: &Experiment, options: &Options) -> Result<RunResult, Failed> {
    let simulation = Simulation::new(experiment, options).map_err(|e| e.to_string())?;
    Ok(simulation.run()?)
}

fn model(path: &Path, trusted: bool) -> Result<String, Failed> {
    let experiment = load(path, Overrides::default())?;
    let result = run(&experiment, &every_step())?;
    let name = stem(path);
    if let Some(by_hand) = by_hand(&name) {
        let steps = follows(&experiment, &result, by_hand)?;
        let why = match experiment.integration.method {
            Method::Map => "a map: the other implementation took it for a differential equation",
            _ => "resets at its event, which the other implementation does not",
        };
        return Ok(format!("{why}; agrees with a direct iteration over {steps} steps"));
    }
    if let Some(&(_, why)) = RUNS_AWAY.iter().find(|(model, _)| *model == name) {
        let step = result.nonfinite_step(0).ok_or("it stays finite now: mend the list")?;
        return smaller_step(path, step, why);
    }
    if let Some(step) = result.nonfinite_step(0) {
        return Err(format!("left the finite numbers at step {step}").into());
    }
    if experiment.integration.method == Method::Map {
        return Ok(
            "a map: the other implementation took it for a differential equation; finite".into()
        );
    }
    let reference = path.with_extension("npy");
    if !reference.exists() {
        return Ok("runs and stays finite; no trajectory to compare with".into());
    }
    let expected = npy::parse(&std::fs::read(reference)?)?;
    let off = difference(&experiment, &result, &expected)?;
    if trusted && (off.is_nan() || off > TOLERANCE) {
        return Err(format!("differs by {off:e}").into());
    }
    Ok(format!("agrees to {}", magnitude(off)))
}

/// A power of ten that a difference stays below: the last digits depend on nothing of interest.
fn magnitude(off: f64) -> String {
    if off <= 1e-12 { "1e-12".into() } else { format!("1e{}", off.log10().ceil()) }
}

/// The other implementation's variables stand in alphabetical order or in that of the file; derived
/// variables follow.
fn difference(
    experiment: &Experiment,
    result: &RunResult,
    expected: &Array,
) -> Result<f64, Failed> {
    let series = result.series().ok_or("no series")?;
    let (nodes, variables) = (result.nodes.len(), result.variables.len());
    let rows = expected.shape[0].min(series.shape()[1]);
    if expected.values.len() != expected.shape[0] * variables * nodes {
        return Err(format!("{:?} against {:?}", series.shape(), expected.shape).into());
    }
    let is_state = |at: &usize| {
        experiment.dynamics.state_variables.iter().any(|s| s.name == result.variables[*at])
    };
    let of_file: Vec<usize> = (0..variables).collect();
    let mut alphabetical = of_file.clone();
    alphabetical.sort_by_key(|at| (!is_state(at), &result.variables[*at]));
    let off = |order: &[usize]| {
        let columns = order.iter().enumerate().map(|(column, &variable)| {
            let (mut largest, mut off) = (1e-12_f64, 0.0_f64);
            for row in 0..rows {
                for node in 0..nodes {
                    let theirs = expected.values[(row * variables + column) * nodes + node];
                    let ours = series.at(&[0, row, variable, node]).unwrap_or(f64::NAN);
                    largest = largest.max(theirs.abs());
                    off = if ours.is_nan() { f64::NAN } else { off.max((ours - theirs).abs()) };
                }
            }
            off / largest
        });
        columns.fold(0.0, |worst: f64, off| if off.is_nan() { off } else { worst.max(off) })
    };
    Ok(off(&alphabetical).min(off(&of_file)))
}

/// Models that leave the finite numbers as they come. So does a direct transcription to NumPy, at the
/// same step where both start from the same values; with a tenth of the step both stay finite and
/// agree to 1e-9.
const RUNS_AWAY: &[(&str, &str)] = &[
    ("CoombesByrne", "too stiff for its step"),
    ("EpileptorRestingState", "its start is too far from rest for its step"),
    ("GastSchmidtKnosche_SF", "too stiff for its step"),
    (
        "NLDCoupledLogisticMaps4",
        "the map diverges from its start; the other implementation took it for a differential equation",
    ),
];

/// A tenth of the step keeps a differential equation finite; a map has none.
fn smaller_step(path: &Path, step: u64, why: &str) -> Result<String, Failed> {
    let experiment = load(path, Overrides::default())?;
    if experiment.integration.method == Method::Map {
        return Ok(format!("infinite at step {step}: {why}"));
    }
    let dt = experiment.integration.dt / 10.0;
    let finer = load(path, Overrides { dt: Some(dt), ..Overrides::default() })?;
    if let Some(step) = run(&finer, &every_step())?.nonfinite_step(0) {
        return Err(format!("infinite at step {step} of {dt} too").into());
    }
    Ok(format!("infinite at step {step}: {why}; finite with a tenth of it"))
}

/// One step of a model, written down by hand: state in the order of the file, parameters by name.
type Step = fn(&[f64], &dyn Fn(&str) -> f64, f64) -> Vec<f64>;

/// Models whose trajectory of the other implementation is of something else.
fn by_hand(name: &str) -> Option<Step> {
    use std::f64::consts::TAU;
    Some(match name {
        "LogisticMap" => |s, p, _| vec![p("r") * s[0] * (1.0 - s[0])],
        "ArnoldCatMap" => {
            |s, _, _| vec![(2.0 * s[0] + s[1]).rem_euclid(1.0), (s[0] + s[1]).rem_euclid(1.0)]
        }
        "StandardMap" => |s, p, _| {
            let momentum = s[1] + p("k") * s[0].sin();
            vec![(s[0] + momentum).rem_euclid(TAU), momentum.rem_euclid(TAU)]
        },
        "RulkovMap" => |s, p, _| {
            let fast = p("alpha") / (1.0 + s[0] * s[0]) + s[1];
            vec![fast, s[1] - p("sigma") * s[0] - p("beta")]
        },
        "IntegrateAndFire" => |s, p, dt| {
            let drift = |v: f64| (p("leakReversal") - v) / p("tau");
            let first = drift(s[0]);
            let v = s[0] + dt / 2.0 * (first + drift(s[0] + dt * first));
            vec![if v > p("thresh") { p("reset") } else { v }]
        },
        _ => return None,
    })
}

/// How many steps a run was compared with a direct iteration: chaos loses a bit or so in each.
fn follows(experiment: &Experiment, result: &RunResult, step: Step) -> Result<usize, Failed> {
    let parameter = |name: &str| -> f64 {
        let found = experiment.parameters.iter().find(|p| p.name == name);
        match found.map(|p| &p.value) {
            Some(ParameterValue::Uniform(value)) => *value,
            _ => f64::NAN,
        }
    };
    let initial = |state: &host::experiment::StateVariable| match state.initial {
        Initial::Uniform(value) => value,
        _ => f64::NAN,
    };
    let states = &experiment.dynamics.state_variables;
    let mut state: Vec<f64> = states.iter().map(initial).collect();
    let steps = if experiment.integration.method == Method::Map { 30 } else { 500 };
    for row in 0..steps {
        state = step(&state, &parameter, experiment.integration.dt);
        for (variable, expected) in states.iter().zip(&state) {
            let trace = result.trace(0, &variable.name, 0).ok_or("a state that is not recorded")?;
            let off = (trace[row] - expected).abs();
            if off.is_nan() || off > TOLERANCE * expected.abs().max(1.0) {
                let message =
                    format!("{} at step {row}: {}, not {expected}", variable.name, trace[row]);
                return Err(message.into());
            }
        }
    }
    Ok(steps)
}

/// Runs the start of an experiment, beside the connectome that it expects.
fn whole_experiment(path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let here = folder.path().join("experiments");
    let data = folder.path().join("networks/bids/dk_average");
    std::fs::create_dir_all(&here)?;
    std::fs::create_dir_all(&data)?;
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../connectomes/dk_average");
    for entry in std::fs::read_dir(shipped)? {
        let entry = entry?;
        std::fs::copy(entry.path(), data.join(entry.file_name()))?;
    }
    let file = here.join(path.file_name().ok_or("a file without a name")?);
    std::fs::copy(path, &file)?;
    let whole = load(&file, Overrides::default())?;
    // What only Python could do is left out by name.
    let text = std::fs::read_to_string(path)?;
    let named = |what: &str| whole.skipped.iter().any(|(name, _)| name.starts_with(what));
    for (key, what) in [("optimizations:", "optimizations."), ("source_code:", "functions.")] {
        if text.lines().any(|line| line.trim_start().starts_with(key)) && !named(what) {
            return Err(format!("`{key}` is there, and nothing of it is named as skipped").into());
        }
    }
    if whole.skipped.iter().any(|(_, reason)| reason.is_empty()) {
        return Err("something is skipped without a reason".into());
    }
    let time = &whole.integration;
    let changes = Overrides {
        duration: Some(time.duration.min(2000.0 * time.dt)),
        transient: Some(time.transient.min(500.0 * time.dt)),
        ..Overrides::default()
    };
    let cut = load(&file, changes)?;
    let points = cut.sweep.points().ok_or("a sweep without an end")?.min(3);
    let first = std::iter::once(0..points).collect();
    let result = run(&cut, &Options { points: first, ..Options::default() })?;
    match &result.nonfinite[..] {
        [] => Ok(()),
        [(point, step), ..] => Err(format!("point {point} is infinite at step {step}").into()),
    }
}
