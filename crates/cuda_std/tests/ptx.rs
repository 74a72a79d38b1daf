//! Builds the test kernels to PTX, fills their slots, and assembles them for every generation.
//!
//! Where there is no tool chain or no `ptxas` the trials are ignored with the reason;
//! `REQUIRE_PTX=1` makes them fail. `ptxas` is looked for in the variable `PTXAS`, in `PATH`, in
//! `/usr/local/cuda/bin`, and in the Python environment `VIRTUAL_ENV` (package `nvidia-cuda-nvcc`).

#[path = "../../../tests/nvidia_tool.rs"]
mod nvidia_tool;

use cuda_builder::{Arch, CudaBuilder};
use cuda_std::slot::{self, Call, Register, Type};
use libtest_mimic::{Arguments, Failed, Trial};
use std::convert::Infallible;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const GENERATIONS: [Arch; 7] = [
    Arch::Compute75,
    Arch::Compute80,
    Arch::Compute86,
    Arch::Compute89,
    Arch::Compute90,
    Arch::Compute100,
    Arch::Compute120,
];

/// The kernels of the test crate; PTX must have an entry for each.
const KERNELS: usize = 20;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The trials write many files, and each assembler keeps a core busy.
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    for arch in [Arch::Compute75, Arch::Compute80] {
        match build(arch) {
            Ok(ptx) => trials.extend(trials_for(arch, ptx)),
            Err(reason) => trials.push(absent(format!("{arch}_is_built"), reason)),
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A trial that could not run here.
#[expect(clippy::print_stderr, reason = "the test runner does not print why a trial is ignored")]
fn absent(name: String, reason: String) -> Trial {
    let required = env::var_os("REQUIRE_PTX").is_some_and(|value| value == "1");
    if !required {
        eprintln!("{name} is ignored: {reason}");
    }
    Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("ptx")
}

fn build(arch: Arch) -> Result<String, String> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let ptx = CudaBuilder::new(kernels)
        .arch(arch)
        .target_dir(folder().join(arch.target_cpu()))
        .emit_cargo_lines(false)
        .build();
    match ptx {
        Ok(path) => fs::read_to_string(path).map_err(|error| error.to_string()),
        Err(error) if error.is_absence() => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

fn trials_for(arch: Arch, ptx: String) -> Vec<Trial> {
    let filled = slot::fill(&ptx, |call| Ok::<_, Infallible>(body(call))).map(|filled| {
        let path = folder().join(format!("filled.{arch}.ptx"));
        fs::write(&path, filled).map(|()| path)
    });
    let (calls, kernels) = (calls(&ptx), ptx.matches(".visible .entry").count());
    let mut trials = vec![
        Trial::test(format!("{arch}_has_all_kernels"), move || equal(kernels, KERNELS)),
        Trial::test(format!("{arch}_has_all_slots"), move || {
            let mut names: Vec<&str> = calls.iter().map(String::as_str).collect();
            names.sort_unstable();
            names.dedup();
            let all = ["drift_f32_1_1", "drift_f32_2_1", "drift_f64_2_1", "drift_f64_6_2"];
            equal(names, [all.as_slice(), &["mixed", "wide_drift"]].concat())
        }),
    ];
    trials.push(Trial::test(format!("{arch}_names_every_rounding"), move || {
        equal(free_to_fuse(&ptx), Vec::<String>::new())
    }));
    let path = match filled {
        Ok(Ok(path)) => path,
        error => {
            let message = format!("{error:?}");
            trials.push(Trial::test(format!("{arch}_is_filled"), || Err(message.into())));
            return trials;
        }
    };
    let Some(ptxas) = nvidia_tool::find("PTXAS", "ptxas") else {
        trials.push(absent(format!("{arch}_is_assembled"), "there is no ptxas".to_owned()));
        return trials;
    };
    trials.extend(GENERATIONS.into_iter().filter(|generation| *generation >= arch).map(|target| {
        let (ptxas, path) = (ptxas.clone(), path.clone());
        Trial::test(format!("{arch}_is_assembled_for_{target}"), move || {
            assemble(&ptxas, &path, target)
        })
    }));
    trials
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("found {found:?}, expected {expected:?}").into())
}

fn calls(ptx: &str) -> Vec<String> {
    let mut names = Vec::new();
    let filled = slot::fill(ptx, |call| {
        names.push(call.name.to_owned());
        Ok::<_, Infallible>(String::new())
    });
    filled.map_or_else(|error| panic!("{error}"), |_| names)
}

/// The float instructions an assembler may fuse, approximate or flush: those of which two devices
/// may make two results.
fn free_to_fuse(ptx: &str) -> Vec<String> {
    ptx.lines()
        .filter(|line| {
            let instruction = line.split_whitespace().next().unwrap_or_default();
            let mut parts = instruction.split('.');
            let operation = parts.next().unwrap_or_default();
            let is_float = instruction.ends_with(".f32") || instruction.ends_with(".f64");
            let rounds = ["add", "sub", "mul", "fma", "div", "sqrt", "rcp"].contains(&operation);
            is_float && rounds && parts.next() != Some("rn")
                || instruction.contains(".ftz")
                || instruction.contains(".approx")
        })
        .map(str::to_owned)
        .collect()
}

/// Instructions that use every input and write every output, with registers and a label whose
/// names are the same in every call.
fn body(call: &Call<'_>) -> String {
    let mut text = "\t.reg .f32 %t; .reg .f64 %d; .reg .pred %p; .reg .u32 %u;\n\
                    \tmov.f32 %t, 0f3F000000; mov.f64 %d, 0d3FE0000000000000;\n\
                    \tmov.u32 %u, 1; setp.eq.u32 %p, %u, 2;\n"
        .to_owned();
    for Register { name, ty } in &call.inputs {
        text += &match ty {
            Type::F32 => format!("\tfma.rn.f32 %t, %t, %t, {name};\n"),
            Type::F64 => format!("\tfma.rn.f64 %d, %d, %d, {name};\n"),
            Type::U32 => format!("\tadd.u32 %u, %u, {name};\n"),
            Type::S32 => format!("\tmin.s32 %u, %u, {name};\n"),
            Type::U64 => format!("\tld.f32 %t, [{name}];\n"),
        };
    }
    text += "\t@%p bra done;\n\tneg.f32 %t, %t;\n\tdone:\n";
    for (at, Register { name, ty }) in call.outputs.iter().enumerate() {
        let _ = match ty {
            Type::F32 => writeln!(text, "\tmul.rn.f32 {name}, %t, 0f3F80000{at:X};"),
            Type::F64 => writeln!(text, "\tadd.rn.f64 {name}, %d, 0d3FF000000000000{at:X};"),
            Type::U32 | Type::S32 => writeln!(text, "\tadd.u32 {name}, %u, {at};"),
            Type::U64 => writeln!(text, "\tmov.u64 {name}, {at};"),
        };
    }
    text
}

/// Assembles and asks that nothing went to local memory.
fn assemble(ptxas: &Path, ptx: &Path, target: Arch) -> Result<(), Failed> {
    let output = Command::new(ptxas)
        .args(["-v", "-arch", target.target_cpu(), "-o"])
        .arg(ptx.with_extension(format!("{target}.cubin")))
        .arg(ptx)
        .output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(messages.into_owned().into());
    }
    let frames: Vec<&str> =
        messages.lines().filter(|line| line.contains("bytes stack frame")).collect();
    equal(frames.len(), KERNELS)?;
    let clean = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
    match frames.iter().find(|line| line.trim() != clean) {
        None => Ok(()),
        Some(_) => Err(messages.into_owned().into()),
    }
}
