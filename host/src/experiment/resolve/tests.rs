//! Files against the experiments that they mean.

use crate::diagnostic::Severity;
use crate::experiment::{
    AxisTarget, Enforce, Equation, Experiment, Initial, Loaded, Method, ObservationKind, Overrides,
    Parameter, ParameterValue, Precision, Scope, StimulusTarget, SweepMode, load_str_with,
};
use crate::files::EMBEDDED;
use crate::library::{self, Shelf};
use std::path::Path;

fn loaded_with(text: &str, overrides: &Overrides) -> Loaded {
    match load_str_with(text, "test.yaml", Path::new(EMBEDDED), overrides) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{}\n{text}", error.render(false)),
    }
}

fn loaded(text: &str) -> Loaded {
    loaded_with(text, &Overrides::default())
}

fn experiment(text: &str) -> Experiment {
    loaded(text).experiment
}

fn refused(text: &str) -> String {
    match load_str_with(text, "test.yaml", Path::new(EMBEDDED), &Overrides::default()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn parameter<'e>(experiment: &'e Experiment, scope: Scope, name: &str) -> &'e Parameter {
    let found = experiment.parameters.iter().find(|p| p.scope == scope && p.name == name);
    found.unwrap_or_else(|| panic!("no {scope:?} {name} in {:?}", experiment.parameters))
}

fn text(equation: &Option<Equation>) -> &str {
    &equation.as_ref().unwrap().text
}

/// One state variable, one input, one parameter.
const MODEL: &str = r#"
dynamics:
  name: Decay
  parameters: {tau: {value: 10.0, unit: ms}}
  state_variables:
    x: {equation: {rhs: "-x/tau + c"}, coupling_variable: true}
    y: {equation: {rhs: "x - y"}, initial_value: 2.0}
  coupling_inputs: {c: {}}
"#;

fn with(rest: &str) -> String {
    format!("{MODEL}{rest}")
}

const TWO: &str = r#"
network:
  nodes: [{id: 5, label: A}, {id: 7, label: B}]
  edges: [{source: 5, target: 7, weight: 2.0, length: 30.0, directed: true}]
"#;

#[test]
fn defaults() {
    let e = experiment(MODEL);
    assert_eq!(e.integration.method, Method::Heun);
    assert_eq!((e.integration.dt, e.integration.duration), (0.01220703125, 1000.0));
    assert_eq!(e.dynamics.state_variables[0].initial, Initial::Uniform(0.1));
    assert_eq!(e.dynamics.state_variables[1].initial, Initial::Uniform(2.0));
    assert_eq!((e.seed, e.precision), (42, Precision::F32));
    assert_eq!(e.network.connectome.nodes(), 1);
    assert_eq!(e.network.conduction_speed_mm_per_ms, 3.0);
    assert_eq!(e.sweep.points(), Some(1));
    assert_eq!(e.dynamics.output, ["x", "y"]);
    // Linear coupling with a = 1/256 and b = 0, of the only coupling variable.
    assert_eq!((e.couplings.len(), e.couplings[0].connected), (1, true));
    assert_eq!(e.couplings[0].incoming_states, [0]);
    assert_eq!(parameter(&e, Scope::Coupling(0), "a").value, ParameterValue::Uniform(1.0 / 256.0));
    assert_eq!(parameter(&e, Scope::Coupling(0), "b").value, ParameterValue::Uniform(0.0));
    // A block without a method is Euler, as in TVBO.
    assert_eq!(experiment(&with("integration: {dt: 0.5}")).integration.method, Method::Euler);
}

