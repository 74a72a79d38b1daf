//! Every shipped model and example as CUDA C: run as C++ against the CPU engine, compiled by nvcc; some
//! compiled by NVRTC and run through the compute context on a driver without a device.
//!
//! The C++ compiler is `CXX`, else `g++`; nvcc is looked for in the variable `NVCC`, in `PATH`, in
//! `/usr/local/cuda/bin` and in the Python environment `VIRTUAL_ENV`. Where one is missing, its trials
//! are ignored with the reason; `REQUIRE_CXX=1`, `REQUIRE_NVCC=1` and `REQUIRE_NVRTC=1` make them fail. `BLESS=1` rewrites
//! `tests/golden/kuramoto.cu`.

mod cplusplus;
mod instructions;
mod normals;
mod nvcc;
#[path = "../../../tests/nvidia_tool.rs"]
mod nvidia_tool;
mod nvrtc;

use host::back::cuda_c;
use host::experiment::{Experiment, Overrides, Precision, load_with};
use host::simulation::{
    ExportError, Options, Record, Simulation, save_cuda, save_cuda_with_driver,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each compiler keeps a core busy.
    arguments.test_threads.get_or_insert(2);
    let mut trials = vec![
        Trial::test("kuramoto_is_as_written", golden),
        Trial::test("a_path_that_cannot_be_written", unwritable),
        Trial::test("a_parameter_that_does_not_exist", unknown_parameter),
        Trial::test("the_comment_says_how_it_was_made", provenance),
        Trial::test("a_seed_of_64_bits_is_kept", seed),
        Trial::test("the_driver_and_its_inputs_lie_beside", driver),
    ];
    trials.extend(cplusplus::trials());
    trials.extend(nvcc::trials());
    trials.extend(nvrtc::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A trial that could not run here; it fails if the variable says that it must run.
#[expect(clippy::print_stderr, reason = "the test runner does not print why a trial is ignored")]
pub(crate) fn absent(name: &str, variable: &str, reason: String) -> Trial {
    let required = env::var_os(variable).is_some_and(|value| value == "1");
    if !required {
        eprintln!("{name} is ignored: {reason}");
    }
    Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required)
}

/// Shipped models and examples: a name for the trial, the file.
pub(crate) fn experiments() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for folder in ["models", "examples"] {
        let entries = fs::read_dir(root().join(folder)).into_iter().flatten();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.push((format!("{folder}/{stem}"), path));
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn experiment(path: &Path, overrides: &Overrides) -> Result<Experiment, Failed> {
    Ok(load_with(path, overrides).map_err(|error| error.render(false))?.experiment)
}

/// The source of an experiment and where it is for a compiler to find.
pub(crate) fn write_source(name: &str, experiment: &Experiment) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_c");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.cu", name.replace('/', "_")));
    Ok(save_cuda(experiment, &path)?)
}

pub(crate) fn only_means(points: u64) -> Options {
    let mut options =
        Options { record: Some(Record::None), threads: Some(1), ..Options::default() };
    options.points.push(0..points);
    options
}

fn golden() -> Result<(), Failed> {
    let experiment =
        experiment(&root().join("examples/kuramoto_sweep.yaml"), &Overrides::default())?;
    let simulation = Simulation::new(&experiment, &Options::default())?;
    let text = cuda_c::source(&experiment, &simulation.job())?;
    let path = root().join("tests/golden/kuramoto.cu");
    if env::var_os("BLESS").is_some() {
        fs::write(path, text)?;
        return Ok(());
    }
    let expected = fs::read_to_string(&path)?;
    let lines = text.lines().zip(expected.lines()).enumerate();
    if let Some((at, (found, expected))) = lines.into_iter().find(|(_, (a, b))| a != b) {
        let line = at + 1;
        return Err(format!("{}:{line}: `{found}`, not `{expected}`", path.display()).into());
    }
    if text.len() == expected.len() { Ok(()) } else { Err("another length".into()) }
}

