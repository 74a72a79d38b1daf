//! Tables of edges: for every weight matrix and set of delays, the rows in the order of summation.

use super::array::HostArray;
use super::device_job::PrepareError;
use crate::back::Job;
use crate::back::cpu::Real;
use crate::connectome::delays::AfferentMatrix;
use crate::experiment::Precision;
use crate::ir::GatherSource;
use kernels_gpu::abi::{EdgeRecord, GatherRecord};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::{Pass, finish, pass_of};

/// The tables of a batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) gathers: Vec<GatherRecord>,
    /// `[table][node + 1]`
    pub(super) row_starts: Vec<u32>,
    pub(super) edges: Vec<EdgeRecord>,
    pub(super) weights: Vec<f64>,
    tables: usize,
    nodes: usize,
}

impl Tables {
    /// For points that have one of these conduction speeds, in mm/ms; the number of a speed is its
    /// delay class.
    pub(super) fn new(job: &Job<'_>, speeds: &[f64]) -> Result<Self, PrepareError> {
        let mut tables = Self { nodes: job.nodes, ..Self::default() };
        let mut known: Vec<((u32, bool), u32)> = Vec::new();
        for gather in &job.program.gathers {
            let key = (gather.matrix, gather.delayed);
            let first = match known.iter().find(|(k, _)| *k == key) {
                Some((_, first)) => *first,
                None => {
                    let first = tables.tables as u32;
                    let matrix = &job.matrices[gather.matrix as usize];
                    if gather.delayed {
                        for &speed in speeds {
                            tables.add(matrix, &matrix.delay_steps(speed, job.dt_ms)?)?;
                        }
                    } else {
                        tables.add(matrix, &vec![0; matrix.edges()])?;
                    }
                    known.push((key, first));
                    first
                }
            };
            let (kind, index) = match gather.source {
                GatherSource::Channel(channel) => (GatherRecord::CHANNEL, channel),
                GatherSource::Ones => (GatherRecord::ONES, 0),
                GatherSource::Edge(section) => (GatherRecord::EDGE, section),
            };
            let by_class = u32::from(gather.delayed);
            tables.gathers.push(GatherRecord { kind, index, first_table: first, by_class });
        }
        Ok(tables)
    }

    /// One table: the passes of every row one after the other, each with ascending sources.
    fn add(&mut self, matrix: &AfferentMatrix, delays: &[u32]) -> Result<(), PrepareError> {
        for target in 0..self.nodes {
            self.row_starts.push(self.position()?);
            for pass in Pass::ALL {
                let part = matrix.row(target).filter(|&(e, ..)| pass_of(delays[e]) == pass);
                for (edge, source, weight) in part {
                    self.edges.push(EdgeRecord { source: source as u32, delay: delays[edge] });
                    self.weights.push(weight);
                }
            }
        }
        self.row_starts.push(self.position()?);
        self.tables += 1;
        Ok(())
    }

    fn position(&self) -> Result<u32, PrepareError> {
        u32::try_from(self.edges.len()).map_err(|_| PrepareError::TooManyEdges)
    }

    /// Sums of the weights of every row, `[table][node]`, added as a gather adds.
    pub(super) fn row_sums(&self, precision: Precision) -> HostArray {
        match precision {
            Precision::F32 => HostArray::F32(self.sums()),
            Precision::F64 => HostArray::F64(self.sums()),
        }
    }

    fn sums<T: Real>(&self) -> Vec<T> {
        let tables = self.row_starts.chunks_exact(self.nodes + 1);
        let rows = tables.flat_map(|starts| starts.windows(2));
        rows.map(|row| {
            let weights = &self.weights[row[0] as usize..row[1] as usize];
            finish(weights.iter().fold(T::default(), |sum, &w| T::from_f64(w).fused(T::ONE, sum)))
        })
        .collect()
    }
}
