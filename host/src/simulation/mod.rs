//! A run from end to end: an experiment becomes a job, an engine runs it, a store keeps the results.
//!
//! [`Simulation::new`] compiles and checks everything that can be known before a step is computed;
//! [`Simulation::job`] is what engines take; [`Simulation::run_to`] runs it into a file.

mod device;
mod export;
mod initial;
mod observe;
mod recording;
mod result;
mod sink;
mod transform;
mod trials;
mod verify;

pub use device::{Device, RunSummary};
pub use export::{ExportError, Exported, save_cuda, save_cuda_with_driver};
pub use recording::Record;
pub use result::{ResultArray, RunResult};
pub use sink::{Seen, StoreSink};
pub use verify::{Difference, Verification, VerifyError, verify_cuda};

#[cfg(feature = "cuda")]
use crate::back::gpu::GpuError;
use crate::back::{
    AfferentMatrix, Job, JobError, ParameterTable, ParameterValues, Signal, Speed, SweptParameter,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::experiment::{Axis, AxisTarget, Better, Experiment, ParameterValue, Precision};
use crate::lower::{Lowered, lower};
use crate::output::results::{Places, Provenance, Recording, layout};
use crate::output::{self, OutputError};
use crate::sweep::{self, Plan, Progress, RunError};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a caller chooses about a run that is not the experiment's own business.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What is kept of the time course; by default everything for one point, nothing for a sweep.
    pub record: Option<Record>,
    /// Only these points of the sweep, by number; all if empty.
    pub points: Vec<Range<u64>>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Where to run.
    pub device: Device,
}

/// A compiled experiment, ready to run.
#[derive(Debug)]
pub struct Simulation<'a> {
    experiment: &'a Experiment,
    lowered: Lowered,
    recording: Recording,
    kept: recording::Kept,
    initial: crate::back::Initial,
    threads: usize,
    device: Device,
    notes: Vec<Diagnostic>,
    noise_replay: Option<Arc<[f64]>>,
}

/// Why a run did not end.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The engine stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The GPU engine stopped.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The program was built without it.
    #[error("this program was built without GPU support (feature `cuda`)")]
    NoGpuSupport,
    /// The results can't be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl SimulationError {
    /// Whether somebody asked for the run to stop.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Run(RunError::Cancelled) => true,
            #[cfg(feature = "cuda")]
            Self::Gpu(GpuError::Cancelled) => true,
            _ => false,
        }
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of the engine.
    pub summary: RunSummary,
    /// Points that left the finite numbers: number in the sweep and first such step.
    pub nonfinite: Vec<(u64, u64)>,
    /// The best point of each score.
    pub best: Vec<BestPoint>,
}

/// The point at which a score is best.
#[derive(Clone, Debug, PartialEq)]
pub struct BestPoint {
    /// The score's array.
    pub score: String,
    /// Which values are better.
    pub better: Better,
    /// The number of the point in the sweep.
    pub point: u64,
    /// The score there.
    pub value: f64,
    /// Names and values of the sweep's axes there.
    pub parameters: Vec<(String, f64)>,
}

impl<'a> Simulation<'a> {
    /// Compiles an experiment.
    ///
    /// # Errors
    /// Faults in its equations; points that it doesn't have; a sweep too large to number or too long to
    /// run.
    pub fn new(experiment: &'a Experiment, options: &Options) -> Result<Self, Diagnostics> {
        let lowered = lower(experiment)?;
        let points = selected_points(experiment, &options.points)?;
        check_length(experiment, points.len())?;
        let whole_sweep = options.points.is_empty();
        let initial = initial::states(experiment, &lowered, &points)?;
        let mut notes = lowered.warnings.clone();
        let (recording, kept) = recording::choose(
            experiment,
            &lowered,
            options.record,
            (points, whole_sweep),
            &mut notes,
        )?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.threads.unwrap_or_else(cores);
        Ok(Self {
            experiment,
            lowered,
            recording,
            kept,
            initial,
            threads,
            device: options.device.clone(),
            notes,
            noise_replay: None,
        })
    }

