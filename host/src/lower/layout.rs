//! Where the state variables, parameters and coupling inputs of an experiment stand in the program.

use super::symbols::{Inputs, Symbol};
use crate::experiment::{Experiment, ParameterValue, Scope};
use crate::ir::Input;
use std::ops::Range;

/// Numbers of the program's states, parameters and coupling inputs.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Modes of each state variable.
    pub(super) modes: usize,
    /// Slots of each parameter of the experiment.
    pub(super) parameters: Vec<Range<u32>>,
    /// Whether each slot has one value a node.
    pub(super) per_node: Vec<bool>,
    /// Coupling inputs of each coupling; empty where nothing feeds it.
    pub(super) couplings: Vec<Range<u32>>,
}

impl Layout {
    pub(super) fn new(experiment: &Experiment) -> Self {
        let mut per_node = Vec::new();
        let parameters = experiment.parameters.iter().map(|parameter| {
            let start = per_node.len() as u32;
            match &parameter.value {
                ParameterValue::Uniform(_) => per_node.push(false),
                ParameterValue::PerNode(_) => per_node.push(true),
                ParameterValue::Array { values, .. } => {
                    per_node.extend(std::iter::repeat_n(false, values.len()));
                }
            }
            start..per_node.len() as u32
        });
        let parameters = parameters.collect();
        let mut next = 0;
        let couplings = experiment.couplings.iter().map(|coupling| {
            let start = next;
            next += if coupling.connected { coupling.dimension.max(1) as u32 } else { 0 };
            start..next
        });
        let couplings = couplings.collect();
        let modes = experiment.dynamics.modes.max(1);
        Self { modes, parameters, per_node, couplings }
    }

    /// The shape of a state variable.
    pub(super) fn state_shape(&self) -> Vec<usize> {
        if self.modes == 1 { Vec::new() } else { vec![self.modes] }
    }

    /// The program's states of a state variable.
    pub(super) fn states(&self, variable: usize) -> Range<u32> {
        (variable * self.modes) as u32..((variable + 1) * self.modes) as u32
    }

    /// A state variable, read as `input` makes it.
    pub(super) fn state(&self, variable: usize, input: fn(u32) -> Input) -> Symbol {
        Inputs::symbol(self.state_shape(), self.states(variable).map(input).collect())
    }

    /// Several state variables as one array, first dimension the variable.
    pub(super) fn state_vector(&self, variables: &[usize], input: fn(u32) -> Input) -> Symbol {
        let mut shape = vec![variables.len()];
        shape.extend(self.state_shape());
        let inputs = variables.iter().flat_map(|&v| self.states(v)).map(input).collect();
        Symbol::Inputs(Inputs { shape, inputs, vector: true })
    }

    /// A parameter of the experiment.
    pub(super) fn parameter(&self, experiment: &Experiment, at: usize) -> Symbol {
        let shape = match &experiment.parameters[at].value {
            ParameterValue::Array { shape, .. } => shape.clone(),
            _ => Vec::new(),
        };
        Inputs::symbol(shape, self.parameters[at].clone().map(Input::Parameter).collect())
    }

    /// The parameters of a scope, by name.
    pub(super) fn scope<'e>(
        &self,
        experiment: &'e Experiment,
        scope: Scope,
    ) -> impl Iterator<Item = (&'e str, Symbol)> {
        let all = experiment.parameters.iter().enumerate();
        let own = all.filter(move |(_, p)| p.scope == scope);
        let found: Vec<_> =
            own.map(|(at, p)| (p.name.as_str(), self.parameter(experiment, at))).collect();
        found.into_iter()
    }

    /// A coupling input as the model's equations read it.
    pub(super) fn coupling(&self, experiment: &Experiment, at: usize) -> Symbol {
        let coupling = &experiment.couplings[at];
        let shape = if coupling.dimension > 1 { vec![coupling.dimension] } else { Vec::new() };
        if !coupling.connected {
            return Symbol::Zero(shape);
        }
        Inputs::symbol(shape, self.couplings[at].clone().map(Input::Coupling).collect())
    }
}

/// `name`, or `name[0]`, `name[1]`, … for an array; `name[0,0]`, … for a matrix.
pub(super) fn element_names(name: &str, shape: &[usize]) -> Vec<String> {
    if shape.is_empty() {
        return vec![name.to_owned()];
    }
    let total: usize = shape.iter().product();
    (0..total)
        .map(|at| {
            let mut rest = at;
            let mut indices: Vec<String> = shape
                .iter()
                .rev()
                .map(|&extent| {
                    let here = rest % extent;
                    rest /= extent;
                    here.to_string()
                })
                .collect();
            indices.reverse();
            format!("{name}[{}]", indices.join(","))
        })
        .collect()
}
