//! The dominant frequency, from Welch's averaged periodogram.

use super::{Accumulator, Variation};
use kernels_gpu::math;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlannerScalar};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Samples of a segment, where that many are there: the default of `scipy.signal.welch`.
const SAMPLES: u64 = 256;
/// A segment lasts at least as long, in seconds, where the recording does: 256 samples at 100 Hz, which
/// resolves 0.4 Hz however fast the samples follow each other.
const SECONDS: f64 = 2.56;

/// Samples of a segment, of `rows` that are `interval` seconds apart.
pub(super) fn segment(rows: u64, interval: f64) -> usize {
    // A float to an integer saturates.
    let long = (SECONDS / interval).ceil() as u64;
    SAMPLES.max(long).min(rows) as usize
}

/// Welch's method (IEEE Trans. Audio Electroacoust. 15 (1967) 70) as `scipy.signal.welch` does it by
/// default: periodic Hann window, half a segment's overlap, each segment's mean taken away, one-sided
/// density. Samples after the last whole segment are not used.
pub(super) struct Spectrum {
    channels: usize,
    interval: f64,
    segment: usize,
    window: Vec<f64>,
    fft: Arc<dyn Fft<f64>>,
    variation: Variation,
    /// `[row][channel]`, less than a segment.
    rows: Vec<f64>,
    /// `[channel][frequency]`, summed over segments.
    power: Vec<f64>,
    segments: u64,
}

impl Spectrum {
    pub(super) fn new(channels: usize, rows: u64, interval: f64) -> Self {
        let segment = segment(rows, interval);
        let phase = |k: usize| TAU * k as f64 / segment as f64;
        Self {
            channels,
            interval,
            segment,
            window: (0..segment).map(|k| 0.5 - 0.5 * math::cos(phase(k))).collect(),
            // The scalar algorithms, so that the sums are the same on every processor.
            fft: FftPlannerScalar::new().plan_fft_forward(segment),
            variation: Variation::new(channels),
            rows: Vec::new(),
            power: vec![0.0; channels * (segment / 2 + 1)],
            segments: 0,
        }
    }

    /// The density in units²/Hz, `[channel][frequency]`.
    #[cfg(test)]
    pub(super) fn density(&self) -> Vec<f64> {
        let squares: f64 = self.window.iter().map(|w| w * w).sum();
        let scale = self.interval / (squares * self.segments as f64);
        self.power.iter().map(|p| p * scale).collect()
    }

    fn take_segment(&mut self) {
        let frequencies = self.segment / 2 + 1;
        let mut values = vec![Complex::default(); self.segment];
        let mut scratch = vec![Complex::default(); self.fft.get_inplace_scratch_len()];
        for (channel, power) in self.power.chunks_exact_mut(frequencies).enumerate() {
            let samples = || self.rows[channel..].iter().step_by(self.channels);
            let mean = samples().sum::<f64>() / self.segment as f64;
            for ((value, x), window) in values.iter_mut().zip(samples()).zip(&self.window) {
                *value = Complex::new((x - mean) * window, 0.0);
            }
            self.fft.process_with_scratch(&mut values, &mut scratch);
            for (k, (power, value)) in power.iter_mut().zip(&values).enumerate() {
                // One-sided: each frequency but 0 and Nyquist's stands for its negative as well.
                let both = k != 0 && 2 * k != self.segment;
                *power += if both { 2.0 * value.norm_sqr() } else { value.norm_sqr() };
            }
        }
        self.segments += 1;
        let overlap = self.segment / 2;
        self.rows.drain(..(self.segment - overlap) * self.channels);
    }
}

impl Accumulator for Spectrum {
    fn take(&mut self, row: &[f64]) {
        self.variation.take(row);
        self.rows.extend_from_slice(row);
        if self.segment > 0 && self.rows.len() == self.segment * self.channels {
            self.take_segment();
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        let frequencies = self.segment / 2 + 1;
        let hertz = |k: usize| k as f64 / (self.segment as f64 * self.interval);
        let peak = |power: &[f64]| {
            // The first, should two be equal.
            let before = |best: usize, k: usize| if power[k] > power[best] { k } else { best };
            hertz((0..power.len()).fold(0, before))
        };
        let spectra = self.power.chunks_exact(frequencies).zip(&self.variation.varies);
        let peaks = spectra.map(
            |(power, &varies)| {
                if varies && self.segments > 0 { peak(power) } else { f64::NAN }
            },
        );
        peaks.collect()
    }
}
