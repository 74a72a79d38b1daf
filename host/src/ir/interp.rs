//! One section at one node, one instruction after the other: the oracle that other engines are
//! compared with. It is written to be obviously right, not to be fast.

use super::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, UnaryOp, Value,
};
use kernels_gpu::lane::Lane;
use kernels_gpu::math;

/// A precision: binary32 or binary64 with the functions of `kernels_gpu::math`.
pub trait Real: Lane<Mask = bool> + PartialOrd + std::fmt::Debug {
    /// The nearest number of this precision.
    fn from_f64(value: f64) -> Self;
}

impl Real for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

fn unary<T: Real>(op: UnaryOp, x: T) -> T {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Floor => math::floor(x),
        UnaryOp::Ceil => math::ceil(x),
        UnaryOp::Trunc => math::trunc(x),
        UnaryOp::Sign => math::sign(x),
    }
}

fn binary<T: Real>(op: BinaryOp, x: T, y: T) -> T {
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

fn call1<T: Real>(function: Function1, x: T) -> T {
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

fn call2<T: Real>(function: Function2, x: T, y: T) -> T {
    match function {
        Function2::Pow => math::pow(x, y),
        Function2::Atan2 => math::atan2(x, y),
    }
}

#[derive(Clone, Copy)]
enum Slot<T> {
    Real(T),
    Bool(bool),
}

/// Computes the results of a section into `out`, which is emptied first.
///
/// `input` gives what the section reads from outside. The section has to be one of a verified
/// program, so that its values are defined before they are read and have the right types.
pub fn run_section<T: Real>(section: &Section, inputs: &impl Fn(Input) -> T, out: &mut Vec<T>) {
    let mut slots: Vec<Slot<T>> = Vec::with_capacity(section.insts.len());
    for inst in &section.insts {
        let real = |v: Value| match slots[v.0 as usize] {
            Slot::Real(x) => x,
            Slot::Bool(_) => unreachable!("verified: a real operand is real"),
        };
        let boolean = |v: Value| match slots[v.0 as usize] {
            Slot::Bool(b) => b,
            Slot::Real(_) => unreachable!("verified: a boolean operand is boolean"),
        };
        let slot = match *inst {
            Inst::Const(c) => Slot::Real(T::from_f64(c)),
            Inst::Bool(b) => Slot::Bool(b),
            Inst::Input(input) => Slot::Real(inputs(input)),
            Inst::Unary(op, x) => Slot::Real(unary(op, real(x))),
            Inst::Binary(op, x, y) => Slot::Real(binary(op, real(x), real(y))),
            Inst::MulAdd(x, y, z) => Slot::Real(real(x).mul_add(real(y), real(z))),
            Inst::Compare(op, x, y) => Slot::Bool(compare(op, real(x), real(y))),
            Inst::Logic(LogicOp::And, x, y) => Slot::Bool(boolean(x) && boolean(y)),
            Inst::Logic(LogicOp::Or, x, y) => Slot::Bool(boolean(x) || boolean(y)),
            Inst::Not(x) => Slot::Bool(!boolean(x)),
            Inst::Select(c, x, y) => Slot::Real(if boolean(c) { real(x) } else { real(y) }),
            Inst::Call1(function, x) => Slot::Real(call1(function, real(x))),
            Inst::Call2(function, x, y) => Slot::Real(call2(function, real(x), real(y))),
        };
        slots.push(slot);
    }
    out.clear();
    out.extend(section.results.iter().map(|v| match slots[v.0 as usize] {
        Slot::Real(x) => x,
        Slot::Bool(_) => unreachable!("verified: results are real"),
    }));
}

fn compare<T: Real>(op: CompareOp, x: T, y: T) -> bool {
    match op {
        CompareOp::Lt => x < y,
        CompareOp::Le => x <= y,
        CompareOp::Gt => x > y,
        CompareOp::Ge => x >= y,
        CompareOp::Eq => x == y,
        CompareOp::Ne => x != y,
    }
}
