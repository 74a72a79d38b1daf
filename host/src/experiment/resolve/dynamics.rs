//! The model: its equations as text, its state variables and what they start from.

use super::read::{Context, Named, identifiers, number, value};
use crate::diagnostic::{Code, Location};
use crate::experiment::{
    Case, Derived, Distribution, Dynamics, Enforce, Equation, Event, Initial, StateVariable,
    UserFunction,
};
use crate::yaml::Node;

/// A coupling input of the model before a coupling is found for it.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) location: Location,
    /// The coupling that feeds it, where it isn't the one of its own name.
    pub(super) source: Option<String>,
    pub(super) dimension: usize,
    pub(super) local: bool,
}

/// A model and what other parts need of its file.
pub(super) struct Model<'n> {
    pub(super) dynamics: Dynamics,
    pub(super) inputs: Vec<Input>,
    /// Parameters with a value; those with an equation are among the derived ones.
    pub(super) parameters: Vec<Named<'n>>,
    /// The noise block of each state variable.
    pub(super) noises: Vec<Option<&'n Node>>,
    /// The domain of each state variable.
    domains: Vec<Option<&'n Node>>,
    /// The state variable that stimuli drive when they don't say which.
    pub(super) stimulated: Option<usize>,
    /// Where the model stands.
    pub(super) location: Location,
}

impl Model<'_> {
    /// The index of a state variable.
    pub(super) fn state(&self, name: &str) -> Option<usize> {
        self.dynamics.state_variables.iter().position(|s| s.name == name)
    }

    /// Names of the state variables.
    pub(super) fn state_names(&self) -> Vec<String> {
        self.dynamics.state_variables.iter().map(|s| s.name.clone()).collect()
    }

    /// Every equation's text.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let d = &self.dynamics;
        let derived = d.derived_parameters.iter().chain(&d.derived_variables);
        derived
            .flat_map(|d| {
                d.equation.iter().chain(d.cases.iter().flat_map(|c| [&c.condition, &c.value]))
            })
            .chain(d.functions.iter().map(|f| &f.equation))
            .chain(d.state_variables.iter().map(|s| &s.equation))
            .chain(d.events.iter().flat_map(|e| [&e.condition, &e.affect]))
            .map(|e| e.text.as_str())
    }

    /// Whether an equation names this symbol.
    pub(super) fn mentions(&self, symbol: &str) -> bool {
        self.texts().any(|text| identifiers(text).any(|word| word == symbol))
    }
}

/// Reads a model whose missing pieces are already filled in.
pub(super) fn resolve<'n>(cx: &mut Context<'_>, node: &'n Node) -> Model<'n> {
    let name = node.get("name").and_then(|n| cx.text(n, "the model's name")).unwrap_or("Dynamics");
    let mut model = Model {
        dynamics: Dynamics {
            name: name.to_owned(),
            derived_parameters: Vec::new(),
            derived_variables: Vec::new(),
            functions: Vec::new(),
            state_variables: Vec::new(),
            events: Vec::new(),
            discrete: false,
            modes: 1,
            output: Vec::new(),
        },
        inputs: Vec::new(),
        parameters: Vec::new(),
        noises: Vec::new(),
        domains: Vec::new(),
        stimulated: None,
        location: node.get("name").map_or_else(|| node.location.clone(), |n| n.location.clone()),
    };
    if let Some(kind) = node.get("system_type") {
        match cx.text(kind, "system_type") {
            Some("discrete") => model.dynamics.discrete = true,
            Some("continuous") | None => {}
            Some(other) => cx.unknown(
                Code::BadValue,
                "unknown system_type",
                other,
                &kind.location,
                ["continuous", "discrete"],
            ),
        }
    }
    if let Some(modes) = node.get("number_of_modes") {
        match cx.whole(modes, "number_of_modes") {
            Some(0) => {
                cx.error(Code::BadValue, "number_of_modes must be at least 1", &modes.location)
            }
            Some(n) => model.dynamics.modes = n as usize,
            None => {}
        }
    }
    parameters(cx, node, &mut model);
    derived(cx, node, &mut model);
    functions(cx, node, &mut model);
    states(cx, node, &mut model);
    inputs(cx, node, &mut model);
    events(cx, node, &mut model);
    output(cx, node, &mut model);
    model
}

