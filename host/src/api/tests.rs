//! Every option of `run_cuda`, argument by argument, over the code that runs it, on the CPU engine.

use super::cuda::means_on;
use super::{CudaResult, Error, RunOptions, SimulationExperiment};
use crate::experiment::Precision;
use crate::simulation::Device;

/// Three nodes in a row, with conduction delays, and a coupling that is linear in its weights.
const TEXT: &str = "
label: chain
dynamics:
  name: Relay
  parameters: {k: {value: 0.5}, b: {value: 0.25}}
  state_variables:
    x: {equation: {rhs: -k*x + b + c}, initial_value: 1.0, coupling_variable: true}
    y: {equation: {rhs: x - y}, initial_value: 0.0}
  derived_variables: {z: {equation: {rhs: x*y}}}
  output: [z, x]
  coupling_inputs: {c: {}}
network:
  parameters: {conduction_speed: {value: 2.0}}
  nodes: [{id: 0, label: a}, {id: 1, label: b}, {id: 2, label: c}]
  edges:
    - {source: 0, target: 1, directed: true, parameters: {weight: {value: WEIGHT}, length: {value: 10.0}}}
    - {source: 1, target: 2, directed: true, parameters: {weight: {value: WEIGHT}, length: {value: 4.0}}}
  coupling:
    c: {incoming_states: [x], pre_expression: {rhs: x_j}, post_expression: {rhs: G*gx}, parameters: {G: {value: 1.0}}}
integration: {method: Heun, step_size: 0.25, duration: 20.0, transient_time: 2.0}
";

fn text() -> String {
    TEXT.replace("WEIGHT", "0.75")
}

fn experiment(text: &str) -> SimulationExperiment {
    SimulationExperiment::from_str(text).unwrap_or_else(|error| panic!("{}", error.render()))
}

fn run(text: &str, options: &RunOptions) -> CudaResult {
    let result = means_on(&experiment(text), options, Device::Cpu);
    result.unwrap_or_else(|error| panic!("{}", error.render()))
}

fn refused(text: &str, options: &RunOptions) -> Error {
    means_on(&experiment(text), options, Device::Cpu).expect_err("it is refused")
}

/// The values of one work item.
fn item(result: &CudaResult, item: usize) -> &[f64] {
    let size = result.tavg.values.len() / result.tavg.shape()[0];
    &result.tavg.values[item * size..][..size]
}

const NONE: fn() -> RunOptions = RunOptions::new;

#[test]
fn without_options_the_experiments_own_settings_hold() {
    let result = run(&text(), &NONE());
    assert_eq!(result.tavg.shape(), [1, 2, 3]);
    assert_eq!((result.n_node, result.n_steps, result.dt), (3, 80, 0.25));
    assert_eq!(result.finite, [true]);
    assert_eq!(result.states, ["x", "y"], "all states, whatever the experiment records");
    let whole = experiment(&text()).run(super::Backend::Cpu).unwrap();
    assert_eq!(whole.variables, ["z", "x"]);
    for node in 0..3 {
        assert_eq!(result.tavg.at(&[0, 0, node]), whole.mean(0, "x", node));
    }
    assert!(item(&result, 0).iter().all(|value| value.is_finite() && *value != 0.0));
}

#[test]
fn steps_and_step_size() {
    // Euler's scheme by hand; numbers that 32 bits hold exactly.
    let text = "
dynamics:
  name: Decay
  parameters: {k: {value: 1.0}}
  state_variables: {x: {equation: {rhs: -k*x}, initial_value: 1.0}}
integration: {method: euler, step_size: 0.5, duration: 1.0}
";
    let mean = |options: &RunOptions| run(text, options).tavg.values[0];
    assert_eq!(mean(&NONE()), (0.5 + 0.25) / 2.0);
    assert_eq!(mean(&NONE().n_steps(3)), f64::from(0.875_f32 / 3.0));
    assert_eq!(mean(&NONE().dt(0.25)), (0.75 + 0.5625 + 0.421875 + 0.31640625) / 4.0);
    let both = run(text, &NONE().dt(0.25).n_steps(2));
    assert_eq!(both.tavg.values, [(0.75 + 0.5625) / 2.0]);
    assert_eq!((both.n_steps, both.dt), (2, 0.25));
}

#[test]
fn work_items_without_a_sweep_differ_by_their_noise() {
    let three = run(&text(), &NONE().n_work_items(3));
    assert_eq!(three.tavg.shape(), [3, 2, 3]);
    let one = run(&text(), &NONE());
    for at in 0..3 {
        assert_eq!(item(&three, at), item(&one, 0), "without noise all are the same");
    }
    let noisy = text().replace(
        "initial_value: 1.0,",
        "initial_value: 1.0, noise: {additive: true, parameters: {sigma: {value: 0.125}}},",
    );
    let three = run(&noisy, &NONE().n_work_items(3));
    assert_eq!(item(&three, 0), item(&run(&noisy, &NONE()), 0));
    assert!(item(&three, 1) != item(&three, 0) && item(&three, 1) != item(&three, 2));
    assert!(item(&run(&noisy, &NONE().seed(5)), 0) != item(&three, 0));
}

