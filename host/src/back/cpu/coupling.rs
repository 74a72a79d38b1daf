//! The gathers of a tile: far edges once a block of steps, middle edges once in [`NEAR_BLOCK`] steps,
//! near and undelayed ones at every step.

use super::compiled::Compiled;
use super::edges::EdgeGather;
use super::history::{DelayClass, History};
use crate::back::{Job, JobError};
use crate::connectome::delays::AfferentMatrix;
use crate::ir::GatherSource;
use kernels_cpu::gather::{DenseTable, NearEdge, NearTable, Segment, WindowTable};
use kernels_cpu::{Isa, PACK, Real};
use kernels_gpu::ring::{self, BLOCK, NEAR_BLOCK};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::{Pass, finish, pass_of};

/// Bytes of rings that stay in the first-level cache while all targets read them.
const CACHED_RINGS: usize = 24 << 10;

/// Points of a tile below which an undelayed gather has its targets side by side; whole packs of points
/// lie side by side themselves.
const FEW_POINTS: usize = 4;

/// Gathers over the same edges.
#[derive(Clone, Debug)]
struct Group<T> {
    /// `(array of sums, channel)`
    gathers: Vec<(u32, usize)>,
    /// One a delay class; a single one if undelayed.
    near: Vec<NearTable<T>>,
    /// One a delay class, empty if undelayed.
    middle: Vec<WindowTable<T>>,
    /// One a delay class, empty if undelayed.
    far: Vec<WindowTable<T>>,
    /// Its first row in `sums` and `by_step`; none if all edges are near.
    rows: Option<usize>,
    /// For many undelayed edges.
    dense: Option<DenseTable<T>>,
}

/// History and gathers of a tile.
#[derive(Clone, Debug)]
pub(super) struct Coupling<T> {
    first_channel: usize,
    history: History<T>,
    groups: Vec<Group<T>>,
    edge_gathers: Vec<EdgeGather<T>>,
    /// `[row][point][node][step]`, sums of far and middle edges of the block under way.
    sums: Vec<[T; BLOCK]>,
    /// `[step][row][lane]`, the same for the [`NEAR_BLOCK`] steps under way.
    by_step: Vec<T>,
    rows: usize,
    /// Which of `[point][node]` a lane is; anything for padding.
    places: Vec<u32>,
    /// Scratch: where windows start, by edge.
    starts: Vec<u32>,
    constant: Vec<(u32, Vec<T>)>,
}

/// The edges of a target in the order of summation.
pub(super) fn pass_order(
    matrix: &AfferentMatrix,
    target: usize,
    delay: impl Fn(usize) -> u32 + Copy,
) -> impl Iterator<Item = (usize, usize, f64)> {
    Pass::ALL.into_iter().flat_map(move |pass| of_pass(matrix, target, pass, delay))
}

fn of_pass(
    matrix: &AfferentMatrix,
    target: usize,
    pass: Pass,
    delay: impl Fn(usize) -> u32 + Copy,
) -> impl Iterator<Item = (usize, usize, f64)> {
    matrix.row(target).filter(move |&(edge, ..)| pass_of(delay(edge)) == pass)
}

impl<T: Real> Coupling<T> {
    /// For points `points` of the job, those of one speed side by side.
    pub(super) fn new(
        job: &Job<'_>,
        compiled: &Compiled,
        points: &[usize],
        lanes: usize,
    ) -> Result<Self, JobError> {
        let layout = &compiled.layout;
        let history = History::new(job, points, lanes, layout.history_count as usize)?;
        let mut edge_gathers = Vec::new();
        let mut constant = Vec::new();
        for (index, gather) in job.program.gathers.iter().enumerate() {
            let array = layout.gathered + index as u32;
            let number = gather.matrix as usize;
            let matrix = &job.matrices[number];
            match gather.source {
                GatherSource::Ones => {
                    constant.push((array, row_sums(&history, matrix, number, gather.delayed)));
                }
                GatherSource::Edge(section) => edge_gathers.push(EdgeGather::new(
                    &compiled.edges[section as usize],
                    array,
                    layout.edge_results + section,
                    layout,
                    job.program.emit.results.len(),
                    history.classes.iter().map(|class| {
                        let delays = gather.delayed.then_some(&class.delays[number][..]);
                        (class.points.clone(), matrix, delays)
                    }),
                )),
                GatherSource::Channel(_) => {}
            }
        }
        let (groups, rows) = groups(job, layout.gathered, &history);
        let (live, width) = (history.nodes * history.width, history.width);
        let place = |lane: usize| (lane % width) * history.nodes + lane / width;
        Ok(Self {
            first_channel: layout.history as usize,
            groups,
            edge_gathers,
            sums: vec![[T::default(); BLOCK]; rows * live],
            by_step: vec![T::default(); NEAR_BLOCK * rows * lanes],
            rows,
            places: (0..lanes).map(|l| place(l.min(live - 1)) as u32).collect(),
            starts: Vec::new(),
            constant,
            history,
        })
    }

