//! Counter-based random numbers: Philox4x32-10, uniforms and normals.
//!
//! A random word is a pure function of (seed, subsequence, position): there is no state to keep, so
//! results do not depend on threads, batches or devices. The layout is cuRAND's: the key is the
//! seed, the 128-bit counter holds the block in its low and the subsequence in its high half, and
//! a block gives four words.
//!
//! J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
//! 3", SC'11.

use core::f64::consts::TAU;

use crate::lane::{Bits, Lane};
use crate::math::{ln_of_normal, reduce_turn, sincos_of_reduced};

/// Multipliers of the round function.
const MULTIPLIER: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// Increments of the key: golden ratio and sqrt(3) - 1.
const WEYL: [u64; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Philox4x32-10 of a counter and a key, over 32-bit integer lanes.
#[inline(always)]
pub fn philox4x32<B: Bits>(counter: [B; 4], key: [B; 2]) -> [B; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..ROUNDS {
        let (a, b) = (B::splat(MULTIPLIER[0]), B::splat(MULTIPLIER[1]));
        (c0, c1, c2, c3) = (
            c2.mul_high(b) ^ c1 ^ k0,
            c2.wrapping_mul(b),
            c0.mul_high(a) ^ c3 ^ k1,
            c0.wrapping_mul(a),
        );
        k0 = k0.wrapping_add(B::splat(WEYL[0]));
        k1 = k1.wrapping_add(B::splat(WEYL[1]));
    }
    [c0, c1, c2, c3]
}

/// The four words of a block: word `offset` of a subsequence is word `offset % 4` of block
/// `offset / 4`. Equal to cuRAND's `curand_init(seed, subsequence, offset)`.
#[inline(always)]
pub fn words(seed: u64, subsequence: u64, block: u64) -> [u32; 4] {
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    let ([b0, b1], [s0, s1]) = (halves(block), halves(subsequence));
    philox4x32([b0, b1, s0, s1], halves(seed))
}

/// A uniform number in `(0, 1]`: `fma(word, 2^-32, 2^-33)`.
#[inline(always)]
pub fn uniform<L: Lane>(word: L::Bits) -> L {
    scaled_word(word, 1.0)
}

/// A uniform angle in `(0, 2π]`, as cuRAND rounds it.
#[inline(always)]
pub fn angle<L: Lane>(word: L::Bits) -> L {
    scaled_word(word, TAU)
}

/// `(word + 1/2) · 2^-32 · range`, as cuRAND rounds it.
#[inline(always)]
fn scaled_word<L: Lane>(word: L::Bits, range: f64) -> L {
    const UNIT: f64 = 1.0 / (1u64 << 32) as f64;
    L::from_unsigned(word).mul_add(L::splat(UNIT * range), L::splat(UNIT * 0.5 * range))
}

/// Two independent standard normal numbers from two words: Box–Muller, sine branch first.
///
/// `s = sqrt(-2 ln u)`, `v` in `[0, 2π]`, `(s sin v, s cos v)`. The words are 32-bit, so `L` is a
/// binary32 lane.
#[inline(always)]
pub fn normal_pair<L: Lane>(word0: L::Bits, word1: L::Bits) -> (L, L) {
    let radius = (L::splat(-2.0) * ln_of_normal(uniform::<L>(word0))).sqrt();
    let (sine, cosine) = sincos_of_reduced(&reduce_turn(angle::<L>(word1)));
    (radius * sine, radius * cosine)
}

/// Normals `4 block … 4 block + 3` of a subsequence.
#[inline(always)]
pub fn normals(seed: u64, subsequence: u64, block: u64) -> [f32; 4] {
    let [w0, w1, w2, w3] = words(seed, subsequence, block);
    let (n0, n1) = normal_pair::<f32>(w0, w1);
    let (n2, n3) = normal_pair::<f32>(w2, w3);
    [n0, n1, n2, n3]
}

/// Normal number `index` of a subsequence: its pair, `index / 2`, uses words `2 (index / 2)` and the
/// one after; even indices take the sine branch.
#[inline(always)]
pub fn normal(seed: u64, subsequence: u64, index: u64) -> f32 {
    let [w0, w1, w2, w3] = words(seed, subsequence, index / 4);
    let second = index & 2 != 0;
    let (sine, cosine) =
        normal_pair::<f32>(if second { w2 } else { w0 }, if second { w3 } else { w1 });
    if index & 1 == 0 { sine } else { cosine }
}

/// Normal number `index` of many subsequences, one per element of `output`: element `i` draws from
/// `subsequence(i)`.
///
/// A plain loop that the compiler turns into SIMD inside a function that enables the target
/// features. Where the next indices are needed too, [`fill_normals_by_4`] costs little more for
/// four of them.
#[inline(always)]
pub fn fill_normals(seed: u64, subsequence: impl Fn(usize) -> u64, index: u64, output: &mut [f32]) {
    for (i, z) in output.iter_mut().enumerate() {
        *z = normal(seed, subsequence(i), index);
    }
}

/// Normals `4 block … 4 block + 3` of many subsequences: `outputs[k][i]` is number `4 block + k` of
/// `subsequence(i)`. All outputs must have the length of the first; shorter ones limit the loop.
#[inline(always)]
pub fn fill_normals_by_4(
    seed: u64,
    subsequence: impl Fn(usize) -> u64,
    block: u64,
    outputs: [&mut [f32]; 4],
) {
    let [z0, z1, z2, z3] = outputs;
    let rows = z0.iter_mut().zip(z1).zip(z2).zip(z3).enumerate();
    for (i, (((z0, z1), z2), z3)) in rows {
        [*z0, *z1, *z2, *z3] = normals(seed, subsequence(i), block);
    }
}
