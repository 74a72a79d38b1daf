//! Statistics against numpy 2.4.6 and scipy 1.17.1, from the same pseudo-random data.

use super::{Derived, Observer, Statistic};
use crate::analysis::{Accumulator, Spectrum, SynchronyMeasure, Welch, Windows};
use crate::sweep::Samples;

/// Knuth's linear congruential generator; `normal` is a sum of twelve uniforms.
struct Generator(u32);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0) / 4_294_967_296.0
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Four nodes with mean 10 and standard deviation 1 that share a third of their variance.
fn correlated(rows: usize) -> Vec<f64> {
    let mut generator = Generator(12345);
    let mut values = Vec::new();
    for _ in 0..rows {
        let common = generator.normal();
        values.extend((0..4).map(|_| 10.0 + 0.6 * common + 0.8 * generator.normal()));
    }
    values
}

fn derived(statistic: Statistic, values: usize, rows: u64, skip: u64) -> Derived {
    Derived {
        observed: Some(0),
        statistic,
        monitor: 0,
        row_variables: 1,
        variables: vec![0],
        values,
        rows,
        skip,
        scores: Vec::new(),
    }
}

fn result(derived: &Derived, values: &[f64]) -> Vec<f64> {
    let mut observer = derived.start();
    observer.take(derived, Samples::F64(values));
    observer.finish()
}

/// `numpy.corrcoef` of `correlated(1000)`: 01, 02, 03, 12, 13, 23.
const CORRELATIONS: [f64; 6] = [
    0.3826395241958173,
    0.3778505078856582,
    0.350677343037124,
    0.35055645407910657,
    0.3554457106036082,
    0.3394697494071281,
];

fn assert_correlations(found: &[f64], tolerance: f64) {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for ((a, b), expected) in pairs.into_iter().zip(CORRELATIONS) {
        assert!((found[a * 4 + b] - expected).abs() < tolerance, "{a} {b}: {}", found[a * 4 + b]);
        assert_eq!(found[a * 4 + b], found[b * 4 + a]);
    }
    for node in 0..4 {
        assert_eq!(found[node * 5], 1.0);
    }
}

#[test]
fn correlations_of_signals_far_from_zero_are_numpys() {
    let derived = derived(Statistic::Correlation, 4, 1000, 0);
    let values = correlated(1000);
    assert_correlations(&result(&derived, &values), 1e-12);
    let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    let mut observer = derived.start();
    observer.take(&derived, Samples::F32(&narrow));
    assert_correlations(&observer.finish(), 1e-7);
}

#[test]
fn moments_are_numpys() {
    let values = correlated(1000);
    let means = result(&derived(Statistic::Mean, 4, 1000, 0), &values);
    let deviations = result(&derived(Statistic::StandardDeviation, 4, 1000, 0), &values);
    let expected_means =
        [10.015330128700281, 9.979940473658585, 10.023262467557936, 9.986643296677606];
    let expected_deviations =
        [1.0034551099619848, 0.9536333829478467, 0.9945358367427674, 0.9740065852132975];
    for node in 0..4 {
        assert!((means[node] - expected_means[node]).abs() < 1e-12);
        assert!((deviations[node] - expected_deviations[node]).abs() < 1e-12);
    }
}

#[test]
fn a_constant_node_correlates_with_nothing() {
    // 0.1 is no binary fraction: sums of it are rounded.
    let mut values = correlated(777);
    values.chunks_exact_mut(4).for_each(|row| row[2] = 0.1);
    let found = result(&derived(Statistic::Correlation, 4, 777, 0), &values);
    for a in 0..4 {
        for b in 0..4 {
            assert_eq!(found[a * 4 + b].is_nan(), a == 2 || b == 2, "{a} {b}");
        }
    }
}

fn noisy_oscillation(rows: usize) -> Vec<f64> {
    let mut generator = Generator(99);
    let tau = std::f64::consts::TAU;
    let at = |k: usize| k as f64 * 0.01;
    let mut sample =
        |k| (tau * 11.0 * at(k)).sin() + 0.5 * (tau * 3.0 * at(k)).sin() + 0.7 * generator.normal();
    (0..rows).map(&mut sample).collect()
}

