//! What is observed beside, or in place of, what the experiment lists: what the caller asks for,
//! what explorations score, and the likeness to measured data that is there.

use super::kind::{self, NAMES};
use super::{Around, default_bold_period};
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::resolve::dynamics::Model;
use crate::experiment::resolve::read::Context;
use crate::experiment::{Empirical, Observation, ObservationKind, ObserveSpec, Score, Windows};
use crate::yaml::{Node, nearest};

/// Completes the list of observations.
pub(super) fn complete(
    cx: &mut Context<'_>,
    found: &mut Vec<Observation>,
    model: &Model<'_>,
    around: Around<'_>,
    data: &Empirical,
) {
    let scored = |found: &[Observation], score| {
        found.iter().any(|o| o.kind == ObservationKind::Score(score))
    };
    let usable = |score: Score| match score {
        Score::FcdKs => data.bold.is_some(),
        _ => data.fc.is_some(),
    };
    for score in explored(cx, around.explorations) {
        if usable(score) && !scored(found, score) {
            found.push(observation(ObservationKind::Score(score)));
        }
    }
    let specs = &around.overrides.observe;
    if specs.is_empty() {
        for score in Score::ALL {
            let costly = score == Score::FcdKs;
            let by_caller = around.overrides.empirical_bold.is_some();
            let fcd = found.iter().any(|o| is_fcd(&o.kind));
            if usable(score) && !scored(found, score) && (!costly || by_caller || fcd) {
                found.push(observation(ObservationKind::Score(score)));
            }
        }
    } else {
        found.iter_mut().for_each(|o| o.stored = false);
        for spec in specs {
            ask(cx, found, spec, around);
        }
    }
    let own = found.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    found.retain(|o| match o.kind {
        ObservationKind::Score(score) if !usable(score) => {
            let (what, option) = match score {
                Score::FcdKs => ("BOLD", "--empirical-bold"),
                _ => ("functional connectivity", "--empirical-fc"),
            };
            let why =
                format!("there is no empirical {what} to compare with: {option} FILE gives it");
            if specs.iter().any(|s| s.name == o.name) {
                // Data that was refused is not missing.
                if cx.out.failed() {
                    return false;
                }
                let finding = Diagnostic::error(Code::MissingKey, format!("`{}`: {why}", o.name));
                cx.out.push(finding);
            } else {
                cx.skip(format!("observations.{}", o.name), why);
            }
            false
        }
        _ => true,
    });
    choose_sources(found, model);
    if !specs.is_empty() {
        drop_unread(found);
    }
    let neural = found.iter().find(|o| {
        o.kind == ObservationKind::FunctionalConnectivity
            && !o.sources.iter().any(|s| own.contains(s) || found.iter().any(|f| f.name == *s))
            && found
                .iter()
                .any(|f| matches!(f.kind, ObservationKind::Score(_)) && f.sources.contains(&o.name))
    });
    if let Some(fc) = neural {
        let message = format!(
            "no BOLD is observed: measured connectivity is compared with that of `{}` itself",
            fc.sources.join("`, `")
        );
        let help = "observe BOLD too: --observe bold,fc,fc_correlation";
        cx.out.push(Diagnostic::note(Code::Implausible, message).help(help));
    }
}

fn is_fcd(kind: &ObservationKind) -> bool {
    matches!(kind, ObservationKind::DynamicConnectivity(_))
}

/// An observation of a kind by its usual name, with sources still to be chosen.
fn observation(kind: ObservationKind) -> Observation {
    let name = kind.name().to_owned();
    Observation { name, kind, sources: Vec::new(), period: None, skip: 0, stored: true }
}

/// Scores that explorations compute at each point.
fn explored(cx: &mut Context<'_>, node: Option<&Node>) -> Vec<Score> {
    let mut scores = Vec::new();
    for member in cx.named(node, "an exploration") {
        scores.extend(member.node.get("observable").and_then(kind::score));
        if let Some(record) = member.node.get("record") {
            for (name, _) in cx.names(record, "`record`") {
                if let Some(ObservationKind::Score(score)) = kind::named(name) {
                    scores.push(score);
                }
            }
        }
    }
    scores
}

