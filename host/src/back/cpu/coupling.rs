//! The history of a tile and the gathers that read it.
//!
//! The most recent values are kept by time and lane, for near edges: 32 steps of the past and the
//! block under way. Where an edge is far, each source of each point also has a ring, contiguous in
//! time, which is brought up to date at the end of a block.

use super::compiled::Compiled;
use super::edges::EdgeGather;
use super::gather::{self, FarEdge, FarTable, NearEdge, NearTable, SOURCE_GROUP, Segment};
use super::isa::Isa;
use super::real::Real;
use super::schedule::PACK;
use super::transpose;
use crate::back::{Job, JobError};
use crate::connectome::delays::AfferentMatrix;
use crate::ir::GatherSource;
use kernels_gpu::ring::{self, BLOCK};
use kernels_gpu::scheme::Arithmetic;
use kernels_gpu::summation::{Pass, finish, pass_of};
use std::ops::Range;

/// Points of a tile that share their delays.
#[derive(Clone, Debug)]
pub(super) struct DelayClass {
    /// Which points of the tile.
    pub(super) points: Range<usize>,
    /// Steps in their rings, 0 if no edge is far.
    pub(super) capacity: usize,
    /// Where the rings of its first point start; the others follow.
    pub(super) rings: usize,
    /// Delays of every edge of every matrix.
    delays: Vec<Vec<u32>>,
}

/// Points of a tile below which an undelayed gather has its targets side by side.
const FEW_POINTS: usize = 4;

/// Gathers over the same edges.
#[derive(Clone, Debug)]
struct Group<T> {
    /// `(array of sums, channel)`
    gathers: Vec<(u32, usize)>,
    /// One a delay class; a single one if undelayed.
    near: Vec<NearTable<T>>,
    /// One a delay class, empty if undelayed.
    far: Vec<FarTable<T>>,
    /// Where its sums are in `far_sums`; none if no edge is far.
    far_rows: Option<usize>,
    /// `[source][target]` with padded rows, for few points and many edges; empty otherwise.
    dense: Vec<T>,
}

/// History and gathers of a tile.
#[derive(Clone, Debug)]
pub(super) struct Coupling<T> {
    pub(super) nodes: usize,
    pub(super) width: usize,
    pub(super) lanes: usize,
    pub(super) channels: usize,
    first_channel: u32,
    /// Rows of the past in `recent`.
    pub(super) past: usize,
    /// `[step][channel][lane]`
    pub(super) recent: Vec<T>,
    /// `[point][channel][source][step]`
    pub(super) rings: Vec<T>,
    pub(super) classes: Vec<DelayClass>,
    groups: Vec<Group<T>>,
    edge_gathers: Vec<EdgeGather<T>>,
    /// `[step][gather][lane]`, the far part of the block under way.
    far_sums: Vec<T>,
    far_gathers: usize,
    /// Steps side by side: `[point][node][gather]` or `[lane]`.
    block: Vec<[T; BLOCK]>,
    /// Which row of `[point][node]` a lane is; anything for padding.
    block_rows: Vec<u32>,
    constant: Vec<(u32, Vec<T>)>,
}

/// The edges of a target in the order of summation.
pub(super) fn pass_order(
    matrix: &AfferentMatrix,
    target: usize,
    delay: impl Fn(usize) -> u32 + Copy,
) -> impl Iterator<Item = (usize, usize, f64)> {
    Pass::ALL.into_iter().flat_map(move |pass| {
        matrix.row(target).filter(move |&(edge, ..)| pass_of(delay(edge)) == pass)
    })
}

