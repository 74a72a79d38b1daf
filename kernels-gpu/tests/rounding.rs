//! The exact functions against the standard library's.

mod words;

use kernels_gpu::math;
use words::Words;

macro_rules! against_std {
    ($name:ident, $type:ident, $bits:ident) => {
        #[test]
        fn $name() {
            let mut words = Words(3);
            let mut draw = || {
                let w = words.next_word();
                match w & 3 {
                    0 => $type::from_bits(words.next_word() as $bits),
                    1 => (w as i32 >> 16) as $type * 0.5,
                    2 => (w >> 11) as $type * 1e-12 - 3.0,
                    _ => ((w >> 3) as u16 as $type / 1024.0 - 32.0).exp2(),
                }
            };
            for _ in 0..100_000 {
                let (x, y) = (draw(), draw());
                if x.is_nan() || y.is_nan() {
                    continue;
                }
                assert_eq!(math::floor(x).to_bits(), x.floor().to_bits(), "floor {x:e}");
                assert_eq!(math::ceil(x).to_bits(), x.ceil().to_bits(), "ceil {x:e}");
                assert_eq!(math::trunc(x).to_bits(), x.trunc().to_bits(), "trunc {x:e}");
                assert_eq!(
                    math::round_even(x).to_bits(),
                    x.round_ties_even().to_bits(),
                    "round_even {x:e}"
                );
                if y != 0.0 && x.is_finite() && y.is_finite() {
                    // `%` is exact and has the dividend's sign.
                    let truncated = x % y;
                    let floored = if truncated == 0.0 {
                        (0.0 as $type).copysign(y)
                    } else if (truncated < 0.0) != (y < 0.0) {
                        truncated + y
                    } else {
                        truncated
                    };
                    assert_eq!(
                        math::rem_floor(x, y).to_bits(),
                        floored.to_bits(),
                        "rem_floor({x:e}, {y:e})"
                    );
                }
            }
        }
    };
}

against_std!(binary32_agrees, f32, u32);
against_std!(binary64_agrees, f64, u64);
