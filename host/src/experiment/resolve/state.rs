//! What state variables start from, and the bounds of their domains.

use super::dynamics::Model;
use super::read::{Context, number, value};
use crate::diagnostic::Code;
use crate::experiment::{Distribution, Enforce, Initial};
use crate::yaml::Node;

/// What a state variable starts from where nothing is said.
const DEFAULT_INITIAL: f64 = 0.1;

/// The initial value of a state variable.
pub(super) fn initial(cx: &mut Context<'_>, state: &Node, what: &str) -> Initial {
    if let Some(distribution) = state.get("distribution") {
        if let Some((kind, seed)) = self::distribution(cx, distribution, what) {
            return Initial::Distribution { kind, seed };
        }
        return Initial::Uniform(DEFAULT_INITIAL);
    }
    match state.get("initial_value") {
        None => Initial::Uniform(DEFAULT_INITIAL),
        Some(list) if list.is_sequence() => {
            let values = cx.numbers(list, &format!("the initial value of {what}"));
            Initial::PerNode(values.unwrap_or_default())
        }
        Some(given) => match number(given) {
            Some(value) if value.is_finite() => Initial::Uniform(value),
            Some(value) => {
                let message = format!("the initial value of {what} must be finite, not {value}");
                cx.error(Code::BadNumber, message, &given.location);
                Initial::Uniform(DEFAULT_INITIAL)
            }
            None => cx
                .equation(given, &format!("the initial value of {what}"))
                .map_or(Initial::Uniform(DEFAULT_INITIAL), Initial::Equation),
        },
    }
}

fn distribution(
    cx: &mut Context<'_>,
    node: &Node,
    what: &str,
) -> Option<(Distribution, Option<u64>)> {
    let seed = node.get("seed").and_then(|n| cx.whole(n, "`seed`"));
    if let Some(axis) = node.get("axis").filter(|n| n.scalar().is_none_or(|s| s.text != "space")) {
        cx.error(Code::NotSupported, "initial values are drawn per node only", &axis.location);
    }
    let name_node = if node.is_mapping() { node.get("name") } else { Some(node) };
    let name = name_node.and_then(|n| cx.text(n, "the distribution's name")).unwrap_or("Uniform");
    let mut parameter = |keys: &[&str]| -> Option<f64> {
        let found = keys.iter().find_map(|k| node.at(&["parameters", k]))?;
        cx.finite(value(found)?, keys[0])
    };
    match name.to_ascii_lowercase().as_str() {
        "uniform" => {
            let lo = parameter(&["lo", "low", "a", "min"]);
            let hi = parameter(&["hi", "high", "b", "max"]);
            let mut bound = |key, fallback: Option<f64>, default| match node.at(&["domain", key]) {
                Some(n) => cx.finite(n, &format!("`{key}`")),
                None => Some(fallback.unwrap_or(default)),
            };
            let (lo, hi) = (bound("lo", lo, 0.0)?, bound("hi", hi, 1.0)?);
            if lo > hi {
                let message = format!("the distribution of {what} has lo {lo} above hi {hi}");
                cx.error(Code::BadValue, message, &node.location);
                return None;
            }
            Some((Distribution::Uniform { lo, hi }, seed))
        }
        "gaussian" | "normal" => {
            let mean = parameter(&["mean", "mu", "loc"]).unwrap_or(0.0);
            let sd = parameter(&["sd", "sigma", "std", "scale"]).unwrap_or(1.0);
            if let Some(domain) = node.get("domain") {
                let message = format!("the Gaussian of {what} can't be cut to a domain");
                let help = "leave the domain out, or use Uniform";
                cx.error_help(Code::NotSupported, message, &domain.location, help);
            }
            if sd < 0.0 {
                let message = format!("the standard deviation of {what} is negative: {sd}");
                cx.error(Code::BadValue, message, &node.location);
                return None;
            }
            Some((Distribution::Gaussian { mean, sd }, seed))
        }
        _ => {
            let at = name_node.map_or(&node.location, |n| &n.location);
            let message = format!("unknown distribution `{name}` of {what}");
            cx.error_help(Code::BadValue, message, at, "Uniform and Gaussian are known");
            None
        }
    }
}

/// Sets the domains, whose bounds may name parameters: `lookup` gives their values.
pub(super) fn domains(
    cx: &mut Context<'_>,
    model: &mut Model<'_>,
    lookup: impl Fn(&str) -> Option<f64>,
) {
    for (state, node) in model.dynamics.state_variables.iter_mut().zip(&model.domains) {
        let Some(node) = node else { continue };
        let mut bound = |key: &str, open: f64| {
            let Some(given) = node.get(key) else { return open };
            let named = given.scalar().and_then(|s| lookup(&s.text));
            match number(given).or(named).filter(|v| !v.is_nan()) {
                Some(value) => value,
                None => {
                    let message = format!(
                        "`{key}` of the domain of `{}` must be a number or a parameter, not {}",
                        state.name,
                        given.describe()
                    );
                    cx.error(Code::WrongType, message, &given.location);
                    open
                }
            }
        };
        let (lo, hi) = (bound("lo", f64::NEG_INFINITY), bound("hi", f64::INFINITY));
        if lo > hi {
            let message = format!("the domain of `{}` has lo {lo} above hi {hi}", state.name);
            cx.error(Code::BadValue, message, &node.location);
        }
        state.domain = Some((lo, hi));
        let Some(enforce) = node.get("enforce") else { continue };
        state.enforce = match cx.text(enforce, "`enforce`") {
            Some("clamp") => Enforce::Clamp,
            Some("wrap") => Enforce::Wrap,
            Some("none") | None => Enforce::None,
            Some(other) => {
                let known = ["none", "clamp", "wrap"];
                cx.unknown(Code::BadValue, "unknown enforce", other, &enforce.location, known);
                Enforce::None
            }
        };
        if state.enforce == Enforce::Wrap && !((hi - lo).is_finite() && hi > lo) {
            let message = format!("`{}` can't be wrapped: its domain is open or empty", state.name);
            cx.error(Code::BadValue, message, &node.location);
        }
    }
}
