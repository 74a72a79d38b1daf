//! The model: its names, its drift, noise, bounds, recorded variables and initial values.

use super::equation::Parsed;
use super::evaluate::{Evaluator, Model};
use super::findings::Findings;
use super::layout::{Layout, element_names};
use super::nearest::nearest;
use super::symbols::{Definition, Definitions, Function, Symbol, Table};
use super::tensor::Tensor;
use super::{InitialValues, Recorded};
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{
    Derived, Enforce, Experiment, Initial, Scope, StateVariable, StimulusTarget,
};
use crate::ir::{Bound, Builder, Input, Program, Section, UnaryOp, Value};
use indexmap::IndexMap;
use std::rc::Rc;

/// The names that the model's equations see, without functions.
pub(super) fn symbols(
    experiment: &Experiment,
    layout: &Layout,
    findings: &Findings,
) -> IndexMap<String, Symbol> {
    let dynamics = &experiment.dynamics;
    let mut seen = Definitions::default();
    let mut symbols = IndexMap::new();
    // A model that calls something of its own `t` means that.
    symbols.insert("t".to_owned(), Symbol::Time);
    for (variable, state) in dynamics.state_variables.iter().enumerate() {
        seen.add(&state.name, "state variable", Some(&state.location), findings);
        symbols.insert(state.name.clone(), layout.state(variable, Input::State));
    }
    for (at, parameter) in experiment.parameters.iter().enumerate() {
        if parameter.scope == Scope::Dynamics {
            seen.add(&parameter.name, "parameter", Some(&parameter.location), findings);
            symbols.insert(parameter.name.clone(), layout.parameter(experiment, at));
        }
    }
    let derived = [
        ("derived parameter", &dynamics.derived_parameters),
        ("derived variable", &dynamics.derived_variables),
    ];
    let mut next = 0;
    for (what, list) in derived {
        for definition in list {
            seen.add(&definition.name, what, Some(&definition.location), findings);
            symbols.insert(definition.name.clone(), Symbol::Derived(next));
            next += 1;
        }
    }
    for (at, coupling) in experiment.couplings.iter().enumerate() {
        let location = coupling.pre.as_ref().or(coupling.post.as_ref()).map(|e| &e.location);
        seen.add(&coupling.name, "coupling input", location, findings);
        symbols.insert(coupling.name.clone(), layout.coupling(experiment, at));
    }
    let mut stimuli: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (at, stimulus) in experiment.stimuli.iter().enumerate() {
        if let StimulusTarget::Symbol(name) = &stimulus.target {
            stimuli.entry(name).or_default().push(at);
        }
    }
    for (name, which) in stimuli {
        let location = &experiment.stimuli[which[0]].equation.location;
        seen.add(name, "stimulus", Some(location), findings);
        symbols.insert(name.to_owned(), Symbol::Stimuli(which));
    }
    for function in &dynamics.functions {
        seen.add(&function.name, "function", Some(&function.equation.location), findings);
    }
    symbols
}

/// The functions of the model, parsed.
pub(super) fn functions<'a>(
    experiment: &'a Experiment,
    symbols: &IndexMap<String, Symbol>,
    findings: &Findings,
) -> Rc<IndexMap<&'a str, Function<'a>>> {
    let functions = experiment.dynamics.functions.iter().map(|function| {
        let arguments = function.arguments.as_slice();
        let has = |n: &str| symbols.contains_key(n) || arguments.iter().any(|a| a == n);
        let body = Parsed::new(&function.equation, &has, findings);
        (function.name.as_str(), Function { arguments, body })
    });
    Rc::new(functions.collect())
}

/// Derived parameters, then derived variables, parsed.
pub(super) fn definitions<'a>(
    experiment: &'a Experiment,
    table: &Table<'a>,
    findings: &Findings,
) -> Vec<Definition<'a>> {
    let dynamics = &experiment.dynamics;
    let has = |n: &str| table.has(n);
    let parse = |derived: &'a Derived| {
        let cases = derived.cases.iter().map(|case| {
            let condition = Parsed::new(&case.condition, &has, findings);
            (condition, Parsed::new(&case.value, &has, findings))
        });
        Definition {
            name: &derived.name,
            cases: cases.collect(),
            otherwise: derived.equation.as_ref().map(|e| Parsed::new(e, &has, findings)),
            location: &derived.location,
        }
    };
    dynamics.derived_parameters.iter().chain(&dynamics.derived_variables).map(parse).collect()
}

/// One value a mode.
fn over_modes(
    value: &Tensor,
    layout: &Layout,
    state: &StateVariable,
    model: Model<'_>,
) -> Vec<Value> {
    value.broadcast(&layout.state_shape()).unwrap_or_else(|| {
        let message = format!(
            "the equation of `{}` has the shape {:?} and the state variable has {:?}",
            state.name,
            value.shape,
            layout.state_shape()
        );
        let location = state.equation.location.clone();
        model.findings.push(Diagnostic::error(Code::WrongKind, message).at(location, ""));
        vec![value.items[0]; layout.modes]
    })
}

