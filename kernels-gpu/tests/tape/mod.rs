//! A tape of operations, its handles, and its evaluation.

use std::cell::RefCell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use kernels_gpu::lane::{Bits, Lane, Mask};

/// A scalar that a tape can compute with: its bits as a word.
pub(crate) trait Word: Lane<Mask = bool> + Debug {
    fn from_word(word: u64) -> Self;
    fn to_word(self) -> u64;
    fn bits_from_word(word: u64) -> Self::Bits;
    fn bits_to_word(bits: Self::Bits) -> u64;
    fn is_not_a_number(self) -> bool;
}

macro_rules! word {
    ($float:ident, $bits:ident) => {
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
            fn is_not_a_number(self) -> bool {
                self.is_nan()
            }
        }
    };
}

word!(f32, u32);
word!(f64, u64);

/// Where an operand comes from.
#[derive(Clone, Copy)]
enum Operand {
    Constant(u64),
    Result(usize),
}

/// What an operation computes; the names are those of [`Lane`], [`Bits`] and [`Mask`].
#[derive(Clone, Copy)]
enum Operation {
    Input(usize),
    Float2(Float2),
    Float1(Float1),
    MulAdd,
    Integer(Integer),
    Shift(Integer, u32),
    Compare(Compare),
    CompareBits(Compare),
    And,
    Or,
    Not,
    Select,
}

#[derive(Clone, Copy)]
enum Float2 {
    Add,
    Sub,
    Mul,
    Div,
}

#[derive(Clone, Copy)]
enum Float1 {
    Neg,
    Abs,
    Sqrt,
    FromUnsigned,
    FromSigned,
}

#[derive(Clone, Copy)]
enum Integer {
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
    Sar,
}

#[derive(Clone, Copy)]
enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    SignedLt,
}

/// A straight-line program over scalars of type `T`.
pub(crate) struct Tape<T> {
    steps: RefCell<Vec<(Operation, [Operand; 3])>>,
    inputs: RefCell<usize>,
    scalar: PhantomData<T>,
}

impl<T: Word> Tape<T> {
    pub(crate) fn new() -> Self {
        Self { steps: RefCell::default(), inputs: RefCell::new(0), scalar: PhantomData }
    }

    /// Operations recorded, inputs not counted.
    pub(crate) fn len(&self) -> usize {
        self.steps.borrow().len() - *self.inputs.borrow()
    }

    pub(crate) fn input(&self) -> Recorded<'_, T> {
        let index = *self.inputs.borrow();
        *self.inputs.borrow_mut() += 1;
        let nothing = Operand::Constant(0);
        Recorded { tape: Some(self), operand: self.push(Operation::Input(index), [nothing; 3]) }
    }

    fn push(&self, operation: Operation, operands: [Operand; 3]) -> Operand {
        let mut steps = self.steps.borrow_mut();
        steps.push((operation, operands));
        Operand::Result(steps.len() - 1)
    }

    pub(crate) fn evaluate(&self, inputs: &[T], output: Recorded<'_, T>) -> T {
        let mut results: Vec<u64> = Vec::new();
        let read = |results: &[u64], operand| match operand {
            Operand::Constant(word) => word,
            Operand::Result(index) => results[index],
        };
        for &(operation, operands) in self.steps.borrow().iter() {
            let words = operands.map(|operand| read(&results, operand));
            results.push(match operation {
                Operation::Input(index) => inputs[index].to_word(),
                _ => compute::<T>(operation, words),
            });
        }
        T::from_word(read(&results, output.operand))
    }
}

