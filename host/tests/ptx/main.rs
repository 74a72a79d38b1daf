//! Every shipped model in its kernel: the slots as text, and the whole assembled by NVIDIA's assembler.
//!
//! Without GPU kernels or without `ptxas` the trials that need them are ignored with the reason;
//! `REQUIRE_PTX=1` makes them fail. `ptxas` is looked for in the variable `PTXAS`, in `PATH`, in
//! `/usr/local/cuda/bin` and in the Python environment `VIRTUAL_ENV`. `PTX_GENERATIONS=all`
//! assembles for all generations, `PTX_EXPERIMENTS` names a folder with more experiments, and
//! `BLESS=1` rewrites the texts in `tests/golden`.

mod assembler;
mod golden;
mod interpreter;
mod meaning;
#[path = "../../../tests/nvidia_tool.rs"]
mod nvidia_tool;

use assembler::Assembler;
use host::back::gpu::{DeviceJob, DeviceLimits, KernelsError, PlanName, kernels};
use host::experiment::{Experiment, Method, Normals, Precision, load};
use host::simulation::{Options, Simulation};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, fs};

/// Compute capabilities, and whether they are assembled for by default.
const GENERATIONS: [(u32, u32, bool); 7] = [
    (7, 5, true),
    (8, 0, false),
    (8, 6, false),
    (8, 9, false),
    (9, 0, true),
    (10, 0, false),
    (12, 0, false),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each assembler keeps a core busy.
    arguments.test_threads.get_or_insert(2);
    let mut trials = golden::trials();
    trials.extend(meaning::trials());
    match Assembler::find() {
        Ok(assembler) => trials.extend(assembled(&Arc::new(assembler))),
        Err(reason) => trials.push(absent("models_are_assembled", reason)),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A trial that could not run here.
#[expect(clippy::print_stderr, reason = "the test runner does not print why a trial is ignored")]
fn absent(name: &str, reason: String) -> Trial {
    let required = env::var_os("REQUIRE_PTX").is_some_and(|value| value == "1");
    if !required {
        eprintln!("{name} is ignored: {reason}");
    }
    Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required)
}

/// Shipped models and examples, and what the environment names.
fn experiments() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("models"), root.join("examples")];
    folders.extend(env::var_os("PTX_EXPERIMENTS").map(PathBuf::from));
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    paths
}

/// One trial for each experiment and precision.
fn assembled(assembler: &Arc<Assembler>) -> Vec<Trial> {
    let paths = experiments();
    let mut trials = Vec::new();
    for path in paths {
        for precision in [Precision::F32, Precision::F64] {
            let assembler = Arc::clone(assembler);
            let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
            let stem = path.file_stem().unwrap_or_default();
            let name = format!(
                "{}/{}_{precision:?}_is_assembled",
                folder.to_string_lossy(),
                stem.to_string_lossy()
            );
            let path = path.clone();
            let kind = if matches!(kernels(9, 0), Err(KernelsError::Absent(_))) {
                Err("built without GPU kernels".to_owned())
            } else {
                Ok(())
            };
            trials.push(match kind {
                Err(reason) => absent(&name, reason),
                Ok(()) => Trial::test(name, move || assemble(&assembler, &path, precision)),
            });
        }
    }
    trials
}

fn assemble(assembler: &Assembler, path: &Path, precision: Precision) -> Result<(), Failed> {
    let mut experiment: Experiment = load(path).map_err(|error| error.render(false))?.experiment;
    experiment.precision = precision;
    let all = env::var_os("PTX_GENERATIONS").is_some_and(|value| value == "all");
    // The experiment's own method with constants folded, and the one with most stages without, that
    // with cuRAND's normals.
    let own = experiment.integration.method;
    let most = if own == Method::Map { own } else { Method::Rk4 };
    for (method, fold, normals) in [(own, true, Normals::Portable), (most, false, Normals::Curand)]
    {
        experiment.integration.method = method;
        experiment.normals = normals;
        let simulation = Simulation::new(&experiment, &Options::default())?;
        let job = simulation.job();
        let mut plans = 0;
        for plan in PlanName::ALL {
            let Ok(device_job) = DeviceJob::with_plan(&job, fold, plan, &DeviceLimits::default())
            else {
                continue;
            };
            // What is chosen is one of the others.
            plans += usize::from(plan != PlanName::Auto);
            if plan == PlanName::Auto {
                continue;
            }
            for (major, minor, usual) in GENERATIONS {
                if !usual && !all {
                    continue;
                }
                let modules = device_job.modules(kernels(major, minor)?)?;
                for (module, (entry, _)) in modules.iter().zip(device_job.entries()) {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    let name = format!("{stem}.{precision:?}.{method:?}.{entry}.sm_{major}{minor}");
                    assembler.assemble(&name, module, major, minor)?;
                }
            }
        }
        assert!(plans > 0, "no plan runs {}", path.display());
    }
    Ok(())
}
