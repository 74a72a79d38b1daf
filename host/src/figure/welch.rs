//! The power spectrum of a stored time course.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use std::f64::consts::TAU;

/// A one-sided spectral density, by Welch's method (IEEE Trans. Audio Electroacoust. 15 (1967) 70)
/// with `scipy.signal.welch`'s periodic Hann window, half overlap and removal of each segment's mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// From one frequency to the next, in Hz; the first is 0.
    pub resolution: f64,
    /// units²/Hz at each frequency; NaN if a sample was not finite.
    pub values: Vec<f64>,
}

/// Samples of a segment: 256, or the 2.56 s that resolve 0.4 Hz, whichever is more, if there are as
/// many.
pub fn segment(samples: usize, interval: f64) -> usize {
    // A float to an integer saturates.
    let long = (2.56 / interval).ceil() as usize;
    long.max(256).min(samples)
}

/// The density of samples that are `interval` seconds apart; none of fewer than 8 samples.
pub fn density(samples: &[f64], interval: f64) -> Option<Density> {
    if samples.len() < 8 || !(interval > 0.0 && interval.is_finite()) {
        return None;
    }
    let segment = segment(samples.len(), interval);
    let window: Vec<f64> =
        (0..segment).map(|k| 0.5 - 0.5 * (TAU * k as f64 / segment as f64).cos()).collect();
    let fft = FftPlanner::new().plan_fft_forward(segment);
    let mut power = vec![0.0; segment / 2 + 1];
    let mut segments = 0;
    let mut buffer = vec![Complex::default(); segment];
    for part in samples.windows(segment).step_by(segment - segment / 2) {
        let mean = part.iter().sum::<f64>() / segment as f64;
        for ((value, x), w) in buffer.iter_mut().zip(part).zip(&window) {
            *value = Complex::new((x - mean) * w, 0.0);
        }
        fft.process(&mut buffer);
        for (k, (sum, value)) in power.iter_mut().zip(&buffer).enumerate() {
            // Each frequency but 0 and Nyquist's stands for its negative as well.
            let sides = if k == 0 || 2 * k == segment { 1.0 } else { 2.0 };
            *sum += sides * value.norm_sqr();
        }
        segments += 1;
    }
    let squares: f64 = window.iter().map(|w| w * w).sum();
    let scale = interval / (squares * f64::from(segments));
    power.iter_mut().for_each(|p| *p *= scale);
    Some(Density { resolution: 1.0 / (segment as f64 * interval), values: power })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_has_its_power_at_its_frequency() {
        let samples: Vec<f64> = (0..4096).map(|k| 3.0 * (TAU * 0.0625 * k as f64).sin()).collect();
        let density = density(&samples, 0.01).unwrap();
        let total: f64 = density.values.iter().sum::<f64>() * density.resolution;
        assert!((total - 4.5).abs() < 1e-6, "half the square of the amplitude: {total}");
        let peak = density.values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        assert!((peak as f64 * density.resolution - 6.25).abs() < 1e-9);
        assert!(super::density(&samples[..7], 0.01).is_none());
    }
}
