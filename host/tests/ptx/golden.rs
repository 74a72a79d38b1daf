//! The slots of three models as text, against files.

use cuda_std::slot::{Call, Register, Type};
use host::back::gpu::DeviceJob;
use host::back::ptx::Filler;
use host::experiment::{Precision, load};
use host::simulation::{Options, Simulation};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// File, experiment, precision.
const CASES: [(&str, &str, Precision); 3] = [
    ("kuramoto_f32", "examples/kuramoto_sweep.yaml", Precision::F32),
    ("izhikevich_f32", "examples/izhikevich_event.yaml", Precision::F32),
    ("epileptor_f64", "examples/epileptor_network.yaml", Precision::F64),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(name, path, precision)| {
        Trial::test(format!("slots_of_{name}_are_as_written"), move || {
            compare(name, path, precision)
        })
    };
    CASES.into_iter().map(trial).collect()
}

fn compare(name: &str, experiment: &str, precision: Precision) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let loaded = load(&root.join(experiment)).map_err(|error| error.render(false))?;
    let mut experiment = loaded.experiment;
    experiment.precision = precision;
    let simulation = Simulation::new(&experiment, &Options::default())?;
    let job = simulation.job();
    let device_job = DeviceJob::new(&job, true)?;
    let filler = Filler::new(&job, device_job.placements());
    let mut text = String::new();
    for call in calls(precision, device_job.kernel().states as usize) {
        let body = filler.body(&call)?;
        write!(text, "// {}\n{{\n{}\n}}\n", signature(&call), body.trim_end())?;
    }
    let path = root.join("tests/golden").join(format!("{name}.ptx"));
    if env::var_os("BLESS").is_some() {
        fs::write(path, text)?;
        return Ok(());
    }
    let expected = fs::read_to_string(&path)?;
    if let Some((at, (found, expected))) =
        text.lines().zip(expected.lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        let line = at + 1;
        return Err(format!("{}:{line}: `{found}`, not `{expected}`", path.display()).into());
    }
    if text.len() != expected.len() {
        return Err(format!("{} has another length", path.display()).into());
    }
    Ok(())
}

/// Every slot of a kernel over registers, with names of our own for its operands.
fn calls(precision: Precision, states: usize) -> Vec<Call<'static>> {
    let float = match precision {
        Precision::F32 => Type::F32,
        Precision::F64 => Type::F64,
    };
    const STATES: [&str; 8] = ["%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7"];
    const NEXT: [&str; 8] = ["%y0", "%y1", "%y2", "%y3", "%y4", "%y5", "%y6", "%y7"];
    let named = |names: &[&'static str], ty| -> Vec<Register<'static>> {
        names.iter().map(|&name| Register { name, ty }).collect()
    };
    let x = named(&STATES[..states], float);
    let y = named(&NEXT[..states], float);
    let addresses = |names: &[&'static str]| named(names, Type::U64);
    let node = [named(&["%time"], float), addresses(&["%point", "%node"])].concat();
    let reads = addresses(&["%coupling", "%signals"]);
    let call = |name, outputs: &[Register<'static>], inputs: &[&[Register<'static>]]| Call {
        name,
        outputs: outputs.to_vec(),
        inputs: inputs.concat(),
        line: 0,
    };
    vec![
        call("features", &named(&["%features"], Type::U32), &[]),
        call("diffusion", &[], &[&addresses(&["%point", "%node", "%sigma"])]),
        call("emit", &[], &[&x, &node, &addresses(&["%channels", "%stride"])]),
        call("post", &[], &[&x, &node, &addresses(&["%gathered", "%coupling"])]),
        call("observe", &[], &[&x, &node, &reads, &addresses(&["%recorded"])]),
        call("drift", &y, &[&x, &node, &reads]),
        call("disturb", &y, &[&x, &addresses(&["%noise"])]),
        call("bound", &y, &[&x]),
        call("event", &y, &[&x, &node, &reads]),
        call("record", &[], &[&x, &addresses(&["%recorded"])]),
    ]
}

fn signature(call: &Call<'_>) -> String {
    let list = |registers: &[Register<'_>]| {
        registers.iter().map(|register| register.name).collect::<Vec<_>>().join(", ")
    };
    format!("{} ({}), ({})", call.name, list(&call.outputs), list(&call.inputs))
}
