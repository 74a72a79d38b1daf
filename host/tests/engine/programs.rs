//! Programs written by hand, and jobs around them.

use host::back::{
    AfferentMatrix, Initial, Job, ParameterTable, ParameterValues, Record, Recorded, Speed,
};
use host::connectome::delays::Span;
use host::experiment::{Method, Normals, Precision};
use host::ir::*;

/// Writes a section.
#[derive(Default)]
pub struct Writer(pub Section);

impl Writer {
    pub fn push(&mut self, inst: Inst) -> Value {
        self.0.insts.push(inst);
        Value(self.0.insts.len() as u32 - 1)
    }
    pub fn input(&mut self, input: Input) -> Value {
        self.push(Inst::Input(input))
    }
    pub fn state(&mut self, s: u32) -> Value {
        self.input(Input::State(s))
    }
    pub fn parameter(&mut self, p: u32) -> Value {
        self.input(Input::Parameter(p))
    }
    pub fn constant(&mut self, value: f64) -> Value {
        self.push(Inst::Const(value))
    }
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.push(Inst::Binary(BinaryOp::Add, a, b))
    }
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.push(Inst::Binary(BinaryOp::Sub, a, b))
    }
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.push(Inst::Binary(BinaryOp::Mul, a, b))
    }
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.push(Inst::Binary(BinaryOp::Div, a, b))
    }
    pub fn call(&mut self, f: Function1, a: Value) -> Value {
        self.push(Inst::Call1(f, a))
    }
    pub fn results(mut self, results: &[Value]) -> Section {
        self.0.results = results.to_vec();
        self.0
    }
}

fn names(count: usize, prefix: &str) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

/// Uncoupled states with a drift.
pub fn uncoupled(drift: Section, parameters: usize) -> Program {
    let states = drift.results.len();
    Program {
        states: names(states, "x"),
        parameters: names(parameters, "p"),
        drift,
        bounds: vec![Bound::Free; states],
        ..Program::default()
    }
}

/// `dx/dt = −p0·x`
pub fn decay() -> Program {
    let mut w = Writer::default();
    let (x, rate) = (w.state(0), w.parameter(0));
    let product = w.mul(x, rate);
    let f = w.push(Inst::Unary(UnaryOp::Neg, product));
    uncoupled(w.results(&[f]), 1)
}

/// Kuramoto phases: parameters omega, global coupling k, sigma; R = 2 gathers; observed sin x.
pub fn kuramoto(delayed: bool, noise: bool) -> Program {
    let mut emit = Writer::default();
    let x = emit.state(0);
    let (sine, cosine) = (emit.call(Function1::Sin, x), emit.call(Function1::Cos, x));
    let mut post = Writer::default();
    let (s, c) = (post.input(Input::Gathered(0)), post.input(Input::Gathered(1)));
    let x = post.state(0);
    let (sine_x, cosine_x) = (post.call(Function1::Sin, x), post.call(Function1::Cos, x));
    let (a, b) = (post.mul(s, cosine_x), post.mul(c, sine_x));
    let difference = post.sub(a, b);
    let k = post.parameter(1);
    let coupling = post.mul(k, difference);
    let mut drift = Writer::default();
    let (omega, c) = (drift.parameter(0), drift.input(Input::Coupling(0)));
    let f = drift.add(omega, c);
    let mut diffusion = Writer::default();
    let sigma = diffusion.parameter(2);
    let mut observe = Writer::default();
    let x = observe.state(0);
    let observed = observe.call(Function1::Sin, x);
    let gather = |c| Gather { source: GatherSource::Channel(c), matrix: 0, delayed };
    Program {
        states: names(1, "theta"),
        parameters: names(3, "p"),
        couplings: names(1, "c"),
        emit: emit.results(&[sine, cosine]),
        gathers: vec![gather(0), gather(1)],
        post: post.results(&[coupling]),
        drift: drift.results(&[f]),
        noisy: if noise { vec![0] } else { Vec::new() },
        diffusion: if noise { diffusion.results(&[sigma]) } else { Section::default() },
        bounds: vec![Bound::Free],
        observed: names(1, "s"),
        observe: observe.results(&[observed]),
        ..Program::default()
    }
}

