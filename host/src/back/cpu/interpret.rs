//! A [`Schedule`] at work: uniform values here, instructions over lanes in [`kernels_cpu::interpret`].

use super::graph::{Id, Node};
use super::schedule::Schedule;
use kernels_cpu::interpret::{choose, logic, not};
use kernels_cpu::{Isa, Real, truth};
use kernels_gpu::scheme::Arithmetic;

/// The value of a uniform node, from the values of those before it.
pub(super) fn uniform<T: Real>(node: Node, values: &[T]) -> T {
    let at = |id: Id| values[id.0 as usize];
    match node {
        Node::Const(bits) => T::from_f64(f64::from_bits(bits)),
        Node::Bool(value) => truth(value),
        // Set by the engine before.
        Node::Leaf(_) => T::NAN,
        Node::Unary(op, a) => op.of(at(a)),
        Node::Binary(op, a, b) => op.of(at(a), at(b)),
        Node::MulAdd(a, b, c) => at(a).fused(at(b), at(c)),
        Node::Compare(op, a, b) => truth(op.of(at(a), at(b))),
        Node::Logic(op, a, b) => logic(op, at(a), at(b)),
        Node::Not(a) => not(at(a)),
        Node::Select(a, b, c) => choose(at(a), at(b), at(c)),
        Node::Call1(f, a) => f.of(at(a)),
        Node::Call2(f, a, b) => f.of(at(a), at(b)),
    }
}

/// A schedule and the uniform values of one tile.
#[derive(Clone, Debug)]
pub(super) struct Running<T> {
    /// The work.
    pub(super) schedule: Schedule,
    /// Uniform values, by node.
    pub(super) values: Vec<T>,
}

impl<T: Real> Running<T> {
    /// Sets the uniform leaves that `value` knows.
    pub(super) fn set(&mut self, value: impl Fn(super::graph::Leaf) -> Option<T>) {
        for &(leaf, id) in &self.schedule.uniform_leaves {
            if let Some(value) = value(leaf) {
                self.values[id.0 as usize] = value;
            }
        }
    }

    /// Computes what does not change during the run. Uniform leaves that are steady must be set.
    pub(super) fn set_up(&mut self, isa: Isa, arrays: &mut [Vec<T>], lanes: usize) {
        for &id in &self.schedule.uniform_steady {
            self.values[id.0 as usize] = uniform(self.schedule.nodes[id.0 as usize], &self.values);
        }
        T::run(isa, &self.schedule.setup, arrays, &self.values, lanes);
    }

    /// Computes the results for the present leaves.
    pub(super) fn step(&mut self, isa: Isa, arrays: &mut [Vec<T>], lanes: usize) {
        for &id in &self.schedule.uniform_changing {
            self.values[id.0 as usize] = uniform(self.schedule.nodes[id.0 as usize], &self.values);
        }
        T::run(isa, &self.schedule.each_step, arrays, &self.values, lanes);
    }
}
