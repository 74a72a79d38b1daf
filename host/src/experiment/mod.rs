//! An experiment with everything resolved but its equations: names are indices, files are matrices,
//! units are ms and mm, defaults are filled in. Equations are still text; `lower` compiles them.
//!
//! Orders (state variables, parameters, coupling inputs, axes) are those of the file.

mod compat;
mod load;
mod observation;
mod observe_spec;
mod overrides;
mod resolve;
mod sweep_axes;

pub use compat::Compat;
pub use load::{LoadError, Loaded, load, load_str, load_str_with, load_with};
pub use observation::{
    BALLOON_WINDKESSEL_SETS, BalloonWindkessel, Better, Empirical, FirstOrderVolterra, Observation,
    ObservationKind, PhaseSource, Projection, Score, SynchronyMeasure, Target, Windows,
    balloon_windkessel,
};
pub use observe_spec::{ObserveSpec, ObserveSpecError};
pub use overrides::{AxisSpec, AxisSpecError, Overrides};
pub use sweep_axes::{Axis, AxisTarget, Sweep, SweepMode};

use crate::connectome::Connectome;
use crate::diagnostic::Location;
use nalgebra::DMatrix;

/// An equation's text and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// The text of the right-hand side.
    pub text: String,
    /// The scalar in the file; starts at the text's first byte.
    pub location: Location,
    /// Whether byte k of `text` is byte k of `location` (a plain or quoted one-line scalar).
    pub exact: bool,
}

impl Equation {
    /// The place of a part of the text in the file, or of the whole scalar where that is unknown.
    pub fn locate(&self, span: std::ops::Range<usize>) -> Location {
        if self.exact { self.location.slice(span) } else { self.location.clone() }
    }
}

/// Which names a parameter may be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The model's equations; a coupling sees it too unless it has one of the same name.
    Dynamics,
    /// The expressions of coupling input `.0`.
    Coupling(usize),
    /// The expressions of every connected coupling input: one coupling function feeds several.
    Couplings,
    /// The noise of state variable `.0`.
    Noise(usize),
    /// The equation of stimulus `.0`.
    Stimulus(usize),
    /// The whole network: `global_coupling`.
    Network,
}

/// The value of a parameter before a sweep changes it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// The same at every node.
    Uniform(f64),
    /// One a node.
    PerNode(Vec<f64>),
    /// An array over modes (row-major), the same at every node.
    Array {
        /// Extent of each dimension.
        shape: Vec<usize>,
        /// The elements.
        values: Vec<f64>,
    },
}

/// A parameter. It takes one slot of the program's parameters (`Input::Parameter`), an array one
/// per element, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name in its scope.
    pub name: String,
    /// Where it can be read.
    pub scope: Scope,
    /// Its value.
    pub value: ParameterValue,
    /// Its unit as written, for people.
    pub unit: Option<String>,
    /// One line about it.
    pub description: Option<String>,
    /// Where it was defined.
    pub location: Location,
}

/// One case of a conditional derived variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// When it applies.
    pub condition: Equation,
    /// Its value.
    pub value: Equation,
}

/// A derived parameter or variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The name.
    pub name: String,
    /// The value, or the fall-back after `cases`.
    pub equation: Option<Equation>,
    /// Conditional values, first match wins.
    pub cases: Vec<Case>,
    /// Its unit as written.
    pub unit: Option<String>,
    /// Where the name stands.
    pub location: Location,
}

/// A function that equations may call.
#[derive(Clone, Debug, PartialEq)]
pub struct UserFunction {
    /// The name.
    pub name: String,
    /// Argument names in order.
    pub arguments: Vec<String>,
    /// Its value.
    pub equation: Equation,
}

/// How a state variable starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// The same at every node.
    Uniform(f64),
    /// One a node.
    PerNode(Vec<f64>),
    /// An expression of parameters.
    Equation(Equation),
    /// Drawn per node, the same for every point.
    Distribution {
        /// `Uniform` or `Gaussian`.
        kind: Distribution,
        /// Seed of the draw; the experiment's where none is given.
        seed: Option<u64>,
    },
}

/// A distribution of initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Between two bounds.
    Uniform {
        /// Lower bound.
        lo: f64,
        /// Upper bound.
        hi: f64,
    },
    /// Normal.
    Gaussian {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
}

/// Additive noise of one state variable, `sigma·sqrt(dt)·z` a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Index in `Experiment::parameters` of its amplitude.
    pub amplitude: usize,
    /// Whether the amplitude is `nsig` = sigma²/2 and not sigma.
    pub is_nsig: bool,
}

/// What happens to a state outside its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforce {
    /// Nothing: the domain is documentation.
    None,
    /// It is set to the bound.
    Clamp,
    /// It is wrapped around.
    Wrap,
}

/// A state variable.
#[derive(Clone, Debug, PartialEq)]
pub struct StateVariable {
    /// The name.
    pub name: String,
    /// Right-hand side: derivative, or next value of a map.
    pub equation: Equation,
    /// How it starts.
    pub initial: Initial,
    /// Bounds of its domain; ±inf where open.
    pub domain: Option<(f64, f64)>,
    /// What happens outside the domain.
    pub enforce: Enforce,
    /// Whether couplings read it when they don't say what they read.
    pub coupling_variable: bool,
    /// Its noise.
    pub noise: Option<Noise>,
    /// Its unit as written.
    pub unit: Option<String>,
    /// Where the name stands.
    pub location: Location,
}

