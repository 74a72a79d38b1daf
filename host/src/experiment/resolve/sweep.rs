//! Sweep axes: names to what they set, ranges to values.

use super::read::{Context, Named, number};
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::experiment::{
    Axis, AxisSpec, AxisTarget, Dynamics, Noise, Parameter, ParameterValue, Scope, Sweep, SweepMode,
};
use crate::yaml::{Node, nearest};

/// What a name can refer to.
pub(super) struct Names<'a> {
    pub(super) dynamics: &'a mut Dynamics,
    pub(super) parameters: &'a mut Vec<Parameter>,
    /// Names of couplings with the scope of their parameters.
    pub(super) couplings: &'a [(String, Scope)],
    /// Names of stimuli in order.
    pub(super) stimuli: Vec<String>,
    /// Names of the observations that are computed.
    pub(super) observations: Vec<String>,
    /// Where the model stands, for what no file defines.
    pub(super) location: Location,
}

/// The name of the parameter that scales all couplings.
pub(super) const GLOBAL_COUPLING: &str = "global_coupling";

impl Names<'_> {
    /// The qualified name of a parameter.
    fn qualified(&self, parameter: &Parameter) -> String {
        let name = &parameter.name;
        let coupling = |scope: Scope| {
            let found = self.couplings.iter().find(|(_, s)| *s == scope);
            found.map_or("coupling", |(name, _)| name)
        };
        match parameter.scope {
            Scope::Dynamics => format!("{}.{name}", self.dynamics.name),
            Scope::Coupling(_) | Scope::Couplings => {
                format!("{}.{name}", coupling(parameter.scope))
            }
            Scope::Noise(state) => format!("{}.{name}", self.dynamics.state_variables[state].name),
            Scope::Stimulus(k) => {
                format!("{}.{name}", self.stimuli.get(k).map_or("stimulus", String::as_str))
            }
            Scope::Network => format!("network.{name}"),
        }
    }

    fn position(&self, scope: Scope, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.scope == scope && p.name == name)
    }

    /// Makes the noise of all these state variables read the one parameter that an axis sets.
    fn noise(&mut self, states: &[usize], name: &str) -> Option<usize> {
        let nsig = match name {
            "sigma" => false,
            "nsig" => true,
            _ => return None,
        };
        let of = |noise: &Option<Noise>| noise.filter(|n| n.is_nsig == nsig);
        let amplitudes: Vec<usize> = states
            .iter()
            .filter_map(|&s| of(&self.dynamics.state_variables[s].noise).map(|n| n.amplitude))
            .collect();
        let first = *amplitudes.first()?;
        for &state in states {
            if let Some(noise) = &mut self.dynamics.state_variables[state].noise {
                if noise.is_nsig == nsig {
                    noise.amplitude = first;
                }
            }
        }
        Some(first)
    }

    /// What a name refers to, or why it refers to nothing or to several things.
    pub(super) fn find(&mut self, name: &str) -> Result<AxisTarget, String> {
        let name = name.trim();
        let short = name.strip_prefix("network.").or(name.strip_prefix("network.parameters."));
        if short.unwrap_or(name) == "conduction_speed" {
            return Ok(AxisTarget::ConductionSpeed);
        }
        if short.unwrap_or(name) == GLOBAL_COUPLING
            && !self.parameters.iter().any(|p| p.name == GLOBAL_COUPLING)
        {
            self.parameters.push(global_coupling(1.0, &self.location));
        }
        let all: Vec<usize> = (0..self.dynamics.state_variables.len()).collect();
        if let Some((owner, own)) = name.rsplit_once('.') {
            let found = match owner {
                "noise" | "integration.noise" => self.noise(&all, own),
                "dynamics" | "dynamics.parameters" => self.position(Scope::Dynamics, own),
                "network" | "network.parameters" => self.position(Scope::Network, own),
                "coupling" | "coupling.parameters" => {
                    let scopes = self.couplings.iter().map(|(_, scope)| *scope);
                    scopes.into_iter().find_map(|scope| self.position(scope, own))
                }
                _ => self.owned(owner, own),
            };
            return found
                .map(AxisTarget::Parameter)
                .ok_or_else(|| format!("no parameter is called `{name}`"));
        }
        let hits: Vec<usize> =
            (0..self.parameters.len()).filter(|&i| self.parameters[i].name == name).collect();
        match hits[..] {
            [only] => Ok(AxisTarget::Parameter(only)),
            [] => Err(format!("no parameter is called `{name}`")),
            _ => {
                let names: Vec<_> =
                    hits.iter().map(|&i| self.qualified(&self.parameters[i])).collect();
                Err(format!("`{name}` could be any of {}", names.join(", ")))
            }
        }
    }

    fn owned(&mut self, owner: &str, own: &str) -> Option<usize> {
        if owner == self.dynamics.name {
            if let Some(found) = self.position(Scope::Dynamics, own) {
                return Some(found);
            }
        }
        let state = self.dynamics.state_variables.iter().position(|s| s.name == owner);
        if let Some(found) = state.and_then(|s| self.noise(&[s], own)) {
            return Some(found);
        }
        if let Some(k) = self.stimuli.iter().position(|s| s == owner) {
            if let Some(found) = self.position(Scope::Stimulus(k), own) {
                return Some(found);
            }
        }
        let couplings = self.couplings.iter().filter(|(name, _)| name == owner);
        couplings.map(|(_, scope)| *scope).find_map(|scope| self.position(scope, own))
    }

    /// What to say about a name that refers to nothing.
    fn help(&self, name: &str) -> String {
        let qualified: Vec<String> = self
            .parameters
            .iter()
            .map(|p| self.qualified(p))
            .chain(["conduction_speed".into()])
            .collect();
        if let Some(near) = nearest(name, qualified.iter().map(String::as_str)) {
            return format!("did you mean `{near}`?");
        }
        let own = name.rsplit('.').next().unwrap_or(name);
        let by_name = self.parameters.iter().find(|p| p.name == own).or_else(|| {
            let near = nearest(own, self.parameters.iter().map(|p| p.name.as_str()))?;
            self.parameters.iter().find(|p| p.name == near)
        });
        match by_name {
            Some(parameter) => format!("did you mean `{}`?", self.qualified(parameter)),
            None => format!("there are {}", qualified.join(", ")),
        }
    }
}

