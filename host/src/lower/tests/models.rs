use super::*;
use crate::diagnostic::Severity;
use crate::experiment::{Case, Event, Noise, Stimulus, StimulusTarget};
use crate::ir::{Bound, Inst, UnaryOp};

#[test]
fn an_equation_means_what_rust_says() {
    type F = fn(f64, f64) -> f64;
    let cases: &[(&str, F)] = &[
        ("x**2 - 2/3*y", |x, y| x * x - 2.0 / 3.0 * y),
        ("-x**2", |x, _| -(x * x)),
        ("2x*(1 - y)^3", |x, y| 2.0 * x * (1.0 - y).powi(3)),
        ("x**-2 + y**0.5", |x, y| 1.0 / (x * x) + y.sqrt()),
        ("x**2.5", |x, _| x.powf(2.5)),
        ("E**x + E", |x, _| x.exp() + std::f64::consts::E),
        ("sin pi*y + cos(x)", |x, y| (std::f64::consts::PI * y).sin() + x.cos()),
        ("tanh(x) + atan2(y, x)", |x, y| x.tanh() + y.atan2(x)),
        ("log(x, 2) + ln(y) + log10(x)", |x, y| x.log2() + y.ln() + x.log10()),
        ("Max(x, y, 1.5) + Min(x, y)", |x, y| x.max(y).max(1.5) + x.min(y)),
        ("(-x) % 2 + Mod(y, 0.5)", |x, y| (-x).rem_euclid(2.0) + y % 0.5),
        ("Heaviside(x - y) + Heaviside(0) + sign(-x)", |x, y| {
            f64::from(u8::from(x > y)) + 0.5 - 1.0
        }),
        ("Piecewise((x, x < y), (y, (x >= y) & (y > 1)), (7, True))", |x, y| {
            if x < y {
                x
            } else if y > 1.0 {
                y
            } else {
                7.0
            }
        }),
        ("Piecewise((1, (0 < x < 1) | Eq(y, 1.2)), (2, ~(y < 0)))", |x, y| {
            if (0.0 < x && x < 1.0) || y == 1.2 { 1.0 } else { 2.0 }
        }),
        ("Sum(x**i, (i, 0, 3)) * Product(i + y, (i, 1, 2))", |x, y| {
            (1.0 + x + x * x + x.powi(3)) * (1.0 + y) * (2.0 + y)
        }),
        ("Abs(floor(-x)) + ceiling(y)", |x, y| (-x).floor().abs() + y.ceil()),
        ("sqrt(x)*erf(0) + erfc(0)", |_, _| 1.0),
    ];
    for (text, expected) in cases {
        let draft = Draft::new().state("x", text).state("y", "0");
        for (x, y) in [(0.3, 0.7), (1.7, 1.2), (2.5, 0.4)] {
            let (found, expected) = (draft.drift(&[x, y], 0.0)[0], expected(x, y));
            assert!(close(found, expected), "{text} at {x}, {y}: {found} and not {expected}");
        }
    }
}

#[test]
fn a_piecewise_without_a_default_is_nan_elsewhere() {
    let draft = Draft::new().state("x", "Piecewise((1, x > 0))");
    assert_eq!(draft.drift(&[1.0], 0.0), [1.0]);
    assert!(draft.drift(&[-1.0], 0.0)[0].is_nan());
}

#[test]
fn definitions_are_found_in_any_order_and_functions_see_the_model() {
    let draft = Draft::new()
        .state("v", "-v + twice*rate(v)")
        .derived("twice", "2*once")
        .derived("once", "v0 + t")
        .function("rate", &["v"], "2*e0/(1 + exp(r*(v0 - v)))")
        .parameter("v0", 6.0)
        .parameter("r", 0.56)
        .parameter("e0", 2.5);
    let rate = |v: f64| 2.0 * 2.5 / (1.0 + (0.56 * (6.0 - v)).exp());
    let found = draft.drift(&[1.5], 3.0)[0];
    assert!(close(found, -1.5 + 2.0 * (6.0 + 3.0) * rate(1.5)));
}

#[test]
fn names_of_sympy_may_be_names_of_the_model() {
    let draft = Draft::new()
        .state("S", "gamma*S + beta(S + 1) + lambda + E*I + N*Q")
        .parameter("gamma", 2.0)
        .parameter("beta", 3.0)
        .parameter("lambda", 5.0)
        .parameter("E", 7.0)
        .parameter("I", 11.0)
        .parameter("N", 13.0)
        .parameter("Q", 17.0);
    assert_eq!(draft.drift(&[10.0], 0.0), [20.0 + 33.0 + 5.0 + 77.0 + 221.0]);
}

#[test]
fn cases_of_a_derived_variable_are_tried_in_order() {
    let mut draft = Draft::new().state("x", "f").derived("f", "3");
    for (condition, value) in [("x < 0", "1"), ("x < 1", "2")] {
        let (condition, value) = (draft.equation(condition), draft.equation(value));
        draft.experiment.dynamics.derived_variables[0].cases.push(Case { condition, value });
    }
    assert_eq!([-1.0, 0.5, 2.0].map(|x| draft.drift(&[x], 0.0)[0]), [1.0, 2.0, 3.0]);
}

