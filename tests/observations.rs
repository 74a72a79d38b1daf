//! What a run shows beside states: projections, scores against measured data, trials, and which of
//! them are asked for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod runs;

use host::experiment::{Experiment, LoadError, Loaded, Overrides, load_str_with};
use host::simulation::{Options, RunResult, Simulation};
use runs::{every_step, means, run_with};
use std::path::PathBuf;
use tempfile::TempDir;

/// Four noisy nodes of which the first two are coupled; keys of an experiment follow.
fn network(more: &str) -> String {
    format!(
        "dynamics:
  name: M
  parameters: {{k: {{value: 0.1}}}}
  coupling_inputs: {{c: {{}}}}
  state_variables:
    x:
      equation: {{rhs: 'c - k*x'}}
      initial_value: 0.5
      coupling_variable: true
      noise: {{additive: true, parameters: {{sigma: {{value: 0.3}}}}}}
network:
  nodes:
    - {{id: 0, label: A}}
    - {{id: 1, label: B}}
    - {{id: 2, label: C}}
    - {{id: 3, label: D}}
  edges:
    - {{source: 0, target: 1, parameters: {{weight: {{value: 0.08}}}}}}
    - {{source: 2, target: 3, parameters: {{weight: {{value: 0.02}}}}}}
  coupling: {{c: {{delayed: false, incoming_states: [x], pre_expression: {{rhs: x}}}}}}
integration: {{method: euler, step_size: 0.5, duration: 400}}
execution: {{precision: float64, random_seed: 3}}
{more}
"
    )
}

/// A folder of files and an experiment in it.
struct Case {
    folder: TempDir,
    overrides: Overrides,
}

impl Case {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder, overrides: Overrides::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn observe(mut self, list: &str) -> Self {
        self.overrides.observe = list.split(',').map(|s| s.parse().unwrap()).collect();
        self
    }

    fn fc(mut self, name: &str) -> Self {
        self.overrides.empirical_fc = Some(self.path(name));
        self
    }

    fn bold(mut self, name: &str) -> Self {
        self.overrides.empirical_bold = Some(self.path(name));
        self
    }

    fn load(&self, more: &str) -> Result<Loaded, LoadError> {
        load_str_with(&network(more), "test.yaml", self.folder.path(), &self.overrides)
    }

    fn experiment(&self, more: &str) -> Experiment {
        self.load(more).unwrap_or_else(|e| panic!("{}", e.render(false))).experiment
    }

    fn run(&self, more: &str) -> RunResult {
        run_with(&self.experiment(more), &every_step())
    }

    fn refusal(&self, more: &str) -> String {
        match self.load(more) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.render(false),
        }
    }
}

fn array<'a>(result: &'a RunResult, name: &str) -> &'a [f64] {
    &result.array(name).unwrap_or_else(|| panic!("no array `{name}`")).values
}

fn dimensions(result: &RunResult, name: &str) -> Vec<String> {
    result.array(name).unwrap().dimensions.iter().map(|(d, n)| format!("{d} {n}")).collect()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * e.abs().max(1.0), "{at}: {f} {e}");
    }
}

/// Rows of four nodes as text.
fn table(rows: &[f64]) -> String {
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    rows.chunks(4).map(line).collect()
}

#[test]
fn groups_of_nodes_are_averaged() {
    let case = Case::new(&[("regions.txt", "7\n7\n-1\n2\n")]);
    let result = case.run(
        "observations:
  named: {iri: 'tvbo:SpatialAverage', source: [x], period: 2, parameters: {groups: {left: [A, C], right: [D]}}}
  listed: {iri: 'tvbo:SpatialAverage', source: [x], parameters: {region_mapping: {value: [1, 0, 0, 0]}}}
  filed: {iri: 'tvbo:SpatialAverage', source: [x], parameters: {region_mapping: {value: regions.txt}}}
  of_groups: {iri: 'tvbo:FunctionalConnectivity', source: [named]}",
    );
    let x = array(&result, "series");
    let every_fourth = x.chunks(4).skip(3).step_by(4);
    let expected: Vec<f64> = every_fourth.flat_map(|r| [(r[0] + r[2]) / 2.0, r[3]]).collect();
    close(array(&result, "named"), &expected, 1e-14);
    assert_eq!(dimensions(&result, "named"), ["point 1", "named_time 200", "named_region 2"]);
    assert_eq!(array(&result, "named_time")[..2], [2.0, 4.0]);
    let third = |r: &[f64]| (r[1] + r[2] + r[3]) / 3.0;
    let expected: Vec<f64> = x.chunks(4).flat_map(|r| [third(r), r[0]]).collect();
    close(array(&result, "listed"), &expected, 1e-14);
    // Ascending numbers; a negative one is no group.
    let expected: Vec<f64> = x.chunks(4).flat_map(|r| [r[3], (r[0] + r[1]) / 2.0]).collect();
    close(array(&result, "filed"), &expected, 1e-14);
    let names = ["point 1", "named_region_a 2", "named_region_b 2"];
    assert_eq!(dimensions(&result, "of_groups"), names);
}

