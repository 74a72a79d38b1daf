//! Observations that this program computes; the others are left out by name.

mod empirical;
mod kind;
mod projection;
mod wanted;

use super::dynamics::Model;
use super::network::Parts;
use super::read::{Context, Named, value};
use super::time::ms_per;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Empirical, Integration, Observation, ObservationKind, Overrides};
use crate::yaml::Node;
use empirical::Measured;

/// Period of BOLD where none is given, ms: a usual repetition time.
const DEFAULT_BOLD_PERIOD_MS: f64 = 2000.0;

/// What observations refer to.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The network's block.
    pub(super) block: Option<&'a Node>,
    /// The network.
    pub(super) network: &'a Parts<'a>,
    /// Time.
    pub(super) time: &'a Integration,
    /// Explorations, which may ask for scores.
    pub(super) explorations: Option<&'a Node>,
    /// What the caller wants.
    pub(super) overrides: &'a Overrides,
}

/// Reads all observations and leaves out what is Python's.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    node: Option<&Node>,
    model: &mut Model<'_>,
    around: Around<'_>,
) -> (Vec<Observation>, Empirical) {
    let members = cx.named(node, "an observation");
    let measured = empirical::resolve(cx, &members, around);
    let mut found: Vec<Observation> = Vec::new();
    let mut open: Vec<(Named<'_>, String)> = Vec::new();
    let mut replaced: Vec<Named<'_>> = Vec::new();
    for member in &members {
        let name = member.name;
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
            let message = format!("an observation can't be called `{name}`");
            let help = "its array is stored under this name: use letters, digits and `_`";
            cx.error_help(Code::BadValue, message, member.location, help);
            continue;
        }
        if measured.names.iter().any(|n| n == name) {
            continue;
        }
        match one(cx, *member, model, around, &measured) {
            Ok((mut observation, in_place)) => {
                if matches!(observation.kind, ObservationKind::PeakFrequency(_)) {
                    observation.sources = behind_spectra(cx, &members, observation.sources);
                }
                found.push(observation);
                if in_place {
                    replaced.push(*member);
                }
            }
            Err(why) => open.push((*member, why)),
        }
    }
    wanted::complete(cx, &mut found, model, around, &measured.data);
    leave_out_unreadable(cx, &mut found, model);
    for (member, why) in open {
        cx.skip(format!("observations.{}", member.name), why);
    }
    for member in replaced.iter().filter(|m| found.iter().any(|o| o.name == m.name)) {
        let message = format!(
            "`{}` is computed by this program's own method in place of its Python steps",
            member.name
        );
        cx.note(Code::PythonCallable, message, member.location);
    }
    for observation in &found {
        for source in &observation.sources {
            let variable = !found.iter().any(|o| o.name == *source);
            if variable && !model.dynamics.output.contains(source) {
                model.dynamics.output.push(source.clone());
            }
        }
    }
    (found, measured.data)
}

/// The name of the score that a call computes, if it is one.
pub(super) fn score_name(call: &Node) -> Option<&'static str> {
    kind::score(call).map(|score| score.name())
}

/// Leaves out, by name, what reads something that is not computed.
fn leave_out_unreadable(cx: &mut Context<'_>, found: &mut Vec<Observation>, model: &Model<'_>) {
    loop {
        let known: Vec<String> = found.iter().map(|o| o.name.clone()).collect();
        let readable = |source: &String| {
            known.contains(source)
                || model.dynamics.state_variables.iter().any(|s| s.name == *source)
                || model.dynamics.derived_variables.iter().any(|d| d.name == *source)
        };
        let Some(at) = found.iter().position(|o| !o.sources.iter().all(readable)) else { break };
        let lost = found.remove(at);
        let source = lost.sources.iter().find(|s| !readable(s)).cloned().unwrap_or_default();
        cx.skip(
            format!("observations.{}", lost.name),
            format!("it reads `{source}`, which is not computed"),
        );
    }
}