fn unit(node: &Node) -> Option<String> {
    node.get("unit").and_then(Node::scalar).map(|s| s.text.clone())
}

fn parameters<'n>(cx: &mut Context<'_>, node: &'n Node, model: &mut Model<'n>) {
    for member in cx.named(node.get("parameters"), "a parameter") {
        let equation = member.node.get("equation");
        let text = value(member.node).filter(|v| v.scalar().is_some() && number(v).is_none());
        // `value: "2*a"` and an equation both make it a function of other parameters.
        match equation.filter(|_| value(member.node).is_none()).or(text) {
            Some(equation) => {
                let equation = cx.equation(equation, &format!("`{}`", member.name));
                model.dynamics.derived_parameters.push(Derived {
                    name: member.name.to_owned(),
                    equation,
                    cases: Vec::new(),
                    unit: unit(member.node),
                    location: member.location.clone(),
                });
            }
            None => model.parameters.push(member),
        }
    }
}

fn derived(cx: &mut Context<'_>, node: &Node, model: &mut Model<'_>) {
    for member in cx.named(node.get("derived_parameters"), "a derived parameter") {
        if let Some(derived) = one_derived(cx, member) {
            model.dynamics.derived_parameters.push(derived);
        }
    }
    for member in cx.named(node.get("derived_variables"), "a derived variable") {
        if let Some(derived) = one_derived(cx, member) {
            model.dynamics.derived_variables.push(derived);
        }
    }
}

fn one_derived(cx: &mut Context<'_>, member: Named<'_>) -> Option<Derived> {
    let what = format!("`{}`", member.name);
    let node = member.node;
    let mut cases = Vec::new();
    for case in node.get("cases").map_or(&[][..], Node::items) {
        let condition = case.get("condition").and_then(|n| cx.equation(n, &what));
        let value = case.get("equation").and_then(|n| cx.equation(n, &what));
        match (condition, value) {
            (Some(condition), Some(value)) => cases.push(Case { condition, value }),
            _ => cx.error(
                Code::MissingKey,
                format!("a case of {what} needs `condition` and `equation`"),
                &case.location,
            ),
        }
    }
    let equation = if node.is_mapping() { node.get("equation") } else { Some(node) };
    for block in equation.and_then(|n| n.get("conditionals")).map_or(&[][..], Node::items) {
        let condition = block.get("condition").and_then(|n| cx.equation(n, &what));
        let value = block.get("expression").and_then(|n| cx.equation(n, &what));
        match (condition, value) {
            (Some(condition), Some(value)) => cases.push(Case { condition, value }),
            _ => cx.error(
                Code::MissingKey,
                format!("a conditional of {what} needs `condition` and `expression`"),
                &block.location,
            ),
        }
    }
    // With cases, the equation is only the fall-back and may be without a right-hand side.
    let has_side = |n: &&Node| !n.is_mapping() || n.any(&["rhs", "righthandside"]).is_some();
    let equation = match equation.filter(|n| cases.is_empty() || has_side(n)) {
        Some(equation) => Some(cx.equation(equation, &what)?),
        None => None,
    };
    if equation.is_none() && cases.is_empty() {
        cx.error(Code::MissingKey, format!("{what} has no equation"), member.location);
        return None;
    }
    Some(Derived {
        name: member.name.to_owned(),
        equation,
        cases,
        unit: unit(node),
        location: member.location.clone(),
    })
}

