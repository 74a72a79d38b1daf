//! Schemes, noise and delays against what is known in closed form, and what must not change a bit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod runs;

use host::experiment::{Overrides, Precision};
use host::simulation::Options;
use runs::{bits, every_step, experiment, experiment_with, means, run_with};

/// The slope of log(error) against log(step) by least squares.
fn slope(steps: &[f64], errors: &[f64]) -> f64 {
    let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let (x, y) = (logs(steps), logs(errors));
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let cross: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    cross / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Order of convergence on `equation`, `x(0) = 0.5`, up to t = 2.
fn order(method: &str, equation: &str, solution: fn(f64) -> f64) -> f64 {
    let steps = [0.1, 0.05, 0.025, 0.0125, 0.00625];
    let errors = steps.map(|step| {
        let result = runs::run(&format!(
            "dynamics: {{name: M, state_variables: {{x: {{equation: {{rhs: '{equation}'}}, initial_value: 0.5}}}}}}
integration: {{method: {method}, step_size: {step}, duration: 2.0}}
execution: {{precision: float64}}
"
        ));
        let (x, times) = (result.trace(0, "x", 0).unwrap(), &result.array("time").unwrap().values);
        let off = x.iter().zip(times).map(|(x, t)| (x - solution(*t)).abs());
        off.fold(0.0, f64::max)
    });
    slope(&steps, &errors)
}

#[test]
fn orders_of_convergence() {
    for (method, expected) in [("euler", 1.0), ("heun", 2.0), ("rk4", 4.0)] {
        // Logistic growth.
        let growth = order(method, "2*x*(1 - x)", |t| 1.0 / (1.0 + (-2.0 * t).exp()));
        // 1/x = 2 − sin t: the stages' own times count.
        let driven = order(method, "x**2*cos(t)", |t| 1.0 / (2.0 - t.sin()));
        for order in [growth, driven] {
            assert!((order - expected).abs() < 0.15, "{method}: order {growth}, {driven}");
        }
    }
}

/// Sample mean of products, with the standard error for normal variables of mean 0.
fn covariance(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let mean = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n;
    let (c, va, vb) = (mean(a, b), mean(a, a), mean(b, b));
    (c, ((va * vb + c * c) / n).sqrt())
}

/// The Ornstein–Uhlenbeck process in discrete time is `x ← φx + ηξ`: variance
/// `η²σ²dt/(1 − φ²)`, autocovariance φ^m times that after m steps.
#[test]
fn ornstein_uhlenbeck() {
    let (rate, sigma, dt) = (0.5_f64, 0.7_f64, 0.2_f64);
    let h = rate * dt;
    for (method, phi, eta) in
        [("euler", 1.0 - h, 1.0), ("heun", 1.0 - h + h * h / 2.0, 1.0 - h / 2.0)]
    {
        let experiment = experiment(&format!(
            "dynamics:
  name: M
  parameters: {{rate: {{value: {rate}}}, trial: {{value: 0}}}}
  state_variables:
    x:
      equation: {{rhs: '-rate*x + 0*trial'}}
      initial_value: 0
      noise: {{parameters: {{sigma: {{value: {sigma}}}}}}}
network: {{number_of_nodes: 2}}
integration: {{method: {method}, step_size: {dt}, duration: 4, transient_time: 30}}
explorations: {{trials: {{space: {{M.trial: {{domain: {{lo: 0, hi: 4095, n: 4096}}}}}}}}}}
"
        ));
        let result = run_with(&experiment, &every_step());
        let series = result.series().unwrap();
        let sample = |row: usize, node: usize| -> Vec<f64> {
            (0..4096).map(|point| series.at(&[point, row, 0, node]).unwrap()).collect()
        };
        let variance = eta * eta * sigma * sigma * dt / (1.0 - phi * phi);
        let check = |what: &str, (value, error): (f64, f64), expected: f64| {
            let off = (value - expected).abs() / error;
            assert!(off < 3.0, "{method}, {what}: {value}, not {expected}: {off} standard errors");
        };
        for node in 0..2 {
            let start = sample(0, node);
            let mean = start.iter().sum::<f64>() / 4096.0;
            check("mean", (mean, (variance / 4096.0).sqrt()), 0.0);
            for lag in [0, 5, 15] {
                let what = format!("lag {lag}");
                let expected = variance * phi.powi(lag as i32);
                check(&what, covariance(&start, &sample(lag, node)), expected);
            }
            let mut turned = start.clone();
            turned.rotate_left(1);
            check("neighbouring points", covariance(&start, &turned), 0.0);
        }
        check("nodes", covariance(&sample(0, 0), &sample(0, 1)), 0.0);
    }
}

/// The distribution function of the normal distribution (Marsaglia 2004, doi:10.18637/jss.v011.i04).
fn normal_cdf(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() && k < 400.0 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

/// With dt = 1, sigma = 1 and no drift, the increments are the normals.
#[test]
fn the_noise_is_normal() {
    let experiment = experiment(
        "dynamics:
  name: M
  parameters: {trial: {value: 0}}
  state_variables:
    x: {equation: {rhs: 0*trial - x}, initial_value: 0, noise: {parameters: {sigma: {value: 1}}}}
    y: {equation: {rhs: -y}, initial_value: 0, noise: {parameters: {sigma: {value: 1}}}}
network: {number_of_nodes: 25}
integration: {method: euler, step_size: 1, duration: 200}
explorations: {trials: {space: {M.trial: {domain: {lo: 0, hi: 99, n: 100}}}}}
",
    );
    let mut z = run_with(&experiment, &every_step()).series().unwrap().values.clone();
    assert_eq!(z.len(), 1_000_000);
    let n = z.len() as f64;
    let moment = |k: i32| z.iter().map(|z| z.powi(k)).sum::<f64>() / n;
    // Mean, variance, skewness and kurtosis with their standard errors.
    for (k, expected, error) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let off = (moment(k) - expected).abs() / (error / n).sqrt();
        assert!(off < 3.0, "moment {k}: {}, {off} standard errors", moment(k));
    }
    z.sort_by(f64::total_cmp);
    let distance = z.iter().enumerate().fold(0.0_f64, |worst, (i, &z)| {
        let f = normal_cdf(z);
        worst.max((f - i as f64 / n).abs()).max(((i + 1) as f64 / n - f).abs())
    });
    // Kolmogorov: 1.63/√n is exceeded once in a hundred times.
    assert!(distance * n.sqrt() < 1.63, "Kolmogorov–Smirnov: {}", distance * n.sqrt());
}

/// `x' = −x − k·x(t − τ)` loses its stability where `ω = −tan ωτ`, `k = √(1 + ω²)`.
#[test]
fn delayed_feedback_starts_to_oscillate_where_it_must() {
    const STRENGTHS: usize = 61;
    let (lo, hi) = (1.5_f64, 4.5);
    let step = (hi - lo) / (STRENGTHS - 1) as f64;
    let delays = [0.5_f64, 0.8, 1.25];
    let speeds = delays.map(|tau| (1.0 / tau).to_string()).join(", ");
    let experiment = experiment(&format!(
        "dynamics:
  name: M
  coupling_inputs: {{c: {{}}}}
  state_variables: {{x: {{equation: {{rhs: -x + c}}, initial_value: 1, coupling_variable: true}}}}
network:
  nodes: [{{id: 0}}]
  edges: [{{source: 0, target: 0, parameters: {{weight: {{value: 1}}, length: {{value: 1}}}}}}]
  coupling: {{c: {{parameters: {{k: {{value: 1}}}}, pre_expression: {{rhs: x_j}}, post_expression: {{rhs: -k*gx}}}}}}
integration: {{method: heun, step_size: 0.005, duration: 60}}
execution: {{precision: float64}}
explorations:
  grid:
    space:
      network.conduction_speed: {{explored_values: [{speeds}]}}
      c.k: {{domain: {{lo: {lo}, hi: {hi}, n: {STRENGTHS}}}}}
"
    ));
    let result = run_with(&experiment, &every_step());
    for (row, tau) in delays.into_iter().enumerate() {
        // ω lies between π/2τ and π/τ, where ω + tan ωτ rises from −∞.
        let quarter = std::f64::consts::FRAC_PI_2 / tau;
        let (mut low, mut high) = (quarter * (1.0 + 1e-12), 2.0 * quarter);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if middle + (middle * tau).tan() < 0.0 { low = middle } else { high = middle }
        }
        let critical = (1.0 + low * low).sqrt();
        let grows = |k: usize| {
            let x = result.trace(row * STRENGTHS + k, "x", 0).unwrap();
            let peak =
                |from: usize, to: usize| x[from..to].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            peak(8000, 12_000) > peak(4000, 8000)
        };
        let first = (0..STRENGTHS).find(|&k| grows(k)).expect("some are unstable");
        assert!((first..STRENGTHS).all(grows), "and all beyond");
        let found = lo + (first as f64 - 0.5) * step;
        assert!((found - critical).abs() <= step, "τ = {tau}: {found}, not {critical}");
    }
}

