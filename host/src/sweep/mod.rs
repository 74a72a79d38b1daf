//! Running a sweep: points are packed into tiles, tiles go to threads, results go to a [`Sink`].

mod plan;
mod run;

pub use crate::back::{PointResult, Progress, RowBlock, Samples, Silent, Sink, SinkError, Status};
pub use plan::{Plan, PointPlan, TilePlan, plan};
pub use run::{RunError, Summary, run, run_plan};
