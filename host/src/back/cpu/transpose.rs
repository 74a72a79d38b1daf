//! Between lanes side by side (a step at a time) and steps side by side (a lane at a time).
//!
//! 16 lanes × 32 steps are 512 values whose index has 9 bits: 4 of the lane, 5 of the step.
//! Transposing rotates those bits by 4. A perfect shuffle, which interleaves the two halves of the
//! values, rotates them by 1, and is a loop that compilers turn into vector shuffles.

use super::isa::multiversion;
use super::real::Real;
use super::schedule::PACK;
use kernels_gpu::ring::BLOCK;

const VALUES: usize = PACK * BLOCK;
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
    /// Writes row `rows[lane]·scale + offset` of `from` to `lane` of [`BLOCK`] steps, which lie
    /// `stride` apart in `to`. There are as many lanes as `rows`, a multiple of [`PACK`].
    pub(super) fn to_steps<T: Real>(
        from: &[[T; BLOCK]],
        rows: &[u32],
        scale: usize,
        offset: usize,
        to: &mut [T],
        stride: usize,
    ) {
        let (mut a, mut b) = ([T::default(); VALUES], [T::default(); VALUES]);
        for (pack, rows) in rows.as_chunks::<PACK>().0.iter().enumerate() {
            for (a, &row) in a.as_chunks_mut::<BLOCK>().0.iter_mut().zip(rows) {
                *a = from[row as usize * scale + offset];
            }
            shuffle(&a, &mut b);
            shuffle(&b, &mut a);
            shuffle(&a, &mut b);
            shuffle(&b, &mut a);
            for (step, values) in a.as_chunks::<PACK>().0.iter().enumerate() {
                to[step * stride + pack * PACK..][..PACK].copy_from_slice(values);
            }
        }
    }

    /// The opposite: [`BLOCK`] steps of all lanes, which lie `stride` apart in `from`, to one row a
    /// lane.
    pub(super) fn to_lanes<T: Real>(from: &[T], stride: usize, to: &mut [[T; BLOCK]]) {
        let (mut a, mut b) = ([T::default(); VALUES], [T::default(); VALUES]);
        for (pack, rows) in to.as_chunks_mut::<PACK>().0.iter_mut().enumerate() {
            for (step, a) in a.as_chunks_mut::<PACK>().0.iter_mut().enumerate() {
                a.copy_from_slice(&from[step * stride + pack * PACK..][..PACK]);
            }
            unshuffle(&a, &mut b);
            unshuffle(&b, &mut a);
            unshuffle(&a, &mut b);
            unshuffle(&b, &mut a);
            rows.as_flattened_mut().copy_from_slice(&a);
        }
    }
}
