//! The exported CUDA C against an engine, on a device.

use super::{Device, Options, Record, RunResult, Simulation, SimulationError};
use crate::back::cuda_c::{self, LaunchError, Means, SourceError};
use crate::compute::{
    ComputeContext, ComputeError, CudaComputeContext, Driver, KernelSpec, Schedule,
};
use crate::diagnostic::Diagnostics;
use crate::experiment::{Experiment, Precision};

/// Steps of a verification, at most: recorded, and before them.
const STEPS: (u64, u64) = (1000, 100);
/// Points of a verification, at most.
const POINTS: u64 = 4;

/// How far the means of one recorded variable differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The variable.
    pub variable: String,
    /// The largest difference over points and nodes.
    pub absolute: f64,
    /// The same, divided by the variable's largest magnitude over points and nodes. Infinite where a
    /// value is finite in one of the two only.
    pub relative: f64,
}

/// How the exported CUDA C of an experiment compares with an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The device that ran the source.
    pub device: String,
    /// Recorded steps, and those before.
    pub steps: (u64, u64),
    /// Points.
    pub points: usize,
    /// One a recorded variable.
    pub differences: Vec<Difference>,
    /// The largest relative difference that is taken for rounding.
    pub tolerance: f64,
    /// Whether the same points left the finite numbers.
    pub same_nonfinite: bool,
}

/// Why an export was not verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The experiment's equations or its sweep are wrong.
    #[error(transparent)]
    Experiment(#[from] Diagnostics),
    /// It has no form in CUDA C.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No device, no NVRTC, or one of them refused.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// The source was not run.
    #[error("the exported source was not run")]
    Launch(#[source] LaunchError),
    /// The engine stopped.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl From<LaunchError> for VerifyError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Compute(error) => Self::Compute(error),
            other => Self::Launch(other),
        }
    }
}

impl Verification {
    /// Whether all differences are rounding.
    pub fn agrees(&self) -> bool {
        // Not `>`: a NaN doesn't agree.
        self.same_nonfinite && self.differences.iter().all(|d| d.relative <= self.tolerance)
    }

    /// Compiles the source of `simulation` with NVRTC, runs it on a context whose slab holds its arrays
    /// ([`slab_bytes`](cuda_c::slab_bytes)), and compares it with what an engine found for the same
    /// simulation.
    ///
    /// # Errors
    /// A source that can't be written or compiled; what the device refuses.
    pub fn of<D: Driver>(
        context: &mut ComputeContext<D>,
        simulation: &Simulation<'_>,
        expected: &RunResult,
    ) -> Result<Self, VerifyError> {
        let job = simulation.job();
        let source = cuda_c::source(simulation.experiment(), &job)?;
        let spec = KernelSpec::cuda_c(cuda_c::ENTRY, source);
        let function = context.load_function(&spec, &Schedule::default())?;
        let found = cuda_c::run(context, &function, &job)?;
        let noisy = !job.program.noisy.is_empty();
        let tolerance = match job.precision {
            Precision::F32 => 1e-5,
            // The normals have 32 bits, of which the last may differ.
            Precision::F64 if noisy => 1e-6,
            Precision::F64 => 1e-10,
        };
        Ok(Self {
            device: context.adapter().device.clone(),
            steps: (job.steps, job.transient_steps),
            points: job.points.len(),
            differences: differences(expected, &found),
            tolerance,
            same_nonfinite: (0..job.points.len()).all(|at| {
                expected.nonfinite_step(at).is_some() == found.nonfinite_step[at].is_some()
            }),
        })
    }
}

/// Per variable, over points and nodes.
fn differences(expected: &RunResult, found: &Means) -> Vec<Difference> {
    let (variables, nodes) = (expected.variables.len(), expected.nodes.len());
    let pairs = expected.tavg().values.iter().zip(&found.tavg).enumerate();
    let mut worst = vec![(0.0_f64, 0.0_f64); variables];
    for (at, (&a, &b)) in pairs {
        let (difference, scale) = &mut worst[at / nodes % variables];
        if a.is_finite() && b.is_finite() {
            *difference = difference.max((a - b).abs());
            *scale = scale.max(a.abs());
        } else if !(a.is_nan() && b.is_nan()) {
            *difference = f64::INFINITY;
        }
    }
    let names = expected.variables.iter().zip(worst);
    names
        .map(|(variable, (absolute, scale))| Difference {
            variable: variable.clone(),
            absolute,
            relative: if absolute == 0.0 { 0.0 } else { absolute / scale },
        })
        .collect()
}

