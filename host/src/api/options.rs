//! What a caller may choose about a run.

use super::Error;
use crate::experiment::Precision;
use crate::simulation::Record;
use crate::sweep::Progress;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Where an experiment runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The GPU where there is a usable one, else the CPU. Both give the same bits.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

/// Stops a run from another thread, or from its progress callback. Clones are one token.
///
/// ```
/// use host::{Backend, CancelToken, Error, RunOptions, SimulationExperiment};
///
/// let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
/// let token = CancelToken::new();
/// token.cancel();
/// let options = RunOptions::new().backend(Backend::Cpu).cancel(&token);
/// assert!(matches!(experiment.run_with(&options), Err(Error::Cancelled)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop. It does so within some steps; nothing half-written is left.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

/// How far a run is. Its unit is the node-step: nodes × steps × points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Node-steps that are done.
    pub done: u64,
    /// Node-steps of the whole run, transient included.
    pub total: u64,
}

impl RunProgress {
    /// From 0 to 1.
    pub fn fraction(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.done as f64 / self.total as f64 }
    }
}

type Callback = Arc<dyn Fn(RunProgress) + Send + Sync>;

/// Options of a run: what is not set is as the experiment says.
///
/// Setters take and return the options, so that they can be strung together.
///
/// ```
/// use host::{RunOptions, experiment::Precision};
///
/// let options = RunOptions::new()
///     .n_steps(10_000)
///     .dt(0.05)
///     .swept_param("coupling.G", [0.1, 0.2, 0.4])
///     .swept_param("conduction_speed", [3.0, 6.0, 12.0])
///     .precision(Precision::F64);
/// ```
#[derive(Clone, Default)]
pub struct RunOptions {
    pub(super) backend: Backend,
    pub(super) n_steps: Option<u64>,
    pub(super) dt: Option<f64>,
    pub(super) n_work_items: Option<usize>,
    pub(super) global_speed: Option<f64>,
    pub(super) global_coupling: Option<f64>,
    pub(super) buffer_length: Option<usize>,
    pub(super) swept_params: Vec<(String, Vec<f64>)>,
    pub(super) seed: Option<u64>,
    pub(super) precision: Option<Precision>,
    pub(super) threads: Option<usize>,
    pub(super) devices: Vec<u32>,
    pub(super) record: Option<Record>,
    pub(super) points: Vec<Range<u64>>,
    pub(super) progress: Option<Callback>,
    pub(super) cancel: CancelToken,
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("backend", &self.backend)
            .field("n_steps", &self.n_steps)
            .field("dt", &self.dt)
            .field("n_work_items", &self.n_work_items)
            .field("global_speed", &self.global_speed)
            .field("global_coupling", &self.global_coupling)
            .field("buffer_length", &self.buffer_length)
            .field("swept_params", &self.swept_params)
            .field("seed", &self.seed)
            .field("precision", &self.precision)
            .field("threads", &self.threads)
            .field("devices", &self.devices)
            .field("record", &self.record)
            .field("points", &self.points)
            .field("progress", &self.progress.is_some())
            .field("cancel", &self.cancel)
            .finish()
    }
}