/// The parameter that scales all couplings.
pub(super) fn global_coupling(value: f64, location: &Location) -> Parameter {
    Parameter {
        name: GLOBAL_COUPLING.to_owned(),
        scope: Scope::Network,
        value: ParameterValue::Uniform(value),
        unit: None,
        description: Some("Scales the input of every coupling".to_owned()),
        location: location.clone(),
    }
}

/// Reads the first exploration that is a grid; others are left out by name.
pub(super) fn explorations(
    cx: &mut Context<'_>,
    node: Option<&Node>,
    names: &mut Names<'_>,
    extra: &[AxisSpec],
    mode: Option<SweepMode>,
) -> Sweep {
    let mut sweep = Sweep::default();
    let mut used: Option<Named<'_>> = None;
    for member in cx.named(node, "an exploration") {
        let path = format!("explorations.{}", member.name);
        let strategy = member.node.get("strategy").and_then(Node::scalar).map(|s| s.text.as_str());
        if let Some(other) = strategy.filter(|s| *s != "grid") {
            cx.skip(
                path,
                format!("the strategy `{other}` chooses points as it goes; a sweep is a grid"),
            );
        } else if let Some(first) = used {
            cx.skip(path, format!("one exploration is run, the first: `{}`", first.name));
        } else {
            used = Some(member);
            sweep = exploration(cx, member, names);
        }
    }
    for spec in extra {
        let Some(target) = target(cx, names, &spec.name, None) else { continue };
        if spec.values.is_empty() {
            let message = format!("the sweep axis `{}` has no values", spec.name);
            cx.out.push(Diagnostic::error(Code::BadValue, message));
        }
        sweep.axes.retain(|a| a.target != target);
        let unit = unit(names, target);
        let values = spec.values.clone();
        sweep.axes.push(Axis { name: spec.name.clone(), target, values, unit, location: None });
    }
    sweep.mode = mode.unwrap_or(sweep.mode);
    check_axes(cx, &sweep);
    sweep
}

