//! A batch of points in groups: what the kernels are called with.

use super::super::array::{ArrayId, Arrays, HostArray, Upload};
use super::super::batch::{Call, CallArguments};
use super::super::device_job::DeviceJob;
use super::super::tables::Tables;
use super::plan::GroupPlan;
use super::tables::{self, PADDING};
use crate::back::ptx::ParameterPlacement;
use kernels_gpu::abi::{GroupArguments, GroupRecord};
use kernels_gpu::ring::BLOCK;

/// Groups and arguments of a batch.
#[derive(Clone, Debug)]
pub(in crate::back::gpu) struct GroupBatch {
    arguments: GroupArguments,
    groups: u32,
    /// Group and place in it of every point.
    places: Vec<(u32, u32)>,
}

/// The parameters of an `advance` kernel after its arguments.
pub(in crate::back::gpu) const ADVANCE: [ArrayId; 18] = [
    ArrayId::Chunk,
    ArrayId::Groups,
    ArrayId::Points,
    ArrayId::Columns,
    ArrayId::History,
    ArrayId::Far,
    ArrayId::Rows,
    ArrayId::Nonfinite,
    ArrayId::PointParameters,
    ArrayId::NodeParameters,
    ArrayId::Signals,
    ArrayId::Gathers,
    ArrayId::EdgeRows,
    ArrayId::Edges,
    ArrayId::Weights,
    ArrayId::RowSums,
    ArrayId::Dense,
    ArrayId::Monitors,
];

/// The parameters of a kernel for far sums over dense tables, after its arguments.
pub(in crate::back::gpu) const FAR_DENSE: [ArrayId; 6] = [
    ArrayId::Chunk,
    ArrayId::Groups,
    ArrayId::History,
    ArrayId::Far,
    ArrayId::FarWeights,
    ArrayId::FarDelays,
];

/// The same over compressed rows.
pub(in crate::back::gpu) const FAR_SPARSE: [ArrayId; 8] = [
    ArrayId::Chunk,
    ArrayId::Groups,
    ArrayId::History,
    ArrayId::Far,
    ArrayId::RowStarts,
    ArrayId::EdgeRows,
    ArrayId::Edges,
    ArrayId::Weights,
];

