//! Runs a [`Schedule`]: instruction by instruction over chunks of lanes.
//!
//! The loops are plain Rust over a chunk of lanes that the compiler turns into vector code.
//! Booleans are 1 and 0 in the precision of the run.

use super::graph::{Id, Node};
use super::isa::{Isa, multiversion};
use super::real::{Real, truth};
use super::schedule::{CHUNK, Op, Opcode, Schedule, Source};
use crate::ir::{BinaryOp, CompareOp, Function1, Function2, LogicOp, UnaryOp};
use kernels_gpu::math::slice;
use kernels_gpu::scheme::Arithmetic;

/// The value of a uniform node, from the values of those before it.
pub(super) fn uniform<T: Real>(node: Node, values: &[T]) -> T {
    let at = |id: Id| values[id.0 as usize];
    match node {
        Node::Const(bits) => T::from_f64(f64::from_bits(bits)),
        Node::Bool(value) => truth(value),
        // Set by the engine before.
        Node::Leaf(_) => T::NAN,
        Node::Unary(op, a) => T::unary(op, at(a)),
        Node::Binary(op, a, b) => T::binary(op, at(a), at(b)),
        Node::MulAdd(a, b, c) => at(a).fused(at(b), at(c)),
        Node::Compare(op, a, b) => truth(T::compare(op, at(a), at(b))),
        Node::Logic(op, a, b) => logic(op, at(a), at(b)),
        Node::Not(a) => not(at(a)),
        Node::Select(a, b, c) => choose(at(a), at(b), at(c)),
        Node::Call1(f, a) => T::call1(f, at(a)),
        Node::Call2(f, a, b) => T::call2(f, at(a), at(b)),
    }
}

#[inline(always)]
fn logic<T: Real>(op: LogicOp, a: T, b: T) -> T {
    let (a, b) = (a != T::default(), b != T::default());
    truth(match op {
        LogicOp::And => a & b,
        LogicOp::Or => a | b,
    })
}

#[inline(always)]
fn not<T: Real>(a: T) -> T {
    truth(a == T::default())
}

#[inline(always)]
fn choose<T: Real>(condition: T, yes: T, no: T) -> T {
    if condition != T::default() { yes } else { no }
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
        run(isa, &self.schedule.setup, arrays, &self.values, lanes);
    }

    /// Computes the results for the present leaves.
    pub(super) fn step(&mut self, isa: Isa, arrays: &mut [Vec<T>], lanes: usize) {
        for &id in &self.schedule.uniform_changing {
            self.values[id.0 as usize] = uniform(self.schedule.nodes[id.0 as usize], &self.values);
        }
        run(isa, &self.schedule.each_step, arrays, &self.values, lanes);
    }
}

/// An operand over a chunk.
enum Operand<'a, T> {
    Slice(&'a [T]),
    Splat(T),
}

/// Loops over the lanes of a chunk; `$value` sees one lane.
///
/// The loops are flat: a fixed inner loop would be unrolled, and the outer one vectorised with
/// gathers.
macro_rules! lanes {
    ($out:ident, |$x:ident| $value:expr, $a:expr) => {
        match $a {
            Operand::Slice(a) => {
                for (out, &$x) in $out.iter_mut().zip(a) {
                    *out = $value;
                }
            }
            Operand::Splat($x) => $out.fill($value),
        }
    };
    ($out:ident, |$x:ident, $y:ident| $value:expr, $a:expr, $b:expr) => {
        match ($a, $b) {
            (Operand::Slice(a), Operand::Slice(b)) => {
                for (out, (&$x, &$y)) in $out.iter_mut().zip(a.iter().zip(b)) {
                    *out = $value;
                }
            }
            (a, Operand::Splat($y)) => lanes!($out, |$x| $value, a),
            (Operand::Splat($x), b) => lanes!($out, |$y| $value, b),
        }
    };
    ($out:ident, |$x:ident, $y:ident, $z:ident| $value:expr, $a:expr, $b:expr, $c:expr) => {
        match ($a, $b, $c) {
            (Operand::Slice(a), Operand::Slice(b), Operand::Slice(c)) => {
                for (out, (&$x, (&$y, &$z))) in $out.iter_mut().zip(a.iter().zip(b.iter().zip(c))) {
                    *out = $value;
                }
            }
            (a, b, Operand::Splat($z)) => lanes!($out, |$x, $y| $value, a, b),
            (a, Operand::Splat($y), c) => lanes!($out, |$x, $z| $value, a, c),
            (Operand::Splat($x), b, c) => lanes!($out, |$y, $z| $value, b, c),
        }
    };
}

