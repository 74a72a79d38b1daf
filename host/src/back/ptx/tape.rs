//! Straight-line code under construction: operations on words of 32 or 64 bits and on truth values.
//!
//! Equal operations are recorded once, those on constants not at all: they are computed by the same
//! generic functions that the machine's own numbers use. A branch around a rare path is an item with
//! a tape of its own; what is computed in it is not known outside.

use crate::back::cpu::Real;
use kernels_gpu::lane::{Bits, Lane};
use std::cell::RefCell;
use std::collections::HashMap;

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// A word, or 0 and 1 for truth values.
    Constant(u64),
    /// The value with this number.
    Value(u32),
}

/// Operations on two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Float2 {
    Add,
    Sub,
    Mul,
    Div,
}

/// Operations on one float, or on an integer that becomes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Float1 {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    FromUnsigned,
    FromSigned,
}

/// Operations on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Integer {
    Add,
    Sub,
    Mul,
    MulHigh,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
}

/// A shift by a number of bits that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shift {
    Left,
    Right,
    RightSigned,
}

/// Comparisons of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CompareFloat {
    Eq,
    Ne,
    Lt,
    Le,
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CompareBits {
    Eq,
    Lt,
    SignedLt,
}

/// Operations on truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Logic {
    And,
    Or,
    Not,
}

/// What an operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// The value in the place with this number, which the printer knows.
    Input(u32),
    Float1(Float1),
    Float2(Float2),
    MulAdd,
    Integer(Integer),
    Shift(Shift, u32),
    CompareFloat(CompareFloat),
    CompareBits(CompareBits),
    Logic(Logic),
    /// Truth value, value if true, value if false.
    Select,
}

impl Operation {
    /// Whether it makes a truth value.
    pub(super) fn is_truth(self) -> bool {
        matches!(self, Self::CompareFloat(_) | Self::CompareBits(_) | Self::Logic(_))
    }
}

/// An operation and what it reads; unused operands are constants 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) operands: [Operand; 3],
}

/// An entry of a tape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// Computes a value.
    Step { value: u32, step: Step },
    /// A value that is `slow` where `mask` holds, after `body`, and `fast` elsewhere.
    Branch { value: u32, mask: Operand, fast: Operand, body: Vec<Item>, slow: Operand },
}

/// A number whose bits are a word of the tape.
pub(super) trait Word: Real {
    fn from_word(word: u64) -> Self;
    fn to_word(self) -> u64;
    fn bits_from_word(word: u64) -> Self::Bits;
    fn bits_to_word(bits: Self::Bits) -> u64;
}

macro_rules! word {
    ($($float:ident, $bits:ident;)*) => {$(
        impl Word for $float {
            fn from_word(word: u64) -> Self {
                $float::from_bits(word as $bits)
            }
            fn to_word(self) -> u64 {
                u64::from($float::to_bits(self))
            }
            fn bits_from_word(word: u64) -> $bits {
                word as $bits
            }
            fn bits_to_word(bits: $bits) -> u64 {
                u64::from(bits)
            }
        }
    )*};
}

word! { f32, u32; f64, u64; }

#[derive(Debug, Default)]
struct State {
    /// Items of the code under construction, and of the branches that are open in it.
    regions: Vec<Vec<Item>>,
    known: HashMap<Step, u32>,
    /// What became known in each open branch.
    scopes: Vec<Vec<Step>>,
    values: u32,
}

/// Code under construction.
#[derive(Debug)]
pub(super) struct Tape {
    state: RefCell<State>,
}

impl Tape {
    pub(super) fn new() -> Self {
        Self { state: RefCell::new(State { regions: vec![Vec::new()], ..State::default() }) }
    }

    /// Records a step, or finds the same one.
    pub(super) fn push(&self, operation: Operation, operands: [Operand; 3]) -> Operand {
        let step = Step { operation, operands };
        let state = &mut *self.state.borrow_mut();
        if let Some(&value) = state.known.get(&step) {
            return Operand::Value(value);
        }
        let value = state.values;
        state.values += 1;
        state.known.insert(step, value);
        if let Some(scope) = state.scopes.last_mut() {
            scope.push(step);
        }
        if let Some(items) = state.regions.last_mut() {
            items.push(Item::Step { value, step });
        }
        Operand::Value(value)
    }

