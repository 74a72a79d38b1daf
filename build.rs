//! Builds the GPU kernels of `kernels-gpu` to PTX, for package `host`.
//!
//! Two texts are built, because asynchronous copies into shared memory came with Ampere:
//! `KERNELS_GPU_PTX_SM75` and `KERNELS_GPU_PTX_SM80` name their files. Both are always set, so that
//! `include_str!(env!("KERNELS_GPU_PTX_SM80"))` always compiles. Where no kernels can be built the
//! files are empty and `KERNELS_GPU_ABSENT` says why; it is the empty string otherwise.

use cuda_builder::{Arch, CudaBuilder, CudaBuilderError};
use std::error::Error;
use std::path::Path;

/// Relative to `host`, the package this script belongs to.
const KERNELS: &str = "../kernels-gpu";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../build.rs");
    let out_dir = std::env::var("OUT_DIR")?;
    let mut absent = None;
    for (variable, arch) in
        [("KERNELS_GPU_PTX_SM75", Arch::Compute75), ("KERNELS_GPU_PTX_SM80", Arch::Compute80)]
    {
        let ptx = Path::new(&out_dir).join(format!("kernels_gpu.{arch}.ptx"));
        println!("cargo::rustc-env={variable}={}", ptx.display());
        match CudaBuilder::new(KERNELS).arch(arch).copy_to(&ptx).build() {
            Ok(_) => {}
            Err(error) if error.is_absence() => {
                std::fs::write(&ptx, "")?;
                absent = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(reason @ CudaBuilderError::NoToolchain { .. }) = &absent {
        println!("cargo::warning=building without GPU kernels: {reason}");
    }
    let reason = absent.map_or_else(String::new, |reason| reason.to_string());
    println!("cargo::rustc-env=KERNELS_GPU_ABSENT={}", reason.replace('\n', " "));
    Ok(())
}
