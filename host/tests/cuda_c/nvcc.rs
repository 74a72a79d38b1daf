//! NVIDIA's compiler.

use crate::{absent, experiment, experiments, normals, nvidia_tool, root, write_source};
use host::experiment::{Normals, Overrides, Precision};
use libtest_mimic::{Failed, Trial};
use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

pub(crate) fn trials() -> Vec<Trial> {
    let Some(nvcc) = nvidia_tool::find("NVCC", "nvcc").map(Arc::new) else {
        return vec![absent("nvcc_compiles", "REQUIRE_NVCC", "there is no nvcc".to_owned())];
    };
    if !has_curand(&nvcc) {
        let reason = format!("{} has no curand_kernel.h beside it", nvcc.display());
        return vec![absent("nvcc_compiles", "REQUIRE_NVCC", reason)];
    }
    let mut trials = Vec::new();
    for (name, path) in experiments() {
        let nvcc = Arc::clone(&nvcc);
        let own = name.clone();
        trials.push(Trial::test(format!("nvcc/{name}"), move || {
            compile(&nvcc, &own, &path, Precision::F32, Normals::Portable)?;
            let noisy = experiment(&path, &Overrides::default())?;
            if noisy.dynamics.state_variables.iter().any(|s| s.noise.is_some()) {
                let own = format!("{own}_curand");
                compile(&nvcc, &own, &path, Precision::F32, Normals::Curand)?;
            }
            Ok(())
        }));
    }
    trials.extend(normals::nvcc_trials(&nvcc));
    let path = root().join("examples/kuramoto_sweep.yaml");
    trials.push(Trial::test("nvcc/kuramoto_f64", move || {
        compile(&nvcc, "kuramoto_f64", &path, Precision::F64, Normals::Portable)?;
        compile(&nvcc, "kuramoto_f64_curand", &path, Precision::F64, Normals::Curand)
    }));
    trials
}

/// For the oldest generation and Hopper, without a warning.
fn compile(
    nvcc: &Path,
    name: &str,
    path: &Path,
    precision: Precision,
    normals: Normals,
) -> Result<(), Failed> {
    let overrides =
        Overrides { precision: Some(precision), normals: Some(normals), ..Overrides::default() };
    let source = write_source(&format!("nvcc_{name}"), &experiment(path, &overrides)?)?;
    let output = Command::new(nvcc)
        .args(["-fmad=false", "-Werror", "all-warnings", "-fatbin"])
        .args(["-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_90,code=sm_90"])
        .arg("-o")
        .arg(source.with_extension("fatbin"))
        .arg(&source)
        .output()?;
    let messages = [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat();
    if !output.status.success() || !messages.trim().is_empty() {
        return Err(format!("{}: {messages}", source.display()).into());
    }
    Ok(())
}

/// Whether the header of cuRAND, which is a package of its own, can be included.
fn has_curand(nvcc: &Path) -> bool {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("includes_curand.cu");
    let written = std::fs::write(&source, "#include <curand_kernel.h>\n");
    written.is_ok()
        && Command::new(nvcc).arg("-E").arg(&source).output().is_ok_and(|o| o.status.success())
}