fn unit(names: &Names<'_>, target: AxisTarget) -> Option<String> {
    match target {
        AxisTarget::Parameter(index) => names.parameters[index].unit.clone(),
        AxisTarget::ConductionSpeed => Some("mm_per_ms".to_owned()),
    }
}

fn exploration(cx: &mut Context<'_>, member: Named<'_>, names: &mut Names<'_>) -> Sweep {
    let node = member.node;
    let mut sweep = Sweep::default();
    if let Some(mode) = node.get("mode") {
        match cx.text(mode, "`mode`") {
            Some("product") | None => {}
            Some("zip") => sweep.mode = SweepMode::Zip,
            Some(other) => {
                cx.unknown(
                    Code::BadValue,
                    "unknown mode",
                    other,
                    &mode.location,
                    ["product", "zip"],
                );
            }
        }
    }
    if let Some(trials) = node.get("n_trials") {
        if cx.whole(trials, "n_trials").is_some_and(|n| n > 1) {
            let message = "n_trials: repeated points are not supported";
            let help = "each point has its own random numbers; run again with another seed";
            cx.error_help(Code::NotSupported, message, &trials.location, help);
        }
    }
    if let Some(algorithms) = node.get("algorithms").filter(|n| !n.items().is_empty()) {
        let message = "algorithms at each point are not supported";
        cx.error(Code::NotSupported, message, &algorithms.location);
    }
    unavailable(cx, member, &names.observations);
    let Some(space) = node.get("space") else {
        let message = format!("the exploration `{}` has no `space`", member.name);
        cx.error(Code::MissingKey, message, member.location);
        return sweep;
    };
    for axis in axes(cx, space) {
        let target = target(cx, names, axis.name, Some(axis.location));
        let Some(values) = values(cx, axis) else { continue };
        let Some(target) = target else { continue };
        if values.is_empty() {
            let message = format!("the sweep axis `{}` has no values", axis.name);
            cx.error(Code::BadValue, message, axis.location);
        }
        if let Some(bad) = values.iter().find(|v| !v.is_finite()) {
            let message = format!("the sweep axis `{}` takes the value {bad}", axis.name);
            cx.error(Code::BadNumber, message, axis.location);
        }
        if target == AxisTarget::ConductionSpeed && values.iter().any(|v| *v <= 0.0) {
            let message = "the conduction speed must be positive on the whole axis";
            cx.error(Code::BadNumber, message, axis.location);
        }
        if sweep.axes.iter().any(|a| a.target == target) {
            let message = format!("two sweep axes set `{}`", axis.name);
            cx.error(Code::BadValue, message, axis.location);
        }
        let own_unit = axis.node.get("unit").and_then(Node::scalar).map(|s| s.text.clone());
        sweep.axes.push(Axis {
            name: axis.name.to_owned(),
            target,
            values,
            unit: own_unit.or_else(|| unit(names, target)),
            location: Some(axis.location.clone()),
        });
    }
    sweep
}

/// Leaves out, by name, what the exploration asks for at each point and nothing computes.
fn unavailable(cx: &mut Context<'_>, member: Named<'_>, computed: &[String]) {
    let mut wanted: Vec<String> = Vec::new();
    if let Some(observable) = member.node.get("observable") {
        let called = observable.get("function").or_else(|| observable.at(&["callable", "name"]));
        wanted.extend(called.and_then(Node::scalar).map(|s| s.text.clone()));
    }
    if let Some(record) = member.node.get("record") {
        wanted.extend(cx.names(record, "`record`").iter().map(|(name, _)| (*name).to_owned()));
    }
    for name in wanted {
        let bare = name.strip_prefix("observations.").unwrap_or(&name);
        let bare = bare.strip_suffix(".data").unwrap_or(bare);
        if !computed.iter().any(|c| c == bare) {
            let path = format!("explorations.{}.{name}", member.name);
            cx.skip(path, "it is not computed; the saved results of each point allow it");
        }
    }
}

