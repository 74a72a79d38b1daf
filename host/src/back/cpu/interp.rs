//! One section at one node, one instruction after the other: the oracle that other engines are
//! compared with. It is written to be obviously right, not to be fast.

use crate::ir::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, UnaryOp,
};

/// The arithmetic of one precision.
pub trait Real: Copy + PartialOrd + std::fmt::Debug {
    /// The nearest number of this precision.
    fn from_f64(value: f64) -> Self;
    /// An operation on one number.
    fn unary(op: UnaryOp, x: Self) -> Self;
    /// An operation on two numbers.
    fn binary(op: BinaryOp, x: Self, y: Self) -> Self;
    /// x·y + z, rounded once.
    fn mul_add(x: Self, y: Self, z: Self) -> Self;
    /// A function of one number.
    fn call1(function: Function1, x: Self) -> Self;
    /// A function of two numbers.
    fn call2(function: Function2, x: Self, y: Self) -> Self;
}

macro_rules! real {
    ($real:ty, $erf:path, $erfc:path) => {
        impl Real for $real {
            fn from_f64(value: f64) -> Self {
                value as $real
            }

            fn unary(op: UnaryOp, x: Self) -> Self {
                match op {
                    UnaryOp::Neg => -x,
                    UnaryOp::Abs => x.abs(),
                    UnaryOp::Sqrt => x.sqrt(),
                    UnaryOp::Floor => x.floor(),
                    UnaryOp::Ceil => x.ceil(),
                    UnaryOp::Trunc => x.trunc(),
                    UnaryOp::Sign if x > 0.0 => 1.0,
                    UnaryOp::Sign if x < 0.0 => -1.0,
                    UnaryOp::Sign if x == 0.0 => 0.0,
                    UnaryOp::Sign => x,
                }
            }

            fn binary(op: BinaryOp, x: Self, y: Self) -> Self {
                match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Min if x < y => x,
                    BinaryOp::Max if x > y => x,
                    BinaryOp::Min | BinaryOp::Max => y,
                    BinaryOp::Rem => {
                        let remainder = x % y;
                        if remainder != 0.0 && (remainder < 0.0) != (y < 0.0) {
                            remainder + y
                        } else {
                            remainder
                        }
                    }
                }
            }

            fn mul_add(x: Self, y: Self, z: Self) -> Self {
                <$real>::mul_add(x, y, z)
            }

            fn call1(function: Function1, x: Self) -> Self {
                match function {
                    Function1::Exp => x.exp(),
                    Function1::Expm1 => x.exp_m1(),
                    Function1::Ln => x.ln(),
                    Function1::Ln1p => x.ln_1p(),
                    Function1::Log2 => x.log2(),
                    Function1::Log10 => x.log10(),
                    Function1::Sin => x.sin(),
                    Function1::Cos => x.cos(),
                    Function1::Tan => x.tan(),
                    Function1::Sinh => x.sinh(),
                    Function1::Cosh => x.cosh(),
                    Function1::Tanh => x.tanh(),
                    Function1::Asin => x.asin(),
                    Function1::Acos => x.acos(),
                    Function1::Atan => x.atan(),
                    Function1::Erf => $erf(x),
                    Function1::Erfc => $erfc(x),
                }
            }

            fn call2(function: Function2, x: Self, y: Self) -> Self {
                match function {
                    Function2::Pow => x.powf(y),
                    Function2::Atan2 => x.atan2(y),
                }
            }
        }
    };
}

real!(f64, f64::from, f64::from);
real!(f32, f32::from, f32::from);

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
        let real = |v: crate::ir::Value| match slots[v.0 as usize] {
            Slot::Real(x) => x,
            Slot::Bool(_) => unreachable!("verified: a real operand is real"),
        };
        let boolean = |v: crate::ir::Value| match slots[v.0 as usize] {
            Slot::Bool(b) => b,
            Slot::Real(_) => unreachable!("verified: a boolean operand is boolean"),
        };
        let slot = match *inst {
            Inst::Const(c) => Slot::Real(T::from_f64(c)),
            Inst::Bool(b) => Slot::Bool(b),
            Inst::Input(input) => Slot::Real(inputs(input)),
            Inst::Unary(op, x) => Slot::Real(T::unary(op, real(x))),
            Inst::Binary(op, x, y) => Slot::Real(T::binary(op, real(x), real(y))),
            Inst::MulAdd(x, y, z) => Slot::Real(T::mul_add(real(x), real(y), real(z))),
            Inst::Compare(op, x, y) => Slot::Bool(compare(op, real(x), real(y))),
            Inst::Logic(LogicOp::And, x, y) => Slot::Bool(boolean(x) && boolean(y)),
            Inst::Logic(LogicOp::Or, x, y) => Slot::Bool(boolean(x) || boolean(y)),
            Inst::Not(x) => Slot::Bool(!boolean(x)),
            Inst::Select(c, x, y) => Slot::Real(if boolean(c) { real(x) } else { real(y) }),
            Inst::Call1(function, x) => Slot::Real(T::call1(function, real(x))),
            Inst::Call2(function, x, y) => Slot::Real(T::call2(function, real(x), real(y))),
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
