//! Points that run together: what they need on the device, and the launches that move them on.

use super::array::{HostArray, Upload};
use super::device_job::{DeviceJob, PrepareError};
use super::layout::BOLD_COLUMNS;
use super::tables::Tables;
use crate::back::ParameterValues;
use crate::back::ptx::ParameterPlacement;
use crate::experiment::Precision;
use crate::ir::GatherSource;
use crate::monitor::MonitorKind;
use kernels_gpu::abi::{FINITE, MonitorRecord, PointRecord, SimulationArguments};
use kernels_gpu::bold::Constants;

/// Threads of a block, at most. A thread has several nodes if there are more.
const MOST_THREADS: u32 = 256;

/// The arrays of a batch, named as the parameters of the kernel. `signals` and `monitors` belong to
/// each [`Launch`].
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "documented at kernels_gpu::kernels::Pointers")]
pub struct Arrays {
    pub columns: HostArray,
    pub history: Upload,
    pub rows: Upload,
    pub nonfinite: HostArray,
    pub points: HostArray,
    pub point_parameters: HostArray,
    pub node_parameters: HostArray,
    pub gathers: HostArray,
    pub row_starts: HostArray,
    pub edges: HostArray,
    pub weights: HostArray,
    pub row_sums: HostArray,
}

/// Points that run together.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    pub(super) device_job: &'a DeviceJob<'a>,
    pub(super) points: Vec<usize>,
    /// Steps of a launch.
    steps: u32,
    arguments: SimulationArguments,
    /// Time series: where the rows of each start, and for how many rows of a point there is room.
    pub(super) series: Vec<(u64, u32)>,
}

/// Rows of a time series that a launch completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorRows {
    /// The first, counted over the run.
    pub first: u64,
    /// How many.
    pub count: u32,
}

/// One launch of a batch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The first parameter of the kernel.
    pub arguments: SimulationArguments,
    /// The stimuli.
    pub signals: HostArray,
    /// The time series.
    pub monitors: HostArray,
    /// What it adds to each time series.
    pub rows: Vec<MonitorRows>,
}

impl<'a> DeviceJob<'a> {
    /// A batch of points (positions in `Job::points`) that is moved on `steps` steps a launch, and what
    /// it needs on the device before the first.
    ///
    /// # Errors
    /// A delay that cannot be had; too many edges for one batch.
    pub fn batch(
        &'a self,
        points: &[usize],
        steps: u32,
    ) -> Result<(Batch<'a>, Arrays), PrepareError> {
        let (job, precision, nodes) = (self.job, self.job.precision, self.job.nodes);
        let steps = steps.clamp(1, 1 << 30).min(job.total_steps().clamp(1, 1 << 30) as u32);
        let mut speeds: Vec<f64> = Vec::new();
        let mut classes = Vec::with_capacity(points.len());
        for &point in points {
            let speed = job.speed.of(point);
            let known = speeds.iter().position(|s| s.to_bits() == speed.to_bits());
            classes.push(known.unwrap_or_else(|| {
                speeds.push(speed);
                speeds.len() - 1
            }));
        }
        let tables = Tables::new(job, &speeds)?;
        let capacities = self.capacities(&speeds)?;
        let mut history = 0_u64;
        let records = points.iter().zip(&classes).map(|(&point, &class)| {
            let record = PointRecord {
                key: job.points[point],
                history,
                capacity: capacities[class],
                delay_class: class as u32,
            };
            history += self.channels as u64 * nodes as u64 * u64::from(capacities[class]);
            record
        });
        let records: Vec<PointRecord> = records.collect();

        let mut rows = 0_u64;
        let variables = job.record.variables.len();
        let series = job.record.monitors.iter().map(|kind| {
            let room = kind.most_rows(u64::from(steps));
            let start = rows;
            let width = kind.variables(variables) * kind.values(nodes);
            rows += points.len() as u64 * room * width as u64;
            (start, room as u32)
        });
        let series = series.collect();

        let floats = |values: Vec<f64>| HostArray::floats(precision, values.into_iter());
        let arrays = Arrays {
            columns: floats(self.initial_columns(points)),
            history: Upload::Floats(history as usize),
            rows: Upload::Floats(rows as usize),
            nonfinite: HostArray::U64(vec![FINITE; points.len() * nodes]),
            points: HostArray::Points(records),
            point_parameters: floats(self.point_parameters(points)),
            node_parameters: floats(self.node_parameters()),
            row_sums: tables.row_sums(precision),
            gathers: HostArray::Gathers(tables.gathers),
            row_starts: HostArray::U32(tables.row_starts),
            edges: HostArray::Edges(tables.edges),
            weights: floats(tables.weights),
        };
        let batch = Batch {
            device_job: self,
            points: points.to_vec(),
            steps,
            arguments: self.arguments(),
            series,
        };
        Ok((batch, arrays))
    }

