//! The model: its equations as text, its state variables and what they start from.

use super::parameters::is_map;
use super::read::{Context, Named, identifiers, number, value};
use super::{events, state};
use crate::diagnostic::{Code, Location};
use crate::experiment::{Case, Derived, Dynamics, Enforce, StateVariable, UserFunction};
use crate::yaml::Node;

/// Modes of a state variable, at most: each becomes a state of its own.
const MOST_MODES: u64 = 64;

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
    pub(super) domains: Vec<Option<&'n Node>>,
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
            Some(n) if n > MOST_MODES => {
                let message = format!("number_of_modes is {n}: at most {MOST_MODES} are possible");
                cx.error(Code::TooLarge, message, &modes.location);
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
        let text = value(member.node)
            .filter(|v| v.scalar().is_some_and(|s| number(v).is_none() && !is_map(&s.text)));
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
            if let Some(given) = state.get(key)
                && given.scalar().is_none_or(|s| s.text != allowed)
            {
                let message = format!("`{key}` of {what} must be {allowed}");
                let help = match key {
                    "equation_type" => "an algebraic quantity is a derived variable",
                    _ => "write it as several equations of first order",
                };
                cx.error_help(Code::NotSupported, message, &given.location, help);
            }
        }
        if cx.flag_or(state, "stimulation_variable", false) && model.stimulated.is_none() {
            model.stimulated = Some(model.dynamics.state_variables.len());
        }
        let initial = state::initial(cx, state, &what);
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
        if let Some(event) = events::event(cx, member) {
            model.dynamics.events.push(event);
        }
    }
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
