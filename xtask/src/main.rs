//! Habits of this repository as commands: `cargo xtask`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask COMMAND

  check        what must hold before a commit: formatting, lints, tests
  bless        rewrite golden files and expected error texts, then show what changed
  figures      run the experiment of the README's picture and draw it (needs matplotlib)
  gpu-bundle   build a folder that tests the program on a machine with a GPU and no Rust:
               target/gpu-bundle, to be copied there; run run.sh in it";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let result = match command.as_str() {
        "check" => check(),
        "bless" => bless(),
        "figures" => figures(),
        "gpu-bundle" => gpu_bundle(),
        _ => Err(HELP.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    cargo(&["fmt", "--all", "--", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace"])
}

fn bless() -> Result<(), String> {
    run(Command::new("cargo").args(["test", "--package", "host"]).env("BLESS", "1"))?;
    run(Command::new("git").args(["status", "--short", "tests", "docs"]))
}

fn figures() -> Result<(), String> {
    let result = root().join("target/kuramoto_sweep.npz");
    let out = result.display().to_string();
    cargo(&["run", "--release", "--package", "host", "--", "kuramoto_sweep", "--out", &out])?;
    let folder = root().join("docs/figures");
    run(Command::new("python3")
        .arg(folder.join("kuramoto_sweep.py"))
        .arg(result)
        .arg(folder.join("kuramoto_sweep.png")))
}

/// The tests that need a GPU, with the program, for a machine that has one and no Rust.
fn gpu_bundle() -> Result<(), String> {
    let bundle = root().join("target/gpu-bundle");
    std::fs::create_dir_all(&bundle).map_err(|e| format!("{}: {e}", bundle.display()))?;
    let built = [
        (vec!["build", "--bin", "host"], "host"),
        (vec!["build", "--example", "compute_probe"], "compute_probe"),
        (vec!["test", "--no-run", "--test", "gpu"], "gpu"),
    ];
    for (arguments, name) in built {
        let mut command = Command::new("cargo");
        command.args(&arguments).args(["--release", "--package", "host"]);
        let executable = executable(command.arg("--message-format=json-render-diagnostics"), name)?;
        let to = bundle.join(name);
        std::fs::copy(&executable, &to).map_err(|e| format!("{}: {e}", executable.display()))?;
        run(Command::new("strip").arg(&to))?;
    }
    let script = bundle.join("run.sh");
    let text = "#!/bin/sh\n# Runs every test that needs a GPU; one line a test.\n\
                cd \"$(dirname \"$0\")\" || exit 2\n./compute_probe && REQUIRE_GPU=1 ./gpu\n";
    std::fs::write(&script, text).map_err(|e| format!("{}: {e}", script.display()))?;
    say(&format!("{} is ready: copy it and run `sh run.sh` there", bundle.display()));
    Ok(())
}

/// Builds and finds the executable of a target in cargo's messages.
fn executable(command: &mut Command, name: &str) -> Result<PathBuf, String> {
    let output = command
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let of_target = format!("\"name\":\"{name}\"");
    let key = "\"executable\":\"";
    let lines = messages.lines().filter(|line| line.contains(&of_target));
    let path = lines.filter_map(|line| {
        let start = line.find(key)? + key.len();
        let length = line[start..].find('"')?;
        Some(PathBuf::from(&line[start..start + length]))
    });
    let mut path = path;
    path.next_back().ok_or_else(|| format!("cargo built no executable for {name}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("cargo").args(arguments))
}

fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

#[expect(clippy::print_stdout, reason = "this is a command")]
fn say(text: &str) {
    println!("{text}");
}