    /// Steps of history for each speed.
    fn capacities(&self, speeds: &[f64]) -> Result<Vec<u32>, PrepareError> {
        let job = self.job;
        let capacity = |&speed: &f64| {
            let mut longest = 0;
            for gather in &job.program.gathers {
                if gather.delayed && gather.source != GatherSource::Ones {
                    let matrix = &job.matrices[gather.matrix as usize];
                    longest = matrix.longest_delay(speed, job.dt_ms)?.max(longest);
                }
            }
            Ok(Self::history_steps(longest))
        };
        speeds.iter().map(capacity).collect()
    }

    /// `[point][column][node]`: initial states, zeros elsewhere.
    fn initial_columns(&self, points: &[usize]) -> Vec<f64> {
        let per_point = self.columns.count as usize * self.job.nodes;
        let mut columns = vec![0.0; points.len() * per_point];
        if per_point > 0 {
            for (columns, &point) in columns.chunks_exact_mut(per_point).zip(points) {
                let states = self.job.initial.of(point);
                columns[..states.len()].copy_from_slice(states);
            }
        }
        columns
    }

    /// `[point][parameter]`
    fn point_parameters(&self, points: &[usize]) -> Vec<f64> {
        let parameters = &self.job.parameters;
        let by_point =
            |at: &(usize, &ParameterPlacement)| matches!(at.1, ParameterPlacement::PerPoint(_));
        let slots: Vec<usize> =
            self.placements.iter().enumerate().filter(by_point).map(|(slot, _)| slot).collect();
        let value = |point: usize, slot: usize| {
            match (parameters.swept.iter().find(|s| s.slot == slot), &parameters.base[slot]) {
                (Some(swept), _) => swept.values[point],
                (None, ParameterValues::Uniform(value)) => *value,
                // Placed by node.
                (None, ParameterValues::PerNode(_)) => f64::NAN,
            }
        };
        points.iter().flat_map(|&point| slots.iter().map(move |&slot| value(point, slot))).collect()
    }

    /// `[parameter][node]`
    fn node_parameters(&self) -> Vec<f64> {
        let slots = self.placements.iter().zip(&self.job.parameters.base);
        let by_node = slots.filter_map(|(placement, base)| match (placement, base) {
            (ParameterPlacement::PerNode(_), ParameterValues::PerNode(values)) => Some(values),
            _ => None,
        });
        by_node.flatten().copied().collect()
    }

    fn arguments(&self) -> SimulationArguments {
        let (job, columns) = (self.job, &self.columns);
        let (by_point, _) = ParameterPlacement::counts(&self.placements);
        SimulationArguments {
            seed: job.seed,
            first_step: 0,
            transient_steps: job.transient_steps,
            dt: job.dt,
            half_dt: job.dt / 2.0,
            sixth_dt: job.dt / 6.0,
            root_dt: job.dt.sqrt(),
            steps: 0,
            nodes: job.nodes as u32,
            states: columns.states,
            channels: self.channels as u32,
            gathers: job.program.gathers.len() as u32,
            noisy: job.program.noisy.len() as u32,
            signals: job.signals.len() as u32,
            variables: job.record.variables.len() as u32,
            monitors: job.record.monitors.iter().map(records).sum(),
            mean: u32::from(job.record.mean),
            point_parameters: by_point,
            columns: columns.count,
            gathered_column: columns.gathered,
            coupling_column: columns.coupling,
            sigma_column: columns.sigma,
            noise_column: columns.noise,
            recorded_column: columns.recorded,
            mean_column: columns.mean,
            stage_column: columns.stages,
            reserved: 0,
        }
    }
}