impl<T: Real> Coupling<T> {
    /// For points `points` of the job, those of one speed side by side.
    pub(super) fn new(
        job: &Job<'_>,
        compiled: &Compiled,
        points: &[usize],
        lanes: usize,
    ) -> Result<Self, JobError> {
        let program = job.program;
        let layout = &compiled.layout;
        let (nodes, width, channels) = (job.nodes, points.len(), layout.history_count as usize);
        let delayed = is_delayed(job);
        let past = if delayed { BLOCK } else { 0 };
        let rows = if delayed { 2 * BLOCK } else { 1 };
        let mut coupling = Self {
            nodes,
            width,
            lanes,
            channels,
            first_channel: layout.history,
            past,
            recent: vec![T::default(); rows * channels * lanes],
            rings: Vec::new(),
            classes: Vec::new(),
            groups: Vec::new(),
            edge_gathers: Vec::new(),
            far_sums: Vec::new(),
            far_gathers: 0,
            block: Vec::new(),
            block_rows: Vec::new(),
            constant: Vec::new(),
        };
        coupling.classify(job, points)?;
        for (index, gather) in program.gathers.iter().enumerate() {
            let array = layout.gathered + index as u32;
            let matrix = &job.matrices[gather.matrix as usize];
            match gather.source {
                GatherSource::Ones => {
                    let sums = coupling.row_sums(matrix, gather.matrix as usize, gather.delayed);
                    coupling.constant.push((array, sums));
                }
                GatherSource::Edge(section) => {
                    let schedule = &compiled.edges[section as usize];
                    let result = layout.edge_results + section;
                    coupling.edge_gathers.push(EdgeGather::new(
                        schedule,
                        array,
                        result,
                        layout,
                        program.emit.results.len(),
                        coupling.classes.iter().map(|class| {
                            let delays = &class.delays[gather.matrix as usize];
                            (class.points.clone(), matrix, gather.delayed.then_some(&delays[..]))
                        }),
                    ));
                }
                GatherSource::Channel(_) => {}
            }
        }
        coupling.group(job, layout.gathered);
        Ok(coupling)
    }

    /// Finds the points that share their delays and sizes their rings.
    fn classify(&mut self, job: &Job<'_>, points: &[usize]) -> Result<(), JobError> {
        let mut start = 0;
        while start < points.len() {
            let speed = job.speed.of(points[start]);
            let mut end = start + 1;
            while end < points.len() && job.speed.of(points[end]) == speed {
                end += 1;
            }
            let mut delays = Vec::with_capacity(job.matrices.len());
            let mut longest = 0;
            for index in 0..job.matrices.len() {
                let used =
                    job.program.gathers.iter().any(|g| g.delayed && g.matrix as usize == index);
                let steps = if used {
                    job.matrices[index].delay_steps(speed, job.dt_ms)?
                } else {
                    Vec::new()
                };
                longest = steps.iter().copied().fold(longest, u32::max);
                delays.push(steps);
            }
            let capacity = ring::capacity(longest);
            let rings = self.rings.len();
            let size = ring::storage(capacity) * self.channels * self.nodes * (end - start);
            self.rings.resize(rings + size, T::default());
            self.classes.push(DelayClass { points: start..end, capacity, rings, delays });
            start = end;
        }
        Ok(())
    }

    /// Sums of weights, in the order of the gather.
    fn row_sums(&self, matrix: &AfferentMatrix, index: usize, delayed: bool) -> Vec<T> {
        let mut sums = vec![T::default(); self.lanes];
        for class in &self.classes {
            for node in 0..self.nodes {
                let delay = |edge: usize| if delayed { class.delays[index][edge] } else { 0 };
                let sum = pass_order(matrix, node, delay)
                    .fold(T::default(), |sum, (_, _, w)| T::from_f64(w).fused(T::ONE, sum));
                for point in class.points.clone() {
                    sums[node * self.width + point] = finish(sum);
                }
            }
        }
        sums
    }

