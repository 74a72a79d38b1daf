//! How far the functions are from the truth, sampled; and over every binary32 number on request.

mod reference;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use reference::{binary_functions, ulps_f32, unary_functions};
use words::Words;

/// What is promised, in ulp.
const PROMISE: f64 = 2.0;

/// Bit patterns of all kinds: every exponent, and the neighbourhood of the interesting numbers.
fn sample_f32(count: usize) -> Vec<f32> {
    let mut words = Words(11);
    let anchors = [0.0f32, 0.5, 0.625, 0.75, 2.0 / 3.0, 1.0, 4.0 / 3.0, 9.0, 88.7, 103.9, 524288.0];
    (0..count)
        .map(|i| {
            let w = words.next_word();
            let (high, low) = ((w >> 32) as u32, w as u32);
            match i % 3 {
                0 => f32::from_bits(low),
                1 => f32::from_bits((0x3000_0000 + high % 0x1300_0000) | (low & 1) << 31),
                _ => {
                    let near = anchors[low as usize % anchors.len()].to_bits() + high % 4096;
                    f32::from_bits(near.wrapping_sub(2048) ^ (low & 0x8000_0000))
                }
            }
        })
        .collect()
}

#[test]
fn binary32_functions_of_one_argument_keep_the_promise() {
    let input = sample_f32(60_000);
    let mut output = vec![0.0; input.len()];
    for function in unary_functions() {
        (function.single)(&input, &mut output);
        for (&x, &y) in input.iter().zip(&output) {
            let truth = (function.reference)(f64::from(x));
            let error = ulps_f32(y, truth);
            assert!(
                error <= PROMISE,
                "{}({x:e}) = {y:e} is {error} ulp from {truth:e} (bits {:08x})",
                function.name,
                x.to_bits()
            );
        }
    }
}

#[test]
fn binary32_functions_of_two_arguments_keep_the_promise() {
    let first = sample_f32(60_000);
    let mut words = Words(12);
    for function in binary_functions() {
        for &x in &first {
            let w = words.next_word();
            let y = match w % 3 {
                0 => f32::from_bits((w >> 32) as u32),
                1 => ((w >> 32) as i32 % 40) as f32 * 0.5,
                _ => (w >> 40) as f32 / 65536.0 - 128.0,
            };
            let truth = (function.reference)(f64::from(x), f64::from(y));
            let result = (function.single)(x, y);
            let error = ulps_f32(result, truth);
            assert!(
                error <= PROMISE,
                "{}({x:e}, {y:e}) = {result:e} is {error} ulp from {truth:e}",
                function.name
            );
        }
    }
}

/// The records of one file of `tests/vectors`: arguments, rounded result, rest in ulp.
fn vectors(name: &str, arguments: usize) -> Vec<(Vec<f64>, f64, f64)> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let folder = std::env::var_os("VECTORS").map_or(shipped, PathBuf::from);
    let path = folder.join(format!("{name}.bin"));
    let bytes = std::fs::read(&path).expect("a file of vectors");
    let size = 8 * arguments + 10;
    assert_eq!(bytes.len() % size, 0);
    bytes
        .chunks_exact(size)
        .map(|record| {
            let float =
                |at: usize| f64::from_le_bytes(record[at..at + 8].try_into().expect("8 bytes"));
            let rest = i16::from_le_bytes(record[size - 2..].try_into().expect("2 bytes"));
            let given = (0..arguments).map(|k| float(8 * k)).collect();
            (given, float(8 * arguments), f64::from(rest) / 65536.0)
        })
        .collect()
}

/// Signed distance in ulp of the truth `nearest + rest`.
fn ulps_of_vector(result: f64, nearest: f64, rest: f64) -> f64 {
    let exponent = (((nearest.to_bits() >> 52) & 0x7ff) as i32).max(1) - 1023;
    let difference = result - nearest;
    // In two factors: 2^(52 - exponent) itself may overflow.
    let half = (52 - exponent) / 2;
    (difference * 2f64.powi(half) * 2f64.powi(52 - exponent - half) - rest).abs()
}

#[test]
fn binary64_functions_keep_the_promise_against_1300_bit_results() {
    let mut checked = 0;
    let mut worst = BTreeMap::new();
    let mut check = |name: &str, given: &[f64], result: f64, nearest: f64, rest: f64| {
        let error = ulps_of_vector(result, nearest, rest);
        let so_far: &mut f64 = worst.entry(name.to_owned()).or_default();
        *so_far = so_far.max(error);
        assert!(error <= PROMISE, "{name}({given:?}) = {result:e} is {error} ulp from {nearest:e}");
        checked += 1;
    };
    for function in unary_functions() {
        for (given, nearest, rest) in vectors(function.name, 1) {
            let mut output = [0.0];
            (function.double)(&given, &mut output);
            check(function.name, &given, output[0], nearest, rest);
        }
    }
    for function in binary_functions() {
        for (given, nearest, rest) in vectors(function.name, 2) {
            let result = (function.double)(given[0], given[1]);
            check(function.name, &given, result, nearest, rest);
        }
    }
    assert!(checked > 7_500, "{checked} records");
    for (name, error) in worst {
        println!("{name:6} {error:.3} ulp");
    }
}

#[test]
#[ignore = "all 2^32 arguments: minutes, and only with --release"]
fn binary32_functions_keep_the_promise_everywhere() {
    let stride: usize =
        std::env::var("STRIDE").ok().map_or(1, |s| s.parse().expect("STRIDE is a number"));
    let wanted = std::env::var("FUNCTIONS").unwrap_or("exp ln sin cos tanh".into());
    for function in unary_functions() {
        if !wanted.split_whitespace().any(|name| name == function.name) {
            continue;
        }
        let mut worst = (0.0, 0.0f32);
        let mut input = vec![0.0f32; 1 << 16];
        let mut output = input.clone();
        for chunk in 0..(1u64 << 16) / stride as u64 {
            for (i, x) in input.iter_mut().enumerate() {
                let index = (chunk << 16 | i as u64) * stride as u64;
                // Odd strides would repeat; spread even ones over the low bits.
                *x = f32::from_bits((index + chunk % stride as u64) as u32);
            }
            (function.single)(&input, &mut output);
            for (&x, &y) in input.iter().zip(&output) {
                let error = ulps_f32(y, (function.reference)(f64::from(x)));
                if error > worst.0 {
                    worst = (error, x);
                }
            }
        }
        println!("{:6} {:.4} ulp at {:e}", function.name, worst.0, worst.1);
        assert!(worst.0 <= PROMISE, "{}: {} ulp at {:e}", function.name, worst.0, worst.1);
    }
}
