//! The normal numbers of cuRAND's `curand_normal`, to the bit, for comparison with programs in CUDA.
//!
//! The words and the two uniforms are those of [`philox`](crate::philox). What differs is the rest of
//! Box–Muller: `logf` of CUDA's device library, and the hardware's sine and cosine, `sin.approx` and
//! `cos.approx`, whose results no other processor reproduces. On the CPU, [`normal_pair`] takes
//! this crate's own sine and cosine instead: close (the hardware's error is below 2^-20), but
//! other numbers. An engine on the CPU must not offer them as cuRAND's.
//!
//! `curand_normal` compiles to the instructions below with nvcc's default options; `-fmad=false`
//! would round the uniforms twice, `-use_fast_math` takes another logarithm.

use crate::lane::Lane;
use crate::philox::{angle, uniform, words};

/// Coefficients of `(ln(1 + f) - f) / f²`, highest power first, as CUDA's `logf` has them.
const COEFFICIENTS: [u32; 9] = [
    0xBE05_5027,
    0x3E10_39F6,
    0xBDF8_CDCC,
    0x3E0F_2955,
    0xBE2A_D8B9,
    0x3E4C_ED0B,
    0xBE7F_FF22,
    0x3EAA_AA78,
    0xBF00_0000,
];
/// 2/3, the lower end of `1 + f`.
const TWO_THIRDS: u32 = 0x3F2A_AAAB;
/// Sign and exponent.
const EXPONENT: u32 = 0xFF80_0000;
/// ln 2.
const LN_2: u32 = 0x3F31_7218;

/// CUDA's `logf` of a positive, normal, finite number: without its branches for other arguments,
/// which a uniform in `[2^-33, 1]` never takes.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // x = 2^k (1 + f); `exponent` is k as if it were the exponent field of a float.
    let exponent = x.to_bits().wrapping_sub(TWO_THIRDS) & EXPONENT;
    let f = f32::from_bits(x.to_bits().wrapping_sub(exponent)) - 1.0;
    let k = Lane::mul_add(exponent as i32 as f32, f32::EPSILON, 0.0);
    let mut tail = f32::from_bits(COEFFICIENTS[0]);
    let mut next = 1;
    while next < COEFFICIENTS.len() {
        tail = Lane::mul_add(tail, f, f32::from_bits(COEFFICIENTS[next]));
        next += 1;
    }
    Lane::mul_add(k, f32::from_bits(LN_2), Lane::mul_add(tail * f, f, f))
}

/// The hardware's sine and cosine; on the CPU this crate's.
#[inline(always)]
fn approximate_sincos(angle: f32) -> (f32, f32) {
    #[cfg(target_arch = "nvptx64")]
    {
        let (sine, cosine): (f32, f32);
        // SAFETY: two instructions between registers.
        unsafe {
            core::arch::asm!(
                "sin.approx.f32 {sine}, {angle};",
                sine = out(reg32) sine,
                angle = in(reg32) angle,
                options(pure, nomem, nostack, preserves_flags)
            );
            core::arch::asm!(
                "cos.approx.f32 {cosine}, {angle};",
                cosine = out(reg32) cosine,
                angle = in(reg32) angle,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        (sine, cosine)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::math::sincos(angle)
    }
}

/// Two normal numbers from two words: what `curand_normal` gives first, then what it gives second.
#[inline(always)]
pub fn normal_pair(word0: u32, word1: u32) -> (f32, f32) {
    let radius = Lane::sqrt(ln(uniform(word0)) * -2.0);
    let (sine, cosine) = approximate_sincos(angle(word1));
    (radius * sine, radius * cosine)
}

/// Normals `4 block … 4 block + 3` of a subsequence: what `curand_normal` gives after
/// `curand_init(seed, subsequence, 4 · block, …)`.
#[inline(always)]
pub fn normals(seed: u64, subsequence: u64, block: u64) -> [f32; 4] {
    let [w0, w1, w2, w3] = words(seed, subsequence, block);
    let (n0, n1) = normal_pair(w0, w1);
    let (n2, n3) = normal_pair(w2, w3);
    [n0, n1, n2, n3]
}
