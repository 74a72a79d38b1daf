//! What an observation is, from its names and settings.

use super::projection;
use super::{Around, Named};
use crate::diagnostic::Code;
use crate::experiment::resolve::read::{Context, number, value};
use crate::experiment::{
    BALLOON_WINDKESSEL_SETS, BalloonWindkessel, FirstOrderVolterra, ObservationKind, PhaseSource,
    Score, SynchronyMeasure, Target, Windows, balloon_windkessel,
};
use crate::yaml::Node;

/// The kind that a name stands for, in any of the spellings in use, with default settings.
pub(super) fn named(name: &str) -> Option<ObservationKind> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let synchrony = |measure| ObservationKind::Synchrony(measure, PhaseSource::default());
    Some(match plain.as_str() {
        "raw" => ObservationKind::Raw,
        "subsample" | "subsampled" => ObservationKind::SubSample,
        "temporalaverage" | "tavg" | "timeaverage" => ObservationKind::TemporalAverage,
        "globalaverage" => ObservationKind::GlobalAverage,
        "spatialaverage" => projection::unset(Target::Regions),
        "eeg" | "meg" | "ieeg" | "seeg" => projection::unset(Target::Sensors),
        "bold" | "simulatedbold" | "balloonwindkessel" => {
            ObservationKind::Bold(BalloonWindkessel::default())
        }
        "hrfbold" | "volterrabold" | "boldvolterra" | "firstordervolterra" => {
            ObservationKind::VolterraBold(FirstOrderVolterra::default())
        }
        "mean" | "nanmean" | "average" => ObservationKind::Mean,
        "var" | "nanvar" | "variance" => ObservationKind::Variance,
        "std" | "nanstd" | "standarddeviation" => ObservationKind::StandardDeviation,
        "fc" | "functionalconnectivity" | "computefc" | "corrcoef" => {
            ObservationKind::FunctionalConnectivity
        }
        "fcd" | "computefcd" | "functionalconnectivitydynamics" => {
            ObservationKind::DynamicConnectivity(None)
        }
        "spectrum" | "psd" | "powerspectrum" | "powerspectraldensity" | "welch" | "welchpsd" => {
            ObservationKind::Spectrum(None)
        }
        "peakfrequency" | "peakfrequencies" | "peakfreq" | "peakfreqs" => {
            ObservationKind::PeakFrequency(None)
        }
        "orderparameter" | "kuramotoorderparameter" | "kuramotoorder" => {
            synchrony(SynchronyMeasure::OrderParameter)
        }
        "meanorderparameter" => synchrony(SynchronyMeasure::MeanOrderParameter),
        "metastability" => synchrony(SynchronyMeasure::Metastability),
        "phasecoherence" | "phaselocking" | "plv" => synchrony(SynchronyMeasure::PhaseCoherence),
        "fccorr" | "fccorrelation" => ObservationKind::Score(Score::FcCorrelation),
        "fcrmse" | "rmsefc" => ObservationKind::Score(Score::FcRmse),
        "meanfcdifference" => ObservationKind::Score(Score::MeanFcDifference),
        "fcdks" | "ksfcd" => ObservationKind::Score(Score::FcdKs),
        _ => return None,
    })
}

/// Names of kinds that can be asked for, for people.
pub(super) const NAMES: &[&str] = &[
    "raw",
    "subsample",
    "temporal_average",
    "global_average",
    "bold",
    "volterra_bold",
    "mean",
    "variance",
    "std",
    "fc",
    "fcd",
    "spectrum",
    "peak_frequency",
    "order_parameter",
    "mean_order_parameter",
    "metastability",
    "phase_coherence",
    "fc_correlation",
    "fc_rmse",
    "mean_fc_difference",
    "fcd_ks",
];

/// The score that a call computes: by its own name, or an error between two connectivities.
pub(super) fn score(call: &Node) -> Option<Score> {
    let name = call.at(&["callable", "name"]).or_else(|| call.get("function"));
    let name = name.or_else(|| call.get("name")).and_then(Node::scalar)?;
    if let Some(ObservationKind::Score(score)) = named(&name.text) {
        return Some(score);
    }
    let arguments = call.get("arguments").map_or(&[][..], Node::entries);
    let of_connectivity = arguments.iter().any(|a| a.key.contains("fc"));
    (name.text == "rmse" && of_connectivity).then_some(Score::FcRmse)
}