#[test]
fn both_spellings_mean_the_same() {
    let new = with(TWO) + "integration: {method: rk4, step_size: 0.5, duration: 10.0}\n";
    let old = MODEL.replace("coupling_inputs", "coupling_terms")
        + r#"
connectivity:
  nodes: [{id: 5, label: A}, {id: 7, label: B}]
  edges:
    - source: 5
      target: 7
      parameters: {weight: {value: "2.0"}, distance: {value: 30.0}}
      directed: true
integration: {method: RungeKutta4thOrder, dt: 0.5, duration: 1.0e+1}
"#;
    let (new, old) = (experiment(&new), experiment(&old));
    assert_eq!(new.network, old.network);
    assert_eq!(new.integration, old.integration);
    assert_eq!(new.couplings.len(), old.couplings.len());
    assert_eq!(new.integration.method, Method::Rk4);
}

#[test]
fn rows_are_targets_and_edges_count_both_ways() {
    let e = experiment(&with(TWO));
    let c = &e.network.connectome;
    assert_eq!((c.weights[(1, 0)], c.weights[(0, 1)]), (2.0, 0.0));
    assert_eq!(c.tract_lengths_mm[(1, 0)], 30.0);
    assert_eq!(c.labels, ["A", "B"]);
    let both = experiment(&with(&TWO.replace(", directed: true", "")));
    assert_eq!(both.network.connectome.weights, both.network.connectome.weights.transpose());
    assert_eq!(both.network.connectome.weights.sum(), 4.0);
    assert_eq!(both.network.matrices.len(), 1);
}

#[test]
fn missing_weight_and_length() {
    let e = experiment(&with(
        "network:\n  nodes: [{id: 0, position: {x: 0, y: 0, z: 0}}, {id: 1, position: [3, 0, 4]}]\n  \
         edges: [{source: 0, target: 1}, {source: 1, target: 1, delay: 2.5}]\n",
    ));
    let c = &e.network.connectome;
    assert_eq!((c.weights[(0, 1)], c.weights[(1, 1)]), (1.0, 1.0));
    assert_eq!((c.tract_lengths_mm[(0, 1)], c.tract_lengths_mm[(1, 1)]), (5.0, 0.0));
    let delays = c.delays_ms.as_ref().unwrap();
    assert!(delays[(0, 1)].is_nan() && delays[(1, 1)] == 2.5);
}

#[test]
fn templates_lie_under_nodes_and_edges() {
    let e = experiment(&with(
        "network:\n  node_template: {parameters: {tau: {value: 20.0}}}\n  \
         edge_template: {weight: 0.5, directed: true}\n  \
         nodes: [{id: 0}, {id: 1, parameters: {tau: {value: 30.0}}, state: {y: {value: 9.0}}}]\n  \
         edges: [{source: 0, target: 1, weight: 3.0}, {source: 1, target: 0}]\n",
    ));
    let c = &e.network.connectome;
    assert_eq!((c.weights[(1, 0)], c.weights[(0, 1)]), (3.0, 0.5));
    let tau = parameter(&e, Scope::Dynamics, "tau");
    assert_eq!(tau.value, ParameterValue::PerNode(vec![20.0, 30.0]));
    assert_eq!(e.dynamics.state_variables[1].initial, Initial::PerNode(vec![2.0, 9.0]));
}

