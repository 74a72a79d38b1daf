//! Stimuli: time courses with a weight per node.

use super::equation::Parsed;
use super::findings::Findings;
use super::layout::Layout;
use super::symbols::Table;
use crate::experiment::{Experiment, Scope};
use crate::ir::Input;

/// A stimulus, ready to be compiled.
#[derive(Debug)]
pub(super) struct StimulusModel<'a> {
    /// Its own parameters over the names of the model.
    pub(super) table: Table<'a>,
    pub(super) equation: Parsed<'a>,
    pub(super) weight: Input,
}

impl<'a> StimulusModel<'a> {
    pub(super) fn all(
        experiment: &'a Experiment,
        layout: &Layout,
        dynamics: &Table<'a>,
        findings: &Findings,
    ) -> Vec<Self> {
        let one = |(at, stimulus): (usize, &'a crate::experiment::Stimulus)| {
            let mut table = dynamics.clone();
            for (name, symbol) in layout.scope(experiment, Scope::Stimulus(at)) {
                table.symbols.insert(name.into(), symbol);
            }
            let equation = Parsed::new(&stimulus.equation, &|n| table.has(n), findings);
            let weight = Input::Parameter(layout.parameters[stimulus.weight].start);
            Self { table, equation, weight }
        };
        experiment.stimuli.iter().enumerate().map(one).collect()
    }
}
