//! The way to make instructions: one section at a time, equal instructions once.
//!
//! Nothing here changes a bit of any result: instructions are shared only if they are equal, and
//! folded only where the result is the same in both precisions (see `fold`).

use super::fold::{self, Folded};
use super::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, Type, UnaryOp, Value,
};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// Makes the instructions of one section.
///
/// ```
/// use host::ir::{BinaryOp, Builder, Input};
/// let mut b = Builder::default();
/// let x = b.input(Input::State(0));
/// let square = b.binary(BinaryOp::Mul, x, x);
/// assert_eq!(square, b.binary(BinaryOp::Mul, x, x));
/// let section = b.finish(vec![square]);
/// assert_eq!(section.insts.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    insts: Vec<Inst>,
    known: HashMap<Key, Value>,
}

impl Builder {
    /// The instructions so far.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// The instruction that made a value of this builder.
    pub fn inst(&self, value: Value) -> Inst {
        self.insts[value.0 as usize]
    }

    /// The constant that a value is.
    pub fn constant_of(&self, value: Value) -> Option<f64> {
        match self.inst(value) {
            Inst::Const(c) => Some(c),
            _ => None,
        }
    }

    /// The type of a value of this builder.
    pub fn type_of(&self, value: Value) -> Type {
        self.inst(value).result_type()
    }

    /// A real constant.
    pub fn constant(&mut self, value: f64) -> Value {
        self.push(Inst::Const(value))
    }

    /// A boolean constant.
    pub fn boolean(&mut self, value: bool) -> Value {
        self.push(Inst::Bool(value))
    }

    /// A value from outside.
    pub fn input(&mut self, input: Input) -> Value {
        self.push(Inst::Input(input))
    }

    /// An operation on one real.
    pub fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        self.push(Inst::Unary(op, x))
    }

    /// −x
    pub fn neg(&mut self, x: Value) -> Value {
        self.unary(UnaryOp::Neg, x)
    }

    /// An operation on two reals.
    pub fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        self.push(Inst::Binary(op, x, y))
    }

    /// x + y
    pub fn add(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Add, x, y)
    }

    /// x − y
    pub fn sub(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Sub, x, y)
    }

    /// x · y
    pub fn mul(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Mul, x, y)
    }

    /// x / y
    pub fn div(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Div, x, y)
    }

    /// A comparison.
    pub fn compare(&mut self, op: CompareOp, x: Value, y: Value) -> Value {
        self.push(Inst::Compare(op, x, y))
    }

    /// An operation on two booleans.
    pub fn logic(&mut self, op: LogicOp, x: Value, y: Value) -> Value {
        self.push(Inst::Logic(op, x, y))
    }

    /// The opposite of a boolean.
    pub fn not(&mut self, x: Value) -> Value {
        self.push(Inst::Not(x))
    }

    /// `then` where the condition holds, else `otherwise`.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        self.push(Inst::Select(condition, then, otherwise))
    }

    /// A function of one real.
    pub fn call1(&mut self, function: Function1, x: Value) -> Value {
        self.push(Inst::Call1(function, x))
    }

    /// A function of two reals.
    pub fn call2(&mut self, function: Function2, x: Value, y: Value) -> Value {
        self.push(Inst::Call2(function, x, y))
    }

    /// Adds an instruction over values of this builder, or finds the one that is equal to it.
    pub fn push(&mut self, inst: Inst) -> Value {
        let inst = match fold::fold(&self.insts, inst) {
            Folded::Value(value) => return value,
            Folded::Inst(inst) => inst,
        };
        let next = Value(self.insts.len() as u32);
        let value = *self.known.entry(Key(inst)).or_insert(next);
        if value == next {
            self.insts.push(inst);
        }
        value
    }

    /// Copies values of other instructions, with all that they need, in the order of the others.
    ///
    /// `input` says what stands here for an input there.
    pub fn import(
        &mut self,
        from: &[Inst],
        values: &[Value],
        input: &mut dyn FnMut(&mut Self, Input) -> Value,
    ) -> Vec<Value> {
        let mut needed = vec![false; from.len()];
        for value in values {
            needed[value.0 as usize] = true;
        }
        for at in (0..from.len()).rev().filter(|&at| from[at].operands().next().is_some()) {
            if needed[at] {
                from[at].operands().for_each(|v| needed[v.0 as usize] = true);
            }
        }
        let mut here = vec![Value(u32::MAX); from.len()];
        for (at, inst) in from.iter().enumerate().filter(|(at, _)| needed[*at]) {
            here[at] = match *inst {
                Inst::Input(what) => input(self, what),
                other => self.push(other.map_operands(|v| here[v.0 as usize])),
            };
        }
        values.iter().map(|v| here[v.0 as usize]).collect()
    }

    /// The section with these results; instructions that they don't need are left out.
    pub fn finish(self, results: Vec<Value>) -> Section {
        let mut kept = Self::default();
        let results = kept.import(&self.insts, &results, &mut |b, input| b.input(input));
        Section { insts: kept.insts, results }
    }
}

