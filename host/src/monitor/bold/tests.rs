//! The BOLD monitor against an independent integration and closed forms.

use super::*;
use crate::monitor::MonitorKind;

fn shape(lanes: usize, isa: Isa) -> TileShape {
    TileShape { nodes: lanes, width: 1, lanes, variables: 1, isa }
}

fn haemodynamics(period: u64, dt_ms: f64) -> Haemodynamics {
    Haemodynamics::new(vec![0], period, dt_ms, BalloonWindkessel::default())
}

/// Samples of one lane under the activity `z(step)`.
fn run<T: Real>(h: &Haemodynamics, steps: u64, z: impl Fn(u64) -> f64) -> Vec<f64> {
    let mut monitor = Bold::<T>::new(shape(1, Isa::detect()), h);
    (0..steps)
        .filter_map(|k| monitor.record(k, &[&[T::from_f64(z(k))]]).map(|row| row[0].to_f64()))
        .collect()
}

/// The published equations, straight from the page, by the classical Runge–Kutta scheme with steps
/// of 0.5 ms: the signal every `tr` seconds under the activity z(t).
fn runge_kutta(duration: f64, tr: f64, z: impl Fn(f64) -> f64) -> Vec<f64> {
    let m = BalloonWindkessel::default();
    let rates = |[s, f, v, q]: [f64; 4], t: f64| {
        let outflow = v.powf(1.0 / m.alpha);
        let extracted = (1.0 - (1.0 - m.rho).powf(1.0 / f)) / m.rho;
        [
            z(t) - m.kappa * s - m.gamma * (f - 1.0),
            s,
            (f - outflow) / m.tau,
            (f * extracted - outflow * q / v) / m.tau,
        ]
    };
    let plus = |x: [f64; 4], h: f64, k: [f64; 4]| std::array::from_fn(|i| x[i] + h * k[i]);
    let h = 0.0005;
    let every = (tr / h).round() as usize;
    let mut x = [0.0, 1.0, 1.0, 1.0];
    let mut samples = Vec::new();
    for n in 0..(duration / h).round() as usize {
        // Stages of a step see the activity of its middle, so that a jump falls between steps.
        let t = (n as f64 + 0.5) * h;
        let k1 = rates(x, t);
        let k2 = rates(plus(x, h / 2.0, k1), t);
        let k3 = rates(plus(x, h / 2.0, k2), t);
        let k4 = rates(plus(x, h, k3), t);
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        if (n + 1) % every == 0 {
            let [_, _, v, q] = x;
            let signal = m.k1 * (1.0 - q) + m.k2 * (1.0 - q / v) + m.k3 * (1.0 - v);
            samples.push(m.v0 * signal);
        }
    }
    samples
}

fn peak(samples: &[f64]) -> (usize, f64) {
    let at = (0..samples.len()).max_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    at.map(|at| (at, samples[at])).expect("samples")
}