#[test]
fn sensors_see_means_over_periods_through_the_lead_field() {
    let gain = [[1.0, 0.5, -2.0, 0.0], [0.0, 0.25, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0]];
    let case = Case::new(&[("gain.csv", &table(&gain.concat()))]);
    let result = case.run(
        "observations:
  eeg: {imaging_modality: EEG, source: [x], period: 5, parameters: {gain: {value: gain.csv}}}",
    );
    let mut expected = Vec::new();
    for rows in array(&result, "series").chunks_exact(40) {
        let mean = |node: usize| rows.chunks(4).map(|r| r[node]).sum::<f64>() / 10.0;
        expected.extend(gain.map(|g| (0..4).map(|node| g[node] * mean(node)).sum::<f64>()));
    }
    close(array(&result, "eeg"), &expected, 1e-12);
    assert_eq!(dimensions(&result, "eeg"), ["point 1", "eeg_time 80", "eeg_sensor 3"]);
}

#[test]
fn a_simulation_is_like_itself() {
    let first = Case::new(&[]).observe("subsample:x:1").run("");
    let series = table(array(&first, "subsample"));
    let case = Case::new(&[("bold.csv", &series)]).bold("bold.csv");
    let case =
        case.observe("fc:own,fcd:own:50:10,fc_correlation,fc_rmse,mean_fc_difference,fcd_ks");
    let own = "observations: {own: {iri: 'tvbo:SubSample', source: [x], period: 1}}";
    let result = case.run(own);
    close(array(&result, "fc_correlation"), &[1.0], 1e-12);
    close(array(&result, "fc_rmse"), &[0.0], 1e-12);
    close(array(&result, "mean_fc_difference"), &[0.0], 1e-12);
    assert!(array(&result, "fcd_ks")[0] < 0.01);
    close(array(&result, "empirical_fc"), array(&result, "fc"), 1e-12);
    close(array(&result, "empirical_fcd"), array(&result, "fcd"), 1e-9);
    assert_eq!(dimensions(&result, "fcd")[1..], ["fcd_window_a 36", "fcd_window_b 36"]);
    // Windows of samples at 1, 2, … 50 have their middle at 25.5.
    assert_eq!(array(&result, "fcd_window_a")[..2], [25.5, 35.5]);
    // Time courses that only others read are not kept.
    assert!(result.array("own").is_none());
}

#[test]
fn the_best_point_is_that_of_the_measured_network() {
    let first = Case::new(&[]).observe("fc:x").run("");
    let case = Case::new(&[("fc.csv", &table(array(&first, "fc")))]).fc("fc.csv");
    let case = case.observe("fc_correlation,fc_rmse");
    // Each point has noise of its own; the measured one had k = 0.1.
    let sweep = "explorations: {s: {space: {M.k: {explored_values: [0.4, 0.1, 1.5]}}}}";
    let result = run_with(&case.experiment(sweep), &means());
    let correlation = array(&result, "fc_correlation");
    let best = &result.best[0];
    assert_eq!((&best.score[..], best.parameters.len()), ("fc_correlation", 1));
    let highest = (0..3).max_by(|&a, &b| correlation[a].total_cmp(&correlation[b])).unwrap();
    assert_eq!(best.point, highest as u64);
    assert_eq!(best.value, correlation[highest]);
    assert_eq!(best.parameters[0], ("M.k".to_owned(), [0.4, 0.1, 1.5][highest]));
    let rmse = array(&result, "fc_rmse");
    let lowest = (0..3).min_by(|&a, &b| rmse[a].total_cmp(&rmse[b])).unwrap();
    assert_eq!(result.best[1].point, lowest as u64);
    let names: Vec<&str> = result.arrays().iter().map(|a| &a.name[..]).collect();
    assert!(!names.contains(&"fc"), "{names:?}");
}

