//! A program's sections as one graph of values, each computed once.
//!
//! Sections are inlined into the graph and the integrator is traced into it, so a whole step (post,
//! drift at every stage, noise, bounds, events, observe, emit for the next step) is one piece of
//! straight-line code. Equal values are merged; that changes no bits.

use crate::ir::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, UnaryOp,
};
use kernels_gpu::scheme::Arithmetic;
use std::cell::RefCell;
use std::collections::HashMap;

/// A value of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub u32);

/// Which moment of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Moment {
    /// t = k·dt
    Start,
    /// t + dt/2
    Middle,
    /// t + dt
    End,
}

/// What a graph reads from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Leaf {
    /// Time at a moment of the step.
    Time(Moment),
    /// State at the start of the step.
    State(u32),
    /// Parameter slot.
    Parameter(u32),
    /// Gathered sum.
    Gathered(u32),
    /// State of the source of an edge.
    SourceState(u32),
    /// Sampled stimulus.
    Signal(u32),
    /// Standard normal of a noisy variable.
    Normal(u32),
    /// What `emit` gave for the state at the start of the step.
    Channel(u32),
}

/// How a value is computed. Constants are kept by their bits so that nodes can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A real constant.
    Const(u64),
    /// A boolean constant.
    Bool(bool),
    /// Read from outside.
    Leaf(Leaf),
    /// One real to one real.
    Unary(UnaryOp, Id),
    /// Two reals to one real.
    Binary(BinaryOp, Id, Id),
    /// a·b + c.
    MulAdd(Id, Id, Id),
    /// Two reals to a boolean.
    Compare(CompareOp, Id, Id),
    /// Two booleans to one.
    Logic(LogicOp, Id, Id),
    /// The opposite of a boolean.
    Not(Id),
    /// Choice by a boolean.
    Select(Id, Id, Id),
    /// A function of one real.
    Call1(Function1, Id),
    /// A function of two reals.
    Call2(Function2, Id, Id),
}

impl Node {
    /// The values that it is computed from.
    pub(super) fn operands(self) -> impl Iterator<Item = Id> {
        let (a, b, c) = match self {
            Self::Const(_) | Self::Bool(_) | Self::Leaf(_) => (None, None, None),
            Self::Unary(_, a) | Self::Not(a) | Self::Call1(_, a) => (Some(a), None, None),
            Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::Logic(_, a, b)
            | Self::Call2(_, a, b) => (Some(a), Some(b), None),
            Self::MulAdd(a, b, c) | Self::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }
}

/// Straight-line code without repetitions; operands come before their users.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Id>,
}

impl Graph {
    /// All values in order.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value of `node`, new or known.
    pub(super) fn add(&mut self, node: Node) -> Id {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, id);
        id
    }

    /// Lets every later mention of what computes `id` read `instead`.
    pub(super) fn replace(&mut self, id: Id, instead: Id) {
        let node = self.nodes[id.0 as usize];
        if !matches!(node, Node::Const(_) | Node::Bool(_) | Node::Leaf(_)) {
            self.known.insert(node, instead);
        }
    }

    /// A constant.
    pub(super) fn constant(&mut self, value: f64) -> Id {
        self.add(Node::Const(value.to_bits()))
    }

    /// A value from outside.
    pub(super) fn leaf(&mut self, leaf: Leaf) -> Id {
        self.add(Node::Leaf(leaf))
    }

    /// Inlines a section, whose inputs `read` provides; returns its results.
    pub(super) fn inline(
        &mut self,
        section: &Section,
        mut read: impl FnMut(&mut Self, Input) -> Id,
    ) -> Vec<Id> {
        let mut ids: Vec<Id> = Vec::with_capacity(section.insts.len());
        for inst in &section.insts {
            let at = |v: crate::ir::Value| ids[v.0 as usize];
            let id = match *inst {
                Inst::Const(value) => self.constant(value),
                Inst::Bool(value) => self.add(Node::Bool(value)),
                Inst::Input(input) => read(self, input),
                Inst::Unary(op, a) => self.add(Node::Unary(op, at(a))),
                Inst::Binary(op, a, b) => self.add(Node::Binary(op, at(a), at(b))),
                Inst::MulAdd(a, b, c) => self.add(Node::MulAdd(at(a), at(b), at(c))),
                Inst::Compare(op, a, b) => self.add(Node::Compare(op, at(a), at(b))),
                Inst::Logic(op, a, b) => self.add(Node::Logic(op, at(a), at(b))),
                Inst::Not(a) => self.add(Node::Not(at(a))),
                Inst::Select(a, b, c) => self.add(Node::Select(at(a), at(b), at(c))),
                Inst::Call1(f, a) => self.add(Node::Call1(f, at(a))),
                Inst::Call2(f, a, b) => self.add(Node::Call2(f, at(a), at(b))),
            };
            ids.push(id);
        }
        section.results.iter().map(|v| ids[v.0 as usize]).collect()
    }
}

/// A value being traced: arithmetic on it adds to the graph.
#[derive(Clone, Copy)]
pub(super) struct Traced<'g> {
    /// The graph.
    pub(super) graph: &'g RefCell<Graph>,
    /// The value.
    pub(super) id: Id,
}

impl Traced<'_> {
    fn binary(self, op: BinaryOp, other: Self) -> Self {
        self.of(Node::Binary(op, self.id, other.id))
    }

    fn of(self, node: Node) -> Self {
        Self { graph: self.graph, id: self.graph.borrow_mut().add(node) }
    }
}

impl Arithmetic for Traced<'_> {
    fn plus(self, other: Self) -> Self {
        self.binary(BinaryOp::Add, other)
    }
    fn minus(self, other: Self) -> Self {
        self.binary(BinaryOp::Sub, other)
    }
    fn times(self, other: Self) -> Self {
        self.binary(BinaryOp::Mul, other)
    }
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.of(Node::MulAdd(self.id, factor.id, addend.id))
    }
    fn lesser(self, other: Self) -> Self {
        self.binary(BinaryOp::Min, other)
    }
    fn greater(self, other: Self) -> Self {
        self.binary(BinaryOp::Max, other)
    }
    fn remainder(self, divisor: Self) -> Self {
        self.binary(BinaryOp::Rem, divisor)
    }
}