/// The axes of a space: a mapping by parameter, or a list with `parameter`.
fn axes<'n>(cx: &mut Context<'_>, space: &'n Node) -> Vec<Named<'n>> {
    if !space.is_sequence() {
        return cx.named(Some(space), "a sweep axis");
    }
    let mut axes = Vec::new();
    for item in space.items() {
        match item.any(&["parameter", "name"]).and_then(|n| Some((n, n.scalar()?))) {
            Some((node, scalar)) => {
                axes.push(Named { name: &scalar.text, location: &node.location, node: item });
            }
            None => cx.error(Code::MissingKey, "a sweep axis without `parameter`", &item.location),
        }
    }
    axes
}

/// What a name refers to; a finding where it is nothing that an axis can set.
pub(super) fn target(
    cx: &mut Context<'_>,
    names: &mut Names<'_>,
    name: &str,
    location: Option<&Location>,
) -> Option<AxisTarget> {
    let finding = match names.find(name) {
        Ok(target) => {
            let array = match target {
                AxisTarget::Parameter(i) => {
                    matches!(names.parameters[i].value, ParameterValue::Array { .. })
                }
                AxisTarget::ConductionSpeed => false,
            };
            if !array {
                return Some(target);
            }
            Diagnostic::error(
                Code::NotSupported,
                format!("`{name}` is an array: no axis can set it"),
            )
        }
        Err(why) => {
            let unknown = !why.contains("could be any");
            let finding = Diagnostic::error(Code::UnknownAxis, why);
            if unknown { finding.help(names.help(name)) } else { finding }
        }
    };
    cx.out.push(match location {
        Some(location) => finding.at(location.clone(), ""),
        None => finding,
    });
    None
}

fn values(cx: &mut Context<'_>, axis: Named<'_>) -> Option<Vec<f64>> {
    let what = format!("the sweep axis `{}`", axis.name);
    let node = axis.node;
    let explicit = if node.is_sequence() {
        Some(node)
    } else {
        node.get("explored_values").or_else(|| node.at(&["domain", "explored_values"]))
    };
    let values = match explicit {
        Some(list) => {
            let items = if list.is_sequence() { list.items() } else { std::slice::from_ref(list) };
            items.iter().map(|n| cx.number(n, &what)).collect::<Option<Vec<f64>>>()?
        }
        None => range(cx, axis, &what)?,
    };
    match node.get("transform").and_then(|n| Some((n, cx.text(n, "`transform`")?))) {
        None | Some((_, "none" | "identity")) => Some(values),
        Some((_, "log10")) => Some(values.into_iter().map(|v| 10f64.powf(v)).collect()),
        Some((_, "log" | "ln")) => Some(values.into_iter().map(f64::exp).collect()),
        Some((at, other)) => {
            let message = format!("{what} has the transform `{other}`; none and log10 are known");
            cx.error(Code::NotSupported, message, &at.location);
            None
        }
    }
}