impl GroupBatch {
    /// For points whose delays are of these classes. `capacities` are the steps that the history of
    /// each class keeps; arrays that all plans have are in `arrays`, the rest is added.
    pub(in crate::back::gpu) fn new(
        job: &DeviceJob<'_>,
        plan: &GroupPlan,
        classes: &[usize],
        capacities: &[u32],
        tables: &Tables,
        arrays: &mut Arrays,
    ) -> Self {
        let nodes = job.job.nodes;
        let most = 1 << plan.point_shift;
        let (mut groups, mut places) = (Vec::<GroupRecord>::new(), Vec::new());
        let mut history = 0_u64;
        for (point, &class) in classes.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.delay_class == class as u32 && group.points < most => {
                    group.points += 1;
                }
                _ => {
                    groups.push(GroupRecord {
                        history,
                        first_point: point as u32,
                        points: 1,
                        capacity: capacities[class],
                        delay_class: class as u32,
                    });
                    if plan.delayed {
                        history +=
                            nodes as u64 * u64::from(capacities[class]) * u64::from(plan.width);
                    }
                }
            }
            let place = groups.last().map_or(0, |group| group.points - 1);
            places.push((groups.len() as u32 - 1, place));
        }
        let batch = Self { arguments: arguments(job, plan), groups: groups.len() as u32, places };
        let far = if plan.delayed { groups.len() * nodes * BLOCK * plan.width as usize } else { 0 };
        let precision = job.job.precision;
        arrays.insert(ArrayId::Groups, Upload::Values(HostArray::Groups(groups)));
        arrays.insert(ArrayId::History, Upload::Zeros(history as usize));
        arrays.insert(ArrayId::Far, Upload::Floats(far));
        let rows = tables::edge_rows(tables, nodes);
        arrays.insert(ArrayId::EdgeRows, Upload::Values(HostArray::Rows(rows)));
        let mut values = |id, array| arrays.insert(id, Upload::Values(array));
        if plan.delayed && plan.sparse {
            values(ArrayId::RowStarts, HostArray::U32(tables::row_starts(tables, nodes)));
        } else if plan.delayed {
            let (weights, delays) = tables::dense_far(tables, nodes, precision);
            values(ArrayId::FarWeights, weights);
            values(ArrayId::FarDelays, delays);
        }
        let dense = if plan.delayed {
            HostArray::zeros(precision, 0)
        } else {
            tables::dense(tables, nodes, precision)
        };
        values(ArrayId::Dense, dense);
        batch
    }

    /// The place of a value that a lane keeps among all, `[group][column][lane]`.
    pub(in crate::back::gpu) fn place(&self, point: usize, column: u32, node: usize) -> usize {
        let a = &self.arguments;
        let (group, own) = self.places[point];
        let lanes = (a.nodes as usize) << a.point_shift;
        let row = group as usize * a.columns as usize + column as usize;
        row * lanes + (node << a.point_shift) + own as usize
    }

    /// How many values lanes keep.
    pub(in crate::back::gpu) fn values(&self) -> usize {
        let a = &self.arguments;
        self.groups as usize * a.columns as usize * ((a.nodes as usize) << a.point_shift)
    }

    /// The call that makes the history before the first step.
    pub(in crate::back::gpu) fn before(&self, plan: &GroupPlan) -> Vec<Call> {
        if plan.delayed { vec![self.advance(plan, self.arguments)] } else { Vec::new() }
    }

    fn advance(&self, plan: &GroupPlan, arguments: GroupArguments) -> Call {
        Call {
            kernel: 0,
            arguments: CallArguments::Group(arguments),
            grid: [self.groups, 1],
            threads: plan.threads,
            shared_bytes: plan.shared_bytes(),
        }
    }

    /// The calls that make the steps of a chunk.
    pub(in crate::back::gpu) fn calls(&self, plan: &GroupPlan, steps: u32) -> Vec<Call> {
        let at_once = if plan.delayed { BLOCK } else { steps.max(1) as usize };
        let mut calls = Vec::new();
        for offset in (0..steps).step_by(at_once) {
            let steps = (steps - offset).min(at_once as u32);
            let arguments = GroupArguments { offset, steps, ..self.arguments };
            if plan.delayed {
                let rows = if plan.sparse { 1 } else { plan.far_targets };
                let warps = if plan.sparse { 8 } else { plan.far_warps };
                let parts = self.arguments.nodes.div_ceil(rows * warps);
                calls.push(Call {
                    kernel: 1,
                    arguments: CallArguments::Group(arguments),
                    grid: [self.groups, parts],
                    threads: warps * 32,
                    shared_bytes: 0,
                });
            }
            calls.push(self.advance(plan, arguments));
        }
        calls
    }
}

fn arguments(device_job: &DeviceJob<'_>, plan: &GroupPlan) -> GroupArguments {
    let (job, layout) = (device_job.job, &plan.layout);
    let (by_point, _) = ParameterPlacement::counts(&device_job.placements);
    GroupArguments {
        seed: job.seed,
        transient_steps: job.transient_steps,
        dt: job.dt,
        half_dt: job.dt / 2.0,
        sixth_dt: job.dt / 6.0,
        root_dt: job.dt.sqrt(),
        offset: 0,
        steps: 0,
        nodes: job.nodes as u32,
        padded_nodes: job.nodes.next_multiple_of(PADDING) as u32,
        point_shift: plan.point_shift,
        states: plan.states,
        channels: job.program.emit.results.len() as u32,
        gathers: job.program.gathers.len() as u32,
        noisy: job.program.noisy.len() as u32,
        signals: job.signals.len() as u32,
        variables: job.record.variables.len() as u32,
        monitors: device_job.monitor_records(),
        mean: u32::from(job.record.mean),
        point_parameters: by_point,
        columns: layout.columns,
        mean_column: layout.mean_column,
        columns_at: layout.columns_at,
        gathered_at: layout.gathered_at,
        ring_at: layout.ring_at,
        coupling_at: layout.coupling_at,
        sigma_at: layout.sigma_at,
        noise_at: layout.noise_at,
        recorded_at: layout.recorded_at,
        recorded_by_lane: u32::from(layout.recorded_by_lane),
    }
}
