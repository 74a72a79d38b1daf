//! Spectral density and dominant frequency, from Welch's averaged periodogram.

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

/// How a recording is cut for Welch's method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Seconds between samples.
    pub interval: f64,
    /// Samples of a segment; scipy's `nperseg`.
    pub segment: usize,
}

impl Welch {
    /// For `rows` samples that are `interval` seconds apart: segments of 256 samples as scipy's, or
    /// of 2.56 s where that is longer, or the whole recording where it is shorter.
    pub fn new(rows: u64, interval: f64) -> Self {
        // A float to an integer saturates.
        let long = (SECONDS / interval).ceil() as u64;
        Self { interval, segment: SAMPLES.max(long).min(rows) as usize }
    }

    /// With segments of `samples`, or the whole recording where it is shorter.
    pub fn with_segment(rows: u64, interval: f64, samples: u64) -> Self {
        Self { interval, segment: samples.min(rows) as usize }
    }

    /// Frequencies of the spectrum.
    pub fn frequencies(&self) -> usize {
        self.segment / 2 + 1
    }

    /// Hertz from one frequency to the next; the first is 0.
    pub fn resolution(&self) -> f64 {
        1.0 / (self.segment as f64 * self.interval)
    }
}

/// Welch's method (IEEE Trans. Audio Electroacoust. 15 (1967) 70) as `scipy.signal.welch` does it by
/// default: periodic Hann window, half a segment's overlap, each segment's mean taken away, one-sided
/// density. Samples after the last whole segment are not used.
///
/// The result is the density in units²/Hz, `[channel][frequency]`; 0 of a constant channel.
pub struct Spectrum {
    channels: usize,
    welch: Welch,
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
    /// For rows of so many channels.
    pub fn new(channels: usize, welch: Welch) -> Self {
        let segment = welch.segment;
        let phase = |k: usize| TAU * k as f64 / segment as f64;
        Self {
            channels,
            welch,
            window: (0..segment).map(|k| 0.5 - 0.5 * math::cos(phase(k))).collect(),
            // The scalar algorithms, so that the sums are the same on every processor.
            fft: FftPlannerScalar::new().plan_fft_forward(segment),
            variation: Variation::new(channels),
            rows: Vec::new(),
            power: vec![0.0; channels * welch.frequencies()],
            segments: 0,
        }
    }

    fn take_segment(&mut self) {
        let frequencies = self.welch.frequencies();
        let segment = self.welch.segment;
        let mut values = vec![Complex::default(); segment];
        let mut scratch = vec![Complex::default(); self.fft.get_inplace_scratch_len()];
        for (channel, power) in self.power.chunks_exact_mut(frequencies).enumerate() {
            let samples = || self.rows[channel..].iter().step_by(self.channels);
            let mean = samples().sum::<f64>() / segment as f64;
            for ((value, x), window) in values.iter_mut().zip(samples()).zip(&self.window) {
                *value = Complex::new((x - mean) * window, 0.0);
            }
            self.fft.process_with_scratch(&mut values, &mut scratch);
            for (k, (power, value)) in power.iter_mut().zip(&values).enumerate() {
                // One-sided: each frequency but 0 and Nyquist's stands for its negative as well.
                let both = k != 0 && 2 * k != segment;
                *power += if both { 2.0 * value.norm_sqr() } else { value.norm_sqr() };
            }
        }
        self.segments += 1;
        let overlap = segment / 2;
        self.rows.drain(..(segment - overlap) * self.channels);
    }
}

impl Accumulator for Spectrum {
    fn take(&mut self, row: &[f64]) {
        self.variation.take(row);
        self.rows.extend_from_slice(row);
        if self.welch.segment > 0 && self.rows.len() == self.welch.segment * self.channels {
            self.take_segment();
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        let squares: f64 = self.window.iter().map(|w| w * w).sum();
        let scale = self.welch.interval / (squares * self.segments as f64);
        let spectra = self.power.chunks_exact(self.welch.frequencies());
        let spectra = spectra.zip(&self.variation.varies);
        spectra
            .flat_map(|(power, &varies)| {
                let segments = self.segments;
                let scaled = move |p: &f64| match (segments, varies) {
                    (0, _) => f64::NAN,
                    (_, false) => 0.0,
                    (_, true) => p * scale,
                };
                power.iter().map(scaled)
            })
            .collect()
    }
}

/// The frequency in Hz of the largest value of [`Spectrum`], `[channel]`; NaN of a constant.
pub struct Peak(Spectrum);

impl Peak {
    /// For rows of so many channels.
    pub fn new(channels: usize, welch: Welch) -> Self {
        Self(Spectrum::new(channels, welch))
    }
}

impl Accumulator for Peak {
    fn take(&mut self, row: &[f64]) {
        self.0.take(row);
    }

    fn finish(&mut self) -> Vec<f64> {
        let Spectrum { welch, power, variation, segments, .. } = &self.0;
        let peak = |power: &[f64]| {
            // The first, should two be equal.
            let before = |best: usize, k: usize| if power[k] > power[best] { k } else { best };
            let at = (0..power.len()).fold(0, before);
            at as f64 / (welch.segment as f64 * welch.interval)
        };
        let spectra = power.chunks_exact(welch.frequencies()).zip(&variation.varies);
        let peaks =
            spectra.map(|(p, &varies)| if varies && *segments > 0 { peak(p) } else { f64::NAN });
        peaks.collect()
    }
}
