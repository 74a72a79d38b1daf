//! One step of a program as a graph.

use super::graph::{Graph, Id, Leaf, Moment, Node, Traced};
use crate::experiment::Method;
use crate::ir::{Bound, Input, Program, Section};
use kernels_gpu::scheme::{self, StepSizes};
use std::cell::RefCell;

/// A graph and its results.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    /// The values.
    pub(super) graph: Graph,
    /// Which of them are wanted, in an order that the maker fixes.
    pub(super) results: Vec<Id>,
}

/// What the history keeps: the channels of `emit`, then the states that sections of edges read.
pub(super) fn edge_states(program: &Program) -> Vec<u32> {
    let mut states: Vec<u32> = program
        .edges
        .iter()
        .flat_map(|section| &section.insts)
        .filter_map(|inst| match inst {
            crate::ir::Inst::Input(Input::SourceState(s)) => Some(*s),
            _ => None,
        })
        .collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// The channels of the initial state. Results: channels, then edge states.
pub(super) fn initial_emit(program: &Program) -> Code {
    let mut graph = Graph::default();
    let states: Vec<Id> =
        (0..program.states.len()).map(|s| graph.leaf(Leaf::State(s as u32))).collect();
    let time = graph.leaf(Leaf::Time(Moment::Start));
    let inputs = Inputs { states: &states, couplings: &[], time };
    let mut results = graph.inline(&program.emit, |g, i| inputs.read(g, i));
    results.extend(edge_states(program).iter().map(|&s| states[s as usize]));
    Code { graph, results }
}

/// The value of an edge, from the state of its source and of its target.
pub(super) fn edge(section: &Section) -> Code {
    let mut graph = Graph::default();
    let results = graph.inline(section, |g, input| match input {
        Input::State(s) => g.leaf(Leaf::State(s)),
        Input::SourceState(s) => g.leaf(Leaf::SourceState(s)),
        Input::Parameter(p) => g.leaf(Leaf::Parameter(p)),
        Input::Time => g.leaf(Leaf::Time(Moment::Start)),
        Input::Signal(s) => g.leaf(Leaf::Signal(s)),
        Input::Gathered(r) => g.leaf(Leaf::Gathered(r)),
        // Coupling inputs are computed from edges and cannot be read by them.
        Input::Coupling(_) => g.constant(f64::NAN),
    });
    Code { graph, results }
}

/// A whole step. Results: new states, channels at the new time, edge states, results of `observe`.
pub(super) fn step(program: &Program, method: Method, dt: f64) -> Code {
    let mut graph = Graph::default();
    let states: Vec<Id> =
        (0..program.states.len()).map(|s| graph.leaf(Leaf::State(s as u32))).collect();
    let start = graph.leaf(Leaf::Time(Moment::Start));
    let inputs = Inputs { states: &states, couplings: &[], time: start };
    // What `emit` computed at the end of the last step is still there: post and drift often want the
    // same functions of the state.
    let known = graph.inline(&program.emit, |g, i| inputs.read(g, i));
    for (channel, &id) in known.iter().enumerate() {
        let instead = graph.leaf(Leaf::Channel(channel as u32));
        graph.replace(id, instead);
    }
    let couplings = graph.inline(&program.post, |g, i| inputs.read(g, i));
    let sigma = graph.inline(&program.diffusion, |g, i| inputs.read(g, i));
    let inputs = Inputs { states: &states, couplings: &couplings, time: start };
    let observed = graph.inline(&program.observe, |g, i| inputs.read(g, i));

    let graph = RefCell::new(graph);
    let integrated = integrate(program, method, dt, &graph, &states, &couplings, &sigma);
    let bounded = bound(&program.bounds, &graph, integrated);
    let mut graph = graph.into_inner();

    let end = graph.leaf(Leaf::Time(Moment::End));
    let accepted = if program.events.results.is_empty() {
        bounded
    } else {
        let inputs = Inputs { states: &bounded, couplings: &couplings, time: end };
        graph.inline(&program.events, |g, i| inputs.read(g, i))
    };
    let inputs = Inputs { states: &accepted, couplings: &couplings, time: end };
    let channels = graph.inline(&program.emit, |g, i| inputs.read(g, i));
    let sources = edge_states(program).into_iter().map(|s| accepted[s as usize]);
    let mut results = accepted.clone();
    results.extend(channels);
    results.extend(sources);
    results.extend(observed);
    Code { graph, results }
}

struct Inputs<'a> {
    states: &'a [Id],
    couplings: &'a [Id],
    time: Id,
}

