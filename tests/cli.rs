//! The built program from outside: exit codes, what it prints where, and what it leaves on disk when
//! it is stopped.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The program, without settings of whoever runs the tests.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.env_remove("HOST_DEVICE").stdin(Stdio::null());
    command
}

fn host(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |e: std::io::Result<std::fs::DirEntry>| {
        e.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// A run that would take hours, once it has begun to write.
fn start_long_run(folder: &Path, out: &Path) -> Running {
    let before = names(folder).len();
    let arguments = ["run", "three_nodes", "--duration", "1e9", "--record", "none", "--quiet"];
    let child = program()
        .args(arguments)
        .args(["--device", "cpu", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut child = Running(child);
    let deadline = Instant::now() + Duration::from_secs(120);
    while names(folder).len() == before {
        assert!(child.0.try_wait().expect("a child").is_none(), "it ended before it wrote");
        assert!(Instant::now() < deadline, "nothing was created");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The file is there before the first step; give it time for some.
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.0.try_wait().expect("a child").is_none(), "it is still running");
    child
}

/// A child that does not outlive a failed assertion.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Folder {
    // Removed when dropped.
    _held: tempfile::TempDir,
    path: PathBuf,
}

fn folder() -> Folder {
    let held = tempfile::tempdir().expect("a temporary folder");
    Folder { path: held.path().to_owned(), _held: held }
}

fn small_run(out: &Path, more: &[&str]) -> Output {
    program()
        .args(["run", "three_nodes", "--duration", "5", "--device", "cpu", "--out"])
        .arg(out)
        .args(more)
        .output()
        .expect("the program starts")
}

#[test]
fn a_run_that_is_done_gives_0_and_says_how_to_open_it() {
    let folder = folder();
    let out = folder.path.join("r.npz");
    let output = small_run(&out, &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("numpy.load("), "{}", stdout(&output));
    assert_eq!(names(&folder.path), ["r.npz"]);
}

#[test]
fn a_quiet_run_prints_nothing() {
    let folder = folder();
    let output = small_run(&folder.path.join("r.npz"), &["--quiet"]);
    assert_eq!(
        (code(&output), stdout(&output), stderr(&output)),
        (0, String::new(), String::new())
    );
}

#[test]
fn equal_runs_leave_equal_files() {
    let folder = folder();
    let files = ["a.npz", "b.npz"].map(|name| folder.path.join(name));
    for (file, threads) in files.iter().zip(["1", "2"]) {
        let more = ["--threads", threads, "--sweep", "I=0.1:0.3:5"];
        assert_eq!(code(&small_run(file, &more)), 0);
    }
    // All but the manifest, which names the number of threads.
    let [a, b] = files.map(|f| {
        let mut archive =
            zip::ZipArchive::new(std::fs::File::open(f).expect("a file")).expect("a zip");
        let mut member = archive.by_name("tavg.npy").expect("tavg");
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut bytes).expect("values");
        bytes
    });
    assert!(a == b && a.len() > 128);
}

#[test]
fn json_is_one_line_on_standard_output() {
    let folder = folder();
    let output = small_run(&folder.path.join("r.npz"), &["--json"]);
    assert_eq!(code(&output), 0);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(json["nodes"], 3);
    assert_eq!(json["steps"], 100);
    assert_eq!(json["nonfinite"], serde_json::json!([]));
    assert_eq!(stdout(&output).lines().count(), 1);

    for command in [&["plan", "three_nodes", "--json"][..], &["check", "three_nodes", "--json"]] {
        let output = host(command);
        assert_eq!(code(&output), 0, "{command:?} {}", stderr(&output));
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
        assert_eq!(json["model"], "FitzHughNagumo", "{command:?}");
    }
}

const BROKEN: &str = "\
dynamics:
  name: Decay
  state_variables:
    x: {equation: {rhs: \"-x/tua\"}, initial_value: 1.0}
  parameters:
    tau: {value: 10.0}
integration: {method: Euler, step_size: 0.1, duration: 1.0}
";

#[test]
fn a_broken_experiment_gives_1_and_names_file_line_and_symbol() {
    let folder = folder();
    let file = folder.path.join("broken.yaml");
    std::fs::write(&file, BROKEN).expect("a file");
    let text = file.display().to_string();
    for command in ["check", "run", "plan"] {
        let output = program().current_dir(&folder.path).args([command, &text]).output();
        let output = output.expect("the program starts");
        let message = stderr(&output);
        assert_eq!(code(&output), 1, "{command}: {message}");
        for part in ["broken.yaml:4", "tua"] {
            assert!(message.contains(part), "{command}: `{part}` in {message}");
        }
        assert_eq!(stdout(&output), "", "{command}");
    }
    let output = host(&["check", &text, "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!((code(&output), &json["ok"]), (1, &Value::Bool(false)));
    for command in ["check", "run", "plan"] {
        let output = host(&[command, &text, "--json"]);
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
        let finding = &json["findings"][0];
        assert_eq!(finding["severity"], "error", "{command}: {json}");
        assert_eq!(finding["place"]["line"], 4, "{command}: {json}");
        assert!(finding["message"].as_str().is_some_and(|m| m.contains("tua")), "{json}");
    }
    // Nothing but the experiment is there: no results of a refused run.
    assert_eq!(names(&folder.path), ["broken.yaml"]);
}

#[test]
fn the_worst_of_several_files_counts() {
    let folder = folder();
    let file = folder.path.join("broken.yaml");
    std::fs::write(&file, BROKEN).expect("a file");
    let output = host(&["check", "three_nodes", &file.display().to_string()]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("three_nodes"), "the good one is reported");
}

#[test]
fn wrong_usage_and_unreadable_files_give_2() {
    let cases: &[&[&str]] = &[
        &["run"],
        &["--no-such-option"],
        &["run", "three_nodes", "--record", "everything"],
        &["run", "three_nodes", "--device", "abacus"],
        &["check", "/nowhere/experiment.yaml"],
        &["run", "/nowhere/experiment.yaml"],
    ];
    for arguments in cases {
        let output = host(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_misspelt_name_of_a_shipped_experiment_is_mended() {
    let output = host(&["Kuramot"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("`Kuramoto` ships with the program"), "{}", stderr(&output));
    let output = host(&["check", "/nowhere/experiment.yaml", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(json["findings"][0]["code"], "E0100");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_said_is_an_error() {
    for command in [&["check", "three_nodes"][..], &["plan", "three_nodes"], &["models"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let output = program().args(command).stdout(full).output().expect("the program starts");
        assert_eq!(code(&output), 2, "{command:?}");
        assert!(stderr(&output).contains("standard output"), "{}", stderr(&output));
    }
    // Nobody who listens is no error: `host models | head`.
    let mut child = program().arg("models").stdout(Stdio::piped()).spawn().expect("a child");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("a child").code(), Some(0));
}

#[test]
fn an_observation_without_samples_is_warned_of() {
    let folder = folder();
    let output = small_run(&folder.path.join("r.npz"), &["--record", "tavg:6"]);
    assert_eq!(code(&output), 0);
    let message = stderr(&output);
    assert!(message.contains("warning") && message.contains("the recording is empty"), "{message}");
    let output = small_run(&folder.path.join("r.npz"), &["--record", "tavg:5"]);
    assert!(!stderr(&output).contains("empty"), "{}", stderr(&output));
}

#[test]
fn changes_from_the_command_line_stand_in_the_results() {
    let folder = folder();
    let out = folder.path.join("r.zarr");
    let more = ["--set", "b=0.75", "--sweep", "I=0.1,0.3", "--seed", "9", "--coupling", "0.5"];
    assert_eq!(code(&small_run(&out, &more)), 0);
    let root: Value = serde_json::from_str(
        &std::fs::read_to_string(out.join("zarr.json")).expect("the group's metadata"),
    )
    .expect("JSON");
    let meta = root["attributes"]["meta"].as_str().expect("a text");
    let meta: Value = serde_json::from_str(meta).expect("JSON");
    let expected = serde_json::json!({
        "duration": 5.0, "set": {"b": 0.75}, "sweep": {"I": [0.1, 0.3]}, "seed": 9, "coupling": 0.5,
    });
    assert_eq!(meta["changes"], expected);
}

#[test]
fn an_export_without_a_gpu_is_written_and_not_verified() {
    let folder = folder();
    let out = folder.path.join("k.cu");
    let output = program().args(["export", "three_nodes", "--verify", "--out"]).arg(&out).output();
    let output = output.expect("the program starts");
    assert!(out.exists());
    let message = stderr(&output);
    match code(&output) {
        // A GPU, and perhaps no NVRTC.
        0 => assert!(stdout(&output).contains("relative"), "{}", stdout(&output)),
        3 => assert!(message.contains("not verified"), "{message}"),
        other => panic!("{other}: {message}"),
    }
}

#[test]
fn help_is_no_error() {
    for arguments in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let output = host(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn a_place_that_cannot_be_written_is_reported_before_the_run() {
    let folder = folder();
    std::fs::write(folder.path.join("file"), "").expect("a file");
    // Folders that can't be: also for root, whom permissions don't stop.
    for out in ["missing/r.npz", "file/r.npz", "file/r.zarr", "r.csv"] {
        let from = Instant::now();
        let output = program()
            .args(["run", "three_nodes", "--duration", "1e9", "--record", "none"])
            .args(["--device", "cpu", "--out"])
            .arg(folder.path.join(out))
            .output()
            .expect("the program starts");
        assert_eq!(code(&output), 2, "{out}: {}", stderr(&output));
        let named = out.split('/').next().unwrap_or(out);
        assert!(stderr(&output).contains(named), "{out}: {}", stderr(&output));
        // The run itself would take hours.
        assert!(from.elapsed() < Duration::from_secs(60), "{out}");
    }
    assert_eq!(names(&folder.path), ["file"]);
}

#[test]
fn results_that_do_not_fit_the_disk_are_refused_before_the_run() {
    let folder = folder();
    for (name, duration) in [("r.npz", "1e13"), ("r.zarr", "1e13"), ("r.npz", "1e17")] {
        let output = program()
            .args(["run", "three_nodes", "--duration", duration, "--record", "raw"])
            .args(["--device", "cpu", "--out"])
            .arg(folder.path.join(name))
            .output()
            .expect("the program starts");
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{name} {duration}: {message}");
        assert!(message.contains("are free there"), "{name} {duration}: {message}");
        assert!(names(&folder.path).is_empty(), "{name} {duration}");
    }
}

#[test]
fn steps_that_cannot_be_counted_are_refused() {
    for duration in ["1e18", "1e300"] {
        let output = host(&["run", "three_nodes", "--duration", duration, "--device", "cpu"]);
        let message = stderr(&output);
        assert_eq!(code(&output), 1, "{message}");
        assert!(message.contains("can't be run"), "{message}");
    }
}

#[test]
fn a_device_that_is_not_there_gives_3() {
    let folder = folder();
    let output = program()
        .args(["run", "three_nodes", "--duration", "1", "--device", "cuda:63", "--out"])
        .arg(folder.path.join("r.npz"))
        .output()
        .expect("the program starts");
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(names(&folder.path).is_empty());
}

#[cfg(unix)]
#[test]
fn an_interrupt_gives_130_and_leaves_nothing_half_written() {
    let folder = folder();
    for name in ["r.npz", "r.zarr"] {
        let out = folder.path.join(name);
        let mut child = start_long_run(&folder.path, &out);
        let sent = Command::new("kill").args(["-INT", &child.0.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let status = child.0.wait().expect("a child");
        assert_eq!(status.code(), Some(130), "{name}");
        assert!(names(&folder.path).is_empty(), "{name}: {:?}", names(&folder.path));
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_the_old_result_as_it_was() {
    use std::os::unix::process::ExitStatusExt;
    let folder = folder();
    let out = folder.path.join("r.npz");
    assert_eq!(code(&small_run(&out, &["--quiet"])), 0);
    let old = std::fs::read(&out).expect("results");

    let mut child = start_long_run(&folder.path, &out);
    child.0.kill().expect("a child");
    assert_eq!(child.0.wait().expect("a child").signal(), Some(9));
    assert!(std::fs::read(&out).expect("results") == old, "the old result was changed");

    // And the next run is not in the way of what is left.
    assert_eq!(code(&small_run(&out, &["--quiet"])), 0);
    assert!(std::fs::read(&out).expect("results") == old, "equal runs leave equal files");
}

#[test]
fn the_best_point_of_each_score_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let measured = folder.path().join("fc.csv");
    std::fs::write(&measured, "1,.9,.1\n.9,1,.3\n.1,.3,1\n").expect("a file");
    let run = |more: &[&str]| {
        let output = program()
            .args(["run", "three_nodes", "--duration", "100", "--device", "cpu"])
            .args(["--sweep", "I=0.1:0.3:3", "--observe", "fc_correlation,fc_rmse"])
            .arg("--empirical-fc")
            .arg(&measured)
            .arg("--out")
            .arg(folder.path().join("result.npz"))
            .args(more)
            .output()
            .expect("the program starts");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    };
    let summary: Value = serde_json::from_str(&stdout(&run(&["--json"]))).expect("JSON");
    let best = &summary["best"][0];
    assert_eq!((&best["score"], &best["better"]), (&"fc_correlation".into(), &"higher".into()));
    let (point, value) = (best["point"].as_u64().expect("a number"), &best["parameters"]["I"]);
    assert_eq!(value.as_f64(), Some([0.1, 0.2, 0.3][point as usize]));
    let said = stderr(&run(&[]));
    for score in ["fc_correlation", "fc_rmse"] {
        let line = said.lines().find(|l| l.starts_with(&format!("best       {score} ")));
        assert!(line.is_some_and(|l| l.contains(" at I = 0.")), "{said}");
    }
}

#[test]
fn curand_normals_are_refused_on_the_cpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.npz");
    let run = |model: &str, normal: &str| {
        let arguments = ["run", model, "--device", "cpu", "--n-steps", "5", "--normal", normal];
        program().args(arguments).arg("--out").arg(&out).output().expect("the program starts")
    };
    let refused = run("OrnsteinUhlenbeck", "curand");
    assert_eq!(code(&refused), 1);
    let message = stderr(&refused);
    assert!(message.contains("sin.approx") && message.contains("--normal portable"), "{message}");
    assert!(names(folder.path()).is_empty());
    assert_eq!(code(&run("OrnsteinUhlenbeck", "portable")), 0);
    // Without noise there is nothing to draw.
    assert_eq!(code(&run("three_nodes", "curand")), 0);
}

#[test]
fn a_result_becomes_a_page_and_figures() {
    let folder = folder();
    let out = folder.path.join("r.zarr");
    let sweep = ["--record", "tavg:0.1", "--sweep", "I=0.1:0.3:3", "--sweep", "tau=10,20"];
    assert_eq!(code(&small_run(&out, &[&sweep[..], &["--report"]].concat())), 0);
    let page = std::fs::read_to_string(folder.path.join("r.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("Three neurons, two couplings"));
    let result = out.display().to_string();
    let other = folder.path.join("other.html").display().to_string();
    let output = host(&["report", &result, "-o", &other]);
    assert_eq!((code(&output), stdout(&output).trim_end()), (0, other.as_str()));
    assert_eq!(std::fs::read_to_string(&other).expect("a page"), page);
    for (what, ending) in [("map", "svg"), ("series", "svg"), ("spectrum", "svg"), ("map", "png")] {
        let figure = folder.path.join(format!("f.{ending}"));
        let shown = figure.display().to_string();
        let output = host(&["plot", &result, "--what", what, "-o", &shown]);
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{what}");
        let bytes = std::fs::read(&figure).expect("a figure");
        let start: &[u8] = if ending == "svg" { b"<svg " } else { b"\x89PNG" };
        assert!(bytes.starts_with(start) && bytes.len() > 1000, "{what}");
    }
    assert_eq!(names(&folder.path), ["f.png", "f.svg", "other.html", "r.html", "r.zarr"]);
}

#[test]
fn pictures_of_what_is_not_there_give_2_and_say_why() {
    let folder = folder();
    let out = folder.path.join("r.npz");
    assert_eq!(code(&small_run(&out, &["--sweep", "I=0.1:0.3:3", "--quiet"])), 0);
    let text = folder.path.join("text.npz");
    std::fs::write(&text, "no result").expect("a file");
    let (result, text) = (out.display().to_string(), text.display().to_string());
    let nowhere = folder.path.join("no/f.svg").display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["report", "/nowhere/r.npz"], "can't read results"),
        (&["report", &text], "not a result of `host run`"),
        (&["report", &result, "-o", &nowhere], "can't write the report"),
        (&["plot", &text, "--what", "map"], "not a result of `host run`"),
        (&["plot", &result, "--what", "series"], "--record tavg:PERIOD"),
        (&["plot", &result, "--what", "fc"], "nothing in it can be drawn as a matrix"),
        (&["plot", &result, "--what", "map", "--array", "scores"], "there is no array `scores`"),
        (&["plot", &result, "--what", "map", "--array", "node"], "`node` can't be drawn as a map"),
        (&["plot", &result, "--what", "map", "--variable", "q"], "there are v, w"),
        (&["plot", &result, "--what", "map", "--across", "G"], "there is no axis `G`"),
        (&["plot", &result, "--what", "map", "-o", &nowhere], "can't write the figure"),
        (&["plot", &result, "--what", "map", "-o", "f.pdf"], ".svg or .png"),
        (&["plot", &result, "--what", "pie"], "possible values"),
    ];
    for (arguments, part) in cases {
        let output = host(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(names(&folder.path), ["r.npz", "text.npz"]);
}
