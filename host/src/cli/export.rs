//! `host export`: the experiment as CUDA C.

use super::args::ExportArgs;
use super::{exit, load, terminal};
use crate::experiment::Loaded;
use crate::simulation::{
    ExportError, SimulationError, VerifyError, save_cuda, save_cuda_with_driver, verify_cuda,
};
use std::path::Path;

/// Runs the command.
pub(super) fn export(args: &ExportArgs) -> u8 {
    let loaded = match load::load(&args.file, &args.changes, false) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    terminal::report(&loaded.warnings, &loaded.sources);
    let stem = Path::new(&args.file).file_stem().unwrap_or("kernel".as_ref());
    let out = args.out.clone().unwrap_or_else(|| Path::new(stem).with_extension("cu"));
    let written = if args.driver {
        save_cuda_with_driver(&loaded.experiment, &out).map(|e| vec![e.source, e.driver, e.inputs])
    } else {
        save_cuda(&loaded.experiment, &out).map(|source| vec![source])
    };
    match written {
        Ok(paths) => {
            for path in paths {
                terminal::say(&path.display().to_string());
            }
            if args.verify { verify(&args.file, &loaded) } else { exit::DONE }
        }
        Err(ExportError::Experiment(findings)) => {
            load::refuse(&args.file, &findings, &loaded.sources, false)
        }
        Err(error) => {
            terminal::complain(&format!("error: {}", terminal::chain(&error)));
            match error {
                ExportError::Write { .. } | ExportError::Inputs(_) => exit::USAGE,
                ExportError::Experiment(_) | ExportError::Source(_) => exit::REFUSED,
            }
        }
    }
}

/// Runs what was exported and says how far it is from the program's own kernel.
fn verify(file: &str, loaded: &Loaded) -> u8 {
    let verification = match verify_cuda(&loaded.experiment, 0) {
        Ok(verification) => verification,
        Err(VerifyError::Experiment(findings)) => {
            return load::refuse(file, &findings, &loaded.sources, false);
        }
        Err(error) => {
            terminal::complain(&format!("error: not verified: {}", terminal::chain(&error)));
            return match error {
                VerifyError::Compute(_) => exit::DEVICE,
                VerifyError::Simulation(SimulationError::Output(_)) => exit::USAGE,
                VerifyError::Simulation(SimulationError::Run(_)) => exit::REFUSED,
                VerifyError::Simulation(_) => exit::DEVICE,
                _ => exit::REFUSED,
            };
        }
    };
    let (steps, transient) = verification.steps;
    terminal::say(&format!(
        "{}, {} of {}, {}: means of the exported source against the program's own kernel",
        verification.device,
        terminal::count(verification.points as u64, "point"),
        file,
        terminal::count(steps + transient, "step"),
    ));
    let names = verification.differences.iter().map(|d| d.variable.chars().count());
    let width = names.max().unwrap_or(0).max("variable".len());
    terminal::say(&format!("{:width$}  {:>10}  {:>10}", "variable", "largest", "relative"));
    for difference in &verification.differences {
        let (name, absolute) = (&difference.variable, difference.absolute);
        let relative = difference.relative;
        terminal::say(&format!("{name:width$}  {absolute:>10.2e}  {relative:>10.2e}"));
    }
    if verification.agrees() {
        return exit::DONE;
    }
    let reason = if verification.same_nonfinite {
        format!("a relative difference is above {:e}", verification.tolerance)
    } else {
        "different points left the finite numbers".to_owned()
    };
    terminal::complain(&format!(
        "error: {reason}: trajectories of a chaotic model part, and then fewer steps (--n-steps) agree"
    ));
    exit::REFUSED
}
