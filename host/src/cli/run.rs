//! `host run`: the main job.

use super::args::{self, RunArgs};
use super::progress::Meter;
use super::{device, exit, load, report, summary, terminal};
use crate::experiment::Loaded;
use crate::output::results::{Provenance, python_lines};
use crate::report::Limit;
use crate::simulation::{Device, Options, Outcome, Record, Simulation, SimulationError};
use crate::sweep::RunError;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What `--record` asks for, in the library's words.
pub(super) fn record(record: args::Record) -> Record {
    match record {
        args::Record::Raw => Record::Raw,
        args::Record::Average(period) => Record::Average(period),
        args::Record::None => Record::None,
    }
}

/// Runs the command.
pub(super) fn run(args: &RunArgs) -> u8 {
    let loaded = match load::load(&args.file, &args.changes, args.json) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let (device, why) = match device::choose(args) {
        Ok(choice) => choice,
        Err(message) => {
            terminal::complain(&format!("error: {message}"));
            return exit::DEVICE;
        }
    };
    let options = Options {
        record: args.record.map(record),
        points: args.points.clone().map(|p| p.0).unwrap_or_default(),
        threads: args.threads,
        device: device.clone(),
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
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.file));
    let device = match device {
        Device::Cpu => format!("cpu, {}", terminal::count(plan.threads as u64, "thread")),
        Device::Cuda { .. } => device.to_string(),
    };
    if !args.quiet {
        terminal::report(loaded.warnings.iter().chain(simulation.notes()), &loaded.sources);
        if !args.json {
            let lines = summary::lines(&simulation);
            for line in lines.into_iter().chain(summary::plan_lines(&simulation, &plan)) {
                terminal::complain(&line);
            }
            terminal::complain(&format!("device     {device}{why}"));
        }
    }
    let cancel = cancel_on_interrupt();
    let meter = Meter::new(simulation.node_steps(), args.quiet || args.json);
    let provenance = Provenance { device, warnings: warnings(&loaded, &simulation) };
    let outcome = simulation.run_to(&out, &provenance, &meter, &cancel);
    meter.finish();
    match outcome {
        Ok(outcome) => {
            finished(args, &loaded, &simulation, &outcome, &out);
            match &args.report {
                Some(path) => {
                    let page = path.clone().unwrap_or_else(|| out.with_extension("html"));
                    report::write(&out, &page, Limit::default(), args.quiet || args.json)
                }
                None => exit::DONE,
            }
        }
        Err(error) if error.is_cancelled() => {
            terminal::complain("interrupted; nothing was written");
            exit::INTERRUPTED
        }
        Err(error) => {
            terminal::complain(&format!("error: {}", terminal::chain(&error)));
            match error {
                SimulationError::Run(RunError::Job(_)) => exit::REFUSED,
                SimulationError::Run(_) | SimulationError::Output(_) => exit::USAGE,
                _ => exit::DEVICE,
            }
        }
    }
}

/// `NAME.npz` in the working folder.
fn default_out(file: &str) -> PathBuf {
    let stem = Path::new(file).file_stem().unwrap_or("result".as_ref());
    Path::new(stem).with_extension("npz")
}

fn warnings(loaded: &Loaded, simulation: &Simulation<'_>) -> Vec<String> {
    loaded.warnings.iter().chain(simulation.notes()).map(|d| d.message.clone()).collect()
}

/// A flag that Ctrl-C sets; a second Ctrl-C ends the program at once.
fn cancel_on_interrupt() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            #[expect(clippy::exit, reason = "the user asked twice, and wants it now")]
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    };
    // Without a handler Ctrl-C ends the program, which also leaves nothing half-written.
    let _ = ctrlc::set_handler(handler);
    cancel
}

fn finished(
    args: &RunArgs,
    loaded: &Loaded,
    simulation: &Simulation<'_>,
    outcome: &Outcome,
    out: &Path,
) {
    let seconds = outcome.summary.elapsed.as_secs_f64();
    let rate = outcome.summary.node_steps as f64 / seconds.max(1e-9);
    if args.json {
        let mut json = summary::json(simulation, &loaded.warnings, &loaded.sources);
        json["out"] = out.display().to_string().into();
        json["seconds"] = seconds.into();
        json["device"] = outcome.summary.device.clone().into();
        json["compilation_seconds"] = outcome.summary.compilation.map(|t| t.as_secs_f64()).into();
        json["node_steps"] = outcome.summary.node_steps.into();
        json["node_steps_per_second"] = rate.into();
        json["nonfinite"] = (outcome.nonfinite.iter())
            .map(|(point, step)| json!({ "point": point, "step": step }))
            .collect();
        json["best"] = (outcome.best.iter())
            .map(|b| {
                let parameters: serde_json::Map<_, _> =
                    b.parameters.iter().map(|(n, v)| (n.clone(), (*v).into())).collect();
                json!({
                    "score": b.score, "better": b.better.as_str(), "value": b.value,
                    "point": b.point, "parameters": parameters,
                })
            })
            .collect();
        terminal::say(&json.to_string());
        return;
    }
    if let [(point, step), rest @ ..] = &outcome.nonfinite[..] {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(", and {} more", terminal::count(rest.len() as u64, "point"))
        };
        terminal::complain(&format!(
            "warning: point {point} left the finite numbers at step {step}{more}: its values are \
             NaN, see `nonfinite_step`; a smaller --dt may help"
        ));
    }
    if args.quiet {
        return;
    }
    if let (true, Some(time)) = (args.verbose, outcome.summary.compilation) {
        let share = time.as_secs_f64();
        terminal::complain(&format!("compiled   {share:.3} s, the driver's, for this kernel"));
    }
    terminal::complain(&format!("done       {seconds:.2} s, {rate:.3e} node-steps/s"));
    for line in summary::best_lines(&outcome.best) {
        terminal::complain(&line);
    }
    terminal::say(&format!("{} holds the results; in Python:", out.display()));
    for line in python_lines(out) {
        terminal::say(&format!("    {line}"));
    }
}
