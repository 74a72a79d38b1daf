//! From the FILE argument to an experiment.

use super::args::{ChangeArgs, CompatArg, NormalArg, PrecisionArg};
use super::{exit, summary, terminal};
use crate::diagnostic::{Code, Diagnostics, Sources};
use crate::experiment::{Compat, LoadError, Loaded, Normals, Overrides, Precision, load_with};
use crate::files::EMBEDDED;
use crate::library;
use std::path::{Path, PathBuf};

/// Loads FILE with changes; prints what is wrong, also as `json`, and gives the exit code if it can't.
pub(super) fn load(file: &str, changes: &ChangeArgs, json: bool) -> Result<Loaded, u8> {
    load_with(&path(file), &overrides(changes))
        .map_err(|LoadError { diagnostics, sources }| refuse(file, &diagnostics, &sources, json))
}

/// Prints why an experiment is refused: for people to standard error, as `json` to standard output.
/// Gives the exit code.
pub(super) fn refuse(file: &str, findings: &Diagnostics, sources: &Sources, json: bool) -> u8 {
    terminal::report(findings.iter(), sources);
    if json {
        let list: Vec<_> = findings.iter().map(|d| summary::finding(d, sources)).collect();
        let line = serde_json::json!({ "file": file, "ok": false, "findings": list });
        terminal::say(&line.to_string());
    }
    let unreadable = findings.iter().any(|d| d.code == Code::Unreadable);
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
        normals: changes.normal.map(|n| match n {
            NormalArg::Portable => Normals::Portable,
            NormalArg::Curand => Normals::Curand,
        }),
        compat: changes.compat.map(|CompatArg::TvboKernel| Compat::TvboKernel),
        ..Overrides::default()
    }
}
