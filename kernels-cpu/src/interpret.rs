//! Runs a program: instruction by instruction over chunks of lanes.
//!
//! The loops are plain Rust over a chunk of lanes that the compiler turns into vector code.
//! Booleans are 1 and 0 in the precision of the run.

use crate::CHUNK;
use crate::isa::multiversion;
use crate::real::{Number, truth};
use kernels_gpu::math::slice;
use kernels_gpu::op::{BinaryOp, CompareOp, Function1, Function2, LogicOp, UnaryOp};
use kernels_gpu::scheme::Arithmetic;

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One number for all lanes.
    Scalar(u32),
    /// An array over all lanes of the tile.
    Lanes(u32),
    /// An array over the lanes of the chunk.
    Register(u32),
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// The operand itself.
    Copy(Source),
    /// One real to one real.
    Unary(UnaryOp, Source),
    /// Two reals to one real.
    Binary(BinaryOp, Source, Source),
    /// a·b + c, rounded once.
    MulAdd(Source, Source, Source),
    /// Two reals to a boolean.
    Compare(CompareOp, Source, Source),
    /// Two booleans to one.
    Logic(LogicOp, Source, Source),
    /// The opposite of a boolean.
    Not(Source),
    /// The second where the first is true, else the third.
    Select(Source, Source, Source),
    /// A function of one real.
    Call1(Function1, Source),
    /// A function of two reals.
    Call2(Function2, Source, Source),
}

/// An instruction on a chunk of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What to do.
    pub code: Opcode,
    /// The array that takes the result; never one of the operands.
    pub target: u32,
    /// Whether `target` is an array over all lanes, and not a register.
    pub target_is_lanes: bool,
}

/// Of booleans as numbers.
#[inline(always)]
pub fn logic<T: Number>(op: LogicOp, a: T, b: T) -> T {
    let (a, b) = (a != T::default(), b != T::default());
    truth(match op {
        LogicOp::And => a & b,
        LogicOp::Or => a | b,
    })
}

/// The opposite of a boolean as a number.
#[inline(always)]
pub fn not<T: Number>(a: T) -> T {
    truth(a == T::default())
}

/// A choice by a boolean as a number.
#[inline(always)]
pub fn choose<T: Number>(condition: T, yes: T, no: T) -> T {
    if condition != T::default() { yes } else { no }
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
    pub(crate) fn run<T: Number>(
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
fn chunk<T: Number>(op: &Op, arrays: &mut [Vec<T>], values: &[T], start: usize, len: usize) {
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
                lanes!(out, |x| op.of(x), at(a))
            });
        }
        Opcode::Binary(op, a, b) => {
            by_variant!(op, BinaryOp { Add, Sub, Mul, Div, Min, Max, Rem }, |op| {
                lanes!(out, |x, y| op.of(x, y), at(a), at(b))
            });
        }
        Opcode::MulAdd(a, b, c) => lanes!(out, |x, y, z| x.fused(y, z), at(a), at(b), at(c)),
        Opcode::Compare(op, a, b) => {
            by_variant!(op, CompareOp { Lt, Le, Gt, Ge, Eq, Ne }, |op| {
                lanes!(out, |x, y| truth::<T>(op.of(x, y)), at(a), at(b))
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
                    (function, a) => lanes!(out, |x| function.of(x), a),
                }
            );
        }
        Opcode::Call2(function, a, b) => {
            by_variant!(function, Function2 { Pow, Atan2 }, |function| {
                lanes!(out, |x, y| function.of(x, y), at(a), at(b))
            });
        }
    }
    arrays[op.target as usize] = array;
}
