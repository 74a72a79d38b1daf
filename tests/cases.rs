//! What tools of this kind were reported to get wrong, each as a small experiment with made-up data.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod runs;

use host::diagnostic::Diagnostic;
use host::experiment::{LoadError, Loaded, Overrides, load, load_str, load_str_with};
use host::simulation::{Options, RunResult, Simulation};
use runs::{bits, every_step, experiment, means, run, run_with};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A linear network; `network` is indented by two.
fn linear(network: &str) -> String {
    format!(
        "dynamics:
  name: M
  coupling_inputs: {{c: {{}}}}
  state_variables: {{x: {{equation: {{rhs: -0.1*x + 0.3 + c}}, initial_value: 0.5, coupling_variable: true}}}}
coupling: {{iri: 'tvbo:Linear', parameters: {{a: {{value: 0.2}}}}}}
integration: {{method: heun, step_size: 0.1, duration: 30}}
execution: {{precision: float64}}
network:
{network}"
    )
}

fn try_load(text: &str) -> Result<Loaded, LoadError> {
    load_str(text, "test.yaml", Path::new("nowhere"))
}

fn refusal(text: &str) -> String {
    match try_load(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.render(false),
    }
}

/// All warnings and notes on the way to a run.
fn remarks(loaded: &Loaded) -> Vec<Diagnostic> {
    let simulation = Simulation::new(&loaded.experiment, &every_step()).expect("it compiles");
    loaded.warnings.iter().chain(simulation.notes()).cloned().collect()
}

fn says(remarks: &[Diagnostic], words: &[&str]) -> bool {
    remarks.iter().any(|r| words.iter().all(|w| r.message.contains(w)))
}

fn write(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}

fn series_bits(result: &RunResult) -> Vec<u64> {
    bits(&result.series().expect("a series").values)
}

// Connections and delays.

/// `x ← x + dt·x`: a delay of 0 reads the state of now.
#[test]
fn a_self_connection_without_length() {
    let text = "
dynamics:
  name: M
  coupling_inputs: {c: {}}
  state_variables: {x: {equation: {rhs: c}, initial_value: 1, coupling_variable: true}}
network:
  nodes: [{id: 0}, {id: 1}]
  edges:
    - {source: 0, target: 0, parameters: {weight: {value: 1}, length: {value: 0}}}
    - {source: 1, target: 1, parameters: {weight: {value: 0.5}, length: {value: 0}}}
  coupling: {c: {pre_expression: {rhs: x_j}, post_expression: {rhs: gx}}}
integration: {method: euler, step_size: 0.5, duration: 2}
";
    let result = run(text);
    assert_eq!(result.trace(0, "x", 0).unwrap(), [1.5, 2.25, 3.375, 5.0625]);
    assert_eq!(result.trace(0, "x", 1).unwrap(), [1.25, 1.5625, 1.953125, 2.44140625]);
}

/// A self-connection with a length is delayed like any other: here by exactly two steps.
#[test]
fn a_self_connection_with_length() {
    let text = "
dynamics:
  name: M
  coupling_inputs: {c: {}}
  state_variables: {x: {equation: {rhs: c}, initial_value: 1, coupling_variable: true}}
network:
  parameters: {conduction_speed: {value: 1}}
  nodes: [{id: 0}]
  edges: [{source: 0, target: 0, parameters: {weight: {value: 1}, length: {value: 2}}}]
  coupling: {c: {pre_expression: {rhs: x_j}, post_expression: {rhs: gx}}}
integration: {method: euler, step_size: 1, duration: 6}
";
    // Every step adds the state of two steps ago; before the start that is 1.
    assert_eq!(run(text).trace(0, "x", 0).unwrap(), [2., 3., 4., 6., 9., 13.]);
}

const PAIR: &str = "  nodes: [{id: 0}, {id: 1}, {id: 2}]
  edges:
    - {source: 0, target: 1, directed: true, parameters: {weight: {value: 0.7}, length: {value: 6}}}
    - {source: 1, target: 0, directed: true, parameters: {weight: {value: 0.4}, length: {value: 33}}}
";