fn unwritable() -> Result<(), Failed> {
    let experiment = experiment(&root().join("examples/three_nodes.yaml"), &Overrides::default())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("missing/kernel.cu");
    match save_cuda(&experiment, &path) {
        Err(ExportError::Write { path: named, .. }) if named == path => {}
        other => return Err(format!("{other:?}").into()),
    }
    match save_cuda_with_driver(&experiment, folder.path()) {
        Err(ExportError::Write { .. }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// From the command line, with its exit codes.
fn unknown_parameter() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let export = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_host"));
        command.current_dir(folder.path()).args(["export", "three_nodes"]).args(arguments).output()
    };
    let refused = export(&["--set", "nonsense=1"])?;
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("nonsense"), "{message}");
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path())?.count(), 0, "something was written");
    assert_eq!(export(&["--out", "missing/kernel.cu"])?.status.code(), Some(2));
    let written = export(&["--driver"])?;
    assert_eq!(written.status.code(), Some(0));
    let paths = "three_nodes.cu\nthree_nodes.py\nthree_nodes.npz\n";
    assert_eq!(String::from_utf8_lossy(&written.stdout), paths);
    Ok(())
}

/// The command in the comment, given again, writes the same source.
fn provenance() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let export = |arguments: &[&str]| -> Result<String, Failed> {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_host"));
        let output = command.current_dir(folder.path()).args(arguments).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(fs::read_to_string(folder.path().join("kernel.cu"))?)
    };
    let text = "\
dynamics:
  name: Noisy
  parameters: {a: {value: 0.5}}
  state_variables:
    x: {equation: {rhs: -a*x}, noise: {additive: true, parameters: {sigma: {value: 0.1}}}}
integration: {method: euler, step_size: 0.1, duration: 5.0}
";
    fs::write(folder.path().join("noisy.yaml"), text)?;
    let changes = "--dt 0.05 --speed 4 --n-steps 700 --set a=-0.25 --sweep global_coupling=0:1:5 \
                   --seed 18446744073709551615 --precision f64 --normal curand --compat tvbo-kernel";
    let mut arguments = vec!["export", "noisy.yaml", "-o", "kernel.cu"];
    arguments.extend(changes.split_whitespace());
    let source = export(&arguments)?;
    let from = source.find("host export").ok_or("no command")?;
    let command = source[from..].lines().take_while(|line| !line.starts_with(" * The rules"));
    let words = command.flat_map(|line| line.trim_start_matches(" *").split_whitespace());
    let words: Vec<&str> = words.skip(1).collect();
    assert_eq!(words, arguments);
    assert!(source.contains("The rules are those of tvbo-kernel"), "{source}");
    assert!(source.contains("seed 18446744073709551615"), "{source}");
    assert_eq!(export(&words)?, source);
    assert!(source.contains("those of curand_normal, to the bit"), "{source}");
    assert!(!export(&arguments[..4])?.contains("those of curand_normal, to the bit"));
    Ok(())
}

fn seed() -> Result<(), Failed> {
    let overrides = Overrides { seed: Some(u64::MAX - 1), ..Overrides::default() };
    let experiment = experiment(&root().join("examples/hopf_noise.yaml"), &overrides)?;
    let folder = tempfile::tempdir()?;
    let exported = save_cuda_with_driver(&experiment, &folder.path().join("kernel.cu"))?;
    let mut archive = zip::ZipArchive::new(fs::File::open(&exported.inputs)?)?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut archive.by_name("seed.npy")?, &mut bytes)?;
    assert!(String::from_utf8_lossy(&bytes).contains("'descr': '<u8'"));
    assert_eq!(bytes[bytes.len() - 8..], (u64::MAX - 1).to_le_bytes());
    Ok(())
}

fn driver() -> Result<(), Failed> {
    let overrides = Overrides { precision: Some(Precision::F64), ..Overrides::default() };
    let experiment = experiment(&root().join("examples/three_nodes.yaml"), &overrides)?;
    let folder = tempfile::tempdir()?;
    let exported = save_cuda_with_driver(&experiment, &folder.path().join("three \"nodes\".cu"))?;
    for path in [&exported.source, &exported.driver, &exported.inputs] {
        assert!(fs::metadata(path)?.len() > 0, "{}", path.display());
    }
    let text = fs::read_to_string(&exported.driver)?;
    assert!(
        text.contains(r#"HERE / "three \"nodes\".cu""#) && !text.contains("@INPUTS@"),
        "{text}"
    );
    Ok(())
}
