//! The library in few words: load an experiment, run it, compile it, export it.
//!
//! What is here is re-exported at the root of the crate. It adds nothing to what an experiment means:
//! [`RunOptions`] become changes to the experiment ([`Overrides`](crate::experiment::Overrides)) and
//! [`simulation::Options`](crate::simulation::Options), and [`Simulation`](crate::simulation::Simulation)
//! does the work, on every device alike.
//!
//! ```
//! use host::{Backend, RunOptions, SimulationExperiment};
//!
//! let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
//! let result = experiment.run(Backend::Cpu)?;
//! assert_eq!(result.series().unwrap().shape()[3], 3); // nodes
//!
//! // Four values of a parameter, one a work item, for a hundred steps.
//! let options = RunOptions::new().n_steps(100).swept_param("I", [0.1, 0.2, 0.3, 0.4]);
//! let sweep = experiment.run_with(&options.backend(Backend::Cpu))?;
//! assert_eq!(sweep.tavg().shape(), [4, 2, 3]); // work item, variable, node
//! # Ok::<(), host::Error>(())
//! ```

mod cuda;
mod error;
mod experiment;
mod options;
mod prepare;

pub use cuda::{
    CompiledKernel, CudaResult, KernelSource, compile_cuda, compile_cuda_with, run_cuda, save_cuda,
    verify_cuda,
};
pub use error::Error;
pub use experiment::SimulationExperiment;
pub use options::{Backend, CancelToken, RunOptions, RunProgress};

#[cfg(test)]
mod tests;