fn range(cx: &mut Context<'_>, axis: Named<'_>, what: &str) -> Option<Vec<f64>> {
    let Some(domain) = axis.node.get("domain") else {
        let message = format!("{what} has neither `domain` nor `explored_values`");
        cx.error(Code::MissingKey, message, axis.location);
        return None;
    };
    let mut bound = |key: &str| match domain.get(key) {
        Some(node) => cx.finite(node, &format!("`{key}` of {what}")),
        None => {
            cx.error(Code::MissingKey, format!("{what} has no `{key}`"), &domain.location);
            None
        }
    };
    let (lo, hi) = (bound("lo"), bound("hi"));
    let (lo, hi) = (lo?, hi?);
    let log = cx.flag_or(domain, "log_scale", false);
    if log && !(lo > 0.0 && hi > 0.0) {
        let message = format!("{what} is logarithmic and reaches {}", lo.min(hi));
        cx.error(Code::BadValue, message, &domain.location);
        return None;
    }
    if let Some(n) = domain.get("n") {
        let n = cx.whole(n, &format!("`n` of {what}"))?;
        if n > MOST_VALUES {
            let message = format!("{what} has {n} values: more than {MOST_VALUES}");
            cx.error(Code::TooLarge, message, &domain.location);
            return None;
        }
        return Some(if log {
            log_space(lo, hi, n as usize)
        } else {
            lin_space(lo, hi, n as usize)
        });
    }
    let Some(step) = domain.get("step") else {
        let message = format!("{what} has neither `n` nor `step`");
        cx.error(Code::MissingKey, message, &domain.location);
        return None;
    };
    let step = number(step).filter(|s| s.is_finite() && *s != 0.0 && (hi - lo) / s >= 0.0);
    let Some(step) = step.filter(|_| !log) else {
        let message = format!("the `step` of {what} doesn't lead from {lo} to {hi}");
        cx.error(Code::BadValue, message, &domain.location);
        return None;
    };
    // A last value that misses `hi` by rounding only is still one.
    let count = ((hi - lo) / step * (1.0 + 1e-12) + 1e-9).floor();
    if count >= MOST_VALUES as f64 {
        let message = format!("{what} has {count} values: more than {MOST_VALUES}");
        cx.error(Code::TooLarge, message, &domain.location);
        return None;
    }
    Some((0..=count as u64).map(|k| lo + k as f64 * step).collect())
}

/// Most values on one axis; a point's results would have to be a byte to fit more.
const MOST_VALUES: u64 = 100_000_000;

/// `n` values from `lo` to `hi`, both included; `lo` alone for 1.
pub(crate) fn lin_space(lo: f64, hi: f64, n: usize) -> Vec<f64> {
    let last = n.saturating_sub(1);
    (0..n)
        .map(
            |k| {
                if k == last && k > 0 {
                    hi
                } else {
                    lo + (hi - lo) * (k as f64 / last.max(1) as f64)
                }
            },
        )
        .collect()
}

/// `n` values from `lo` to `hi`, both included, in equal ratios.
pub(crate) fn log_space(lo: f64, hi: f64, n: usize) -> Vec<f64> {
    let mut values: Vec<f64> = lin_space(lo.ln(), hi.ln(), n).into_iter().map(f64::exp).collect();
    // The ends are exact.
    if let [first, .., last] = &mut values[..] {
        (*first, *last) = (lo, hi);
    } else if let [only] = &mut values[..] {
        *only = lo;
    }
    values
}

fn check_axes(cx: &mut Context<'_>, sweep: &Sweep) {
    if sweep.mode == SweepMode::Zip {
        if let Some(first) = sweep.axes.first() {
            for other in &sweep.axes[1..] {
                if other.values.len() != first.values.len() {
                    let message = format!(
                        "a zip needs axes of one length: `{}` has {} values, `{}` has {}",
                        first.name,
                        first.values.len(),
                        other.name,
                        other.values.len()
                    );
                    let mut finding = Diagnostic::error(Code::ZipLength, message);
                    for axis in [other, first] {
                        if let Some(location) = &axis.location {
                            let text = format!("{} values", axis.values.len());
                            finding = finding.at(location.clone(), text);
                        }
                    }
                    cx.out.push(finding);
                }
            }
        }
    }
    if sweep.points().is_none() {
        let message = "the sweep has more points than 64 bits can count";
        cx.out.push(Diagnostic::error(Code::TooLarge, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_include_both_ends() {
        assert_eq!(lin_space(0.0, 1.0, 5), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(lin_space(2.0, 3.0, 1), [2.0]);
        assert_eq!(lin_space(2.0, 3.0, 0), [] as [f64; 0]);
        let log = log_space(0.01, 100.0, 5);
        assert_eq!((log[0], log[4]), (0.01, 100.0));
        assert!((log[2] - 1.0).abs() < 1e-12);
    }
}
