//! The phase of an oscillation that is not a phase itself.

use rustfft::FftPlannerScalar;
use rustfft::num_complex::Complex;

/// The instantaneous phase in radians, −π to π, of a signal about its mean: the argument of its
/// analytic signal `x + i·H(x)`, with the Hilbert transform by FFT as `scipy.signal.hilbert` does it
/// (Marple 1999, IEEE Trans. Signal Process. 47, 2600).
///
/// A phase has a meaning where the signal oscillates at one rhythm; of a broad-band signal it is a
/// number and no more. The first and last periods suffer from the ends of the recording.
pub fn analytic_phase(signal: &[f64]) -> Vec<f64> {
    let samples = signal.len();
    if samples == 0 {
        return Vec::new();
    }
    let mean = signal.iter().sum::<f64>() / samples as f64;
    let mut values: Vec<Complex<f64>> =
        signal.iter().map(|x| Complex::new(x - mean, 0.0)).collect();
    // The scalar algorithms, so that the result is the same on every processor.
    let mut planner = FftPlannerScalar::new();
    planner.plan_fft_forward(samples).process(&mut values);
    for (k, value) in values.iter_mut().enumerate() {
        // Positive frequencies stand for the negative ones as well; 0 and Nyquist's have none.
        if k != 0 && 2 * k < samples {
            *value *= 2.0;
        } else if 2 * k > samples {
            *value = Complex::default();
        }
    }
    planner.plan_fft_inverse(samples).process(&mut values);
    values.iter().map(|z| kernels_gpu::math::atan2(z.im, z.re)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    #[test]
    fn the_phase_of_a_cosine_is_its_argument() {
        for samples in [200, 201] {
            let argument = |k: usize| TAU * 8.0 * k as f64 / samples as f64 + 0.3;
            let signal: Vec<f64> = (0..samples).map(|k| 40.0 + 2.5 * argument(k).cos()).collect();
            for (k, phase) in analytic_phase(&signal).iter().enumerate() {
                let error = (phase - argument(k) + PI).rem_euclid(TAU) - PI;
                assert!(error.abs() < 1e-9, "{samples} {k}: {error}");
            }
        }
    }

    #[test]
    fn nothing_has_no_phase() {
        assert!(analytic_phase(&[]).is_empty());
    }
}