/// One operation on words, by the scalar's own operations.
fn compute<T: Word>(operation: Operation, words: [u64; 3]) -> u64 {
    let [a, b, c] = words.map(T::from_word);
    let [i, j, _] = words.map(T::bits_from_word);
    let truth = |mask: bool| u64::from(mask);
    match operation {
        Operation::Input(_) => unreachable!("inputs are not computed"),
        Operation::Float2(kind) => match kind {
            Float2::Add => a + b,
            Float2::Sub => a - b,
            Float2::Mul => a * b,
            Float2::Div => a / b,
        }
        .to_word(),
        Operation::Float1(kind) => match kind {
            Float1::Neg => -a,
            Float1::Abs => a.abs(),
            Float1::Sqrt => a.sqrt(),
            Float1::FromUnsigned => T::from_unsigned(i),
            Float1::FromSigned => T::from_signed(i),
        }
        .to_word(),
        Operation::MulAdd => a.mul_add(b, c).to_word(),
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
            Integer::Sar => unreachable!("only by constants"),
        }),
        Operation::Shift(kind, count) => T::bits_to_word(match kind {
            Integer::Shl => i.shl(count),
            Integer::Shr => i.shr(count),
            _ => i.sar(count),
        }),
        Operation::Compare(kind) => truth(match kind {
            Compare::Eq => a.eq(b),
            Compare::Ne => a.ne(b),
            Compare::Lt => a.lt(b),
            Compare::Le => a.le(b),
            Compare::SignedLt => unreachable!("of integers only"),
        }),
        Operation::CompareBits(kind) => truth(match kind {
            Compare::Eq => i.eq(j),
            Compare::Lt => i.lt(j),
            Compare::SignedLt => i.slt(j),
            Compare::Ne | Compare::Le => unreachable!("of floats only"),
        }),
        Operation::And => words[0] & words[1],
        Operation::Or => words[0] | words[1],
        Operation::Not => words[0] ^ 1,
        Operation::Select => {
            if words[0] == 1 {
                words[1]
            } else {
                words[2]
            }
        }
    }
}

/// Handles of a float, an integer and a truth value: a constant, or a step of a tape.
macro_rules! handle {
    ($name:ident) => {
        pub(crate) struct $name<'t, T> {
            tape: Option<&'t Tape<T>>,
            operand: Operand,
        }

        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<'_, T> {}
    };
}

handle!(Recorded);
handle!(RecordedBits);
handle!(RecordedMask);

/// Appends an operation, or computes it at once if all operands are constants.
macro_rules! record {
    ($result:ident, $operation:expr, $first:expr $(, $rest:expr)*) => {{
        let tape = $first.tape $(.or($rest.tape))*;
        let mut operands = [Operand::Constant(0); 3];
        for (slot, operand) in operands.iter_mut().zip([$first.operand $(, $rest.operand)*]) {
            *slot = operand;
        }
        let operand = match tape {
            Some(tape) => tape.push($operation, operands),
            None => Operand::Constant(compute::<T>($operation, operands.map(|o| match o {
                Operand::Constant(word) => word,
                Operand::Result(_) => unreachable!("a result has a tape"),
            }))),
        };
        $result { tape, operand }
    }};
}

macro_rules! operator {
    ($type:ident, $trait:ident, $method:ident, $operation:expr) => {
        impl<'t, T: Word> $trait for $type<'t, T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                record!($type, $operation, self, other)
            }
        }
    };
}

operator!(Recorded, Add, add, Operation::Float2(Float2::Add));
operator!(Recorded, Sub, sub, Operation::Float2(Float2::Sub));
operator!(Recorded, Mul, mul, Operation::Float2(Float2::Mul));
operator!(Recorded, Div, div, Operation::Float2(Float2::Div));
operator!(RecordedBits, BitAnd, bitand, Operation::Integer(Integer::And));
operator!(RecordedBits, BitOr, bitor, Operation::Integer(Integer::Or));
operator!(RecordedBits, BitXor, bitxor, Operation::Integer(Integer::Xor));
operator!(RecordedMask, BitAnd, bitand, Operation::And);
operator!(RecordedMask, BitOr, bitor, Operation::Or);

impl<T: Word> Neg for Recorded<'_, T> {
    type Output = Self;
    fn neg(self) -> Self {
        record!(Recorded, Operation::Float1(Float1::Neg), self)
    }
}

