//! What a run of an experiment leaves: which arrays, and the manifest that explains them.

use super::{ArraySpec, Content, ElementType};
use crate::experiment::{Better, Experiment, Overrides, Precision, SweepMode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Samples of something at regular times.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Number of samples a point.
    pub rows: u64,
    /// Time of the first, in the model's unit.
    pub first: f64,
    /// Time between samples, in the model's unit.
    pub period: f64,
}

impl Sampling {
    fn times(&self) -> Content {
        Content::Regular { first: self.first, step: self.period, count: self.rows }
    }
}

/// What an array beside `tavg` and `series` holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedArray {
    /// The observation's name.
    pub name: String,
    /// What it is, in a word.
    pub kind: &'static str,
    /// Names of the variables or observations that it is of.
    pub sources: Vec<String>,
    /// Sampled in time, or one value a point.
    pub sampling: Option<Sampling>,
    /// Names and extents of the dimensions after point and time.
    pub dimensions: Vec<(String, u64)>,
}

/// What a run will leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Names of recorded variables.
    pub variables: Vec<String>,
    /// Units of recorded variables.
    pub units: Vec<Option<String>>,
    /// The points, by number, that the arrays hold, in order.
    pub points: Vec<u64>,
    /// Whether `points` is the whole sweep.
    pub whole_sweep: bool,
    /// The time course, if kept.
    pub series: Option<Sampling>,
    /// Further observations.
    pub observed: Vec<ObservedArray>,
    /// Arrays that are known beforehand: coordinates, labels, measured data.
    pub fixed: Vec<ArraySpec>,
    /// Which of `observed` are scores, by place, and which of their values are better.
    pub scores: Vec<(usize, Better)>,
}

/// Places of the streamed arrays in the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// `tavg` [point, variable, node].
    pub tavg: usize,
    /// `nonfinite_step` [point].
    pub nonfinite_step: usize,
    /// `series` [point, time, variable, node].
    pub series: Option<usize>,
    /// The observations, in order.
    pub observed: Vec<usize>,
    /// Mean and standard deviation over trials `[cell, …]`, of `tavg` and of each observation that is
    /// one result a point; empty without trials.
    pub trials: Vec<Option<[usize; 2]>>,
}

/// Facts of the run that the manifest records.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The device's name.
    pub device: String,
    /// Findings that didn't stop the run.
    pub warnings: Vec<String>,
}