#[test]
fn trials_differ_and_are_summed_up() {
    let mut case = Case::new(&[]).observe("std:x,fc:x");
    case.overrides.trials = Some(3);
    let sweep = "explorations: {s: {space: {M.k: {explored_values: [0.1, 0.4]}}}}";
    let result = run_with(&case.experiment(sweep), &means());
    for name in ["tavg", "std", "fc"] {
        let single = array(&result, name);
        let size = single.len() / 6;
        let (mut expected_mean, mut expected_std) = (Vec::new(), Vec::new());
        for cell in single.chunks(3 * size) {
            for at in 0..size {
                let trials = [cell[at], cell[size + at], cell[2 * size + at]];
                let mean = trials.iter().sum::<f64>() / 3.0;
                let square = trials.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 3.0;
                expected_mean.push(mean);
                expected_std.push(square.sqrt());
            }
        }
        close(array(&result, &format!("{name}_trial_mean")), &expected_mean, 1e-14);
        close(array(&result, &format!("{name}_trial_std")), &expected_std, 1e-14);
        if name == "std" {
            assert!(expected_std.iter().all(|s| *s > 1e-3), "noise differs: {expected_std:?}");
        }
    }
    assert_eq!(dimensions(&result, "fc_trial_mean"), ["cell 2", "node_a 4", "node_b 4"]);
    assert_eq!(array(&result, "trial"), [0.0, 1.0, 2.0]);
    // The same from the file.
    let from_file = Case::new(&[]).observe("std:x,fc:x");
    let sweep = sweep.replace("{s: {", "{s: {n_trials: 3, ");
    let again = run_with(&from_file.experiment(&sweep), &means());
    assert_eq!(array(&again, "fc_trial_mean"), array(&result, "fc_trial_mean"));
}

