//! Runs of experiments that are written in a test.

#![allow(dead_code, reason = "each test file uses a part")]

use host::experiment::{Experiment, Overrides, load_str_with};
use host::simulation::{Options, Record, RunResult, Simulation};
use std::path::Path;

/// The experiment of a text.
pub(crate) fn experiment(text: &str) -> Experiment {
    experiment_with(text, &Overrides::default())
}

/// The experiment of a text, with changes.
pub(crate) fn experiment_with(text: &str, overrides: &Overrides) -> Experiment {
    match load_str_with(text, "test.yaml", Path::new("nowhere"), overrides) {
        Ok(loaded) => loaded.experiment,
        Err(error) => panic!("refused:\n{}\n{text}", error.render(false)),
    }
}

/// Runs an experiment.
pub(crate) fn run_with(experiment: &Experiment, options: &Options) -> RunResult {
    let simulation = Simulation::new(experiment, options).expect("an experiment that compiles");
    simulation.run().expect("a run that ends")
}

/// Runs the experiment of a text, keeping every step.
pub(crate) fn run(text: &str) -> RunResult {
    run_with(&experiment(text), &every_step())
}

/// Options that keep every step.
pub(crate) fn every_step() -> Options {
    Options { record: Some(Record::Raw), threads: Some(1), ..Options::default() }
}

/// Options that keep only the means.
pub(crate) fn means() -> Options {
    Options { record: Some(Record::None), threads: Some(1), ..Options::default() }
}

/// The bits of numbers: NaN equals itself, 0 is not −0.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}
