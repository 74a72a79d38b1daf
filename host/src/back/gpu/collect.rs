//! From the arrays of a batch to the sink.

use super::batch::{Batch, Launch};
use crate::back::cpu::Real;
use crate::back::{PointResult, RowBlock, Samples, Sink, SinkError, Status};
use kernels_gpu::abi::FINITE;

/// Hands over the results of a batch.
#[derive(Clone, Debug)]
pub struct Collector<'a> {
    batch: &'a Batch<'a>,
    status: Vec<Status>,
}

impl<'a> Collector<'a> {
    /// Before the first launch.
    pub fn new(batch: &'a Batch<'a>) -> Self {
        Self { batch, status: vec![Status::Finite; batch.points.len()] }
    }

    /// Whether no point is worth stepping any more. Rows that are not delivered then are NaN.
    pub fn all_flagged(&self) -> bool {
        self.status.iter().all(|status| *status != Status::Finite)
    }

    /// Takes what a launch left in the arrays `rows` and `nonfinite`.
    ///
    /// # Errors
    /// A sink that refuses.
    pub fn launch(
        &mut self,
        launch: &Launch,
        rows: Samples<'_>,
        nonfinite: &[u64],
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.note(nonfinite);
        match rows {
            Samples::F32(values) => self.rows(launch, values, sink),
            Samples::F64(values) => self.rows(launch, values, sink),
        }
    }

    fn note(&mut self, nonfinite: &[u64]) {
        let nodes = self.batch.device_job.job.nodes;
        for (status, steps) in self.status.iter_mut().zip(nonfinite.chunks_exact(nodes)) {
            match steps.iter().copied().min() {
                Some(step) if step != FINITE => *status = Status::NonFinite { step },
                _ => {}
            }
        }
    }

    fn rows<T: Real>(
        &self,
        launch: &Launch,
        values: &[T],
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let job = self.batch.device_job.job;
        let mut own = Vec::new();
        for (monitor, kind) in job.record.monitors.iter().enumerate() {
            let (start, room) = self.batch.series[monitor];
            let rows = launch.rows[monitor];
            if rows.count == 0 {
                continue;
            }
            let width = kind.variables(job.record.variables.len()) * kind.values(job.nodes);
            for (index, &status) in self.status.iter().enumerate() {
                let from = start as usize + index * room as usize * width;
                own.clear();
                own.extend_from_slice(&values[from..from + rows.count as usize * width]);
                if let Status::NonFinite { step } = status {
                    for row in 0..u64::from(rows.count) {
                        let last = job.transient_steps + kind.row_end(rows.first + row) - 1;
                        if step <= last {
                            own[row as usize * width..][..width].fill(T::NAN);
                        }
                    }
                }
                sink.rows(RowBlock {
                    point: self.batch.points[index],
                    monitor,
                    first_row: rows.first,
                    rows: rows.count as usize,
                    values: T::samples(&own),
                })?;
            }
        }
        Ok(())
    }

    /// Takes the arrays `columns` and `nonfinite` after the last launch: means and the end of each
    /// point.
    ///
    /// # Errors
    /// A sink that refuses.
    pub fn finish(
        mut self,
        columns: Samples<'_>,
        nonfinite: &[u64],
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.note(nonfinite);
        match columns {
            Samples::F32(values) => self.points(values, sink),
            Samples::F64(values) => self.points(values, sink),
        }
    }

    fn points<T: Real>(&self, columns: &[T], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let device_job = self.batch.device_job;
        let job = device_job.job;
        let (variables, nodes) = (job.record.variables.len(), job.nodes);
        let steps = T::from_f64(job.steps as f64);
        for (index, &status) in self.status.iter().enumerate() {
            let places = || {
                let of = |variable| {
                    (0..nodes).map(move |node| self.batch.mean_place(index, variable, node))
                };
                (0..variables).flat_map(of)
            };
            let mean: Option<Vec<T>> = job.record.mean.then(|| match status {
                Status::Finite => places().map(|place| columns[place] / steps).collect(),
                Status::NonFinite { .. } => vec![T::NAN; variables * nodes],
            });
            let mean = mean.as_deref().map(T::samples);
            sink.point(PointResult { point: self.batch.points[index], status, mean })?;
        }
        Ok(())
    }
}