#[test]
fn spectra_are_scipys() {
    let whole = [
        (0, 0.0011105143896738246),
        (1, 0.0049135663052746695),
        (7, 0.14260118090503265),
        (8, 0.24168355703422992),
        (28, 0.8532438912777781),
        (128, 0.003407056940892121),
    ];
    let short = [
        (0, 0.0003852746671066227),
        (1, 0.0038715404881252847),
        (7, 0.07852579500405268),
        (8, 0.010194693139431282),
        (28, 0.01649312692845524),
        (100, 0.000487784645571789),
    ];
    for (rows, bins, peak) in [(1000, whole, 10.9375), (200, short, 11.0)] {
        let mut spectrum = Spectrum::new(1, Welch::new(rows, 0.01));
        let signal = noisy_oscillation(rows as usize);
        signal.iter().for_each(|x| spectrum.take(&[*x]));
        let density = spectrum.finish();
        for (bin, expected) in bins {
            let relative = density[bin] / expected - 1.0;
            assert!(relative.abs() < 1e-9, "{rows} {bin}: {} {expected}", density[bin]);
        }
        let derived = derived(Statistic::PeakFrequency(Welch::new(rows, 0.01)), 1, rows, 0);
        assert_eq!(result(&derived, &signal), [peak]);
    }
}

#[test]
fn fast_samples_get_long_segments() {
    // 10 Hz, sampled every 0.1 ms for 10 s: segments of 256 samples would resolve 39 Hz.
    let signal: Vec<f64> =
        (0..100_000).map(|k| (std::f64::consts::TAU * 10.0 * f64::from(k) * 1e-4).sin()).collect();
    let derived = derived(Statistic::PeakFrequency(Welch::new(100_000, 1e-4)), 1, 100_000, 0);
    let [peak] = result(&derived, &signal)[..] else { panic!("one node") };
    assert!((peak - 10.0).abs() < 0.2, "{peak}");
}

#[test]
fn a_constant_has_no_peak() {
    let derived = derived(Statistic::PeakFrequency(Welch::new(300, 0.01)), 2, 300, 0);
    let rows: Vec<f64> = noisy_oscillation(300).iter().flat_map(|&x| [0.1, x]).collect();
    let peaks = result(&derived, &rows);
    assert!(peaks[0].is_nan() && peaks[1] > 0.0, "{peaks:?}");
}

#[test]
fn pieces_do_not_matter() {
    let values = correlated(1000);
    for statistic in [
        Statistic::Mean,
        Statistic::StandardDeviation,
        Statistic::Variance,
        Statistic::Correlation,
        Statistic::DynamicConnectivity(Windows { length: 100, step: 33 }),
        Statistic::Spectrum(Welch::new(993, 1.0)),
        Statistic::PeakFrequency(Welch::new(993, 1.0)),
        Statistic::Synchrony { measure: SynchronyMeasure::OrderParameter, phases: true },
        Statistic::Synchrony { measure: SynchronyMeasure::Metastability, phases: false },
        Statistic::Synchrony { measure: SynchronyMeasure::PhaseCoherence, phases: true },
    ] {
        let derived = derived(statistic, 4, 1000, 7);
        let whole = result(&derived, &values);
        for rows in [1, 3, 255, 256, 257] {
            let mut observer: Observer = derived.start();
            values.chunks(rows * 4).for_each(|piece| observer.take(&derived, Samples::F64(piece)));
            assert_eq!(observer.finish(), whole, "{statistic:?} in pieces of {rows}");
        }
        assert_eq!(whole.len(), derived.results());
    }
}

#[test]
fn samples_are_left_out_and_variables_chosen() {
    let values = correlated(300);
    let all = derived(Statistic::Correlation, 4, 200, 0);
    let expected = result(&all, &values[400..]);
    // Two variables in a row, of which the second is read.
    let rows: Vec<f64> =
        values.chunks(4).flat_map(|row| [[0.5; 4].as_slice(), row].concat()).collect();
    let second = Derived { row_variables: 2, variables: vec![1], rows: 300, skip: 100, ..all };
    assert_eq!(result(&second, &rows), expected);
}

#[test]
fn nothing_left_is_nan() {
    for statistic in [
        Statistic::Mean,
        Statistic::StandardDeviation,
        Statistic::Correlation,
        Statistic::PeakFrequency(Welch::new(0, 1.0)),
    ] {
        for rows in [0, 2] {
            let derived = derived(statistic, 3, rows, 5);
            let found = result(&derived, &vec![1.0; rows as usize * 3]);
            assert_eq!(found.len(), derived.results());
            assert!(found.iter().all(|x| x.is_nan()), "{statistic:?} {found:?}");
        }
    }
}