/// Without delays the pulls of Kuramoto oscillators cancel, so the mean frequency is that of the
/// oscillators alone, whatever the noise.
#[test]
fn noise_does_not_move_the_mean_frequency() {
    const TRIALS: usize = 64;
    let (duration, omega) = (100.0_f64, 0.9);
    let sigmas = [0.0, 0.1, 0.3, 1.0, 3.0];
    let experiment = experiment(
        "dynamics:
  name: M
  parameters: {omega: {value: 0.9}, trial: {value: 0}, s: {value: 0}}
  coupling_inputs: {c: {}}
  state_variables:
    theta:
      equation: {rhs: omega + 0*trial + c}
      initial_value: 0
      coupling_variable: true
      noise: {parameters: {sigma: {value: s}}}
network:
  graph_generator: {name: Complete, type: Complete, parameters: {n: {value: 6}}}
  coupling:
    c: {delayed: false, iri: 'tvbo:KuramotoCoupling', parameters: {a: {value: 0.2}, N: {value: 6}}}
integration: {method: heun, step_size: 0.1, duration: 100}
execution: {precision: float64}
explorations:
  grid:
    space:
      M.s: {explored_values: [0, 0.1, 0.3, 1, 3]}
      M.trial: {domain: {lo: 0, hi: 63, n: 64}}
",
    );
    let result = run_with(&experiment, &every_step());
    let series = result.series().unwrap();
    let last = series.shape()[1] - 1;
    for (at, sigma) in sigmas.into_iter().enumerate() {
        let of_trial = |trial: usize| -> f64 {
            let end = |node| series.at(&[at * TRIALS + trial, last, 0, node]).unwrap();
            (0..6).map(end).sum::<f64>() / 6.0 / duration
        };
        let frequencies: Vec<f64> = (0..TRIALS).map(of_trial).collect();
        let mean = frequencies.iter().sum::<f64>() / TRIALS as f64;
        let error = sigma / (duration * 6.0 * TRIALS as f64).sqrt();
        assert!((mean - omega).abs() <= 3.0 * error + 1e-12, "sigma = {sigma}: {mean} ± {error}");
        let spread = (frequencies.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 63.0).sqrt();
        // One oscillator's noise, averaged over the six; the spread's own error is 9 %.
        let expected = sigma / (duration * 6.0).sqrt();
        assert!((spread - expected).abs() <= 0.27 * expected + 1e-12, "{spread}, not {expected}");
    }
}