#[test]
fn an_edge_of_weight_0_does_not_exist() {
    let without = linear(PAIR);
    let of_long = "    - {source: 2, target: 1, directed: true, parameters: {weight: {value: 0}, length: {value: 900000}}}\n";
    let of_delay = "    - {source: 2, target: 1, directed: true, parameters: {weight: {value: 0}, delay: {value: 10}}}\n";
    let expected = run(&without);
    let plan = |text: &str| {
        let experiment = experiment(text);
        Simulation::new(&experiment, &every_step()).unwrap().plan().unwrap()
    };
    for edge in [of_long, of_delay] {
        let with = linear(&format!("{PAIR}{edge}"));
        assert_eq!(series_bits(&run(&with)), series_bits(&expected));
        assert_eq!(plan(&with), plan(&without));
    }
    assert_eq!(plan(&without).points[0].longest_delay, 110);
}

/// Phase oscillators with all delays equal, given as times.
fn kuramoto(delay: &str, delayed: bool) -> String {
    let mut text = format!(
        "dynamics:
  name: M
  parameters: {{omega: {{value: 0.4}}}}
  coupling_inputs: {{c: {{}}}}
  state_variables:
    theta:
      equation: {{rhs: omega + c}}
      distribution: {{name: Uniform, domain: {{lo: 0, hi: 6}}, seed: 3}}
      coupling_variable: true
integration: {{method: heun, step_size: 0.1, duration: 20}}
network:
  coupling: {{c: {{iri: 'tvbo:KuramotoCoupling', delayed: {delayed}, parameters: {{a: {{value: 0.2}}}}}}}}
  nodes: [{{id: 0}}, {{id: 1}}, {{id: 2}}, {{id: 3}}]
  edges:
"
    );
    for source in 0..4 {
        for target in 0..4 {
            let weight = 0.2 + 0.1 * f64::from(source) + 0.05 * f64::from(target);
            text.push_str(&format!(
                "    - {{source: {source}, target: {target}, directed: true, parameters: {{weight: {{value: {weight}}}, delay: {{value: {delay}}}}}}}\n"
            ));
        }
    }
    text
}

#[test]
fn delays_that_are_all_zero_or_all_not() {
    let undelayed = run(&kuramoto("0", false));
    let zero = run(&kuramoto("0", true));
    assert_eq!(series_bits(&undelayed), series_bits(&zero), "a delay of 0 is none");
    let delayed = run(&kuramoto("4.5", true));
    assert!(delayed.nonfinite.is_empty());
    assert_ne!(series_bits(&delayed), series_bits(&zero));
    let switched_off = run(&kuramoto("4.5", false));
    assert_eq!(series_bits(&switched_off), series_bits(&undelayed));
}

/// One model in ms and in s: rates × 1000, times / 1000. Powers of two keep every product exact.
#[test]
fn a_model_in_seconds() {
    let text = |unit: &str, per_ms: f64, edge: &str| {
        format!(
            "dynamics:
  name: M
  parameters: {{rate: {{value: {}}}}}
  coupling_inputs: {{c: {{}}}}
  state_variables: {{x: {{equation: {{rhs: rate*(0.7 - x + c)}}, initial_value: 0.1, coupling_variable: true}}}}
network:
  parameters: {{conduction_speed: {{value: 3.0}}}}
  nodes: [{{id: 0}}, {{id: 1}}]
  edges: [{{source: 0, target: 1, directed: true, parameters: {{weight: {{value: 1}}, {edge}}}}}]
  coupling: {{c: {{pre_expression: {{rhs: x_j}}, post_expression: {{rhs: 0.5*gx}}}}}}
integration: {{method: heun, step_size: {}, duration: {}, time_scale: {unit}}}
execution: {{precision: float64}}
",
            0.05 * per_ms,
            0.1 / per_ms,
            30.0 / per_ms
        )
    };
    // 3 mm at 3 mm/ms, and 1 ms as such: ten steps either way.
    for edge in ["length: {value: 3.0}", "delay: {value: 1.0}"] {
        let in_ms = try_load(&text("ms", 1.0, edge)).unwrap();
        let in_s = try_load(&text("s", 1000.0, edge)).unwrap();
        assert!(says(&remarks(&in_s), &["time is in s", "converted"]), "{:?}", in_s.warnings);
        assert!(!says(&remarks(&in_ms), &["converted"]));
        let steps = |loaded: &Loaded| {
            let simulation = Simulation::new(&loaded.experiment, &every_step()).unwrap();
            simulation.plan().unwrap().points[0].longest_delay
        };
        assert_eq!((steps(&in_ms), steps(&in_s)), (10, 10));
        let (a, b) =
            (run_with(&in_ms.experiment, &every_step()), run_with(&in_s.experiment, &every_step()));
        let (a, b) = (a.series().unwrap(), b.series().unwrap());
        assert_eq!(a.shape(), b.shape());
        for (a, b) in a.values.iter().zip(&b.values) {
            assert!((a - b).abs() < 1e-12, "{a}, {b}");
        }
    }
}

