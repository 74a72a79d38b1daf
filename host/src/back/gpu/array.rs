//! Arrays on their way to a device.

use crate::back::Samples;
use crate::experiment::Precision;
use kernels_gpu::abi::{
    ChunkRecord, EdgeRecord, GatherRecord, GroupRecord, MonitorRecord, PointRecord, RowRecord,
};

/// An array of one of the types that kernels read.
#[derive(Clone, Debug, PartialEq)]
pub enum HostArray {
    /// Floats of a run in 32 bits.
    F32(Vec<f32>),
    /// Floats of a run in 64 bits.
    F64(Vec<f64>),
    /// Indices.
    U32(Vec<u32>),
    /// Steps.
    U64(Vec<u64>),
    /// Points of a batch.
    Points(Vec<PointRecord>),
    /// Gathered sums.
    Gathers(Vec<GatherRecord>),
    /// Edges.
    Edges(Vec<EdgeRecord>),
    /// Time series.
    Monitors(Vec<MonitorRecord>),
    /// Groups of points.
    Groups(Vec<GroupRecord>),
    /// Parts of rows of edges.
    Rows(Vec<RowRecord>),
    /// Where a chunk of steps starts.
    Chunk(Vec<ChunkRecord>),
}

/// An array of a kernel, named as its parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "documented at kernels_gpu::kernels::Pointers and GroupPointers")]
pub enum ArrayId {
    Chunk,
    Groups,
    Points,
    Columns,
    History,
    Far,
    Rows,
    Nonfinite,
    PointParameters,
    NodeParameters,
    Signals,
    Gathers,
    RowStarts,
    EdgeRows,
    Edges,
    Weights,
    RowSums,
    Dense,
    FarWeights,
    FarDelays,
    Monitors,
}

impl ArrayId {
    /// The arrays that each chunk of steps has its own of.
    pub const OF_CHUNKS: [Self; 3] = [Self::Chunk, Self::Signals, Self::Monitors];
}

/// The arrays of a batch, but for those that each chunk has its own of.
pub type Arrays = std::collections::BTreeMap<ArrayId, Upload>;

/// All variants with the same expression for their vector.
macro_rules! each {
    ($array:expr, $values:ident => $result:expr) => {
        match $array {
            HostArray::F32($values) => $result,
            HostArray::F64($values) => $result,
            HostArray::U32($values) => $result,
            HostArray::U64($values) => $result,
            HostArray::Points($values) => $result,
            HostArray::Gathers($values) => $result,
            HostArray::Edges($values) => $result,
            HostArray::Monitors($values) => $result,
            HostArray::Groups($values) => $result,
            HostArray::Rows($values) => $result,
            HostArray::Chunk($values) => $result,
        }
    };
}

impl HostArray {
    /// Numbers, each rounded once to the precision of the run.
    pub fn floats(precision: Precision, values: impl Iterator<Item = f64>) -> Self {
        match precision {
            Precision::F32 => Self::F32(values.map(|v| v as f32).collect()),
            Precision::F64 => Self::F64(values.collect()),
        }
    }

    /// Zeros in the precision of the run.
    pub fn zeros(precision: Precision, count: usize) -> Self {
        match precision {
            Precision::F32 => Self::F32(vec![0.0; count]),
            Precision::F64 => Self::F64(vec![0.0; count]),
        }
    }

    /// The array as the device holds it.
    pub fn bytes(&self) -> &[u8] {
        each!(self, values => bytemuck::cast_slice(values))
    }

    /// The same, to be overwritten by what the device has.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        each!(self, values => bytemuck::cast_slice_mut(values))
    }

    /// Floats of the run; none if these are no floats.
    pub fn samples(&self) -> Option<Samples<'_>> {
        match self {
            Self::F32(values) => Some(Samples::F32(values)),
            Self::F64(values) => Some(Samples::F64(values)),
            _ => None,
        }
    }
}

/// An array on the device before the first launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Upload {
    /// With these values.
    Values(HostArray),
    /// So many floats of the run, which the kernel writes before it reads them.
    Floats(usize),
    /// So many floats of the run, zero at the start.
    Zeros(usize),
}

impl Upload {
    /// How many bytes it has, floats being so long.
    pub fn bytes(&self, float: usize) -> usize {
        match self {
            Self::Values(values) => values.bytes().len(),
            Self::Floats(count) | Self::Zeros(count) => count * float,
        }
    }
}
