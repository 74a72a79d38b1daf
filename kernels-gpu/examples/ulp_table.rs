//! Prints the largest errors found, in ulp: the table of `docs/math.md`.
//!
//!     cargo run --release -p kernels-gpu --example ulp_table [points per function]
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

#[path = "../tests/reference/mod.rs"]
mod reference;
#[path = "../tests/words/mod.rs"]
mod words;

use reference::{binary_functions, ulps_f32, unary_functions};
use words::Words;

fn main() {
    let points = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000usize);
    println!("| function | f32: worst ulp | at | f64: worst difference from libm, ulp | at |");
    println!("|---|---|---|---|---|");
    for function in unary_functions() {
        let mut words = Words(1);
        // Half over all bit patterns, half where exponents are moderate.
        let singles: Vec<f32> = (0..points)
            .map(|i| {
                let w = words.next_word();
                let moderate = 0x3000_0000 + (w >> 32) as u32 % 0x1300_0000;
                f32::from_bits(if i % 2 == 0 { w as u32 } else { moderate | (w as u32 & 1) << 31 })
            })
            .collect();
        let doubles: Vec<f64> = (0..points)
            .map(|i| {
                let w = words.next_word();
                let moderate = 0x3e00_0000_0000_0000 + (w >> 1) % 0x0270_0000_0000_0000;
                f64::from_bits(if i % 2 == 0 { w } else { moderate | (w & 1) << 63 })
            })
            .collect();
        let mut out = vec![0f32; points];
        (function.single)(&singles, &mut out);
        let worst32 = worst(
            singles
                .iter()
                .zip(&out)
                .map(|(&x, &y)| (ulps_f32(y, (function.reference)(f64::from(x))), f64::from(x))),
        );
        let mut out = vec![0f64; points];
        (function.double)(&doubles, &mut out);
        let worst64 = worst(
            doubles.iter().zip(&out).map(|(&x, &y)| (ulps_f64(y, (function.reference)(x)), x)),
        );
        println!(
            "| {} | {:.3} | {:e} | {} | {:e} |",
            function.name, worst32.0, worst32.1, worst64.0, worst64.1
        );
    }
    for function in binary_functions() {
        let mut words = Words(2);
        let mut draw = |range: f64| {
            let w = words.next_word();
            let x = (w >> 11) as f64 / (1u64 << 53) as f64;
            (x * 2.0 * range).exp2() * (-range).exp2() * if w & 1 == 0 { 1.0 } else { -1.0 }
        };
        let mut worst32 = (0.0, 0.0, 0.0);
        let mut worst64 = (0.0, 0.0, 0.0);
        for _ in 0..points / 10 {
            let (x, y) = (draw(20.0), draw(8.0));
            let (xs, ys) = (x as f32, y as f32);
            let e = ulps_f32(
                (function.single)(xs, ys),
                (function.reference)(f64::from(xs), f64::from(ys)),
            );
            if e > worst32.0 {
                worst32 = (e, f64::from(xs), f64::from(ys));
            }
            let e = ulps_f64((function.double)(x, y), (function.reference)(x, y));
            if e > worst64.0 {
                worst64 = (e, x, y);
            }
        }
        println!(
            "| {} | {:.3} | {:e}, {:e} | {} | {:e}, {:e} |",
            function.name, worst32.0, worst32.1, worst32.2, worst64.0, worst64.1, worst64.2
        );
    }
}

/// The largest error and where it was found.
fn worst(errors: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    errors.fold((0.0, 0.0), |worst, e| if e.0 > worst.0 { e } else { worst })
}

/// Distance of two binary64 values in units in the last place of the second.
fn ulps_f64(result: f64, truth: f64) -> f64 {
    if result == truth || (result.is_nan() && truth.is_nan()) {
        return 0.0;
    }
    // Bit patterns in the order of the numbers.
    let order = |x: f64| -> i64 {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if result.is_nan() || truth.is_nan() {
        return f64::INFINITY;
    }
    order(result).wrapping_sub(order(truth)).unsigned_abs() as f64
}
