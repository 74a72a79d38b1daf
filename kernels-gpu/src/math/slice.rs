//! Loops over slices that the compiler turns into SIMD.
//!
//! They are `#[inline(always)]`: called inside a function with
//! `#[target_feature(enable = "avx2,fma")]` they are compiled for it. Input and output may have
//! different lengths; the shorter one counts.

use super::{
    cos, cos_fast, is_rare, is_rare_quotient, rem_floor, rem_floor_fast, sin, sin_fast, tan,
    tan_fast,
};
use crate::lane::Lane;

/// `output[i] = full(input[i])` where `full` equals `fast` unless `rare`.
///
/// Computes `fast` everywhere in one SIMD loop, and repairs the rare elements, if there was one.
#[inline(always)]
pub fn map_with_rare<T: Lane<Mask = bool>>(
    input: &[T],
    output: &mut [T],
    fast: impl Fn(T) -> T,
    rare: impl Fn(T) -> bool,
    full: impl Fn(T) -> T,
) {
    let mut any = 0u32;
    for (y, &x) in output.iter_mut().zip(input) {
        *y = fast(x);
        any |= u32::from(rare(x));
    }
    if any != 0 {
        for (y, &x) in output.iter_mut().zip(input) {
            if rare(x) {
                *y = full(x);
            }
        }
    }
}

/// `output[i] = function(input[i])`, for the functions that have no rare path.
#[inline(always)]
pub fn map<T: Lane>(input: &[T], output: &mut [T], function: impl Fn(T) -> T) {
    for (y, &x) in output.iter_mut().zip(input) {
        *y = function(x);
    }
}

/// Sines: the same bits as [`sin`](super::sin()).
#[inline(always)]
pub fn sin_slice<T: Lane<Mask = bool>>(input: &[T], output: &mut [T]) {
    map_with_rare(input, output, sin_fast, is_rare, sin);
}

/// Cosines: the same bits as [`cos`](super::cos()).
#[inline(always)]
pub fn cos_slice<T: Lane<Mask = bool>>(input: &[T], output: &mut [T]) {
    map_with_rare(input, output, cos_fast, is_rare, cos);
}

/// Tangents: the same bits as [`tan`](super::tan()).
#[inline(always)]
pub fn tan_slice<T: Lane<Mask = bool>>(input: &[T], output: &mut [T]) {
    map_with_rare(input, output, tan_fast, is_rare, tan);
}

/// Remainders by element of `divisor`: the same bits as [`rem_floor`](super::rem_floor()).
#[inline(always)]
pub fn rem_floor_slice<T: Lane<Mask = bool>>(input: &[T], divisor: &[T], output: &mut [T]) {
    let mut any = 0u32;
    for ((z, &x), &y) in output.iter_mut().zip(input).zip(divisor) {
        *z = rem_floor_fast(x, y);
        any |= u32::from(is_rare_quotient(x, y));
    }
    if any != 0 {
        for ((z, &x), &y) in output.iter_mut().zip(input).zip(divisor) {
            if is_rare_quotient(x, y) {
                *z = rem_floor(x, y);
            }
        }
    }
}