    /// The experiment.
    pub fn experiment(&self) -> &'a Experiment {
        self.experiment
    }

    /// The compiled experiment.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// What the results will hold.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Nodes × steps × points, transient included: what [`Progress`] counts up to.
    pub fn node_steps(&self) -> u64 {
        let integration = &self.experiment.integration;
        let steps = integration.steps() + integration.transient_steps();
        let nodes = self.experiment.network.connectome.nodes() as u64;
        // That it can be counted was checked by `new`.
        steps * nodes * self.recording.points.len() as u64
    }

    /// Warnings and notes of the compilation.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Replaces the random numbers, see [`Job::noise_replay`].
    #[doc(hidden)]
    pub fn replay_noise(&mut self, normals: Arc<[f64]>) {
        self.noise_replay = Some(normals);
    }

    /// What engines take.
    pub fn job(&self) -> Job<'_> {
        let experiment = self.experiment;
        let network = &experiment.network;
        let connectome = &network.connectome;
        let matrix = |weights| {
            AfferentMatrix::from_dense(
                weights,
                &connectome.tract_lengths_mm,
                connectome.delays_ms.as_ref(),
            )
        };
        Job {
            program: &self.lowered.program,
            method: experiment.integration.method,
            precision: experiment.precision,
            dt: experiment.integration.dt,
            dt_ms: experiment.integration.dt_ms(),
            steps: experiment.integration.steps(),
            transient_steps: experiment.integration.transient_steps(),
            nodes: connectome.nodes(),
            matrices: network.matrices.iter().map(matrix).collect(),
            parameters: self.parameters(),
            speed: self.speed(),
            initial: self.initial.clone(),
            signals: vec![Signal::default(); self.lowered.program.signals.len()],
            seed: experiment.seed,
            normals: experiment.normals,
            points: self.recording.points.clone(),
            record: self.kept.record.clone(),
            noise_replay: self.noise_replay.clone(),
        }
    }

    /// How the CPU would run it.
    ///
    /// # Errors
    /// Delays that can't be had.
    pub fn plan(&self) -> Result<Plan, JobError> {
        let mut plan = sweep::plan(&self.job(), self.threads)?;
        let mut widths: Vec<u64> = plan.tiles.iter().map(|t| t.points.len() as u64).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let at_once: u64 = widths.iter().take(plan.threads).sum();
        let statistics: u64 = self.kept.derived.iter().map(observe::Derived::bytes).sum();
        let transforms: u64 = self.kept.monitors.iter().map(recording::MonitorTarget::bytes).sum();
        let statistics = statistics.saturating_add(transforms);
        plan.bytes = plan.bytes.saturating_add(at_once.saturating_mul(statistics));
        Ok(plan)
    }

    /// Bytes of the results.
    pub fn result_bytes(&self) -> u64 {
        let (arrays, _) = self.layout(&Provenance { device: String::new(), warnings: vec![] });
        output::npy::all_values_len(&arrays)
    }

    fn layout(&self, provenance: &Provenance) -> (Vec<output::ArraySpec>, Places) {
        layout(self.experiment, &self.recording, provenance)
    }

    /// Runs on the chosen device and writes the results to `path`, `.npz` or `.zarr`.
    ///
    /// # Errors
    /// If the results can't be written, or the run is cancelled; nothing is left at `path` then
    /// but what was there before.
    pub fn run_to(
        &self,
        path: &Path,
        provenance: &Provenance,
        progress: &dyn Progress,
        cancel: &AtomicBool,
    ) -> Result<Outcome, SimulationError> {
        let (arrays, places) = self.layout(provenance);
        let store = output::create(path, &arrays)?;
        self.run_into(store, places, progress, cancel)
    }

    fn run_into(
        &self,
        store: Box<dyn output::Store>,
        places: Places,
        progress: &dyn Progress,
        cancel: &AtomicBool,
    ) -> Result<Outcome, SimulationError> {
        let mut sink = StoreSink::new(store, self.shape(places));
        let summary =
            device::run(&self.device, &self.job(), self.threads, &mut sink, progress, cancel)?;
        let Seen { nonfinite, best } = sink.finish()?;
        let number = |(index, step): (usize, u64)| (self.recording.points[index], step);
        let nonfinite = nonfinite.into_iter().map(number).collect();
        Ok(Outcome { summary, nonfinite, best: self.best(&best) })
    }

    /// The best points of scores, of positions and values.
    fn best(&self, found: &[Option<(usize, f64)>]) -> Vec<BestPoint> {
        let sweep = &self.experiment.sweep;
        let scores = self.recording.scores.iter().zip(found);
        let point = |((observed, better), found): (&(usize, Better), &Option<(usize, f64)>)| {
            let (position, value) = (*found)?;
            let point = self.recording.points[position];
            let parameter =
                |(at, axis): (usize, &Axis)| (axis.name.clone(), sweep.value(at, point));
            Some(BestPoint {
                score: self.recording.observed[*observed].name.clone(),
                better: *better,
                point,
                value,
                parameters: sweep.axes.iter().enumerate().map(parameter).collect(),
            })
        };
        scores.filter_map(point).collect()
    }

    fn shape(&self, places: Places) -> sink::Shape {
        sink::Shape {
            places,
            variables: self.recording.variables.len(),
            nodes: self.experiment.network.connectome.nodes(),
            monitors: self.kept.monitors.clone(),
            means: self.kept.means.clone(),
            derived: self.kept.derived.clone(),
            scores: self.recording.scores.clone(),
            trials: if self.recording.whole_sweep { self.experiment.sweep.trials } else { 1 },
            wide: self.experiment.precision == Precision::F64,
        }
    }

    fn parameters(&self) -> ParameterTable {
        let experiment = self.experiment;
        let base = experiment.parameters.iter().flat_map(|p| match &p.value {
            ParameterValue::Uniform(value) => vec![ParameterValues::Uniform(*value)],
            ParameterValue::PerNode(values) => vec![ParameterValues::PerNode(values.clone())],
            ParameterValue::Array { values, .. } => {
                values.iter().map(|&v| ParameterValues::Uniform(v)).collect()
            }
        });
        let base = base.collect();
        let swept = swept_slots(experiment, &self.lowered)
            .map(|(axis, slot)| {
                let at = |&point: &u64| experiment.sweep.value(axis, point);
                let values = self.recording.points.iter().map(at).collect();
                SweptParameter { slot, values }
            })
            .collect();
        ParameterTable { base, swept }
    }

    fn speed(&self) -> Speed {
        let sweep = &self.experiment.sweep;
        match sweep.axes.iter().position(|a| a.target == AxisTarget::ConductionSpeed) {
            Some(axis) => {
                let at = |&point: &u64| sweep.value(axis, point);
                Speed::PerPoint(self.recording.points.iter().map(at).collect())
            }
            None => Speed::Uniform(self.experiment.network.conduction_speed_mm_per_ms),
        }
    }
}

