//! Results in memory.

use super::{BestPoint, Outcome, RunSummary, Simulation, SimulationError};
use crate::output::memory::MemoryStore;
use crate::output::results::Provenance;
use crate::output::{ArraySpec, Content};
use crate::sweep::{Progress, Silent};
use std::sync::atomic::AtomicBool;

/// An array with named dimensions, in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultArray {
    /// Its name: `tavg`, `series`, that of an observation or of a sweep axis.
    pub name: String,
    /// Name and extent of each dimension, slowest first.
    pub dimensions: Vec<(String, u64)>,
    /// The elements, widened to 64 bits where the run had 32.
    pub values: Vec<f64>,
}

impl ResultArray {
    /// The extents.
    pub fn shape(&self) -> Vec<usize> {
        self.dimensions.iter().map(|(_, n)| *n as usize).collect()
    }

    /// An element; `None` if the index has another number of dimensions or leaves the array.
    pub fn at(&self, index: &[usize]) -> Option<f64> {
        let shape = self.shape();
        let inside = index.len() == shape.len() && index.iter().zip(&shape).all(|(i, n)| i < n);
        let place = || index.iter().zip(&shape).fold(0, |at, (i, n)| at * n + i);
        if inside { self.values.get(place()).copied() } else { None }
    }
}

/// What a run left, in memory: the arrays that [`Simulation::run_to`] writes, under the same names.
///
/// ```
/// use host::experiment::load_str;
/// use host::simulation::{Options, Simulation};
///
/// let text = "
/// dynamics:
///   name: Decay
///   parameters: {k: {value: 1.0}}
///   state_variables: {x: {equation: {rhs: -k*x}, initial_value: 1.0}}
/// integration: {method: euler, step_size: 0.5, duration: 2.0}
/// ";
/// let loaded = load_str(text, "decay.yaml", std::path::Path::new("."))?;
/// let simulation = Simulation::new(&loaded.experiment, &Options::default())?;
/// let result = simulation.run()?;
/// assert_eq!(result.trace(0, "x", 0), Some(vec![0.5, 0.25, 0.125, 0.0625]));
/// assert_eq!(result.array("time").unwrap().values, [0.5, 1.0, 1.5, 2.0]);
/// assert_eq!(result.tavg().shape(), [1, 1, 1]); // point, variable, node
/// assert_eq!(result.nonfinite_step(0), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The numbers of the points in the sweep, in the order of the arrays' first dimension.
    pub points: Vec<u64>,
    /// Names of the recorded variables.
    pub variables: Vec<String>,
    /// Labels of the nodes.
    pub nodes: Vec<String>,
    /// Points that left the finite numbers: position in `points` and first such step.
    pub nonfinite: Vec<(usize, u64)>,
    /// The best point of each score.
    pub best: Vec<BestPoint>,
    /// Of the engine.
    pub summary: RunSummary,
    arrays: Vec<ResultArray>,
}

impl RunResult {
    /// All arrays of numbers.
    pub fn arrays(&self) -> &[ResultArray] {
        &self.arrays
    }

    /// The array of this name: `tavg`, `series`, `time`, an observation, a sweep axis.
    pub fn array(&self, name: &str) -> Option<&ResultArray> {
        self.arrays.iter().find(|a| a.name == name)
    }

    /// Means over the recorded steps `[point, variable, node]`.
    pub fn tavg(&self) -> &ResultArray {
        &self.arrays[0] // `layout` puts it first
    }

    /// [`tavg`](Self::tavg) alone.
    pub fn into_tavg(mut self) -> ResultArray {
        self.arrays.swap_remove(0)
    }

    /// The time course `[point, time, variable, node]`, if it was kept.
    pub fn series(&self) -> Option<&ResultArray> {
        self.array("series")
    }

    /// The position of a variable in `variables`.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v == name)
    }

    /// The time course of one variable at one node of the point at position `point`; `None` without
    /// a series, or if one of them doesn't exist.
    pub fn trace(&self, point: usize, variable: &str, node: usize) -> Option<Vec<f64>> {
        let series = self.series()?;
        let variable = self.variable(variable)?;
        let rows = *series.shape().get(1)?;
        (0..rows).map(|row| series.at(&[point, row, variable, node])).collect()
    }

    /// The mean of one variable at one node of the point at position `point`.
    pub fn mean(&self, point: usize, variable: &str, node: usize) -> Option<f64> {
        self.tavg().at(&[point, self.variable(variable)?, node])
    }

    /// The step (from 0, transient included) at which the point at position `point` left the finite
    /// numbers.
    pub fn nonfinite_step(&self, point: usize) -> Option<u64> {
        self.nonfinite.iter().find(|(at, _)| *at == point).map(|(_, step)| *step)
    }
}

impl Simulation<'_> {
    /// Runs on the chosen device and keeps the results in memory, [`Simulation::result_bytes`] of them (twice
    /// that for a run in 32 bits).
    ///
    /// # Errors
    /// If the job can't be run, see [`SimulationError`].
    pub fn run(&self) -> Result<RunResult, SimulationError> {
        self.run_watched(&Silent, &AtomicBool::new(false))
    }

    /// [`Simulation::run`] with somebody who hears how far it is, and may cancel it.
    ///
    /// # Errors
    /// As [`Simulation::run`], and if it is cancelled.
    pub fn run_watched(
        &self,
        progress: &dyn Progress,
        cancel: &AtomicBool,
    ) -> Result<RunResult, SimulationError> {
        let provenance = Provenance { device: self.device.to_string(), warnings: Vec::new() };
        let (specs, places) = self.layout(&provenance);
        let store = MemoryStore::create(&specs);
        let outcome = self.run_into(Box::new(store.clone()), places, progress, cancel)?;
        let Outcome { summary, nonfinite, best } = outcome;
        let points = self.recording.points.clone();
        // Points are numbered upwards, so each is found by bisection.
        let position = |(number, step)| points.binary_search(&number).ok().map(|at| (at, step));
        let nonfinite = nonfinite.into_iter().filter_map(position).collect();
        let arrays = (specs.into_iter().enumerate())
            .filter_map(|(at, ArraySpec { name, dimensions, content })| {
                let values = match content {
                    Content::Streamed(_) => store.take(at),
                    Content::Reals(values) => values,
                    Content::Integers(values) => values.iter().map(|&v| v as f64).collect(),
                    Content::Unsigned(values) => values.iter().map(|&v| v as f64).collect(),
                    Content::Regular { first, step, count } => {
                        Content::regular(first, step, count).collect()
                    }
                    Content::Strings(_) => return None,
                };
                Some(ResultArray { name, dimensions, values })
            })
            .collect();
        Ok(RunResult {
            points,
            variables: self.recording.variables.clone(),
            nodes: self.experiment.network.connectome.labels.clone(),
            nonfinite,
            best,
            summary,
            arrays,
        })
    }
}
