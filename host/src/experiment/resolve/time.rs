//! The integration block and the noise.

use super::dynamics::Model;
use super::network::Parts;
use super::parameters;
use super::read::{Context, Named, value};
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Integration, Method, Noise, Parameter, ParameterValue, Precision, Scope};
use crate::yaml::{Node, ScalarValue};

/// Step where a file gives none, in the model's own unit.
const DEFAULT_STEP: f64 = 0.012_207_031_25;
/// Duration where a file gives none.
const DEFAULT_DURATION: f64 = 1000.0;
/// Seed where a file gives none.
const DEFAULT_SEED: u64 = 42;

/// Time as the file has it.
pub(super) fn integration(
    cx: &mut Context<'_>,
    node: Option<&Node>,
    discrete: bool,
) -> Integration {
    let mut result = Integration {
        method: if discrete { Method::Map } else { Method::Heun },
        dt: DEFAULT_STEP,
        ms_per_unit: 1.0,
        duration: DEFAULT_DURATION,
        transient: 0.0,
    };
    let Some(node) = node else { return result };
    result.method = method(cx, node, discrete);
    if let Some(step) = node.any(&["step_size", "dt"]) {
        match cx.number(step, "the step size") {
            Some(dt) if dt > 0.0 && dt.is_finite() => result.dt = dt,
            Some(dt) => {
                let message = format!("the step size must be positive, not {dt}");
                cx.error(Code::BadNumber, message, &step.location);
            }
            None => {}
        }
    }
    if let (Some(a), Some(b)) = (node.get("step_size"), node.get("dt"))
        && super::read::number(a) != super::read::number(b)
    {
        cx.out.push(
            Diagnostic::error(Code::BadValue, "`step_size` and `dt` are the same thing and differ")
                .at(b.location.clone(), "this")
                .at(a.location.clone(), "and this"),
        );
    }
    let mut span = |key: &str| {
        let given = node.get(key)?;
        let value = cx.finite(given, &format!("`{key}`"))?;
        if value < 0.0 {
            cx.error(Code::BadNumber, format!("`{key}` is negative: {value}"), &given.location);
            return None;
        }
        Some((value, given))
    };
    let duration = span("duration");
    if let Some((transient, _)) = span("transient_time") {
        result.transient = transient;
    }
    if let Some((value, _)) = duration {
        result.duration = value;
    }
    if let Some(given) = node.get("steps")
        && let Some(steps) = cx.whole(given, "`steps`")
    {
        let wanted = steps as f64 * result.dt;
        match duration {
            Some((value, place)) if (value / result.dt).round() != steps as f64 => {
                let message = format!(
                    "`steps` is {steps}, `duration` {value} is {} steps",
                    value / result.dt
                );
                cx.out.push(
                    Diagnostic::error(Code::BadValue, message)
                        .at(given.location.clone(), "this")
                        .at(place.location.clone(), "and this"),
                );
            }
            _ => result.duration = wanted,
        }
    }
    if let Some(scale) = node.get("time_scale") {
        let text = cx.text(scale, "time_scale").unwrap_or("ms");
        match ms_per(text) {
            Some(factor) => {
                result.ms_per_unit = factor;
                if factor != 1.0 {
                    let message = format!(
                        "time is in {text}: conduction delays in ms are converted, one step is {} ms",
                        result.dt_ms()
                    );
                    cx.note(Code::Implausible, message, &scale.location);
                }
            }
            None => {
                let known = ["ms", "s", "us", "min"];
                cx.unknown(Code::BadValue, "unknown time_scale", text, &scale.location, known);
            }
        }
    }
    result
}

/// Milliseconds in a unit of time.
pub(super) fn ms_per(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => Some(1.0),
        "s" | "sec" | "second" | "seconds" => Some(1000.0),
        "us" | "µs" | "microsecond" | "microseconds" => Some(1e-3),
        "min" | "minute" | "minutes" => Some(60_000.0),
        _ => None,
    }
}