/// A delay whose unit stands beside it is that long.
#[test]
fn a_delay_with_a_unit() {
    let delay = |delay: &str| {
        let text = linear(&format!(
            "  nodes: [{{id: 0}}, {{id: 1}}]
  edges: [{{source: 0, target: 1, directed: true, parameters: {{weight: {{value: 1}}, delay: {delay}}}}}]
"
        ));
        let experiment = experiment(&text);
        let simulation = Simulation::new(&experiment, &every_step()).unwrap();
        simulation.plan().unwrap().points[0].longest_delay
    };
    assert_eq!(delay("{value: 4}"), 40);
    assert_eq!(delay("{value: 4, unit: ms}"), 40);
    assert_eq!(delay("{value: 0.004, unit: s}"), 40);
    let length = |length: &str| {
        let text = linear(&PAIR.replace("length: {value: 33}", &format!("length: {length}")));
        experiment(&text).network.connectome.tract_lengths_mm[(0, 1)]
    };
    assert_eq!(length("{value: 33, unit: mm}"), 33.0);
    assert_eq!(length("{value: 0.25, unit: m}"), 250.0);
    let odd = linear(&PAIR.replace("length: {value: 33}", "length: {value: 33, unit: furlong}"));
    assert!(refusal(&odd).contains("furlong"));
}

/// Node 0 starts to move at once; node 1 gets to know of it after the delay of the edge 0 → 1, and
/// never sends anything back, whatever the length of 1 → 0.
#[test]
fn a_signal_takes_the_delay_of_its_own_edge() {
    let text = "
dynamics:
  name: M
  parameters: {drive: {value: 0}}
  coupling_inputs: {c: {}}
  state_variables: {x: {equation: {rhs: drive + c}, initial_value: 0, coupling_variable: true}}
network:
  parameters: {conduction_speed: {value: 2}}
  nodes: [{id: 1, parameters: {drive: {value: 1}}}, {id: 2}]
  edges:
    - {source: 1, target: 2, directed: true, parameters: {weight: {value: 1}, length: {value: 10}}}
    - {source: 2, target: 1, directed: true, parameters: {weight: {value: 0}, length: {value: 40}}}
  coupling: {c: {pre_expression: {rhs: x_j}, post_expression: {rhs: gx}}}
integration: {method: euler, step_size: 0.1, duration: 10}
execution: {precision: float64}
";
    let result = run(text);
    let (sender, receiver) = (result.trace(0, "x", 0).unwrap(), result.trace(0, "x", 1).unwrap());
    for (row, x) in sender.iter().enumerate() {
        assert!((x - 0.1 * (row + 1) as f64).abs() < 1e-12, "node 1 hears nothing");
    }
    // 5 ms are 50 steps. Row 0 is the first state that is not 0; step 51 reads it, and makes row 51.
    let first = receiver.iter().position(|x| *x != 0.0);
    assert_eq!(first, Some(51));
    assert!((receiver[51] - 0.01).abs() < 1e-15);
}

// Files of connectomes.

/// Weights of `n` nodes with 22 edges that have no length, and lengths where there is no weight.
fn matrices(n: usize) -> (String, String) {
    let (mut weights, mut lengths) = (String::new(), String::new());
    let mut bare = 0;
    for i in 0..n {
        for j in 0..n {
            let connected = i != j && (3 * i + 5 * j) % 4 == 0;
            let without_length = connected && i > j && bare < 22;
            bare += usize::from(without_length);
            let weight = if connected { 0.1 + 0.01 * (i * 7 + j) as f64 } else { 0.0 };
            let length =
                if i == j || without_length { 0.0 } else { 20.0 + 1.7 * i as f64 + 0.9 * j as f64 };
            weights.push_str(&format!("{weight:.4e} "));
            lengths.push_str(&format!("{length:.3}\t"));
        }
        weights.push('\n');
        lengths.push('\n');
    }
    assert_eq!(bare, 22);
    (weights, lengths)
}

fn bzip2(text: &str) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn archive(folder: &TempDir, name: &str, members: &[(&str, Vec<u8>)]) {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    write(folder, name, zip.finish().unwrap().into_inner());
}

