//! What host and kernels agree on: the arguments of a simulation kernel and the records in its
//! tables. Layouts are C's, without padding.
//!
//! Arrays over nodes are *columns*: one value a node, nodes side by side. Every point has the same
//! number of columns, `[point][column][node]`; [`SimulationArguments`] says which column is what.

#[cfg(not(target_arch = "nvptx64"))]
use bytemuck::{Pod, Zeroable};

/// The steps that a point's history must keep beyond its longest delay: the current one, and the one
/// that is written while slower threads still read.
pub const HISTORY_MARGIN: u32 = 2;

/// Bits of the word that the slot `features` returns.
pub mod features {
    /// Mask of the integration scheme: one of the four below.
    pub const METHOD: u32 = 0b11;
    /// Euler.
    pub const EULER: u32 = 0;
    /// Heun.
    pub const HEUN: u32 = 1;
    /// Runge–Kutta 4.
    pub const RK4: u32 = 2;
    /// A map: the drift is the next state.
    pub const MAP: u32 = 3;
    /// Some state variable has noise.
    pub const NOISE: u32 = 1 << 2;
    /// Some state variable is bounded.
    pub const BOUNDS: u32 = 1 << 3;
    /// The model has events.
    pub const EVENTS: u32 = 1 << 4;
    /// Some coupling is evaluated edge by edge.
    pub const EDGES: u32 = 1 << 5;
    /// Something is recorded.
    pub const RECORD: u32 = 1 << 6;
    /// A haemodynamic response is among it.
    pub const BOLD: u32 = 1 << 7;
    /// The noise is cuRAND's, see [`crate::curand`].
    pub const CURAND: u32 = 1 << 8;
    /// All of them.
    pub const ALL: u32 = METHOD | NOISE | BOUNDS | EVENTS | EDGES | RECORD | BOLD | CURAND;
}

/// Scalars of a launch: `steps` steps of every point of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct SimulationArguments {
    /// Seed of the noise.
    pub seed: u64,
    /// The first step, transient included. At step 0 the history is made.
    pub first_step: u64,
    /// Steps before recording starts.
    pub transient_steps: u64,
    /// `dt`
    pub dt: f64,
    /// `dt/2`
    pub half_dt: f64,
    /// `dt/6`
    pub sixth_dt: f64,
    /// `sqrt(dt)`
    pub root_dt: f64,
    /// Steps of this launch.
    pub steps: u32,
    /// Nodes of the network.
    pub nodes: u32,
    /// State variables, dummies included.
    pub states: u32,
    /// Values that enter the history: channels, then states that edges read.
    pub channels: u32,
    /// Gathered sums.
    pub gathers: u32,
    /// Noisy state variables.
    pub noisy: u32,
    /// Sampled stimuli.
    pub signals: u32,
    /// Recorded variables.
    pub variables: u32,
    /// [`MonitorRecord`]s: one a time series, or one a variable of it.
    pub monitors: u32,
    /// Whether means over all recorded steps are kept, 0 or 1.
    pub mean: u32,
    /// Parameters that differ between points.
    pub point_parameters: u32,
    /// Columns of a point.
    pub columns: u32,
    /// First column of the gathered sums; the states are at column 0.
    pub gathered_column: u32,
    /// First column of the coupling inputs.
    pub coupling_column: u32,
    /// First column of the noise amplitudes.
    pub sigma_column: u32,
    /// First column of the noise of the current step.
    pub noise_column: u32,
    /// First column of the recorded variables.
    pub recorded_column: u32,
    /// First column of the means: sums, then compensations.
    pub mean_column: u32,
    /// First column of the stages, in kernels that keep states in memory: five sets of states.
    pub stage_column: u32,
    /// Zero.
    pub reserved: u32,
}

/// A point of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct PointRecord {
    /// The point's number in the whole sweep, which keys its noise.
    pub key: u64,
    /// Where its history starts: `[channel][node][capacity]` values.
    pub history: u64,
    /// Steps that its history keeps: at least its longest delay and [`HISTORY_MARGIN`].
    pub capacity: u32,
    /// Which of the tables of delayed edges is its.
    pub delay_class: u32,
}

/// What a gather sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct GatherRecord {
    /// One of [`GatherRecord::CHANNEL`], [`GatherRecord::ONES`], [`GatherRecord::EDGE`].
    pub kind: u32,
    /// The channel, or the section of edges.
    pub index: u32,
    /// The table of edges of delay class 0.
    pub first_table: u32,
    /// 1 if there is one table a delay class, 0 if one serves all.
    pub by_class: u32,
}

impl GatherRecord {
    /// The history of a channel.
    pub const CHANNEL: u32 = 0;
    /// Weights alone: sums that the host knows.
    pub const ONES: u32 = 1;
    /// The value of a section of edges.
    pub const EDGE: u32 = 2;
}

/// An edge of a table: rows are targets, in the [order of summation](crate::summation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct EdgeRecord {
    /// The source node.
    pub source: u32,
    /// The delay in steps.
    pub delay: u32,
}

/// A time series of all recorded variables, or the haemodynamic response to one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct MonitorRecord {
    /// Where its rows start: `[point][row][variable][node]` values, or `[point][row][variable]`.
    pub rows: u64,
    /// Constants of a haemodynamic response, in the order of
    /// [`Constants`](crate::bold::Constants), each exact in the precision of the run.
    pub constants: [f64; 10],
    /// One of [`MonitorRecord::SAMPLE`], [`MonitorRecord::WINDOW`], [`MonitorRecord::NODE_MEAN`],
    /// [`MonitorRecord::BOLD`].
    pub kind: u32,
    /// Recorded steps a row.
    pub period: u32,
    /// Recorded steps since the last row's period ended when the launch starts.
    pub phase: u32,
    /// Rows of each point that there is room for; those of this launch are its first.
    pub capacity: u32,
    /// First column of the window: sums, then compensations; of a response its sum, compensation
    /// and four states.
    pub column: u32,
    /// Variables of a row.
    pub variables: u32,
    /// Which recorded variable drives a response.
    pub variable: u32,
    /// Its place among the variables of a row.
    pub place: u32,
    /// Steps of integration in a haemodynamic step.
    pub stride: u32,
    /// Recorded steps since the last haemodynamic step when the launch starts.
    pub stride_phase: u32,
}

