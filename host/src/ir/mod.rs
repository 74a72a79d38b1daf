//! The typed SSA program that every engine runs, and what it means.
//!
//! A [`Program`] holds straight-line [`Section`]s for one node of one sweep point. There are no
//! branches and no loops: a condition is a value, and [`Inst::Select`] picks between two values that
//! are both computed. Values have one of two types, real or boolean. Instructions refer only to
//! earlier ones of the same section.
//!
//! # When a section runs
//! For step k (t = k·dt at its start), in this order:
//! 1. **emit**: at every node j, from the state at t, the values `h_c = a_c(x_j)` of the channels;
//!    they enter the history at time k. Before the run the history holds the channels of the
//!    initial state.
//! 2. **edge**: for gathers of [`GatherSource::Edge`] only: per edge (i, j), from `x_j(t − D_ij)`
//!    ([`Input::SourceState`]) and `x_i(t)` ([`Input::State`]).
//! 3. **gather** `g_r,i = Σ_j W_ij · h_c,j(t − D_ij)`: no program text, see [`Gather`].
//! 4. **post**: the coupling inputs `c_i` from the gathered sums and the state at t. They stay frozen
//!    over the stages of the step.
//! 5. **observe**: recorded values that are not states, from the state at t, the coupling inputs of
//!    this step and t: what the step's first stage sees. They stand in the row of the state that the
//!    step makes, as in TVBO's own backends.
//! 6. **drift**: once per stage, from the stage's state and time; the result is dx/dt, or the next
//!    state for a map.
//! 7. Noise, then bounds ([`Bound`]) make the accepted state.
//! 8. **events**: from the accepted state, with `Input::Time` = (k+1)·dt, the state after events.
//!
//! **diffusion** depends on parameters alone and gives the noise amplitude `sigma` of each noisy
//! state variable; it runs once per point and node.
//!
//! # Arithmetic
//! Every instruction is IEEE 754 in the precision of the run, rounded once; nothing is contracted
//! except [`Inst::MulAdd`]. Constants are rounded from 64 bits to the precision of the run. NaN
//! compares false to everything, except that `NotEqual` is true. Functions are those of
//! `kernels_gpu::math`.

mod builder;
mod display;
mod fold;
pub mod inst;
pub mod interp;
mod verify;

pub use builder::Builder;
pub use inst::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Type, UnaryOp, Value,
};
pub use verify::{Verified, VerifyError, verify};

/// Straight-line code: instructions in order, and which of their values are the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The instructions; instruction `i` defines `Value(i)`.
    pub insts: Vec<Inst>,
    /// The results, in the order that the section's kind fixes.
    pub results: Vec<Value>,
}

/// What a gather sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GatherSource {
    /// The history of a channel of `emit`.
    Channel(u32),
    /// One per edge: the sum of the weights.
    Ones,
    /// The value of a section in [`Program::edges`], which does not separate.
    Edge(u32),
}

/// One weighted sum over the afferents of a node.
///
/// One accumulator, starting at zero, fused multiply-add `acc = fma(W_ij, h, acc)` in the precision
/// of the run, in three passes: the edges with `D_ij ≥ 32`, those with `8 ≤ D_ij < 32`, and those with
/// `D_ij < 8`, each in ascending j; a sum of zero is +0 ([`kernels_gpu::summation`]). Edges of weight 0
/// do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// What is summed.
    pub source: GatherSource,
    /// Index of the weight matrix in `Network::matrices`.
    pub matrix: u32,
    /// Whether `D_ij` is the conduction delay, or 0.
    pub delayed: bool,
}

/// How an accepted state is kept in bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Left alone.
    Free,
    /// `min(max(x, lo), hi)`.
    Clamp {
        /// Lower bound, may be −inf.
        lo: f64,
        /// Upper bound, may be +inf.
        hi: f64,
    },
    /// `lo + mod(x − lo, hi − lo)`.
    Wrap {
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
    },
}

/// The whole model, lowered. Counts fix the sizes of the inputs of all sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// State variables, in file order; names are for people.
    pub states: Vec<String>,
    /// Parameters, in the order of `ParameterTable`.
    pub parameters: Vec<String>,
    /// Coupling inputs, results of `post`.
    pub couplings: Vec<String>,
    /// Stimulus signals sampled by the engine, values of [`Input::Signal`].
    pub signals: Vec<String>,
    /// Channel values. Inputs: State, Parameter, Time.
    pub emit: Section,
    /// One section for each coupling that does not separate, one result each.
    /// Inputs: SourceState, State, Parameter, Time.
    pub edges: Vec<Section>,
    /// The sums that `post` reads as `Input::Gathered`.
    pub gathers: Vec<Gather>,
    /// Coupling inputs. Inputs: Gathered, State, Parameter, Time.
    pub post: Section,
    /// Derivatives, one a state. Inputs: State, Coupling, Parameter, Time, Signal.
    pub drift: Section,
    /// Which states have noise, ascending.
    pub noisy: Vec<u32>,
    /// `sigma` of each noisy state. Inputs: Parameter.
    pub diffusion: Section,
    /// How each state is bounded.
    pub bounds: Vec<Bound>,
    /// New states, one a state, or no results where the model has no events.
    /// Inputs: State, Coupling, Parameter, Time, Signal.
    pub events: Section,
    /// Names of the results of `observe`.
    pub observed: Vec<String>,
    /// Recorded derived variables. Inputs: State, Coupling, Parameter, Time, Signal.
    pub observe: Section,
}

impl Program {
    /// Every section with its name, in the order in which they run; edges are `edge 0` and so on.
    pub fn sections(&self) -> impl Iterator<Item = (String, &Section)> {
        let named = |name: &str, section| (name.to_owned(), section);
        let edges = self.edges.iter().enumerate().map(|(i, s)| (format!("edge {i}"), s));
        std::iter::once(named("emit", &self.emit)).chain(edges).chain([
            named("post", &self.post),
            named("drift", &self.drift),
            named("diffusion", &self.diffusion),
            named("events", &self.events),
            named("observe", &self.observe),
        ])
    }
}
