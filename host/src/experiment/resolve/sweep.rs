//! Sweep axes: names to what they set, ranges to values.

use super::observations;
use super::range;
use super::read::{Context, Named};
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::experiment::{
    Axis, AxisTarget, Dynamics, Noise, Overrides, Parameter, ParameterValue, Scope, Sweep,
    SweepMode,
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

/// Why a name does not lead to one thing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NotFound {
    /// Nothing has this name.
    Unknown,
    /// These all have it.
    Ambiguous(Vec<String>),
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
            if let Some(noise) = &mut self.dynamics.state_variables[state].noise
                && noise.is_nsig == nsig
            {
                noise.amplitude = first;
            }
        }
        Some(first)
    }

    /// What a name refers to, or why it refers to nothing or to several things.
    pub(super) fn find(&mut self, name: &str) -> Result<AxisTarget, NotFound> {
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
            return found.map(AxisTarget::Parameter).ok_or(NotFound::Unknown);
        }
        let hits: Vec<usize> =
            (0..self.parameters.len()).filter(|&i| self.parameters[i].name == name).collect();
        match hits[..] {
            [only] => Ok(AxisTarget::Parameter(only)),
            [] => Err(NotFound::Unknown),
            _ => Err(NotFound::Ambiguous(
                hits.iter().map(|&i| self.qualified(&self.parameters[i])).collect(),
            )),
        }
    }

    fn owned(&mut self, owner: &str, own: &str) -> Option<usize> {
        if owner == self.dynamics.name
            && let Some(found) = self.position(Scope::Dynamics, own)
        {
            return Some(found);
        }
        let state = self.dynamics.state_variables.iter().position(|s| s.name == owner);
        if let Some(found) = state.and_then(|s| self.noise(&[s], own)) {
            return Some(found);
        }
        if let Some(k) = self.stimuli.iter().position(|s| s == owner)
            && let Some(found) = self.position(Scope::Stimulus(k), own)
        {
            return Some(found);
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
    fixed: &[AxisTarget],
    overrides: &Overrides,
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
    if overrides.replace_sweep {
        sweep = Sweep::default();
    }
    for axis in sweep.axes.iter().filter(|a| fixed.contains(&a.target)) {
        let message = format!("`{}` is set, and is not swept then", axis.name);
        cx.out.push(Diagnostic::note(Code::UnknownAxis, message));
    }
    sweep.axes.retain(|a| !fixed.contains(&a.target));
    for spec in &overrides.axes {
        let Some(target) = target(cx, names, &spec.name, None) else { continue };
        for (code, message) in faults(&spec.name, target, &spec.values) {
            cx.out.push(Diagnostic::error(code, message));
        }
        if fixed.contains(&target) {
            let message = format!("`{}` is set and swept at once", spec.name);
            let help = "leave out one of --set and --sweep";
            cx.out.push(Diagnostic::error(Code::BadValue, message).help(help));
        }
        // Those of the file have a place in it.
        if sweep.axes.iter().any(|a| a.target == target && a.location.is_none()) {
            let message = format!("two sweep axes set `{}`", spec.name);
            cx.out.push(Diagnostic::error(Code::BadValue, message));
        }
        sweep.axes.retain(|a| a.target != target);
        let unit = unit(names, target);
        let values = spec.values.clone();
        sweep.axes.push(Axis { name: spec.name.clone(), target, values, unit, location: None });
    }
    sweep.mode = overrides.mode.unwrap_or(sweep.mode);
    match overrides.trials {
        Some(0) => {
            let message = "a point can't be repeated in 0 trials";
            cx.out.push(Diagnostic::error(Code::BadValue, message));
        }
        trials => sweep.trials = trials.unwrap_or(sweep.trials),
    }
    check_axes(cx, &sweep);
    sweep
}

/// What is wrong with the values of an axis.
fn faults(name: &str, target: AxisTarget, values: &[f64]) -> Vec<(Code, String)> {
    let mut faults = Vec::new();
    if values.is_empty() {
        faults.push((Code::BadValue, format!("the sweep axis `{name}` has no values")));
    }
    if let Some(bad) = values.iter().find(|v| !v.is_finite()) {
        faults.push((Code::BadNumber, format!("the sweep axis `{name}` takes the value {bad}")));
    }
    if target == AxisTarget::ConductionSpeed && values.iter().any(|v| *v <= 0.0) {
        let message = "the conduction speed must be positive on the whole axis";
        faults.push((Code::BadNumber, message.to_owned()));
    }
    faults
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
    if let Some(trials) = node.get("n_trials")
        && let Some(count) = cx.whole(trials, "n_trials")
    {
        if count == 0 {
            cx.error(Code::BadValue, "n_trials must be 1 or more", &trials.location);
        } else {
            sweep.trials = count;
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
        let Some(values) = range::values(cx, axis) else { continue };
        let Some(target) = target else { continue };
        for (code, message) in faults(axis.name, target, &values) {
            cx.error(code, message, axis.location);
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
        let name = called.and_then(Node::scalar).map(|s| s.text.clone());
        wanted.extend(observations::score_name(observable).map(str::to_owned).or(name));
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
        Err(NotFound::Unknown) => {
            let message = format!("no parameter is called `{name}`");
            Diagnostic::error(Code::UnknownAxis, message).help(names.help(name))
        }
        Err(NotFound::Ambiguous(all)) => {
            let message = format!("`{name}` could be any of {}", all.join(", "));
            Diagnostic::error(Code::UnknownAxis, message)
        }
    };
    cx.out.push(match location {
        Some(location) => finding.at(location.clone(), ""),
        None => finding,
    });
    None
}

fn check_axes(cx: &mut Context<'_>, sweep: &Sweep) {
    if sweep.mode == SweepMode::Zip
        && let Some(first) = sweep.axes.first()
    {
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
    if sweep.points().is_none() {
        let message = "the sweep has more points than 64 bits can count";
        cx.out.push(Diagnostic::error(Code::TooLarge, message));
    }
}
