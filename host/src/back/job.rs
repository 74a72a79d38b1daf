//! Everything an engine needs to run a sweep, as numbers: no names, no files, no units.

use crate::experiment::{Method, Normals, Precision};
use crate::ir::{GatherSource, Input, Program, Section};
use crate::monitor::MonitorKind;
use std::sync::Arc;

pub use crate::connectome::delays::AfferentMatrix;

/// The values of one parameter slot before the sweep changes them.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValues {
    /// The same at every node.
    Uniform(f64),
    /// One a node.
    PerNode(Vec<f64>),
}

/// A parameter slot that the sweep sets, at every node.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptParameter {
    /// The slot, `Input::Parameter`.
    pub slot: usize,
    /// One value a point of the job, in the order of [`Job::points`].
    pub values: Vec<f64>,
}

/// The values of all parameter slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterTable {
    /// One entry a slot.
    pub base: Vec<ParameterValues>,
    /// What the sweep sets instead. A slot is named at most once.
    pub swept: Vec<SweptParameter>,
}

/// Conduction speed in mm/ms.
#[derive(Clone, Debug, PartialEq)]
pub enum Speed {
    /// The same for all points.
    Uniform(f64),
    /// One a point of the job.
    PerPoint(Vec<f64>),
}

impl Speed {
    /// The speed of point `index` of the job, in mm/ms.
    pub fn of(&self, index: usize) -> f64 {
        match self {
            Self::Uniform(speed) => *speed,
            Self::PerPoint(speeds) => speeds[index],
        }
    }
}

/// Initial states, `[state][node]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// The same for all points.
    Shared(Vec<f64>),
    /// One set a point of the job.
    PerPoint(Vec<Vec<f64>>),
}

impl Initial {
    /// The states of point `index` of the job, `[state][node]`.
    pub fn of(&self, index: usize) -> &[f64] {
        match self {
            Self::Shared(states) => states,
            Self::PerPoint(states) => &states[index],
        }
    }
}

/// A sampled stimulus, the same at every node and point: its value is held over a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// One value a step, from the start of the transient; 0 afterwards.
    pub samples: Vec<f64>,
}

impl Signal {
    /// The value during step `step`.
    pub fn at(&self, step: u64) -> f64 {
        usize::try_from(step).ok().and_then(|k| self.samples.get(k)).copied().unwrap_or(0.0)
    }
}

/// A recorded variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recorded {
    /// A state variable.
    State(usize),
    /// A result of `Program::observe`.
    Observed(usize),
}

/// What is kept of the recorded variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The variables, in output order; monitors refer to them by position.
    pub variables: Vec<Recorded>,
    /// The mean of every variable over the recorded steps.
    pub mean: bool,
    /// Time series.
    pub monitors: Vec<MonitorKind>,
}

/// A sweep, ready to run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The lowered model.
    pub program: &'a Program,
    /// Integration scheme.
    pub method: Method,
    /// Word length.
    pub precision: Precision,
    /// Step in the model's own time unit.
    pub dt: f64,
    /// The same in ms, for delays.
    pub dt_ms: f64,
    /// Recorded steps.
    pub steps: u64,
    /// Steps before recording starts.
    pub transient_steps: u64,
    /// Nodes of the network.
    pub nodes: usize,
    /// Afferents by weight matrix, `Gather::matrix`.
    pub matrices: Vec<AfferentMatrix>,
    /// Values of the parameter slots.
    pub parameters: ParameterTable,
    /// Conduction speed.
    pub speed: Speed,
    /// Initial states.
    pub initial: Initial,
    /// Sampled stimuli, `Input::Signal`.
    pub signals: Vec<Signal>,
    /// Seed of the noise.
    pub seed: u64,
    /// Which normals the noise is made of.
    pub normals: Normals,
    /// The index of each point in the whole sweep, which keys its noise: a point that is run alone
    /// equals the same point of a sweep.
    pub points: Vec<u64>,
    /// What is kept.
    pub record: Record,
    /// Standard normals that take the place of the generator's, `[step][noisy variable][node]`, the
    /// same for every point: how a trajectory that another program made with its own random numbers
    /// is compared. Only the CPU engine knows it.
    #[doc(hidden)]
    pub noise_replay: Option<Arc<[f64]>>,
}

/// A job whose parts do not fit together: a fault of the caller, found before anything runs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JobError {
    /// Sizes differ.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// Of what.
        what: &'static str,
        /// What the rest of the job asks for.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// A reference to something that does not exist.
    #[error("{what} {index} does not exist: there are {count}")]
    Index {
        /// To what.
        what: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A number outside its range.
    #[error("{what} is {value}, it must be {needs}")]
    Value {
        /// Which.
        what: &'static str,
        /// The number.
        value: f64,
        /// What it must be.
        needs: &'static str,
    },
    /// Noise that no CPU can draw.
    #[error(
        "cuRAND's normals are made with a GPU's own sine and cosine (sin.approx, cos.approx), whose \
         bits no CPU gives: run on an NVIDIA GPU (--device cuda), or take the portable ones \
         (--normal portable), which are the same everywhere"
    )]
    CurandOnCpu,
    /// A delay that cannot be had.
    #[error(transparent)]
    Delay(#[from] crate::connectome::delays::DelayError),
}

