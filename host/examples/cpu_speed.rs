//! Speed of the CPU engine on one core, by stage, for two typical workloads:
//! delayed phase oscillators with noise, and a two-population mean field without delays.
//!
//! `cargo run --release --example cpu_speed [-- f64] [part of a name]`
#![allow(clippy::print_stdout, reason = "it prints a table")]

use host::back::cpu::{Compiled, Isa, Real, Stages, Tile};
use host::back::{
    AfferentMatrix, Initial, Job, ParameterTable, ParameterValues, Record, Recorded, Speed,
    SweptParameter,
};
use host::connectome::delays::Span;
use host::experiment::{Method, Normals, Precision};
use host::ir::{
    BinaryOp, Bound, Function1, Gather, GatherSource, Input, Inst, Program, Section, Value,
};
use host::monitor::MonitorKind;
use host::sweep::{PointResult, RowBlock, Silent, Sink, SinkError, plan};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Runs are short and the best counts, so that other work on the machine disturbs little.
const ATTEMPTS: usize = 60;

struct Discard;

impl Sink for Discard {
    fn rows(&mut self, _: RowBlock<'_>) -> Result<(), SinkError> {
        Ok(())
    }
    fn point(&mut self, _: PointResult<'_>) -> Result<(), SinkError> {
        Ok(())
    }
}

#[derive(Default)]
struct Writer(Section);

impl Writer {
    fn push(&mut self, inst: Inst) -> Value {
        self.0.insts.push(inst);
        Value(self.0.insts.len() as u32 - 1)
    }
    fn input(&mut self, input: Input) -> Value {
        self.push(Inst::Input(input))
    }
    fn c(&mut self, value: f64) -> Value {
        self.push(Inst::Const(value))
    }
    fn op(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.push(Inst::Binary(op, a, b))
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.op(BinaryOp::Add, a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.op(BinaryOp::Sub, a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.op(BinaryOp::Mul, a, b)
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.op(BinaryOp::Div, a, b)
    }
    fn call(&mut self, f: Function1, a: Value) -> Value {
        self.push(Inst::Call1(f, a))
    }
    fn results(mut self, results: &[Value]) -> Section {
        self.0.results = results.to_vec();
        self.0
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| i.to_string()).collect()
}

fn oscillators() -> Program {
    let mut emit = Writer::default();
    let x = emit.input(Input::State(0));
    let (s, c) = (emit.call(Function1::Sin, x), emit.call(Function1::Cos, x));
    let mut post = Writer::default();
    let (gs, gc) = (post.input(Input::Gathered(0)), post.input(Input::Gathered(1)));
    let x = post.input(Input::State(0));
    let (sx, cx) = (post.call(Function1::Sin, x), post.call(Function1::Cos, x));
    let (a, b) = (post.mul(gs, cx), post.mul(gc, sx));
    let difference = post.sub(a, b);
    let k = post.input(Input::Parameter(1));
    let coupling = post.mul(k, difference);
    let mut drift = Writer::default();
    let (omega, input) = (drift.input(Input::Parameter(0)), drift.input(Input::Coupling(0)));
    let f = drift.add(omega, input);
    let mut diffusion = Writer::default();
    let sigma = diffusion.input(Input::Parameter(2));
    let gather = |c| Gather { source: GatherSource::Channel(c), matrix: 0, delayed: true };
    Program {
        states: names(1),
        parameters: names(3),
        couplings: names(1),
        emit: emit.results(&[s, c]),
        gathers: vec![gather(0), gather(1)],
        post: post.results(&[coupling]),
        drift: drift.results(&[f]),
        noisy: vec![0],
        diffusion: diffusion.results(&[sigma]),
        bounds: vec![Bound::Free],
        ..Program::default()
    }
}

/// Excitatory and inhibitory gating with two sigmoidal transfer functions.
fn mean_field() -> Program {
    let mut emit = Writer::default();
    let s = emit.input(Input::State(0));
    let mut post = Writer::default();
    let (g, k) = (post.input(Input::Gathered(0)), post.input(Input::Parameter(0)));
    let coupling = post.mul(g, k);
    let mut w = Writer::default();
    let (se, si) = (w.input(Input::State(0)), w.input(Input::State(1)));
    let (c, we) = (w.input(Input::Coupling(0)), w.input(Input::Parameter(1)));
    let one = w.c(1.0);
    let mut rates = Vec::new();
    for (a, b, d, excitatory) in [(310.0, 125.0, 0.16, true), (615.0, 177.0, 0.087, false)] {
        let j = w.c(0.15);
        let local = w.mul(we, se);
        let nmda = w.mul(j, local);
        let inhibited = w.sub(nmda, si);
        let base = w.c(0.382);
        let current = w.add(inhibited, base);
        let current = if excitatory { w.add(current, c) } else { current };
        let (a, b, d) = (w.c(a), w.c(b), w.c(d));
        let ax = w.mul(a, current);
        let u = w.sub(ax, b);
        let v = w.mul(d, u);
        let v = w.push(Inst::Unary(host::ir::UnaryOp::Neg, v));
        let e = w.call(Function1::Exp, v);
        let below = w.sub(one, e);
        rates.push(w.div(u, below));
    }
    let (tau, gamma) = (w.c(100.0), w.c(0.000_641));
    let decay = w.div(se, tau);
    let free = w.sub(one, se);
    let growth = w.mul(free, gamma);
    let growth = w.mul(growth, rates[0]);
    let fe = w.sub(growth, decay);
    let (tau, scale) = (w.c(10.0), w.c(0.001));
    let decay = w.div(si, tau);
    let growth = w.mul(scale, rates[1]);
    let fi = w.sub(growth, decay);
    let mut diffusion = Writer::default();
    let sigma = diffusion.input(Input::Parameter(2));
    let unit = Bound::Clamp { lo: 0.0, hi: 1.0 };
    Program {
        states: names(2),
        parameters: names(3),
        couplings: names(1),
        emit: emit.results(&[s]),
        gathers: vec![Gather { source: GatherSource::Channel(0), matrix: 0, delayed: false }],
        post: post.results(&[coupling]),
        drift: w.results(&[fe, fi]),
        noisy: vec![0, 1],
        diffusion: diffusion.results(&[sigma, sigma]),
        bounds: vec![unit, unit],
        ..Program::default()
    }
}

fn network(nodes: usize) -> AfferentMatrix {
    let mut state = 7_u64;
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let rows: Vec<Vec<_>> = (0..nodes)
        .map(|i| {
            (0..nodes)
                .filter(|&j| j != i)
                .map(|j| (j as u32, uniform() / nodes as f64, Span::LengthMm(150.0 * uniform())))
                .collect()
        })
        .collect();
    AfferentMatrix::from_rows(rows)
}

fn job<'a>(program: &'a Program, nodes: usize, points: usize, steps: u64) -> Job<'a> {
    let strengths = (0..points).map(|p| 0.1 + 0.01 * p as f64).collect();
    Job {
        program,
        method: Method::Euler,
        precision: Precision::F32,
        dt: 0.1,
        dt_ms: 0.1,
        steps,
        transient_steps: 0,
        nodes,
        matrices: vec![network(nodes)],
        parameters: ParameterTable {
            base: [0.06, 1.4, 0.01].map(ParameterValues::Uniform).to_vec(),
            swept: vec![SweptParameter { slot: 0, values: strengths }],
        },
        speed: Speed::Uniform(3.0),
        initial: Initial::Shared(vec![0.1; nodes * program.states.len()]),
        signals: Vec::new(),
        noise_replay: None,
        seed: 1,
        normals: Normals::Portable,
        points: (0..points as u64).collect(),
        record: Record {
            variables: vec![Recorded::State(0)],
            mean: true,
            monitors: vec![MonitorKind::TemporalAverage { period: 10 }],
        },
    }
}