/// A condition and the assignments it triggers, after each accepted step.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The name.
    pub name: String,
    /// When: true after a step, or with `rising` becoming positive.
    pub condition: Equation,
    /// `v = c; u = u + d`: assignments in order, each seeing those before it.
    pub affect: Equation,
    /// Whether it acts when `condition` becomes positive, and not whenever it is true.
    pub rising: bool,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamics {
    /// The name that sweep axes use.
    pub name: String,
    /// Functions of parameters only.
    pub derived_parameters: Vec<Derived>,
    /// Functions of anything.
    pub derived_variables: Vec<Derived>,
    /// Functions that equations may call.
    pub functions: Vec<UserFunction>,
    /// State variables.
    pub state_variables: Vec<StateVariable>,
    /// Events.
    pub events: Vec<Event>,
    /// Whether it is a map, `x ← f(x)`.
    pub discrete: bool,
    /// Modes of each state variable; more than 1 makes equations array-valued over modes.
    pub modes: usize,
    /// Names of what is recorded, states and derived variables, in output order.
    pub output: Vec<String>,
}

/// One coupling input: `post(Σ_j W_ij · pre(x_j(t − D_ij), x_i(t)), x_i(t))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The symbol in the model's equations.
    pub name: String,
    /// Whether conduction delays apply.
    pub delayed: bool,
    /// Indices of the state variables that `pre` reads at the source, in order.
    pub incoming_states: Vec<usize>,
    /// Indices of the state variables that `pre` and `post` read at the target, in order.
    pub local_states: Vec<usize>,
    /// Per edge; without it the first incoming state.
    pub pre: Option<Equation>,
    /// Per node, of `gx`; without it `gx`.
    pub post: Option<Equation>,
    /// Index in `Network::matrices`.
    pub matrix: usize,
    /// False for an input that no network feeds (`local: true` without a surface): always 0.
    pub connected: bool,
    /// Number of modes of the input symbol, 1 for a scalar.
    pub dimension: usize,
}

/// A stimulus onto a state variable's derivative.
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    /// The name.
    pub name: String,
    /// Its time course as an equation of `t`.
    pub equation: Equation,
    /// The state variable whose derivative it is added to, or a symbol that equations read.
    pub target: StimulusTarget,
    /// Index in `Experiment::parameters` of its weight per node.
    pub weight: usize,
}

/// Where a stimulus acts.
#[derive(Clone, Debug, PartialEq)]
pub enum StimulusTarget {
    /// Added to the derivative of this state variable.
    Derivative(usize),
    /// Read by equations under this name.
    Symbol(String),
}

/// The network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Labels, weights (after transforms) and tract lengths.
    pub connectome: Connectome,
    /// Weight matrices `[target, source]`; the first is the connectome's, more where edges name
    /// different couplings.
    pub matrices: Vec<DMatrix<f64>>,
    /// mm/ms = m/s.
    pub conduction_speed_mm_per_ms: f64,
}

/// Integration scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Euler, Euler–Maruyama with noise.
    Euler,
    /// Heun's predictor–corrector.
    Heun,
    /// The classical Runge–Kutta scheme of order 4.
    Rk4,
    /// `x ← f(x)`.
    Map,
}

/// How time advances.
#[derive(Clone, Debug, PartialEq)]
pub struct Integration {
    /// Scheme.
    pub method: Method,
    /// Step in the model's own time unit.
    pub dt: f64,
    /// Milliseconds in one of the model's time unit: 1 for ms, 1000 for s.
    pub ms_per_unit: f64,
    /// Recorded time in the model's own unit, after the transient.
    pub duration: f64,
    /// Time that is simulated first and not recorded.
    pub transient: f64,
}

impl Integration {
    /// Recorded steps.
    pub fn steps(&self) -> u64 {
        (self.duration / self.dt).round() as u64
    }

    /// Steps before recording starts.
    pub fn transient_steps(&self) -> u64 {
        (self.transient / self.dt).round() as u64
    }

    /// The step in ms, for delays.
    pub fn dt_ms(&self) -> f64 {
        self.dt * self.ms_per_unit
    }
}

/// Word length of the whole simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// Which standard normals the noise is made of; their words are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normals {
    /// Box–Muller with this program's own functions: the same bits on every device.
    #[default]
    Portable,
    /// Those of cuRAND's `curand_normal`, to the bit; only an NVIDIA GPU can draw them.
    Curand,
}

impl Normals {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Curand => "curand",
        }
    }
}

/// A resolved experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub label: String,
    /// A line about it.
    pub description: Option<String>,
    /// The file it came from and its text, for provenance.
    pub source: (String, String),
    /// What was changed in it from outside, for provenance.
    pub changes: Overrides,
    /// The model.
    pub dynamics: Dynamics,
    /// Every parameter of every scope.
    pub parameters: Vec<Parameter>,
    /// Coupling inputs, in the order of the model's.
    pub couplings: Vec<Coupling>,
    /// Stimuli.
    pub stimuli: Vec<Stimulus>,
    /// The network.
    pub network: Network,
    /// Time.
    pub integration: Integration,
    /// What is observed beside the temporal average.
    pub observations: Vec<Observation>,
    /// What scores compare with.
    pub empirical: Empirical,
    /// The sweep; no axes is one point.
    pub sweep: Sweep,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Word length.
    pub precision: Precision,
    /// Which normals the noise is made of.
    pub normals: Normals,
    /// Another program's rules, if they are in force.
    pub compat: Option<Compat>,
    /// Names of parts that were skipped, with the reason.
    pub skipped: Vec<(String, String)>,
}