fn functions(cx: &mut Context<'_>, node: &Node, model: &mut Model<'_>) {
    for member in cx.named(node.get("functions"), "a function") {
        if let Some(function) = function(cx, member) {
            model.dynamics.functions.push(function);
        }
    }
}

/// A function that equations may call.
pub(super) fn function(cx: &mut Context<'_>, member: Named<'_>) -> Option<UserFunction> {
    let Some(equation) = member.node.get("equation") else {
        let python = ["source_code", "callable"].iter().any(|k| member.node.get(k).is_some());
        if !python {
            let message = format!("the function `{}` has no equation", member.name);
            cx.error(Code::MissingKey, message, member.location);
        }
        return None;
    };
    let arguments = cx.named(member.node.get("arguments"), "an argument");
    Some(UserFunction {
        name: member.name.to_owned(),
        arguments: arguments.iter().map(|a| a.name.to_owned()).collect(),
        equation: cx.equation(equation, &format!("`{}`", member.name))?,
    })
}

fn states<'n>(cx: &mut Context<'_>, node: &'n Node, model: &mut Model<'n>) {
    for member in cx.named(node.get("state_variables"), "a state variable") {
        let what = format!("`{}`", member.name);
        let state = member.node;
        let Some(equation) = state.get("equation").and_then(|n| cx.equation(n, &what)) else {
            if state.get("equation").is_none() {
                let message = format!("the state variable {what} has no equation");
                cx.error(Code::MissingKey, message, member.location);
            }
            continue;
        };
        for (key, allowed) in [("equation_type", "differential"), ("equation_order", "1")] {
            if let Some(given) = state.get(key) {
                if given.scalar().is_none_or(|s| s.text != allowed) {
                    let message = format!("`{key}` of {what} must be {allowed}");
                    let help = match key {
                        "equation_type" => "an algebraic quantity is a derived variable",
                        _ => "write it as several equations of first order",
                    };
                    cx.error_help(Code::NotSupported, message, &given.location, help);
                }
            }
        }
        if cx.flag_or(state, "stimulation_variable", false) && model.stimulated.is_none() {
            model.stimulated = Some(model.dynamics.state_variables.len());
        }
        let initial = initial(cx, state, &what);
        let coupling_variable = cx.flag_or(state, "coupling_variable", false);
        model.noises.push(state.get("noise"));
        model.domains.push(state.any(&["domain", "range", "boundaries"]));
        model.dynamics.state_variables.push(StateVariable {
            name: member.name.to_owned(),
            equation,
            initial,
            domain: None,
            enforce: Enforce::None,
            coupling_variable,
            noise: None,
            unit: unit(state),
            location: member.location.clone(),
        });
    }
    if node.get("state_variables").is_none_or(|n| n.entries().is_empty() && n.items().is_empty()) {
        cx.error(Code::MissingKey, "the model has no state variables", &node.location);
    }
}

/// What a state variable starts from where nothing is said.
const DEFAULT_INITIAL: f64 = 0.1;

