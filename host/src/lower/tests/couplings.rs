//! Each coupling against a loop over edges that evaluates the plain formula.

use super::*;
use crate::ir::{Gather, GatherSource};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const NODES: usize = 7;

/// A random network without delays: weights, and two states a node.
struct Net {
    weights: Vec<Vec<f64>>,
    states: Vec<Vec<f64>>,
}

impl Net {
    fn random(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut row = |n: usize, lo: f64, hi: f64| -> Vec<f64> {
            (0..n).map(|_| rng.random_range(lo..hi)).collect()
        };
        let weights = (0..NODES)
            .map(|i| {
                let mut weights = row(NODES, 0.0, 2.0);
                weights[i] = 0.0;
                weights[(i + 3) % NODES] = 0.0;
                weights
            })
            .collect();
        let states = (0..NODES).map(|_| row(2, -1.5, 1.5)).collect();
        Self { weights, states }
    }

    /// The coupling inputs of every node, through the program's emit, edges, gathers and post.
    fn couple(&self, draft: &Draft, program: &Program, time: f64) -> Vec<Vec<f64>> {
        let run = |section: &Section, target: usize, source: usize, gathered: &[f64]| {
            let parameters = draft.parameter_values(target);
            let input = |input: Input| match input {
                Input::Time => time,
                Input::State(i) => self.states[target][i as usize],
                Input::SourceState(i) => self.states[source][i as usize],
                Input::Parameter(i) => parameters[i as usize],
                Input::Gathered(i) => gathered[i as usize],
                other => panic!("{other:?}"),
            };
            let mut out = Vec::new();
            run_section(section, &input, &mut out);
            out
        };
        let channels: Vec<Vec<f64>> = (0..NODES).map(|j| run(&program.emit, j, j, &[])).collect();
        (0..NODES)
            .map(|i| {
                let gather = |gather: &Gather| {
                    let value = |j: usize| match gather.source {
                        GatherSource::Ones => 1.0,
                        GatherSource::Channel(c) => channels[j][c as usize],
                        GatherSource::Edge(e) => run(&program.edges[e as usize], i, j, &[])[0],
                    };
                    (0..NODES).fold(0.0, |sum, j| self.weights[i][j].mul_add(value(j), sum))
                };
                let gathered: Vec<f64> = program.gathers.iter().map(gather).collect();
                run(&program.post, i, i, &gathered)
            })
            .collect()
    }

    /// The same by the definition; `pre` gets source, target and time.
    fn direct(&self, pre: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
        let one = |i: usize| {
            let edge = |j: usize| self.weights[i][j] * pre(&self.states[j], &self.states[i]);
            (0..NODES).map(edge).sum()
        };
        (0..NODES).map(one).collect()
    }
}

fn draft(pre: &str, post: &str, incoming: &[usize]) -> Draft {
    Draft::new()
        .state("x", "c")
        .state("y", "0")
        .parameter_of(Scope::Coupling(0), "a", ParameterValue::Uniform(0.7))
        .parameter_of(Scope::Coupling(0), "b", ParameterValue::Uniform(-0.3))
        .coupling("c", (incoming, incoming), pre, post)
}

type Pre = fn(&[f64], &[f64]) -> f64;

/// Checks a coupling against its formula and returns the numbers of channels and gathers.
fn check(pre: &str, formula: Pre) -> (usize, usize) {
    let draft = draft(pre, "a*gx + b*x_i", &[0]);
    let lowered = draft.lowered();
    for seed in 0..5 {
        let net = Net::random(seed);
        let found = net.couple(&draft, &lowered.program, 2.0);
        for (i, expected) in net.direct(formula).into_iter().enumerate() {
            let expected = 0.7 * expected - 0.3 * net.states[i][0];
            assert!(close(found[i][0], expected), "{pre}: {} and not {expected}", found[i][0]);
        }
    }
    (lowered.program.emit.results.len(), lowered.program.gathers.len())
}

#[test]
fn couplings_of_the_source_alone_are_one_channel() {
    assert_eq!(check("x_j", |j, _| j[0]), (1, 1));
    assert_eq!(check("x", |j, _| j[0]), (1, 1));
    assert_eq!(
        check("a*(tanh((b*x_j - 1)/2) + 1)", |j, _| 0.7
            * (((-0.3 * j[0] - 1.0) / 2.0).tanh() + 1.0)),
        (1, 1)
    );
    assert_eq!(
        check("b + (a - b)/(exp(a*(6 - x_j)) + 1)", |j, _| -0.3
            + 1.0 / ((0.7 * (6.0 - j[0])).exp() + 1.0)),
        (1, 1)
    );
}