/// Axes that set program parameters: place of the axis, slot. An array takes the value in every
/// element.
fn swept_slots<'a>(
    experiment: &'a Experiment,
    lowered: &'a Lowered,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    experiment.sweep.axes.iter().enumerate().flat_map(|(at, axis)| {
        let slots = match axis.target {
            AxisTarget::Parameter(parameter) => lowered.parameter_slots[parameter].clone(),
            AxisTarget::ConductionSpeed => 0..0,
        };
        slots.map(move |slot| (at, slot as usize))
    })
}

/// Node-steps that can be counted: those of 64 bits, which would take centuries.
///
/// # Errors
/// More of them.
fn check_length(experiment: &Experiment, points: usize) -> Result<(), Diagnostics> {
    let integration = &experiment.integration;
    let steps = u128::from(integration.steps()) + u128::from(integration.transient_steps());
    let at_once = experiment.network.connectome.nodes() as u128 * points as u128;
    if steps.saturating_mul(at_once) < u128::from(u64::MAX) {
        return Ok(());
    }
    let message = format!("{steps} steps of {at_once} nodes and points can't be run");
    let finding = Diagnostic::error(Code::TooLarge, message);
    Err(finding.help("choose a shorter `duration` or a larger `step_size`").into())
}

/// Points are numbered with 32 bits in the noise, and each takes some memory of its own.
const MOST_POINTS: u64 = 1 << 32;

fn selected_points(
    experiment: &Experiment,
    ranges: &[Range<u64>],
) -> Result<Vec<u64>, Diagnostics> {
    let refuse = |message: String, help: &str| -> Diagnostics {
        Diagnostic::error(Code::TooLarge, message).help(help).into()
    };
    let all = match experiment.sweep.points() {
        Some(n) if n <= MOST_POINTS => n,
        more => {
            let sweep = &experiment.sweep;
            let axes = sweep.axes.iter().map(|a| a.values.len().to_string());
            let trials = (sweep.trials > 1).then(|| sweep.trials.to_string());
            let product = axes.chain(trials).collect::<Vec<_>>().join(" × ");
            let count = more.map_or_else(|| "more than 2^64".to_owned(), |n| n.to_string());
            return Err(refuse(
                format!("the sweep has {product} = {count} points, at most 2^32 can be numbered"),
                "take fewer values for its axes",
            ));
        }
    };
    if ranges.is_empty() {
        return Ok((0..all).collect());
    }
    if let Some(range) = ranges.iter().find(|r| r.end > all) {
        let last = range.end - 1;
        let finding = Diagnostic::error(
            Code::UnknownName,
            format!("there is no point {last}: the sweep has {all}, numbered from 0"),
        );
        return Err(finding.help("choose others with --points").into());
    }
    let mut points: Vec<u64> = ranges.iter().cloned().flatten().collect();
    points.sort_unstable();
    points.dedup();
    Ok(points)
}
