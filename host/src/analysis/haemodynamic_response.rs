//! BOLD by convolution with a haemodynamic response function, the linear alternative to integrating
//! a Balloon–Windkessel model.

/// The first-order Volterra kernel of the haemodynamic response (Friston et al. 2000, NeuroImage 12,
/// 466, doi:10.1006/nimg.2000.0630), in the form and with the constants of tvb-library's
/// `FirstOrderVolterra`, t in seconds:
///
/// ```text
/// G(t) = exp(−t / 2τs) · sin(ω t) / (3 ω)      ω = sqrt(1/τf − 1/(4 τs²))
/// y(t) = V0 · k1 · (Σ_k G(k h) · x(t − k h) − 1)
/// ```
///
/// x is the mean activity over steps of h = 4 ms, as in tvb-library; with other steps the sum is
/// scaled by h / 4 ms, so that the signal does not depend on them. x is 0 before the start, so the
/// first 20 s or so are a transient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstOrderVolterra {
    /// Decay time τs, s.
    pub tau_s: f64,
    /// Feedback time τf, s.
    pub tau_f: f64,
    /// Coefficient k1.
    pub k1: f64,
    /// Resting blood volume fraction V0.
    pub v0: f64,
}

impl Default for FirstOrderVolterra {
    fn default() -> Self {
        Self { tau_s: 0.8, tau_f: 0.4, k1: 5.6, v0: 0.02 }
    }
}

impl FirstOrderVolterra {
    /// The step in seconds that amplitudes refer to.
    pub const STEP_SECONDS: f64 = 0.004;

    /// ω in rad/s; NaN where the response doesn't oscillate, which needs τf < 4 τs².
    pub fn angular_frequency(&self) -> f64 {
        let square = 1.0 / self.tau_f - 1.0 / (4.0 * self.tau_s * self.tau_s);
        if square > 0.0 && self.tau_f > 0.0 { square.sqrt() } else { f64::NAN }
    }

    /// The kernel at `t` seconds after an impulse.
    pub fn response(&self, t: f64) -> f64 {
        let omega = self.angular_frequency();
        let (decay, turn) = (kernels_gpu::math::exp(-t / (2.0 * self.tau_s)), omega * t);
        decay * kernels_gpu::math::sin(turn) / (3.0 * omega)
    }
}

/// The convolution, step by step in constant memory: a sampled damped sine is the impulse response
/// of a recursion over the last two results. tvb-library cuts the kernel after 20 s, where it has
/// fallen to 4e-6; the recursion does not.
#[derive(Clone, Debug)]
pub struct VolterraFilter {
    /// Factors of the last result, of the one before, and of the last activity.
    factors: [f64; 3],
    gain: f64,
    /// Last result, the one before, last activity, by channel.
    past: Vec<[f64; 3]>,
}

impl VolterraFilter {
    /// For rows of so many channels, each a mean over `seconds`.
    pub fn new(kernel: &FirstOrderVolterra, channels: usize, seconds: f64) -> Self {
        let decay = kernels_gpu::math::exp(-seconds / (2.0 * kernel.tau_s));
        let turn = kernel.angular_frequency() * seconds;
        let scale = seconds / FirstOrderVolterra::STEP_SECONDS;
        let factors = [
            2.0 * decay * kernels_gpu::math::cos(turn),
            -decay * decay,
            kernel.response(seconds) * scale,
        ];
        Self { factors, gain: kernel.k1 * kernel.v0, past: vec![[0.0; 3]; channels] }
    }

    /// Takes the next row of activities.
    pub fn take(&mut self, row: &[f64]) {
        let [last, before, activity] = self.factors;
        for (past, x) in self.past.iter_mut().zip(row) {
            let next = last * past[0] + before * past[1] + activity * past[2];
            *past = [next, past[0], *x];
        }
    }

    /// The signal at the end of the last row, by channel.
    pub fn signal(&self) -> impl Iterator<Item = f64> + '_ {
        self.past.iter().map(|[result, ..]| self.gain * (result - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_is_the_convolution() {
        let kernel = FirstOrderVolterra::default();
        let activity = |k: usize| (0.003 * k as f64).sin().abs() + 0.2;
        for seconds in [0.004, 0.005] {
            let mut filter = VolterraFilter::new(&kernel, 2, seconds);
            let omega = (1.0f64 / 0.4 - 1.0 / (4.0 * 0.64)).sqrt();
            let response = |t: f64| (-0.5 * t / 0.8).exp() * (omega * t).sin() / (3.0 * omega);
            for k in 0..6000 {
                filter.take(&[activity(k), 0.0]);
                if k % 500 != 499 {
                    continue;
                }
                let sum: f64 =
                    (0..=k).map(|j| response(j as f64 * seconds) * activity(k - j)).sum();
                let expected = 5.6 * 0.02 * (sum * seconds / 0.004 - 1.0);
                let found: Vec<f64> = filter.signal().collect();
                assert!((found[0] - expected).abs() < 1e-9, "{k}: {} {expected}", found[0]);
                assert_eq!(found[1], -5.6 * 0.02);
            }
        }
    }

    #[test]
    fn constant_activity_ends_at_the_area_of_the_kernel() {
        // The integral of the kernel is τf/3.
        let mut filter = VolterraFilter::new(&FirstOrderVolterra::default(), 1, 0.004);
        (0..20_000).for_each(|_| filter.take(&[0.3]));
        let expected = 0.112 * (0.3 * 0.4 / 3.0 / 0.004 - 1.0);
        let found = filter.signal().next().expect("one channel");
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
    }

    #[test]
    fn an_overdamped_kernel_is_refused_by_its_frequency() {
        let kernel = FirstOrderVolterra { tau_s: 0.1, ..FirstOrderVolterra::default() };
        assert!(kernel.angular_frequency().is_nan());
        assert!(FirstOrderVolterra { tau_f: -1.0, ..kernel }.angular_frequency().is_nan());
    }
}
