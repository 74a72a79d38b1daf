//! `host plan`: how would it run?

use super::args::PlanArgs;
use super::{exit, load, run, summary, terminal};
use crate::simulation::{Options, Simulation};
use serde_json::json;

/// Runs the command.
pub(super) fn plan(args: &PlanArgs) -> u8 {
    let loaded = match load::load(&args.file, &args.changes, args.json) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let options = Options {
        record: args.record.map(run::record),
        threads: args.threads,
        ..Options::default()
    };
    let simulation = match Simulation::new(&loaded.experiment, &options) {
        Ok(simulation) => simulation,
        Err(findings) => return load::refuse(&args.file, &findings, &loaded.sources, args.json),
    };
    let plan = match simulation.plan() {
        Ok(plan) => plan,
        Err(error) => {
            terminal::complain(&format!("error: {}: {}", args.file, terminal::chain(&error)));
            return exit::REFUSED;
        }
    };
    if args.json {
        let mut json = summary::json(&simulation, &[], &loaded.sources);
        let delays = plan.points.iter().map(|p| p.longest_delay);
        json["plan"] = json!({
            "device": "cpu",
            "threads": plan.threads,
            "tiles": plan.tiles.len(),
            "bytes": plan.bytes,
            "longest_delay_steps": delays.max(),
            "history_steps": plan.points.iter().map(|p| p.history_steps).max(),
        });
        terminal::say(&json.to_string());
    } else {
        terminal::report(loaded.warnings.iter().chain(simulation.notes()), &loaded.sources);
        for line in summary::lines(&simulation) {
            terminal::say(&line);
        }
        for line in summary::plan_lines(&simulation, &plan) {
            terminal::say(&line);
        }
    }
    exit::DONE
}
