//! The operations of which equations are made, and what they compute.
//!
//! One definition for everything that runs equations on numbers. Comparisons and truth values are those
//! of a single number: recorders have their own.

use crate::lane::Lane;
use crate::math;

/// Operations on one real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// −x
    Neg,
    /// |x|
    Abs,
    /// Square root, correctly rounded
    Sqrt,
    /// Largest integer ≤ x
    Floor,
    /// Smallest integer ≥ x
    Ceil,
    /// Towards zero
    Trunc,
    /// −1, 0 or 1; 0 for ±0, NaN for NaN
    Sign,
}

/// Operations on two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// x + y
    Add,
    /// x − y
    Sub,
    /// x · y
    Mul,
    /// x / y
    Div,
    /// The smaller; NaN if either is; [`math::min`]
    Min,
    /// The larger; NaN if either is; [`math::max`]
    Max,
    /// Remainder with the sign of the divisor: x − y·floor(x/y), exact as [`math::rem_floor`]
    Rem,
}

/// Comparisons of two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// <
    Lt,
    /// ≤
    Le,
    /// >
    Gt,
    /// ≥
    Ge,
    /// =
    Eq,
    /// ≠
    Ne,
}

/// Operations on two booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// Both
    And,
    /// At least one
    Or,
}

/// Functions of one real, in [`math`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the function of that name")]
pub enum Function1 {
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
    Erfc,
}

/// Functions of two reals, in [`math`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the function of that name")]
pub enum Function2 {
    Pow,
    Atan2,
}

impl UnaryOp {
    /// The operation on `x`.
    #[inline(always)]
    pub fn of<L: Lane>(self, x: L) -> L {
        match self {
            Self::Neg => -x,
            Self::Abs => Lane::abs(x),
            Self::Sqrt => Lane::sqrt(x),
            Self::Floor => math::floor(x),
            Self::Ceil => math::ceil(x),
            Self::Trunc => math::trunc(x),
            Self::Sign => math::sign(x),
        }
    }
}

impl BinaryOp {
    /// The operation on `x` and `y`.
    #[inline(always)]
    pub fn of<L: Lane>(self, x: L, y: L) -> L {
        match self {
            Self::Add => x + y,
            Self::Sub => x - y,
            Self::Mul => x * y,
            Self::Div => x / y,
            Self::Min => math::min(x, y),
            Self::Max => math::max(x, y),
            Self::Rem => math::rem_floor(x, y),
        }
    }
}

impl CompareOp {
    /// Whether the comparison holds.
    #[inline(always)]
    pub fn of<L: Lane>(self, x: L, y: L) -> L::Mask {
        match self {
            Self::Lt => Lane::lt(x, y),
            Self::Le => Lane::le(x, y),
            Self::Gt => Lane::gt(x, y),
            Self::Ge => Lane::ge(x, y),
            Self::Eq => Lane::eq(x, y),
            Self::Ne => Lane::ne(x, y),
        }
    }
}

impl Function1 {
    /// The function of `x`.
    #[inline(always)]
    pub fn of<L: Lane>(self, x: L) -> L {
        match self {
            Self::Exp => math::exp(x),
            Self::Expm1 => math::expm1(x),
            Self::Ln => math::ln(x),
            Self::Ln1p => math::ln_1p(x),
            Self::Log2 => math::log2(x),
            Self::Log10 => math::log10(x),
            Self::Sin => math::sin(x),
            Self::Cos => math::cos(x),
            Self::Tan => math::tan(x),
            Self::Sinh => math::sinh(x),
            Self::Cosh => math::cosh(x),
            Self::Tanh => math::tanh(x),
            Self::Asin => math::asin(x),
            Self::Acos => math::acos(x),
            Self::Atan => math::atan(x),
            Self::Erf => math::erf(x),
            Self::Erfc => math::erfc(x),
        }
    }
}

impl Function2 {
    /// The function of `x` and `y`.
    #[inline(always)]
    pub fn of<L: Lane>(self, x: L, y: L) -> L {
        match self {
            Self::Pow => math::pow(x, y),
            Self::Atan2 => math::atan2(x, y),
        }
    }
}
