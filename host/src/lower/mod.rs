//! An experiment's equations to a program.
//!
//! Derived parameters, derived variables and the model's functions are written out where they are
//! read; sums are written out term by term; arrays over modes become one state a mode, named `x[0]`,
//! `x[1]` and so on. Couplings are taken apart into what the source emits and what the target does
//! with the sum (see `separate`).
//!
//! Everything that is wrong is reported, at the place in the file where it stands.

mod call;
mod coupling;
mod dynamics;
mod equation;
mod evaluate;
mod event;
mod findings;
mod layout;
mod name;
mod nearest;
mod power;
mod separate;
mod stimulus;
mod symbols;
mod tensor;
mod unread;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Experiment, ParameterValue, Scope};
use crate::ir::{Program, Section, Verified, verify};
use crate::opt::dead;
use evaluate::Model;
use findings::Findings;
use layout::{Layout, element_names};
use std::ops::Range;
use stimulus::StimulusModel;
use symbols::Table;

/// A recorded variable of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recorded {
    /// A state.
    State(u32),
    /// A result of `observe`.
    Observed(u32),
}

/// Initial values that are equations of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialValues {
    /// The states that have one, ascending.
    pub states: Vec<u32>,
    /// Their values, in that order. Inputs: Parameter.
    pub section: Section,
}

/// A compiled experiment.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program. Coupling inputs, channels and gathers that nothing reads are left out.
    pub program: Verified<Program>,
    /// The program's parameters of each parameter of the experiment: one, or one an element.
    pub parameter_slots: Vec<Range<u32>>,
    /// Modes of each state variable: state variable `v` is the states `v·modes .. (v + 1)·modes`.
    pub modes: usize,
    /// What is recorded, in the order of `Dynamics::output`; every mode of a variable.
    pub recorded: Vec<Recorded>,
    /// Initial values that have to be computed.
    pub initial: InitialValues,
    /// What is suspicious but can be run.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles an experiment.
///
/// # Errors
/// Everything that is wrong with its equations.
pub fn lower(experiment: &Experiment) -> Result<Lowered, Diagnostics> {
    check_arrays(experiment)?;
    let findings = Findings::default();
    let layout = Layout::new(experiment);
    let symbols = dynamics::symbols(experiment, &layout, &findings);
    let functions = dynamics::functions(experiment, &symbols, &findings);
    let table = Table { symbols, functions };
    let definitions = dynamics::definitions(experiment, &table, &findings);
    let stimuli = StimulusModel::all(experiment, &layout, &table, &findings);
    let model = Model {
        dynamics: &table,
        definitions: &definitions,
        stimuli: &stimuli,
        findings: &findings,
    };

    let mut program = Program {
        states: state_names(experiment, &layout),
        parameters: parameter_names(experiment),
        bounds: dynamics::bounds(experiment, &layout, &findings),
        drift: dynamics::drift(experiment, &layout, model),
        events: event::lower(experiment, &layout, model),
        ..Program::default()
    };
    dynamics::diffusion(experiment, &layout, &mut program);
    let recorded = dynamics::observe(experiment, &layout, model, &mut program);
    let initial = dynamics::initial(experiment, &layout, model);
    coupling::lower(experiment, &layout, model, &mut program);

    let mut warnings = findings.finish()?;
    warnings.extend(unread::warning(experiment));
    let program = verify(dead::prune(program)).map_err(|error| {
        let help = "this is a fault of the program, not of the experiment: please report it";
        Diagnostic::error(Code::Internal, error.to_string()).help(help)
    })?;
    let (parameter_slots, modes) = (layout.parameters, layout.modes);
    Ok(Lowered { program, parameter_slots, modes, recorded, initial, warnings })
}

/// Refuses arrays without elements or with more or fewer than their shape says.
fn check_arrays(experiment: &Experiment) -> Result<(), Diagnostics> {
    for parameter in &experiment.parameters {
        let ParameterValue::Array { shape, values } = &parameter.value else { continue };
        if values.is_empty() || shape.iter().product::<usize>() != values.len() {
            let count = values.len();
            let message = format!(
                "the array `{}` has {count} elements for the shape {shape:?}",
                parameter.name
            );
            let diagnostic = Diagnostic::error(Code::BadValue, message);
            return Err(diagnostic.at(parameter.location.clone(), "").into());
        }
    }
    Ok(())
}

fn state_names(experiment: &Experiment, layout: &Layout) -> Vec<String> {
    let states = experiment.dynamics.state_variables.iter();
    states.flat_map(|s| element_names(&s.name, &layout.state_shape())).collect()
}

/// A parameter's name with its scope before it, unless that is the model.
fn parameter_names(experiment: &Experiment) -> Vec<String> {
    let named = experiment.parameters.iter().flat_map(|parameter| {
        let scope = match parameter.scope {
            Scope::Dynamics | Scope::Couplings | Scope::Network => None,
            Scope::Coupling(at) => experiment.couplings.get(at).map(|c| &c.name),
            Scope::Noise(at) => experiment.dynamics.state_variables.get(at).map(|s| &s.name),
            Scope::Stimulus(at) => experiment.stimuli.get(at).map(|s| &s.name),
        };
        let name = match scope {
            Some(scope) => format!("{scope}.{}", parameter.name),
            None => parameter.name.clone(),
        };
        match &parameter.value {
            ParameterValue::Array { shape, .. } => element_names(&name, shape),
            _ => vec![name],
        }
    });
    named.collect()
}
