//! Gathers over values that do not separate into a source's and a target's part: a section of the
//! program runs for every edge.
//!
//! Edge number r of every target is computed at once, over the lanes of the tile; then each target's
//! value is added, so the order of additions is that of all gathers.

use super::compiled::Layout;
use super::coupling::pass_order;
use super::history::History;
use super::interpret::Running;
use super::schedule::Schedule;
use crate::connectome::delays::AfferentMatrix;
use kernels_cpu::{Isa, Real};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::finish;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
struct Edge<T> {
    source: u32,
    delay: u32,
    weight: T,
}

#[derive(Clone, Debug)]
struct Table<T> {
    points: Range<usize>,
    /// Row starts by target, one more than nodes.
    starts: Vec<u32>,
    /// In the order of summation.
    edges: Vec<Edge<T>>,
}

/// A gather over the edges of a matrix whose values a section computes.
#[derive(Clone, Debug)]
pub(super) struct EdgeGather<T> {
    pub(super) running: Running<T>,
    sum: u32,
    result: u32,
    /// `(array, channel of the history)` of every source state.
    sources: Vec<(u32, usize)>,
    tables: Vec<Table<T>>,
    most: usize,
}

impl<T: Real> EdgeGather<T> {
    pub(super) fn new<'a>(
        schedule: &Schedule,
        sum: u32,
        result: u32,
        layout: &Layout,
        emitted: usize,
        classes: impl Iterator<Item = (Range<usize>, &'a AfferentMatrix, Option<&'a [u32]>)>,
    ) -> Self {
        let mut most = 0;
        let tables = classes.map(|(points, matrix, delays)| {
            let delay = |edge: usize| delays.map_or(0, |d| d[edge]);
            let mut table = Table { points, starts: vec![0], edges: Vec::new() };
            for target in 0..matrix.nodes() {
                table.edges.extend(pass_order(matrix, target, delay).map(|(edge, source, w)| {
                    Edge { source: source as u32, delay: delay(edge), weight: T::from_f64(w) }
                }));
                most = most.max(table.edges.len() - table.starts[target] as usize);
                table.starts.push(table.edges.len() as u32);
            }
            table
        });
        let tables = tables.collect();
        let sources = (0..layout.source_states.len())
            .map(|i| (layout.sources + i as u32, emitted + i))
            .collect();
        let values = vec![T::default(); schedule.nodes.len()];
        let running = Running { schedule: schedule.clone(), values };
        Self { running, sum, result, sources, tables, most }
    }

    pub(super) fn set_up(&mut self, isa: Isa, arrays: &mut [Vec<T>], lanes: usize) {
        self.running.set_up(isa, arrays, lanes);
    }

    /// The sums of step `step` of the steps that started at `t0`.
    pub(super) fn gather(
        &mut self,
        isa: Isa,
        history: &History<T>,
        step: usize,
        t0: u64,
        arrays: &mut [Vec<T>],
    ) {
        arrays[self.sum as usize].fill(T::default());
        for rank in 0..self.most {
            for &(array, channel) in &self.sources {
                let out = &mut arrays[array as usize];
                self.each(rank, history, |class, lane, point, edge| {
                    let place = (point, channel, edge.source as usize);
                    out[lane] = history.at(class, place, (step, t0), edge.delay);
                });
            }
            self.running.step(isa, arrays, history.lanes);
            let values = std::mem::take(&mut arrays[self.result as usize]);
            let sums = &mut arrays[self.sum as usize];
            self.each(rank, history, |_, lane, _, edge| {
                sums[lane] = edge.weight.fused(values[lane], sums[lane]);
            });
            arrays[self.result as usize] = values;
        }
        arrays[self.sum as usize].iter_mut().for_each(|sum| *sum = finish(*sum));
    }

    /// Calls `f(class, lane, point, edge)` for edge number `rank` of every target and point.
    fn each(
        &self,
        rank: usize,
        history: &History<T>,
        mut f: impl FnMut(usize, usize, usize, &Edge<T>),
    ) {
        for (class, table) in self.tables.iter().enumerate() {
            for (target, row) in table.starts.windows(2).enumerate() {
                if let Some(edge) = table.edges[row[0] as usize..row[1] as usize].get(rank) {
                    for point in table.points.clone() {
                        f(class, target * history.width + point, point, edge);
                    }
                }
            }
        }
    }
}