const SWEEP: &str = "
dynamics:
  name: M
  parameters: {omega: {value: 0.3}}
  derived_variables: {pull: {equation: {rhs: c}, record: true}}
  coupling_inputs: {c: {}}
  state_variables:
    theta:
      equation: {rhs: omega + c}
      distribution: {name: Uniform, domain: {lo: 0, hi: 6}, seed: 3}
      coupling_variable: true
      noise: {parameters: {sigma: {value: 0.1}}}
network:
  graph_generator: {name: ErdosRenyi, type: ErdosRenyi, seed: 4, parameters: {n: {value: 9}, p: {value: 0.5}}}
  coupling: {c: {iri: 'tvbo:KuramotoCoupling', parameters: {a: {value: 0.2}}}}
  transforms: [{name: length, equation: {rhs: 'W*7'}}]
integration: {method: heun, step_size: 0.1, duration: 20}
explorations:
  grid:
    space:
      network.conduction_speed: {explored_values: [0.5, 1, 2.5, 20]}
      c.a: {domain: {lo: 0, hi: 1, n: 5}}
";

#[test]
fn a_point_is_the_same_alone_and_in_a_sweep() {
    for precision in [Precision::F32, Precision::F64] {
        let overrides = Overrides { precision: Some(precision), ..Overrides::default() };
        let experiment = experiment_with(SWEEP, &overrides);
        let whole = run_with(&experiment, &every_step());
        let three = run_with(&experiment, &Options { threads: Some(3), ..every_step() });
        let series = &whole.series().unwrap().values;
        assert_eq!(bits(series), bits(&three.series().unwrap().values));
        assert_eq!(bits(&whole.tavg().values), bits(&three.tavg().values));
        let size = series.len() / 20;
        for point in 0..20_usize {
            let only = point as u64..point as u64 + 1;
            let options = Options { points: vec![only], ..every_step() };
            let alone = run_with(&experiment, &options);
            assert_eq!(alone.points, [point as u64]);
            let expected = &series[point * size..][..size];
            assert_eq!(bits(&alone.series().unwrap().values), bits(expected), "point {point}");
        }
        // The delays matter: the speeds give different courses for one coupling.
        assert_ne!(bits(&series[4 * size..][..size]), bits(&series[9 * size..][..size]));
    }
}

#[test]
fn every_point_of_a_large_sweep_is_its_own() {
    let overrides = Overrides {
        axes: vec![
            "c.a=0.01:1:64".parse().unwrap(),
            "network.conduction_speed=0.5:30:64:log".parse().unwrap(),
        ],
        duration: Some(10.0),
        ..Overrides::default()
    };
    let experiment = experiment_with(SWEEP, &overrides);
    let whole = run_with(&experiment, &means());
    assert_eq!(whole.points.len(), 4096);
    let tavg = &whole.tavg().values;
    let size = tavg.len() / 4096;
    let distinct: std::collections::BTreeSet<Vec<u64>> = tavg.chunks(size).map(bits).collect();
    assert_eq!(distinct.len(), 4096);
    // A sample alone, and in pieces whose tiles are packed otherwise.
    for range in [0..1, 63..65, 700..701, 1000..1333, 2048..2049, 4095..4096] {
        let options = Options { points: vec![range.clone()], ..means() };
        let part = run_with(&experiment, &options);
        let expected = &tavg[range.start as usize * size..range.end as usize * size];
        assert_eq!(bits(&part.tavg().values), bits(expected), "points {range:?}");
    }
}