impl RunOptions {
    /// The experiment's own settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where to run; [`Backend::Auto`] if not set. The functions of CUDA ([`run_cuda`](super::run_cuda),
    /// [`compile_cuda_with`](super::compile_cuda_with)) don't ask.
    #[must_use]
    pub fn backend(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// Recorded steps; duration / `dt` if not set.
    #[must_use]
    pub fn n_steps(self, steps: u64) -> Self {
        Self { n_steps: Some(steps), ..self }
    }

    /// Step in the model's own time unit; the experiment's `step_size` if not set.
    #[must_use]
    pub fn dt(self, dt: f64) -> Self {
        Self { dt: Some(dt), ..self }
    }

    /// Work items: parameter sets of the whole network that are run, points of a sweep.
    ///
    /// If not set, there is one for each value of the swept parameters, or for each point of the
    /// experiment's own sweep. With swept parameters or a sweep another number is an error; without
    /// them it is how often the network is run, each time with its own noise.
    #[must_use]
    pub fn n_work_items(self, items: usize) -> Self {
        Self { n_work_items: Some(items), ..self }
    }

    /// Conduction speed in mm/ms (m/s), in place of the network's and of a sweep over it.
    #[must_use]
    pub fn global_speed(self, speed: f64) -> Self {
        Self { global_speed: Some(speed), ..self }
    }

    /// A factor on every network coupling input.
    #[must_use]
    pub fn global_coupling(self, factor: f64) -> Self {
        Self { global_coupling: Some(factor), ..self }
    }

    /// Steps of history. The history is sized for each point by its own delays; this is a check that
    /// the longest delay of the slowest point, and the current step, fit in so many.
    #[must_use]
    pub fn buffer_length(self, steps: usize) -> Self {
        Self { buffer_length: Some(steps), ..self }
    }

    /// Sweeps a parameter: one value per work item. Any name that a sweep axis of an experiment may
    /// have is one here: of a parameter of the model, a coupling, the noise, a stimulus, or
    /// `conduction_speed`.
    ///
    /// Several parameters go together, item by item, and need equally many values. They take the place
    /// of the experiment's own sweep.
    #[must_use]
    pub fn swept_param(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        self.swept_params.push((name.into(), values.into_iter().collect()));
        self
    }

    /// Sweeps parameters, see [`swept_param`](Self::swept_param); those set before stay.
    #[must_use]
    pub fn swept_params<N: Into<String>, V: IntoIterator<Item = f64>>(
        self,
        params: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        params.into_iter().fold(self, |options, (name, values)| options.swept_param(name, values))
    }

    /// Seed of all random numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Word length of the whole simulation.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }

    /// CPU threads; all cores if not set. Results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// CUDA devices by ordinal, which share the points; the first if not set. Results do not depend
    /// on it.
    #[must_use]
    pub fn devices(self, ordinals: impl IntoIterator<Item = u32>) -> Self {
        Self { devices: ordinals.into_iter().collect(), ..self }
    }

    /// What is kept of the time course; if not set, everything for one point, nothing for a sweep.
    #[must_use]
    pub fn record(self, record: Record) -> Self {
        Self { record: Some(record), ..self }
    }

    /// Only these points of the sweep, by number, and those of further calls. A point gives the same
    /// numbers alone.
    #[must_use]
    pub fn points(mut self, points: Range<u64>) -> Self {
        self.points.push(points);
        self
    }

    /// Calls back now and then while the run goes on. The callback should be short: it is called from
    /// the threads that compute, several at a time, so that reports may overtake each other.
    ///
    /// ```
    /// use host::{Backend, RunOptions, SimulationExperiment};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
    /// let last = Arc::new(Mutex::new(0.0));
    /// let seen = last.clone();
    /// let options = RunOptions::new().backend(Backend::Cpu).on_progress(move |progress| {
    ///     *seen.lock().unwrap() = progress.fraction();
    /// });
    /// experiment.run_with(&options)?;
    /// assert_eq!(*last.lock().unwrap(), 1.0);
    /// # Ok::<(), host::Error>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, callback: impl Fn(RunProgress) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(callback)), ..self }
    }

    /// Lets `token` stop the run, which then is [`Error::Cancelled`].
    #[must_use]
    pub fn cancel(self, token: &CancelToken) -> Self {
        Self { cancel: token.clone(), ..self }
    }

    /// Refuses what is wrong whatever the experiment.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |option, given: String, needs| Error::Option { option, given, needs };
        if self.threads == Some(0) {
            return Err(wrong("threads", "0".to_owned(), "at least one is needed"));
        }
        if self.n_work_items == Some(0) {
            return Err(wrong("n_work_items", "0".to_owned(), "at least one is needed"));
        }
        for (place, &device) in self.devices.iter().enumerate() {
            if self.devices[..place].contains(&device) {
                return Err(wrong("devices", device.to_string(), "a device is named twice"));
            }
        }
        if let Some(range) = self.points.iter().find(|r| r.is_empty()) {
            return Err(wrong("points", format!("{range:?}"), "a range of points is empty"));
        }
        let items = match (self.n_work_items, self.swept_params.first()) {
            (Some(items), _) => items,
            (None, Some((_, values))) => values.len(),
            (None, None) => return Ok(()),
        };
        for (place, (name, values)) in self.swept_params.iter().enumerate() {
            if values.len() != items {
                let (name, found) = (name.clone(), values.len());
                return Err(Error::SweptLength { name, expected: items, found });
            }
            if self.swept_params[..place].iter().any(|(other, _)| other == name) {
                return Err(wrong("swept_params", name.clone(), "the parameter is given twice"));
            }
        }
        Ok(())
    }
}

/// Turns the engine's reports into calls of the callback.
pub(super) struct Reporter {
    callback: Option<Callback>,
    done: AtomicU64,
    total: u64,
}

impl Reporter {
    pub(super) fn new(options: &RunOptions, total: u64) -> Self {
        Self { callback: options.progress.clone(), done: AtomicU64::new(0), total }
    }
}

impl Progress for Reporter {
    fn advance(&self, node_steps: u64) {
        let done = self.done.fetch_add(node_steps, Ordering::Relaxed) + node_steps;
        if let Some(callback) = &self.callback {
            callback(RunProgress { done, total: self.total });
        }
    }
}