#[test]
fn events_assign_in_order() {
    let mut draft = Draft::new()
        .state("v", "0")
        .state("u", "0")
        .derived("double", "2*v")
        .parameter("c", -65.0)
        .parameter("d", 8.0);
    let condition = draft.equation("v > 30");
    let affect = draft.equation("v = c; u = u + d + double");
    draft.experiment.dynamics.events.push(Event {
        name: "spike".into(),
        condition,
        affect,
        rising: false,
    });
    let events = draft.lowered().program.events.clone();
    assert_eq!(draft.run(&events, &[31.0, 1.0], &[], 0.0), [-65.0, 1.0 + 8.0 - 130.0]);
    assert_eq!(draft.run(&events, &[30.0, 1.0], &[], 0.0), [30.0, 1.0]);
}

#[test]
fn stimuli_add_to_a_derivative_or_stand_for_a_symbol() {
    let mut draft = Draft::new()
        .state("x", "-x")
        .state("y", "I_ext")
        .parameter("weight", 2.0)
        .parameter_of(Scope::Stimulus(0), "onset", ParameterValue::Uniform(1.0));
    let pulse = "Piecewise((3, (t >= onset) & (t < onset + 1)), (0, True))";
    for (at, target) in [StimulusTarget::Derivative(0), StimulusTarget::Symbol("I_ext".into())]
        .into_iter()
        .enumerate()
    {
        let equation = draft.equation(if at == 0 { pulse } else { "t" });
        let name = format!("stimulus{at}");
        draft.experiment.stimuli.push(Stimulus { name, equation, target, weight: 0 });
    }
    assert_eq!(draft.drift(&[1.0, 0.0], 0.5), [-1.0, 1.0]);
    assert_eq!(draft.drift(&[1.0, 0.0], 1.5), [5.0, 3.0]);
}

#[test]
fn noise_bounds_and_records() {
    let mut draft = Draft::new()
        .state("a", "0")
        .state("b", "0")
        .derived("sum", "a + b + c")
        .parameter_of(Scope::Noise(1), "nsig", ParameterValue::Uniform(0.02))
        .coupling("c", (&[0], &[]), "a", "gx");
    let state = &mut draft.experiment.dynamics.state_variables[1];
    state.noise = Some(Noise { amplitude: 0, is_nsig: true });
    state.domain = Some((0.0, 1.0));
    state.enforce = Enforce::Wrap;
    draft.experiment.dynamics.output = vec!["sum".into(), "b".into()];
    let lowered = draft.lowered();
    assert_eq!(lowered.program.noisy, [1]);
    let sigma = draft.run(&lowered.program.diffusion, &[], &[], 0.0);
    assert!(close(sigma[0], 0.2));
    assert_eq!(lowered.program.bounds, [Bound::Free, Bound::Wrap { lo: 0.0, hi: 1.0 }]);
    assert_eq!(lowered.recorded, [Recorded::Observed(0), Recorded::State(1)]);
    assert_eq!(draft.run(&lowered.program.observe, &[1.0, 2.0], &[4.0], 0.0), [7.0]);
    assert_eq!(lowered.program.parameters, ["b.nsig"]);
    assert!(matches!(lowered.program.diffusion.insts[3], Inst::Unary(UnaryOp::Sqrt, _)));
}

#[test]
fn modes_are_states_and_matrices_multiply_them() {
    let matrix = ParameterValue::Array { shape: vec![2, 2], values: vec![1.0, 2.0, 3.0, 4.0] };
    let vector = ParameterValue::Array { shape: vec![2], values: vec![10.0, 20.0] };
    let mut draft = Draft::new()
        .state("x", "mode_dot(x, A) + v*x + mode_sum(x) + k")
        .state("y", "mode_dot(A, x) + v[1]")
        .parameter_of(Scope::Dynamics, "A", matrix)
        .parameter_of(Scope::Dynamics, "v", vector)
        .parameter("k", 0.5);
    draft.experiment.dynamics.modes = 2;
    let lowered = draft.lowered();
    assert_eq!(lowered.program.states, ["x[0]", "x[1]", "y[0]", "y[1]"]);
    assert_eq!(lowered.parameter_slots, [0..4, 4..6, 6..7]);
    let (p, q) = (5.0, 7.0);
    let expected = [
        p + 3.0 * q + 10.0 * p + (p + q) + 0.5,
        2.0 * p + 4.0 * q + 20.0 * q + (p + q) + 0.5,
        p + 2.0 * q + 20.0,
        3.0 * p + 4.0 * q + 20.0,
    ];
    assert_eq!(draft.drift(&[p, q, 0.0, 0.0], 0.0), expected);
}

#[test]
fn several_incoming_states_without_an_index_warn() {
    let draft =
        Draft::new().state("a", "c").state("b", "0").coupling("c", (&[0, 1], &[]), "x_j", "gx");
    let warnings = draft.lowered().warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].severity, Severity::Warning);
}

#[test]
fn an_initial_value_may_be_an_equation_of_parameters() {
    let mut draft = Draft::new().state("v", "0").state("u", "0").parameter("b", 0.2);
    let equation = draft.equation("-70*b");
    draft.experiment.dynamics.state_variables[1].initial = Initial::Equation(equation);
    let initial = draft.lowered().initial;
    assert_eq!(initial.states, [1]);
    assert_eq!(draft.run(&initial.section, &[], &[], 0.0), [-70.0 * 0.2]);
}
