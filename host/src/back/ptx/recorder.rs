//! A kind of lane whose operations are recorded.

use super::tape::{
    CompareBits, CompareFloat, Float1, Float2, Integer, Logic, Operand, Operation, Shift, Tape,
    Word, compute,
};
use kernels_gpu::lane::{Bits, Lane, Mask};
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A handle of a float, an integer or a truth value: a constant, or a value of a tape.
macro_rules! handle {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        pub(super) struct $name<'t, T> {
            tape: Option<&'t Tape>,
            operand: Operand,
            number: PhantomData<T>,
        }

        impl<'t, T> $name<'t, T> {
            fn new(tape: Option<&'t Tape>, operand: Operand) -> Self {
                Self { tape, operand, number: PhantomData }
            }
        }

        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<'_, T> {}
    )*};
}

handle! {
    /// A float.
    Recorded;
    /// The bits of one.
    RecordedBits;
    /// A truth value.
    RecordedMask;
}

impl<'t, T: Word> Recorded<'t, T> {
    /// The value in a place that the printer knows.
    pub(super) fn input(tape: &'t Tape, place: u32) -> Self {
        let nothing = [Operand::Constant(0); 3];
        Self::new(Some(tape), tape.push(Operation::Input(place), nothing))
    }

    /// What stands for it on the tape.
    pub(super) fn operand(self) -> Operand {
        self.operand
    }

    /// The largest integer not above it.
    pub(super) fn floor(self) -> Self {
        record([self.of()], Operation::Float1(Float1::Floor))
    }

    /// The smallest integer not below it.
    pub(super) fn ceil(self) -> Self {
        record([self.of()], Operation::Float1(Float1::Ceil))
    }

    /// Its integer part.
    pub(super) fn trunc(self) -> Self {
        record([self.of()], Operation::Float1(Float1::Trunc))
    }
}

impl<T> RecordedMask<'_, T> {
    /// A known truth value.
    pub(super) fn constant(truth: bool) -> Self {
        Self::new(None, Operand::Constant(u64::from(truth)))
    }
}

/// Any handle.
trait Handle<'t, T> {
    fn of(self) -> (Option<&'t Tape>, Operand);
    fn made(tape: Option<&'t Tape>, operand: Operand) -> Self;
}

macro_rules! handles {
    ($($name:ident)*) => {$(
        impl<'t, T> Handle<'t, T> for $name<'t, T> {
            fn of(self) -> (Option<&'t Tape>, Operand) {
                (self.tape, self.operand)
            }
            fn made(tape: Option<&'t Tape>, operand: Operand) -> Self {
                Self::new(tape, operand)
            }
        }
    )*};
}

handles! { Recorded RecordedBits RecordedMask }

/// Records an operation, or computes it at once if all operands are constants.
fn record<'t, T: Word, R: Handle<'t, T>, const N: usize>(
    sources: [(Option<&'t Tape>, Operand); N],
    operation: Operation,
) -> R {
    let tape = sources.iter().find_map(|(tape, _)| *tape);
    let mut operands = [Operand::Constant(0); 3];
    for (operand, source) in operands.iter_mut().zip(&sources) {
        *operand = source.1;
    }
    let word = |operand| match operand {
        Operand::Constant(word) => Some(word),
        Operand::Value(_) => None,
    };
    let operand = match (tape, operands.map(word)) {
        (_, [Some(a), Some(b), Some(c)]) => Operand::Constant(compute::<T>(operation, [a, b, c])),
        (_, [Some(mask), ..]) if operation == Operation::Select => {
            operands[if mask == 1 { 1 } else { 2 }]
        }
        (Some(tape), _) => tape.push(operation, operands),
        // A value has a tape.
        (None, _) => operands[0],
    };
    R::made(tape, operand)
}

macro_rules! operators {
    ($type:ident: $($trait:ident $method:ident $operation:expr;)*) => {$(
        impl<'t, T: Word> $trait for $type<'t, T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                record([self.of(), other.of()], $operation)
            }
        }
    )*};
}

operators! {
    Recorded:
        Add add Operation::Float2(Float2::Add);
        Sub sub Operation::Float2(Float2::Sub);
        Mul mul Operation::Float2(Float2::Mul);
        Div div Operation::Float2(Float2::Div);
}

operators! {
    RecordedBits:
        BitAnd bitand Operation::Integer(Integer::And);
        BitOr bitor Operation::Integer(Integer::Or);
        BitXor bitxor Operation::Integer(Integer::Xor);
}

