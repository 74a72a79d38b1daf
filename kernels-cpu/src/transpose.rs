//! Between lanes side by side (a step at a time) and steps side by side (a lane at a time).
//!
//! 16 lanes × 8 steps are 128 values whose index has 7 bits: 4 of the lane, 3 of the step.
//! Transposing rotates those bits by 3. A perfect shuffle, which interleaves the two halves of the
//! values, rotates them by 1, and is a loop that compilers turn into vector shuffles.

use crate::PACK;
use crate::isa::multiversion;
use crate::real::Number;
use kernels_gpu::ring::{BLOCK, NEAR_BLOCK};

const VALUES: usize = PACK * NEAR_BLOCK;
const HALF: usize = VALUES / 2;

#[inline(always)]
fn shuffle<T: Copy>(from: &[T; VALUES], to: &mut [T; VALUES]) {
    for k in 0..HALF {
        to[2 * k] = from[k];
        to[2 * k + 1] = from[k + HALF];
    }
}

#[inline(always)]
fn unshuffle<T: Copy>(from: &[T; VALUES], to: &mut [T; VALUES]) {
    for k in 0..HALF {
        to[k] = from[2 * k];
        to[k + HALF] = from[2 * k + 1];
    }
}

multiversion! {
    /// See [`Real::to_steps`](crate::Real::to_steps).
    pub(crate) fn to_steps<T: Number>(
        from: &[[T; BLOCK]],
        at: usize,
        rows: &[u32],
        to: &mut [T],
        stride: usize,
    ) {
        let (mut a, mut b) = ([T::default(); VALUES], [T::default(); VALUES]);
        for (pack, rows) in rows.as_chunks::<PACK>().0.iter().enumerate() {
            for (a, &row) in a.as_chunks_mut::<NEAR_BLOCK>().0.iter_mut().zip(rows) {
                a.copy_from_slice(&from[row as usize][at..at + NEAR_BLOCK]);
            }
            unshuffle(&a, &mut b);
            unshuffle(&b, &mut a);
            unshuffle(&a, &mut b);
            for (step, values) in b.as_chunks::<PACK>().0.iter().enumerate() {
                to[step * stride + pack * PACK..][..PACK].copy_from_slice(values);
            }
        }
    }

    /// See [`Real::to_rings`](crate::Real::to_rings).
    pub(crate) fn to_rings<T: Number>(
        from: &[T],
        stride: usize,
        places: &[usize],
        copies: &[usize],
        rings: &mut [T],
    ) {
        let (mut a, mut b) = ([T::default(); VALUES], [T::default(); VALUES]);
        for (pack, (places, copies)) in places.chunks(PACK).zip(copies.chunks(PACK)).enumerate() {
            for (step, a) in a.as_chunks_mut::<PACK>().0.iter_mut().enumerate() {
                a.copy_from_slice(&from[step * stride + pack * PACK..][..PACK]);
            }
            shuffle(&a, &mut b);
            shuffle(&b, &mut a);
            shuffle(&a, &mut b);
            for (steps, (&place, &copy)) in b.as_chunks::<NEAR_BLOCK>().0.iter().zip(places.iter().zip(copies)) {
                rings[place..][..NEAR_BLOCK].copy_from_slice(steps);
                if copy != place {
                    rings[copy..][..NEAR_BLOCK].copy_from_slice(steps);
                }
            }
        }
    }
}
