//! What was run, in the page's words.

use crate::figure::unit_text;
use crate::output::read::{Manifest, ResultFile};

/// Text as HTML shows it.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// The line below the title.
pub(super) fn summary(manifest: &Manifest) -> String {
    let points: usize = manifest.sweep.shape.iter().product();
    let nodes = grouped(manifest.nodes);
    let mut parts = vec![
        escape(&manifest.model),
        format!("{nodes} {}", if manifest.nodes == 1 { "node" } else { "nodes" }),
    ];
    if !manifest.sweep.axes.is_empty() {
        parts.push(format!("{} points", grouped(points as u64)));
    }
    let duration = manifest.steps as f64 * manifest.dt;
    let (duration, unit) = match manifest.time_unit() {
        "ms" if duration >= 1e4 => (duration / 1e3, "s"),
        unit => (duration, unit),
    };
    parts.push(format!("{} {unit}", number(duration)));
    parts.join(" <span class=dot>·</span> ")
}

/// Everything else as rows of a table.
pub(super) fn table(result: &ResultFile) -> String {
    let m = result.manifest();
    let unit = m.time_unit();
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((escape(name), value));
    add("Experiment", format!("<code>{}</code>", escape(&m.experiment.file)));
    add("Model", escape(&m.model));
    let variables: Vec<String> = (m.variables.iter())
        .map(|v| match unit_text(v.unit.as_deref()) {
            unit if unit.is_empty() => escape(&v.name),
            unit => format!("{} ({})", escape(&v.name), escape(&unit)),
        })
        .collect();
    add("Variables", variables.join(", "));
    add("Nodes", grouped(m.nodes));
    add(
        "Delays",
        match m.conduction_speed_mm_per_ms {
            Some(speed) => format!("conduction speed {} mm/ms", number(speed)),
            None => "no one conduction speed".to_owned(),
        },
    );
    add(
        "Time",
        format!(
            "{}, {} steps of {} {unit}, after {} left out",
            escape(&m.method),
            grouped(m.steps),
            number(m.dt),
            grouped(m.transient_steps)
        ),
    );
    for axis in &m.sweep.axes {
        let (first, last) = (axis.values.first(), axis.values.last());
        let ends = [first, last].map(|v| v.map_or(String::new(), |&v| number(v)));
        let unit = unit_text(axis.unit.as_deref());
        let unit = if unit.is_empty() { unit } else { format!(" {}", escape(&unit)) };
        let [lo, hi] = ends;
        let count = grouped(axis.values.len() as u64);
        add(
            "Axis",
            format!("<code>{}</code>, {count} values, {lo} … {hi}{unit}", escape(&axis.name)),
        );
    }
    add("Device", escape(&m.device));
    add("Numbers", format!("{}, seed {}", escape(&m.precision), m.seed));
    add("Program", format!("{} {}", escape(&m.program), escape(&m.version)));
    add("SHA-256", format!("<code class=hash>{}</code>", escape(&m.experiment.sha256)));
    for skipped in &m.skipped {
        add("Skipped", format!("{}: {}", escape(&skipped.name), escape(&skipped.reason)));
    }
    for warning in &m.warnings {
        add("Warning", escape(warning));
    }
    rows.iter().map(|(k, v)| format!("<tr><th scope=row>{k}<td>{v}\n")).collect()
}

/// A count with thin spaces between thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    out
}

/// A number to six digits, with a proper minus.
fn number(value: f64) -> String {
    crate::figure::number(value, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_text_is_escaped() {
        assert_eq!(grouped(65536), "65\u{2009}536");
        assert_eq!(grouped(999), "999");
        assert_eq!(escape("<a href=\"&\">"), "&lt;a href=&quot;&amp;&quot;&gt;");
    }
}