operators! {
    RecordedMask:
        BitAnd bitand Operation::Logic(Logic::And);
        BitOr bitor Operation::Logic(Logic::Or);
}

impl<T: Word> Neg for Recorded<'_, T> {
    type Output = Self;
    fn neg(self) -> Self {
        record([self.of()], Operation::Float1(Float1::Neg))
    }
}

impl<T: Word> Not for RecordedBits<'_, T> {
    type Output = Self;
    fn not(self) -> Self {
        record([self.of()], Operation::Integer(Integer::Not))
    }
}

impl<T: Word> Not for RecordedMask<'_, T> {
    type Output = Self;
    fn not(self) -> Self {
        record([self.of()], Operation::Logic(Logic::Not))
    }
}

impl<T: Word> Mask for RecordedMask<'_, T> {}

macro_rules! methods {
    ($result:ident: $($name:ident($($other:ident),*) $operation:expr;)+) => {$(
        fn $name(self $(, $other: Self)*) -> $result<'t, T> {
            record([self.of() $(, $other.of())*], $operation)
        }
    )+};
}

impl<'t, T: Word> Bits for RecordedBits<'t, T> {
    type Mask = RecordedMask<'t, T>;

    fn splat(value: u64) -> Self {
        Self::new(None, Operand::Constant(T::bits_to_word(T::bits_from_word(value))))
    }
    methods! { RecordedBits:
        wrapping_add(other) Operation::Integer(Integer::Add);
        wrapping_sub(other) Operation::Integer(Integer::Sub);
        wrapping_mul(other) Operation::Integer(Integer::Mul);
        mul_high(other) Operation::Integer(Integer::MulHigh);
        shl_by(count) Operation::Integer(Integer::Shl);
        shr_by(count) Operation::Integer(Integer::Shr);
    }
    methods! { RecordedMask:
        eq(other) Operation::CompareBits(CompareBits::Eq);
        lt(other) Operation::CompareBits(CompareBits::Lt);
        slt(other) Operation::CompareBits(CompareBits::SignedLt);
    }
    fn shl(self, count: u32) -> Self {
        record([self.of()], Operation::Shift(Shift::Left, count))
    }
    fn shr(self, count: u32) -> Self {
        record([self.of()], Operation::Shift(Shift::Right, count))
    }
    fn sar(self, count: u32) -> Self {
        record([self.of()], Operation::Shift(Shift::RightSigned, count))
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        record([mask.of(), yes.of(), no.of()], Operation::Select)
    }
}

impl<'t, T: Word> Lane for Recorded<'t, T> {
    type Format = T::Format;
    type Mask = RecordedMask<'t, T>;
    type Bits = RecordedBits<'t, T>;

    fn splat(value: f64) -> Self {
        Self::new(None, Operand::Constant(T::to_word(Lane::splat(value))))
    }
    methods! { Recorded:
        mul_add(factor, addend) Operation::MulAdd;
        sqrt() Operation::Float1(Float1::Sqrt);
        abs() Operation::Float1(Float1::Abs);
    }
    methods! { RecordedMask:
        eq(other) Operation::CompareFloat(CompareFloat::Eq);
        ne(other) Operation::CompareFloat(CompareFloat::Ne);
        lt(other) Operation::CompareFloat(CompareFloat::Lt);
        le(other) Operation::CompareFloat(CompareFloat::Le);
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        record([mask.of(), yes.of(), no.of()], Operation::Select)
    }
    // Words have no type on the tape: a cast changes the handle only.
    fn to_bits(self) -> Self::Bits {
        RecordedBits::new(self.tape, self.operand)
    }
    fn from_bits(bits: Self::Bits) -> Self {
        Self::new(bits.tape, bits.operand)
    }
    fn from_unsigned(bits: Self::Bits) -> Self {
        record([bits.of()], Operation::Float1(Float1::FromUnsigned))
    }
    fn from_signed(bits: Self::Bits) -> Self {
        record([bits.of()], Operation::Float1(Float1::FromSigned))
    }
    fn rare(mask: Self::Mask, fast: Self, slow: impl FnOnce() -> Self) -> Self {
        match (mask.operand, mask.tape) {
            (Operand::Constant(1), _) => slow(),
            (Operand::Value(_), Some(tape)) => {
                let value = tape.branch(mask.operand, fast.operand, || slow().operand);
                Self::new(Some(tape), value)
            }
            _ => fast,
        }
    }
}