/// The arrays of a result, and where the streamed ones stand.
pub fn layout(
    experiment: &Experiment,
    recording: &Recording,
    provenance: &Provenance,
) -> (Vec<ArraySpec>, Places) {
    let float = match experiment.precision {
        Precision::F32 => ElementType::F32,
        Precision::F64 => ElementType::F64,
    };
    let point = ("point".to_owned(), recording.points.len() as u64);
    let variable = ("variable".to_owned(), recording.variables.len() as u64);
    let labels = &experiment.network.connectome.labels;
    let node = ("node".to_owned(), labels.len() as u64);
    let mut arrays = Vec::new();
    let mut add = |name: &str, dimensions: Vec<(String, u64)>, content: Content| {
        arrays.push(ArraySpec { name: name.to_owned(), dimensions, content });
        arrays.len() - 1
    };

    let tavg =
        add("tavg", vec![point.clone(), variable.clone(), node.clone()], Content::Streamed(float));
    let nonfinite_step =
        add("nonfinite_step", vec![point.clone()], Content::Streamed(ElementType::I64));
    let series = recording.series.as_ref().map(|sampling| {
        let time = ("time".to_owned(), sampling.rows);
        add("time", vec![time.clone()], sampling.times());
        add(
            "series",
            vec![point.clone(), time, variable.clone(), node.clone()],
            Content::Streamed(float),
        )
    });
    let mut observed = Vec::new();
    for array in &recording.observed {
        let mut dimensions = vec![point.clone()];
        if let Some(sampling) = &array.sampling {
            let time = (format!("{}_time", array.name), sampling.rows);
            add(&time.0, vec![time.clone()], sampling.times());
            dimensions.push(time);
        }
        dimensions.extend(array.dimensions.iter().cloned());
        observed.push(add(&array.name, dimensions, Content::Streamed(float)));
    }
    let trials = experiment.sweep.trials;
    let mut trial_places = Vec::new();
    if trials > 1 && recording.whole_sweep {
        let cell = ("cell".to_owned(), recording.points.len() as u64 / trials);
        let mut pair = |name: &str, rest: &[(String, u64)]| {
            let dimensions = || [std::slice::from_ref(&cell), rest].concat();
            ["mean", "std"].map(|of| {
                add(&format!("{name}_trial_{of}"), dimensions(), Content::Streamed(float))
            })
        };
        trial_places.push(Some(pair("tavg", &[variable.clone(), node.clone()])));
        for array in &recording.observed {
            let single = array.sampling.is_none();
            trial_places.push(single.then(|| pair(&array.name, &array.dimensions)));
        }
        let numbers = Content::Integers((0..trials as i64).collect());
        add("trial", vec![("trial".to_owned(), trials)], numbers);
    }
    add("variable", vec![variable], Content::Strings(recording.variables.clone()));
    add("node", vec![node], Content::Strings(labels.clone()));
    for name in ["node_a", "node_b"] {
        let named = |dimensions: &[(String, u64)]| dimensions.iter().any(|(d, _)| d == name);
        let used = recording.observed.iter().any(|o| named(&o.dimensions))
            || recording.fixed.iter().any(|f| named(&f.dimensions));
        if used {
            let dimension = (name.to_owned(), labels.len() as u64);
            add(name, vec![dimension], Content::Strings(labels.clone()));
        }
    }
    for ArraySpec { name, dimensions, content } in &recording.fixed {
        add(name, dimensions.clone(), content.clone());
    }
    if !recording.whole_sweep {
        let numbers = recording.points.iter().map(|&p| p as i64).collect();
        add("point", vec![point], Content::Integers(numbers));
    }
    let names = axis_array_names(experiment, recording);
    for (axis, name) in experiment.sweep.axes.iter().zip(&names) {
        let dimension = (name.clone(), axis.values.len() as u64);
        add(name, vec![dimension], Content::Reals(axis.values.clone()));
    }
    let mut meta = manifest(experiment, recording, provenance, &names);
    meta["dimensions"] = dimension_names(&arrays);
    let content = Content::Strings(vec![meta.to_string()]);
    arrays.push(ArraySpec { name: "meta".to_owned(), dimensions: vec![], content });
    (arrays, Places { tavg, nonfinite_step, series, observed, trials: trial_places })
}

/// Names that are this program's own.
const OWN_NAMES: &[&str] = &[
    "tavg",
    "series",
    "time",
    "variable",
    "node",
    "node_a",
    "node_b",
    "point",
    "meta",
    "nonfinite_step",
    "cell",
    "trial",
];

/// The name of an observation's array: as written, unless it is one of this program's own.
pub fn observation_array_name(name: &str) -> String {
    if OWN_NAMES.contains(&name) { format!("observed_{name}") } else { name.to_owned() }
}

/// Names of the arrays of the axes: as written, but for those that another array has already.
fn axis_array_names(experiment: &Experiment, recording: &Recording) -> Vec<String> {
    let taken = |name: &str| {
        OWN_NAMES.contains(&name)
            || recording.observed.iter().any(|o| o.name == name)
            || recording.fixed.iter().any(|f| f.name == name)
    };
    let rename = |name: &String| if taken(name) { format!("axis_{name}") } else { name.clone() };
    experiment.sweep.axes.iter().map(|a| rename(&a.name)).collect()
}

/// The names of every array's dimensions, which the `.npy` format has no place for.
fn dimension_names(arrays: &[ArraySpec]) -> Value {
    let names =
        |a: &ArraySpec| -> Value { a.dimensions.iter().map(|(name, _)| name.clone()).collect() };
    arrays.iter().map(|a| (a.name.clone(), names(a))).collect()
}

