//! Points that run together: what they need on the device, and the launches that move them on.

use super::array::{ArrayId, Arrays, HostArray, Upload};
use super::device_job::{DeviceJob, Plan, PrepareError};
use super::group::GroupBatch;
use super::layout::BOLD_COLUMNS;
use super::tables::Tables;
use crate::back::ParameterValues;
use crate::back::ptx::ParameterPlacement;
use crate::experiment::Precision;
use crate::ir::GatherSource;
use crate::monitor::MonitorKind;
use kernels_gpu::abi::{
    ChunkRecord, FINITE, GroupArguments, MonitorRecord, PointRecord, SimulationArguments,
};
use kernels_gpu::bold::Constants;
use kernels_gpu::ring::BLOCK;
use std::collections::HashMap;

/// Threads of a block, at most. A thread has several nodes if there are more.
const MOST_THREADS: u64 = 256;

/// The parameters of a kernel that runs one block a point, after its arguments.
pub(super) const POINTS: [ArrayId; 14] = [
    ArrayId::Columns,
    ArrayId::History,
    ArrayId::Rows,
    ArrayId::Nonfinite,
    ArrayId::Points,
    ArrayId::PointParameters,
    ArrayId::NodeParameters,
    ArrayId::Signals,
    ArrayId::Gathers,
    ArrayId::RowStarts,
    ArrayId::Edges,
    ArrayId::Weights,
    ArrayId::RowSums,
    ArrayId::Monitors,
];

/// Points that run together.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    pub(super) device_job: &'a DeviceJob<'a>,
    pub(super) points: Vec<usize>,
    /// Steps of a chunk.
    steps: u32,
    work: Work,
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

/// How a batch is computed.
#[derive(Clone, Debug)]
enum Work {
    /// One block a point.
    Points(Box<SimulationArguments>),
    /// One block a group of points.
    Groups(GroupBatch),
}

/// A chunk of steps of a batch: calls of kernels, one after the other, and what they add.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where it starts.
    pub chunk: HostArray,
    /// How many steps it makes.
    pub steps: u32,
    /// The stimuli.
    pub signals: HostArray,
    /// The time series.
    pub monitors: HostArray,
    /// What it adds to each time series.
    pub rows: Vec<MonitorRows>,
    /// Calls that come before all others, once.
    pub before: Vec<Call>,
    /// The calls of kernels. Those of all chunks but the last are the same if the arguments are
    /// [`CallArguments::Group`].
    pub calls: Vec<Call>,
}

/// A call of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The kernel, a position in [`DeviceJob::entries`].
    pub kernel: usize,
    /// Its first parameter.
    pub arguments: CallArguments,
    /// Blocks along x and y.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block.
    pub shared_bytes: u32,
}

/// The first parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]

pub enum CallArguments {
    /// Of a kernel that runs one block a point.
    Points(SimulationArguments),
    /// Of a kernel that runs one block a group.
    Group(GroupArguments),
}

impl Launch {
    /// The array of this chunk, if it is one that each chunk has its own of.
    pub fn array(&self, id: ArrayId) -> Option<&HostArray> {
        match id {
            ArrayId::Chunk => Some(&self.chunk),
            ArrayId::Signals => Some(&self.signals),
            ArrayId::Monitors => Some(&self.monitors),
            _ => None,
        }
    }
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
        let mut steps = steps.clamp(1, 1 << 30).min(job.total_steps().clamp(1, 1 << 30) as u32);
        if matches!(&self.plan, Plan::Groups(plan) if plan.delayed) {
            steps = steps.next_multiple_of(BLOCK as u32);
        }
        let mut speeds: Vec<f64> = Vec::new();
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut classes = Vec::with_capacity(points.len());
        for &point in points {
            let speed = job.speed.of(point);
            classes.push(*known.entry(speed.to_bits()).or_insert_with(|| {
                speeds.push(speed);
                speeds.len() - 1
            }));
        }
        let tables = Tables::new(job, &speeds)?;
        let capacities = self.capacities(&speeds)?;
        let floats = |values: Vec<f64>| HostArray::floats(precision, values.into_iter());
        let mut arrays = Arrays::new();
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
        let work = match &self.plan {
            Plan::Plain => {
                let starts = HostArray::U32(tables.row_starts.clone());
                arrays.insert(ArrayId::RowStarts, Upload::Values(starts));
                arrays.insert(ArrayId::History, Upload::Floats(history as usize));
                Work::Points(Box::new(self.arguments()))
            }
            Plan::Groups(plan) => Work::Groups(GroupBatch::new(
                self,
                plan,
                &classes,
                &capacities,
                &tables,
                &mut arrays,
            )),
        };
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