    /// Fills the past with the channels in `arrays`, and sets sums that never change.
    pub(super) fn start(&mut self, isa: Isa, arrays: &mut [Vec<T>]) {
        self.history.start(&arrays[self.first_channel..][..self.history.channels]);
        for (array, sums) in &self.constant {
            arrays[*array as usize].copy_from_slice(sums);
        }
        for edges in &mut self.edge_gathers {
            edges.set_up(isa, arrays, self.history.lanes);
        }
    }

    /// Sets the uniform leaves of sections of edges.
    pub(super) fn set(&mut self, value: impl Fn(super::graph::Leaf) -> Option<T> + Copy) {
        self.edge_gathers.iter_mut().for_each(|e| e.running.set(value));
    }

    /// Takes the channels of step `step` of the [`NEAR_BLOCK`] steps under way.
    pub(super) fn push(&mut self, step: usize, arrays: &[Vec<T>]) {
        let channels = &arrays[self.first_channel..][..self.history.channels];
        self.history.push(step as isize, channels);
    }

    /// Sums the far edges for the block that starts at step `t0`.
    pub(super) fn begin_block(&mut self, isa: Isa, t0: u64) {
        if self.rows > 0 {
            self.sums.fill([T::default(); BLOCK]);
            self.windows(isa, t0, Pass::Far, 0);
        }
    }

    /// Sums the middle edges for the [`NEAR_BLOCK`] steps that start at step `t0`, the `at`th of a block.
    pub(super) fn begin_part(&mut self, isa: Isa, t0: u64, at: usize) {
        if self.rows == 0 {
            return;
        }
        self.windows(isa, t0, Pass::Middle, at);
        let (lanes, live) = (self.history.lanes, self.history.nodes * self.history.width);
        for (row, sums) in self.sums.chunks_exact(live).enumerate() {
            let to = &mut self.by_step[row * lanes..];
            T::to_steps(isa, sums, at, &self.places, to, self.rows * lanes);
        }
    }

    /// Adds the edges of a pass to `sums`, for the steps from `t0` on.
    fn windows(&mut self, isa: Isa, t0: u64, pass: Pass, at: usize) {
        let history = &self.history;
        let (nodes, live) = (history.nodes, history.nodes * history.width);
        for group in &self.groups {
            let Some(first_row) = group.rows else { continue };
            let tables = if pass == Pass::Far { &group.far } else { &group.middle };
            for (class, table) in history.classes.iter().zip(tables) {
                if table.segments.is_empty() {
                    continue;
                }
                let position = ring::block_position(t0, class.capacity);
                T::window_starts(isa, table, position, class.capacity, &mut self.starts);
                // The far pass is bound by the first-level cache, so it takes point after point. Points
                // that go through the middle pass together share the look-up of weight and place.
                let mut points = class.points.clone();
                while !points.is_empty() {
                    let together = if pass == Pass::Middle && points.len() > 1 { 2 } else { 1 };
                    for (pair, gathers) in group.gathers.chunks(2).enumerate() {
                        let mut sums =
                            self.sums[(first_row + 2 * pair) * live..].chunks_exact_mut(live);
                        let mut rings: [&[T]; 4] = [&[]; 4];
                        let mut targets: [&mut [[T; BLOCK]]; 4] =
                            std::array::from_fn(|_| Default::default());
                        let mut count = 0;
                        for &(_, channel) in gathers {
                            let Some(sums) = sums.next() else { continue };
                            let of_points = sums.chunks_exact_mut(nodes).skip(points.start);
                            for (point, sums) in points.clone().zip(of_points).take(together) {
                                rings[count] = history.rings(class, point, channel);
                                targets[count] = sums;
                                count += 1;
                            }
                        }
                        let (rings, targets) = (&rings[..count], &mut targets[..count]);
                        if pass == Pass::Far {
                            T::far(isa, table, &self.starts, rings, targets);
                        } else {
                            T::middle(isa, table, &self.starts, at, rings, targets);
                        }
                    }
                    points.start += together;
                }
            }
        }
    }

