//! Sections over recorded values.

use super::recorder::{Recorded, RecordedMask};
use super::tape::Word;
use crate::ir::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, UnaryOp, Value,
};
use kernels_gpu::lane::Lane;
use kernels_gpu::math;

/// A value of a section.
#[derive(Clone, Copy)]
enum Entry<'t, T> {
    Real(Recorded<'t, T>),
    Bool(RecordedMask<'t, T>),
}

/// Records a verified section; `input` gives what it reads from outside.
pub(super) fn record<'t, T: Word>(
    section: &Section,
    mut input: impl FnMut(Input) -> Recorded<'t, T>,
) -> Vec<Recorded<'t, T>> {
    let mut entries: Vec<Entry<'t, T>> = Vec::with_capacity(section.insts.len());
    for inst in &section.insts {
        let real = |value: Value| real(&entries, value);
        let truth = |value: Value| match entries[value.0 as usize] {
            Entry::Bool(truth) => truth,
            Entry::Real(_) => unreachable!("verified: a boolean operand is boolean"),
        };
        let entry = match *inst {
            Inst::Const(value) => Entry::Real(Recorded::splat(value)),
            Inst::Bool(value) => Entry::Bool(RecordedMask::constant(value)),
            Inst::Input(from) => Entry::Real(input(from)),
            Inst::Unary(op, x) => Entry::Real(unary(op, real(x))),
            Inst::Binary(op, x, y) => Entry::Real(binary(op, real(x), real(y))),
            Inst::MulAdd(x, y, z) => Entry::Real(real(x).mul_add(real(y), real(z))),
            Inst::Compare(op, x, y) => Entry::Bool(compare(op, real(x), real(y))),
            Inst::Logic(LogicOp::And, x, y) => Entry::Bool(truth(x) & truth(y)),
            Inst::Logic(LogicOp::Or, x, y) => Entry::Bool(truth(x) | truth(y)),
            Inst::Not(x) => Entry::Bool(!truth(x)),
            Inst::Select(c, x, y) => Entry::Real(Lane::select(truth(c), real(x), real(y))),
            Inst::Call1(function, x) => Entry::Real(call1(function, real(x))),
            Inst::Call2(function, x, y) => Entry::Real(call2(function, real(x), real(y))),
        };
        entries.push(entry);
    }
    section.results.iter().map(|&value| real(&entries, value)).collect()
}

fn real<'t, T>(entries: &[Entry<'t, T>], value: Value) -> Recorded<'t, T> {
    match entries[value.0 as usize] {
        Entry::Real(x) => x,
        Entry::Bool(_) => unreachable!("verified: a real operand is real"),
    }
}

fn unary<'t, T: Word>(op: UnaryOp, x: Recorded<'t, T>) -> Recorded<'t, T> {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sqrt => x.sqrt(),
        // Single instructions with the results of `math`'s functions.
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::Sign => math::sign(x),
    }
}

fn binary<'t, T: Word>(op: BinaryOp, x: Recorded<'t, T>, y: Recorded<'t, T>) -> Recorded<'t, T> {
    match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Min => math::min(x, y),
        BinaryOp::Max => math::max(x, y),
        BinaryOp::Rem => math::rem_floor(x, y),
    }
}

fn compare<'t, T: Word>(
    op: CompareOp,
    x: Recorded<'t, T>,
    y: Recorded<'t, T>,
) -> RecordedMask<'t, T> {
    match op {
        CompareOp::Lt => x.lt(y),
        CompareOp::Le => x.le(y),
        CompareOp::Gt => x.gt(y),
        CompareOp::Ge => x.ge(y),
        CompareOp::Eq => x.eq(y),
        CompareOp::Ne => x.ne(y),
    }
}

fn call1<L: Lane>(function: Function1, x: L) -> L {
    match function {
        Function1::Exp => math::exp(x),
        Function1::Expm1 => math::expm1(x),
        Function1::Ln => math::ln(x),
        Function1::Ln1p => math::ln_1p(x),
        Function1::Log2 => math::log2(x),
        Function1::Log10 => math::log10(x),
        Function1::Sin => math::sin(x),
        Function1::Cos => math::cos(x),
        Function1::Tan => math::tan(x),
        Function1::Sinh => math::sinh(x),
        Function1::Cosh => math::cosh(x),
        Function1::Tanh => math::tanh(x),
        Function1::Asin => math::asin(x),
        Function1::Acos => math::acos(x),
        Function1::Atan => math::atan(x),
        Function1::Erf => math::erf(x),
        Function1::Erfc => math::erfc(x),
    }
}

fn call2<L: Lane>(function: Function2, x: L, y: L) -> L {
    match function {
        Function2::Pow => math::pow(x, y),
        Function2::Atan2 => math::atan2(x, y),
    }
}