    /// Records `slow` as a branch. It must not keep what it makes but by its result.
    pub(super) fn branch(
        &self,
        mask: Operand,
        fast: Operand,
        slow: impl FnOnce() -> Operand,
    ) -> Operand {
        {
            let state = &mut *self.state.borrow_mut();
            state.regions.push(Vec::new());
            state.scopes.push(Vec::new());
        }
        let slow = slow();
        let state = &mut *self.state.borrow_mut();
        let body = state.regions.pop().unwrap_or_default();
        for step in state.scopes.pop().unwrap_or_default() {
            state.known.remove(&step);
        }
        let value = state.values;
        state.values += 1;
        if let Some(items) = state.regions.last_mut() {
            items.push(Item::Branch { value, mask, fast, body, slow });
        }
        Operand::Value(value)
    }

    /// What was recorded, without what none of the results needs.
    pub(super) fn finish(&self, results: impl IntoIterator<Item = Operand>) -> Vec<Item> {
        let mut state = self.state.take();
        let mut items = state.regions.pop().unwrap_or_default();
        let mut live = vec![false; state.values as usize];
        results.into_iter().for_each(|operand| mark(&mut live, operand));
        keep_live(&mut items, &mut live);
        items
    }
}

fn mark(live: &mut [bool], operand: Operand) {
    if let Operand::Value(value) = operand {
        live[value as usize] = true;
    }
}

/// Values are made before they are read, so one walk from the end finds all that is needed.
fn keep_live(items: &mut Vec<Item>, live: &mut [bool]) {
    let mut kept = Vec::with_capacity(items.len());
    while let Some(mut item) = items.pop() {
        match &mut item {
            Item::Step { value, step } => {
                if !live[*value as usize] {
                    continue;
                }
                step.operands.iter().for_each(|&operand| mark(live, operand));
            }
            Item::Branch { value, mask, fast, body, slow } => {
                if !live[*value as usize] {
                    continue;
                }
                [*mask, *fast, *slow].into_iter().for_each(|operand| mark(live, operand));
                keep_live(body, live);
            }
        }
        kept.push(item);
    }
    kept.reverse();
    *items = kept;
}

/// One operation on constants, by the number's own operations.
pub(super) fn compute<T: Word>(operation: Operation, words: [u64; 3]) -> u64 {
    let [a, b, c] = words.map(T::from_word);
    let [i, j, _] = words.map(T::bits_from_word);
    let truth = |mask: bool| u64::from(mask);
    match operation {
        // Inputs have no operands and are always recorded.
        Operation::Input(_) => 0,
        Operation::Float2(kind) => T::to_word(match kind {
            Float2::Add => a + b,
            Float2::Sub => a - b,
            Float2::Mul => a * b,
            Float2::Div => a / b,
        }),
        Operation::Float1(kind) => T::to_word(match kind {
            Float1::Neg => -a,
            Float1::Abs => Lane::abs(a),
            Float1::Sqrt => Lane::sqrt(a),
            Float1::Floor => kernels_gpu::math::floor(a),
            Float1::Ceil => kernels_gpu::math::ceil(a),
            Float1::Trunc => kernels_gpu::math::trunc(a),
            Float1::FromUnsigned => T::from_unsigned(i),
            Float1::FromSigned => T::from_signed(i),
        }),
        Operation::MulAdd => T::to_word(Lane::mul_add(a, b, c)),
        Operation::Integer(kind) => T::bits_to_word(match kind {
            Integer::Add => i.wrapping_add(j),
            Integer::Sub => i.wrapping_sub(j),
            Integer::Mul => i.wrapping_mul(j),
            Integer::MulHigh => i.mul_high(j),
            Integer::And => i & j,
            Integer::Or => i | j,
            Integer::Xor => i ^ j,
            Integer::Not => !i,
            Integer::Shl => i.shl_by(j),
            Integer::Shr => i.shr_by(j),
        }),
        Operation::Shift(kind, count) => T::bits_to_word(match kind {
            Shift::Left => i.shl(count),
            Shift::Right => i.shr(count),
            Shift::RightSigned => i.sar(count),
        }),
        Operation::CompareFloat(kind) => truth(match kind {
            CompareFloat::Eq => Lane::eq(a, b),
            CompareFloat::Ne => Lane::ne(a, b),
            CompareFloat::Lt => Lane::lt(a, b),
            CompareFloat::Le => Lane::le(a, b),
        }),
        Operation::CompareBits(kind) => truth(match kind {
            CompareBits::Eq => Bits::eq(i, j),
            CompareBits::Lt => Bits::lt(i, j),
            CompareBits::SignedLt => i.slt(j),
        }),
        Operation::Logic(Logic::And) => words[0] & words[1],
        Operation::Logic(Logic::Or) => words[0] | words[1],
        Operation::Logic(Logic::Not) => words[0] ^ 1,
        Operation::Select => {
            if words[0] == 1 {
                words[1]
            } else {
                words[2]
            }
        }
    }
}
