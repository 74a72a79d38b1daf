//! Parameters that no equation mentions: most often a misspelt name that changes nothing.

use super::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Experiment, Initial, Parameter, Scope};
use std::collections::BTreeSet;

/// A warning that names them all, if there are any.
pub(super) fn warning(experiment: &Experiment) -> Option<Diagnostic> {
    let read = names(experiment);
    let unread: Vec<&Parameter> = (experiment.parameters.iter())
        .filter(|p| !matches!(p.scope, Scope::Noise(_) | Scope::Stimulus(_)))
        .filter(|p| p.scope != Scope::Network || p.name != "global_coupling")
        // Another program's rules replace the couplings, knowingly.
        .filter(|p| {
            experiment.compat.is_none() || !matches!(p.scope, Scope::Coupling(_) | Scope::Couplings)
        })
        .filter(|p| !read.contains(p.name.as_str()))
        .collect();
    if unread.is_empty() {
        return None;
    }
    let quoted: Vec<String> = unread.iter().map(|p| format!("`{}`", p.name)).collect();
    let message = format!("no equation reads {}", quoted.join(", "));
    let mut diagnostic = Diagnostic::warning(Code::UnknownName, message);
    for parameter in unread {
        let known = experiment.parameters.iter().filter(|p| read.contains(p.name.as_str()));
        let known = known.map(|p| p.name.as_str()).chain(["conduction_speed"]);
        let remark = match nearest(&parameter.name, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "this has no effect".to_owned(),
        };
        diagnostic = diagnostic.at(parameter.location.clone(), remark);
    }
    Some(diagnostic)
}

/// Every name in every equation.
fn names(experiment: &Experiment) -> BTreeSet<&str> {
    let dynamics = &experiment.dynamics;
    let mut texts: Vec<&str> = Vec::new();
    for d in dynamics.derived_parameters.iter().chain(&dynamics.derived_variables) {
        texts.extend(d.equation.iter().map(|e| e.text.as_str()));
        for case in &d.cases {
            texts.extend([case.condition.text.as_str(), case.value.text.as_str()]);
        }
    }
    texts.extend(dynamics.functions.iter().map(|f| f.equation.text.as_str()));
    for state in &dynamics.state_variables {
        texts.push(&state.equation.text);
        if let Initial::Equation(equation) = &state.initial {
            texts.push(&equation.text);
        }
    }
    for event in &dynamics.events {
        texts.extend([event.condition.text.as_str(), event.affect.text.as_str()]);
    }
    for coupling in &experiment.couplings {
        let equations = coupling.pre.iter().chain(&coupling.post);
        texts.extend(equations.map(|e| e.text.as_str()));
    }
    texts.extend(experiment.stimuli.iter().map(|s| s.equation.text.as_str()));
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    texts.into_iter().flat_map(|text| text.split(move |c| !of_name(c))).collect()
}