/// Derivatives, or next values of a map. Every derived variable is compiled, read or not, so that
/// none can be wrong unnoticed.
pub(super) fn drift<'a>(experiment: &'a Experiment, layout: &Layout, model: Model<'a>) -> Section {
    let mut evaluator = Evaluator::new(model, model.dynamics, Builder::default());
    let mut results = Vec::new();
    for (variable, state) in experiment.dynamics.state_variables.iter().enumerate() {
        let has = |n: &str| model.dynamics.has(n);
        let parsed = Parsed::new(&state.equation, &has, model.findings);
        let mut value = evaluator.real_equation(&parsed);
        for (at, stimulus) in experiment.stimuli.iter().enumerate() {
            if stimulus.target == StimulusTarget::Derivative(variable) {
                let added = evaluator.stimulus(at);
                value = value.and_then(|x| evaluator.zip(&x, &added?, 0..0, |b, x, y| b.add(x, y)));
            }
        }
        match value {
            Ok(value) => results.extend(over_modes(&value, layout, state, model)),
            Err(_) => {
                let zero = evaluator.builder.constant(0.0);
                results.extend(std::iter::repeat_n(zero, layout.modes));
            }
        }
    }
    for at in 0..model.definitions.len() {
        // A fault is among the findings already.
        let _ = evaluator.definition(at);
    }
    evaluator.builder.finish(results)
}

/// Which states are noisy, and their amplitudes.
pub(super) fn diffusion(experiment: &Experiment, layout: &Layout, program: &mut Program) {
    let mut builder = Builder::default();
    let mut results = Vec::new();
    for (variable, state) in experiment.dynamics.state_variables.iter().enumerate() {
        let Some(noise) = state.noise else { continue };
        let slots = layout.parameters[noise.amplitude].clone();
        for (mode, index) in layout.states(variable).enumerate() {
            // An amplitude with one value a mode is used so; else the first is everyone's.
            let slot =
                if slots.len() == layout.modes { slots.start + mode as u32 } else { slots.start };
            let mut sigma = builder.input(Input::Parameter(slot));
            if noise.is_nsig {
                let two = builder.constant(2.0);
                let variance = builder.mul(two, sigma);
                sigma = builder.unary(UnaryOp::Sqrt, variance);
            }
            program.noisy.push(index);
            results.push(sigma);
        }
    }
    program.diffusion = builder.finish(results);
}

/// How accepted states are bounded.
pub(super) fn bounds(experiment: &Experiment, layout: &Layout, findings: &Findings) -> Vec<Bound> {
    let bound = |state: &StateVariable| {
        let (lo, hi) = state.domain.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let (bound, sound) = match state.enforce {
            Enforce::None => (Bound::Free, true),
            Enforce::Clamp => (Bound::Clamp { lo, hi }, lo <= hi),
            Enforce::Wrap => (Bound::Wrap { lo, hi }, lo < hi && lo.is_finite() && hi.is_finite()),
        };
        if sound {
            return bound;
        }
        let message = format!("the domain of `{}` can't be enforced: {lo} to {hi}", state.name);
        let diagnostic = Diagnostic::error(Code::BadValue, message)
            .at(state.location.clone(), "")
            .help("give `lo` and `hi`, `lo` the smaller");
        findings.push(diagnostic);
        Bound::Free
    };
    let states = experiment.dynamics.state_variables.iter();
    states.flat_map(|s| std::iter::repeat_n(bound(s), layout.modes)).collect()
}

/// The recorded variables in output order; those that are not states become `observe`.
pub(super) fn observe<'a>(
    experiment: &'a Experiment,
    layout: &Layout,
    model: Model<'a>,
    program: &mut Program,
) -> Vec<Recorded> {
    let dynamics = &experiment.dynamics;
    let mut evaluator = Evaluator::new(model, model.dynamics, Builder::default());
    let (mut recorded, mut results) = (Vec::new(), Vec::new());
    for name in &dynamics.output {
        if let Some(variable) = dynamics.state_variables.iter().position(|s| s.name == *name) {
            recorded.extend(layout.states(variable).map(Recorded::State));
            continue;
        }
        if !model.dynamics.has(name) {
            let message = format!("the output `{name}` is not a variable of the model");
            let mut diagnostic = Diagnostic::error(Code::UnknownName, message);
            if let Some(near) = nearest(name, model.dynamics.symbols.keys().map(String::as_str)) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            model.findings.push(diagnostic);
            continue;
        }
        let Ok(value) = evaluator.symbol(name, 0..0) else { continue };
        for (name, value) in element_names(name, &value.shape).into_iter().zip(value.items) {
            recorded.push(Recorded::Observed(results.len() as u32));
            program.observed.push(name);
            results.push(value);
        }
    }
    program.observe = evaluator.builder.finish(results);
    recorded
}

/// Initial values that are equations.
pub(super) fn initial<'a>(
    experiment: &'a Experiment,
    layout: &Layout,
    model: Model<'a>,
) -> InitialValues {
    let mut evaluator = Evaluator::new(model, model.dynamics, Builder::default());
    let (mut states, mut results) = (Vec::new(), Vec::new());
    for (variable, state) in experiment.dynamics.state_variables.iter().enumerate() {
        let Initial::Equation(equation) = &state.initial else { continue };
        let has = |n: &str| model.dynamics.has(n);
        let parsed = Parsed::new(equation, &has, model.findings);
        let Ok(value) = evaluator.real_equation(&parsed) else { continue };
        states.extend(layout.states(variable));
        results.extend(over_modes(&value, layout, state, model));
    }
    let section = evaluator.builder.finish(results);
    let allowed = |input: &crate::ir::Inst| match input {
        crate::ir::Inst::Input(input) => matches!(input, Input::Parameter(_)),
        _ => true,
    };
    if !section.insts.iter().all(allowed) {
        let message = "an initial value can be computed from parameters only".to_owned();
        let equation = experiment.dynamics.state_variables.iter().find_map(|s| match &s.initial {
            Initial::Equation(equation) => Some(equation),
            _ => None,
        });
        let mut diagnostic = Diagnostic::error(Code::Unsupported, message);
        if let Some(equation) = equation {
            diagnostic = diagnostic.at(equation.location.clone(), "");
        }
        model.findings.push(diagnostic);
    }
    InitialValues { states, section }
}