fn initial(cx: &mut Context<'_>, state: &Node, what: &str) -> Initial {
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

fn inputs(cx: &mut Context<'_>, node: &Node, model: &mut Model<'_>) {
    for key in ["coupling_inputs", "coupling_terms"] {
        for member in cx.named(node.get(key), "a coupling input") {
            // Files of the older version have the same inputs under both keys.
            if model.inputs.iter().any(|i| i.name == member.name) {
                continue;
            }
            let read = member.node;
            let dimension = match read.get("dimension") {
                Some(n) => cx.whole(n, "`dimension`").unwrap_or(1) as usize,
                // Over modes the states are arrays, and so is what is summed over them.
                None => model.dynamics.modes,
            };
            if dimension != 1 && dimension != model.dynamics.modes {
                let message = format!(
                    "the coupling input `{}` has dimension {dimension}, the model has {} mode(s)",
                    member.name, model.dynamics.modes
                );
                let help = "write one coupling input for each value";
                cx.error_help(Code::NotSupported, message, member.location, help);
            }
            let source = read.get("source").and_then(|n| cx.text(n, "`source`"));
            let local = cx.flag_or(read, "local", false);
            model.inputs.push(Input {
                name: member.name.to_owned(),
                location: member.location.clone(),
                source: source.map(str::to_owned),
                dimension: dimension.max(1),
                local,
            });
        }
    }
}

/// Events of the model that are not stimuli; stimuli are read elsewhere.
fn events(cx: &mut Context<'_>, node: &Node, model: &mut Model<'_>) {
    for member in cx.named(node.get("events"), "an event") {
        if let Some(event) = event(cx, member) {
            model.dynamics.events.push(event);
        }
    }
}

/// Whether an event is a stimulus: by its type, or by what it has where no type is given.
pub(super) fn is_stimulus(node: &Node) -> bool {
    match node.get("event_type").and_then(Node::scalar).map(|s| s.text.as_str()) {
        Some(kind) => kind == "stimulus" || kind == "stimulation",
        None => node.get("condition").is_none(),
    }
}

/// A condition with its assignments; `None` for a stimulus.
pub(super) fn event(cx: &mut Context<'_>, member: Named<'_>) -> Option<Event> {
    if is_stimulus(member.node) {
        return None;
    }
    let what = format!("the event `{}`", member.name);
    let rising = match member.node.get("event_type").and_then(|n| cx.text(n, "event_type")) {
        None | Some("discrete") => false,
        Some("continuous") => true,
        Some(other) => {
            let message = format!("{what} has the type `{other}`");
            let help = "discrete, continuous and stimulus are known";
            cx.error_help(Code::NotSupported, message, member.location, help);
            return None;
        }
    };
    if let Some(target) = member.node.get("target_component") {
        if target.scalar().is_none_or(|s| s.text != "all_vertices") {
            let message = format!("{what} must act on all nodes");
            cx.error(Code::NotSupported, message, &target.location);
        }
    }
    let mut part = |key: &str| match member.node.get(key) {
        Some(node) => cx.equation(node, &what),
        None => {
            cx.error(Code::MissingKey, format!("{what} has no `{key}`"), member.location);
            None
        }
    };
    let (condition, affect): (Option<Equation>, Option<Equation>) =
        (part("condition"), part("affect"));
    if let Some(own) = member.node.get("parameters").filter(|n| !n.entries().is_empty()) {
        let message = format!("{what} has parameters of its own");
        let help = "put them among the model's parameters";
        cx.error_help(Code::NotSupported, message, &own.location, help);
    }
    Some(Event { name: member.name.to_owned(), condition: condition?, affect: affect?, rising })
}

fn output(cx: &mut Context<'_>, node: &Node, model: &mut Model<'_>) {
    let states = cx.named(node.get("state_variables"), "a state variable");
    let derived = cx.named(node.get("derived_variables"), "a derived variable");
    if let Some(output) = node.get("output").filter(|n| !n.is_sequence() || !n.items().is_empty()) {
        for (name, location) in cx.names(output, "`output`") {
            if states.iter().chain(&derived).any(|m| m.name == name) {
                if !model.dynamics.output.iter().any(|o| o == name) {
                    model.dynamics.output.push(name.to_owned());
                }
            } else {
                let known = states.iter().chain(&derived).map(|m| m.name);
                cx.unknown(
                    Code::UnknownName,
                    "no variable to record is called",
                    name,
                    location,
                    known,
                );
            }
        }
        return;
    }
    for member in &states {
        if cx.flag_or(member.node, "record", true)
            && cx.flag_or(member.node, "variable_of_interest", true)
        {
            model.dynamics.output.push(member.name.to_owned());
        }
    }
    for member in &derived {
        if cx.flag_or(member.node, "record", false) {
            model.dynamics.output.push(member.name.to_owned());
        }
    }
    if model.dynamics.output.is_empty() {
        model.dynamics.output = model.state_names();
    }
}
