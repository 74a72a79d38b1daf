//! Where the data of a block's group is.

use crate::abi::{
    ChunkRecord, EdgeRecord, GatherRecord, GroupArguments, GroupRecord, MonitorRecord, PointRecord,
    RowRecord, grouped,
};
use crate::kernels::KernelFloat;
use crate::scheme::StepSizes;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::thread;

/// The arrays of a launch of `advance`.
#[derive(Clone, Copy, Debug)]
pub struct GroupPointers<T> {
    /// One.
    pub chunk: *const ChunkRecord,
    /// One a block.
    pub groups: *const GroupRecord,
    /// One a point of the batch; only the key is read.
    pub points: *const PointRecord,
    /// `[group][column][lane]`: what lanes keep between launches.
    pub columns: *mut T,
    /// See [`GroupRecord::history`].
    pub history: *mut T,
    /// `[group][node][step of the block][width]`: far parts of delayed sums.
    pub far: *const T,
    /// Rows of the time series; see [`MonitorRecord::rows`].
    pub rows: *mut T,
    /// `[point][node]`: the first step after which a state was not finite, or [`crate::abi::FINITE`].
    pub nonfinite: *mut u64,
    /// `[point][parameter]`
    pub point_parameters: *const T,
    /// `[parameter][node]`
    pub node_parameters: *const T,
    /// `[step of the chunk][signal]`
    pub signals: *const T,
    /// One a gathered sum.
    pub gathers: *const GatherRecord,
    /// `[table][node]`
    pub edge_rows: *const RowRecord,
    /// All edges of all tables.
    pub edges: *const EdgeRecord,
    /// One an edge.
    pub weights: *const T,
    /// `[table][node]`: sums of the weights of a row.
    pub row_sums: *const T,
    /// `[table][target][source]`, rows padded: weights of tables without delays, 0 where no edge is.
    pub dense: *const T,
    /// One a time series.
    pub monitors: *const MonitorRecord,
}

/// A block at work on its group.
#[derive(Clone, Copy)]
pub(super) struct Group<T> {
    pub(super) arguments: GroupArguments,
    pub(super) pointers: GroupPointers<T>,
    /// The group's number in the batch.
    pub(super) number: u32,
    pub(super) record: GroupRecord,
    /// The first step of this launch.
    pub(super) first_step: u64,
    pub(super) features: u32,
    pub(super) dt: StepSizes<T>,
}

/// A node of a point.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    /// `node << point_shift | point of the group`
    pub(super) number: u32,
    pub(super) node: u32,
    /// The point's number in the batch.
    pub(super) point: u32,
}

impl<T: KernelFloat> Group<T> {
    /// # Safety
    /// The arrays have the sizes that the arguments say; one block a group.
    #[inline(always)]
    pub(super) unsafe fn new(
        arguments: GroupArguments,
        pointers: GroupPointers<T>,
        features: u32,
    ) -> Self {
        let number = thread::block_idx_x();
        // SAFETY: one record a block, one chunk.
        let (record, chunk) = unsafe { (*pointers.groups.add(number as usize), *pointers.chunk) };
        Self {
            arguments,
            pointers,
            number,
            record,
            first_step: chunk.first_step + u64::from(arguments.offset),
            features,
            dt: StepSizes {
                whole: T::from_f64(arguments.dt),
                half: T::from_f64(arguments.half_dt),
                sixth: T::from_f64(arguments.sixth_dt),
                root: T::from_f64(arguments.root_dt),
            },
        }
    }

    #[inline(always)]
    pub(super) fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    /// Values of a node and step in the history.
    #[inline(always)]
    pub(super) fn width(&self) -> u32 {
        (self.features & grouped::WIDTH) >> grouped::WIDTH_SHIFT
    }

    /// A step of the launch and a part of it as time: the product in 64 bits, rounded once.
    #[inline(always)]
    pub(super) fn time(&self, step: u32, part: f64) -> T {
        T::from_f64(((self.first_step + u64::from(step)) as f64 + part) * self.arguments.dt)
    }

    /// Lanes, those of points that the group lacks included.
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        self.arguments.nodes << self.arguments.point_shift
    }

    /// The lane of this number, if its point exists.
    #[inline(always)]
    pub(super) fn lane(&self, number: u32) -> Option<Lane> {
        let node = number >> self.arguments.point_shift;
        let point = number - (node << self.arguments.point_shift);
        let exists = point < self.record.points;
        exists.then_some(Lane { number, node, point: self.record.first_point + point })
    }

    /// A value in shared memory: `place` values beyond `offset` bytes.
    #[inline(always)]
    pub(super) fn shared(&self, offset: u32, place: u32) -> SharedPtr<T> {
        dynamic_shared_mem::<T>().byte_add(offset).add(place)
    }

    /// A kept column of a lane.
    #[inline(always)]
    pub(super) fn column(&self, column: u32, lane: Lane) -> SharedPtr<T> {
        self.shared(self.arguments.columns_at, column * self.lanes() + lane.number)
    }

    /// The sums of a lane at a step of the near block; one every `lanes` values.
    #[inline(always)]
    pub(super) fn gathered(&self, step: u32, lane: Lane) -> SharedPtr<T> {
        let row = step * self.arguments.gathers * self.lanes();
        self.shared(self.arguments.gathered_at, row + lane.number)
    }

    /// The channels of a lane in the slot of the ring; one every `lanes` values.
    #[inline(always)]
    pub(super) fn ring(&self, slot: u32, lane: u32) -> SharedPtr<T> {
        let row = slot * self.arguments.channels * self.lanes();
        self.shared(self.arguments.ring_at, row + lane)
    }

    /// Recorded variable `variable`.
    #[inline(always)]
    pub(super) fn recorded(&self, variable: u32, lane: Lane) -> SharedPtr<T> {
        let a = &self.arguments;
        let (stride, place) = if a.recorded_by_lane != 0 {
            (self.lanes(), lane.number)
        } else {
            (thread::block_dim_x(), thread::thread_idx_x())
        };
        self.shared(a.recorded_at, variable * stride + place)
    }

    /// The history of a node: `[step][width]`.
    #[inline(always)]
    pub(super) fn history(&self, node: u32) -> *mut T {
        let at = node as usize * (self.record.capacity * self.width()) as usize;
        self.pointers.history.wrapping_add(self.record.history as usize + at)
    }

    /// Notes the first step after which a node was not finite.
    ///
    /// # Safety
    /// The lane exists, and no other thread has it.
    #[inline(always)]
    pub(super) unsafe fn note_nonfinite(&self, lane: Lane, step: u64) {
        let at = lane.point as usize * self.arguments.nodes as usize + lane.node as usize;
        // SAFETY: one value a node of a point.
        unsafe {
            let first = self.pointers.nonfinite.add(at);
            if step < *first {
                *first = step;
            }
        }
    }
}
