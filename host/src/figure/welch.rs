//! The power spectrum of a stored time course, as an observation of it would be.

use crate::analysis::{Accumulator, Spectrum, Welch};

/// A one-sided spectral density by Welch's method.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// From one frequency to the next, in Hz; the first is 0.
    pub resolution: f64,
    /// units²/Hz at each frequency; NaN if a sample was not finite.
    pub values: Vec<f64>,
}

/// The density of samples that are `interval` seconds apart; none of fewer than 8 samples.
pub fn density(samples: &[f64], interval: f64) -> Option<Density> {
    if samples.len() < 8 || !(interval > 0.0 && interval.is_finite()) {
        return None;
    }
    let welch = Welch::new(samples.len() as u64, interval);
    let mut spectrum = Spectrum::new(1, welch);
    for sample in samples {
        spectrum.take(std::slice::from_ref(sample));
    }
    Some(Density { resolution: welch.resolution(), values: spectrum.finish() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

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