    /// Computes all sums of step `step` of the [`NEAR_BLOCK`] steps that started at `t0`. The channels of
    /// the step have been pushed.
    pub(super) fn gather(&mut self, isa: Isa, step: usize, t0: u64, arrays: &mut [Vec<T>]) {
        let history = &self.history;
        let (lanes, width) = (history.lanes, history.width);
        for group in &self.groups {
            if let Some(table) = &group.dense
                && group.gathers.iter().all(|&(_, channel)| {
                    let from = history.row(step as isize, channel);
                    T::all_finite(isa, &history.recent()[from..from + history.nodes * width])
                })
            {
                for &(array, channel) in &group.gathers {
                    let from = history.row(step as isize, channel);
                    let history = &history.recent()[from..from + history.nodes * width];
                    T::dense(isa, table, history, width, &mut arrays[array as usize]);
                }
                continue;
            }
            for (index, table) in group.near.iter().enumerate() {
                let points = match group.near.len() {
                    1 => 0..width,
                    _ => history.classes[index].points.clone(),
                };
                for (pair, gathers) in group.gathers.chunks(2).enumerate() {
                    let before = group.rows.map(|first| {
                        let row = |member: usize| {
                            let row = step * self.rows + first + 2 * pair + member;
                            &self.by_step[row * lanes..][..lanes]
                        };
                        [row(0), row(gathers.len() - 1)]
                    });
                    let mut now = [0; 2];
                    let mut sums = [0; 2];
                    for (g, &(array, channel)) in gathers.iter().enumerate() {
                        now[g] = history.row(step as isize, channel);
                        sums[g] = array as usize;
                    }
                    let (now, sums) = (&now[..gathers.len()], &sums[..gathers.len()]);
                    let points = points.clone();
                    T::near(isa, table, history.recent(), now, before, arrays, sums, width, points);
                }
            }
        }
        for edges in &mut self.edge_gathers {
            edges.gather(isa, history, step, t0, arrays);
        }
    }

    /// Ends [`NEAR_BLOCK`] whole steps that started at step `t0`.
    pub(super) fn end_part(&mut self, isa: Isa, t0: u64) {
        self.history.advance(isa, t0);
    }
}

/// Sums of weights, in the order of the gather.
fn row_sums<T: Real>(
    history: &History<T>,
    matrix: &AfferentMatrix,
    index: usize,
    delayed: bool,
) -> Vec<T> {
    let mut sums = vec![T::default(); history.lanes];
    for class in &history.classes {
        for node in 0..history.nodes {
            let delay = |edge: usize| if delayed { class.delays[index][edge] } else { 0 };
            let sum = pass_order(matrix, node, delay)
                .fold(T::default(), |sum, (_, _, w)| T::from_f64(w).fused(T::ONE, sum));
            for point in class.points.clone() {
                sums[node * history.width + point] = finish(sum);
            }
        }
    }
    sums
}