fn with_file(folder: &TempDir, key: &str) -> Result<Loaded, LoadError> {
    load(&write(folder, "run.yaml", linear(&format!("  {key}\n"))))
}

#[test]
fn an_archive_of_the_virtual_brain() {
    const N: usize = 30;
    let folder = tempfile::tempdir().unwrap();
    let (weights, lengths) = matrices(N);
    // Rows start with a blank, labels have blanks within and behind, a last column says None.
    let centres: String = (0..N)
        .map(|i| format!(" region {i} L  {:.3} {:.3} {:.3} None\n", i as f64, -2.5, 1e1))
        .collect();
    let (plain, packed) = (|t: &str| t.as_bytes().to_vec(), bzip2);
    archive(
        &folder,
        "plain.zip",
        &[
            ("weights.txt", plain(&weights)),
            ("tract_lengths.txt", plain(&lengths)),
            ("centres.txt", plain(&centres)),
        ],
    );
    archive(
        &folder,
        "packed.zip",
        &[
            ("brain/weights.txt.bz2", packed(&weights)),
            ("brain/tract_lengths.txt.bz2", packed(&lengths)),
            ("brain/centres.txt.bz2", packed(&centres)),
            ("brain/areas.txt.bz2", packed("1\n2\n")),
        ],
    );
    let plain = with_file(&folder, "data_file: plain.zip").unwrap().experiment;
    let packed = with_file(&folder, "data_file: packed.zip").unwrap().experiment;
    let connectome = &plain.network.connectome;
    assert_eq!(connectome.labels[7], "region 7 L");
    assert_eq!(connectome.labels, packed.network.connectome.labels);
    let edges = (connectome.weights.iter().zip(&connectome.tract_lengths_mm))
        .filter(|(w, l)| **w > 0.0 && **l == 0.0);
    assert_eq!(edges.count(), 22);
    assert_ne!(connectome.weights, connectome.weights.transpose());
    let result = run_with(&plain, &every_step());
    assert!(result.nonfinite.is_empty());
    assert_eq!(series_bits(&result), series_bits(&run_with(&packed, &every_step())));
}

#[test]
fn labels_with_blanks_and_tabs() {
    let folder = tempfile::tempdir().unwrap();
    let centres =
        " Left A1\t1.0\t2.0\t3.0\tNone\n Left A2  \t1.5\t2.5\t3.5\tNone\n R-ctx 3b   1 2 -3 None\n";
    let members =
        [("weights.txt", b"0 1 2\n1 0 3\n2 3 0\n".to_vec()), ("centres.txt", centres.into())];
    archive(&folder, "c.zip", &members);
    let connectome = with_file(&folder, "data_file: c.zip").unwrap().experiment.network.connectome;
    assert_eq!(connectome.labels, ["Left A1", "Left A2", "R-ctx 3b"]);
}

#[test]
fn labels_of_another_number() {
    let folder = tempfile::tempdir().unwrap();
    let row = "1 ".repeat(167) + "\n";
    let centres: String = (0..164).map(|i| format!("r{i} 0 0 {i}\n")).collect();
    let members = [("weights.txt", row.repeat(167).into_bytes()), ("centres.txt", centres.into())];
    archive(&folder, "c.zip", &members);
    let error = with_file(&folder, "data_file: c.zip").unwrap_err().render(false);
    assert!(error.contains("167") && error.contains("164"), "{error}");
}

/// 300 MB with one value a line are no matrix. The program has to find out without reading it all
/// into memory: it is given a third of what the numbers would take.
#[test]
#[cfg(target_os = "linux")]
fn a_large_file_that_is_no_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(folder.path().join("weights.csv")).unwrap();
    let some = "0.125\n".repeat(1 << 20);
    for _ in 0..48 {
        file.write_all(some.as_bytes()).unwrap();
    }
    drop(file);
    let text = linear("  edge_matrix_files: [weights.csv]\n");
    let path = write(&folder, "run.yaml", text);
    let from = std::time::Instant::now();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 150000; exec \"$0\" check \"$1\"", env!("CARGO_BIN_EXE_host")])
        .arg(path)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("weights.csv"), "{complaint}");
    assert!(from.elapsed().as_secs() < 20, "{:?}", from.elapsed());
}