impl<T: Word> Not for RecordedBits<'_, T> {
    type Output = Self;
    fn not(self) -> Self {
        record!(RecordedBits, Operation::Integer(Integer::Not), self)
    }
}

impl<T: Word> Not for RecordedMask<'_, T> {
    type Output = Self;
    fn not(self) -> Self {
        record!(RecordedMask, Operation::Not, self)
    }
}

impl<T: Word> Mask for RecordedMask<'_, T> {}

macro_rules! methods {
    ($result:ident, $($name:ident($($other:ident),*) => $operation:expr;)+) => {$(
        fn $name(self $(, $other: Self)*) -> $result<'t, T> {
            record!($result, $operation, self $(, $other)*)
        }
    )+};
}

impl<'t, T: Word> Bits for RecordedBits<'t, T> {
    type Mask = RecordedMask<'t, T>;

    fn splat(value: u64) -> Self {
        let word = T::bits_to_word(T::bits_from_word(value));
        RecordedBits { tape: None, operand: Operand::Constant(word) }
    }
    methods! { RecordedBits,
        wrapping_add(other) => Operation::Integer(Integer::Add);
        wrapping_sub(other) => Operation::Integer(Integer::Sub);
        wrapping_mul(other) => Operation::Integer(Integer::Mul);
        mul_high(other) => Operation::Integer(Integer::MulHigh);
        shl_by(count) => Operation::Integer(Integer::Shl);
        shr_by(count) => Operation::Integer(Integer::Shr);
    }
    methods! { RecordedMask,
        eq(other) => Operation::CompareBits(Compare::Eq);
        lt(other) => Operation::CompareBits(Compare::Lt);
        slt(other) => Operation::CompareBits(Compare::SignedLt);
    }
    fn shl(self, count: u32) -> Self {
        record!(RecordedBits, Operation::Shift(Integer::Shl, count), self)
    }
    fn shr(self, count: u32) -> Self {
        record!(RecordedBits, Operation::Shift(Integer::Shr, count), self)
    }
    fn sar(self, count: u32) -> Self {
        record!(RecordedBits, Operation::Shift(Integer::Sar, count), self)
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        record!(RecordedBits, Operation::Select, mask, yes, no)
    }
}

impl<'t, T: Word> Lane for Recorded<'t, T> {
    type Format = T::Format;
    type Mask = RecordedMask<'t, T>;
    type Bits = RecordedBits<'t, T>;

    fn splat(value: f64) -> Self {
        Recorded { tape: None, operand: Operand::Constant(T::splat(value).to_word()) }
    }
    methods! { Recorded,
        mul_add(factor, addend) => Operation::MulAdd;
        sqrt() => Operation::Float1(Float1::Sqrt);
        abs() => Operation::Float1(Float1::Abs);
    }
    methods! { RecordedMask,
        eq(other) => Operation::Compare(Compare::Eq);
        ne(other) => Operation::Compare(Compare::Ne);
        lt(other) => Operation::Compare(Compare::Lt);
        le(other) => Operation::Compare(Compare::Le);
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        record!(Recorded, Operation::Select, mask, yes, no)
    }
    // Casts move no bits: the handle changes its type.
    fn to_bits(self) -> Self::Bits {
        RecordedBits { tape: self.tape, operand: self.operand }
    }
    fn from_bits(bits: Self::Bits) -> Self {
        Recorded { tape: bits.tape, operand: bits.operand }
    }
    fn from_unsigned(bits: Self::Bits) -> Self {
        record!(Recorded, Operation::Float1(Float1::FromUnsigned), bits)
    }
    fn from_signed(bits: Self::Bits) -> Self {
        record!(Recorded, Operation::Float1(Float1::FromSigned), bits)
    }
    fn rare(mask: Self::Mask, fast: Self, slow: impl FnOnce() -> Self) -> Self {
        Self::select(mask, slow(), fast)
    }
}
