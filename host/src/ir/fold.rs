//! Folding that no precision can tell from the original.
//!
//! A constant is a 64-bit number that a run may round to 32 bits. So arithmetic on constants is done
//! here only if operands and result are whole numbers (or, for quotients, dyadic fractions) that
//! both precisions hold exactly. Identities are used only if they keep every bit, the sign of zero
//! and infinities included: `x·1`, `x/1`, `x − 0`, `x + (−0)` and `−(−x)` are x, but `x + 0`, `0·x`
//! and `x − x` stay.

use super::{BinaryOp, CompareOp, Inst, LogicOp, UnaryOp, Value};

/// What to use in place of an instruction.
pub(super) enum Folded {
    /// A value that exists.
    Value(Value),
    /// An instruction, maybe the same.
    Inst(Inst),
}

/// Whole numbers up to here are exact in 32 bits.
const WHOLE: f64 = 16_777_216.0;

pub(super) fn fold(insts: &[Inst], inst: Inst) -> Folded {
    let at = |v: Value| insts[v.0 as usize];
    let real = |v: Value| match at(v) {
        Inst::Const(c) => Some(c),
        _ => None,
    };
    let boolean = |v: Value| match at(v) {
        Inst::Bool(b) => Some(b),
        _ => None,
    };
    let is = |v: Value, c: f64| real(v).is_some_and(|x| x.to_bits() == c.to_bits());
    let constant = |c: f64| Folded::Inst(Inst::Const(c));
    match inst {
        Inst::Unary(UnaryOp::Neg, x) => match at(x) {
            Inst::Const(c) if !c.is_nan() => constant(-c),
            Inst::Unary(UnaryOp::Neg, y) => Folded::Value(y),
            _ => Folded::Inst(inst),
        },
        Inst::Unary(UnaryOp::Abs, x) => match at(x) {
            Inst::Const(c) if !c.is_nan() => constant(c.abs()),
            _ => Folded::Inst(inst),
        },
        Inst::Binary(op, x, y) => match (op, real(x), real(y)) {
            (_, Some(a), Some(b)) => match arithmetic(op, a, b) {
                Some(c) => constant(c),
                None => Folded::Inst(inst),
            },
            (BinaryOp::Mul | BinaryOp::Div, _, _) if is(y, 1.0) => Folded::Value(x),
            (BinaryOp::Mul, _, _) if is(x, 1.0) => Folded::Value(y),
            (BinaryOp::Sub, _, _) if is(y, 0.0) => Folded::Value(x),
            (BinaryOp::Add, _, _) if is(y, -0.0) => Folded::Value(x),
            (BinaryOp::Add, _, _) if is(x, -0.0) => Folded::Value(y),
            _ => Folded::Inst(inst),
        },
        Inst::Compare(op, x, y) => match (real(x), real(y)) {
            (Some(a), Some(b)) if in_both(a) && in_both(b) => {
                Folded::Inst(Inst::Bool(compare(op, a, b)))
            }
            _ => Folded::Inst(inst),
        },
        Inst::Logic(op, x, y) => {
            let neutral = op == LogicOp::And;
            match (boolean(x), boolean(y)) {
                (Some(b), _) => Folded::Value(if b == neutral { y } else { x }),
                (_, Some(b)) => Folded::Value(if b == neutral { x } else { y }),
                _ if x == y => Folded::Value(x),
                _ => Folded::Inst(inst),
            }
        }
        Inst::Not(x) => match at(x) {
            Inst::Bool(b) => Folded::Inst(Inst::Bool(!b)),
            Inst::Not(y) => Folded::Value(y),
            _ => Folded::Inst(inst),
        },
        Inst::Select(condition, x, y) => match boolean(condition) {
            Some(true) => Folded::Value(x),
            Some(false) => Folded::Value(y),
            None if x == y => Folded::Value(x),
            None => Folded::Inst(inst),
        },
        _ => Folded::Inst(inst),
    }
}

/// Whether both precisions hold this number, zero, infinity and all.
fn in_both(c: f64) -> bool {
    f64::from(c as f32) == c
}

/// A whole number that 32 bits hold, and not −0.
fn whole(c: f64) -> bool {
    c.abs() <= WHOLE && c.trunc().to_bits() == c.to_bits() && c.to_bits() != (-0.0_f64).to_bits()
}

fn arithmetic(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    if !whole(a) || !whole(b) {
        return None;
    }
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        // With at most 24 bits on each side the product below is exact, so equality means that the
        // quotient is.
        BinaryOp::Div => {
            let quotient = a / b;
            let exact = in_both(quotient) && quotient.abs() >= f64::from(f32::MIN_POSITIVE);
            return (exact && quotient * b == a).then_some(quotient);
        }
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem => return None,
    };
    whole(result).then_some(result)
}

fn compare(op: CompareOp, a: f64, b: f64) -> bool {
    match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Input};
    use super::*;

    fn folded(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
        let mut builder = Builder::default();
        let (x, y) = (builder.constant(a), builder.constant(b));
        let value = builder.binary(op, x, y);
        builder.constant_of(value)
    }

    #[test]
    fn only_what_both_precisions_agree_on_is_folded() {
        assert_eq!(folded(BinaryOp::Div, 1.0, 2.0), Some(0.5));
        assert_eq!(folded(BinaryOp::Div, 2.0, 3.0), None);
        assert_eq!(folded(BinaryOp::Div, 1.0, 0.0), None);
        assert_eq!(folded(BinaryOp::Add, 2.0, 3.0), Some(5.0));
        assert_eq!(folded(BinaryOp::Add, 0.1, 0.2), None);
        assert_eq!(folded(BinaryOp::Mul, WHOLE, 3.0), None);
        assert_eq!(folded(BinaryOp::Mul, -1.0, 0.0), None);
    }

    #[test]
    fn identities_keep_the_sign_of_zero() {
        let mut b = Builder::default();
        let x = b.input(Input::State(0));
        let (zero, minus_zero, one) = (b.constant(0.0), b.constant(-0.0), b.constant(1.0));
        assert_eq!(b.mul(one, x), x);
        assert_eq!(b.sub(x, zero), x);
        assert_eq!(b.add(x, minus_zero), x);
        assert_ne!(b.add(x, zero), x);
        assert_ne!(b.mul(x, zero), zero);
        assert_ne!(b.sub(x, minus_zero), x);
        assert_ne!(b.sub(x, x), zero);
    }
}
