//! Results of the built program, opened by numpy and xarray.
//!
//! The Python is `TVBO_PYTHON`, else `python3`; where it lacks numpy, xarray or zarr the tests are
//! reported as ignored, unless `REQUIRE_PYTHON=1` turns that into a failure.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, ExitCode};

/// One run and what its results are.
struct Case {
    name: &'static str,
    /// After `host run`.
    arguments: &'static [&'static str],
    expected: fn() -> Value,
}

const CASES: &[Case] = &[
    Case {
        name: "one point with its time course",
        arguments: &["three_nodes", "--duration", "10"],
        expected: || {
            expect(
                json!({
                    "sizes": { "point": 1, "variable": 2, "node": 3, "time": 200 },
                    "series": [0.05, 0.05],
                }),
                three_nodes(),
            )
        },
    },
    Case {
        name: "averages in 64 bits",
        arguments: &["three_nodes", "--duration", "10", "--record", "tavg:2", "--precision", "f64"],
        expected: || {
            expect(
                json!({
                    "precision": "f64",
                    "sizes": { "point": 1, "variable": 2, "node": 3, "time": 5 },
                    "series": [2.0, 2.0],
                }),
                three_nodes(),
            )
        },
    },
    Case {
        name: "a sweep over two axes",
        arguments: &[
            "three_nodes",
            "--duration",
            "5",
            "--sweep",
            "I=0.1:0.3:3",
            "--sweep",
            "tau=10,20",
        ],
        expected: || {
            expect(
                json!({
                    "sizes": { "point": 6, "variable": 2, "node": 3 },
                    "axes": { "I": [0.1, 0.2, 0.3], "tau": [10.0, 20.0] },
                }),
                three_nodes(),
            )
        },
    },
    Case {
        name: "some points of a sweep",
        arguments: &["three_nodes", "--duration", "5", "--sweep", "I=0.1:0.3:3", "--points", "0,2"],
        expected: || {
            expect(
                json!({
                    "sizes": { "point": 2, "variable": 2, "node": 3 },
                    "axes": { "I": [0.1, 0.2, 0.3] },
                }),
                three_nodes(),
            )
        },
    },
    Case {
        name: "BOLD and functional connectivity",
        arguments: &["rww_bold_fc", "--duration", "27000", "--points", "0,6", "--dt", "1"],
        expected: || {
            let labels =
                include_str!("../connectomes/dk_average/atlas-DesikanKilliany_nodeindices.tsv");
            let labels: Vec<&str> =
                labels.lines().skip(1).filter_map(|line| line.split('\t').nth(3)).collect();
            expect(
                json!({
                    "sizes": {
                        "point": 2, "variable": 4, "node": 84, "bold_time": 27,
                        "node_a": 84, "node_b": 84,
                    },
                    "axes": { "ReducedWongWangExcInh.G": [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5] },
                    "observed": {
                        "bold": ["point", "bold_time", "node"],
                        "fc": ["point", "node_a", "node_b"],
                    },
                    "fc": ["fc", "bold", 20],
                }),
                json!({ "variable": ["S_e", "S_i", "H_e", "H_i"], "node": labels }),
            )
        },
    },
];

fn three_nodes() -> Value {
    json!({ "variable": ["v", "w"], "node": ["A", "B", "C"] })
}

/// What is as it mostly is, overridden by the case.
fn expect(case: Value, names: Value) -> Value {
    let mut expected = json!({
        "precision": "f32", "axes": {}, "series": null, "observed": {}, "fc": null,
    });
    for more in [case, names] {
        for (key, value) in more.as_object().into_iter().flatten() {
            expected[key] = value.clone();
        }
    }
    expected
}

/// The Python to use, or why there is none.
fn python() -> Result<String, String> {
    let python = std::env::var("TVBO_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = Command::new(&python).args(["-c", "import numpy, xarray, zarr"]).output();
    match probe {
        Err(error) => Err(format!("{python}: {error}")),
        Ok(output) if !output.status.success() => {
            let message = String::from_utf8_lossy(&output.stderr);
            let last = message.lines().last().unwrap_or("it has no numpy, xarray or zarr");
            Err(format!("{python}: {last}"))
        }
        Ok(_) => Ok(python),
    }
}

fn run(case: &Case, ending: &str, python: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join(format!("result.{ending}"));
    let ran = Command::new(env!("CARGO_BIN_EXE_host"))
        .arg("run")
        .args(case.arguments)
        .args(["--device", "cpu", "--quiet", "--out"])
        .arg(&out)
        .output()?;
    succeeded("host", &ran)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/python/open_results.py");
    let expected = (case.expected)().to_string();
    let opened = Command::new(python).arg(script).arg(&out).arg(expected).output()?;
    succeeded(python, &opened)?;
    if opened.stdout.trim_ascii() != b"ok" {
        return Err("the script did not come to its end".into());
    }
    Ok(())
}

/// A run of every statistic with the time courses that they are of, for the script to compute again.
const STATISTICS: &[&str] = &[
    "three_nodes",
    "--precision",
    "f64",
    "--record",
    "none",
    "--observe",
    "raw:v,mean:raw,variance:raw,std:raw,fc:raw,fcd:raw:500:125,spectrum:raw:256,\
     peak_frequency:raw:256,order_parameter:raw,mean_order_parameter:raw,metastability:raw,\
     phase_coherence:raw,fcd_ks,fc_correlation,fc_rmse,mean_fc_difference,temporal_average:v:4,\
     volterra_bold:v:100",
];

/// What the run computes against numpy and scipy.
fn statistics(python: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/python/analysis.py");
    succeeded(python, &Command::new(python).arg(&script).arg(folder.path()).output()?)?;
    let out = folder.path().join("result.npz");
    let ran = Command::new(env!("CARGO_BIN_EXE_host"))
        .arg("run")
        .args(STATISTICS)
        .args(["--device", "cpu", "--quiet", "--empirical-bold"])
        .arg(folder.path().join("bold.npy"))
        .arg("--out")
        .arg(&out)
        .output()?;
    succeeded("host", &ran)?;
    let compared = Command::new(python).arg(&script).arg(&out).arg(folder.path()).output()?;
    succeeded(python, &compared)?;
    if compared.stdout.trim_ascii() != b"ok" {
        return Err("the script did not come to its end".into());
    }
    Ok(())
}

fn succeeded(what: &str, output: &std::process::Output) -> Result<(), Failed> {
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("{what} ended with {}:\n{message}", output.status).into())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var("REQUIRE_PYTHON").is_ok_and(|v| v == "1");
    let python = python();
    let mut trials = Vec::new();
    for case in CASES {
        for ending in ["npz", "zarr"] {
            let python = python.clone();
            let trial =
                Trial::ignorable_test(format!("{ending}: {}", case.name), move || match python {
                    Ok(python) => run(case, ending, &python).map(|()| Completion::Completed),
                    Err(why) if required => Err(why.into()),
                    Err(why) => Ok(Completion::ignored_with(why)),
                });
            trials.push(trial);
        }
    }
    let scipy = python.and_then(|python| {
        let probe = Command::new(&python).args(["-c", "import scipy"]).output();
        let there = probe.is_ok_and(|p| p.status.success());
        if there { Ok(python) } else { Err(format!("{python}: it has no scipy")) }
    });
    let name = "statistics are numpy's and scipy's";
    trials.push(Trial::ignorable_test(name, move || match scipy {
        Ok(python) => statistics(&python).map(|()| Completion::Completed),
        Err(why) if required => Err(why.into()),
        Err(why) => Ok(Completion::ignored_with(why)),
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}
