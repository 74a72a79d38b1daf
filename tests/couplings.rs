//! The shipped coupling functions on random networks, against a loop over edges that evaluates the
//! plain formula and looks up the whole past: no channels, no rings, no blocks.

mod runs;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use runs::run;
use std::fmt::Write;

const STEPS: usize = 400;
const DT: f64 = 0.1;
const SPEED: f64 = 3.0;
const LEAK: f64 = 0.2;

/// A connection: from `source` to `target`.
struct Edge {
    source: usize,
    target: usize,
    weight: f64,
    length_mm: f64,
}

/// A random network of nodes with two states, `x` and `y`.
struct Net {
    edges: Vec<Edge>,
    drive: Vec<f64>,
    start: Vec<[f64; 2]>,
}

impl Net {
    /// Some two thirds of the possible edges, both directions different; delays on either side of 32
    /// steps and of exactly 0; self connections; an edge of weight 0.
    fn random(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let nodes = rng.random_range(5..=12);
        let mut edges = Vec::new();
        for target in 0..nodes {
            for source in 0..nodes {
                if rng.random_bool(0.35) {
                    continue;
                }
                let longest = if rng.random_bool(0.5) { 9.0 } else { 60.0 };
                let length_mm =
                    if rng.random_bool(0.1) { 0.0 } else { rng.random_range(0.0..longest) };
                edges.push(Edge { source, target, weight: rng.random_range(-0.3..1.0), length_mm });
            }
        }
        edges.retain(|e| (e.source, e.target) != (1, 1) && (e.source, e.target) != (0, 3));
        edges.push(Edge { source: 1, target: 1, weight: 0.4, length_mm: 20.0 });
        edges.push(Edge { source: 0, target: 3, weight: 0.0, length_mm: 5000.0 });
        let drive = (0..nodes).map(|_| rng.random_range(-0.5..0.5)).collect();
        let start = (0..nodes).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
        Self { edges, drive, start: start.collect() }
    }

    /// The experiment, `coupling` being the entry of the coupling input `c`.
    fn text(&self, coupling: &str) -> String {
        let mut text = format!(
            "dynamics:
  name: Pair
  parameters: {{leak: {{value: {LEAK}}}, drive: {{value: 0}}}}
  coupling_inputs: {{c: {{}}}}
  state_variables:
    x: {{equation: {{rhs: drive - leak*x + c}}, coupling_variable: true}}
    y: {{equation: {{rhs: 0.1*x - leak*y}}, coupling_variable: true}}
execution: {{precision: float64}}
integration: {{method: euler, step_size: {DT}, duration: {}}}
network:
  parameters: {{conduction_speed: {{value: {SPEED}}}}}
  coupling:
    c: {coupling}
  nodes:
",
            STEPS as f64 * DT
        );
        for (id, (drive, [x, y])) in self.drive.iter().zip(&self.start).enumerate() {
            let state = format!("{{x: {{value: {x:?}}}, y: {{value: {y:?}}}}}");
            writeln!(
                text,
                "  - {{id: {id}, parameters: {{drive: {{value: {drive:?}}}}}, state: {state}}}"
            )
            .expect("a string takes everything");
        }
        text.push_str("  edges:\n");
        for Edge { source, target, weight, length_mm } in &self.edges {
            writeln!(
                text,
                "  - {{source: {source}, target: {target}, directed: true, parameters: {{weight: \
                 {{value: {weight:?}}}, length: {{value: {length_mm:?}}}}}}}"
            )
            .expect("a string takes everything");
        }
        text
    }

    /// Every state of the run by the definition, `[step][node]`, step 0 being the start.
    fn direct(&self, formula: &Formula) -> Vec<Vec<[f64; 2]>> {
        let mut past = vec![self.start.clone()];
        for step in 0..STEPS {
            let now = past[step].clone();
            let next = (0..now.len()).map(|target| {
                let mut sum = 0.0;
                for edge in self.edges.iter().filter(|e| e.target == target) {
                    let delay = match formula.delayed {
                        true => (edge.length_mm / SPEED / DT).round_ties_even() as usize,
                        false => 0,
                    };
                    let source = past[step.saturating_sub(delay)][edge.source];
                    sum += edge.weight * (formula.pre)(source, now[target]);
                }
                let [x, y] = now[target];
                let input = (formula.post)(sum);
                let dx = self.drive[target] - LEAK * x + input;
                [x + DT * dx, y + DT * (0.1 * x - LEAK * y)]
            });
            let next = next.collect();
            past.push(next);
        }
        past
    }
}

/// A coupling written down twice.
struct Formula {
    delayed: bool,
    pre: fn([f64; 2], [f64; 2]) -> f64,
    post: fn(f64) -> f64,
}