/// The kind, and whether it stands in for several steps in Python.
pub(super) fn recognise(member: Named<'_>) -> Result<(ObservationKind, bool), String> {
    let node = member.node;
    if let Some(modality) = node.get("imaging_modality") {
        let text = modality.scalar().map_or("", |s| s.text.as_str());
        return match text.to_ascii_uppercase().as_str() {
            "BOLD" if by_kernel(node) => {
                Ok((ObservationKind::VolterraBold(FirstOrderVolterra::default()), false))
            }
            _ => named(text).map(|kind| (kind, false)).ok_or_else(|| {
                format!("the modality `{text}` is not known; BOLD is, and the kinds of monitor")
            }),
        };
    }
    if let Some(name) = node.at(&["class_reference", "name"]).and_then(Node::scalar) {
        return named(&name.text)
            .map(|kind| (kind, false))
            .ok_or_else(|| format!("the Python class `{}` is not run", name.text));
    }
    for key in ["iri", "acronym"] {
        let text = node.get(key).and_then(Node::scalar).map(|s| s.text.as_str());
        let name = text.map(|t| t.rsplit([':', '/', '#']).next().unwrap_or(t));
        if let Some(kind) = name.and_then(named) {
            return Ok((kind, false));
        }
    }
    let steps = node.get("pipeline").map_or(&[][..], Node::items);
    let step_name = |step: &Node| {
        let name = step.at(&["callable", "name"]).or_else(|| step.at(&["class_call", "name"]));
        let name = name.or_else(|| step.get("function")).or_else(|| step.get("name"));
        name.and_then(Node::scalar).map(|s| s.text.clone())
    };
    if let Some(score) = steps.last().and_then(score) {
        return Ok((ObservationKind::Score(score), steps.len() > 1));
    }
    if let [only] = steps
        && let Some(kind) = step_name(only).as_deref().and_then(named)
    {
        // A mean over nodes or states is another thing than one over time.
        let axis = only.at(&["arguments", "axis"]).and_then(value).and_then(number);
        let over_time = axis.is_none_or(|a| a == 0.0);
        return match kind {
            ObservationKind::Mean
            | ObservationKind::Variance
            | ObservationKind::StandardDeviation
                if !over_time =>
            {
                Err("only means over time are computed".into())
            }
            kind => Ok((kind, false)),
        };
    }
    if let Some(kind) = named(member.name) {
        let kind = match kind {
            ObservationKind::Bold(_) if by_kernel(node) => {
                ObservationKind::VolterraBold(FirstOrderVolterra::default())
            }
            kind => kind,
        };
        return Ok((kind, !steps.is_empty()));
    }
    if !steps.is_empty() {
        let names: Vec<String> = steps.iter().filter_map(step_name).collect();
        return Err(format!(
            "its steps are Python ({}); computed here are {}, the rest can be taken from the saved \
             results",
            names.join(", "),
            NAMES.join(", ")
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

/// Whether BOLD is asked for by convolution: its steps or settings name a kernel.
fn by_kernel(node: &Node) -> bool {
    let steps = node.get("pipeline").map_or(&[][..], Node::items);
    let mut names = steps.iter().filter_map(|s| s.get("function").or_else(|| s.get("name")));
    let kernel = |n: &Node| {
        n.scalar().is_some_and(|s| s.text.contains("hrf") || s.text.contains("volterra"))
    };
    names.any(kernel) || node.at(&["parameters", "hrf_kernel"]).is_some()
}

/// A setting of an observation: among its parameters, its own keys or the arguments of its steps.
pub(super) fn setting<'n>(node: &'n Node, names: &[&str]) -> Option<&'n Node> {
    let inside = |node: &'n Node, name: &&str| {
        let given = node.get(name)?;
        if given.is_mapping() { given.get("value").or(Some(given)) } else { Some(given) }
    };
    let steps = node.get("pipeline").map_or(&[][..], Node::items);
    let places = node.get("parameters").into_iter().chain(Some(node));
    let places = places.chain(steps.iter().filter_map(|s| s.get("arguments")));
    places.into_iter().find_map(|place| names.iter().find_map(|name| inside(place, name)))
}

/// A number of samples.
fn samples(cx: &mut Context<'_>, node: &Node, names: &[&str], least: u64) -> Option<u64> {
    let given = setting(node, names)?;
    let count = cx.whole(given, &format!("`{}`", names[0]))?;
    if count >= least {
        return Some(count);
    }
    let message = format!("`{}` must be at least {least} samples, not {count}", names[0]);
    cx.error(Code::BadNumber, message, &given.location);
    None
}

/// Lays the settings of an observation over the defaults of its kind.
pub(super) fn complete(
    cx: &mut Context<'_>,
    member: Named<'_>,
    kind: ObservationKind,
    around: Around<'_>,
) -> Result<ObservationKind, String> {
    let node = member.node;
    Ok(match kind {
        ObservationKind::Projection(empty) => projection::resolve(cx, member, empty.onto, around)?,
        ObservationKind::Bold(model) => ObservationKind::Bold(balloon(cx, node, model)),
        ObservationKind::VolterraBold(kernel) => {
            ObservationKind::VolterraBold(volterra(cx, member, kernel))
        }
        ObservationKind::DynamicConnectivity(_) => {
            let length = samples(cx, node, &["window_size", "window_length", "window"], 3);
            let step = samples(cx, node, &["window_step", "step"], 1);
            let windows = length.map(|length| Windows {
                length: length as usize,
                step: step.unwrap_or(1) as usize,
            });
            if windows.is_none() && step.is_some() {
                let message = format!("`{}` has a `window_step` and no `window_size`", member.name);
                cx.error(Code::MissingKey, message, member.location);
            }
            ObservationKind::DynamicConnectivity(windows)
        }
        ObservationKind::Spectrum(_) => {
            ObservationKind::Spectrum(samples(cx, node, &["nperseg", "window_size"], 2))
        }
        ObservationKind::PeakFrequency(_) => {
            ObservationKind::PeakFrequency(samples(cx, node, &["nperseg", "window_size"], 2))
        }
        ObservationKind::Synchrony(measure, _) => {
            let phases = match setting(node, &["phase", "phases"]) {
                None => PhaseSource::Unit,
                Some(given) => match cx.text(given, "`phase`") {
                    Some("variable") => PhaseSource::Variable,
                    Some("hilbert") => PhaseSource::Hilbert,
                    Some(other) => {
                        let known = ["variable", "hilbert"];
                        let what = "unknown source of phases";
                        cx.unknown(Code::BadValue, what, other, &given.location, known);
                        PhaseSource::Unit
                    }
                    None => PhaseSource::Unit,
                },
            };
            ObservationKind::Synchrony(measure, phases)
        }
        kind => kind,
    })
}

/// A published set of constants, then single ones.
fn balloon(cx: &mut Context<'_>, node: &Node, default: BalloonWindkessel) -> BalloonWindkessel {
    let mut model = default;
    if let Some(set) = setting(node, &["parameter_set"])
        && let Some(name) = cx.text(set, "`parameter_set`")
    {
        match balloon_windkessel(name) {
            Some(known) => model = known,
            None => {
                let known = BALLOON_WINDKESSEL_SETS.iter().copied();
                let what = "unknown set of haemodynamic constants";
                cx.unknown(Code::UnknownName, what, name, &set.location, known);
            }
        }
    }
    let constants: [(&[&str], &mut f64, bool); 9] = [
        (&["rho", "E0"], &mut model.rho, true),
        (&["alpha"], &mut model.alpha, true),
        (&["tau", "tau_0"], &mut model.tau, true),
        (&["kappa"], &mut model.kappa, true),
        (&["gamma"], &mut model.gamma, true),
        (&["v0", "V0"], &mut model.v0, true),
        (&["k1"], &mut model.k1, false),
        (&["k2"], &mut model.k2, false),
        (&["k3"], &mut model.k3, false),
    ];
    for (names, constant, positive) in constants {
        let given = names.iter().find_map(|n| node.at(&["parameters", n]));
        let Some(given) = given.and_then(value) else { continue };
        let Some(number) = cx.finite(given, &format!("`{}`", names[0])) else { continue };
        if positive && number <= 0.0 || names[0] == "rho" && number >= 1.0 {
            let message = format!("the haemodynamic constant `{}` can't be {number}", names[0]);
            cx.error(Code::BadNumber, message, &given.location);
        } else {
            *constant = number;
        }
    }
    model
}

fn volterra(
    cx: &mut Context<'_>,
    member: Named<'_>,
    default: FirstOrderVolterra,
) -> FirstOrderVolterra {
    let mut kernel = default;
    let constants: [(&[&str], &mut f64); 4] = [
        (&["tau_s"], &mut kernel.tau_s),
        (&["tau_f"], &mut kernel.tau_f),
        (&["k_1", "k1"], &mut kernel.k1),
        (&["V_0", "V0", "v0"], &mut kernel.v0),
    ];
    for (names, constant) in constants {
        if let Some(given) = setting(member.node, names)
            && let Some(number) = number(given)
        {
            *constant = number;
        }
    }
    if kernel.angular_frequency().is_nan() || kernel.tau_s <= 0.0 {
        let message = format!(
            "the kernel of `{}` doesn't oscillate with tau_s {} and tau_f {}",
            member.name, kernel.tau_s, kernel.tau_f
        );
        let help = "both must be positive, and tau_f less than 4·tau_s²";
        cx.error_help(Code::BadNumber, message, member.location, help);
        return default;
    }
    kernel
}
