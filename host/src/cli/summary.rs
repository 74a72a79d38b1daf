//! What was understood of an experiment, for people and for programs.

use super::terminal::{bytes, count};
use crate::diagnostic::{Diagnostic, Severity, Sources};
use crate::experiment::{Experiment, Normals, Precision};
use crate::simulation::{BestPoint, Simulation};
use crate::sweep::Plan;
use serde_json::{Value, json};

/// Lines that say what will be computed.
pub(super) fn lines(simulation: &Simulation<'_>) -> Vec<String> {
    let e = simulation.experiment();
    let program = &simulation.lowered().program;
    let connectome = &e.network.connectome;
    let edges = connectome.weights.iter().filter(|w| **w != 0.0).count();
    let integration = &e.integration;
    let unit = time_unit(e);
    let mut lines = vec![
        format!(
            "model      {}: {}, {}",
            e.dynamics.name,
            count(program.states.len() as u64, "state variable"),
            count(e.parameters.len() as u64, "parameter"),
        ),
        format!(
            "network    {}, {}",
            count(connectome.nodes() as u64, "node"),
            count(edges as u64, "connection"),
        ),
    ];
    for coupling in e.couplings.iter().filter(|c| c.connected) {
        let delayed = if coupling.delayed { "delayed" } else { "not delayed" };
        lines.push(format!("coupling   {}: {delayed}", coupling.name));
    }
    let transient = if integration.transient > 0.0 {
        format!(" after a transient of {} {unit}", integration.transient)
    } else {
        String::new()
    };
    lines.push(format!(
        "time       {:?}, {} {unit} in {} of {} {unit}{transient}",
        integration.method,
        integration.duration,
        count(integration.steps(), "step"),
        integration.dt,
    ));
    let mut axes: Vec<String> =
        e.sweep.axes.iter().map(|a| format!("{} ({})", a.name, a.values.len())).collect();
    let points = simulation.recording().points.len() as u64;
    if e.sweep.trials > 1 {
        axes.push(format!("trial ({})", e.sweep.trials));
    }
    let swept = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(" × ")) };
    lines.push(format!("sweep      {}{swept}", count(points, "point")));
    let observed: Vec<&str> =
        simulation.recording().observed.iter().map(|o| o.name.as_str()).collect();
    if !observed.is_empty() {
        lines.push(format!("observed   {}", observed.join(", ")));
    }
    let precision = match e.precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    };
    let normals = match e.normals {
        Normals::Portable => "",
        Normals::Curand => ", cuRAND's normals",
    };
    lines.push(format!("numbers    {precision}, seed {}{normals}", e.seed));
    lines.extend(e.compat.map(|c| format!("compat     {}: {}", c.name(), c.about())));
    for (name, reason) in &e.skipped {
        lines.push(format!("skipped    {name}: {reason}"));
    }
    lines
}

fn time_unit(e: &Experiment) -> &'static str {
    match e.integration.ms_per_unit {
        1.0 => "ms",
        1000.0 => "s",
        0.001 => "µs",
        _ => "time units",
    }
}

/// The line about delays and memory.
pub(super) fn plan_lines(simulation: &Simulation<'_>, plan: &Plan) -> Vec<String> {
    let delays = plan.points.iter().map(|p| p.longest_delay);
    let (shortest, longest) = (delays.clone().min().unwrap_or(0), delays.max().unwrap_or(0));
    let history = plan.points.iter().map(|p| p.history_steps).max().unwrap_or(0);
    let range = if shortest == longest {
        format!("{longest}")
    } else {
        format!("{shortest} to {longest}, depending on the point")
    };
    vec![
        format!("delays     longest {range} steps; history of up to {history} steps a point"),
        format!(
            "memory     {} for {} of points on {}; results {}",
            bytes(plan.bytes),
            count(plan.tiles.len() as u64, "tile"),
            count(plan.threads as u64, "thread"),
            bytes(simulation.result_bytes()),
        ),
    ]
}

/// The best point of each score, with its parameters.
pub(super) fn best_lines(best: &[BestPoint]) -> Vec<String> {
    let line = |b: &BestPoint| {
        let parameters: Vec<String> = b
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} = {}", short(*value)))
            .collect();
        let at = if parameters.is_empty() {
            String::new()
        } else {
            format!(" at {} (point {})", parameters.join(", "), b.point)
        };
        format!("best       {} {:.4}{at}", b.score, b.value)
    };
    best.iter().map(line).collect()
}

/// A number in six digits, for people.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// A finding as JSON; the place is that where to look first.
pub(super) fn finding(finding: &Diagnostic, sources: &Sources) -> Value {
    let mut json = json!({
        "severity": match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        "code": finding.code.as_str(),
        "message": finding.message,
        "help": finding.help,
    });
    if let Some(label) = finding.labels.first() {
        let (line, column) = sources.line_column(&label.location);
        let file = &sources.file(label.location.file).name;
        json["place"] = json!({ "file": file, "line": line, "column": column });
    }
    json
}

/// The lines that say what will be computed, as JSON.
pub(super) fn json(
    simulation: &Simulation<'_>,
    findings: &[Diagnostic],
    sources: &Sources,
) -> Value {
    let e = simulation.experiment();
    let program = &simulation.lowered().program;
    let connectome = &e.network.connectome;
    let findings: Vec<Value> = findings.iter().map(|d| finding(d, sources)).collect();
    json!({
        "label": e.label,
        "model": e.dynamics.name,
        "state_variables": program.states,
        "recorded": simulation.recording().variables,
        "parameters": e.parameters.len(),
        "coupling_inputs": program.couplings,
        "nodes": connectome.nodes(),
        "connections": connectome.weights.iter().filter(|w| **w != 0.0).count(),
        "method": format!("{:?}", e.integration.method),
        "dt": e.integration.dt,
        "steps": e.integration.steps(),
        "transient_steps": e.integration.transient_steps(),
        "points": simulation.recording().points.len(),
        "sweep": e.sweep.axes.iter().map(|a| json!({ "name": a.name, "values": a.values.len() }))
            .collect::<Vec<_>>(),
        "result_bytes": simulation.result_bytes(),
        "skipped": e.skipped.iter().map(|(n, r)| json!({ "name": n, "reason": r }))
            .collect::<Vec<_>>(),
        "findings": findings,
    })
}