fn check(coupling: &str, formula: &Formula) {
    for seed in 0..4 {
        let net = Net::random(seed);
        let expected = net.direct(formula);
        let result = run(&net.text(coupling));
        let nodes = net.drive.len();
        let series = result.series().expect("a series");
        assert_eq!(series.shape(), [1, STEPS, 2, nodes]);
        let mut largest = 0.0_f64;
        for (row, states) in expected[1..].iter().enumerate() {
            for (node, state) in states.iter().enumerate() {
                for (variable, &theirs) in state.iter().enumerate() {
                    let ours = series.at(&[0, row, variable, node]).expect("an element");
                    let off = (ours - theirs).abs() / theirs.abs().max(1.0);
                    assert!(
                        off <= 1e-11,
                        "{coupling}\nseed {seed}, step {row}, node {node}: {ours}, not {theirs}"
                    );
                    largest = largest.max(theirs.abs());
                }
            }
        }
        assert!(largest.is_finite() && largest < 1e6, "the network is tame: {largest}");
        // The coupling matters: without it the trajectory is another one.
        let alone = Formula { post: |_| 0.0, ..*formula };
        assert_ne!(net.direct(&alone)[STEPS], expected[STEPS]);
    }
}

#[test]
fn linear() {
    check(
        "{iri: 'tvbo:Linear', incoming_states: [x], parameters: {a: {value: 0.04}, b: {value: 0.3}}}",
        &Formula { delayed: true, pre: |j, _| j[0], post: |g| 0.04 * g + 0.3 },
    );
}

#[test]
fn fast_linear_has_no_delays() {
    check(
        "{iri: 'tvbo:FastLinearCoupling', incoming_states: [x], parameters: {G: {value: 0.04}, b: {value: -0.1}}}",
        &Formula { delayed: false, pre: |j, _| j[0], post: |g| 0.04 * g - 0.1 },
    );
}

#[test]
fn scaling() {
    check(
        "{iri: 'tvbo:Scaling', incoming_states: [y], parameters: {a: {value: 0.05}}}",
        &Formula { delayed: true, pre: |j, _| j[1], post: |g| 0.05 * g },
    );
}

#[test]
fn difference() {
    check(
        "{iri: 'tvbo:Difference', incoming_states: [x], local_states: [x], parameters: {a: {value: 0.05}}}",
        &Formula { delayed: true, pre: |j, i| j[0] - i[0], post: |g| 0.05 * g },
    );
}

#[test]
fn kuramoto_divides_by_n() {
    check(
        "{iri: 'tvbo:KuramotoCoupling', incoming_states: [x], local_states: [x], parameters: {a: {value: 1.5}, N: {value: 7.0}}}",
        &Formula { delayed: true, pre: |j, i| (j[0] - i[0]).sin(), post: |g| 1.5 * g / 7.0 },
    );
}

#[test]
fn hyperbolic_tangent() {
    check(
        "{iri: 'tvbo:HyperbolicTangent', incoming_states: [x], parameters: {a: {value: 0.2}, b: {value: 1.3}, midpoint: {value: 0.4}, sigma: {value: 0.9}}}",
        &Formula {
            delayed: true,
            pre: |j, _| 0.2 * (1.0 + ((1.3 * j[0] - 0.4) / 0.9).tanh()),
            post: |g| g,
        },
    );
}

#[test]
fn pre_sigmoidal() {
    check(
        "{iri: 'tvbo:PreSigmoidal', incoming_states: [x], parameters: {H: {value: 0.3}, Q: {value: 0.8}, G: {value: 6.0}, P: {value: 1.1}, theta: {value: 0.2}}}",
        &Formula {
            delayed: true,
            pre: |j, _| 0.3 * (0.8 + (6.0 * (1.1 * j[0] - 0.2)).tanh()),
            post: |g| g,
        },
    );
}

#[test]
fn sigmoidal_of_the_sum() {
    check(
        "{iri: 'tvbo:Sigmoidal', incoming_states: [x], parameters: {cmin: {value: -0.4}, cmax: {value: 0.7}, midpoint: {value: 0.3}, a: {value: 1.2}, sigma: {value: 1.7}}}",
        &Formula {
            delayed: true,
            pre: |j, _| j[0],
            post: |g| -0.4 + 1.1 / (1.0 + (-1.2 * (g - 0.3) / 1.7).exp()),
        },
    );
}

/// `x` and `y` are the model's coupling variables, in this order.
#[test]
fn sigmoidal_jansen_rit_reads_two_states() {
    let parameters = "parameters: {cmin: {value: 0.1}, cmax: {value: 0.5}, midpoint: {value: 0.2}, r: {value: 2.0}, a: {value: 0.7}}";
    let formula = Formula {
        delayed: true,
        pre: |j, _| 0.1 + 0.4 / (1.0 + (2.0 * (0.2 - (j[0] - j[1]))).exp()),
        post: |g| 0.7 * g,
    };
    check(&format!("{{iri: 'tvbo:SigmoidalJansenRit', {parameters}}}"), &formula);
    let turned =
        Formula { pre: |j, _| 0.1 + 0.4 / (1.0 + (2.0 * (0.2 - (j[1] - j[0]))).exp()), ..formula };
    check(
        &format!("{{iri: 'tvbo:SigmoidalJansenRit', incoming_states: [y, x], {parameters}}}"),
        &turned,
    );
}

/// A coupling of source and target that is no sum of products.
#[test]
fn what_does_not_separate() {
    check(
        "{incoming_states: [x], local_states: [x], pre_expression: {rhs: 'tanh(2*(x_j - x_i))'}, post_expression: {rhs: 0.2*gx}}",
        &Formula { delayed: true, pre: |j, i| (2.0 * (j[0] - i[0])).tanh(), post: |g| 0.2 * g },
    );
}