/// Runs a short piece of an experiment, at most 1000 steps of its first four points, on a CUDA device
/// twice: with the program's own kernel, and as the exported CUDA C, compiled by NVRTC.
///
/// # Errors
/// [`VerifyError::Compute`] without a device or NVRTC; an experiment that can't be run or exported.
pub fn verify_cuda(experiment: &Experiment, ordinal: u32) -> Result<Verification, VerifyError> {
    let experiment = shortened(experiment);
    let device = Device::cuda([ordinal]);
    let simulation = Simulation::new(&experiment, &options(&experiment, device))?;
    let job = simulation.job();
    let arguments = cuda_c::Arguments::new(&job).map_err(SourceError::from)?;
    let bytes = cuda_c::slab_bytes(&job, &arguments);
    let mut context = CudaComputeContext::on_device(ordinal, bytes)?;
    let expected = simulation.run()?;
    Verification::of(&mut context, &simulation, &expected)
}

/// The experiment that is verified: fewer steps, means only.
fn shortened(experiment: &Experiment) -> Experiment {
    let mut experiment = experiment.clone();
    let time = &mut experiment.integration;
    let (steps, transient) = (time.steps().min(STEPS.0), time.transient_steps().min(STEPS.1));
    time.duration = steps as f64 * time.dt;
    time.transient = transient as f64 * time.dt;
    experiment.observations.clear();
    experiment
}

fn options(experiment: &Experiment, device: Device) -> Options {
    let points = experiment.sweep.points().unwrap_or(POINTS).min(POINTS);
    let all = std::iter::once(0..points).collect();
    Options { record: Some(Record::None), points: all, threads: None, device }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::load;

    fn example() -> Experiment {
        load("embedded:examples/three_nodes.yaml".as_ref()).unwrap().experiment
    }

    #[test]
    fn a_verification_is_short() {
        let mut experiment = example();
        experiment.integration.duration = 1e6;
        experiment.integration.transient = 1e5;
        let short = shortened(&experiment);
        assert_eq!((short.integration.steps(), short.integration.transient_steps()), (1000, 100));
        experiment.integration.duration = 7.0 * experiment.integration.dt;
        assert_eq!(shortened(&experiment).integration.steps(), 7);
    }

    #[test]
    fn differences_are_of_the_variable_where_they_are() {
        let experiment = shortened(&example());
        let simulation = Simulation::new(&experiment, &options(&experiment, Device::Cpu)).unwrap();
        let expected = simulation.run().unwrap();
        let tavg = expected.tavg().values.clone();
        let nodes = expected.nodes.len();
        let mut found = Means { tavg, nonfinite_step: vec![None] };
        assert!(differences(&expected, &found).iter().all(|d| d.absolute == 0.0));
        found.tavg[nodes + 1] += 0.25;
        let [first, second] = &differences(&expected, &found)[..] else { panic!("two variables") };
        assert_eq!((first.absolute, first.relative), (0.0, 0.0));
        let scale = expected.tavg().values[nodes..].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!((second.absolute - 0.25).abs() < 1e-12);
        assert!((second.relative - 0.25 / scale).abs() < 1e-9);
        found.tavg[0] = f64::NAN;
        assert_eq!(differences(&expected, &found)[0].relative, f64::INFINITY);
    }

    #[test]
    fn without_a_device_the_reason_is_given() {
        let error = match verify_cuda(&example(), 63) {
            Err(VerifyError::Compute(error)) => error,
            other => panic!("{other:?}"),
        };
        assert!(matches!(error, ComputeError::GpuUnavailable { .. }), "{error}");
    }
}
