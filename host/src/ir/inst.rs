//! The instruction set.

pub use kernels_gpu::op::{BinaryOp, CompareOp, Function1, Function2, LogicOp, UnaryOp};

/// The value that instruction `.0` of a section defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number in the precision of the run.
    Real,
    /// True or false.
    Bool,
}

/// What a section reads from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Time in the model's own unit.
    Time,
    /// A state variable of this node.
    State(u32),
    /// A parameter of this point and node.
    Parameter(u32),
    /// A coupling input of this node, frozen over the step.
    Coupling(u32),
    /// A gathered sum of this node.
    Gathered(u32),
    /// A state variable of the source node, delayed; in `edges` only.
    SourceState(u32),
    /// A sampled stimulus at this node.
    Signal(u32),
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inst {
    /// A real constant.
    Const(f64),
    /// A boolean constant.
    Bool(bool),
    /// A value from outside.
    Input(Input),
    /// One real to one real.
    Unary(UnaryOp, Value),
    /// Two reals to one real.
    Binary(BinaryOp, Value, Value),
    /// a·b + c, rounded once.
    MulAdd(Value, Value, Value),
    /// Two reals to a boolean.
    Compare(CompareOp, Value, Value),
    /// Two booleans to one.
    Logic(LogicOp, Value, Value),
    /// The opposite of a boolean.
    Not(Value),
    /// The first real where the boolean holds, else the second.
    Select(Value, Value, Value),
    /// A function of one real.
    Call1(Function1, Value),
    /// A function of two reals.
    Call2(Function2, Value, Value),
}

impl Inst {
    /// The values it reads, in order.
    pub fn operands(&self) -> impl Iterator<Item = Value> + use<> {
        let operands = match *self {
            Self::Const(_) | Self::Bool(_) | Self::Input(_) => [None; 3],
            Self::Unary(_, x) | Self::Not(x) | Self::Call1(_, x) => [Some(x), None, None],
            Self::Binary(_, x, y)
            | Self::Compare(_, x, y)
            | Self::Logic(_, x, y)
            | Self::Call2(_, x, y) => [Some(x), Some(y), None],
            Self::MulAdd(x, y, z) | Self::Select(x, y, z) => [Some(x), Some(y), Some(z)],
        };
        operands.into_iter().flatten()
    }

    /// The same instruction over other values.
    #[must_use]
    pub fn map_operands(self, map: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Const(_) | Self::Bool(_) | Self::Input(_) => self,
            Self::Unary(op, x) => Self::Unary(op, map(x)),
            Self::Not(x) => Self::Not(map(x)),
            Self::Call1(function, x) => Self::Call1(function, map(x)),
            Self::Binary(op, x, y) => Self::Binary(op, map(x), map(y)),
            Self::Compare(op, x, y) => Self::Compare(op, map(x), map(y)),
            Self::Logic(op, x, y) => Self::Logic(op, map(x), map(y)),
            Self::Call2(function, x, y) => Self::Call2(function, map(x), map(y)),
            Self::MulAdd(x, y, z) => Self::MulAdd(map(x), map(y), map(z)),
            Self::Select(c, x, y) => Self::Select(map(c), map(x), map(y)),
        }
    }

    /// The type of its value.
    pub fn result_type(&self) -> Type {
        match self {
            Self::Bool(_) | Self::Compare(..) | Self::Logic(..) | Self::Not(_) => Type::Bool,
            _ => Type::Real,
        }
    }

    /// The type that operand `at` must have.
    pub fn operand_type(&self, at: usize) -> Type {
        match self {
            Self::Logic(..) | Self::Not(_) => Type::Bool,
            Self::Select(..) if at == 0 => Type::Bool,
            _ => Type::Real,
        }
    }
}
