//! The rules of another program, for those who compare with it.

use super::{Experiment, Initial, Method, Overrides};

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compat {
    /// The CUDA kernel of TVBO, its indexing repaired: Euler's scheme, every state and the whole
    /// history 0 at the start, each coupling input the delayed weighted sum of the first state
    /// variable, conduction speed 1 mm/ms, coupling factor 0.1. The initial values, coupling
    /// functions and speed of the file are not used; a map stays a map.
    TvboKernel,
}

impl Compat {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::TvboKernel => "tvbo-kernel",
        }
    }

    /// What it means, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::TvboKernel => {
                "Euler unless it is a map, all states and the history start at 0, every coupling \
                 input is the delayed weighted sum of the first state variable; unless set \
                 otherwise, conduction speed 1 and global coupling 0.1"
            }
        }
    }

    /// The changes with what these rules set and the caller doesn't.
    pub(super) fn complete(self, overrides: &Overrides) -> Overrides {
        let Self::TvboKernel = self;
        let mut all = overrides.clone();
        let names = overrides.set.iter().map(|(name, _)| name);
        let names: Vec<&String> = names.chain(overrides.axes.iter().map(|a| &a.name)).collect();
        let given = |own: &str| names.iter().any(|n| n.rsplit('.').next() == Some(own));
        all.method.get_or_insert(Method::Euler);
        if !given("conduction_speed") {
            all.conduction_speed.get_or_insert(1.0);
        }
        if !given("global_coupling") {
            all.global_coupling.get_or_insert(0.1);
        }
        all
    }

    /// Rewrites an experiment: its start and its couplings.
    pub(super) fn apply(self, experiment: &mut Experiment) {
        let Self::TvboKernel = self;
        for state in &mut experiment.dynamics.state_variables {
            state.initial = Initial::Uniform(0.0);
        }
        for coupling in experiment.couplings.iter_mut().filter(|c| c.connected) {
            coupling.delayed = true;
            coupling.incoming_states = vec![0];
            coupling.local_states = vec![0];
            coupling.pre = None;
            coupling.post = None;
            coupling.matrix = 0;
        }
    }
}
