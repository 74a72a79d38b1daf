//! Where a run takes place.

use super::SimulationError;
use crate::back::Job;
use crate::back::gpu::PlanName;
use crate::sweep::{self, Progress, Sink};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A choice of device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// CUDA devices by ordinal, which share the points.
    Cuda {
        /// The devices.
        ordinals: Vec<u32>,
        /// Most points of a batch; as many as fit if `None`. Results do not depend on it.
        batch_points: Option<usize>,
        /// Steps of a launch; chosen if `None`. Results do not depend on it.
        launch_steps: Option<u32>,
        /// Which kernels run it. Results do not depend on it.
        plan: PlanName,
    },
}

impl Device {
    /// CUDA devices by ordinal.
    pub fn cuda(ordinals: impl Into<Vec<u32>>) -> Self {
        Self::Cuda {
            ordinals: ordinals.into(),
            batch_points: None,
            launch_steps: None,
            plan: PlanName::Auto,
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda { ordinals, .. } => {
                let list: Vec<String> = ordinals.iter().map(u32::to_string).collect();
                write!(f, "cuda:{}", list.join(","))
            }
        }
    }
}

/// What an engine did.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// The device, for people.
    pub device: String,
    /// Nodes × steps × points.
    pub node_steps: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The driver's compilation of the kernel, which is part of it; none on the CPU.
    pub compilation: Option<Duration>,
}

/// Runs a job on a device.
pub(super) fn run(
    device: &Device,
    job: &Job<'_>,
    threads: usize,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    cancel: &AtomicBool,
) -> Result<RunSummary, SimulationError> {
    match device {
        Device::Cpu => {
            let summary = sweep::run(job, threads, sink, progress, cancel)?;
            Ok(RunSummary {
                device: format!("cpu, {threads} threads, {}", summary.isa),
                node_steps: summary.node_steps,
                elapsed: summary.elapsed,
                compilation: None,
            })
        }
        #[cfg(feature = "cuda")]
        Device::Cuda { ordinals, batch_points, launch_steps, plan } => {
            let options = crate::back::gpu::GpuOptions {
                devices: ordinals.clone(),
                batch_points: *batch_points,
                launch_steps: *launch_steps,
                plan: *plan,
            };
            let summary = crate::back::gpu::run(job, &options, sink, progress, cancel)?;
            Ok(RunSummary {
                device: format!("{}, plan {}", summary.devices.join(", "), summary.plan),
                node_steps: summary.node_steps,
                elapsed: summary.elapsed,
                compilation: Some(summary.compilation),
            })
        }
        #[cfg(not(feature = "cuda"))]
        Device::Cuda { .. } => Err(SimulationError::NoGpuSupport),
    }
}