impl Inputs<'_> {
    fn read(&self, graph: &mut Graph, input: Input) -> Id {
        match input {
            Input::Time => self.time,
            Input::State(s) => self.states[s as usize],
            // `post` runs before there are coupling inputs; nothing sensible reads them there.
            Input::Coupling(c) => match self.couplings.get(c as usize) {
                Some(&id) => id,
                None => graph.constant(f64::NAN),
            },
            Input::Parameter(p) => graph.leaf(Leaf::Parameter(p)),
            Input::Gathered(r) => graph.leaf(Leaf::Gathered(r)),
            Input::SourceState(s) => graph.leaf(Leaf::SourceState(s)),
            Input::Signal(s) => graph.leaf(Leaf::Signal(s)),
        }
    }
}

/// The states after the scheme and the noise, before bounds.
fn integrate(
    program: &Program,
    method: Method,
    dt: f64,
    graph: &RefCell<Graph>,
    states: &[Id],
    couplings: &[Id],
    sigma: &[Id],
) -> Vec<Id> {
    let traced = |id| Traced { graph, id };
    let constant = |value: f64| traced(graph.borrow_mut().constant(value));
    let drift = |states: &[Traced<'_>], moment| -> Vec<Traced<'_>> {
        let states: Vec<Id> = states.iter().map(|x| x.id).collect();
        let mut graph = graph.borrow_mut();
        let time = graph.leaf(Leaf::Time(moment));
        let inputs = Inputs { states: &states, couplings, time };
        let results = graph.inline(&program.drift, |g, i| inputs.read(g, i));
        results.into_iter().map(traced).collect()
    };
    let dt = StepSizes {
        whole: constant(dt),
        half: constant(dt / 2.0),
        sixth: constant(dt / 6.0),
        root: constant(dt.sqrt()),
    };
    let x: Vec<_> = states.iter().map(|&id| traced(id)).collect();
    let mut noise = vec![None; x.len()];
    for (variable, (&state, &sigma)) in program.noisy.iter().zip(sigma).enumerate() {
        let z = traced(graph.borrow_mut().leaf(Leaf::Normal(variable as u32)));
        noise[state as usize] = Some(scheme::noise(traced(sigma), dt.root, z));
    }
    let disturb = |next: Vec<Traced<'_>>| -> Vec<Id> {
        use kernels_gpu::scheme::Arithmetic;
        next.into_iter().zip(&noise).map(|(y, xi)| xi.map_or(y, |xi| y.plus(xi)).id).collect()
    };
    let stage = |scale: Traced<'_>, k: &[Traced<'_>]| -> Vec<Id> {
        x.iter()
            .zip(k)
            .map(|(&x, &f)| scheme::advance(x, traced(scale.id), traced(f.id)).id)
            .collect()
    };
    let values = |ids: Vec<Id>| -> Vec<_> { ids.into_iter().map(traced).collect() };

    let k1 = drift(&x, Moment::Start);
    match method {
        Method::Map => disturb(k1),
        Method::Euler => disturb(values(stage(dt.whole, &k1))),
        Method::Heun => {
            let predicted = values(disturb(values(stage(dt.whole, &k1))));
            let k2 = drift(&predicted, Moment::End);
            let next = x.iter().zip(k1.iter().zip(&k2));
            disturb(next.map(|(&x, (&a, &b))| scheme::heun(x, dt.half, a, b)).collect())
        }
        Method::Rk4 => {
            let k2 = drift(&values(stage(dt.half, &k1)), Moment::Middle);
            let k3 = drift(&values(stage(dt.half, &k2)), Moment::Middle);
            let k4 = drift(&values(stage(dt.whole, &k3)), Moment::End);
            let two = constant(2.0);
            let next = (0..x.len())
                .map(|s| scheme::rk4(x[s], dt.sixth, two, [k1[s], k2[s], k3[s], k4[s]]));
            disturb(next.collect())
        }
    }
}

fn bound(bounds: &[Bound], graph: &RefCell<Graph>, states: Vec<Id>) -> Vec<Id> {
    let constant = |value: f64| {
        let id = graph.borrow_mut().add(Node::Const(value.to_bits()));
        Traced { graph, id }
    };
    let bounded = states.into_iter().zip(bounds).map(|(id, bound)| {
        let x = Traced { graph, id };
        match *bound {
            Bound::Free => id,
            Bound::Clamp { lo, hi } => scheme::clamp(x, constant(lo), constant(hi)).id,
            Bound::Wrap { lo, hi } => scheme::wrap(x, constant(lo), constant(hi - lo)).id,
        }
    });
    bounded.collect()
}
