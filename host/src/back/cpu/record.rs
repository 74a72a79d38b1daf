//! From a tile's lanes to the sink: rows of monitors and means, point by point.

use super::compiled::Layout;
use super::real::Real;
use crate::back::Job;
use crate::back::{PointResult, RowBlock, Sink, SinkError, Status};
use crate::monitor::{CompensatedMean, Monitor, MonitorKind, TileShape};

/// Bytes of rows that a tile gathers before it hands them over.
pub(super) const BUFFER_BYTES: usize = 1 << 20;

struct Series<T> {
    kind: MonitorKind,
    monitor: Box<dyn Monitor<T>>,
    /// `[row][variable][lane]`, not handed over yet.
    rows: Vec<T>,
    /// Rows handed over.
    delivered: u64,
    /// Recorded steps that the rows not handed over end at.
    ends: Vec<u64>,
}

/// What is recorded of one tile.
pub(super) struct Recorder<T> {
    shape: TileShape,
    arrays: Vec<u32>,
    points: Vec<usize>,
    mean: Option<CompensatedMean<T>>,
    series: Vec<Series<T>>,
    status: Vec<Status>,
    transient_steps: u64,
}

impl<T: Real> Recorder<T> {
    pub(super) fn new(job: &Job<'_>, layout: &Layout, points: &[usize], shape: TileShape) -> Self {
        let start = |kind: &MonitorKind| Series {
            kind: kind.clone(),
            monitor: kind.start(shape),
            rows: Vec::new(),
            delivered: 0,
            ends: Vec::new(),
        };
        Self {
            shape,
            arrays: job.record.variables.iter().map(|&v| layout.recorded(v)).collect(),
            points: points.to_vec(),
            mean: job.record.mean.then(|| CompensatedMean::new(shape)),
            series: job.record.monitors.iter().map(start).collect(),
            status: vec![Status::Finite; points.len()],
            transient_steps: job.transient_steps,
        }
    }

    /// Flags a point whose state after step `step` is not finite; the first step counts.
    pub(super) fn flag(&mut self, point: usize, step: u64) {
        if self.status[point] == Status::Finite {
            self.status[point] = Status::NonFinite { step };
        }
    }

    /// Whether no point is worth stepping any more.
    pub(super) fn all_flagged(&self) -> bool {
        self.status.iter().all(|s| *s != Status::Finite)
    }

    /// Takes the state after step `step`.
    pub(super) fn record(
        &mut self,
        step: u64,
        arrays: &[Vec<T>],
        sink: &mut dyn FnMut(Delivery<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        if step < self.transient_steps || (self.mean.is_none() && self.series.is_empty()) {
            return Ok(());
        }
        let mut inline: [&[T]; 8] = [&[]; 8];
        let spilled: Vec<&[T]>;
        let variables: &[&[T]] = if self.arrays.len() <= inline.len() {
            for (slot, &array) in inline.iter_mut().zip(&self.arrays) {
                *slot = &arrays[array as usize];
            }
            &inline[..self.arrays.len()]
        } else {
            spilled = self.arrays.iter().map(|&a| &arrays[a as usize][..]).collect();
            &spilled
        };
        if let Some(mean) = &mut self.mean {
            mean.add(variables);
        }
        let mut full = false;
        for series in &mut self.series {
            if let Some(row) = series.monitor.record(step - self.transient_steps, variables) {
                series.rows.extend_from_slice(row);
                series.ends.push(step);
                full |= std::mem::size_of_val(&series.rows[..]) >= BUFFER_BYTES;
            }
        }
        if full { self.deliver_rows(sink) } else { Ok(()) }
    }

    /// Hands over what is left, then each point's mean and status.
    pub(super) fn finish(
        &mut self,
        last_step: u64,
        sink: &mut dyn FnMut(Delivery<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.deliver_rows(sink)?;
        self.complete_rows(last_step, sink)?;
        let TileShape { nodes, width, lanes, variables, .. } = self.shape;
        let means: Option<Vec<T>> = self.mean.as_ref().map(|m| m.means().collect());
        for (point, &status) in self.status.iter().enumerate() {
            let values: Option<Vec<T>> = means.as_ref().map(|means| {
                let at = |v: usize, n: usize| match status {
                    Status::Finite => means[v * lanes + n * width + point],
                    Status::NonFinite { .. } => T::NAN,
                };
                (0..variables)
                    .flat_map(|v| (0..nodes).map(move |n| (v, n)))
                    .map(|(v, n)| at(v, n))
                    .collect()
            });
            let mean = values.as_deref().map(T::samples);
            sink(Delivery::Point(PointResult { point: self.points[point], status, mean }))?;
        }
        Ok(())
    }

    /// Rows that were never reached because every point was flagged.
    fn complete_rows(
        &mut self,
        last_step: u64,
        sink: &mut dyn FnMut(Delivery<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let recorded = last_step.saturating_sub(self.transient_steps);
        for (monitor, series) in self.series.iter_mut().enumerate() {
            let per_row =
                series.kind.variables(self.shape.variables) * series.kind.values(self.shape.nodes);
            let at_once = (BUFFER_BYTES / (per_row * size_of::<T>()).max(1)).max(1) as u64;
            let total = series.kind.rows(recorded);
            while series.delivered < total {
                let rows = at_once.min(total - series.delivered);
                let values = vec![T::NAN; rows as usize * per_row];
                for &point in &self.points {
                    sink(Delivery::Rows(RowBlock {
                        point,
                        monitor,
                        first_row: series.delivered,
                        rows: rows as usize,
                        values: T::samples(&values),
                    }))?;
                }
                series.delivered += rows;
            }
        }
        Ok(())
    }

    fn deliver_rows(
        &mut self,
        sink: &mut dyn FnMut(Delivery<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let TileShape { nodes, width, lanes, variables, .. } = self.shape;
        let mut values = Vec::new();
        for (monitor, series) in self.series.iter_mut().enumerate() {
            if series.ends.is_empty() {
                continue;
            }
            let per_variable = series.kind.values(nodes);
            let variables = series.kind.variables(variables);
            let stride = series.rows.len() / (series.ends.len() * variables.max(1)).max(1);
            debug_assert!(stride == lanes || per_variable == 1, "rows are by lane or by point");
            for (point, &status) in self.status.iter().enumerate() {
                values.clear();
                let rows = series.rows.chunks_exact((stride * variables).max(1));
                for (row, &end) in rows.zip(&series.ends) {
                    let lost = matches!(status, Status::NonFinite { step } if step <= end);
                    for variable in row.chunks_exact(stride.max(1)) {
                        values.extend(
                            (0..per_variable)
                                .map(|n| if lost { T::NAN } else { variable[n * width + point] }),
                        );
                    }
                }
                sink(Delivery::Rows(RowBlock {
                    point: self.points[point],
                    monitor,
                    first_row: series.delivered,
                    rows: series.ends.len(),
                    values: T::samples(&values),
                }))?;
            }
            series.delivered += series.ends.len() as u64;
            series.rows.clear();
            series.ends.clear();
        }
        Ok(())
    }
}

/// What a tile hands over.
pub(super) enum Delivery<'a> {
    Rows(RowBlock<'a>),
    Point(PointResult<'a>),
}

impl Delivery<'_> {
    pub(super) fn to(self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match self {
            Self::Rows(rows) => sink.rows(rows),
            Self::Point(point) => sink.point(point),
        }
    }
}