        let batch = Batch { device_job: self, points: points.to_vec(), steps, work, series };
        arrays.insert(ArrayId::Rows, Upload::Floats(rows as usize));
        let mut values = |id, array| arrays.insert(id, Upload::Values(array));
        values(ArrayId::Columns, floats(batch.initial_columns()));
        values(ArrayId::Nonfinite, HostArray::U64(vec![FINITE; points.len() * nodes]));
        values(ArrayId::Points, HostArray::Points(records));
        values(ArrayId::PointParameters, floats(self.point_parameters(points)));
        values(ArrayId::NodeParameters, floats(self.node_parameters()));
        values(ArrayId::RowSums, tables.row_sums(precision));
        values(ArrayId::Gathers, HostArray::Gathers(tables.gathers));
        values(ArrayId::Edges, HostArray::Edges(tables.edges));
        values(ArrayId::Weights, floats(tables.weights));
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
            Ok(self.history_steps(longest))
        };
        speeds.iter().map(capacity).collect()
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

    /// Records that time series have in a kernel.
    pub(super) fn monitor_records(&self) -> u32 {
        self.job.record.monitors.iter().map(records).sum()
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
            monitors: self.monitor_records(),
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

    /// Initial states, and zeros in the other columns.
    fn initial_columns(&self) -> Vec<f64> {
        let job = self.device_job.job;
        let count = match &self.work {
            Work::Points(arguments) => self.points.len() * arguments.columns as usize * job.nodes,
            Work::Groups(groups) => groups.values(),
        };
        let mut columns = vec![0.0; count];
        for (index, &point) in self.points.iter().enumerate() {
            for (state, values) in job.initial.of(point).chunks_exact(job.nodes).enumerate() {
                for (node, &value) in values.iter().enumerate() {
                    columns[self.column_place(index, state as u32, node)] = value;
                }
            }
        }
        columns
    }

    /// Where the array `columns` has a value of a node of point `index` of the batch.
    fn column_place(&self, index: usize, column: u32, node: usize) -> usize {
        let nodes = self.device_job.job.nodes;
        match &self.work {
            Work::Points(a) => (index * a.columns as usize + column as usize) * nodes + node,
            Work::Groups(groups) => groups.place(index, column, node),
        }
    }

    /// Where the array `columns` has the sum of a recorded variable.
    pub(super) fn mean_place(&self, index: usize, variable: usize, node: usize) -> usize {
        self.column_place(index, self.device_job.mean_column() + variable as u32, node)
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
        let calls = match (&self.work, &self.device_job.plan) {
            (Work::Groups(groups), Plan::Groups(plan)) => groups.calls(plan, steps),
            (Work::Points(arguments), _) => {
                let arguments = SimulationArguments { first_step, steps, ..**arguments };
                vec![Call {
                    kernel: 0,
                    arguments: CallArguments::Points(arguments),
                    grid: [self.points.len() as u32, 1],
                    threads: (job.nodes as u64).next_multiple_of(32).min(MOST_THREADS) as u32,
                    shared_bytes: 0,
                }]
            }
            (Work::Groups(_), Plan::Plain) => Vec::new(),
        };
        let before = match (&self.work, &self.device_job.plan) {
            (Work::Groups(groups), Plan::Groups(plan)) if first_step == 0 => groups.before(plan),
            _ => Vec::new(),
        };
        Launch {
            before,
            chunk: HostArray::Chunk(vec![ChunkRecord { first_step }]),
            steps,
            calls,
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
            column: self.device_job.window_column(monitor),
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