/// `x ← tanh(gain·Σ + x/2 …)`-like two-state model that uses everything: edges that do not separate,
/// row sums, two matrices, both delayed and not, clamp, wrap, events, conditions, time.
pub fn everything() -> Program {
    let mut emit = Writer::default();
    let x = emit.state(0);
    let y = emit.state(1);
    let square = emit.mul(x, y);
    let channel = emit.call(Function1::Tanh, square);

    let mut edge = Writer::default();
    let (source, target) = (edge.input(Input::SourceState(1)), edge.state(0));
    let difference = edge.sub(source, target);
    let gain = edge.parameter(0);
    let scaled = edge.mul(gain, difference);
    let value = edge.call(Function1::Exp, scaled);

    let mut post = Writer::default();
    let sums: Vec<Value> = (0..5).map(|r| post.input(Input::Gathered(r))).collect();
    let x = post.state(0);
    let row = post.mul(sums[3], x);
    let first = post.sub(sums[0], row);
    let second = post.push(Inst::MulAdd(sums[1], sums[2], sums[4]));

    let mut drift = Writer::default();
    let (x, y, t) = (drift.state(0), drift.state(1), drift.input(Input::Time));
    let (c0, c1) = (drift.input(Input::Coupling(0)), drift.input(Input::Coupling(1)));
    let (p0, p1) = (drift.parameter(0), drift.parameter(1));
    let wave = drift.call(Function1::Sin, t);
    let zero = drift.constant(0.0);
    let above = drift.push(Inst::Compare(CompareOp::Gt, x, zero));
    let late = drift.push(Inst::Compare(CompareOp::Ge, t, p1));
    let both = drift.push(Inst::Logic(LogicOp::Or, above, late));
    let chosen = drift.push(Inst::Select(both, wave, p0));
    let pulled = drift.sub(chosen, x);
    let scaled = drift.mul(p1, c0);
    let fx = drift.add(pulled, scaled);
    let bent = drift.call(Function1::Tanh, c1);
    let sum = drift.add(bent, x);
    let fy = drift.sub(sum, y);

    let mut diffusion = Writer::default();
    let (p0, p1) = (diffusion.parameter(0), diffusion.parameter(1));
    let both = diffusion.mul(p0, p1);

    let mut events = Writer::default();
    let (x, y) = (events.state(0), events.state(1));
    let limit = events.constant(0.4);
    let fired = events.push(Inst::Compare(CompareOp::Gt, y, limit));
    let (low, c1) = (events.constant(-0.25), events.input(Input::Coupling(1)));
    let reset = events.push(Inst::Select(fired, low, y));
    let moved = events.push(Inst::Binary(BinaryOp::Min, c1, x));
    let kept = events.push(Inst::Select(fired, moved, x));

    let mut observe = Writer::default();
    let (x, y, t) = (observe.state(0), observe.state(1), observe.input(Input::Time));
    let xy = observe.push(Inst::MulAdd(x, y, t));

    let gather = |source, matrix, delayed| Gather { source, matrix, delayed };
    Program {
        states: names(2, "x"),
        parameters: names(2, "p"),
        couplings: names(2, "c"),
        signals: Vec::new(),
        emit: emit.results(&[channel, x, y]),
        edges: vec![edge.results(&[value])],
        gathers: vec![
            gather(GatherSource::Channel(1), 0, true),
            gather(GatherSource::Channel(0), 1, false),
            gather(GatherSource::Channel(2), 0, true),
            gather(GatherSource::Ones, 0, true),
            gather(GatherSource::Edge(0), 1, true),
        ],
        post: post.results(&[first, second]),
        drift: drift.results(&[fx, fy]),
        noisy: vec![0, 1],
        diffusion: diffusion.results(&[both, p0]),
        bounds: vec![Bound::Clamp { lo: -0.5, hi: 0.75 }, Bound::Wrap { lo: -1.0, hi: 1.0 }],
        events: events.results(&[kept, reset]),
        observed: names(1, "o"),
        observe: observe.results(&[xy]),
    }
}

/// A network from `(source, weight, length in mm)` by target.
pub fn network(rows: &[Vec<(u32, f64, f64)>]) -> AfferentMatrix {
    AfferentMatrix::from_rows(
        rows.iter().map(|r| r.iter().map(|&(j, w, l)| (j, w, Span::LengthMm(l)))),
    )
}

/// A job of one point at speed 1 mm/ms and dt = 1, states at 0.1, every state recorded at every step.
pub fn job<'a>(program: &'a Program, matrices: Vec<AfferentMatrix>, nodes: usize) -> Job<'a> {
    Job {
        program,
        method: Method::Euler,
        precision: Precision::F64,
        dt: 1.0,
        dt_ms: 1.0,
        steps: 100,
        transient_steps: 0,
        nodes,
        matrices,
        parameters: ParameterTable {
            base: vec![ParameterValues::Uniform(0.5); program.parameters.len()],
            swept: Vec::new(),
        },
        speed: Speed::Uniform(1.0),
        initial: Initial::Shared(vec![0.1; program.states.len() * nodes]),
        signals: Vec::new(),
        noise_replay: None,
        seed: 42,
        normals: Normals::Portable,
        points: vec![0],
        record: Record {
            variables: (0..program.states.len()).map(Recorded::State).collect(),
            mean: true,
            monitors: vec![host::monitor::MonitorKind::Raw],
        },
    }
}