impl Batch<'_> {
    /// The points, as positions in `Job::points`.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    /// Blocks of a launch: one a point.
    pub fn grid(&self) -> u32 {
        self.points.len() as u32
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        (self.device_job.job.nodes as u64).next_multiple_of(32).min(MOST_THREADS.into()) as u32
    }

    /// The launches, in order; each goes on where the one before it stopped.
    pub fn launches(&self) -> impl Iterator<Item = Launch> + '_ {
        let total = self.device_job.job.total_steps();
        let starts = (0..total).step_by(self.steps as usize);
        starts.map(move |first| self.launch(first, (total - first).min(self.steps.into()) as u32))
    }

    fn launch(&self, first_step: u64, steps: u32) -> Launch {
        let job = self.device_job.job;
        let end = first_step + u64::from(steps);
        let recorded_before = first_step.saturating_sub(job.transient_steps);
        let recorded_after = end.saturating_sub(job.transient_steps);
        let signals =
            (first_step..end).flat_map(|step| job.signals.iter().map(move |s| s.at(step)));
        let monitors = (0..job.record.monitors.len())
            .flat_map(|monitor| self.monitor_records(monitor, recorded_before));
        let rows = job.record.monitors.iter().map(|kind| {
            let first = kind.rows(recorded_before);
            MonitorRows { first, count: (kind.rows(recorded_after) - first) as u32 }
        });
        Launch {
            arguments: SimulationArguments { first_step, steps, ..self.arguments },
            signals: HostArray::floats(job.precision, signals),
            monitors: HostArray::Monitors(monitors.collect()),
            rows: rows.collect(),
        }
    }
    /// The records of a time series for a launch before which so many steps were recorded.
    fn monitor_records(&self, monitor: usize, recorded: u64) -> Vec<MonitorRecord> {
        let job = self.device_job.job;
        let kind = &job.record.monitors[monitor];
        let (rows, capacity) = self.series[monitor];
        let record = MonitorRecord {
            rows,
            kind: match kind {
                MonitorKind::Raw | MonitorKind::SubSample { .. } => MonitorRecord::SAMPLE,
                MonitorKind::TemporalAverage { .. } => MonitorRecord::WINDOW,
                MonitorKind::GlobalAverage { .. } => MonitorRecord::NODE_MEAN,
                MonitorKind::Bold(_) => MonitorRecord::BOLD,
            },
            // All fit: periods are checked when a device job is made, and a phase is less than two.
            period: kind.period() as u32,
            phase: (recorded - kind.rows(recorded) * kind.period()) as u32,
            capacity,
            column: self.device_job.columns.windows[monitor],
            variables: kind.variables(job.record.variables.len()) as u32,
            ..MonitorRecord::default()
        };
        let MonitorKind::Bold(response) = kind else { return vec![record] };
        let (model, seconds) = (&response.model, response.seconds);
        let constants = match job.precision {
            Precision::F32 => Constants::<f32>::new(model, seconds).to_array(),
            Precision::F64 => Constants::<f64>::new(model, seconds).to_array(),
        };
        let variables = response.variables.iter().zip(0_u32..);
        let records = variables.map(|(&variable, place)| MonitorRecord {
            constants,
            column: record.column + place * BOLD_COLUMNS,
            variable: variable as u32,
            place,
            stride: response.stride as u32,
            stride_phase: (recorded % response.stride) as u32,
            ..record
        });
        records.collect()
    }
}

/// Records that a time series has in the kernel.
fn records(kind: &MonitorKind) -> u32 {
    match kind {
        MonitorKind::Bold(response) => response.variables.len() as u32,
        _ => 1,
    }
}