/// Adds what a caller asks for, or marks what is there already.
fn ask(cx: &mut Context<'_>, found: &mut Vec<Observation>, spec: &ObserveSpec, around: Around<'_>) {
    let at = match found.iter().position(|o| o.name == spec.name) {
        Some(at) => at,
        None => {
            let projected = |k: &ObservationKind| matches!(k, ObservationKind::Projection(_));
            let Some(kind) = kind::named(&spec.name).filter(|k| !projected(k)) else {
                let message = format!("nothing to observe is called `{}`", spec.name);
                let mut known: Vec<&str> = found.iter().map(|o| o.name.as_str()).collect();
                known.extend(NAMES);
                let finding = Diagnostic::error(Code::UnknownName, message);
                cx.out.push(match nearest(&spec.name, known.iter().copied()) {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding.help(format!("there are {}", known.join(", "))),
                });
                return;
            };
            found.push(Observation { name: spec.name.clone(), ..observation(kind) });
            found.len() - 1
        }
    };
    let observation = &mut found[at];
    observation.stored = true;
    if let Some(source) = &spec.source {
        observation.sources = vec![source.clone()];
    }
    let count = |number: f64| {
        // Samples; a float to an integer saturates.
        (number.fract() == 0.0).then_some(number as u64)
    };
    let whole: Option<Vec<u64>> = spec.numbers.iter().map(|&n| count(n)).collect();
    match (&mut observation.kind, &spec.numbers[..], whole.as_deref()) {
        (_, [], _) => {}
        (ObservationKind::DynamicConnectivity(windows), _, Some([length, rest @ ..]))
            if *length >= 3 =>
        {
            let step = rest.first().copied().unwrap_or(1);
            *windows = Some(Windows { length: *length as usize, step: step as usize });
        }
        (
            ObservationKind::Spectrum(segment) | ObservationKind::PeakFrequency(segment),
            [_],
            Some([samples]),
        ) if *samples >= 2 => *segment = Some(*samples),
        (kind, [period], _)
            if *kind != ObservationKind::Raw
                && (!kind.is_statistic() || matches!(kind, ObservationKind::Synchrony(..))) =>
        {
            observation.period = Some(*period);
        }
        (kind, ..) => {
            let what = match kind {
                ObservationKind::DynamicConnectivity(_) => {
                    "takes the length of its windows, 3 samples or more, and their step"
                }
                ObservationKind::Spectrum(_) | ObservationKind::PeakFrequency(_) => {
                    "takes the samples of a segment, 2 or more"
                }
                ObservationKind::Synchrony(..) => "takes a period",
                ObservationKind::Raw => "takes no number: it is every step",
                kind if kind.is_statistic() => "takes no number",
                _ => "takes one number, its period",
            };
            let message = format!("`{}` {what}", spec.name);
            cx.out.push(Diagnostic::error(Code::BadValue, message));
        }
    }
    if found[at].kind.is_bold() && found[at].period.is_none() {
        let period = default_bold_period(cx, &spec.name, around.time);
        found[at].period = Some(period);
    }
}

/// Gives sources to what has none: connectivities read BOLD where there is any, scores read
/// connectivities, all else the first recorded variable.
fn choose_sources(found: &mut Vec<Observation>, model: &Model<'_>) {
    let variable = model.dynamics.output.first().cloned();
    let bold = found.iter().find(|o| o.kind.is_bold()).map(|o| o.name.clone());
    let connectivity =
        |kind: &ObservationKind| is_fcd(kind) || *kind == ObservationKind::FunctionalConnectivity;
    let of_signal = |kind: &ObservationKind| {
        let source =
            if connectivity(kind) { bold.clone().or(variable.clone()) } else { variable.clone() };
        Vec::from_iter(source)
    };
    for observation in found.iter_mut().filter(|o| o.sources.is_empty()) {
        if !matches!(observation.kind, ObservationKind::Score(_)) {
            observation.sources = of_signal(&observation.kind);
        }
    }
    let mut added: Vec<Observation> = Vec::new();
    for at in 0..found.len() {
        let ObservationKind::Score(score) = found[at].kind else { continue };
        if !found[at].sources.is_empty() {
            continue;
        }
        let needed = match score {
            Score::FcdKs => ObservationKind::DynamicConnectivity(None),
            _ => ObservationKind::FunctionalConnectivity,
        };
        let same = |o: &&Observation| match score {
            Score::FcdKs => is_fcd(&o.kind),
            _ => o.kind == ObservationKind::FunctionalConnectivity,
        };
        let candidates = || found.iter().chain(&added).filter(same);
        let of_bold = candidates().find(|o| bold.as_ref().is_some_and(|b| o.sources.contains(b)));
        let name = match of_bold.or_else(|| candidates().next()) {
            Some(connectivity) => connectivity.name.clone(),
            None => {
                let mut new = observation(needed);
                let taken = |name: &str| found.iter().any(|o| o.name == name);
                if taken(&new.name) {
                    new.name = format!("simulated_{}", new.name);
                }
                new.stored = false;
                new.sources = of_signal(&new.kind);
                let name = new.name.clone();
                added.push(new);
                name
            }
        };
        found[at].sources = vec![name];
    }
    found.extend(added);
}

/// Leaves out what is neither stored nor read by what is.
fn drop_unread(found: &mut Vec<Observation>) {
    let mut needed: Vec<String> =
        found.iter().filter(|o| o.stored).map(|o| o.name.clone()).collect();
    let mut at = 0;
    while let Some(name) = needed.get(at) {
        let sources = found.iter().find(|o| o.name == *name).map(|o| o.sources.clone());
        for source in sources.unwrap_or_default() {
            if !needed.contains(&source) && found.iter().any(|o| o.name == source) {
                needed.push(source);
            }
        }
        at += 1;
    }
    found.retain(|o| needed.contains(&o.name));
}
