//! From a graph of values to the order of work for a tile of points.
//!
//! A value is *uniform* if it is the same in all lanes, and *steady* if it is the same at all steps.
//! That gives four lists, each run as seldom as it may be:
//!
//! | | uniform | by lane |
//! |---|---|---|
//! | steady | once per tile, one number | once per tile, an array |
//! | changing | once per step, one number | every step: the hot loop |
//!
//! Values of the hot loop live in registers: short arrays of one chunk of lanes ([`kernels_cpu::CHUNK`]), reused as soon as a
//! value is not needed any more, so that they stay in the first-level cache.

use super::graph::{Graph, Id, Leaf, Node};
use super::step::Code;
pub(super) use kernels_cpu::interpret::{Op, Opcode, Source};

/// How a leaf is provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provided {
    /// One number; `true` if it is the same at all steps.
    Uniform {
        /// Whether it never changes during the run.
        steady: bool,
    },
    /// In this array over all lanes.
    Lanes {
        /// Which.
        array: u32,
        /// Whether it never changes during the run.
        steady: bool,
    },
}

/// The work of a tile. Array numbers refer to one table, see [`Schedule::arrays`].
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// The nodes of the graph; uniform values are kept by their number.
    pub(super) nodes: Vec<Node>,
    /// Uniform values to compute once.
    pub(super) uniform_steady: Vec<Id>,
    /// Uniform values to compute at every step.
    pub(super) uniform_changing: Vec<Id>,
    /// Uniform leaves, for the engine to set.
    pub(super) uniform_leaves: Vec<(Leaf, Id)>,
    /// Instructions to run once.
    pub(super) setup: Vec<Op>,
    /// Instructions to run at every step.
    pub(super) each_step: Vec<Op>,
    /// Arrays over all lanes that it needs beside those it was given, from this number on.
    pub(super) hoisted: std::ops::Range<u32>,
    /// Registers, from this number on.
    pub(super) registers: std::ops::Range<u32>,
}

impl Schedule {
    /// Plans `code`, whose result r goes to array `outputs[r]`. Arrays from `first_free` on are taken
    /// for its own use.
    pub(super) fn new(
        code: &Code,
        outputs: &[u32],
        first_free: u32,
        provided: impl Fn(Leaf) -> Provided,
    ) -> Self {
        let Code { graph, results } = code;
        let used = reachable(graph, results);
        let classes = classify(graph, &provided);
        let mut plan = Self { nodes: graph.nodes().to_vec(), ..Self::default() };

        for (index, node) in graph.nodes().iter().enumerate() {
            let id = Id(index as u32);
            if !used[index] || !classes[index].uniform {
                continue;
            }
            match node {
                Node::Leaf(leaf) => plan.uniform_leaves.push((*leaf, id)),
                _ if classes[index].steady => plan.uniform_steady.push(id),
                _ => plan.uniform_changing.push(id),
            }
        }

        // Steady lane values that changing ones read, or that are results.
        let mut places: Vec<Option<Source>> = vec![None; graph.nodes().len()];
        let mut kept = vec![false; graph.nodes().len()];
        for (index, node) in graph.nodes().iter().enumerate() {
            if let Node::Leaf(leaf) = node
                && let Provided::Lanes { array, .. } = provided(*leaf)
            {
                places[index] = Some(Source::Lanes(array));
            }
            if classes[index].uniform {
                places[index] = Some(Source::Scalar(index as u32));
            }
            if used[index] && !classes[index].steady {
                node.operands().for_each(|id| kept[id.0 as usize] = true);
            }
        }
        results.iter().for_each(|id| kept[id.0 as usize] = true);
        let mut next = first_free;
        let mut setup_results = Vec::new();
        for index in 0..places.len() {
            if used[index] && kept[index] && classes[index].steady && places[index].is_none() {
                setup_results.push((index, next));
                next += 1;
            }
        }
        plan.hoisted = first_free..next;

        let (steady, changing): (Vec<usize>, Vec<usize>) = (0..places.len())
            .filter(|&i| used[i] && places[i].is_none())
            .partition(|&i| classes[i].steady);
        let mut pool = Registers { first: next, next, free: Vec::new() };
        let nodes = graph.nodes();
        plan.setup = allocate(nodes, &steady, &mut places, &setup_results, &mut pool);
        let mut direct: Vec<(usize, u32)> = Vec::new();
        let mut copies: Vec<(usize, u32)> = Vec::new();
        for (id, &array) in results.iter().zip(outputs) {
            let index = id.0 as usize;
            if places[index].is_some() || direct.iter().any(|d| d.0 == index) {
                copies.push((index, array));
            } else {
                direct.push((index, array));
            }
        }
        plan.each_step = allocate(nodes, &changing, &mut places, &direct, &mut pool);
        for (index, target) in copies {
            if let Some(source) = places[index] {
                let code = Opcode::Copy(source);
                plan.each_step.push(Op { code, target, target_is_lanes: true });
            }
        }
        plan.registers = pool.first..pool.next;
        plan
    }

