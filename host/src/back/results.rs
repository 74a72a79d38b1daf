//! How an engine delivers results and says how far it is.

/// An error of a sink.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Values in the precision of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Samples<'a> {
    /// 32 bits.
    F32(&'a [f32]),
    /// 64 bits.
    F64(&'a [f64]),
}

impl Samples<'_> {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them in 64 bits.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::F64(values) => values.to_vec(),
        }
    }
}

/// How a point ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All its states were finite.
    Finite,
    /// A state was infinite or NaN after this step (from 0, transient included). Its rows from there
    /// on and its means are NaN.
    NonFinite {
        /// The first such step.
        step: u64,
    },
}

/// Some rows of one monitor of one point.
#[derive(Clone, Copy, Debug)]
pub struct RowBlock<'a> {
    /// Position of the point in `Job::points`.
    pub point: usize,
    /// Position of the monitor in `Record::monitors`.
    pub monitor: usize,
    /// The first row.
    pub first_row: u64,
    /// How many.
    pub rows: usize,
    /// `[row][variable][node]`, or `[row][variable]` for means over nodes.
    pub values: Samples<'a>,
}

/// A finished point.
#[derive(Clone, Copy, Debug)]
pub struct PointResult<'a> {
    /// Position of the point in `Job::points`.
    pub point: usize,
    /// How it ended.
    pub status: Status,
    /// Means over the recorded steps, `[variable][node]`, where they were asked for.
    pub mean: Option<Samples<'a>>,
}

/// Takes results. Rows of a monitor of a point come in order, then the point itself; points come in
/// any order.
pub trait Sink: Send {
    /// Takes some rows.
    ///
    /// # Errors
    /// Whatever keeps it from keeping them; the run stops.
    fn rows(&mut self, rows: RowBlock<'_>) -> Result<(), SinkError>;

    /// Takes a finished point.
    ///
    /// # Errors
    /// Whatever keeps it from keeping it; the run stops.
    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError>;
}

/// Hears how far a run is.
pub trait Progress: Sync {
    /// So many node-steps (nodes × steps × points) more are done.
    fn advance(&self, node_steps: u64);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _node_steps: u64) {}
}
