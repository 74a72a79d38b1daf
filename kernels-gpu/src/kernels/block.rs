//! Where the data of a block's point is.

use super::KernelFloat;
use crate::abi::{EdgeRecord, GatherRecord, MonitorRecord, PointRecord, SimulationArguments};
use crate::scheme::StepSizes;
use cuda_std::thread;

/// The arrays of a launch. In a kernel each is a parameter of its own, so that the compiler knows
/// that they are in global memory.
#[derive(Clone, Copy, Debug)]
pub struct Pointers<T> {
    /// `[point][column][node]`
    pub columns: *mut T,
    /// `[channel][node][capacity]` at [`PointRecord::history`].
    pub history: *mut T,
    /// Rows of the time series; see [`MonitorRecord::rows`].
    pub rows: *mut T,
    /// `[point][node]`: the first step after which a state was not finite, or [`crate::abi::FINITE`].
    pub nonfinite: *mut u64,
    /// One a point of the batch.
    pub points: *const PointRecord,
    /// `[point][parameter]`
    pub point_parameters: *const T,
    /// `[parameter][node]`
    pub node_parameters: *const T,
    /// `[step of the launch][signal]`
    pub signals: *const T,
    /// One a gathered sum.
    pub gathers: *const GatherRecord,
    /// `[table][node + 1]`: where the edges of a row start.
    pub row_starts: *const u32,
    /// All edges of all tables.
    pub edges: *const EdgeRecord,
    /// One an edge.
    pub weights: *const T,
    /// `[table][node]`: sums of the weights of a row.
    pub row_sums: *const T,
    /// One a time series.
    pub monitors: *const MonitorRecord,
}

/// An integration scheme.
#[derive(Clone, Copy)]
pub(super) enum Scheme {
    Euler,
    Heun,
    Rk4,
    Map,
}

impl Scheme {
    /// The scheme in a word of [`features`], told by one bit after the other: of a chain of comparisons
    /// the compiler would make a table of jumps, which the assembler does not see through.
    #[inline(always)]
    pub(super) fn of(word: u32) -> Self {
        match (word & 0b10 != 0, word & 0b01 != 0) {
            (false, false) => Self::Euler,
            (false, true) => Self::Heun,
            (true, false) => Self::Rk4,
            (true, true) => Self::Map,
        }
    }
}

/// A block at work on its point.
#[derive(Clone, Copy)]
pub(super) struct Block<T> {
    pub(super) arguments: SimulationArguments,
    pub(super) pointers: Pointers<T>,
    /// The point's number in the batch.
    pub(super) point: u32,
    pub(super) record: PointRecord,
    pub(super) features: u32,
    pub(super) dt: StepSizes<T>,
}

impl<T: KernelFloat> Block<T> {
    /// # Safety
    /// The arrays have the sizes that the arguments say; one block a point.
    #[inline(always)]
    pub(super) unsafe fn new(
        arguments: SimulationArguments,
        pointers: Pointers<T>,
        features: u32,
    ) -> Self {
        let point = thread::block_idx_x();
        Self {
            arguments,
            pointers,
            point,
            // SAFETY: one record a block.
            record: unsafe { *pointers.points.add(point as usize) },
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

    #[inline(always)]
    pub(super) fn scheme(&self) -> Scheme {
        Scheme::of(self.features)
    }

    /// A step and a part of it as time: the product in 64 bits, rounded once.
    #[inline(always)]
    pub(super) fn time(&self, step: u64, part: f64) -> T {
        T::from_f64((step as f64 + part) * self.arguments.dt)
    }

    /// The value of a node in a column.
    #[inline(always)]
    pub(super) fn column(&self, column: u32, node: u32) -> *mut T {
        let a = &self.arguments;
        let at = (self.point as usize * a.columns as usize + column as usize) * a.nodes as usize
            + node as usize;
        self.pointers.columns.wrapping_add(at)
    }

    /// The value of state variable `state` of a node.
    #[inline(always)]
    pub(super) fn state(&self, state: u32, node: u32) -> *mut T {
        self.column(state, node)
    }

    /// The parameters of the point.
    #[inline(always)]
    pub(super) fn point_parameters(&self) -> *const T {
        let at = self.point as usize * self.arguments.point_parameters as usize;
        self.pointers.point_parameters.wrapping_add(at)
    }

    /// The parameters of a node; one every `nodes` values.
    #[inline(always)]
    pub(super) fn node_parameters(&self, node: u32) -> *const T {
        self.pointers.node_parameters.wrapping_add(node as usize)
    }

    /// The stimuli during a step of this launch.
    #[inline(always)]
    pub(super) fn signals(&self, offset: u32) -> *const T {
        let at = offset as usize * self.arguments.signals as usize;
        self.pointers.signals.wrapping_add(at)
    }

    /// The history of a node's channel 0.
    #[inline(always)]
    pub(super) fn history(&self, node: u32) -> *mut T {
        let at = self.record.history as usize + node as usize * self.record.capacity as usize;
        self.pointers.history.wrapping_add(at)
    }

    /// Values from one channel of a node to the next.
    #[inline(always)]
    pub(super) fn channel_stride(&self) -> usize {
        self.arguments.nodes as usize * self.record.capacity as usize
    }

    /// The same in bytes.
    #[inline(always)]
    pub(super) fn channel_bytes(&self) -> u64 {
        (self.channel_stride() * size_of::<T>()) as u64
    }

    /// Copies the channels of a node at position 0 to all its past.
    ///
    /// # Safety
    /// The node exists, and no other thread writes its history.
    #[inline(always)]
    pub(super) unsafe fn fill_history(&self, node: u32) {
        let mut channel = 0;
        while channel < self.arguments.channels {
            let ring = self.history(node).wrapping_add(channel as usize * self.channel_stride());
            // SAFETY: `capacity` values of the ring.
            unsafe {
                let value = *ring;
                let mut position = 1;
                while position < self.record.capacity {
                    *ring.add(position as usize) = value;
                    position += 1;
                }
            }
            channel += 1;
        }
    }

    /// Notes the first step after which a node was not finite.
    ///
    /// # Safety
    /// The node exists, and no other thread has it.
    #[inline(always)]
    pub(super) unsafe fn note_nonfinite(&self, node: u32, step: u64) {
        let at = self.point as usize * self.arguments.nodes as usize + node as usize;
        // SAFETY: one value a node of a point.
        unsafe {
            let first = self.pointers.nonfinite.add(at);
            if step < *first {
                *first = step;
            }
        }
    }
}

/// Where a step is kept in a ring, and what that is for the step after.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// Steps since the launch started.
    pub(super) offset: u32,
    /// The step.
    pub(super) step: u64,
    /// Its place in the history.
    pub(super) position: u32,
    /// The place of the next.
    pub(super) next_position: u32,
}

impl Clock {
    #[inline(always)]
    pub(super) fn new(first_step: u64, capacity: u32) -> Self {
        let position = (first_step % u64::from(capacity)) as u32;
        Self { offset: 0, step: first_step, position, next_position: after(position, capacity) }
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, capacity: u32) {
        self.offset += 1;
        self.step += 1;
        self.position = self.next_position;
        self.next_position = after(self.position, capacity);
    }
}

#[inline(always)]
fn after(position: u32, capacity: u32) -> u32 {
    if position + 1 == capacity { 0 } else { position + 1 }
}
