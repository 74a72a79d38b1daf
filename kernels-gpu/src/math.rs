//! Elementary functions that give the same bits on every device.
//!
//! Each function is written once, over [`Lane`](crate::lane::Lane), from IEEE operations that round
//! the same everywhere, without tables and without branches. What they promise:
//! - within 2 ulp of the correctly rounded value in binary32 and binary64 (measured errors are in
//!   `docs/math.md`);
//! - IEEE 754 results for ±0, ±∞, NaN and subnormal arguments, and exact values at the usual points
//!   (`exp(0) = 1`, `ln(1) = 0`, `pow(x, 0) = 1`, `sin(±0) = ±0`, …);
//! - a pure function of the arguments: no global state, no flags. Only the sign and payload of a
//!   NaN may differ between processors.
//!
//! `sin`, `cos` and `tan` of very large arguments take a longer path. A plain loop over `f32`s is
//! turned into SIMD by the compiler only without it, so [`mod@slice`] offers loops that compute the
//! fast path for all elements and repair the rare ones.
//!
//! ```
//! use kernels_gpu::math;
//!
//! assert_eq!(math::exp(0.0f32), 1.0);
//! assert_eq!(math::pow(9.0f64, 0.5), 3.0);
//!
//! let angles = [0.0f32, 1.0, 1e30];
//! let mut sines = [0.0; 3];
//! math::slice::sin_slice(&angles, &mut sines);
//! assert_eq!(sines[2], math::sin(1e30));
//! ```

/// `c0 + x (c1 + x (c2 + …))`, each step one fused multiply-add.
macro_rules! horner {
    ($x:expr, $last:expr) => { L::splat($last) };
    ($x:expr, $first:expr, $($rest:expr),+) => {
        horner!($x, $($rest),+).mul_add($x, L::splat($first))
    };
}

#[rustfmt::skip]
mod binary32;
#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "parts of constants, written together by tools/fit.py")]
mod binary64;
mod bits;
mod double_word;
mod error_function;
mod exponential;
pub(crate) mod format;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod power;
mod reduction;
mod rounding;
pub mod slice;
mod trigonometric;

pub use error_function::{erf, erfc};
pub use exponential::{exp, exp2, expm1};
pub use format::{Binary32, Binary64, Format};
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse_trigonometric::{acos, asin, atan, atan2};
pub(crate) use logarithm::ln_of_normal;
pub use logarithm::{ln, ln_1p, log2, log10};
pub use power::pow;
pub use reduction::is_rare;
pub(crate) use reduction::reduce_turn;
pub use rounding::{
    ceil, floor, is_rare_quotient, max, min, rem_floor, rem_floor_fast, round_even, sign, trunc,
};
pub(crate) use trigonometric::sincos_of_reduced;
pub use trigonometric::{cos, cos_fast, sin, sin_fast, sincos, sincos_fast, tan, tan_fast};