/// Puts gathers over the same edges together and makes their tables; also counts their rows.
fn groups<T: Real>(job: &Job<'_>, gathered: u32, history: &History<T>) -> (Vec<Group<T>>, usize) {
    let mut groups: Vec<((u32, bool), Group<T>)> = Vec::new();
    for (index, gather) in job.program.gathers.iter().enumerate() {
        let GatherSource::Channel(channel) = gather.source else { continue };
        let member = (gathered + index as u32, channel as usize);
        let key = (gather.matrix, gather.delayed);
        if let Some((_, group)) = groups.iter_mut().find(|(k, _)| *k == key) {
            group.gathers.push(member);
        } else {
            let (near, middle, far) = (Vec::new(), Vec::new(), Vec::new());
            let group = Group { gathers: vec![member], near, middle, far, rows: None, dense: None };
            groups.push((key, group));
        }
    }
    let mut rows = 0;
    for ((index, delayed), group) in &mut groups {
        let matrix = &job.matrices[*index as usize];
        if *delayed {
            for class in &history.classes {
                let delays = &class.delays[*index as usize];
                let group_size = cached_sources::<T>(class, group.gathers.len());
                let windows =
                    |pass, sources| window_table(history, matrix, class, delays, pass, sources);
                group.near.push(near_table(history, matrix, |edge| delays[edge]));
                group.middle.push(windows(Pass::Middle, history.nodes));
                group.far.push(windows(Pass::Far, group_size));
            }
            if group.far.iter().chain(&group.middle).any(|table| !table.weights.is_empty()) {
                group.rows = Some(rows);
                rows += group.gathers.len();
            }
        } else {
            group.near.push(near_table(history, matrix, |_| 0));
            let most = 4 * matrix.edges() > history.nodes * history.nodes;
            if most && (history.width < FEW_POINTS || history.width.is_multiple_of(2 * PACK)) {
                group.dense = Some(dense_table(matrix));
            }
        }
    }
    (groups.into_iter().map(|(_, group)| group).collect(), rows)
}

/// How many sources' rings stay in the first-level cache.
fn cached_sources<T>(class: &DelayClass, gathers: usize) -> usize {
    let bytes = gathers.min(2) * ring::storage(class.capacity) * size_of::<T>();
    (CACHED_RINGS / bytes.max(1)).clamp(2, 16)
}

fn near_table<T: Real>(
    history: &History<T>,
    matrix: &AfferentMatrix,
    delay: impl Fn(usize) -> u32 + Copy,
) -> NearTable<T> {
    let row = (history.channels * history.lanes) as isize;
    let mut table = NearTable { starts: vec![0], edges: Vec::new() };
    for target in 0..history.nodes {
        for (edge, source, weight) in of_pass(matrix, target, Pass::Near, delay) {
            let shift = (source * history.width) as isize - delay(edge) as isize * row;
            table.edges.push(NearEdge { shift, weight: T::from_f64(weight) });
        }
        table.starts.push(table.edges.len() as u32);
    }
    table
}

/// The edges of a pass, by groups of `sources`; in a group, targets with equally many edges follow
/// each other, so that the processor foresees the end of their loops.
fn window_table<T: Real>(
    history: &History<T>,
    matrix: &AfferentMatrix,
    class: &DelayClass,
    delays: &[u32],
    pass: Pass,
    sources: usize,
) -> WindowTable<T> {
    let storage = ring::storage(class.capacity);
    let mut table = WindowTable::default();
    let mut rows: Vec<_> = (0..history.nodes)
        .map(|target| of_pass(matrix, target, pass, |edge| delays[edge]).peekable())
        .collect();
    for group in (0..history.nodes).step_by(sources.max(1)) {
        let first = table.segments.len();
        for (target, row) in rows.iter_mut().enumerate() {
            let start = table.weights.len() as u32;
            while let Some((edge, source, weight)) =
                row.next_if(|&(_, source, _)| source < group + sources)
            {
                table.rings.push((source * storage) as u32);
                table.delays.push(delays[edge]);
                table.weights.push(T::from_f64(weight));
            }
            let end = table.weights.len() as u32;
            if end > start {
                table.segments.push(Segment { target: target as u32, start, end });
            }
        }
        table.segments[first..].sort_by_key(|segment| segment.end - segment.start);
    }
    table
}

fn dense_table<T: Real>(matrix: &AfferentMatrix) -> DenseTable<T> {
    let nodes = matrix.nodes();
    let row = nodes.next_multiple_of(PACK);
    let mut weights = vec![T::default(); nodes * row];
    for target in 0..nodes {
        for (_, source, weight) in matrix.row(target) {
            weights[source * row + target] = T::from_f64(weight);
        }
    }
    DenseTable { weights, row }
}
