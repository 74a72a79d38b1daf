//! The GPU engine without the driver: what is put on a device, what is launched there, and what the
//! results mean. Everything here is plain data, so that an emulation can take the device's place.
//!
//! A [`DeviceJob`] is a job with its kernel. It makes [`Batch`]es of points; a batch has arrays to
//! upload and a list of [`Launch`]es; what a launch wrote goes through a [`Collector`] to the sink.

mod array;
mod batch;
#[cfg(feature = "cuda")]
mod chunks;
mod collect;
mod device_job;
#[cfg(feature = "cuda")]
mod engine;
mod group;
mod kernels;
mod layout;
mod tables;

pub use array::{ArrayId, Arrays, HostArray, Upload};
pub use batch::{Batch, Call, CallArguments, Launch, MonitorRows};
pub use collect::Collector;
pub use device_job::{DeviceJob, Kernel, ModuleError, Plan, PrepareError};
#[cfg(feature = "cuda")]
pub use engine::{GpuError, GpuOptions, GpuSummary, run};
pub use group::{DeviceLimits, GroupPlan, Ineligible, PlanName};
pub use kernels::{KernelsError, kernels, kernels_for};
pub use layout::Columns;
