//! Observations that this program computes; the others are left out by name.

use super::dynamics::Model;
use super::read::{Context, Named, number, value};
use super::time::ms_per;
use crate::diagnostic::Code;
use crate::experiment::{BalloonWindkessel, Integration, Observation, ObservationKind};
use crate::yaml::Node;

/// Period of BOLD where none is given, ms: a usual repetition time.
const DEFAULT_BOLD_PERIOD_MS: f64 = 2000.0;

/// The kind that a name stands for, in any of the spellings in use.
fn kind(name: &str) -> Option<ObservationKind> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    Some(match plain.as_str() {
        "raw" => ObservationKind::Raw,
        "subsample" | "subsampled" => ObservationKind::SubSample,
        "temporalaverage" | "tavg" | "timeaverage" => ObservationKind::TemporalAverage,
        "globalaverage" => ObservationKind::GlobalAverage,
        "bold" | "hrfbold" | "simulatedbold" | "balloonwindkessel" => {
            ObservationKind::Bold(BalloonWindkessel::default())
        }
        "mean" | "nanmean" | "average" => ObservationKind::Mean,
        "std" | "nanstd" | "standarddeviation" => ObservationKind::StandardDeviation,
        "fc" | "functionalconnectivity" | "computefc" | "corrcoef" => {
            ObservationKind::FunctionalConnectivity
        }
        "peakfrequency" | "peakfrequencies" | "peakfreq" | "peakfreqs" => {
            ObservationKind::PeakFrequency
        }
        _ => return None,
    })
}

/// Reads all observations and leaves out what is Python's.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    node: Option<&Node>,
    model: &mut Model<'_>,
    time: &Integration,
) -> Vec<Observation> {
    let members = cx.named(node, "an observation");
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
        match one(cx, *member, model, time) {
            Ok((mut observation, in_place)) => {
                if observation.kind == ObservationKind::PeakFrequency {
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
    found
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
    time: &Integration,
) -> Result<(Observation, bool), String> {
    let node = member.node;
    if node.get("data_source").is_some() {
        return Err("it is data and not a simulation's result".into());
    }
    for key in ["equation", "analysis", "tail_samples", "window_size"] {
        if node.get(key).is_some() {
            return Err(format!("`{key}` is not computed; it can be taken from the saved results"));
        }
    }
    let (kind, in_place) = recognise(member)?;
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
    if matches!(kind, ObservationKind::Bold(_)) && period.is_none() {
        let message =
            format!("`{}` has no period: {DEFAULT_BOLD_PERIOD_MS} ms is taken", member.name);
        cx.note(Code::MissingKey, message, member.location);
        period = Some(DEFAULT_BOLD_PERIOD_MS / time.ms_per_unit);
    }
    let sources = sources(cx, node, model)?;
    let skip = skipped_samples(cx, node);
    let name = member.name.to_owned();
    Ok((Observation { name, kind, sources, period, skip }, in_place))
}

/// The kind, and whether it stands in for several steps in Python.
fn recognise(member: Named<'_>) -> Result<(ObservationKind, bool), String> {
    let node = member.node;
    if let Some(modality) = node.get("imaging_modality") {
        let text = modality.scalar().map_or("", |s| s.text.as_str());
        return match text.to_ascii_uppercase().as_str() {
            "EEG" | "MEG" | "IEEG" | "SEEG" => {
                Err(format!("{text} needs a lead field; its sources can be recorded instead"))
            }
            _ => kind(text).map(|kind| (kind, false)).ok_or_else(|| {
                format!("the modality `{text}` is not known; BOLD is, and the kinds of monitor")
            }),
        };
    }
    if let Some(name) = node.at(&["class_reference", "name"]).and_then(Node::scalar) {
        return kind(&name.text)
            .map(|kind| (kind, false))
            .ok_or_else(|| format!("the Python class `{}` is not run", name.text));
    }
    for key in ["iri", "acronym"] {
        let text = node.get(key).and_then(Node::scalar).map(|s| s.text.as_str());
        let name = text.map(|t| t.rsplit([':', '/', '#']).next().unwrap_or(t));
        if let Some(kind) = name.and_then(kind) {
            return Ok((kind, false));
        }
    }
    let steps = node.get("pipeline").map_or(&[][..], Node::items);
    let step_name = |step: &Node| {
        let name = step.at(&["callable", "name"]).or_else(|| step.at(&["class_call", "name"]));
        let name = name.or_else(|| step.get("function")).or_else(|| step.get("name"));
        name.and_then(Node::scalar).map(|s| s.text.clone())
    };
    if let [only] = steps
        && let Some(kind) = step_name(only).as_deref().and_then(kind)
    {
        // A mean over nodes or states is another thing than one over time.
        let axis = only.at(&["arguments", "axis"]).and_then(value).and_then(number);
        let over_time = axis.is_none_or(|a| a == 0.0);
        return match kind {
            ObservationKind::Mean | ObservationKind::StandardDeviation if !over_time => {
                Err("only means over time are computed".into())
            }
            kind => Ok((kind, false)),
        };
    }
    if let Some(kind) = kind(member.name) {
        if !steps.is_empty() {
            return Ok((kind, true));
        }
        return Ok((kind, false));
    }
    if !steps.is_empty() {
        let names: Vec<String> = steps.iter().filter_map(step_name).collect();
        return Err(format!(
            "its steps are Python ({}); mean, std, temporal average, FC, BOLD and peak frequency \
             are computed here, the rest from the saved results",
            names.join(", ")
        ));
    }
    match node.get("aggregation").and_then(Node::scalar).map(|s| s.text.as_str()) {
        Some("mean") => return Ok((ObservationKind::Mean, false)),
        Some("none") | None => {}
        Some(other) => return Err(format!("the aggregation `{other}` is not computed")),
    }
    if node.get("period").is_some() {
        return Ok((ObservationKind::TemporalAverage, false));
    }
    if node.any(&["source", "voi"]).is_some() {
        return Ok((ObservationKind::Raw, false));
    }
    Err("nothing says what it is".into())
}

fn sources(cx: &mut Context<'_>, node: &Node, model: &Model<'_>) -> Result<Vec<String>, String> {
    let mut sources = Vec::new();
    if let Some(given) = node.get("source") {
        for (name, _) in cx.names(given, "`source`") {
            if name.starts_with("network.observations") {
                return Err(format!("`{name}` is data and not a simulation's result"));
            }
            let name = name.strip_prefix("observations.").unwrap_or(name);
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
