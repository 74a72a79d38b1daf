//! The SIMD loops give the bits of the functions, rare elements or not.

mod words;

use kernels_gpu::math::{self, slice};
use words::Words;

macro_rules! slices_equal_functions {
    ($name:ident, $type:ident, $bits:ident) => {
        #[test]
        fn $name() {
            let mut words = Words(21);
            // Without, with one, and with many rare arguments.
            for rare in [0, 1, 100] {
                let mut draw = || (words.next_word() >> 11) as $type * 1e-14 - 30.0;
                let mut input: Vec<$type> = (0..201).map(|_| draw()).collect();
                let divisor: Vec<$type> = (0..201).map(|_| draw()).collect();
                for k in 0..rare {
                    input[2 * k] = match k {
                        0 => 1e30,
                        1 => $type::INFINITY,
                        2 => $type::NAN,
                        _ => $type::from_bits(words.next_word() as $bits),
                    };
                }
                let mut output = vec![0.0; 201];
                let check = |output: &[$type], expected: &dyn Fn(usize) -> $type| {
                    for (i, y) in output.iter().enumerate() {
                        let truth = expected(i);
                        assert!(
                            y.to_bits() == truth.to_bits() || (y.is_nan() && truth.is_nan()),
                            "{y:e} is not {truth:e} at {i}, argument {:e}",
                            input[i]
                        );
                    }
                };
                slice::sin_slice(&input, &mut output);
                check(&output, &|i| math::sin(input[i]));
                slice::cos_slice(&input, &mut output);
                check(&output, &|i| math::cos(input[i]));
                slice::tan_slice(&input, &mut output);
                check(&output, &|i| math::tan(input[i]));
                slice::rem_floor_slice(&input, &divisor, &mut output);
                check(&output, &|i| math::rem_floor(input[i], divisor[i]));
                slice::map(&input, &mut output, math::exp);
                check(&output, &|i| math::exp(input[i]));
            }
        }
    };
}

slices_equal_functions!(binary32_slices_equal_functions, f32, u32);
slices_equal_functions!(binary64_slices_equal_functions, f64, u64);

/// The same function compiled with and without fused multiply-add instructions.
#[test]
fn target_features_do_not_change_bits() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide(input: &[f32], output: &mut [f32]) {
            slice::map(input, output, |x| math::exp(x) + math::tanh(x) + math::ln(x.abs()));
        }
        if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("fma") {
            return;
        }
        let mut words = Words(22);
        let input: Vec<f32> =
            (0..10_000).map(|_| f32::from_bits(words.next_word() as u32)).collect();
        let (mut plain, mut simd) = (vec![0.0; input.len()], vec![0.0; input.len()]);
        slice::map(&input, &mut plain, |x| math::exp(x) + math::tanh(x) + math::ln(x.abs()));
        // SAFETY: the features have just been detected.
        unsafe { wide(&input, &mut simd) };
        for ((&x, a), b) in input.iter().zip(&plain).zip(&simd) {
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{x:e}: {a:e} {b:e}");
        }
    }
}
