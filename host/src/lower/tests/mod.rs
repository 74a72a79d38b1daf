//! Experiments made by hand, and sections run by the scalar interpreter.

mod couplings;
mod faults;
mod models;

use super::*;
use crate::connectome::Connectome;
use crate::diagnostic::{FileId, Location, Sources};
use crate::experiment::{
    Coupling, Derived, Dynamics, Enforce, Equation, Initial, Integration, Method, Network, Normals,
    Parameter, Precision, StateVariable, Sweep, UserFunction,
};
use crate::ir::interp::run_section;
use crate::ir::{Input, Section};

/// An experiment in the making. Each equation is a file of its own.
pub(super) struct Draft {
    pub(super) experiment: Experiment,
    pub(super) sources: Sources,
}

impl Draft {
    pub(super) fn new() -> Self {
        let experiment = Experiment {
            label: String::new(),
            description: None,
            source: (String::new(), String::new()),
            changes: Default::default(),
            dynamics: Dynamics {
                name: "Model".into(),
                derived_parameters: Vec::new(),
                derived_variables: Vec::new(),
                functions: Vec::new(),
                state_variables: Vec::new(),
                events: Vec::new(),
                discrete: false,
                modes: 1,
                output: Vec::new(),
            },
            parameters: Vec::new(),
            couplings: Vec::new(),
            stimuli: Vec::new(),
            network: Network {
                connectome: Connectome::unconnected(1),
                matrices: Vec::new(),
                conduction_speed_mm_per_ms: 3.0,
            },
            integration: Integration {
                method: Method::Euler,
                dt: 0.1,
                ms_per_unit: 1.0,
                duration: 1.0,
                transient: 0.0,
            },
            observations: Vec::new(),
            empirical: crate::experiment::Empirical::default(),
            sweep: Sweep::default(),
            seed: 0,
            precision: Precision::F64,
            normals: Normals::Portable,
            compat: None,
            skipped: Vec::new(),
        };
        Self { experiment, sources: Sources::default() }
    }

    pub(super) fn file(&mut self, text: &str) -> FileId {
        self.sources.add("test", text)
    }

    pub(super) fn place(&mut self, text: &str) -> Location {
        Location { file: self.file(text), span: 0..text.len() }
    }

    pub(super) fn equation(&mut self, text: &str) -> Equation {
        Equation { text: text.into(), location: self.place(text), exact: true }
    }

    pub(super) fn state(mut self, name: &str, rhs: &str) -> Self {
        let equation = self.equation(rhs);
        let location = self.place(name);
        self.experiment.dynamics.state_variables.push(StateVariable {
            name: name.into(),
            equation,
            initial: Initial::Uniform(0.1),
            domain: None,
            enforce: Enforce::None,
            coupling_variable: true,
            noise: None,
            unit: None,
            location,
        });
        self
    }

    pub(super) fn parameter_of(mut self, scope: Scope, name: &str, value: ParameterValue) -> Self {
        let location = self.place(name);
        self.experiment.parameters.push(Parameter {
            name: name.into(),
            scope,
            value,
            unit: None,
            description: None,
            location,
        });
        self
    }

    pub(super) fn parameter(self, name: &str, value: f64) -> Self {
        self.parameter_of(Scope::Dynamics, name, ParameterValue::Uniform(value))
    }

    pub(super) fn derived(mut self, name: &str, rhs: &str) -> Self {
        let equation = Some(self.equation(rhs));
        let location = self.place(name);
        self.experiment.dynamics.derived_variables.push(Derived {
            name: name.into(),
            equation,
            cases: Vec::new(),
            unit: None,
            location,
        });
        self
    }

    pub(super) fn function(mut self, name: &str, arguments: &[&str], rhs: &str) -> Self {
        let equation = self.equation(rhs);
        let arguments = arguments.iter().map(|&a| a.into()).collect();
        let function = UserFunction { name: name.into(), arguments, equation };
        self.experiment.dynamics.functions.push(function);
        self
    }

    /// A delayed coupling over matrix 0.
    pub(super) fn coupling(
        mut self,
        name: &str,
        (incoming, local): (&[usize], &[usize]),
        pre: &str,
        post: &str,
    ) -> Self {
        let (pre, post) = (Some(self.equation(pre)), Some(self.equation(post)));
        self.experiment.couplings.push(Coupling {
            name: name.into(),
            delayed: true,
            incoming_states: incoming.to_vec(),
            local_states: local.to_vec(),
            pre,
            post,
            matrix: 0,
            connected: true,
            dimension: 1,
        });
        self
    }

    pub(super) fn lower(&self) -> Result<Lowered, Diagnostics> {
        lower(&self.experiment)
    }

    pub(super) fn lowered(&self) -> Lowered {
        match self.lower() {
            Ok(lowered) => lowered,
            Err(error) => panic!("{error}"),
        }
    }

    /// Values of the program's parameters at node 0.
    pub(super) fn parameter_values(&self, node: usize) -> Vec<f64> {
        let values = self.experiment.parameters.iter().flat_map(|p| match &p.value {
            ParameterValue::Uniform(value) => vec![*value],
            ParameterValue::PerNode(values) => vec![values[node]],
            ParameterValue::Array { values, .. } => values.clone(),
        });
        values.collect()
    }

    /// The drift at node 0 without a network.
    pub(super) fn drift(&self, state: &[f64], time: f64) -> Vec<f64> {
        let lowered = self.lowered();
        self.run(&lowered.program.drift, state, &[], time)
    }

    pub(super) fn run(
        &self,
        section: &Section,
        state: &[f64],
        coupling: &[f64],
        time: f64,
    ) -> Vec<f64> {
        let parameters = self.parameter_values(0);
        let mut out = Vec::new();
        let inputs = |input: Input| match input {
            Input::Time => time,
            Input::State(i) => state[i as usize],
            Input::Parameter(i) => parameters[i as usize],
            Input::Coupling(i) => coupling[i as usize],
            other => panic!("{other:?}"),
        };
        run_section(section, &inputs, &mut out);
        out
    }
}

/// Whether two numbers agree to a few units in the last place of the larger of them and 1.
pub(super) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}
