//! From the FILE argument to an experiment.

use super::args::{ChangeArgs, PrecisionArg};
use super::{exit, terminal};
use crate::diagnostic::Code;
use crate::experiment::{LoadError, Loaded, Overrides, Precision, load_with};
use crate::files::EMBEDDED;
use crate::library;
use std::path::{Path, PathBuf};

/// Loads FILE with changes; prints what is wrong and gives the exit code if it can't.
pub(super) fn load(file: &str, changes: &ChangeArgs) -> Result<Loaded, u8> {
    load_with(&path(file), &overrides(changes)).map_err(|error| {
        terminal::report(error.diagnostics.iter(), &error.sources);
        code(&error)
    })
}

/// The exit code for an experiment that can't be loaded.
pub(super) fn code(error: &LoadError) -> u8 {
    let unreadable = error.diagnostics.iter().any(|d| d.code == Code::Unreadable);
    if unreadable { exit::USAGE } else { exit::REFUSED }
}

/// The path that FILE means: a file that is there, else shipped content of that name.
fn path(file: &str) -> PathBuf {
    if Path::new(file).exists() {
        return file.into();
    }
    match library::find_experiment(file) {
        Some(shipped) => format!("{EMBEDDED}{}", shipped.path).into(),
        None => file.into(),
    }
}

fn overrides(changes: &ChangeArgs) -> Overrides {
    Overrides {
        set: changes.set.iter().map(|s| (s.name.clone(), s.value)).collect(),
        axes: changes.sweep.clone(),
        dt: changes.dt,
        steps: changes.n_steps,
        duration: changes.duration,
        conduction_speed: changes.speed,
        global_coupling: changes.coupling,
        trials: changes.trials,
        seed: changes.seed,
        observe: changes.observe.clone(),
        empirical_fc: changes.empirical_fc.clone(),
        empirical_bold: changes.empirical_bold.clone(),
        precision: changes.precision.map(|p| match p {
            PrecisionArg::F32 => Precision::F32,
            PrecisionArg::F64 => Precision::F64,
        }),
        ..Overrides::default()
    }
}