#[test]
fn lengths_in_other_units() {
    const N: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    // 0.6 mm to 240 mm, all multiples of 0.6.
    let steps = |i: usize, j: usize| match (i.max(j), i.min(j)) {
        (a, b) if a == b => 0,
        (7, 6) => 400,
        (a, b) => 1 + 13 * a + b,
    };
    let text = |cell: &dyn Fn(usize, usize) -> f64| -> Vec<u8> {
        let row = |i| (0..N).map(|j| cell(i, j).to_string()).collect::<Vec<_>>().join(" ") + "\n";
        (0..N).map(row).collect::<String>().into_bytes()
    };
    let of_scale = |scale: f64, speed: f64| {
        let weights = text(&|i, j| f64::from(i != j));
        let lengths = text(&|i, j| (scale * 0.6 * steps(i, j) as f64 * 1e6).round() / 1e6);
        archive(&folder, "c.zip", &[("weights.txt", weights), ("tract_lengths.txt", lengths)]);
        let keys =
            format!("data_file: c.zip\n  parameters: {{conduction_speed: {{value: {speed}}}}}");
        remarks(&with_file(&folder, &keys).unwrap())
    };
    let metres = of_scale(1e-3, 3.0);
    assert!(says(&metres, &["0.24 mm", "implausible", "metres"]), "{metres:?}");
    let voxels = of_scale(1.0, 3.0);
    assert!(says(&voxels, &["240", "0.6"]), "{voxels:?}");
    let slow = of_scale(0.7371, 0.01);
    assert!(says(&slow, &["longest conduction delay is"]), "{slow:?}");
    let good = of_scale(0.7371, 3.0);
    assert!(good.is_empty(), "{good:?}");
}

/// Edges of the file itself are looked at in the same way.
#[test]
fn lengths_of_edges_in_other_units() {
    let short =
        linear(PAIR).replace("value: 6}", "value: 0.1}").replace("value: 33}", "value: 0.24}");
    let remarks = remarks(&try_load(&short).unwrap());
    assert!(says(&remarks, &["longest conduction delay is 0.08 ms"]), "{remarks:?}");
}

