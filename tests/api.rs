//! The library as a program uses it: what it promises about threads, errors, cancelling, progress, files.

use host::compute::ComputeError;
use host::experiment::Precision;
use host::output::OutputError;
use host::simulation::{ExportError, Record, RunResult};
use host::{
    Backend, CancelToken, CompiledKernel, CudaResult, Error, KernelSource, RunOptions, RunProgress,
    SimulationExperiment, compile_cuda, compile_cuda_with, run_cuda, save_cuda, verify_cuda,
};
use std::error::Error as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn three_nodes() -> SimulationExperiment {
    SimulationExperiment::from_file("embedded:examples/three_nodes.yaml").expect("an experiment")
}

fn on_cpu() -> RunOptions {
    RunOptions::new().backend(Backend::Cpu)
}

#[test]
fn everything_may_be_sent_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<SimulationExperiment>();
    shared::<RunOptions>();
    shared::<CancelToken>();
    shared::<RunProgress>();
    shared::<Error>();
    shared::<CudaResult>();
    shared::<RunResult>();
    // Its context is used by one thread at a time.
    sent::<CompiledKernel>();

    let experiment = three_nodes();
    let alone = experiment.run_with(&on_cpu().n_steps(50)).expect("a run");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let beside = experiment.run_with(&on_cpu().n_steps(50)).expect("a run");
                assert!(beside.arrays() == alone.arrays());
            });
        }
    });
}