impl MonitorRecord {
    /// The last step of each period.
    pub const SAMPLE: u32 = 0;
    /// The mean over each period.
    pub const WINDOW: u32 = 1;
    /// The mean over nodes at the last step of each period.
    pub const NODE_MEAN: u32 = 2;
    /// The BOLD signal at the first haemodynamic step that ends at or after each period.
    pub const BOLD: u32 = 3;
}

/// A node that has been finite so far, in the table of non-finite steps.
pub const FINITE: u64 = u64::MAX;

/// Bits of the word that the slot `features` of an `advance` kernel returns, beside those of
/// [`features`].
pub mod grouped {
    /// Mask of the values of a node that lie side by side in the history: the number itself, 0 to 4.
    pub const WIDTH: u32 = 0b111 << 16;
    /// Where that number starts.
    pub const WIDTH_SHIFT: u32 = 16;
    /// All of them.
    pub const ALL: u32 = WIDTH | DELAYED;
    /// Sums are delayed: far parts are ready, near ones are added from the history. Else they are
    /// products of a dense matrix with the present.
    pub const DELAYED: u32 = 1 << 19;
}

// Both are bits of the same word.
const _: () = assert!(features::ALL & grouped::ALL == 0);

/// Steps that a block's ring in shared memory holds: those that edges read whose delay is less than
/// [`NEAR_BLOCK`](crate::ring::NEAR_BLOCK), and as many under way.
pub const RING: u32 = 2 * crate::ring::NEAR_BLOCK as u32;

/// Scalars of a launch of `advance` or `gather_far`: some steps of every group of points of a batch.
///
/// Offsets in shared memory are in bytes. Columns there are one value a *lane*, or one a thread. A
/// lane is a node of a point of the group: `node << point_shift | point`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct GroupArguments {
    /// Seed of the noise.
    pub seed: u64,
    /// Steps before recording starts.
    pub transient_steps: u64,
    /// `dt`
    pub dt: f64,
    /// `dt/2`
    pub half_dt: f64,
    /// `dt/6`
    pub sixth_dt: f64,
    /// `sqrt(dt)`
    pub root_dt: f64,
    /// Steps of the chunk before this launch.
    pub offset: u32,
    /// Steps of this launch.
    pub steps: u32,
    /// Nodes of the network.
    pub nodes: u32,
    /// The same, rounded up to what the rows of dense tables have.
    pub padded_nodes: u32,
    /// Points of a group are `1 << point_shift`.
    pub point_shift: u32,
    /// State variables, dummies included.
    pub states: u32,
    /// Values of a point that enter the history.
    pub channels: u32,
    /// Gathered sums.
    pub gathers: u32,
    /// Noisy state variables.
    pub noisy: u32,
    /// Sampled stimuli.
    pub signals: u32,
    /// Recorded variables.
    pub variables: u32,
    /// [`MonitorRecord`]s.
    pub monitors: u32,
    /// Whether means over all recorded steps are kept, 0 or 1.
    pub mean: u32,
    /// Parameters that differ between points.
    pub point_parameters: u32,
    /// Columns that a lane keeps between launches: states first.
    pub columns: u32,
    /// First of them of the means: sums, then compensations.
    pub mean_column: u32,
    /// The kept columns, `[column][lane]`.
    pub columns_at: u32,
    /// `[step of a near block][gather][lane]`; without delays one step.
    pub gathered_at: u32,
    /// The channels of the last steps, `[step % RING][channel][lane]`; without delays two steps.
    pub ring_at: u32,
    /// Coupling inputs, `[input][thread]`.
    pub coupling_at: u32,
    /// Noise amplitudes, `[variable][thread]`.
    pub sigma_at: u32,
    /// Noise of the step, `[variable][thread]`.
    pub noise_at: u32,
    /// Recorded variables, `[variable][thread]`; of all lanes, `[variable][lane]`, where means over nodes
    /// are taken.
    pub recorded_at: u32,
    /// Whether recorded variables have a value a lane, 0 or 1.
    pub recorded_by_lane: u32,
}

/// Points that a block simulates: they share delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct GroupRecord {
    /// Where its history starts: `[node][capacity][width]` values, those of a node and step ordered by
    /// point, then channel.
    pub history: u64,
    /// The number of its first point in the batch.
    pub first_point: u32,
    /// How many it has; the last of a class may have fewer than the others.
    pub points: u32,
    /// Steps that its history keeps: a power of two, at least the longest delay, a block, and one.
    pub capacity: u32,
    /// Which of the tables of delayed edges is its.
    pub delay_class: u32,
}

/// The rows of a table of near edges: `[table][node]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct RowRecord {
    /// Where edges start that are not far and at least a near block long.
    pub middle: u32,
    /// Where those start that are shorter.
    pub near: u32,
    /// Where they end.
    pub end: u32,
}

/// What a chunk of steps, which is several launches, has in device memory, so that a recorded graph
/// of its launches can be replayed for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(Pod, Zeroable))]
#[repr(C)]
pub struct ChunkRecord {
    /// The first step of the chunk, transient included. At step 0 the history is made.
    pub first_step: u64,
}