#[test]
fn rest_is_a_fixed_point_to_the_last_bit() {
    fn check<T: Real>() {
        for isa in Isa::available() {
            let mut monitor = Bold::<T>::new(shape(24, isa), &haemodynamics(1, 1.0));
            for k in 0..20_000 {
                let row = monitor.record(k, &[&[T::default(); 24]]).expect("a row each step");
                assert!(row.iter().all(|y| y.to_f64() == 0.0), "{isa} {k} {row:?}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn an_impulse_peaks_at_the_same_second_whatever_the_step() {
    // Half a second of activity; samples every 10 ms for 12 s.
    let expected = runge_kutta(12.0, 0.01, |t| if t < 0.5 { 1.0 } else { 0.0 });
    let (expected_at, expected_peak) = peak(&expected);
    assert!((3.0..5.0).contains(&(expected_at as f64 * 0.01)), "peak at {expected_at}");
    for dt_ms in [0.01, 0.1, 1.0] {
        let steps = |ms: f64| (ms / dt_ms).round() as u64;
        let h = haemodynamics(steps(10.0), dt_ms);
        let activity = |k| if k < steps(500.0) { 1.0 } else { 0.0 };
        for samples in
            [run::<f64>(&h, steps(12_000.0), activity), run::<f32>(&h, steps(12_000.0), activity)]
        {
            assert_eq!(samples.len(), 1200);
            let (at, value) = peak(&samples);
            assert!(at.abs_diff(expected_at) <= 1, "dt {dt_ms}: {at} and {expected_at}");
            assert!((value / expected_peak - 1.0).abs() < 1e-3, "dt {dt_ms}: {value}");
            // Euler's error is of the order of the step, 1 ms over time constants of a second.
            let worst = samples.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let worst = worst.fold(0.0, f64::max);
            assert!(worst < 2e-3 * expected_peak, "dt {dt_ms}: {worst} of {expected_peak}");
        }
    }
}

#[test]
fn constant_activity_ends_at_the_analytic_steady_state() {
    let m = BalloonWindkessel::default();
    for z in [0.02, 0.2, 0.5] {
        let f: f64 = 1.0 + z / m.gamma;
        let v = f.powf(m.alpha);
        let q = v * (1.0 - (1.0 - m.rho).powf(1.0 / f)) / m.rho;
        let expected = m.v0 * (m.k1 * (1.0 - q) + m.k2 * (1.0 - q / v) + m.k3 * (1.0 - v));
        let h = haemodynamics(1000, 1.0);
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let wide = run::<f64>(&h, 200_000, |_| z);
        let narrow = run::<f32>(&h, 200_000, |_| z);
        assert!((mean(&wide[100..]) / expected - 1.0).abs() < 1e-9, "{z}");
        let relative = mean(&narrow[100..]) / expected - 1.0;
        assert!(relative.abs() < 2e-4, "{z}: {relative}");
    }
}

#[test]
fn activity_is_averaged_over_a_haemodynamic_step() {
    // 0.1 ms: ten integration steps to a haemodynamic one, in any order.
    let h = haemodynamics(100, 0.1);
    assert_eq!((h.stride, h.seconds), (10, 0.001));
    let even = run::<f64>(&h, 30_000, |_| 0.25);
    let uneven = run::<f64>(&h, 30_000, |k| if k % 10 < 5 { 0.5 } else { 0.0 });
    assert_eq!(even, uneven);
}

#[test]
fn samples_are_due_at_the_first_step_at_or_after_the_period() {
    for dt_ms in [0.01, 0.3, 0.4, 0.7, 1.0, 3.0] {
        for period in [1, 2, 3, 7, 10, 64, 101] {
            let h = haemodynamics(period, dt_ms);
            for steps in [0, 1, 5, 63, 64, 700, 701, 1003] {
                let due: Vec<u64> =
                    (1..=steps).filter(|&s: &u64| s % h.stride == 0 && h.is_sample(s)).collect();
                for (k, at) in due.iter().enumerate() {
                    let multiple = (k as u64 + 1) * period;
                    assert!((multiple..multiple + h.stride).contains(at), "{h:?} {k} {at}");
                }
                let kind = MonitorKind::Bold(h.clone());
                assert_eq!(due.len() as u64, kind.rows(steps), "{h:?} {steps}");
            }
        }
    }
}

#[test]
fn lanes_are_independent_of_their_neighbours_and_the_instruction_set() {
    let h = haemodynamics(50, 0.5);
    let z = |lane: usize, k: u64| 0.1 * (lane as f64 + 1.0) * (1.0 + (k as f64 * 0.01).sin());
    let alone: Vec<Vec<f64>> = (0..11).map(|lane| run::<f32>(&h, 4000, |k| z(lane, k))).collect();
    for isa in Isa::available() {
        let mut monitor = Bold::<f32>::new(shape(11, isa), &h);
        let mut row = 0;
        for k in 0..4000 {
            let activity: Vec<f32> = (0..11).map(|lane| z(lane, k) as f32).collect();
            if let Some(values) = monitor.record(k, &[&activity]) {
                for (lane, value) in values.iter().enumerate() {
                    assert_eq!(f64::from(*value), alone[lane][row], "{isa} {lane} {row}");
                }
                row += 1;
            }
        }
        assert_eq!(row, 80);
    }
}

#[test]
fn faults_are_named() {
    let check = |h: Haemodynamics| MonitorKind::Bold(h).check(1);
    assert!(check(haemodynamics(1000, 1.0)).is_ok());
    let absent = Haemodynamics { variables: vec![1], ..haemodynamics(1000, 1.0) };
    assert!(check(absent).unwrap_err().to_string().contains("variable for BOLD 1"));
    let long = Haemodynamics { stride: 7, ..haemodynamics(5, 1.0) };
    assert!(check(long).unwrap_err().to_string().contains("at most the period"));
    assert!(check(haemodynamics(0, 1.0)).is_err());
}
