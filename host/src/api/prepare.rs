//! From the options of a caller to a compiled experiment: what every option means is decided here, for
//! all devices and functions alike.

use super::{Backend, Error, RunOptions};
use crate::back::gpu::kernels_for;
use crate::compute::cuda_devices;
use crate::diagnostic::{Code, Diagnostics};
use crate::experiment::{
    Axis, AxisSpec, AxisTarget, LoadError, Loaded, Overrides, Sweep, SweepMode,
};
use crate::simulation::{Device, Options, Simulation};
use std::borrow::Cow;

/// An experiment with the options laid over it.
#[derive(Clone, Debug)]
pub(super) struct Prepared<'a> {
    pub(super) loaded: Cow<'a, Loaded>,
    pub(super) options: Options,
    buffer_length: Option<usize>,
}

impl<'a> Prepared<'a> {
    /// Lays options over an experiment. It is resolved again only where they change it.
    ///
    /// # Errors
    /// Options that are wrong, or that the experiment doesn't take.
    pub(super) fn new(
        loaded: &'a Loaded,
        options: &RunOptions,
        device: Device,
    ) -> Result<Self, Error> {
        options.check()?;
        let changes = overrides(options, &loaded.experiment.changes);
        let mut changed = if changes == loaded.experiment.changes {
            Cow::Borrowed(loaded)
        } else {
            Cow::Owned(loaded.with(&changes).map_err(|error| of_option(error, options))?)
        };
        if let Some(items) = options.n_work_items.filter(|_| options.swept_params.is_empty()) {
            let sweep = &changed.experiment.sweep;
            let there = sweep.points().unwrap_or(u64::MAX);
            if !sweep.axes.is_empty() && there != items as u64 {
                return Err(Error::WorkItems { given: items, there });
            }
            if sweep.axes.is_empty() && items > 1 {
                repeat(changed.to_mut(), items);
            }
        }
        let options_of_run = Options {
            record: options.record,
            points: options.points.clone(),
            threads: options.threads,
            device,
        };
        let buffer_length = options.buffer_length;
        Ok(Self { loaded: changed, options: options_of_run, buffer_length })
    }

    /// Compiles it.
    ///
    /// # Errors
    /// Faults in its equations or its sweep; a buffer that is too short.
    pub(super) fn simulation(&self) -> Result<Simulation<'_>, Error> {
        let refused = |diagnostics: Diagnostics| {
            Error::from(LoadError { diagnostics, sources: self.loaded.sources.clone() })
        };
        let simulation =
            Simulation::new(&self.loaded.experiment, &self.options).map_err(refused)?;
        if let Some(given) = self.buffer_length {
            check_buffer(&simulation, given)?;
        }
        Ok(simulation)
    }
}

/// What the options change in an experiment that `before` has changed.
fn overrides(options: &RunOptions, before: &Overrides) -> Overrides {
    let mut changes = before.clone();
    changes.steps = options.n_steps.or(changes.steps);
    changes.dt = options.dt.or(changes.dt);
    changes.conduction_speed = options.global_speed.or(changes.conduction_speed);
    changes.global_coupling = options.global_coupling.or(changes.global_coupling);
    changes.seed = options.seed.or(changes.seed);
    changes.precision = options.precision.or(changes.precision);
    if !options.swept_params.is_empty() {
        let axis = |(name, values): &(String, Vec<f64>)| AxisSpec {
            name: name.clone(),
            values: values.clone(),
        };
        changes.axes = options.swept_params.iter().map(axis).collect();
        changes.mode = Some(SweepMode::Zip);
        changes.replace_sweep = true;
    }
    changes
}

/// A refusal of a swept parameter's name is an error of its own.
fn of_option(error: LoadError, options: &RunOptions) -> Error {
    let of_name = |(name, _): &(String, Vec<f64>)| {
        let quoted = format!("`{name}`");
        // What comes from the file has a place in it.
        let finding = error.diagnostics.iter().find(|d| {
            d.code == Code::UnknownAxis && d.labels.is_empty() && d.message.contains(&quoted)
        })?;
        let help = finding.help.iter().map(|help| format!("; {help}"));
        let reason = std::iter::once(finding.message.clone()).chain(help).collect();
        Some(Error::SweptName { name: name.clone(), reason })
    };
    options.swept_params.iter().find_map(of_name).unwrap_or_else(|| error.into())
}

/// Runs the one point of an experiment `items` times. Points differ by their noise, so an axis that
/// changes nothing does it: one over the conduction speed, at the speed that there is.
fn repeat(loaded: &mut Loaded, items: usize) {
    let speed = loaded.experiment.network.conduction_speed_mm_per_ms;
    let axis = Axis {
        name: "conduction_speed".to_owned(),
        target: AxisTarget::ConductionSpeed,
        values: vec![speed; items],
        unit: Some("mm_per_ms".to_owned()),
        location: None,
    };
    loaded.experiment.sweep = Sweep { axes: vec![axis], mode: SweepMode::Zip, trials: 1 };
}

fn check_buffer(simulation: &Simulation<'_>, given: usize) -> Result<(), Error> {
    let plan = simulation.plan()?;
    let numbers = &simulation.recording().points;
    let slowest = plan.points.iter().zip(numbers).max_by_key(|(plan, _)| plan.longest_delay);
    match slowest {
        Some((plan, &point)) if given <= plan.longest_delay as usize => {
            Err(Error::BufferLength { given, point, longest_delay: plan.longest_delay })
        }
        _ => Ok(()),
    }
}

/// The device that a backend means.
pub(super) fn device(backend: Backend, ordinals: &[u32]) -> Device {
    let ordinals = if ordinals.is_empty() { vec![0] } else { ordinals.to_vec() };
    match backend {
        Backend::Cpu => Device::Cpu,
        Backend::Cuda => Device::cuda(ordinals),
        Backend::Auto if usable(&ordinals) => Device::cuda(ordinals),
        Backend::Auto => Device::Cpu,
    }
}

/// Whether all these devices are there and the program has kernels for them.
fn usable(ordinals: &[u32]) -> bool {
    let Ok(devices) = cuda_devices() else { return false };
    ordinals.iter().all(|&ordinal| {
        let device = devices.get(ordinal as usize);
        device.is_some_and(|device| kernels_for(&device.constraints).is_ok())
    })
}
