//! What binary32 and binary64 differ in: layout, thresholds, constants and polynomials.

use crate::lane::Lane;

/// IEEE 754 binary32 (`f32`).
#[derive(Clone, Copy, Debug)]
pub struct Binary32;

/// IEEE 754 binary64 (`f64`).
#[derive(Clone, Copy, Debug)]
pub struct Binary64;

/// A floating-point format: the layout of its bits and the range limits of the functions.
///
/// Implemented by [`Binary32`] and [`Binary64`] only.
pub trait Format: Coefficients {
    /// Bits of a value.
    const WIDTH: u32;
    /// log2 of `WIDTH`.
    const LOG2_WIDTH: u32;
    /// Stored bits of the significand.
    const MANTISSA: u32;
    /// Exponent bias.
    const BIAS: u64;
    /// The sign bit.
    const SIGN: u64 = 1 << (Self::WIDTH - 1);
    /// `1.5 · 2^MANTISSA`: adding it rounds a small number to an integer, held in the low bits.
    const MAGIC: f64 = 1.5 * (1u64 << Self::MANTISSA) as f64;
    /// The bits of `MAGIC`.
    const MAGIC_BITS: u64 =
        ((Self::BIAS + Self::MANTISSA as u64) << Self::MANTISSA) | (1 << (Self::MANTISSA - 1));
    /// The bits of 2/3 (rounded down), where `ln` cuts the significand.
    const TWO_THIRDS_BITS: u64;
    /// The smallest normal number.
    const MIN_NORMAL: f64;
    /// `exp` is 0 below this argument …
    const EXP_MIN: f64;
    /// … and infinite above this one.
    const EXP_MAX: f64;
    /// `expm1` is -1 below this argument.
    const EXPM1_MIN: f64;
    /// |log2| of every finite result is below this.
    const EXP2_MAX: f64;
    /// `tanh` is 1 above this argument.
    const TANH_MAX: f64;
    /// `erfc` is 0 above this argument.
    const ERFC_MAX: f64;
    /// From here on the arguments of `sin`, `cos` and `tan` need the long reduction.
    const REDUCE_MAX: f64;
    /// Rounds of `rem_floor` that reach the largest quotient.
    const REM_ROUNDS: u32;
}

impl Format for Binary32 {
    const WIDTH: u32 = 32;
    const LOG2_WIDTH: u32 = 5;
    const MANTISSA: u32 = 23;
    const BIAS: u64 = 127;
    const TWO_THIRDS_BITS: u64 = 0x3f2a_aaaa;
    const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;
    const EXP_MIN: f64 = -104.0;
    const EXP_MAX: f64 = 89.0;
    const EXPM1_MIN: f64 = -30.0;
    const EXP2_MAX: f64 = 160.0;
    const TANH_MAX: f64 = 10.0;
    const ERFC_MAX: f64 = 10.2;
    const REDUCE_MAX: f64 = (1u64 << 19) as f64;
    const REM_ROUNDS: u32 = 13;
}

impl Format for Binary64 {
    const WIDTH: u32 = 64;
    const LOG2_WIDTH: u32 = 6;
    const MANTISSA: u32 = 52;
    const BIAS: u64 = 1023;
    const TWO_THIRDS_BITS: u64 = 0x3fe5_5555_5555_5555;
    const MIN_NORMAL: f64 = f64::MIN_POSITIVE;
    const EXP_MIN: f64 = -746.0;
    const EXP_MAX: f64 = 710.0;
    const EXPM1_MIN: f64 = -50.0;
    const EXP2_MAX: f64 = 1100.0;
    const TANH_MAX: f64 = 20.0;
    const ERFC_MAX: f64 = 27.3;
    const REDUCE_MAX: f64 = (1u64 << 30) as f64;
    const REM_ROUNDS: u32 = 42;
}

/// The generated part of a format: see `tools/fit.py` for what each polynomial approximates.
pub trait Coefficients: Copy + 'static {
    const LOG2_E: f64;
    const LN2_HI: f64;
    const LN2_LO: f64;
    const FRAC_2_PI: f64;
    const PIO2_1: f64;
    const PIO2_2: f64;
    const PIO2_3: f64;
    const PIO2_HI: f64;
    const PIO2_LO: f64;
    const LOG2_C1_HI: f64;
    const LOG2_C1_LO: f64;
    const LOG2_C3_HI: f64;
    const LOG2_C3_LO: f64;
    const LOG10_2_HI: f64;
    const LOG10_2_LO: f64;
    const ERFC_CENTRE: f64;
    const ERFCX_C0_HI: f64;
    const ERFCX_C0_LO: f64;
    const ERFCX_C1: f64;
    const TWO_OVER_PI: &'static [u64];

    fn exp_tail<L: Lane>(x: L) -> L;
    fn exp2_tail<L: Lane>(x: L) -> L;
    fn ln_tail<L: Lane>(x: L) -> L;
    fn log2_tail<L: Lane>(x: L) -> L;
    fn sin_tail<L: Lane>(x: L) -> L;
    fn cos_tail<L: Lane>(x: L) -> L;
    fn tan_tail<L: Lane>(x: L) -> L;
    fn tanh_tail<L: Lane>(x: L) -> L;
    fn sinh_tail<L: Lane>(x: L) -> L;
    fn asin_tail<L: Lane>(x: L) -> L;
    fn atan_tail<L: Lane>(x: L) -> L;
    fn erf_tail<L: Lane>(x: L) -> L;
    fn erfcx_tail<L: Lane>(x: L) -> L;
}
