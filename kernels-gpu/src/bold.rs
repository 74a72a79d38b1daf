//! From neural activity to the BOLD signal: the Balloon–Windkessel model.
//!
//! Friston, Harrison & Penny (2003), doi:10.1016/S1053-8119(03)00202-7: activity z drives a
//! vasodilatory signal s, which drives blood flow f, volume v and deoxyhaemoglobin content q,
//! all but s relative to their values at rest:
//!
//! ```text
//! s' = z − κ s − γ (f − 1)                             f' = s
//! v' = (f − v^(1/α)) / τ
//! q' = (f (1 − (1 − ρ)^(1/f)) / ρ − v^(1/α) q / v) / τ
//! y  = V0 (k1 (1 − q) + k2 (1 − q/v) + k3 (1 − v))
//! ```
//!
//! Time is real time in seconds, whatever the unit of the neural model. The state that is kept is
//! the *deviation* from rest, `[s, f − 1, v − 1, q − 1]`: near 1 a 32-bit number would lose the small
//! increments of a step. At rest with z = 0 every derivative is exactly 0.
//!
//! z is a rate or a gating fraction. A strongly negative one drives the flow below 0, where the model
//! means nothing; its results there are NaN.

use crate::lane::Lane;
use crate::math;
use crate::scheme::advance;

/// Constants of the Balloon–Windkessel model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalloonWindkessel {
    /// Resting oxygen extraction fraction, ρ.
    pub rho: f64,
    /// Grubb's exponent, α.
    pub alpha: f64,
    /// Transit time τ, s.
    pub tau: f64,
    /// Rate of signal decay κ, 1/s.
    pub kappa: f64,
    /// Rate of flow-dependent elimination γ, 1/s.
    pub gamma: f64,
    /// Resting blood volume fraction, V0.
    pub v0: f64,
    /// Intravascular coefficient.
    pub k1: f64,
    /// Concentration coefficient.
    pub k2: f64,
    /// Extravascular coefficient.
    pub k3: f64,
}

impl Default for BalloonWindkessel {
    /// The set of Friston et al. (2003): ρ 0.34, α 0.32, τ 0.98 s, κ 0.65/s, γ 0.41/s, V0 0.02,
    /// k1 = 7ρ, k2 = 2, k3 = 2ρ − 0.2.
    fn default() -> Self {
        let rho = 0.34;
        Self {
            rho,
            alpha: 0.32,
            tau: 0.98,
            kappa: 0.65,
            gamma: 0.41,
            v0: 0.02,
            k1: 7.0 * rho,
            k2: 2.0,
            k3: 2.0 * rho - 0.2,
        }
    }
}

/// What a step needs, each rounded once from 64 bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants<L> {
    /// Step in seconds.
    pub dt: L,
    /// κ
    pub kappa: L,
    /// γ
    pub gamma: L,
    /// 1/τ
    pub inverse_tau: L,
    /// 1/α
    pub inverse_alpha: L,
    /// ln(1 − ρ)
    pub ln_unextracted: L,
    /// ρ as the step's own operations give it, so that rest is a fixed point to the last bit.
    pub extraction: L,
    /// V0·k1, V0·k2, V0·k3
    pub signal: [L; 3],
}

impl<L: Lane> Constants<L> {
    /// For steps of `dt` seconds.
    pub fn new(model: &BalloonWindkessel, dt: f64) -> Self {
        let ln_unextracted = L::splat(math::ln_1p(-model.rho));
        Self {
            dt: L::splat(dt),
            kappa: L::splat(model.kappa),
            gamma: L::splat(model.gamma),
            inverse_tau: L::splat(1.0 / model.tau),
            inverse_alpha: L::splat(1.0 / model.alpha),
            ln_unextracted,
            extraction: -math::expm1(ln_unextracted),
            signal: [model.k1, model.k2, model.k3].map(|k| L::splat(model.v0 * k)),
        }
    }

    /// From numbers in the order of the fields, which are rounded already.
    #[inline(always)]
    pub fn from_array(values: [f64; 10]) -> Self {
        let [dt, kappa, gamma, inverse_tau, inverse_alpha, ln_unextracted, extraction, a, b, c] =
            values.map(L::splat);
        Self {
            dt,
            kappa,
            gamma,
            inverse_tau,
            inverse_alpha,
            ln_unextracted,
            extraction,
            signal: [a, b, c],
        }
    }
}

impl<L: Copy + Into<f64>> Constants<L> {
    /// The numbers in the order of the fields.
    pub fn to_array(&self) -> [f64; 10] {
        let [a, b, c] = self.signal;
        [
            self.dt,
            self.kappa,
            self.gamma,
            self.inverse_tau,
            self.inverse_alpha,
            self.ln_unextracted,
            self.extraction,
            a,
            b,
            c,
        ]
        .map(Into::into)
    }
}

/// One explicit Euler step of `[s, f − 1, v − 1, q − 1]` under the activity `z`.
#[inline(always)]
pub fn balloon_step<L: Lane>(state: [L; 4], z: L, step: &Constants<L>) -> [L; 4] {
    let [s, f, v, q] = state;
    let one = L::splat(1.0);
    let (flow, volume) = (one + f, one + v);
    let signal_rate = step.gamma.mul_add(-f, step.kappa.mul_add(-s, z));
    // v^(1/α) − 1
    let outflow = math::expm1(math::ln_1p(v) * step.inverse_alpha);
    let volume_rate = (f - outflow) * step.inverse_tau;
    let extraction = -math::expm1(step.ln_unextracted / flow);
    let delivered = flow * extraction / step.extraction;
    let cleared = (one + outflow) * ((one + q) / volume);
    let content_rate = (delivered - cleared) * step.inverse_tau;
    [
        advance(s, step.dt, signal_rate),
        advance(f, step.dt, s),
        advance(v, step.dt, volume_rate),
        advance(q, step.dt, content_rate),
    ]
}

/// The BOLD signal, as a fraction of the resting signal, of `v − 1` and `q − 1`.
#[inline(always)]
pub fn bold_signal<L: Lane>(v: L, q: L, step: &Constants<L>) -> L {
    let [k1, k2, k3] = step.signal;
    // 1 − q/v
    let concentration = (v - q) / (L::splat(1.0) + v);
    k3.mul_add(-v, k2.mul_add(concentration, k1 * -q))
}