    /// The end of the table of arrays.
    pub(super) fn arrays(&self) -> u32 {
        self.registers.end
    }
}

#[derive(Clone, Copy)]
struct Class {
    uniform: bool,
    steady: bool,
}

fn classify(graph: &Graph, provided: &impl Fn(Leaf) -> Provided) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        let class = match node {
            Node::Leaf(leaf) => match provided(*leaf) {
                Provided::Uniform { steady } => Class { uniform: true, steady },
                Provided::Lanes { steady, .. } => Class { uniform: false, steady },
            },
            _ => node.operands().map(|id| classes[id.0 as usize]).fold(
                Class { uniform: true, steady: true },
                |a, b| Class { uniform: a.uniform && b.uniform, steady: a.steady && b.steady },
            ),
        };
        classes.push(class);
    }
    classes
}

fn reachable(graph: &Graph, results: &[Id]) -> Vec<bool> {
    let mut used = vec![false; graph.nodes().len()];
    results.iter().for_each(|id| used[id.0 as usize] = true);
    for (index, node) in graph.nodes().iter().enumerate().rev() {
        if used[index] {
            node.operands().for_each(|id| used[id.0 as usize] = true);
        }
    }
    used
}

struct Registers {
    first: u32,
    next: u32,
    free: Vec<u32>,
}

impl Registers {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// Instructions for the values of `order`; those of `outputs` go to their arrays.
fn allocate(
    nodes: &[Node],
    order: &[usize],
    places: &mut [Option<Source>],
    outputs: &[(usize, u32)],
    pool: &mut Registers,
) -> Vec<Op> {
    let mut last_use = vec![0; nodes.len()];
    for (position, &index) in order.iter().enumerate() {
        nodes[index].operands().for_each(|id| last_use[id.0 as usize] = position);
    }
    let mut ops = Vec::with_capacity(order.len());
    for (position, &index) in order.iter().enumerate() {
        let output = outputs.iter().find(|o| o.0 == index).map(|o| o.1);
        // Taken before the operands are released, because a target is never an operand.
        let target = output.unwrap_or_else(|| pool.take());
        let code = opcode(nodes[index], places);
        ops.push(Op { code, target, target_is_lanes: output.is_some() });
        places[index] = Some(match output {
            Some(array) => Source::Lanes(array),
            None => Source::Register(target),
        });
        let mut released = [u32::MAX; 3];
        for (slot, id) in nodes[index].operands().enumerate() {
            if let Some(Source::Register(r)) = places[id.0 as usize]
                && last_use[id.0 as usize] == position
                && !released.contains(&r)
            {
                released[slot] = r;
                pool.free.push(r);
            }
        }
    }
    ops
}

fn opcode(node: Node, places: &[Option<Source>]) -> Opcode {
    let at = |id: Id| places[id.0 as usize].unwrap_or(Source::Scalar(id.0));
    match node {
        Node::Unary(op, a) => Opcode::Unary(op, at(a)),
        Node::Binary(op, a, b) => Opcode::Binary(op, at(a), at(b)),
        Node::MulAdd(a, b, c) => Opcode::MulAdd(at(a), at(b), at(c)),
        Node::Compare(op, a, b) => Opcode::Compare(op, at(a), at(b)),
        Node::Logic(op, a, b) => Opcode::Logic(op, at(a), at(b)),
        Node::Not(a) => Opcode::Not(at(a)),
        Node::Select(a, b, c) => Opcode::Select(at(a), at(b), at(c)),
        Node::Call1(f, a) => Opcode::Call1(f, at(a)),
        Node::Call2(f, a, b) => Opcode::Call2(f, at(a), at(b)),
        // Constants are uniform and leaves have a place, so these are never scheduled.
        Node::Const(_) | Node::Bool(_) | Node::Leaf(_) => Opcode::Copy(Source::Scalar(0)),
    }
}
