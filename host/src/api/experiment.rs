//! An experiment to be run.

use super::options::Reporter;
use super::prepare::{Prepared, device};
use super::{Backend, Error, RunOptions};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Experiment, Loaded, load, load_str};
use crate::output::results::Provenance;
use crate::simulation::{Outcome, RunResult};
use std::path::Path;

/// An experiment of TVBO (0.5.3 or 1.0), loaded and checked.
///
/// ```
/// use host::{Backend, SimulationExperiment};
///
/// let experiment = SimulationExperiment::from_str(
///     "
/// dynamics:
///   name: Decay
///   parameters: {k: {value: 1.0}}
///   state_variables: {x: {equation: {rhs: -k*x}, initial_value: 1.0}}
/// integration: {method: euler, step_size: 0.5, duration: 2.0}
/// ",
/// )?;
/// let result = experiment.run(Backend::Cpu)?;
/// assert_eq!(result.trace(0, "x", 0), Some(vec![0.5, 0.25, 0.125, 0.0625]));
/// # Ok::<(), host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimulationExperiment {
    loaded: Loaded,
}

impl From<Loaded> for SimulationExperiment {
    fn from(loaded: Loaded) -> Self {
        Self { loaded }
    }
}

impl std::str::FromStr for SimulationExperiment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_str(text)
    }
}

impl SimulationExperiment {
    /// Loads an experiment file; a path that starts with `embedded:` names shipped content.
    ///
    /// # Errors
    /// [`Error::Experiment`]: everything that is wrong with it, with places.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(load(path.as_ref())?.into())
    }

    /// Loads an experiment from its text; relative paths in it start from the working folder.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    #[expect(clippy::should_implement_trait, reason = "the trait is implemented as well")]
    pub fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_str_in(text, ".")
    }

    /// Loads an experiment from its text; relative paths in it start from `folder`.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_str_in(text: &str, folder: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(load_str(text, "experiment.yaml", folder.as_ref())?.into())
    }

    /// The resolved experiment: names, parameters, network, time, sweep.
    pub fn resolved(&self) -> &Experiment {
        &self.loaded.experiment
    }

    /// What was noticed while it was loaded.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.loaded.warnings
    }

    pub(super) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Compiles the experiment and runs nothing. Returns all warnings and notes.
    ///
    /// # Errors
    /// [`Error::Experiment`]: everything that is wrong with its equations and its sweep;
    /// [`Error::Job`]: a delay that can't be had.
    ///
    /// ```
    /// use host::SimulationExperiment;
    ///
    /// let misspelt = SimulationExperiment::from_str(
    ///     "{dynamics: {name: M, state_variables: {x: {equation: {rhs: -x/tua}}}}}",
    /// )?;
    /// let error = misspelt.validate().unwrap_err();
    /// assert!(error.render().contains("tua"));
    /// # Ok::<(), host::Error>(())
    /// ```
    pub fn validate(&self) -> Result<Vec<Diagnostic>, Error> {
        self.validate_with(&RunOptions::default())
    }

    /// [`validate`](Self::validate) with options.
    ///
    /// # Errors
    /// As [`validate`](Self::validate), and options that the experiment doesn't take.
    pub fn validate_with(&self, options: &RunOptions) -> Result<Vec<Diagnostic>, Error> {
        let prepared = Prepared::new(&self.loaded, options, device(Backend::Cpu, &[]))?;
        let simulation = prepared.simulation()?;
        simulation.plan()?;
        let warnings = &prepared.loaded.warnings;
        Ok(warnings.iter().chain(simulation.notes()).cloned().collect())
    }

    /// Runs the experiment with its own settings; results in memory.
    ///
    /// # Errors
    /// [`Error::Device`] where [`Backend::Cuda`] is asked for and no device can be used;
    /// [`Error::Experiment`] where [`validate`](Self::validate) refuses it.
    pub fn run(&self, backend: Backend) -> Result<RunResult, Error> {
        self.run_with(&RunOptions::new().backend(backend))
    }

    /// Runs the experiment with options; results in memory.
    ///
    /// Where options change the experiment, the files that it names are read again.
    ///
    /// # Errors
    /// As [`run`](Self::run); options that the experiment doesn't take; [`Error::Cancelled`].
    pub fn run_with(&self, options: &RunOptions) -> Result<RunResult, Error> {
        let device = device(options.backend, &options.devices);
        let prepared = Prepared::new(&self.loaded, options, device)?;
        let simulation = prepared.simulation()?;
        let reporter = Reporter::new(options, simulation.node_steps());
        Ok(simulation.run_watched(&reporter, options.cancel.flag())?)
    }

    /// Runs the experiment with options and writes the results to `path`, `.npz` or `.zarr`.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with); [`Error::Output`] where the results can't be written, which is
    /// found before the run. Nothing is left at `path` then but what was there before.
    pub fn run_to(&self, path: impl AsRef<Path>, options: &RunOptions) -> Result<Outcome, Error> {
        let device = device(options.backend, &options.devices);
        let prepared = Prepared::new(&self.loaded, options, device.clone())?;
        let simulation = prepared.simulation()?;
        let warnings = prepared.loaded.warnings.iter().chain(simulation.notes());
        let provenance = Provenance {
            device: device.to_string(),
            warnings: warnings.map(|d| d.message.clone()).collect(),
        };
        let reporter = Reporter::new(options, simulation.node_steps());
        let flag = options.cancel.flag();
        Ok(simulation.run_to(path.as_ref(), &provenance, &reporter, flag)?)
    }
}
