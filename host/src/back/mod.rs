//! Engines: what a run needs ([`Job`]) and the back ends that can run it.

pub mod cpu;
pub mod cuda_c;
pub mod gpu;
mod job;
pub mod ptx;
mod results;

pub use job::{
    AfferentMatrix, Initial, Job, JobError, ParameterTable, ParameterValues, Record, Recorded,
    Signal, Speed, SweptParameter,
};
pub use results::{PointResult, Progress, RowBlock, Samples, Silent, Sink, SinkError, Status};