/// An instruction by which equal ones are found: constants by their bits, commutative operations
/// with their operands in order.
#[derive(Clone, Copy, Debug)]
struct Key(Inst);

impl Key {
    fn ordered(self) -> Inst {
        let sort = |x: Value, y: Value| (x.min(y), x.max(y));
        match self.0 {
            Inst::Binary(op @ (BinaryOp::Add | BinaryOp::Mul), x, y) => {
                let (x, y) = sort(x, y);
                Inst::Binary(op, x, y)
            }
            Inst::Compare(op @ (CompareOp::Eq | CompareOp::Ne), x, y) => {
                let (x, y) = sort(x, y);
                Inst::Compare(op, x, y)
            }
            Inst::Logic(op, x, y) => {
                let (x, y) = sort(x, y);
                Inst::Logic(op, x, y)
            }
            other => other,
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Inst::Const(x), Inst::Const(y)) => x.to_bits() == y.to_bits(),
            _ => self.ordered() == other.ordered(),
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let inst = self.ordered();
        std::mem::discriminant(&inst).hash(state);
        match inst {
            Inst::Const(value) => value.to_bits().hash(state),
            Inst::Bool(value) => value.hash(state),
            Inst::Input(input) => input.hash(state),
            Inst::Unary(op, _) => op.hash(state),
            Inst::Binary(op, _, _) => op.hash(state),
            Inst::Compare(op, _, _) => op.hash(state),
            Inst::Logic(op, _, _) => op.hash(state),
            Inst::Call1(function, _) => function.hash(state),
            Inst::Call2(function, _, _) => function.hash(state),
            Inst::MulAdd(..) | Inst::Not(_) | Inst::Select(..) => {}
        }
        inst.operands().for_each(|v| v.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_instructions_are_one_and_zero_signs_differ() {
        let mut b = Builder::default();
        let (x, y) = (b.input(Input::State(0)), b.input(Input::State(1)));
        assert_eq!(b.add(x, y), b.add(y, x));
        assert_ne!(b.sub(x, y), b.sub(y, x));
        assert_ne!(b.constant(0.0), b.constant(-0.0));
        assert_eq!(b.constant(f64::NAN), b.constant(f64::NAN));
    }

    #[test]
    fn finish_leaves_out_what_no_result_needs() {
        let mut b = Builder::default();
        let x = b.input(Input::State(0));
        let unused = b.input(Input::State(1));
        b.mul(x, unused);
        let y = b.add(x, x);
        let section = b.finish(vec![y, x]);
        assert_eq!(
            section.insts,
            [Inst::Input(Input::State(0)), Inst::Binary(BinaryOp::Add, Value(0), Value(0))]
        );
        assert_eq!(section.results, [Value(1), Value(0)]);
    }
}
