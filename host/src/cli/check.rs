//! `host check`: is the experiment right, and what was understood?

use super::args::CheckArgs;
use super::{exit, load, summary, terminal};
use crate::simulation::{Options, Simulation};

/// Runs the command.
pub(super) fn check(args: &CheckArgs) -> u8 {
    let codes = args.files.iter().map(|file| one(file, args));
    codes.max().unwrap_or(exit::DONE)
}

fn one(file: &str, args: &CheckArgs) -> u8 {
    let loaded = match load::load(file, &args.changes, args.json) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let simulation = match Simulation::new(&loaded.experiment, &Options::default()) {
        Ok(simulation) => simulation,
        Err(findings) => return load::refuse(file, &findings, &loaded.sources, args.json),
    };
    let findings: Vec<_> = loaded.warnings.iter().chain(simulation.notes()).cloned().collect();
    if args.json {
        let mut json = summary::json(&simulation, &findings, &loaded.sources);
        json["file"] = file.into();
        json["ok"] = true.into();
        terminal::say(&json.to_string());
    } else {
        terminal::report(&findings, &loaded.sources);
        terminal::say(&format!("{file}: {}", loaded.experiment.label));
        for line in summary::lines(&simulation) {
            terminal::say(&format!("  {line}"));
        }
    }
    if args.dump {
        terminal::say(&simulation.lowered().program.to_string());
    }
    exit::DONE
}