/// What stands behind observations that compute spectra: the spectrum is part of finding its peak.
fn behind_spectra(
    cx: &mut Context<'_>,
    members: &[Named<'_>],
    sources: Vec<String>,
) -> Vec<String> {
    let mut behind = sources;
    // A chain of observations is no longer than there are.
    for _ in 0..members.len() {
        let mut next: Vec<String> = Vec::new();
        for source in &behind {
            let spectrum = members.iter().find(|m| {
                let name = m.name.to_ascii_lowercase();
                m.name == *source && (name.contains("psd") || name.contains("spectr"))
            });
            let inner = spectrum.and_then(|m| m.node.get("source"));
            let names = match inner {
                Some(inner) => {
                    cx.names(inner, "`source`").iter().map(|(n, _)| (*n).to_owned()).collect()
                }
                None => vec![source.clone()],
            };
            next.extend(names);
        }
        next.dedup();
        behind = next;
    }
    behind.sort();
    behind.dedup();
    behind
}

/// The observation and whether it stands in for steps in Python, or why it is left out.
fn one(
    cx: &mut Context<'_>,
    member: Named<'_>,
    model: &Model<'_>,
    around: Around<'_>,
    measured: &Measured,
) -> Result<(Observation, bool), String> {
    let node = member.node;
    for key in ["equation", "analysis", "tail_samples"] {
        if node.get(key).is_some() {
            return Err(format!("`{key}` is not computed; it can be taken from the saved results"));
        }
    }
    let (kind, in_place) = kind::recognise(member)?;
    let windowed = matches!(
        kind,
        ObservationKind::DynamicConnectivity(_)
            | ObservationKind::Spectrum(_)
            | ObservationKind::PeakFrequency(_)
    );
    if node.get("window_size").is_some() && !windowed {
        let why = "`window_size` is not computed; it can be taken from the saved results";
        return Err(why.to_owned());
    }
    let kind = kind::complete(cx, member, kind, around)?;
    let time = around.time;
    let scale = node.get("time_scale").and_then(Node::scalar).and_then(|s| ms_per(&s.text));
    let to_model = scale.unwrap_or(1.0) / time.ms_per_unit;
    let mut period = match node.get("period") {
        Some(given) => cx.number(given, "`period`").map(|p| p * to_model),
        None => None,
    };
    if let (Some(value), Some(given)) = (period, node.get("period")) {
        if value.is_nan() || value <= 0.0 {
            cx.error(
                Code::BadNumber,
                format!("the period must be positive, not {value}"),
                &given.location,
            );
            period = None;
        } else {
            let steps = value / time.dt;
            if (steps - steps.round()).abs() > 1e-6 * steps.max(1.0) {
                let message = format!(
                    "the period of `{}` is {steps} steps, not a whole number: it is rounded",
                    member.name
                );
                cx.warning(Code::Implausible, message, &given.location);
            }
        }
    }
    if kind.is_bold() && period.is_none() {
        period = Some(default_bold_period(cx, member.name, time));
    }
    let mut sources = sources(cx, node, model, measured)?;
    if matches!(kind, ObservationKind::Score(_)) {
        sources.retain(|s| !measured.names.contains(s));
        let variable = |s: &String| model.dynamics.output.contains(s);
        if sources.iter().all(variable) {
            sources.clear(); // chosen with the scores that nobody listed
        }
    }
    let skip = skipped_samples(cx, node);
    let name = member.name.to_owned();
    Ok((Observation { name, kind, sources, period, skip, stored: true }, in_place))
}

/// The period of BOLD where none is given, with a note.
fn default_bold_period(cx: &mut Context<'_>, name: &str, time: &Integration) -> f64 {
    let message = format!("`{name}` has no period: {DEFAULT_BOLD_PERIOD_MS} ms is taken");
    cx.out.push(Diagnostic::note(Code::MissingKey, message));
    DEFAULT_BOLD_PERIOD_MS / time.ms_per_unit
}

fn sources(
    cx: &mut Context<'_>,
    node: &Node,
    model: &Model<'_>,
    measured: &Measured,
) -> Result<Vec<String>, String> {
    let mut sources = Vec::new();
    if let Some(given) = node.get("source") {
        for (name, _) in cx.names(given, "`source`") {
            if name.starts_with("network.observations") {
                // Scores may name what they compare with.
                if measured.data.fc.is_some() {
                    continue;
                }
                return Err(format!("`{name}` is data and not a simulation's result"));
            }
            let name = name.strip_prefix("observations.").unwrap_or(name);
            let name = name.strip_suffix(".data").unwrap_or(name);
            if !name.starts_with("integration.") {
                sources.push(name.to_owned());
            }
        }
    }
    if sources.is_empty() {
        let voi = node.get("voi").and_then(|n| cx.whole(n, "`voi`"));
        let default = match voi {
            Some(index) => {
                let state = model.dynamics.state_variables.get(index as usize);
                state.ok_or(format!("`voi` {index} is no state variable"))?.name.clone()
            }
            None => model.dynamics.output.first().cloned().unwrap_or_default(),
        };
        sources.push(default);
    }
    Ok(sources)
}

/// `skip_t`, of the observation or of the arguments of one of its steps.
fn skipped_samples(cx: &mut Context<'_>, node: &Node) -> usize {
    let steps = node.get("pipeline").map_or(&[][..], Node::items);
    let argument = steps.iter().find_map(|s| s.at(&["arguments", "skip_t"])).and_then(value);
    let given = node.get("skip_t").or(argument);
    given.and_then(|n| cx.whole(n, "skip_t")).unwrap_or(0) as usize
}