    /// Puts gathers over the same edges together and makes their tables.
    fn group(&mut self, job: &Job<'_>, gathered: u32) {
        let mut keys: Vec<(u32, bool)> = Vec::new();
        let mut members: Vec<Vec<(u32, usize)>> = Vec::new();
        for (index, gather) in job.program.gathers.iter().enumerate() {
            if let GatherSource::Channel(channel) = gather.source {
                let key = (gather.matrix, gather.delayed);
                let at = keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                    keys.push(key);
                    members.push(Vec::new());
                    keys.len() - 1
                });
                members[at].push((gathered + index as u32, channel as usize));
            }
        }
        for ((index, delayed), gathers) in keys.into_iter().zip(members) {
            let matrix = &job.matrices[index as usize];
            let (near, far, far_rows, dense) = (Vec::new(), Vec::new(), None, Vec::new());
            let mut group = Group { gathers, near, far, far_rows, dense };
            if delayed {
                for class in &self.classes {
                    let delays = &class.delays[index as usize];
                    group.near.push(self.near_table(matrix, |edge| delays[edge]));
                    group.far.push(self.far_table(matrix, delays, class.capacity));
                }
                if group.far.iter().any(|far| !far.edges.is_empty()) {
                    group.far_rows = Some(self.far_gathers);
                    self.far_gathers += group.gathers.len();
                }
            } else if self.width < FEW_POINTS && 4 * matrix.edges() > self.nodes * self.nodes {
                let row = self.nodes.next_multiple_of(PACK);
                group.dense = vec![T::default(); self.nodes * row];
                for target in 0..self.nodes {
                    for (_, source, weight) in matrix.row(target) {
                        group.dense[source * row + target] = T::from_f64(weight);
                    }
                }
            } else {
                group.near.push(self.near_table(matrix, |_| 0));
            }
            self.groups.push(group);
        }
        if self.far_gathers > 0 || !self.rings.is_empty() {
            self.block = vec![[T::default(); BLOCK]; 2 * self.lanes];
            let row = |lane: usize| (lane % self.width) * self.nodes + lane / self.width;
            let live = self.nodes * self.width;
            self.block_rows = (0..self.lanes).map(|l| row(l.min(live - 1)) as u32).collect();
        }
        self.far_sums = vec![T::default(); BLOCK * self.far_gathers * self.lanes];
    }

    fn near_table(&self, matrix: &AfferentMatrix, delay: impl Fn(usize) -> u32) -> NearTable<T> {
        let row = (self.channels * self.lanes) as isize;
        let mut table = NearTable { starts: vec![0], edges: Vec::new() };
        for target in 0..self.nodes {
            for (edge, source, weight) in pass_order(matrix, target, &delay) {
                if !ring::is_far(delay(edge)) {
                    let shift = (source * self.width) as isize - delay(edge) as isize * row;
                    table.edges.push(NearEdge { shift, weight: T::from_f64(weight) });
                }
            }
            table.starts.push(table.edges.len() as u32);
        }
        table
    }

    fn far_table(&self, matrix: &AfferentMatrix, delays: &[u32], capacity: usize) -> FarTable<T> {
        let mut rows: Vec<_> = (0..self.nodes)
            .map(|target| {
                matrix.row(target).filter(|&(edge, ..)| ring::is_far(delays[edge])).peekable()
            })
            .collect();
        let mut table = FarTable { segments: Vec::new(), edges: Vec::new() };
        for group in (0..self.nodes).step_by(SOURCE_GROUP) {
            for (target, row) in rows.iter_mut().enumerate() {
                let start = table.edges.len() as u32;
                while let Some((edge, source, weight)) =
                    row.next_if(|&(_, source, _)| source < group + SOURCE_GROUP)
                {
                    table.edges.push(FarEdge {
                        ring: (source * ring::storage(capacity)) as u32,
                        delay: delays[edge],
                        weight: T::from_f64(weight),
                    });
                }
                let end = table.edges.len() as u32;
                if end > start {
                    table.segments.push(Segment { target: target as u32, start, end });
                }
            }
        }
        table
    }

    /// Fills the past with the channels in `arrays`, and sets sums that never change.
    pub(super) fn start(&mut self, isa: Isa, arrays: &mut [Vec<T>]) {
        for row in 0..self.past {
            self.push(row as isize - self.past as isize, arrays);
        }
        let (first, width) = (self.first_channel as usize, self.width);
        for channel in 0..self.channels {
            for point in 0..width {
                self.each_ring(point, channel, |source, ring, _| {
                    ring.fill(arrays[first + channel][source * width + point]);
                });
            }
        }
        for (array, sums) in &self.constant {
            arrays[*array as usize].copy_from_slice(sums);
        }
        for edges in &mut self.edge_gathers {
            edges.set_up(isa, arrays, self.lanes);
        }
    }

    /// Sets the uniform leaves of sections of edges.
    pub(super) fn set(&mut self, value: impl Fn(super::graph::Leaf) -> Option<T> + Copy) {
        self.edge_gathers.iter_mut().for_each(|e| e.running.set(value));
    }

    fn row(&self, step: isize) -> usize {
        let row = if self.past == 0 { 0 } else { (self.past as isize + step) as usize };
        row * self.channels * self.lanes
    }

    /// Takes the channels of step `step` of the block.
    pub(super) fn push(&mut self, step: isize, arrays: &[Vec<T>]) {
        let row = self.row(step);
        for channel in 0..self.channels {
            let from = row + channel * self.lanes;
            self.recent[from..from + self.lanes]
                .copy_from_slice(&arrays[self.first_channel as usize + channel]);
        }
    }

    /// Computes the far part of the block that starts at step `t0`.
    pub(super) fn begin_block(&mut self, isa: Isa, t0: u64) {
        let mut block = std::mem::take(&mut self.block);
        for group in 0..self.groups.len() {
            let Some(mut row) = self.groups[group].far_rows else { continue };
            for first in (0..self.groups[group].gathers.len()).step_by(2) {
                match self.groups[group].gathers[first..] {
                    [a, b, ..] => self.far::<2>(isa, t0, group, [a.1, b.1], row, &mut block),
                    [a] => self.far::<1>(isa, t0, group, [a.1], row, &mut block),
                    [] => {}
                }
                row += 2;
            }
        }
        self.block = block;
    }

    /// The far part of `G` gathers of a group, which go to rows from `first_row` of `far_sums`.
    fn far<const G: usize>(
        &mut self,
        isa: Isa,
        t0: u64,
        group: usize,
        channels: [usize; G],
        first_row: usize,
        block: &mut [[T; BLOCK]],
    ) {
        let sums = &mut block[..G * self.nodes * self.width];
        sums.fill([T::default(); BLOCK]);
        let (by_node, _) = sums.as_chunks_mut::<G>();
        for (class, table) in self.classes.iter().zip(&self.groups[group].far) {
            if class.capacity == 0 {
                continue;
            }
            let position = ring::block_position(t0, class.capacity);
            let channel_size = self.nodes * ring::storage(class.capacity);
            let point_size = self.channels * channel_size;
            for (offset, point) in class.points.clone().enumerate() {
                let rings = &self.rings[class.rings + offset * point_size..][..point_size];
                let rings = channels.map(|c| &rings[c * channel_size..][..channel_size]);
                let sums = &mut by_node[point * self.nodes..][..self.nodes];
                gather::far(isa, table, rings, class.capacity, position, sums);
            }
        }
        for g in 0..G {
            let to = &mut self.far_sums[(first_row + g) * self.lanes..];
            let stride = self.far_gathers * self.lanes;
            transpose::to_steps(isa, sums, &self.block_rows, G, g, to, stride);
        }
    }

    /// Computes all sums of step `step` of the block. The channels of the step have been pushed.
    pub(super) fn gather(&mut self, isa: Isa, step: usize, t0: u64, arrays: &mut [Vec<T>]) {
        let now = self.row(step as isize);
        for group in &self.groups {
            for (member, &(array, _)) in group.gathers.iter().enumerate() {
                match group.far_rows {
                    Some(first) => {
                        let from = (step * self.far_gathers + first + member) * self.lanes;
                        arrays[array as usize]
                            .copy_from_slice(&self.far_sums[from..from + self.lanes]);
                    }
                    None => arrays[array as usize].fill(T::default()),
                }
            }
            if !group.dense.is_empty() {
                let row = self.nodes.next_multiple_of(PACK);
                for &(array, channel) in &group.gathers {
                    let from = now + channel * self.lanes;
                    let history = &self.recent[..from + self.nodes * self.width];
                    for point in 0..self.width {
                        let sums = &mut arrays[array as usize][point..self.nodes * self.width];
                        let from = from + point;
                        gather::dense(isa, &group.dense, row, history, from, self.width, sums);
                    }
                }
            }
            for (index, table) in group.near.iter().enumerate() {
                let points = match group.near.len() {
                    1 => 0..self.width,
                    _ => self.classes[index].points.clone(),
                };
                let at = |channel: usize| now + channel * self.lanes;
                let mut gathers = group.gathers.chunks_exact(2);
                for pair in &mut gathers {
                    let indices = [pair[0].0 as usize, pair[1].0 as usize];
                    // Distinct gathers have distinct arrays, so this always succeeds.
                    if let Ok([a, b]) = arrays.get_disjoint_mut(indices) {
                        let now = [at(pair[0].1), at(pair[1].1)];
                        let sums = [&mut a[..], &mut b[..]];
                        gather::near(
                            isa,
                            table,
                            &self.recent,
                            now,
                            sums,
                            self.width,
                            points.clone(),
                        );
                    }
                }
                for single in gathers.remainder() {
                    let sums = [&mut arrays[single.0 as usize][..]];
                    let now = [at(single.1)];
                    gather::near(isa, table, &self.recent, now, sums, self.width, points.clone());
                }
            }
        }
        let mut edge_gathers = std::mem::take(&mut self.edge_gathers);
        for edges in &mut edge_gathers {
            edges.gather(isa, self, step, t0, arrays);
        }
        self.edge_gathers = edge_gathers;
    }

    /// Brings the rings up to date after a whole block that started at step `t0`.
    pub(super) fn end_block(&mut self, isa: Isa, t0: u64) {
        if self.past == 0 {
            return;
        }
        let row = self.channels * self.lanes;
        if !self.rings.is_empty() {
            let mut block = std::mem::take(&mut self.block);
            for channel in 0..self.channels {
                let from = &self.recent[BLOCK * row + channel * self.lanes..];
                transpose::to_lanes(isa, from, row, &mut block[..self.lanes]);
                let width = self.width;
                for point in 0..width {
                    self.each_ring(point, channel, |source, ring, capacity| {
                        let position = ring::block_position(t0, capacity);
                        let values = &block[source * width + point];
                        ring[position..position + BLOCK].copy_from_slice(values);
                        if position == 0 {
                            ring[capacity..].copy_from_slice(values);
                        }
                    });
                }
            }
            self.block = block;
        }
        self.recent.copy_within(BLOCK * row.., 0);
    }

    /// Calls `f(source, ring, capacity)` for every ring of a point and channel.
    fn each_ring(
        &mut self,
        point: usize,
        channel: usize,
        mut f: impl FnMut(usize, &mut [T], usize),
    ) {
        for class in &self.classes {
            if class.capacity == 0 || !class.points.contains(&point) {
                continue;
            }
            let storage = ring::storage(class.capacity);
            let size = self.nodes * storage;
            let from =
                class.rings + ((point - class.points.start) * self.channels + channel) * size;
            let rings = self.rings[from..from + size].chunks_exact_mut(storage);
            for (source, ring) in rings.enumerate() {
                f(source, ring, class.capacity);
            }
        }
    }
}

/// Whether any gather looks into the past.
pub(super) fn is_delayed(job: &Job<'_>) -> bool {
    job.program.gathers.iter().any(|g| g.delayed && g.source != GatherSource::Ones)
}
