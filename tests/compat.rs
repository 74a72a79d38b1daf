//! `--compat tvbo-kernel` against a direct loop of what it says.

use host::experiment::{Compat, Experiment, Overrides, Precision, load_str_with};
use host::simulation::{Options, Record, Simulation};
use std::path::Path;

const STEPS: usize = 400;
/// `[target][source]`: weights, and lengths in mm.
const WEIGHTS: [[f64; 3]; 3] = [[0.0, 0.5, 0.0], [1.5, 0.0, 0.7], [0.2, 0.0, 0.0]];
const LENGTHS: [[f64; 3]; 3] = [[0.0, 4.0, 0.0], [0.0, 0.0, 12.3], [0.9, 0.0, 0.0]];

/// A scheme, initial values, a speed, a nonlinear coupling, of which nothing is used.
const EXPERIMENT: &str = "
dynamics: MODEL
network:
  parameters: {conduction_speed: {value: 7.0}}
  nodes: [{id: 0}, {id: 1}, {id: 2}]
  edges:
    - {source: 1, target: 0, directed: true, parameters: {weight: {value: 0.5}, length: {value: 4.0}}}
    - {source: 0, target: 1, directed: true, parameters: {weight: {value: 1.5}, length: {value: 0.0}}}
    - {source: 2, target: 1, directed: true, parameters: {weight: {value: 0.7}, length: {value: 12.3}}}
    - {source: 0, target: 2, directed: true, parameters: {weight: {value: 0.2}, length: {value: 0.9}}}
  coupling:
    c_glob:
      delayed: false
      parameters: {G: {value: 3.0}}
      pre_expression: {rhs: sin(x_j - x_i)}
      post_expression: {rhs: G*gx}
integration: {method: heun, step_size: DT, duration: 1.0, time_scale: SCALE}
";

/// In seconds: 1 mm at 1 mm/ms is 0.001 of its unit of time.
const SECONDS: &str = "
  name: Seconds
  parameters: {k: {value: 30.0}}
  coupling_inputs: {c_glob: {}}
  state_variables:
    a: {equation: {rhs: 40.0 - k*a + b + 200*c_glob}, initial_value: 2.0, coupling_variable: true}
    b: {equation: {rhs: -k*b + a*a}, initial_value: -1.0}
";

/// The states after every step, `[step][state][node]`: Euler, delays at `speed`, linear coupling of
/// state 0 scaled by `strength`, everything 0 before the start.
fn direct<const N: usize>(
    (dt, dt_ms): (f64, f64),
    (speed, strength): (f64, f64),
    drift: impl Fn([f64; N], f64) -> [f64; N],
) -> Vec<[[f64; 3]; N]> {
    let mut past = vec![[[0.0; 3]; N]];
    for step in 0..STEPS {
        let mut next = past[step];
        for i in 0..3 {
            let mut input = 0.0;
            for j in 0..3 {
                let delay = (LENGTHS[i][j] / speed / dt_ms).round_ties_even() as usize;
                input += WEIGHTS[i][j] * step.checked_sub(delay).map_or(0.0, |k| past[k][0][j]);
            }
            let slope = drift(past[step].map(|nodes| nodes[i]), strength * input);
            (0..N).for_each(|s| next[s][i] += dt * slope[s]);
        }
        past.push(next);
    }
    past.split_off(1)
}

fn load(model: &str, dt: f64, scale: &str, changes: &Overrides) -> (Experiment, Vec<String>) {
    let text = EXPERIMENT.replace("MODEL", model).replace("DT", &dt.to_string());
    let text = text.replace("SCALE", scale);
    let changes = Overrides {
        compat: Some(Compat::TvboKernel),
        steps: Some(STEPS as u64),
        precision: Some(Precision::F64),
        ..changes.clone()
    };
    let loaded = load_str_with(&text, "compat.yaml", Path::new("."), &changes);
    let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.render(false)));
    (loaded.experiment, loaded.warnings.into_iter().map(|w| w.message).collect())
}

fn compare<const N: usize>(experiment: &Experiment, expected: &[[[f64; 3]; N]]) {
    let options = Options { record: Some(Record::Raw), ..Options::default() };
    let simulation = Simulation::new(experiment, &options).expect("it compiles");
    assert!(simulation.notes().iter().all(|note| !note.message.contains('G')), "G is replaced");
    let result = simulation.run().expect("it runs");
    let series = result.arrays().iter().find(|a| a.name == "series").expect("a series");
    assert_eq!(series.values.len(), STEPS * N * 3);
    let expected = expected.iter().flatten().flatten();
    for (at, (found, expected)) in series.values.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= 1e-11 * expected.abs().max(1.0), "{at}: {found}, not {expected}");
    }
    assert!(series.values.iter().all(|v| v.is_finite()) && series.values.iter().any(|v| *v != 0.0));
}

fn fitzhugh_nagumo([v, w]: [f64; 2], c: f64) -> [f64; 2] {
    [v - v.powi(3) / 3.0 - w + 0.5 + c, (v + 0.7 - 0.8 * w) / 12.5]
}

#[test]
fn fitzhugh_nagumo_is_the_direct_loop() {
    let (experiment, warnings) =
        load("{iri: tvbo:FitzHughNagumo}", 0.1, "ms", &Overrides::default());
    assert!(warnings.iter().any(|w| w.contains("tvbo-kernel") && w.contains("Euler")));
    compare(&experiment, &direct((0.1, 0.1), (1.0, 0.1), fitzhugh_nagumo));
}

#[test]
fn kuramoto_is_the_direct_loop() {
    let (experiment, _) = load("{iri: tvbo:Kuramoto}", 0.05, "ms", &Overrides::default());
    compare(&experiment, &direct((0.05, 0.05), (1.0, 0.1), |_: [f64; 1], c| [1.0 + c]));
}

#[test]
fn a_model_in_seconds_has_the_delays_of_its_lengths() {
    let (experiment, _) = load(SECONDS, 1e-4, "s", &Overrides::default());
    let drift = |[a, b]: [f64; 2], c: f64| [40.0 - 30.0 * a + b + 200.0 * c, -30.0 * b + a * a];
    compare(&experiment, &direct((1e-4, 0.1), (1.0, 0.1), drift));
}

#[test]
fn what_is_given_beside_it_wins() {
    let changes = Overrides {
        conduction_speed: Some(2.5),
        set: vec![("global_coupling".into(), 0.4)],
        ..Overrides::default()
    };
    let (experiment, _) = load("{iri: tvbo:FitzHughNagumo}", 0.1, "ms", &changes);
    compare(&experiment, &direct((0.1, 0.1), (2.5, 0.4), fitzhugh_nagumo));
}