fn method(cx: &mut Context<'_>, node: &Node, discrete: bool) -> Method {
    let Some(given) = node.get("method") else {
        return if discrete { Method::Map } else { Method::Euler };
    };
    let Some(text) = cx.text(given, "the integration method") else { return Method::Euler };
    if discrete {
        let message = format!("the model is discrete: it is iterated, and `{text}` is not used");
        cx.note(Code::Implausible, message, &given.location);
        return Method::Map;
    }
    match method_by_name(text) {
        Some(method) => method,
        None => {
            let message = format!("unknown integration method `{text}`");
            let help = match crate::yaml::nearest(text, ["euler", "heun", "rk4"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "euler, heun and rk4 are known; steps are fixed".to_owned(),
            };
            cx.error_help(Code::NotSupported, message, &given.location, help);
            Method::Heun
        }
    }
}

/// The method of a name in any of the spellings in use.
pub(super) fn method_by_name(name: &str) -> Option<Method> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let stem = ["stochastic", "deterministic", "maruyama"]
        .iter()
        .find_map(|end| plain.strip_suffix(end))
        .unwrap_or(&plain);
    match stem {
        "euler" | "forwardeuler" => Some(Method::Euler),
        "heun" => Some(Method::Heun),
        "rk4" | "rungekutta4" | "rungekutta4thorder" => Some(Method::Rk4),
        _ => None,
    }
}

/// Noise of all state variables; returns the seeds that noise blocks name.
pub(super) fn noise(
    cx: &mut Context<'_>,
    integration: Option<&Node>,
    model: &mut Model<'_>,
    network: &Parts<'_>,
    into: &mut Vec<Parameter>,
) -> Vec<(u64, crate::diagnostic::Location)> {
    let mut seeds = Vec::new();
    let mut seed = |cx: &mut Context<'_>, node: &Node| {
        if let Some(given) = node.get("seed")
            && let Some(seed) = cx.whole(given, "`seed`")
        {
            seeds.push((seed, given.location.clone()));
        }
    };
    let extent = network.extent(1);
    for index in 0..model.noises.len() {
        let Some(node) = model.noises[index] else { continue };
        let what = format!("the noise of `{}`", model.dynamics.state_variables[index].name);
        seed(cx, node);
        if let Some(noise) = amplitude(cx, node, &what, Scope::Noise(index), extent, into) {
            model.dynamics.state_variables[index].noise = Some(noise);
        }
    }
    let Some(block) = integration else { return seeds };
    if let Some(node) = block.get("noise") {
        seed(cx, node);
        let targets = node.get("targets").map(|n| cx.names(n, "`targets`"));
        let mut open: Vec<usize> = Vec::new();
        match targets {
            None => open.extend(0..model.dynamics.state_variables.len()),
            Some(targets) => {
                for (name, location) in targets {
                    match model.state(name) {
                        Some(index) => open.push(index),
                        None => {
                            let known = model.state_names();
                            let known = known.iter().map(String::as_str);
                            cx.unknown(
                                Code::UnknownName,
                                "no state variable is called",
                                name,
                                location,
                                known,
                            );
                        }
                    }
                }
            }
        }
        open.retain(|&i| model.noises[i].is_none());
        if let Some(&first) = open.first() {
            let what = "the noise of the integration";
            let noise = amplitude(cx, node, what, Scope::Noise(first), extent, into);
            for index in open {
                model.dynamics.state_variables[index].noise = noise;
            }
        }
    }
    if let Some(list) = block.get("state_wise_sigma").filter(|n| !n.items().is_empty()) {
        state_wise(cx, list, model, into);
    }
    let noisy = model.dynamics.state_variables.iter().any(|s| s.noise.is_some());
    if model.dynamics.discrete && noisy {
        let message = "noise in a discrete system is not supported";
        cx.error(Code::NotSupported, message, &model.location);
    }
    seeds
}

fn state_wise(cx: &mut Context<'_>, list: &Node, model: &mut Model<'_>, into: &mut Vec<Parameter>) {
    let states = model.dynamics.state_variables.len();
    let Some(values) = cx.numbers(list, "state_wise_sigma") else { return };
    if values.len() != states {
        let message =
            format!("state_wise_sigma has {} values for {states} state variables", values.len());
        cx.error(Code::ShapeMismatch, message, &list.location);
        return;
    }
    for (index, sigma) in values.into_iter().enumerate() {
        let state = &mut model.dynamics.state_variables[index];
        if sigma == 0.0 || state.noise.is_some() {
            continue;
        }
        if sigma < 0.0 {
            cx.error(Code::BadNumber, "sigma is negative", &list.location);
            continue;
        }
        state.noise = Some(Noise { amplitude: into.len(), is_nsig: false });
        into.push(Parameter {
            name: "sigma".to_owned(),
            scope: Scope::Noise(index),
            value: ParameterValue::Uniform(sigma),
            unit: None,
            description: None,
            location: list.location.clone(),
        });
    }
}

