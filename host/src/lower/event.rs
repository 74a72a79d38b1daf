//! Events: conditions on the accepted state, and the assignments that they trigger.
//!
//! All conditions are looked at on the accepted state. Then the assignments run in the order of the
//! file, each seeing those before it.

use super::equation::{Parsed, Place};
use super::evaluate::{Evaluator, Model};
use super::findings::Poisoned;
use super::layout::Layout;
use super::nearest::nearest;
use super::tensor::Tensor;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Equation, Event, Experiment};
use crate::ir::{Builder, CompareOp, Input, Section, Type, Value};
use std::ops::Range;

/// An assignment of an event: a state variable and its new value.
struct Assignment<'a> {
    variable: usize,
    value: Parsed<'a>,
}

/// The `events` section; empty where the model has none.
pub(super) fn lower<'a>(experiment: &'a Experiment, layout: &Layout, model: Model<'a>) -> Section {
    let events = &experiment.dynamics.events;
    if events.is_empty() {
        return Section::default();
    }
    let mut evaluator = Evaluator::new(model, model.dynamics, Builder::default());
    let conditions: Vec<Option<Value>> =
        events.iter().map(|event| condition(&mut evaluator, event).ok()).collect();
    let count = experiment.dynamics.state_variables.len() * layout.modes;
    let states = (0..count).map(|i| evaluator.builder.input(Input::State(i as u32))).collect();
    evaluator.states = Some(states);
    for (event, condition) in events.iter().zip(conditions) {
        for assignment in assignments(experiment, &event.affect, model) {
            // The value is compiled for its faults even where the condition has one.
            let value = evaluator.real_equation(&assignment.value);
            let (Ok(value), Some(condition)) = (value, condition) else { continue };
            if assign(&mut evaluator, layout, &assignment, &value, condition).is_err() {
                let message = "the value's shape is not the state variable's".to_owned();
                let location = event.affect.location.clone();
                model.findings.push(Diagnostic::error(Code::WrongKind, message).at(location, ""));
            }
        }
    }
    let results = evaluator.states.take().unwrap_or_default();
    evaluator.builder.finish(results)
}

/// True, or above zero for a condition that is a number.
fn condition<'a>(evaluator: &mut Evaluator<'a>, event: &'a Event) -> Result<Value, Poisoned> {
    let model = evaluator.model;
    let has = |name: &str| model.dynamics.has(name);
    let parsed = Parsed::new(&event.condition, &has, model.findings);
    if event.rising {
        let message = format!(
            "the event `{}` acts after every step at which its condition is positive, not only when \
             it becomes so",
            event.name
        );
        let warning = Diagnostic::warning(Code::Implausible, message);
        let warning = warning.at(event.condition.location.clone(), "");
        model
            .findings
            .push(warning.help("let the event's assignments make the condition negative"));
    }
    let value = evaluator.equation(&parsed)?;
    let value = match value.ty {
        Type::Bool => value,
        Type::Real => {
            let zero = evaluator.builder.constant(0.0);
            evaluator.map(value, |b, x| b.compare(CompareOp::Gt, x, zero))
        }
    };
    value.single().ok_or_else(|| {
        let message = format!("the condition of the event `{}` is an array", event.name);
        let location = event.condition.location.clone();
        model.findings.push(Diagnostic::error(Code::WrongKind, message).at(location, ""));
        Poisoned
    })
}

fn assign(
    evaluator: &mut Evaluator<'_>,
    layout: &Layout,
    assignment: &Assignment<'_>,
    value: &Tensor,
    condition: Value,
) -> Result<(), Poisoned> {
    let values = value.broadcast(&layout.state_shape()).ok_or(Poisoned)?;
    let Some(states) = &mut evaluator.states else { return Ok(()) };
    for (slot, value) in layout.states(assignment.variable).zip(values) {
        let before = states[slot as usize];
        states[slot as usize] = evaluator.builder.select(condition, value, before);
    }
    evaluator.forget();
    Ok(())
}

/// The assignments of `v = c; u = u + d`. Faults are reported and left out.
fn assignments<'a>(
    experiment: &Experiment,
    affect: &'a Equation,
    model: Model<'a>,
) -> Vec<Assignment<'a>> {
    let mut start = 0;
    let mut found = Vec::new();
    for part in affect.text.split([';', '\n']) {
        let range = start..start + part.len();
        start = range.end + 1;
        if !part.trim().is_empty()
            && let Some(assignment) = one_assignment(experiment, affect, range, model)
        {
            found.push(assignment);
        }
    }
    found
}

fn one_assignment<'a>(
    experiment: &Experiment,
    affect: &'a Equation,
    range: Range<usize>,
    model: Model<'a>,
) -> Option<Assignment<'a>> {
    let part = &affect.text[range.clone()];
    let fail = |code, span: Range<usize>, message: String, help: Option<String>| {
        let place = Place { equation: affect, offset: range.start };
        let mut diagnostic = Diagnostic::error(code, message).at(place.locate(span), "");
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        model.findings.push(diagnostic);
    };
    let Some((left, right)) = part.split_once('=') else {
        let message = "an assignment is written `variable = value`".into();
        fail(Code::EquationSyntax, 0..part.len(), message, None);
        return None;
    };
    let name = left.trim();
    let states = &experiment.dynamics.state_variables;
    let Some(variable) = states.iter().position(|s| s.name == name) else {
        let start = left.len() - left.trim_start().len();
        let message = format!("an event can only set a state variable, and `{name}` is none");
        let near = nearest(name, states.iter().map(|s| s.name.as_str()));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        fail(Code::UnknownSymbol, start..start + name.len(), message, help);
        return None;
    };
    let value = range.end - right.len()..range.end;
    let has = |name: &str| model.dynamics.has(name);
    Some(Assignment { variable, value: Parsed::part(affect, value, &has, model.findings) })
}