fn measure<T: Real>(name: &str, job: &Job<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let plan = plan(job, 1)?;
    let compiled = Compiled::new(job);
    let points = &plan.tiles[0].points;
    let node_steps = (job.nodes * points.len()) as f64 * job.steps as f64;
    for isa in Isa::available().into_iter().filter(|isa| isa.to_string() != "baseline") {
        let mut best = f64::INFINITY;
        let mut stages = Stages::default();
        for attempt in 0..ATTEMPTS {
            let mut tile = Tile::<T>::new(job, &compiled, points, isa)?;
            if attempt % 2 == 1 {
                tile.measure();
            }
            let mut discard = Discard;
            let sink = Mutex::new(&mut discard as &mut dyn Sink);
            let from = Instant::now();
            tile.run(&sink, &Silent, &AtomicBool::new(false))?;
            let elapsed = from.elapsed().as_secs_f64();
            match tile.stages() {
                None => best = best.min(elapsed),
                Some(measured) if attempt == 1 => stages = measured,
                Some(measured) => stages = stages.least(measured),
            }
        }
        let ns = |time: std::time::Duration| time.as_secs_f64() * 1e9 / node_steps;
        println!(
            "{name} {isa:>8}: {:.3e} node-steps/s, {} points a tile, {} KiB; ns a node-step: \
             far {:.2}, middle {:.2}, near {:.2}, noise {:.2}, step {:.2}, check {:.2}, record {:.2}, history {:.2}",
            node_steps / best,
            points.len(),
            plan.tiles[0].bytes / 1024,
            ns(stages.far),
            ns(stages.middle),
            ns(stages.near),
            ns(stages.noise),
            ns(stages.step),
            ns(stages.check),
            ns(stages.record),
            ns(stages.history),
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let only = std::env::args().skip(1).find(|a| a != "f64").unwrap_or_default();
    let double = std::env::args().any(|a| a == "f64");
    let (oscillators, mean_field) = (oscillators(), mean_field());
    let single = job(&oscillators, 84, 1, 3_200);
    let delayed = job(&oscillators, 84, 64, 960);
    let mut quiet = mean_field.clone();
    quiet.noisy.clear();
    quiet.diffusion = Section::default();
    let direct = job(&mean_field, 100, 64, 96);
    let quiet = job(&quiet, 100, 64, 96);
    let alone = job(&mean_field, 100, 1, 3_200);
    for (name, job) in [
        ("delayed oscillators         ", &delayed),
        ("delayed oscillators, 1 point", &single),
        ("mean field                  ", &direct),
        ("mean field without noise    ", &quiet),
        ("mean field, 1 point         ", &alone),
    ] {
        if !name.contains(&only) {
            continue;
        }
        if double {
            measure::<f64>(name, &Job { precision: Precision::F64, ..job.clone() })?;
        } else {
            measure::<f32>(name, job)?;
        }
    }
    Ok(())
}