fn amplitude(
    cx: &mut Context<'_>,
    node: &Node,
    what: &str,
    scope: Scope,
    extent: parameters::Extent,
    into: &mut Vec<Parameter>,
) -> Option<Noise> {
    if !cx.flag_or(node, "additive", true) {
        let at = node.get("additive").map_or(&node.location, |n| &n.location);
        cx.error(Code::NotSupported, format!("{what} is multiplicative"), at);
    }
    if let Some(kind) = node.get("noise_type") {
        let text = cx.text(kind, "noise_type").unwrap_or("gaussian");
        if !["gaussian", "white", "additive"].contains(&text.to_ascii_lowercase().as_str()) {
            let message = format!("{what} is of type `{text}`");
            let help = "white Gaussian noise is known; other colours are an equation driven by it";
            cx.error_help(Code::NotSupported, message, &kind.location, help);
        }
    }
    let members = cx.named(node.get("parameters"), "a parameter");
    let known = |m: &Named<'_>| m.name == "sigma" || m.name == "nsig";
    for other in members.iter().filter(|m| !known(m)) {
        let message = format!("{what} has the parameter `{}`", other.name);
        let help = "sigma, or nsig = sigma²/2, is the amplitude";
        cx.error_help(Code::NotSupported, message, other.location, help);
    }
    let given: Vec<Named<'_>> = members.into_iter().filter(known).collect();
    let [member] = given[..] else {
        let message = match given.len() {
            0 => format!("{what} has no `sigma`"),
            _ => format!("{what} has both `sigma` and `nsig`"),
        };
        cx.error_help(
            Code::MissingKey,
            message,
            &node.location,
            "write parameters: {sigma: {value: …}}",
        );
        return None;
    };
    let is_nsig = member.name == "nsig";
    // The amplitude may be a parameter of the model.
    if let Some(scalar) = value(member.node).and_then(Node::scalar)
        && scalar.value == ScalarValue::Text
    {
        let found = into.iter().position(|p| p.scope == Scope::Dynamics && p.name == scalar.text);
        if let Some(amplitude) = found {
            return Some(Noise { amplitude, is_nsig });
        }
    }
    let parameter = parameters::resolve(cx, member, scope, extent);
    let negative = match &parameter.value {
        ParameterValue::Uniform(v) => *v < 0.0,
        ParameterValue::PerNode(v) | ParameterValue::Array { values: v, .. } => {
            v.iter().any(|v| *v < 0.0)
        }
    };
    if negative {
        cx.error(Code::BadNumber, format!("{what} has a negative amplitude"), member.location);
    }
    into.push(parameter);
    Some(Noise { amplitude: into.len() - 1, is_nsig })
}

/// Seed and word length.
pub(super) fn execution(
    cx: &mut Context<'_>,
    node: Option<&Node>,
    noise_seeds: &[(u64, crate::diagnostic::Location)],
) -> (u64, Precision) {
    let seed = node.and_then(|n| n.get("random_seed")).and_then(|n| cx.whole(n, "random_seed"));
    for (other, location) in noise_seeds {
        if let Some(seed) = seed.or(noise_seeds.first().map(|s| s.0)).filter(|s| s != other) {
            let message =
                format!("the seed {other} is not used: all random numbers come from {seed}");
            cx.warning(Code::BadValue, message, location);
        }
    }
    let seed = seed.or(noise_seeds.first().map(|s| s.0)).unwrap_or(DEFAULT_SEED);
    let mut precision = Precision::F32;
    if let Some(given) = node.and_then(|n| n.get("precision")) {
        match cx.text(given, "precision").unwrap_or("float32").to_ascii_lowercase().as_str() {
            "float32" | "f32" | "single" | "32" => {}
            "float64" | "f64" | "double" | "64" => precision = Precision::F64,
            other => {
                let known = ["float32", "float64"];
                cx.unknown(Code::BadValue, "unknown precision", other, &given.location, known);
            }
        }
    }
    (seed, precision)
}
