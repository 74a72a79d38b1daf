//! Whole-brain network experiments, from a TVBO YAML file to arrays.
//!
//! What most programs need is at the root: [`SimulationExperiment`] loads and runs, [`RunOptions`] says
//! how, [`run_cuda`], [`compile_cuda`] and [`save_cuda`] are for GPUs; see [`api`]. The modules below are
//! the stages that an experiment passes through.

pub mod analysis;
pub mod api;
pub mod back;
pub mod cli;
pub mod compute;
pub mod connectome;
pub mod diagnostic;
pub mod experiment;
pub mod expr;
pub mod figure;
pub mod files;
pub mod ir;
pub mod library;
pub mod lower;
pub mod monitor;
pub mod opt;
pub mod output;
pub mod report;
pub mod simulation;
pub mod sweep;
pub mod yaml;

pub use api::{
    Backend, CancelToken, CompiledKernel, CudaResult, Error, KernelSource, RunOptions, RunProgress,
    SimulationExperiment, compile_cuda, compile_cuda_with, run_cuda, save_cuda, verify_cuda,
};
