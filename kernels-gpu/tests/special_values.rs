//! Zeros, infinities, NaN, exact points and the edges of the range.

use kernels_gpu::math;

/// Equal, telling -0 from 0; any NaN equals any NaN.
macro_rules! same {
    ($type:ident, $call:expr, $expected:expr) => {
        let (result, expected): ($type, $type) = ($call, $expected);
        assert!(
            result.to_bits() == expected.to_bits() || (result.is_nan() && expected.is_nan()),
            "{}: {} = {result:?}, not {expected:?}",
            stringify!($type),
            stringify!($call)
        );
    };
}

macro_rules! special_values {
    ($module:ident, $type:ident) => {
        mod $module {
            use super::math::*;
            use core::$type::consts::{FRAC_PI_2, FRAC_PI_4, PI};

            const INF: $type = $type::INFINITY;
            const NAN: $type = $type::NAN;
            const TINY: $type = $type::from_bits(1);

            #[test]
            fn exponentials() {
                for zero in [0.0, -0.0] {
                    same!($type, exp(zero), 1.0);
                    same!($type, exp2(zero), 1.0);
                    same!($type, expm1(zero), zero);
                    same!($type, sinh(zero), zero);
                    same!($type, cosh(zero), 1.0);
                    same!($type, tanh(zero), zero);
                }
                for (function, low) in
                    [(exp as fn($type) -> $type, 0.0), (exp2, 0.0), (expm1, -1.0)]
                {
                    same!($type, function(INF), INF);
                    same!($type, function(-INF), low);
                    same!($type, function($type::MAX), INF);
                    same!($type, function($type::MIN), low);
                    same!($type, function(NAN), NAN);
                }
                for n in -20i32..=20 {
                    same!($type, exp2(n as $type), (2.0 as $type).powi(n));
                }
                let lowest = 1 - $type::MAX_EXP - $type::MANTISSA_DIGITS as i32 + 2;
                same!($type, exp2(lowest as $type), TINY);
                same!($type, exp2($type::MAX_EXP as $type), INF);
                same!($type, expm1(TINY), TINY);
                same!($type, expm1(-TINY), -TINY);
                same!($type, expm1($type::MIN_POSITIVE), $type::MIN_POSITIVE);
                for infinite in [INF, -INF] {
                    same!($type, sinh(infinite), infinite);
                    same!($type, cosh(infinite), INF);
                    same!($type, tanh(infinite), (1.0 as $type).copysign(infinite));
                }
                same!($type, sinh(-TINY), -TINY);
                same!($type, tanh(-TINY), -TINY);
                same!($type, tanh($type::MIN), -1.0);
                same!($type, sinh(NAN), NAN);
                same!($type, cosh(NAN), NAN);
                same!($type, tanh(NAN), NAN);
            }

            #[test]
            fn logarithms() {
                for function in [ln as fn($type) -> $type, log2, log10] {
                    same!($type, function(1.0), 0.0);
                    same!($type, function(0.0), -INF);
                    same!($type, function(-0.0), -INF);
                    same!($type, function(-1.0), NAN);
                    same!($type, function(-TINY), NAN);
                    same!($type, function(-INF), NAN);
                    same!($type, function(INF), INF);
                    same!($type, function(NAN), NAN);
                }
                let lowest = 1 - $type::MAX_EXP - $type::MANTISSA_DIGITS as i32 + 2;
                same!($type, log2(TINY), lowest as $type);
                for n in -30i32..=30 {
                    same!($type, log2((2.0 as $type).powi(n)), n as $type);
                }
                let mut ten = 1.0;
                for n in 0..=10 {
                    same!($type, log10(ten), n as $type);
                    ten *= 10.0;
                }
                same!($type, ln_1p(0.0), 0.0);
                same!($type, ln_1p(-0.0), -0.0);
                same!($type, ln_1p(TINY), TINY);
                same!($type, ln_1p(-TINY), -TINY);
                same!($type, ln_1p(-1.0), -INF);
                same!($type, ln_1p(-1.5), NAN);
                same!($type, ln_1p(INF), INF);
                same!($type, ln_1p(-INF), NAN);
                same!($type, ln_1p(NAN), NAN);
            }

            #[test]
            fn circular_functions() {
                for zero in [0.0, -0.0] {
                    same!($type, sin(zero), zero);
                    same!($type, cos(zero), 1.0);
                    same!($type, tan(zero), zero);
                    same!($type, asin(zero), zero);
                    same!($type, acos(zero), FRAC_PI_2);
                    same!($type, atan(zero), zero);
                }
                for function in [sin as fn($type) -> $type, cos, tan] {
                    for x in [INF, -INF, NAN] {
                        same!($type, function(x), NAN);
                    }
                }
                for tiny in [TINY, -TINY, $type::MIN_POSITIVE] {
                    same!($type, sin(tiny), tiny);
                    same!($type, tan(tiny), tiny);
                    same!($type, asin(tiny), tiny);
                    same!($type, atan(tiny), tiny);
                    same!($type, cos(tiny), 1.0);
                }
                same!($type, asin(1.0), FRAC_PI_2);
                same!($type, asin(-1.0), -FRAC_PI_2);
                same!($type, acos(1.0), 0.0);
                same!($type, acos(-1.0), PI);
                for outside in [1.0 + $type::EPSILON, -2.0, INF, NAN] {
                    same!($type, asin(outside), NAN);
                    same!($type, acos(outside), NAN);
                }
                same!($type, atan(1.0), FRAC_PI_4);
                same!($type, atan(INF), FRAC_PI_2);
                same!($type, atan(-INF), -FRAC_PI_2);
                same!($type, atan(NAN), NAN);
                same!($type, sincos(0.7).0, sin(0.7));
                same!($type, sincos(0.7).1, cos(0.7));
            }

            #[test]
            fn atan2_agrees_with_ieee_754_on_zeros_infinities_and_quadrants() {
                let values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN];
                for y in values {
                    for x in values {
                        let expected = (y as f64).atan2(x as f64) as $type;
                        same!($type, atan2(y, x), expected);
                    }
                }
                same!($type, atan2(TINY, $type::MAX), 0.0);
                same!($type, atan2($type::MAX, TINY), FRAC_PI_2);
                same!($type, atan2(-TINY, -TINY), -3.0 * FRAC_PI_4);
            }

            #[test]
            fn pow_agrees_with_ieee_754_on_special_arguments() {
                let values = [
                    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e30, -1e30,
                    16777215.0, 16777216.0, INF, -INF, NAN, TINY, -TINY,
                ];
                for x in values {
                    for y in values {
                        let exact = (x as f64).powf(y as f64);
                        let special = exact == 0.0 || !exact.is_finite() || exact.abs() == 1.0;
                        if special {
                            same!($type, pow(x, y), exact as $type);
                        }
                    }
                }
                same!($type, pow(3.0, 2.0), 9.0);
                same!($type, pow(-3.0, 3.0), -27.0);
                same!($type, pow(-2.0, -3.0), -0.125);
                same!($type, pow(9.0, 0.5), 3.0);
                for n in -30i32..=30 {
                    same!($type, pow(2.0, n as $type), (2.0 as $type).powi(n));
                }
            }

            #[test]
            fn error_functions() {
                same!($type, erf(0.0), 0.0);
                same!($type, erf(-0.0), -0.0);
                same!($type, erf(INF), 1.0);
                same!($type, erf(-INF), -1.0);
                same!($type, erf($type::MIN), -1.0);
                same!($type, erf(NAN), NAN);
                same!($type, erfc(0.0), 1.0);
                same!($type, erfc(-0.0), 1.0);
                same!($type, erfc(INF), 0.0);
                same!($type, erfc($type::MAX), 0.0);
                same!($type, erfc(-INF), 2.0);
                same!($type, erfc(NAN), NAN);
            }

            #[test]
            fn minimum_maximum_and_sign() {
                same!($type, min(1.0, 2.0), 1.0);
                same!($type, max(1.0, 2.0), 2.0);
                same!($type, min(INF, -INF), -INF);
                for (x, y) in [(NAN, 1.0), (1.0, NAN), (NAN, NAN)] {
                    same!($type, min(x, y), NAN);
                    same!($type, max(x, y), NAN);
                }
                same!($type, sign(-3.0), -1.0);
                same!($type, sign(TINY), 1.0);
                same!($type, sign(-0.0), -0.0);
                same!($type, sign(-INF), -1.0);
                same!($type, sign(NAN), NAN);
            }

            #[test]
            fn rem_floor_of_special_arguments() {
                same!($type, rem_floor(5.0, 3.0), 2.0);
                same!($type, rem_floor(-5.0, 3.0), 1.0);
                same!($type, rem_floor(5.0, -3.0), -1.0);
                same!($type, rem_floor(-5.0, -3.0), -2.0);
                same!($type, rem_floor(6.0, -3.0), -0.0);
                same!($type, rem_floor(-6.0, 3.0), 0.0);
                same!($type, rem_floor(2.0, INF), 2.0);
                same!($type, rem_floor(-2.0, INF), INF);
                same!($type, rem_floor(-2.0, -INF), -2.0);
                same!($type, rem_floor(-0.0, 3.0), 0.0);
                for (x, y) in [(1.0, 0.0), (INF, 2.0), (NAN, 1.0), (1.0, NAN), (INF, INF)] {
                    same!($type, rem_floor(x, y), NAN);
                }
            }
        }
    };
}

special_values!(single, f32);
special_values!(double, f64);