fn size(what: &'static str, expected: usize, found: usize) -> Result<(), JobError> {
    if expected == found { Ok(()) } else { Err(JobError::Size { what, expected, found }) }
}

fn index(what: &'static str, index: usize, count: usize) -> Result<(), JobError> {
    if index < count { Ok(()) } else { Err(JobError::Index { what, index, count }) }
}

impl Job<'_> {
    /// All steps, transient included.
    pub fn total_steps(&self) -> u64 {
        self.transient_steps + self.steps
    }

    /// Whether cuRAND's normals are drawn: asked for, and there is noise.
    pub fn draws_curand(&self) -> bool {
        self.normals == Normals::Curand && !self.program.noisy.is_empty()
    }

    /// Checks that all sizes and references agree.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), JobError> {
        let program = self.program;
        let (states, nodes, points) = (program.states.len(), self.nodes, self.points.len());
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(JobError::Value { what, value, needs: "positive and finite" })
            }
        };
        positive("dt", self.dt)?;
        positive("dt in ms", self.dt_ms)?;
        if nodes == 0 || u32::try_from(nodes).is_err() {
            return Err(JobError::Value {
                what: "the number of nodes",
                value: nodes as f64,
                needs: "at least 1 and less than 2^32",
            });
        }
        size("results of drift", states, program.drift.results.len())?;
        size("bounds", states, program.bounds.len())?;
        size("results of diffusion", program.noisy.len(), program.diffusion.results.len())?;
        size("results of post", program.couplings.len(), program.post.results.len())?;
        size("results of observe", program.observed.len(), program.observe.results.len())?;
        if !program.events.results.is_empty() {
            size("results of events", states, program.events.results.len())?;
        }
        for &state in &program.noisy {
            index("noisy state", state as usize, states)?;
        }
        for edge in &program.edges {
            size("results of an edge section", 1, edge.results.len())?;
        }
        for gather in &program.gathers {
            index("weight matrix", gather.matrix as usize, self.matrices.len())?;
            match gather.source {
                GatherSource::Channel(c) => {
                    index("channel", c as usize, program.emit.results.len())?;
                }
                GatherSource::Edge(e) => index("edge section", e as usize, program.edges.len())?,
                GatherSource::Ones => {}
            }
        }
        for matrix in &self.matrices {
            size("rows of a weight matrix", nodes, matrix.nodes())?;
        }
        self.check_values(states, nodes, points)?;
        let sections = [
            &program.emit,
            &program.post,
            &program.drift,
            &program.diffusion,
            &program.events,
            &program.observe,
        ];
        sections.into_iter().chain(&program.edges).try_for_each(|s| self.check_inputs(s))
    }

    fn check_values(&self, states: usize, nodes: usize, points: usize) -> Result<(), JobError> {
        size("parameters", self.program.parameters.len(), self.parameters.base.len())?;
        for values in &self.parameters.base {
            if let ParameterValues::PerNode(v) = values {
                size("values of a per-node parameter", nodes, v.len())?;
            }
        }
        for swept in &self.parameters.swept {
            index("swept parameter", swept.slot, self.parameters.base.len())?;
            size("values of a swept parameter", points, swept.values.len())?;
        }
        if let Speed::PerPoint(v) = &self.speed {
            size("conduction speeds", points, v.len())?;
        }
        match &self.initial {
            Initial::Shared(v) => size("initial states", states * nodes, v.len())?,
            Initial::PerPoint(all) => {
                size("sets of initial states", points, all.len())?;
                all.iter().try_for_each(|v| size("initial states", states * nodes, v.len()))?;
            }
        }
        size("signals", self.program.signals.len(), self.signals.len())?;
        if let Some(normals) = &self.noise_replay {
            let needed = self.total_steps() as usize * self.program.noisy.len() * nodes;
            size("replayed normals", needed, normals.len())?;
        }
        for &variable in &self.record.variables {
            match variable {
                Recorded::State(i) => index("recorded state", i, states)?,
                Recorded::Observed(i) => {
                    index("recorded variable", i, self.program.observed.len())?;
                }
            }
        }
        self.record.monitors.iter().try_for_each(|m| m.check(self.record.variables.len()))
    }

    fn check_inputs(&self, section: &Section) -> Result<(), JobError> {
        let program = self.program;
        for inst in &section.insts {
            if let crate::ir::Inst::Input(input) = *inst {
                match input {
                    Input::Time => {}
                    Input::State(i) | Input::SourceState(i) => {
                        index("state", i as usize, program.states.len())?;
                    }
                    Input::Parameter(i) => {
                        index("parameter", i as usize, program.parameters.len())?;
                    }
                    Input::Coupling(i) => {
                        index("coupling input", i as usize, program.couplings.len())?;
                    }
                    Input::Gathered(i) => {
                        index("gathered sum", i as usize, program.gathers.len())?;
                    }
                    Input::Signal(i) => index("signal", i as usize, program.signals.len())?,
                }
            }
        }
        section.results.iter().try_for_each(|v| index("value", v.0 as usize, section.insts.len()))
    }
}