#[test]
fn differences_need_the_channel_and_the_sum_of_weights() {
    assert_eq!(check("x_j - x_i", |j, i| j[0] - i[0]), (1, 2));
    assert_eq!(check("-x_i + x_j", |j, i| j[0] - i[0]), (1, 2));
    assert_eq!(check("a*(x_j - x_i)/b", |j, i| 0.7 * (j[0] - i[0]) / -0.3), (1, 2));
    assert_eq!(check("x_j + x_j**2 - x_i + y_i", |j, i| j[0] + j[0] * j[0] - i[0] + i[1]), (1, 2));
}

#[test]
fn addition_theorems_separate_sine_cosine_and_exponential() {
    assert_eq!(check("sin(x_j - x_i)", |j, i| (j[0] - i[0]).sin()), (2, 2));
    assert_eq!(check("sin(-x_i + x_j)", |j, i| (j[0] - i[0]).sin()), (2, 2));
    assert_eq!(check("sin(x_i - x_j + b)", |j, i| (i[0] - j[0] - 0.3).sin()), (2, 2));
    assert_eq!(check("sin(-x_j - x_i)", |j, i| (-j[0] - i[0]).sin()), (2, 2));
    assert_eq!(check("cos(x_j - x_i - a)", |j, i| (j[0] - i[0] - 0.7).cos()), (2, 2));
    assert_eq!(check("cos(x_i + a*x_j)", |j, i| (i[0] + 0.7 * j[0]).cos()), (2, 2));
    assert_eq!(check("cos(-x_j - 2*x_i)", |j, i| (-j[0] - 2.0 * i[0]).cos()), (2, 2));
    assert_eq!(check("sin(2*(x_j - x_i))", |j, i| (2.0 * (j[0] - i[0])).sin()), (2, 2));
    assert_eq!(check("exp(a*(x_j - x_i))", |j, i| (0.7 * (j[0] - i[0])).exp()), (1, 1));
    assert_eq!(check("exp(x_i - x_j)*x_j", |j, i| (i[0] - j[0]).exp() * j[0]), (1, 1));
}

#[test]
fn products_and_powers_expand() {
    assert_eq!(check("(x_j - x_i)**2", |j, i| (j[0] - i[0]).powi(2)), (2, 3));
    assert_eq!(check("(x_j - x_i)**3", |j, i| (j[0] - i[0]).powi(3)), (3, 4));
    assert_eq!(check("x_j*x_i + y_i*x_j", |j, i| j[0] * i[0] + i[1] * j[0]), (1, 1));
    assert_eq!(check("(x_j + y_i)*(x_i - x_j)", |j, i| (j[0] + i[1]) * (i[0] - j[0])), (2, 3));
    assert_eq!(check("x_i", |_, i| i[0]), (0, 1));
    assert_eq!(check("1", |_, _| 1.0), (0, 1));
}

#[test]
fn what_does_not_separate_runs_over_edges() {
    assert_eq!(check("tanh(x_j - x_i)", |j, i| (j[0] - i[0]).tanh()), (0, 1));
    assert_eq!(check("1/(1 + (x_j - x_i)**2)", |j, i| 1.0 / (1.0 + (j[0] - i[0]).powi(2))), (0, 1));
    assert_eq!(check("Piecewise((x_j, x_j > x_i), (x_i, True))", |j, i| j[0].max(i[0])), (0, 1));
    assert_eq!(check("sin(x_j*x_i)", |j, i| (j[0] * i[0]).sin()), (0, 1));
}

#[test]
fn time_is_the_targets_and_never_emitted() {
    let draft = draft("x_j*sin(t) + cos(x_j + t)", "gx", &[0]);
    let lowered = draft.lowered();
    let net = Net::random(1);
    let found = net.couple(&draft, &lowered.program, 2.0);
    let direct = net.direct(|j, _| j[0] * 2.0_f64.sin() + (j[0] + 2.0).cos());
    assert!(found.iter().zip(direct).all(|(f, d)| close(f[0], d)));
    assert!(!lowered.program.emit.insts.contains(&crate::ir::Inst::Input(Input::Time)));
}

#[test]
fn several_states_are_indexed_or_named() {
    for pre in ["a/(1 + exp(x_j[0] - x_j[1]))", "a/(1 + exp(x - y))", "a/(1 + exp(x_j[0] - y_j))"] {
        let draft = draft(pre, "gx", &[0, 1]);
        let lowered = draft.lowered();
        let net = Net::random(3);
        let found = net.couple(&draft, &lowered.program, 0.0);
        let direct = net.direct(|j, _| 0.7 / (1.0 + (j[0] - j[1]).exp()));
        assert!(found.iter().zip(direct).all(|(f, d)| close(f[0], d)), "{pre}");
        assert_eq!(lowered.program.gathers.len(), 1);
    }
}