#[test]
fn a_text_and_its_file_are_one_experiment() {
    let path = root().join("examples/hopf_noise.yaml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let of_file = SimulationExperiment::from_file(&path).expect("an experiment");
    let of_text = SimulationExperiment::from_str_in(&text, root().join("examples"));
    let of_text = of_text.expect("an experiment");
    let mut resolved = of_text.resolved().clone();
    assert_ne!(&resolved, of_file.resolved(), "their names differ");
    resolved.source.0 = of_file.resolved().source.0.clone();
    assert_eq!(&resolved, of_file.resolved());
    let options = on_cpu().n_steps(20).points(0..1);
    let results = [of_file, of_text].map(|e| e.run_with(&options).expect("a run"));
    // Its correlations are NaN after so few steps, which equals nothing.
    assert!(results[0].series() == results[1].series() && results[0].series().is_some());
    let nowhere = SimulationExperiment::from_str_in(&text, "nowhere");
    assert!(matches!(nowhere, Err(Error::Experiment(_))), "its connectome is elsewhere");
    let parsed: SimulationExperiment = three_nodes().resolved().source.1.parse().expect("a text");
    assert_eq!(parsed.resolved().network, three_nodes().resolved().network);
}

#[test]
fn what_is_wrong_with_an_experiment_is_all_there() {
    let error = SimulationExperiment::from_file("/nowhere/three_nodse.yaml").expect_err("no file");
    assert!(error.render().contains("`three_nodes` ships with the program"), "{}", error.render());
    let error = SimulationExperiment::from_str("dynamics: {state_variables: {x: {eqation: 1}}}");
    let error = error.expect_err("a slip");
    assert!(error.render().contains("eqation"), "{}", error.render());
    assert!(error.diagnostics().is_some() && error.source().is_some());
    assert!(three_nodes().validate().expect("it is sound").is_empty());
    let wrong = three_nodes().validate_with(&RunOptions::new().swept_param("J", [1.0]));
    assert!(matches!(wrong, Err(Error::SweptName { name, .. }) if name == "J"));
}

#[test]
fn auto_runs_wherever_it_can_with_the_same_numbers() {
    let experiment = three_nodes();
    let options = RunOptions::new().n_steps(64).swept_param("I", [0.1, 0.4]);
    let auto = experiment.run_with(&options).expect("a run");
    let cpu = experiment.run_with(&options.backend(Backend::Cpu)).expect("a run");
    assert!(auto.arrays() == cpu.arrays());
}

#[test]
fn a_device_that_is_not_there_is_a_typed_error() {
    let experiment = three_nodes();
    let options = RunOptions::new().devices([63]);
    let errors = [
        run_cuda(&experiment, &options).map(drop),
        compile_cuda_with(&experiment, &options, KernelSource::Rust).map(drop),
        compile_cuda_with(&experiment, &options, KernelSource::CudaC).map(drop),
        experiment.run_with(&options.clone().backend(Backend::Cuda)).map(drop),
        verify_cuda(&experiment, &options).map(drop),
    ];
    for error in errors {
        let error = error.expect_err("there is no such device");
        let Error::Device(cause) = &error else { panic!("{error:?}") };
        assert!(matches!(cause, ComputeError::GpuUnavailable { .. }), "{cause}");
        // The cause is kept, and said.
        let source = error.source().expect("a cause");
        assert!(source.downcast_ref::<ComputeError>().is_some());
        assert!(error.render().contains(&cause.to_string()), "{}", error.render());
    }
    // What is wrong with the options is found first.
    let wrong =
        compile_cuda_with(&experiment, &options.swept_param("J", [1.0]), KernelSource::Rust);
    assert!(matches!(wrong, Err(Error::SweptName { .. })));
    if let Ok(kernel) = compile_cuda(&experiment) {
        assert!(kernel.module.as_str().contains(kernel.function.entry()));
    }
}

#[test]
fn run_cuda_gives_the_numbers_of_run_where_there_is_a_device() {
    let experiment = three_nodes();
    let options = RunOptions::new().n_steps(200).swept_param("I", [0.1, 0.4]);
    match run_cuda(&experiment, &options) {
        Ok(result) => {
            let cpu = experiment.run_with(&options.backend(Backend::Cpu)).expect("a run");
            assert_eq!(&result.tavg, cpu.tavg());
        }
        Err(Error::Device(_) | Error::Kernels(_)) => {}
        Err(other) => panic!("{}", other.render()),
    }
}

#[test]
fn paths_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = three_nodes();
    let missing = folder.path().join("missing/kernel.cu");
    let error = save_cuda(&experiment, &missing).expect_err("no folder");
    let Error::Export(ExportError::Write { path, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(path, &missing);
    assert!(error.render().contains("missing"), "{}", error.render());
    for (name, kind) in [("missing/r.npz", "write"), ("r.csv", "format")] {
        let called = Arc::new(AtomicU64::new(0));
        let count = called.clone();
        let options = on_cpu().on_progress(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let error = experiment.run_to(folder.path().join(name), &options).expect_err(name);
        let as_expected = matches!(
            (&error, kind),
            (Error::Output(OutputError::Write { .. }), "write")
                | (Error::Output(OutputError::UnknownFormat { .. }), "format")
        );
        assert!(as_expected, "{error:?}");
        assert_eq!(called.load(Ordering::Relaxed), 0, "the run had begun");
    }
    let good = folder.path().join("r.npz");
    experiment.run_to(&good, &on_cpu().n_steps(10)).expect("a run");
    assert!(good.exists());
}

#[test]
fn progress_counts_up_to_the_end() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let options = on_cpu()
        .threads(1)
        .n_steps(400)
        .swept_param("I", (0..40).map(|i| 0.01 * f64::from(i)))
        .on_progress(move |progress| list.lock().expect("a list").push(progress));
    let transient = three_nodes().resolved().integration.transient_steps();
    three_nodes().run_with(&options).expect("a run");
    let seen = seen.lock().expect("a list");
    let total = (400 + transient) * 3 * 40;
    assert!(seen.iter().all(|p| p.total == total));
    assert!(seen.is_sorted_by(|a, b| a.done < b.done));
    assert_eq!(seen.last().map(|p| (p.done, p.fraction())), Some((total, 1.0)));
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = CancelToken::new();
    let stop = token.clone();
    // It would take hours; its own progress stops it.
    let options = on_cpu()
        .n_steps(1_000_000_000)
        .record(Record::None)
        .cancel(&token)
        .on_progress(move |_| stop.cancel());
    let error = three_nodes().run_to(folder.path().join("r.npz"), &options).expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled), "{error:?}");
    assert!(token.is_cancelled());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let again = three_nodes().run_with(&options.n_steps(1));
    assert!(matches!(again, Err(Error::Cancelled)), "a token stays cancelled");
}

#[test]
fn the_file_of_a_run_says_what_was_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.zarr");
    let options = on_cpu()
        .n_steps(10)
        .dt(0.125)
        .global_coupling(0.5)
        .seed(7)
        .precision(Precision::F64)
        .swept_param("I", [0.25, 0.5]);
    three_nodes().run_to(&path, &options).expect("a run");
    let text = std::fs::read_to_string(path.join("zarr.json")).expect("the manifest");
    let changes = [
        "\"coupling\":0.5",
        "\"dt\":0.125",
        "\"n_steps\":10",
        "\"precision\":\"f64\"",
        "\"seed\":7",
        "\"I\":[0.25,0.5]",
        "\"mode\":\"zip\"",
    ];
    let plain: String = text.replace("\\\"", "\"").split_whitespace().collect();
    for change in changes {
        assert!(plain.contains(change), "{change} in {plain}");
    }
}