#[test]
fn numbers_that_no_connectome_has() {
    for (good, bad, words) in [
        ("length: {value: 33}", "length: {value: -33}", "-33"),
        ("length: {value: 33}", "length: {value: .nan}", "nan"),
        ("weight: {value: 0.4}", "weight: {value: .nan}", "nan"),
        ("weight: {value: 0.4}", "weight: {value: .inf}", "inf"),
        ("  nodes:", "  parameters: {conduction_speed: {value: 0}}\n  nodes:", "speed"),
        ("  nodes:", "  parameters: {conduction_speed: {value: -1}}\n  nodes:", "speed"),
        ("  nodes:", "  parameters: {conduction_speed: {value: .nan}}\n  nodes:", "speed"),
    ] {
        let text = linear(PAIR);
        assert!(text.contains(good));
        let error = refusal(&text.replace(good, bad));
        assert!(error.contains(words), "{bad}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "w.csv", "0,1\nnan,0\n");
    let error = with_file(&folder, "edge_matrix_files: [w.csv]").unwrap_err().render(false);
    assert!(error.contains("w.csv") && error.to_lowercase().contains("nan"), "{error}");
}

/// A speed of 0 is refused wherever it comes from.
#[test]
fn speeds_from_outside_the_file() {
    let text = linear(PAIR);
    let with = |overrides: &Overrides| {
        let loaded = load_str_with(&text, "test.yaml", Path::new("nowhere"), overrides);
        let loaded = match loaded {
            Err(error) => return Some(error.render(false)),
            Ok(loaded) => loaded,
        };
        let simulation = match Simulation::new(&loaded.experiment, &means()) {
            Err(error) => return Some(error.to_string()),
            Ok(simulation) => simulation,
        };
        simulation.run().err().map(|e| e.to_string())
    };
    for speed in [0.0, -2.0, f64::NAN] {
        let overrides = Overrides { conduction_speed: Some(speed), ..Overrides::default() };
        let error = with(&overrides).expect("a refusal");
        assert!(error.contains("speed"), "{error}");
    }
    for axis in ["network.conduction_speed=0:3:4", "network.conduction_speed=1,-1"] {
        let overrides = Overrides { axes: vec![axis.parse().unwrap()], ..Overrides::default() };
        let error = with(&overrides).expect("a refusal");
        assert!(error.contains("speed"), "{error}");
    }
}

// Time and points.

/// `f = 4(1.2 − x)` from 0.9 with dt = 0.5: the predictor is 1.5, beyond the bound, and the corrected
/// state is 0.9 again. Had the predictor been clamped to 1, it would be 1.4, clamped to 1.
#[test]
fn only_the_accepted_state_is_clamped() {
    let text = |start: f64| {
        format!(
            "dynamics:
  name: M
  state_variables:
    x: {{equation: {{rhs: 4*(1.2 - x)}}, initial_value: {start}, domain: {{lo: 0, hi: 1, enforce: clamp}}}}
integration: {{method: heun, step_size: 0.5, duration: 1}}
execution: {{precision: float64}}
"
        )
    };
    let stays = run(&text(0.9)).trace(0, "x", 0).unwrap();
    assert!(stays.iter().all(|x| (x - 0.9).abs() < 1e-12), "{stays:?}");
    // From 2: k₁ = −3.2, y = 0.4, k₂ = 3.2: the state is 2, clamped to 1; then 1.2 − 1 = 0.2, k₁ =
    // 0.8, y = 1.4, k₂ = −0.8: it stays.
    assert_eq!(run(&text(2.0)).trace(0, "x", 0).unwrap(), [1.0, 1.0]);
}

#[test]
fn a_period_that_is_not_a_multiple_of_the_step() {
    let text = linear(PAIR) + "observations: {slow: {source: [x], period: 0.25}}\n";
    let loaded = try_load(&text).unwrap();
    let notes = remarks(&loaded);
    assert!(says(&notes, &["slow", "0.25", "0.2"]), "{notes:?}");
    let result = run_with(&loaded.experiment, &every_step());
    let times = &result.array("slow_time").expect("times of the observation").values;
    // 2.5 steps are 2, half to even or down; time is what was simulated, not what was asked for.
    let period = times[1] - times[0];
    assert!((period - 0.2).abs() < 1e-9 || (period - 0.3).abs() < 1e-9, "{period}");
    for (k, t) in times.iter().enumerate() {
        assert!((t - period * (k + 1) as f64).abs() < 1e-9);
    }
    let x = result.trace(0, "x", 0).unwrap();
    let slow = result.array("slow").unwrap();
    let n = (period / 0.1).round() as usize;
    for row in 0..times.len() {
        let window = x[row * n..(row + 1) * n].iter().sum::<f64>() / n as f64;
        let ours = slow.at(&[0, row, 0]).unwrap();
        assert!((ours - window).abs() < 1e-12, "row {row}: {ours}, {window}");
    }
}

/// The same impulse, stepped finely and coarsely: blood peaks at the same second.
#[test]
fn haemodynamic_time_does_not_depend_on_the_step() {
    let peak = |step: f64| {
        let result = run_with(
            &experiment(&format!(
                "dynamics:
  name: M
  state_variables: {{x: {{equation: {{rhs: -x/100}}, initial_value: 1}}}}
integration: {{method: heun, step_size: {step}, duration: 12000}}
observations: {{bold: {{imaging_modality: BOLD, source: [x], period: 100}}}}
"
            )),
            &means(),
        );
        let bold = result.array("bold").expect("a BOLD signal").values.clone();
        let most = (0..bold.len()).max_by(|&a, &b| bold[a].total_cmp(&bold[b])).unwrap();
        result.array("bold_time").unwrap().values[most]
    };
    let (fine, coarse) = (peak(0.01), peak(1.0));
    assert!((2000.0..8000.0).contains(&fine), "{fine}");
    assert!((fine - coarse).abs() <= 100.0, "{fine}, {coarse}");
}

/// One of a thousand explodes.
#[test]
fn one_exploding_point() {
    let text = |exponent: &str| {
        format!(
            "dynamics:
  name: M
  parameters: {{k: {{value: 0}}}}
  state_variables:
    x:
      equation: {{rhs: 'Piecewise(({exponent}, (k > 499.5) & (k < 500.5)), (-x + 0.001*k, True))'}}
      initial_value: 0.5
      noise: {{parameters: {{sigma: {{value: 0.01}}}}}}
network: {{number_of_nodes: 3}}
integration: {{method: heun, step_size: 0.1, duration: 10}}
explorations: {{e: {{space: {{M.k: {{domain: {{lo: 0, hi: 999, n: 1000}}}}}}}}}}
"
        )
    };
    let calm = run_with(&experiment(&text("0.01*k")), &every_step());
    assert!(calm.nonfinite.is_empty());
    let loud = run_with(&experiment(&text("x**3*1e9")), &every_step());
    let step = loud.nonfinite_step(500).expect("it explodes");
    assert_eq!(loud.nonfinite, [(500, step)]);
    assert!(step < 10, "{step}");
    let flags = &loud.array("nonfinite_step").unwrap().values;
    assert_eq!(flags[500], step as f64);
    assert!(flags.iter().enumerate().all(|(at, &f)| at == 500 || f == -1.0));
    let (a, b) = (&calm.series().unwrap().values, &loud.series().unwrap().values);
    let size = a.len() / 1000;
    for point in (0..1000).filter(|&p| p != 500) {
        let part = |v: &[f64]| bits(&v[point * size..][..size]);
        assert_eq!(part(a), part(b), "point {point}");
    }
    let exploded = &b[500 * size..][..size];
    assert!(exploded[step as usize * 3..].iter().all(|x| x.is_nan()));
    assert!(exploded[..step as usize * 3].iter().all(|x| x.is_finite()));
    let tavg = |node: usize| loud.mean(500, "x", node).unwrap();
    assert!((0..3).all(|node| tavg(node).is_nan()));
}

/// 64 × 64 points without noise: as many results, each that of its point alone.
#[test]
fn four_thousand_points() {
    let text = linear(PAIR)
        + "explorations:
  grid:
    space:
      c.a: {domain: {lo: 0.01, hi: 0.3, n: 64}}
      network.conduction_speed: {domain: {lo: 0.5, hi: 4, n: 64}}
";
    let experiment = experiment(&text);
    let whole = run_with(&experiment, &means());
    let tavg = &whole.tavg().values;
    let distinct: std::collections::BTreeSet<Vec<u64>> = tavg.chunks(3).map(bits).collect();
    assert_eq!((whole.points.len(), distinct.len()), (4096, 4096));
    for point in (0..4096).step_by(117) {
        let only = point..point + 1;
        let options = Options { points: vec![only], ..means() };
        let alone = run_with(&experiment, &options);
        assert_eq!(bits(&alone.tavg().values), bits(&tavg[point as usize * 3..][..3]));
    }
}

// What models may say.

/// The value of an expression of parameters, as the state of a map after one step.
fn value_of(parameters: &str, expression: &str) -> f64 {
    let text = format!(
        "dynamics:
  name: M
  system_type: discrete
  parameters: {{{parameters}}}
  state_variables: {{out: {{equation: {{rhs: '{expression}'}}, initial_value: 0.25}}}}
integration: {{step_size: 1, duration: 1}}
execution: {{precision: float64}}
"
    );
    run(&text).trace(0, "out", 0).unwrap()[0]
}

#[test]
fn open_bounds() {
    for (domain, expected) in [
        ("{lo: 0, hi: .inf, enforce: clamp}", [0.0, 0.0]),
        ("{lo: -.inf, hi: 0.25, enforce: clamp}", [-2.5, -5.5]),
        ("{lo: -.inf, hi: .inf, enforce: clamp}", [-2.5, -5.5]),
        ("{lo: -.inf, hi: .inf}", [-2.5, -5.5]),
    ] {
        let text = format!(
            "dynamics:
  name: M
  state_variables: {{x: {{equation: {{rhs: '-3'}}, initial_value: 0.5, domain: {domain}}}}}
integration: {{method: euler, step_size: 1, duration: 2}}
"
        );
        assert_eq!(run(&text).trace(0, "x", 0).unwrap(), expected, "{domain}");
    }
}

#[test]
fn conditions_within_conditions() {
    let expression = "Piecewise((Piecewise((1, out < a), (2, out < b), (3, True)), switch > 0), \
                      (Piecewise((4, And(out > a, Eq(switch, -1))), (5, True)), True))";
    for (a, b, switch, expected) in [
        (0.5, 1.0, 1.0, 1.0),
        (0.1, 1.0, 1.0, 2.0),
        (0.1, 0.2, 1.0, 3.0),
        (0.1, 0.2, -1.0, 4.0),
        (0.5, 0.2, -1.0, 5.0),
        (0.1, 0.2, -2.0, 5.0),
    ] {
        let parameters =
            format!("a: {{value: {a}}}, b: {{value: {b}}}, switch: {{value: {switch}}}");
        assert_eq!(value_of(&parameters, expression), expected, "{parameters}");
    }
}

/// Names that mean something in sympy, in Python or in this program are names like others.
#[test]
fn parameters_may_be_called_anything() {
    let names = [
        "I", "E", "S", "N", "Q", "O", "C", "gamma", "beta", "zeta", "Gamma", "lambda", "dt", "id",
        "size", "pi_1", "PI", "e", "i", "j", "k", "node", "point", "step", "time", "seed", "rate",
        "inf", "nan", "re", "im", "in", "is", "None", "x_j", "gx", "float", "global", "let",
    ];
    let mut wrong = Vec::new();
    for name in names {
        let text = format!(
            "dynamics:
  name: M
  system_type: discrete
  parameters: {{{name}: {{value: 7}}}}
  state_variables: {{out: {{equation: {{rhs: '2*{name} + 1'}}, initial_value: 0.25}}}}
integration: {{step_size: 1, duration: 1}}
"
        );
        match try_load(&text) {
            Err(error) => wrong.push(format!("{name}: {}", error.render(false))),
            Ok(loaded) => match Simulation::new(&loaded.experiment, &every_step()) {
                Err(error) => wrong.push(format!("{name}: {error}")),
                Ok(simulation) => {
                    let value = simulation.run().unwrap().trace(0, "out", 0).unwrap()[0];
                    if value != 15.0 {
                        wrong.push(format!("{name}: {value}"));
                    }
                }
            },
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A parameter `t` hides the time.
#[test]
fn a_parameter_called_t() {
    assert_eq!(value_of("t: {value: 7}", "2*t"), 14.0);
    assert_eq!(value_of("", "2*t + 1"), 1.0, "step 0 is at t = 0");
}

#[test]
fn numbers_and_signs() {
    let x = "x: {value: 3}";
    for (expression, expected) in [
        ("2/3", 2.0 / 3.0),
        ("1/2*x", 1.5),
        ("x**(1/2)", 3f64.sqrt()),
        ("2x", 6.0),
        ("2 x", 6.0),
        ("2x^2", 18.0),
        ("x^2", 9.0),
        ("-x^2", -9.0),
        ("2^-1", 0.5),
        ("2^x^2", 512.0),
        ("2(x + 1)", 8.0),
        ("(x + 1)(x - 1)", 8.0),
        ("1e-3x", 0.003),
        ("7 % x", 1.0),
        ("-7 % x", 2.0),
        ("2*pi", std::f64::consts::TAU),
    ] {
        let value = value_of(x, expression);
        assert!((value - expected).abs() <= 1e-15 * expected.abs(), "{expression} = {value}");
    }
}

/// Without a surface there is nothing near a node: a local coupling input is 0.
#[test]
fn local_coupling_without_a_surface() {
    let model = |inputs: &str, rhs: &str| {
        linear(PAIR)
            .replace("coupling_inputs: {c: {}}", &format!("coupling_inputs: {{c: {{}}, {inputs}}}"))
            .replace("-0.1*x + 0.3 + c", rhs)
    };
    let local = run(&model("local_coupling: {local: true}", "-0.1*x + 0.3 + c + 5*local_coupling"));
    let without = run(&linear(PAIR));
    assert_eq!(series_bits(&local), series_bits(&without));
}

#[test]
fn lotka_volterra_as_it_comes() {
    let text = "
dynamics:
  name: LotkaVolterra
  parameters: {alpha: {value: 1.1}, beta: {value: 0.4}, delta: {value: 0.1}, gamma: {value: 0.4}}
  state_variables:
    prey: {equation: {rhs: alpha*prey - beta*prey*predator}, initial_value: 10}
    predator: {equation: {rhs: delta*prey*predator - gamma*predator}, initial_value: 10}
integration: {method: rk4, step_size: 0.01, duration: 50}
execution: {precision: float64}
";
    let result = run(text);
    let (prey, predator) =
        (result.trace(0, "prey", 0).unwrap(), result.trace(0, "predator", 0).unwrap());
    // δ·prey − γ·ln prey + β·predator − α·ln predator does not change.
    let kept = |x: f64, y: f64| 0.1 * x - 0.4 * x.ln() + 0.4 * y - 1.1 * y.ln();
    let start = kept(10.0, 10.0);
    for (x, y) in prey.iter().zip(&predator) {
        assert!((kept(*x, *y) - start).abs() < 1e-6, "{x}, {y}");
    }
    assert!(predator.iter().fold(f64::INFINITY, |m, y| m.min(*y)) < 1.0, "it went round");
}