#[test]
fn work_items_are_those_of_the_sweep() {
    let swept = format!(
        "{}explorations: {{g: {{space: {{Relay.b: {{explored_values: [0.25, 0.5]}}}}}}}}\n",
        text()
    );
    assert_eq!(run(&swept, &NONE()).tavg.shape()[0], 2);
    let two = run(&swept, &NONE().n_work_items(2));
    assert_eq!(item(&two, 0), item(&run(&text(), &NONE()), 0));
    let error = refused(&swept, &NONE().n_work_items(1));
    assert!(matches!(error, Error::WorkItems { given: 1, there: 2 }), "{error}");
    // Given parameters take the sweep's place, also of other length.
    let other = run(&swept, &NONE().swept_param("k", [0.5, 0.25, 0.125]));
    assert_eq!(other.tavg.shape()[0], 3);
    assert_eq!(item(&other, 0), item(&two, 0));
    let last = run(&swept, &NONE().points(1..2));
    assert_eq!(item(&last, 0), item(&two, 1));
}

#[test]
fn the_speed_is_the_callers_else_the_networks_else_3() {
    let at = |speed: &str| run(&text().replace("{value: 2.0}", speed), &NONE()).tavg.values;
    let given = run(&text(), &NONE().global_speed(5.0)).tavg.values;
    assert_eq!(given, at("{value: 5.0}"));
    assert!(given != at("{value: 2.0}"));
    let unsaid = text().replace("  parameters: {conduction_speed: {value: 2.0}}\n", "");
    assert_eq!(run(&unsaid, &NONE()).tavg.values, at("{value: 3.0}"));
    assert!(matches!(refused(&text(), &NONE().global_speed(-1.0)), Error::Experiment(_)));
}

#[test]
fn the_global_coupling_is_a_factor_on_every_coupling_input() {
    // Half of everything is exact, so that a factor on the sum and on each weight agree to the bit.
    let half = run(&text(), &NONE().global_coupling(0.5)).tavg.values;
    assert_eq!(half, run(&text().replace("0.75", "0.375"), &NONE()).tavg.values);
    assert_eq!(
        run(&text(), &NONE().global_coupling(1.0)).tavg.values,
        run(&text(), &NONE()).tavg.values
    );
    assert!(half != run(&text(), &NONE()).tavg.values);
    let none = run(&text(), &NONE().global_coupling(0.0));
    assert_eq!(none.tavg.at(&[0, 0, 2]), none.tavg.at(&[0, 0, 0]), "node a has no input either");
}

#[test]
fn the_buffer_holds_the_slowest_points_longest_delay() {
    // 10 mm at 2 mm/ms in steps of 0.25 ms: 20 steps; the state itself needs one more.
    let short = refused(&text(), &NONE().buffer_length(20));
    let Error::BufferLength { given: 20, point: 0, longest_delay: 20 } = short else {
        panic!("{short}")
    };
    assert!(short.to_string().contains("needs 21"), "{short}");
    let enough = run(&text(), &NONE().buffer_length(21));
    assert_eq!(enough.tavg.values, run(&text(), &NONE()).tavg.values, "it changes nothing else");

    let speeds = NONE().swept_param("conduction_speed", [4.0, 1.0, 2.0]);
    let short = refused(&text(), &speeds.clone().buffer_length(40));
    assert!(matches!(short, Error::BufferLength { point: 1, longest_delay: 40, .. }), "{short}");
    run(&text(), &speeds.clone().buffer_length(41));
    // Without the slow point less will do.
    run(&text(), &speeds.points(0..1).points(2..3).buffer_length(21));
    assert!(matches!(
        refused(&text(), &NONE().dt(0.125).buffer_length(40)),
        Error::BufferLength { .. }
    ));
}

