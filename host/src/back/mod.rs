//! Engines: what a run needs ([`Job`]) and the back ends that can run it.

pub mod cpu;
pub mod gpu;
mod job;
pub mod ptx;

pub use job::{
    AfferentMatrix, Initial, Job, JobError, ParameterTable, ParameterValues, Record, Recorded,
    Signal, Speed, SweptParameter,
};
