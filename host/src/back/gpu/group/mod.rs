//! Jobs for the kernels that run a group of points a block: which jobs they can run, how shared memory
//! is laid out, and the tables that they read.

mod batch;
mod plan;
mod tables;

pub(super) use batch::{ADVANCE, FAR_DENSE, FAR_SPARSE, GroupBatch};
pub use plan::{DeviceLimits, GroupPlan, Ineligible, PlanName};