/// One loop for each variant of an operation, which is known when the loop is compiled.
macro_rules! by_variant {
    ($op:expr, $enum:ident { $($variant:ident),* }, |$known:ident| $body:expr) => {
        match $op {
            $($enum::$variant => {
                const KNOWN: $enum = $enum::$variant;
                let $known = KNOWN;
                $body
            })*
        }
    };
}

multiversion! {
    /// Runs instructions over all lanes.
    pub(super) fn run<T: Real>(
        ops: &[Op],
        arrays: &mut [Vec<T>],
        values: &[T],
        lanes: usize,
    ) {
        let mut start = 0;
        while start < lanes {
            let len = CHUNK.min(lanes - start);
            for op in ops {
                chunk(op, arrays, values, start, len);
            }
            start += len;
        }
    }
}

#[inline(always)]
fn chunk<T: Real>(op: &Op, arrays: &mut [Vec<T>], values: &[T], start: usize, len: usize) {
    // The target leaves the table for as long as it is written: it is never an operand.
    let mut array = std::mem::take(&mut arrays[op.target as usize]);
    let from = if op.target_is_lanes { start } else { 0 };
    let out = &mut array[from..from + len];
    let at = |source: Source| match source {
        Source::Scalar(id) => Operand::Splat(values[id as usize]),
        Source::Lanes(a) => Operand::Slice(&arrays[a as usize][start..start + len]),
        Source::Register(a) => Operand::Slice(&arrays[a as usize][..len]),
    };
    match op.code {
        Opcode::Copy(a) => lanes!(out, |x| x, at(a)),
        Opcode::Unary(op, a) => {
            by_variant!(op, UnaryOp { Neg, Abs, Sqrt, Floor, Ceil, Trunc, Sign }, |op| {
                lanes!(out, |x| T::unary(op, x), at(a))
            });
        }
        Opcode::Binary(op, a, b) => {
            by_variant!(op, BinaryOp { Add, Sub, Mul, Div, Min, Max, Rem }, |op| {
                lanes!(out, |x, y| T::binary(op, x, y), at(a), at(b))
            });
        }
        Opcode::MulAdd(a, b, c) => lanes!(out, |x, y, z| x.fused(y, z), at(a), at(b), at(c)),
        Opcode::Compare(op, a, b) => {
            by_variant!(op, CompareOp { Lt, Le, Gt, Ge, Eq, Ne }, |op| {
                lanes!(out, |x, y| truth::<T>(T::compare(op, x, y)), at(a), at(b))
            });
        }
        Opcode::Logic(op, a, b) => {
            by_variant!(op, LogicOp { And, Or }, |op| {
                lanes!(out, |x, y| logic(op, x, y), at(a), at(b))
            });
        }
        Opcode::Not(a) => lanes!(out, |x| not(x), at(a)),
        Opcode::Select(a, b, c) => lanes!(out, |x, y, z| choose(x, y, z), at(a), at(b), at(c)),
        Opcode::Call1(function, a) => {
            by_variant!(
                function,
                Function1 {
                    Exp,
                    Expm1,
                    Ln,
                    Ln1p,
                    Log2,
                    Log10,
                    Sin,
                    Cos,
                    Tan,
                    Sinh,
                    Cosh,
                    Tanh,
                    Asin,
                    Acos,
                    Atan,
                    Erf,
                    Erfc
                },
                |function| match (function, at(a)) {
                    // These have a slow path for huge arguments that vector loops step around.
                    (Function1::Sin, Operand::Slice(a)) => {
                        slice::sin_slice(a, out);
                    }
                    (Function1::Cos, Operand::Slice(a)) => {
                        slice::cos_slice(a, out);
                    }
                    (Function1::Tan, Operand::Slice(a)) => {
                        slice::tan_slice(a, out);
                    }
                    (function, a) => lanes!(out, |x| T::call1(function, x), a),
                }
            );
        }
        Opcode::Call2(function, a, b) => {
            by_variant!(function, Function2 { Pow, Atan2 }, |function| {
                lanes!(out, |x, y| T::call2(function, x, y), at(a), at(b))
            });
        }
    }
    arrays[op.target as usize] = array;
}