#[test]
fn local_states_alone_are_the_sources_where_nothing_is_delayed() {
    let mut draft = draft("local_states", "a*gx", &[0]);
    draft.experiment.couplings[0].delayed = false;
    let lowered = draft.lowered();
    let source = GatherSource::Channel(0);
    assert_eq!(lowered.program.gathers, [Gather { source, matrix: 0, delayed: false }]);

    draft.experiment.couplings[0].delayed = true;
    let lowered = draft.lowered();
    let source = GatherSource::Ones;
    assert_eq!(lowered.program.gathers, [Gather { source, matrix: 0, delayed: true }]);
}

#[test]
fn equal_channels_are_shared_between_couplings() {
    let draft = Draft::new()
        .state("x", "c + d + e")
        .coupling("c", (&[0], &[0]), "sin(x_j - x_i)", "gx")
        .coupling("d", (&[0], &[0]), "cos(x_j - x_i)", "gx")
        .coupling("e", (&[0], &[0]), "x_j - x_i", "gx");
    let mut shared = draft.lowered();
    assert_eq!(shared.program.emit.results.len(), 3);
    assert_eq!(shared.program.gathers.len(), 4);

    // Over another matrix the channel is shared and the sum is not.
    let mut draft = draft;
    draft.experiment.couplings[1].matrix = 1;
    shared = draft.lowered();
    assert_eq!(shared.program.emit.results.len(), 3);
    assert_eq!(shared.program.gathers.len(), 6);
}

#[test]
fn an_unconnected_input_is_zero_and_an_unread_one_costs_nothing() {
    let mut draft = Draft::new()
        .state("x", "c + d*x")
        .coupling("c", (&[0], &[0]), "x_j", "gx")
        .coupling("d", (&[0], &[0]), "sin(x_j)", "gx + 1")
        .coupling("e", (&[0], &[0]), "cos(x_j)", "gx");
    draft.experiment.couplings[1].connected = false;
    let lowered = draft.lowered();
    assert_eq!(lowered.program.couplings, ["c"]);
    assert_eq!(lowered.program.emit.results.len(), 1);
    assert_eq!(draft.run(&lowered.program.drift, &[5.0], &[3.0], 0.0), [3.0]);
}

#[test]
fn the_global_factor_multiplies_after_post() {
    let global = ParameterValue::Uniform(10.0);
    let draft =
        draft("x_j", "gx + a", &[0]).parameter_of(Scope::Network, "global_coupling", global);
    let net = Net::random(2);
    let found = net.couple(&draft, &draft.lowered().program, 0.0);
    for (found, direct) in found.iter().zip(net.direct(|j, _| j[0])) {
        assert!(close(found[0], 10.0 * (direct + 0.7)));
    }
}

#[test]
fn a_parameter_per_node_is_the_sources() {
    let values: Vec<f64> = (0..NODES).map(|i| i as f64).collect();
    let per_node = |pre: &str| {
        draft(pre, "gx", &[0]).parameter_of(
            Scope::Coupling(0),
            "k",
            ParameterValue::PerNode(values.clone()),
        )
    };
    let draft = per_node("k*(x_j - x_i)");
    let net = Net::random(4);
    let found = net.couple(&draft, &draft.lowered().program, 0.0);
    for (i, found) in found.iter().enumerate() {
        let edge = |j: usize| net.weights[i][j] * j as f64 * (net.states[j][0] - net.states[i][0]);
        assert!(close(found[0], (0..NODES).map(edge).sum()));
    }
    assert!(per_node("tanh(k*(x_j - x_i))").lower().is_err());
}

#[test]
fn inputs_of_a_model_with_modes_sum_them_or_keep_them_apart() {
    let mut draft = Draft::new().state("x", "c").coupling("c", (&[0], &[0]), "x_j - x_i", "2*gx");
    draft.experiment.dynamics.modes = 2;
    let net = Net::random(6);
    let found = net.couple(&draft, &draft.lowered().program, 0.0);
    let direct = net.direct(|j, i| 2.0 * (j[0] + j[1] - i[0] - i[1]));
    assert!(found.iter().zip(direct).all(|(f, d)| close(f[0], d)));

    draft.experiment.couplings[0].dimension = 2;
    let lowered = draft.lowered();
    assert_eq!(lowered.program.couplings, ["c[0]", "c[1]"]);
    let found = net.couple(&draft, &lowered.program, 0.0);
    let direct = net.direct(|j, i| 2.0 * (j[1] - i[1]));
    assert!(found.iter().zip(direct).all(|(f, d)| close(f[1], d)));
}
