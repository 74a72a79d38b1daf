//! `f32` and `f64` as the engine computes with them.

use crate::ir::{BinaryOp, CompareOp, Function1, Function2, UnaryOp};
use kernels_gpu::lane::Lane;
use kernels_gpu::math;

/// A number in the precision of the run.
pub trait Real:
    Lane<Mask = bool> + Default + PartialOrd + std::fmt::Debug + Send + Sync + 'static
{
    /// One.
    const ONE: Self;
    /// Not a number.
    const NAN: Self;
    /// Rounded from 64 bits.
    fn from_f64(value: f64) -> Self;
    /// Exactly as 64 bits.
    fn to_f64(self) -> f64;
    /// Widened or kept.
    fn from_f32(value: f32) -> Self;
    /// Neither infinite nor NaN.
    fn finite(self) -> bool;
    /// As samples for a sink.
    fn samples(values: &[Self]) -> crate::back::Samples<'_>;
    /// Unary operation.
    #[inline(always)]
    fn unary(op: UnaryOp, x: Self) -> Self {
        match op {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => Lane::abs(x),
            UnaryOp::Sqrt => Lane::sqrt(x),
            UnaryOp::Floor => math::floor(x),
            UnaryOp::Ceil => math::ceil(x),
            UnaryOp::Trunc => math::trunc(x),
            UnaryOp::Sign => math::sign(x),
        }
    }

    /// Binary operation.
    #[inline(always)]
    fn binary(op: BinaryOp, x: Self, y: Self) -> Self {
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

    /// Comparison.
    #[inline(always)]
    fn compare(op: CompareOp, x: Self, y: Self) -> bool {
        match op {
            CompareOp::Lt => Lane::lt(x, y),
            CompareOp::Le => Lane::le(x, y),
            CompareOp::Gt => Lane::gt(x, y),
            CompareOp::Ge => Lane::ge(x, y),
            CompareOp::Eq => Lane::eq(x, y),
            CompareOp::Ne => Lane::ne(x, y),
        }
    }

    /// Function of one real.
    #[inline(always)]
    fn call1(function: Function1, x: Self) -> Self {
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

    /// Function of two reals.
    #[inline(always)]
    fn call2(function: Function2, x: Self, y: Self) -> Self {
        match function {
            Function2::Pow => math::pow(x, y),
            Function2::Atan2 => math::atan2(x, y),
        }
    }
}

/// 1 for true, 0 for false: how booleans are kept in lanes.
#[inline(always)]
pub(super) fn truth<T: Real>(condition: bool) -> T {
    if condition { T::ONE } else { T::default() }
}

macro_rules! real {
    ($float:ident, $samples:ident) => {
        impl Real for $float {
            const ONE: Self = 1.0;
            const NAN: Self = $float::NAN;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                $float::from(value)
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn samples(values: &[Self]) -> crate::back::Samples<'_> {
                crate::back::Samples::$samples(values)
            }
        }
    };
}

real!(f32, F32);
real!(f64, F64);
