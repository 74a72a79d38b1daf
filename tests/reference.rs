//! Trajectories of another implementation; `reference/README.md` says where they come from.

mod runs;

use host::experiment::{Experiment, Overrides, Precision, load_with};
use host::output::npy::{self, Array};
use host::simulation::{RunResult, Simulation};
use runs::{every_step, experiment, means, run_with};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference").join(name)
}

fn array(name: &str) -> Array {
    let bytes = std::fs::read(path(name)).expect("a reference array");
    npy::parse(&bytes).expect("a sound reference array")
}

fn load(name: &str, precision: Precision) -> Experiment {
    let overrides = Overrides { precision: Some(precision), ..Overrides::default() };
    load_with(&path(name), &overrides).expect("a sound experiment").experiment
}

/// The largest difference between a run and a trajectory `[time, variable, node]`, relative to the
/// largest value of each variable. The trajectory's variables are in alphabetical order.
fn difference(result: &RunResult, expected: &Array) -> f64 {
    let mut order: Vec<usize> = (0..result.variables.len()).collect();
    order.sort_by_key(|&at| &result.variables[at]);
    let series = result.series().expect("a series");
    let (rows, nodes) = (series.shape()[1], result.nodes.len());
    let alone = nodes == 1 && expected.shape.len() == 2;
    let shape = if alone { vec![rows, order.len()] } else { vec![rows, order.len(), nodes] };
    assert_eq!(expected.shape, shape);
    let mut worst = 0.0_f64;
    for (column, &variable) in order.iter().enumerate() {
        let mut largest = 0.0_f64;
        let mut off = 0.0_f64;
        for row in 0..rows {
            for node in 0..nodes {
                let theirs = expected.values[(row * order.len() + column) * nodes + node];
                let ours = series.at(&[0, row, variable, node]).expect("an element");
                assert!(ours.is_finite(), "{} at row {row}", result.variables[variable]);
                largest = largest.max(theirs.abs());
                off = off.max((ours - theirs).abs());
            }
        }
        worst = worst.max(off / largest);
    }
    worst
}

fn check(name: &str, precision: Precision, tolerance: f64) {
    let result = run_with(&load(&format!("{name}.yaml"), precision), &every_step());
    let off = difference(&result, &array(&format!("{name}.tvboptim.npy")));
    assert!(off <= tolerance, "{name} in {precision:?}: differs by {off:e}");
}

/// Chaos multiplies a difference by e^0.9 in a unit of time, so 1 unit leaves many digits.
#[test]
fn lorenz() {
    check("01_smallest", Precision::F64, 1e-12);
}

#[test]
fn delays() {
    check("02_delayed", Precision::F64, 1e-12);
    check("02_delayed", Precision::F32, 1e-4);
}

#[test]
fn delays_and_heun() {
    check("05_delayed_heun", Precision::F64, 1e-12);
    check("05_delayed_heun", Precision::F32, 1e-4);
}

fn replayed(experiment: &Experiment) -> RunResult {
    let mut simulation = Simulation::new(experiment, &every_step()).expect("it compiles");
    let normals = array("03_delayed_stochastic.noise_z.npy").values;
    simulation.replay_noise(Arc::from(normals));
    simulation.run().expect("a run that ends")
}

#[test]
fn given_normals() {
    let expected = array("03_delayed_stochastic.tvboptim.npy");
    for (precision, tolerance) in [(Precision::F64, 1e-12), (Precision::F32, 1e-4)] {
        let result = replayed(&load("03_delayed_stochastic.yaml", precision));
        let off = difference(&result, &expected);
        assert!(off <= tolerance, "{precision:?}: differs by {off:e}");
    }
}

/// Normals that don't fill the run are refused, not read past their end.
#[test]
fn too_few_normals() {
    let experiment = load("03_delayed_stochastic.yaml", Precision::F64);
    let mut simulation = Simulation::new(&experiment, &every_step()).expect("it compiles");
    simulation.replay_noise(Arc::from([0.0; 7]));
    let message = simulation.run().expect_err("a refusal").to_string();
    assert!(message.contains("20000") && message.contains('7'), "{message}");
}

/// Noise of one state variable, and the same noise asked for under `integration`.
#[test]
fn noise_of_the_integration_is_the_noise_of_the_states() {
    let text = std::fs::read_to_string(path("03_delayed_stochastic.yaml")).expect("the file");
    let own = "      noise:
        additive: true
        parameters:
          sigma: {value: 0.005}
";
    let common = "  noise: {additive: true, parameters: {sigma: {value: 0.005}}}\n";
    assert_eq!(text.matches(own).count(), 1);
    let moved = text.replace(own, "").replace("execution:", &format!("{common}execution:"));
    let (of_state, of_integration) = (experiment(&text), experiment(&moved));
    let (a, b) = (run_with(&of_state, &every_step()), run_with(&of_integration, &every_step()));
    assert_eq!(a.series(), b.series());
    let quiet = run_with(&experiment(&text.replace(own, "")), &every_step());
    assert_ne!(a.series(), quiet.series(), "there is noise");
    let (a, b) = (replayed(&of_state), replayed(&of_integration));
    assert_eq!(a.series(), b.series());
}

/// `grid[w, G]` is the mean of `S`. The values of the axes are the true ones: the swap of labels that
/// the other implementation is known for would fail by far.
#[test]
fn sweep() {
    let grid = array("04_sweep.grid.npy");
    assert_eq!(grid.shape, [4, 5]);
    for (precision, tolerance) in [(Precision::F64, 1e-12), (Precision::F32, 1e-4)] {
        let experiment = load("04_sweep.yaml", precision);
        let axes: Vec<_> = experiment.sweep.axes.iter().map(|a| (&a.name[..], &a.values)).collect();
        let [("c_lin.G", strengths), ("ReducedWongWang.w", excitations)] = axes[..] else {
            panic!("the axes are {axes:?}");
        };
        let result = run_with(&experiment, &means());
        let nodes = result.nodes.len();
        for (g, strength) in strengths.iter().enumerate() {
            for (w, excitation) in excitations.iter().enumerate() {
                let point = g * excitations.len() + w;
                let of_node = |node| result.mean(point, "S", node).expect("a mean");
                let ours = (0..nodes).map(of_node).sum::<f64>() / nodes as f64;
                let theirs = grid.values[w * strengths.len() + g];
                let off = (ours / theirs - 1.0).abs();
                assert!(off <= tolerance, "G = {strength}, w = {excitation}: {ours}, {theirs}");
            }
        }
    }
}
