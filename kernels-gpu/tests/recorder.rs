//! A third kind of lane: handles whose operations append to a tape.
//!
//! This is how a function becomes code for another machine. The tape is then evaluated, and must
//! give the bits that the function itself gives; it also shows how many operations each takes.

mod tape;
mod words;

use kernels_gpu::lane::Lane;
use kernels_gpu::math;
use tape::{Recorded, Tape, Word};
use words::Words;

/// One function, recorded and direct.
macro_rules! check_unary {
    ($type:ident, $($name:ident),+) => {$(
        check::<$type>(
            stringify!($name),
            |x, _| math::$name(x),
            |x, _| math::$name(x),
        );
    )+};
}

macro_rules! check_binary {
    ($type:ident, $($name:ident),+) => {$(
        check::<$type>(stringify!($name), |x, y| math::$name(x, y), |x, y| math::$name(x, y));
    )+};
}

/// Records `traced` once, then compares the tape with `direct` on many arguments.
#[expect(clippy::print_stdout, reason = "the lengths, for whoever asks with --nocapture")]
fn check<T: Word + Lane>(
    name: &str,
    traced: impl for<'t> Fn(Recorded<'t, T>, Recorded<'t, T>) -> Recorded<'t, T>,
    direct: impl Fn(T, T) -> T,
) {
    let tape = Tape::<T>::new();
    let (x, y) = (tape.input(), tape.input());
    let output = traced(x, y);
    let mut words = Words(5);
    for i in 0..3_000 {
        let mut draw = || {
            let w = words.next_word();
            match i % 3 {
                0 => T::from_word(w),
                1 => T::splat((w >> 11) as f64 * 2f64.powi(-50) - 4.0),
                _ => T::splat((w >> 40) as f64 * 0.5),
            }
        };
        let (x, y) = (draw(), draw());
        let (result, expected) = (tape.evaluate(&[x, y], output), direct(x, y));
        let both_nan = result.is_not_a_number() && expected.is_not_a_number();
        assert!(
            result.to_word() == expected.to_word() || both_nan,
            "{name}({x:?}, {y:?}): the tape gives {result:?}, the function {expected:?}"
        );
    }
    println!("{name:10} {:4} operations", tape.len());
}

macro_rules! check_all {
    ($type:ident) => {
        check_unary!(
            $type, exp, exp2, expm1, ln, ln_1p, log2, log10, sin, cos, tan, sinh, cosh, tanh, asin,
            acos, atan, erf, erfc, floor, ceil, trunc, round_even, sign, sin_fast, cos_fast,
            tan_fast
        );
        check_binary!($type, pow, atan2, rem_floor, min, max);
    };
}

#[test]
fn recorded_binary32_functions_give_the_same_bits() {
    check_all!(f32);
}

#[test]
fn recorded_binary64_functions_give_the_same_bits() {
    check_all!(f64);
}

/// The functions of the hot loops stay short.
#[test]
fn hot_functions_stay_short() {
    fn length(record: impl for<'t> Fn(Recorded<'t, f32>) -> Recorded<'t, f32>) -> usize {
        let tape = Tape::<f32>::new();
        let x = tape.input();
        record(x);
        tape.len()
    }
    assert!(length(|x| math::exp(x)) <= 26, "exp: {}", length(|x| math::exp(x)));
    assert!(length(|x| math::ln(x)) <= 38, "ln: {}", length(|x| math::ln(x)));
    assert!(length(|x| math::tanh(x)) <= 40, "tanh: {}", length(|x| math::tanh(x)));
    fn both<L: Lane>(x: L) -> L {
        let (sine, cosine) = math::sincos_fast(x);
        sine + cosine
    }
    assert!(length(|x| both(x)) <= 36, "sin and cos: {}", length(|x| both(x)));
}