fn manifest(
    experiment: &Experiment,
    recording: &Recording,
    provenance: &Provenance,
    axis_arrays: &[String],
) -> Value {
    let integration = &experiment.integration;
    let mut axes: Vec<Value> = (experiment.sweep.axes.iter().zip(axis_arrays))
        .map(|(a, array)| {
            json!({ "name": a.name, "array": array, "values": a.values, "unit": a.unit })
        })
        .collect();
    if experiment.sweep.trials > 1 {
        let values: Vec<u64> = (0..experiment.sweep.trials).collect();
        axes.push(json!({ "name": "trial", "array": "trial", "values": values, "unit": null }));
    }
    let variables: Vec<Value> = (recording.variables.iter().zip(&recording.units))
        .map(|(name, unit)| json!({ "name": name, "unit": unit }))
        .collect();
    let observations: Vec<Value> = (recording.observed.iter())
        .map(|o| {
            let period = o.sampling.as_ref().map(|s| s.period);
            json!({ "array": o.name, "kind": o.kind, "source": o.sources, "period": period })
        })
        .collect();
    let scores: Vec<Value> = (recording.scores.iter())
        .map(|(at, better)| {
            json!({ "array": recording.observed[*at].name, "better": better.as_str() })
        })
        .collect();
    let skipped: Vec<Value> = (experiment.skipped.iter())
        .map(|(name, reason)| json!({ "name": name, "reason": reason }))
        .collect();
    let (path, text) = &experiment.source;
    json!({
        "program": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "device": provenance.device,
        "label": experiment.label,
        "model": experiment.dynamics.name,
        "sweep": {
            "axes": axes,
            "shape": experiment.sweep.shape(),
            "mode": mode_name(experiment.sweep.mode),
        },
        "variables": variables,
        "observations": observations,
        "scores": scores,
        "nodes": experiment.network.connectome.nodes(),
        "seed": experiment.seed,
        "normal": experiment.normals.name(),
        "compat": experiment.compat.map(|c| json!({ "name": c.name(), "means": c.about() })),
        "precision": precision_name(experiment.precision),
        "method": format!("{:?}", integration.method),
        "dt": integration.dt,
        "steps": integration.steps(),
        "transient_steps": integration.transient_steps(),
        "ms_per_time_unit": integration.ms_per_unit,
        "conduction_speed_mm_per_ms": experiment.network.conduction_speed_mm_per_ms,
        "skipped": skipped,
        "changes": changes(&experiment.changes),
        "warnings": provenance.warnings,
        "experiment": {
            "file": path,
            "sha256": sha256(text),
            "text": text,
        },
    })
}

/// What was changed in the experiment's text from outside, by the names of the command line.
fn changes(overrides: &Overrides) -> Value {
    let mut changes = serde_json::Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            changes.insert(name.to_owned(), value);
        }
    };
    let pairs = |list: Vec<(String, Value)>| (!list.is_empty()).then(|| list.into_iter().collect());
    put("n_steps", overrides.steps.map(Value::from));
    put("dt", overrides.dt.map(Value::from));
    put("duration", overrides.duration.map(Value::from));
    put("transient_time", overrides.transient.map(Value::from));
    put("speed", overrides.conduction_speed.map(Value::from));
    put("coupling", overrides.global_coupling.map(Value::from));
    put("set", pairs(overrides.set.iter().map(|(n, v)| (n.clone(), json!(v))).collect()));
    let axes = overrides.axes.iter().map(|axis| (axis.name.clone(), json!(axis.values)));
    put("sweep", pairs(axes.collect()));
    put("sweep_replaced", overrides.replace_sweep.then_some(Value::Bool(true)));
    put("mode", overrides.mode.map(|mode| mode_name(mode).into()));
    put("method", overrides.method.map(|method| format!("{method:?}").into()));
    put("seed", overrides.seed.map(Value::from));
    put("precision", overrides.precision.map(|precision| precision_name(precision).into()));
    Value::Object(changes)
}

fn mode_name(mode: SweepMode) -> &'static str {
    match mode {
        SweepMode::Product => "product",
        SweepMode::Zip => "zip",
    }
}

fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Two lines of Python that open a result.
pub fn python_lines(path: &std::path::Path) -> [String; 2] {
    // A Rust debug string is a valid Python string for any path that is valid text.
    let shown = format!("{:?}", path.display().to_string());
    if path.extension().is_some_and(|e| e == "zarr") {
        ["import xarray".into(), format!("result = xarray.open_zarr({shown}); print(result)")]
    } else {
        [
            "import numpy".into(),
            format!("result = numpy.load({shown}); print(result[\"tavg\"].shape, result.files)"),
        ]
    }
}