#[test]
fn any_parameter_is_swept_one_value_a_work_item() {
    let noisy = text().replace(
        "initial_value: 1.0,",
        "initial_value: 1.0, noise: {additive: true, parameters: {sigma: {value: 0.0}}},",
    );
    let change = |from: &str, to: &str| run(&noisy.replace(from, to), &NONE());
    let cases = [
        ("k", [0.5, 1.5], "k: {value: 0.5}", "k: {value: 1.5}"),
        ("Relay.b", [0.25, -1.0], "b: {value: 0.25}", "b: {value: -1.0}"),
        ("c.G", [1.0, 3.0], "G: {value: 1.0}", "G: {value: 3.0}"),
        ("coupling.G", [1.0, 3.0], "G: {value: 1.0}", "G: {value: 3.0}"),
        ("network.conduction_speed", [2.0, 8.0], "{value: 2.0}", "{value: 8.0}"),
    ];
    for (name, values, from, to) in cases {
        let swept = run(&noisy, &NONE().swept_param(name, values));
        assert_eq!(swept.tavg.shape()[0], 2, "{name}");
        assert_eq!(item(&swept, 0), item(&run(&noisy, &NONE()), 0), "{name}");
        assert_eq!(item(&swept, 1), item(&change(from, to), 0), "{name}");
        assert!(item(&swept, 1) != item(&swept, 0), "{name}");
    }
    let noise = run(&noisy, &NONE().swept_param("noise.sigma", [0.0, 0.5]));
    assert!(item(&noise, 1) != item(&noise, 0));
    let coupling = run(&noisy, &NONE().swept_param("global_coupling", [1.0, 0.5]));
    assert_eq!(item(&coupling, 1), item(&run(&noisy, &NONE().global_coupling(0.5)), 0));

    // Two go together, item by item.
    let both = run(&noisy, &NONE().swept_params([("k", [0.5, 1.5]), ("c.G", [1.0, 3.0])]));
    assert_eq!(both.tavg.shape()[0], 2);
    let expected = run(
        &noisy
            .replace("k: {value: 0.5}", "k: {value: 1.5}")
            .replace("G: {value: 1.0}", "G: {value: 3.0}"),
        &NONE(),
    );
    assert_eq!(item(&both, 1), item(&expected, 0));
}

#[test]
fn wrong_swept_parameters_are_refused() {
    let error = refused(&text(), &NONE().swept_param("Relay.kk", [1.0]));
    let Error::SweptName { name, reason } = &error else { panic!("{error}") };
    assert_eq!(name, "Relay.kk");
    assert!(reason.contains("did you mean `Relay.k`"), "{reason}");
    let length = |options: RunOptions, expected_name: &str, numbers: (usize, usize)| match refused(
        &text(),
        &options,
    ) {
        Error::SweptLength { name, expected, found } => {
            assert_eq!((name.as_str(), (expected, found)), (expected_name, numbers));
        }
        other => panic!("{other}"),
    };
    let k = NONE().swept_param("k", [0.1, 0.2]);
    length(k.clone().swept_param("b", [1.0]), "b", (2, 1));
    length(k.clone().n_work_items(3), "k", (3, 2));
    run(&text(), &k.clone().n_work_items(2));
    for (options, part) in [
        (k.clone().swept_param("k", [0.1, 0.2]), "given twice"),
        (NONE().n_work_items(0), "n_work_items"),
        (NONE().threads(0), "threads"),
    ] {
        let error = refused(&text(), &options);
        assert!(matches!(error, Error::Option { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    for (options, part) in [
        (NONE().swept_param("k", []), "no values"),
        (NONE().swept_param("k", [f64::NAN]), "NaN"),
        (NONE().swept_param("conduction_speed", [1.0, 0.0]), "must be positive"),
        (k.clone().swept_param("Relay.k", [0.1, 0.2]), "two sweep axes"),
        (NONE().swept_param("conduction_speed", [1.0]).global_speed(2.0), "set and swept"),
        (NONE().n_steps(0), "nothing to record"),
        (NONE().dt(f64::INFINITY), "step size"),
        (k.points(1..3), "no point 2"),
    ] {
        let error = refused(&text(), &options);
        assert!(matches!(error, Error::Experiment(_)), "{error}");
        assert!(
            error.diagnostics().is_some() && error.render().contains(part),
            "{}",
            error.render()
        );
    }
}

#[test]
fn precision_and_threads() {
    let wide = run(&text(), &NONE().precision(Precision::F64));
    let narrow = run(&text(), &NONE());
    assert!(wide.tavg.values != narrow.tavg.values);
    for (a, b) in wide.tavg.values.iter().zip(&narrow.tavg.values) {
        assert!((a - b).abs() < 1e-5 * b.abs(), "{a} {b}");
    }
    let swept = NONE().swept_param("k", (0..40).map(|i| 0.01 * f64::from(i)));
    let threads = [1, 3].map(|n| run(&text(), &swept.clone().threads(n)).tavg.values);
    assert_eq!(threads[0], threads[1]);
}

#[test]
fn a_work_item_that_leaves_the_finite_numbers_is_flagged_alone() {
    let result = run(&text(), &NONE().swept_param("k", [0.5, -400.0]));
    assert_eq!(result.finite, [true, false]);
    assert!(item(&result, 1).iter().all(|value| value.is_nan()));
    assert_eq!(item(&result, 0), item(&run(&text(), &NONE()), 0));
}