#[test]
fn edges_of_different_couplings_make_matrices() {
    let e = experiment(
        &(MODEL.replace("+ c\"", "+ c + d\"").replace("{c: {}}", "{c: {}, d: {}}")
            + r#"
network:
  number_of_nodes: 3
  coupling: {c: {iri: "tvbo:Scaling"}, d: {iri: "tvbo:Difference"}}
  edges:
    - {source: 0, target: 1, weight: 2.0, coupling: c, directed: true}
    - {source: 0, target: 1, weight: 5.0, coupling: d, directed: true}
    - {source: 1, target: 2, weight: 7.0, coupling: d, directed: true}
"#),
    );
    let matrix = |k: usize| &e.network.matrices[e.couplings[k].matrix];
    assert_eq!((matrix(0)[(1, 0)], matrix(0).sum()), (2.0, 2.0));
    assert_eq!((matrix(1)[(1, 0)], matrix(1)[(2, 1)], matrix(1).sum()), (5.0, 7.0, 12.0));
    assert_eq!(e.network.connectome.weights, e.network.matrices[0]);
    assert_eq!(e.network.matrices[0].sum(), 14.0);
}

#[test]
fn one_coupling_for_several_inputs_shares_its_parameters() {
    let model = MODEL.replace("{c: {}}", "{c: {}, d: {}, local_coupling: {local: true}}");
    let e = experiment(&(model + "coupling: {name: Linear, parameters: {a: {value: 0.5}}}\n"));
    assert_eq!(e.couplings.iter().map(|c| c.connected).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(parameter(&e, Scope::Couplings, "a").value, ParameterValue::Uniform(0.5));
    assert_eq!(e.parameters.iter().filter(|p| p.name == "a").count(), 1);
    let pre = |k: usize| e.couplings[k].pre.as_ref().map(|p| p.text.as_str());
    assert_eq!(pre(0), pre(1));
}

#[test]
fn couplings_fill_up_from_the_library() {
    let e = experiment(&with(
        "network:\n  coupling:\n    c: {iri: 'tvbo:KuramotoCoupling', delayed: false, \
         parameters: {a: {value: 3.0}}}\n",
    ));
    let c = &e.couplings[0];
    assert!(!c.delayed && text(&c.pre).contains("sin"));
    assert_eq!(parameter(&e, Scope::Coupling(0), "a").value, ParameterValue::Uniform(3.0));
    assert_eq!(parameter(&e, Scope::Coupling(0), "N").value, ParameterValue::Uniform(1.0));
    // An own expression wins, and what it doesn't read is not brought in.
    let e = experiment(&with(
        "coupling: {iri: 'tvbo:Linear', post_expression: {rhs: 'a*gx'}, incoming_states: [y]}\n",
    ));
    assert_eq!(text(&e.couplings[0].post), "a*gx");
    assert!(!e.parameters.iter().any(|p| p.name == "b"));
    assert_eq!(
        (&e.couplings[0].incoming_states[..], &e.couplings[0].local_states[..]),
        (&[1][..], &[0][..])
    );
}

#[test]
fn states_named_in_expressions_are_read() {
    let e = experiment(&with(
        "network:\n  coupling:\n    c: {pre_expression: {rhs: 'y_j - y_i'}, delayed: true}\n\
         integration: {method: euler, delayed: false}\n",
    ));
    assert_eq!(e.couplings[0].incoming_states, [0, 1]);
    assert_eq!(e.couplings[0].local_states, [0, 1]);
    assert!(!e.couplings[0].delayed, "integration.delayed switches all off");
}

#[test]
fn a_named_model_comes_from_the_library_and_inline_wins() {
    let shipped = experiment("dynamics: JansenRit\n");
    assert_eq!(shipped.dynamics.state_variables.len(), 6);
    let changed = experiment(
        "dynamics:\n  iri: tvbo:JansenRit\n  parameters: {mu: {value: 0.1}}\n  \
         state_variables: {y4: {initial_value: 7.0}}\n",
    );
    let names = |e: &Experiment| {
        e.dynamics.state_variables.iter().map(|s| s.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&changed), names(&shipped), "order is the library's");
    assert_eq!(parameter(&changed, Scope::Dynamics, "mu").value, ParameterValue::Uniform(0.1));
    assert_eq!(changed.dynamics.state_variables[4].initial, Initial::Uniform(7.0));
    assert_eq!(changed.dynamics.state_variables[3], shipped.dynamics.state_variables[3]);
}

#[test]
fn a_complete_model_takes_only_what_it_names_from_the_library() {
    let e = experiment(
        r#"
dynamics:
  name: JansenRit
  iri: tvbo:JansenRit
  parameters: {A: {}}
  state_variables:
    y1: {equation: {rhs: "A*a*Sigm(y1)"}, initial_value: 0.0}
"#,
    );
    let names: Vec<_> = e.parameters.iter().map(|p| p.name.as_str()).collect();
    // Sigm needs nu_max, r and v0; nothing needs B or the inputs.
    assert_eq!(names, ["A", "a", "v0", "nu_max", "r"]);
    assert_eq!(e.parameters[0].value, ParameterValue::Uniform(3.25));
    assert_eq!(e.dynamics.functions.len(), 1);
    assert!(e.dynamics.derived_variables.is_empty() && e.couplings.is_empty());
}

#[test]
fn kinds_of_parameters() {
    let e = experiment(
        r#"
dynamics:
  number_of_modes: 2
  parameters:
    text: {value: "3.5"}
    truth: {value: true}
    twice: {value: "2*text"}
    short: 4
    modes: {value: [1, 2]}
    matrix: {value: [[1, 2], [3, 4]]}
    nodes: {value: [5, 6, 7], shape: "(n_nodes,)"}
  state_variables: {x: {equation: "x"}}
network: {number_of_nodes: 3}
"#,
    );
    let value = |name| parameter(&e, Scope::Dynamics, name).value.clone();
    assert_eq!(value("text"), ParameterValue::Uniform(3.5));
    assert_eq!(value("truth"), ParameterValue::Uniform(1.0));
    assert_eq!(value("short"), ParameterValue::Uniform(4.0));
    assert_eq!(value("modes"), ParameterValue::Array { shape: vec![2], values: vec![1.0, 2.0] });
    let matrix = ParameterValue::Array { shape: vec![2, 2], values: vec![1.0, 2.0, 3.0, 4.0] };
    assert_eq!(value("matrix"), matrix);
    assert_eq!(value("nodes"), ParameterValue::PerNode(vec![5.0, 6.0, 7.0]));
    assert_eq!(text(&e.dynamics.derived_parameters[0].equation), "2*text");
}

#[test]
fn derived_variables_with_cases() {
    let e = experiment(
        r#"
dynamics:
  derived_variables:
    a: {equation: {rhs: "1"}, cases: [{condition: "x < 0", equation: {rhs: "2"}}], record: true}
    b: {equation: {conditionals: [{condition: "x > 0", expression: "3"}]}}
  state_variables: {x: {equation: {rhs: "a + b"}}}
"#,
    );
    let [a, b] = &e.dynamics.derived_variables[..] else { panic!() };
    assert_eq!(
        (a.cases[0].condition.text.as_str(), a.cases[0].value.text.as_str()),
        ("x < 0", "2")
    );
    assert_eq!(text(&a.equation), "1");
    assert_eq!((b.cases[0].value.text.as_str(), &b.equation), ("3", &None));
    assert_eq!(e.dynamics.output, ["x", "a"]);
}

#[test]
fn domains_may_name_parameters_and_infinity() {
    let model =
        MODEL.replace("coupling_variable: true", "domain: {lo: -.inf, hi: tau, enforce: clamp}");
    let x = &experiment(&model).dynamics.state_variables[0];
    assert_eq!((x.domain, x.enforce), (Some((f64::NEG_INFINITY, 10.0)), Enforce::Clamp));
    let open = MODEL.replace("coupling_variable: true", "domain: {lo: 0.0, enforce: wrap}");
    assert!(refused(&open).contains("can't be wrapped"));
}

#[test]
fn noise_of_a_state_wins_over_the_integration_s() {
    let model = MODEL.replace("initial_value: 2.0", "noise: {parameters: {nsig: {value: 0.5}}}");
    let e = experiment(&(model + "integration: {noise: {parameters: {sigma: 0.1}, seed: 7}}\n"));
    let [x, y] = &e.dynamics.state_variables[..] else { panic!() };
    assert!(!x.noise.unwrap().is_nsig && y.noise.unwrap().is_nsig);
    assert_eq!(e.parameters[x.noise.unwrap().amplitude].value, ParameterValue::Uniform(0.1));
    assert_eq!(e.parameters[y.noise.unwrap().amplitude].value, ParameterValue::Uniform(0.5));
    assert_eq!(e.seed, 7);
}

#[test]
fn an_axis_over_noise_reaches_every_state() {
    let noisy = "noise: {parameters: {sigma: {value: 0.1}}}";
    let model =
        MODEL.replace("coupling_variable: true", noisy).replace("initial_value: 2.0", noisy);
    let space = "explorations: {g: {space: {noise.sigma: {explored_values: [1, 2]}}}}\n";
    let e = experiment(&(model + space));
    let amplitude = |k: usize| e.dynamics.state_variables[k].noise.unwrap().amplitude;
    assert_eq!(amplitude(0), amplitude(1));
    assert_eq!(e.sweep.axes[0].target, AxisTarget::Parameter(amplitude(0)));
}

#[test]
fn sweep_axes() {
    let e = experiment(&with(
        r#"
network:
  coupling: {c: {parameters: {G: {value: 1.0}}, pre_expression: {rhs: x_j}, post_expression: {rhs: G*gx}}}
explorations:
  first:
    space:
      c.G: {domain: {lo: 0.0, hi: 1.0, n: 5}}
      Decay.tau: {domain: {lo: 1.0, hi: 1.3, step: 0.1}}
      conduction_speed: {domain: {lo: 1.0, hi: 100.0, n: 3, log_scale: true}}
  second: {space: {Decay.tau: {explored_values: [1]}}}
  third: {strategy: nsga2, space: {Decay.tau: {domain: {lo: 1, hi: 2}}}}
"#,
    ));
    let [g, tau, speed] = &e.sweep.axes[..] else { panic!() };
    assert_eq!(g.values, [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!((tau.values.len(), tau.unit.as_deref()), (4, Some("ms")));
    assert!((tau.values[3] - 1.3).abs() < 1e-12);
    assert_eq!((speed.values[0], speed.values[2]), (1.0, 100.0));
    assert!((speed.values[1] - 10.0).abs() < 1e-12);
    assert_eq!(speed.target, AxisTarget::ConductionSpeed);
    assert_eq!(e.sweep.points(), Some(60));
    let skipped: Vec<_> = e.skipped.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(skipped, ["explorations.second", "explorations.third"]);
}

#[test]
fn overrides_win() {
    let text = with("explorations: {g: {space: {Decay.tau: {explored_values: [1, 2]}}}}\n");
    let overrides = Overrides {
        set: vec![("conduction_speed".into(), 8.0)],
        axes: vec!["tau=1,2,3".parse().unwrap(), "global_coupling=0:1:3".parse().unwrap()],
        mode: Some(SweepMode::Zip),
        dt: Some(0.5),
        steps: Some(10),
        seed: Some(3),
        precision: Some(Precision::F64),
        ..Overrides::default()
    };
    let e = loaded_with(&text, &overrides).experiment;
    assert_eq!((e.integration.dt, e.integration.steps()), (0.5, 10));
    assert_eq!(e.network.conduction_speed_mm_per_ms, 8.0);
    assert_eq!((e.seed, e.precision), (3, Precision::F64));
    assert_eq!(e.sweep.axes.len(), 2, "the file's axis over tau is replaced");
    assert_eq!(e.sweep.points(), Some(3));
    assert_eq!(
        parameter(&e, Scope::Network, "global_coupling").value,
        ParameterValue::Uniform(1.0)
    );
    let wrong = Overrides { set: vec![("taw".into(), 1.0)], ..Overrides::default() };
    let error = load_str_with(&text, "t", Path::new(""), &wrong).unwrap_err();
    assert!(error.render(false).contains("did you mean `Decay.tau`?"));
}

#[test]
fn what_is_set_is_not_swept() {
    let text = with("explorations: {g: {space: {Decay.tau: {explored_values: [1, 2]}}}}\n");
    let set = vec![("tau".into(), 5.0)];
    let fixed = Overrides { set, ..Overrides::default() };
    let loaded = loaded_with(&text, &fixed);
    let e = &loaded.experiment;
    assert_eq!(parameter(e, Scope::Dynamics, "tau").value, ParameterValue::Uniform(5.0));
    assert_eq!(e.sweep.points(), Some(1));
    assert!(loaded.warnings.iter().any(|w| w.message.contains("`Decay.tau` is set")));
    let both = Overrides { axes: vec!["tau=1,2,3".parse().unwrap()], ..fixed };
    let error = load_str_with(&text, "t", Path::new(""), &both).unwrap_err();
    assert!(error.render(false).contains("`tau` is set and swept at once"));
}

#[test]
fn a_discrete_system_is_iterated() {
    let map = "dynamics: {system_type: discrete, state_variables: {x: {equation: {rhs: 4*x*(1-x)}}}}\n\
               integration: {method: Heun, step_size: 1, duration: 5}\n";
    let loaded = loaded(map);
    assert_eq!(loaded.experiment.integration.method, Method::Map);
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!(loaded.warnings[0].severity, Severity::Note);
}

#[test]
fn time_in_seconds_is_converted_for_delays() {
    let loaded = loaded(&with("integration: {step_size: 1.0e-4, duration: 1.0, time_scale: s}\n"));
    let time = &loaded.experiment.integration;
    assert_eq!((time.ms_per_unit, time.steps()), (1000.0, 10_000));
    assert!((time.dt_ms() - 0.1).abs() < 1e-15);
    assert!(loaded.warnings[0].message.contains("converted"));
}

#[test]
fn events_and_stimuli() {
    let e = experiment(&with(
        r#"
network: {number_of_nodes: 3, nodes: [{id: 0, label: A}, {id: 1, label: B}, {id: 2, label: C}], edges: [{source: 0, target: 1}]}
events:
  reset: {condition: {rhs: "x > 1"}, affect: {rhs: "x = 0; y = y + 1"}}
  cross: {event_type: continuous, condition: {rhs: "x - 1"}, affect: {rhs: "x = 0"}}
  pulse:
    event_type: stimulus
    equation: {rhs: "A*sin(t)", parameters: {A: {value: 2.0}}}
    target_regions: [C, 0]
    weights: [0.5, 0.25]
    target_variable: y
"#,
    ));
    let [reset, cross] = &e.dynamics.events[..] else { panic!() };
    assert_eq!((reset.rising, cross.rising), (false, true));
    assert_eq!(reset.affect.text, "x = 0; y = y + 1");
    let [pulse] = &e.stimuli[..] else { panic!() };
    assert_eq!(pulse.target, StimulusTarget::Derivative(1));
    assert_eq!(e.parameters[pulse.weight].value, ParameterValue::PerNode(vec![0.25, 0.0, 0.5]));
    assert_eq!(parameter(&e, Scope::Stimulus(0), "A").value, ParameterValue::Uniform(2.0));
}

#[test]
fn observations_that_are_computed_and_those_that_are_not() {
    let e = experiment(&with(
        r#"
integration: {method: euler, step_size: 0.5, duration: 100, time_scale: ms}
observations:
  fc: {source: [bold], pipeline: [{callable: {name: compute_fc, module: m}, arguments: {skip_t: {value: 20}}}]}
  bold: {imaging_modality: BOLD, source: [x], period: 1000.0}
  mean_y: {source: [y], pipeline: [{callable: {module: jax.numpy, name: mean}, arguments: {a: {value: integration.result}}}]}
  spread: {voi: 1, class_reference: {name: std}}
  eeg: {imaging_modality: EEG, source: [x]}
  odd: {source: [x], pipeline: [{function: f}, {function: g}]}
  of_odd: {source: [odd], pipeline: [{callable: {name: mean}}]}
functions: {f: {source_code: "x"}, g: {equation: {rhs: "x"}}}
optimizations: {fit: {loss: {function: rmse}}}
"#,
    ));
    let seen: Vec<_> = e.observations.iter().map(|o| (o.name.as_str(), &o.sources[..])).collect();
    let s = |name: &str| vec![name.to_owned()];
    assert_eq!(
        seen,
        [("fc", &s("bold")[..]), ("bold", &s("x")), ("mean_y", &s("y")), ("spread", &s("y"))]
    );
    assert_eq!(e.observations[0].kind, ObservationKind::FunctionalConnectivity);
    assert_eq!(e.observations[0].skip, 20);
    assert!(matches!(e.observations[1].kind, ObservationKind::Bold(_)));
    assert_eq!(e.observations[1].period, Some(1000.0));
    assert_eq!(e.observations[2].kind, ObservationKind::Mean);
    assert_eq!(e.observations[3].kind, ObservationKind::StandardDeviation);
    let mut skipped: Vec<_> = e.skipped.iter().map(|(name, _)| name.as_str()).collect();
    skipped.sort_unstable();
    assert_eq!(
        skipped,
        [
            "functions.f",
            "functions.g",
            "observations.eeg",
            "observations.odd",
            "observations.of_odd",
            "optimizations.fit"
        ]
    );
}

#[test]
fn shared_functions_that_equations_call_are_compiled() {
    let model = MODEL.replace("x - y", "f(x) - y");
    let functions = "functions: {f: {arguments: {u: {}}, equation: {rhs: g(u)}}, \
                     g: {arguments: {u: {}}, equation: {rhs: 2*u}}, h: {equation: {rhs: '1'}}}\n";
    let e = experiment(&(model + functions));
    let names: Vec<_> = e.dynamics.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f", "g"]);
    assert_eq!(e.skipped.len(), 1);
}

#[test]
fn connectomes_from_elsewhere() {
    let e = experiment(&with(
        "network:\n  bids_dir: connectomes/dk_average\n  transforms:\n    \
         - {name: weight, equation: {rhs: W / W_max}}\n",
    ));
    assert_eq!(e.network.connectome.nodes(), 84);
    assert_eq!(e.network.matrices[0].max(), 1.0);
    assert!(e.network.connectome.tract_lengths_mm.max() > 10.0);
    let ring = experiment(&with(
        "network:\n  number_of_nodes: 6\n  graph_generator: {name: ring, type: Cycle}\n",
    ));
    assert_eq!(ring.network.connectome.weights.sum(), 12.0);
    let wrong = with("network: {number_of_nodes: 3, bids_dir: connectomes/dk_average}\n");
    assert!(refused(&wrong).contains("84 nodes, the experiment 3"));
}

#[test]
fn equations_know_their_place() {
    let e = experiment(MODEL);
    let equation = &e.dynamics.state_variables[0].equation;
    let place = equation.locate(3..6);
    assert_eq!(&e.source.1[place.span.clone()], "tau");
}

#[test]
fn a_file_that_is_wrong_in_many_ways_says_so_at_once() {
    let text =
        with("network: {nodez: 3}\nintegration: {step_size: -1}\nexecution: {precision: f16}\n");
    let message = refused(&text);
    for part in ["nodez", "step size", "precision"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

#[test]
fn everything_that_ships_loads() {
    for shelf in [Shelf::Models, Shelf::Examples] {
        for name in library::names(shelf) {
            let shipped = match shelf {
                Shelf::Models => library::find_model(name),
                _ => library::find_example(name),
            };
            let path = format!("{EMBEDDED}{}", shipped.unwrap().path);
            match crate::experiment::load(Path::new(&path)) {
                Ok(loaded) => {
                    for warning in loaded.warnings {
                        assert_eq!(warning.severity, Severity::Note, "{path}: {}", warning.message);
                    }
                }
                Err(error) => panic!("{}", error.render(false)),
            }
        }
    }
}