#[test]
fn parameters_are_maps_over_nodes() {
    let case = Case::new(&[
        ("k.csv", "0.1\n0.2\n0.4\n0.8\n"),
        ("row.txt", "1 2 3 4\n"),
        ("short.csv", "1\n2\n"),
        ("gap.csv", "1\n2\nnan\n3\n"),
    ]);
    let load = |value: &str| {
        let text = network("").replace("k: {value: 0.1}", &format!("k: {{value: {value}}}"));
        load_str_with(&text, "test.yaml", case.folder.path(), &case.overrides)
    };
    let run = |value: &str| {
        run_with(
            &load(value).unwrap_or_else(|e| panic!("{}", e.render(false))).experiment,
            &means(),
        )
    };
    assert_eq!(run("k.csv").tavg(), run("[0.1, 0.2, 0.4, 0.8]").tavg());
    assert_eq!(run("row.txt").tavg(), run("[1, 2, 3, 4]").tavg());
    for (file, words) in [
        ("short.csv", "short.csv: 2×1 values of `k` for 4 node(s)"),
        ("gap.csv", "`k` is NaN at node 2"),
        ("none.csv", "none.csv: file not found"),
    ] {
        let text = load(file).unwrap_err().render(false);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn haemodynamic_constants_are_sets_and_single_values() {
    use host::experiment::{ObservationKind, balloon_windkessel};
    let bold = |parameters: &str| {
        let text = format!(
            "observations: {{bold: {{imaging_modality: BOLD, source: [x], period: 10, parameters: {parameters}}}}}"
        );
        match Case::new(&[]).load(&text) {
            Ok(loaded) => match loaded.experiment.observations[0].kind {
                ObservationKind::Bold(model) => Ok(model),
                _ => panic!("no BOLD"),
            },
            Err(error) => Err(error.render(false)),
        }
    };
    let spm = balloon_windkessel("spm12").unwrap();
    assert_eq!(bold("{parameter_set: {value: spm12}}").unwrap(), spm);
    assert!((spm.k1 - 2.77264).abs() < 1e-12 && (spm.k2 - 0.4).abs() < 1e-12 && spm.k3 == 0.0);
    let one = bold("{parameter_set: {value: spm12}, tau: {value: 1.5}}").unwrap();
    assert_eq!((one.tau, one.kappa), (1.5, 0.64));
    assert_eq!(bold("{}").unwrap(), balloon_windkessel("friston2003").unwrap());
    assert!(bold("{parameter_set: {value: spm}}").unwrap_err().contains("spm12"));
    assert!(bold("{tau: {value: -1}}").unwrap_err().contains("`tau` can't be -1"));
}

#[test]
fn measured_data_that_does_not_fit_is_refused_with_the_place() {
    let symmetric = "1,.5,.1,.2\n.5,1,.3,.1\n.1,.3,1,.4\n.2,.1,.4,1\n";
    let files: &[(&str, &str)] = &[
        ("ok.csv", symmetric),
        ("small.csv", "1,.5\n.5,1\n"),
        ("word.csv", &symmetric.replace(".3,.1\n", ".3,x\n")),
        ("fisher.csv", &symmetric.replace(".5", "1.7")),
        ("half.csv", "1,.5,.1,.2\n0,1,.3,.1\n0,0,1,.4\n0,0,0,1\n"),
        ("gap.csv", &symmetric.replace(".1,.3,1,.4", ".1,nan,1,.4").replace(".5,1,.3", ".5,1,nan")),
        ("labels.csv", &format!("A,B,D,C\n{symmetric}")),
        ("bold.csv", "1,2,3,4\n2,3,4,5\n"),
        ("flat.csv", "1,2,3,4\n2,3,3,5\n4,1,3,0\n5,5,3,1\n1,0,3,3\n"),
    ];
    assert!(Case::new(files).fc("ok.csv").observe("fc_correlation").load("").is_ok());
    for (file, words) in [
        ("small.csv", "a functional connectivity of 2×2 for 4 nodes"),
        ("word.csv", "word.csv: line 2: column 4 holds `x`"),
        ("fisher.csv", "row 0, column 1 is 1.7, which is no correlation"),
        ("half.csv", "row 1, column 0 is 0: a functional connectivity is symmetric"),
        ("gap.csv", "row 1, column 2 is NaN"),
        ("labels.csv", "node 2 is `D` here and `C` in the connectome"),
        ("none.csv", "none.csv: file not found"),
    ] {
        let text = Case::new(files).fc(file).observe("fc_correlation").refusal("");
        assert!(text.contains(words), "{file}: {text}");
        assert!(file == "word.csv" || text.contains("help"), "{file}: {text}");
    }
    for (file, words) in [
        ("small.csv", "BOLD of 2×2 for 4 nodes"),
        ("bold.csv", "2 samples are too few"),
        ("flat.csv", "node 2 (`C`) is constant"),
    ] {
        let text = Case::new(files).bold(file).observe("fc_correlation").refusal("");
        assert!(text.contains(words), "{file}: {text}");
        assert!(!text.contains("--empirical-fc"), "refused once: {text}");
    }
}

#[test]
fn requests_that_mean_nothing_are_refused() {
    for (list, words) in [
        ("fcc", "nothing to observe is called `fcc`"),
        ("fc_correlation", "no empirical functional connectivity to compare with: --empirical-fc"),
        ("fcd_ks", "--empirical-bold"),
        ("fc:x:5", "`fc` takes no number"),
        ("raw:x:5", "`raw` takes no number"),
        ("fcd:x:2", "`fcd` takes the length of its windows, 3 samples or more"),
        ("spectrum:x:1.5", "`spectrum` takes the samples of a segment"),
    ] {
        let text = Case::new(&[]).observe(list).refusal("");
        assert!(text.contains(words), "{list}: {text}");
    }
    let long = Case::new(&[]).observe("fcd:x:700:200").experiment("");
    let error = Simulation::new(&long, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("two windows at least are needed"), "{error}");
    let case = Case::new(&[("t.csv", "1,2\n3,4\n5,6\n7,8\n")]);
    let eeg = "observations: {eeg: {imaging_modality: EEG, source: [x], parameters: {gain: {value: t.csv}}}}";
    let text = case.refusal(eeg);
    assert!(
        text.contains("a lead field of 4×2 for 4 nodes") && text.contains("transpose"),
        "{text}"
    );
}

#[test]
fn phases_are_read_from_phase_variables_and_found_for_others() {
    let text = |unit: &str| {
        format!(
            "dynamics:
  name: Rotor
  state_variables: {{p: {{equation: {{rhs: '0.5'}}, initial_value: 0.0, unit: {unit}}}}}
network: {{nodes: [{{id: 0, state: {{p: {{value: 0.0}}}}}}, {{id: 1, state: {{p: {{value: 2.0}}}}}}], edges: []}}
integration: {{method: euler, step_size: 0.1, duration: 50}}
execution: {{precision: float64}}
observations:
  order_parameter: {{source: [p], period: 1}}
  phase_coherence: {{source: [p]}}"
        )
    };
    let result = runs::run(&text("rad"));
    let order = array(&result, "order_parameter");
    assert_eq!(order.len(), 50);
    // |1 + exp(2i)| / 2 = cos(1), all the time.
    assert!(order.iter().all(|r| (r - 1f64.cos()).abs() < 1e-12));
    close(array(&result, "phase_coherence"), &[1.0], 1e-12);
    let hilbert = runs::experiment(&text("mV"));
    let simulation = Simulation::new(&hilbert, &every_step()).unwrap();
    assert!(simulation.notes().iter().any(|n| n.message.contains("Hilbert")));
}
