//! Prints the time per element of the functions in SIMD loops on one core.
//!
//!     cargo run --release -p kernels-gpu --example throughput
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::hint::black_box;
use std::time::Instant;

use kernels_gpu::lane::Lane;
use kernels_gpu::{math, math::slice, philox};

const LENGTH: usize = 2048;

/// Nanoseconds per element, the best of several runs.
fn time(mut work: impl FnMut()) -> f64 {
    let repeats = 200;
    (0..15)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..repeats {
                work();
            }
            start.elapsed().as_secs_f64() * 1e9 / (repeats * LENGTH) as f64
        })
        .fold(f64::INFINITY, f64::min)
}

macro_rules! row {
    ($name:literal, $type:ident, $body:expr) => {{
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn run(input: &[$type], output: &mut [$type]) {
            $body(input, output);
        }
        let input: Vec<$type> = (0..LENGTH).map(|i| 1e-3 + i as $type * 0.01).collect();
        let mut output = vec![0.0; LENGTH];
        // SAFETY: `main` has checked for the features.
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_unsafe, reason = "no features"))]
        let nanoseconds = time(|| unsafe { run(black_box(&input), black_box(&mut output)) });
        println!("{:24} {} {nanoseconds:7.3} ns", $name, stringify!($type));
    }};
}

macro_rules! rows {
    ($type:ident) => {
        row!("multiply (memory)", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, |x| x
            * 3.0));
        row!("exp", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::exp));
        row!("expm1", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::expm1));
        row!("ln", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::ln));
        row!("log2", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::log2));
        row!("sin_slice", $type, |x: &[$type], y: &mut [$type]| slice::sin_slice(x, y));
        row!("cos_slice", $type, |x: &[$type], y: &mut [$type]| slice::cos_slice(x, y));
        row!("sin + cos, fast", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, |x| {
            let (s, c) = math::sincos_fast(x);
            s + c
        }));
        row!("sin, plain loop", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::sin));
        row!("tanh", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::tanh));
        row!("atan", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::atan));
        row!("erf", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, math::erf));
        row!("pow(x, 1.5)", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, |x| {
            math::pow(x, <$type>::splat(1.5))
        }));
        row!("rem_floor_slice(x, x)", $type, |x: &[$type], y: &mut [$type]| {
            slice::rem_floor_slice(x, x, y)
        });
        row!("std exp", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, <$type>::exp));
        row!("std sin", $type, |x: &[$type], y: &mut [$type]| slice::map(x, y, <$type>::sin));
    };
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("fma") {
        println!("this processor has no AVX2 and FMA");
        return;
    }
    rows!(f32);
    rows!(f64);
    row!("normals, one per call", f32, |_: &[f32], y: &mut [f32]| {
        philox::fill_normals(1, |i| i as u64, 5, y);
    });
    row!("normals, four per call", f32, |_: &[f32], y: &mut [f32]| {
        let (y0, y) = y.split_at_mut(LENGTH / 4);
        let (y1, y) = y.split_at_mut(LENGTH / 4);
        let (y2, y3) = y.split_at_mut(LENGTH / 4);
        philox::fill_normals_by_4(1, |i| i as u64, 5, [y0, y1, y2, y3]);
    });
}
