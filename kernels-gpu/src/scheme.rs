//! Integrators as pure arithmetic, shared by every engine.
//!
//! Each function is one state variable's update, in the order of operations that the numerical
//! contract fixes. They are generic over [`Arithmetic`], so the same lines run on `f32` and `f64`,
//! on the device, and on a value that records what is done to it in order to build a program.
//!
//! Scalars: `dt`, `dt/2`, `dt/6` and `sqrt(dt)` are each computed in 64 bits on the host and rounded
//! once to the precision of the run: see [`StepSizes`].

use crate::lane::Lane;
use crate::math;

/// The arithmetic that the schemes need: IEEE 754, each operation rounded once.
pub trait Arithmetic: Copy {
    /// `self + other`
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// `self − other`
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// `self · other`
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// `self · factor + addend`, rounded once.
    #[must_use]
    fn fused(self, factor: Self, addend: Self) -> Self;
    /// The smaller; NaN if either is NaN.
    #[must_use]
    fn lesser(self, other: Self) -> Self;
    /// The larger; NaN if either is NaN.
    #[must_use]
    fn greater(self, other: Self) -> Self;
    /// Remainder with the sign of the divisor.
    #[must_use]
    fn remainder(self, divisor: Self) -> Self;
}

/// The step and what the schemes derive from it, each rounded once from 64 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSizes<L> {
    /// `dt`
    pub whole: L,
    /// `dt/2`
    pub half: L,
    /// `dt/6`
    pub sixth: L,
    /// `sqrt(dt)`, which scales the noise.
    pub root: L,
}

/// Noise of one step: `ξ = (sigma·sqrt(dt))·z`.
#[inline(always)]
pub fn noise<L: Arithmetic>(sigma: L, root_dt: L, z: L) -> L {
    sigma.times(root_dt).times(z)
}

/// Euler: `x + dt·f`, before noise. Also a stage of Heun's and Runge–Kutta's schemes.
#[inline(always)]
pub fn advance<L: Arithmetic>(x: L, dt: L, f: L) -> L {
    dt.fused(f, x)
}

/// Heun's corrector: `x + dt/2·(k1 + k2)`, before noise.
#[inline(always)]
pub fn heun<L: Arithmetic>(x: L, half_dt: L, k1: L, k2: L) -> L {
    half_dt.fused(k1.plus(k2), x)
}

/// Runge–Kutta 4: `x + dt/6·(2·(k2 + k3) + (k1 + k4))`, before noise; `two` is 2.
#[inline(always)]
pub fn rk4<L: Arithmetic>(x: L, sixth_dt: L, two: L, k: [L; 4]) -> L {
    let ends = k[0].plus(k[3]);
    let middle = k[1].plus(k[2]);
    sixth_dt.fused(two.fused(middle, ends), x)
}

/// The nearest value in `[lo, hi]`. NaN stays NaN, so that an explosion is seen and not clamped.
#[inline(always)]
pub fn clamp<L: Arithmetic>(x: L, lo: L, hi: L) -> L {
    hi.lesser(lo.greater(x))
}

/// `lo + mod(x − lo, width)`, `width = hi − lo`.
#[inline(always)]
pub fn wrap<L: Arithmetic>(x: L, lo: L, width: L) -> L {
    lo.plus(x.minus(lo).remainder(width))
}

impl<L: Lane> Arithmetic for L {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        math::min(self, other)
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        math::max(self, other)
    }
    #[inline(always)]
    fn remainder(self, divisor: Self) -> Self {
        math::rem_floor(self, divisor)
    }
}
