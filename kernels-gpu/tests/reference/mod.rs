//! What the functions are measured against, and how: shared by the tests and the error table.

use kernels_gpu::math;

/// A function of one argument with its reference.
pub(crate) struct Unary {
    /// Its name in [`kernels_gpu::math`].
    pub(crate) name: &'static str,
    /// Ours in binary32.
    pub(crate) single: fn(&[f32], &mut [f32]),
    /// Ours in binary64.
    pub(crate) double: fn(&[f64], &mut [f64]),
    /// An independent implementation, in binary64, good to an ulp of binary64.
    pub(crate) reference: fn(f64) -> f64,
}

/// A function of two arguments with its reference.
pub(crate) struct Binary {
    /// Its name in [`kernels_gpu::math`].
    pub(crate) name: &'static str,
    /// Ours in binary32.
    pub(crate) single: fn(f32, f32) -> f32,
    /// Ours in binary64.
    pub(crate) double: fn(f64, f64) -> f64,
    /// An independent implementation, in binary64, good to an ulp of binary64.
    pub(crate) reference: fn(f64, f64) -> f64,
}

/// Runs `work` in a function compiled with fused multiply-add, where the processor has it: without,
/// each one is a library call and the runs take ten times as long. The bits are the same.
macro_rules! loop_over {
    ($type:ty, $function:path) => {
        |input: &[$type], output: &mut [$type]| {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn run(input: &[$type], output: &mut [$type]) {
                    for (y, &x) in output.iter_mut().zip(input) {
                        *y = $function(x);
                    }
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features have just been detected.
                    return unsafe { run(input, output) };
                }
            }
            for (y, &x) in output.iter_mut().zip(input) {
                *y = $function(x);
            }
        }
    };
}

macro_rules! unary {
    ($name:ident, $reference:expr) => {
        Unary {
            name: stringify!($name),
            single: loop_over!(f32, math::$name),
            double: loop_over!(f64, math::$name),
            reference: $reference,
        }
    };
}

/// All functions of one argument whose results are rounded.
pub(crate) fn unary_functions() -> Vec<Unary> {
    vec![
        unary!(exp, f64::exp),
        unary!(exp2, f64::exp2),
        unary!(expm1, f64::exp_m1),
        unary!(ln, f64::ln),
        unary!(ln_1p, f64::ln_1p),
        unary!(log2, f64::log2),
        unary!(log10, f64::log10),
        unary!(sin, f64::sin),
        unary!(cos, f64::cos),
        unary!(tan, f64::tan),
        unary!(sinh, f64::sinh),
        unary!(cosh, f64::cosh),
        unary!(tanh, f64::tanh),
        unary!(asin, f64::asin),
        unary!(acos, f64::acos),
        unary!(atan, f64::atan),
        unary!(erf, libm::erf),
        unary!(erfc, libm::erfc),
    ]
}

/// All functions of two arguments whose results are rounded.
pub(crate) fn binary_functions() -> Vec<Binary> {
    vec![
        Binary { name: "pow", single: math::pow, double: math::pow, reference: f64::powf },
        Binary { name: "atan2", single: math::atan2, double: math::atan2, reference: f64::atan2 },
    ]
}

/// Distance of a binary32 result from the true value in units in the last place of binary32;
/// infinite if one is NaN and the other is not.
pub(crate) fn ulps_f32(result: f32, truth: f64) -> f64 {
    if result.is_nan() || truth.is_nan() {
        return if result.is_nan() && truth.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // What rounds to infinity is infinite.
    let limit = 2f64.powi(128) - 2f64.powi(103);
    if result.is_infinite() || truth.abs() >= limit {
        let same = result.is_infinite() && truth.abs() >= limit * (1.0 - 2f64.powi(-22));
        return if same && (f64::from(result) > 0.0) == (truth > 0.0) {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = ((truth.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from(result) - truth).abs() * 2f64.powi(23 - exponent.max(-126))
}
