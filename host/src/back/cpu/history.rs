//! The history of a tile's channels.
//!
//! The most recent steps are kept by time and lane, for near edges. Where an edge is longer, each
//! source of each point also has a ring, contiguous in time, which is brought up to date after every
//! [`NEAR_BLOCK`] steps.

use crate::back::{Job, JobError};
use crate::ir::GatherSource;
use kernels_cpu::{Isa, Real};
use kernels_gpu::ring::{self, BLOCK, NEAR_BLOCK};
use kernels_gpu::summation::{Pass, pass_of};
use std::ops::Range;

/// Points of a tile that share their delays.
#[derive(Clone, Debug)]
pub(super) struct DelayClass {
    /// Which points of the tile.
    pub(super) points: Range<usize>,
    /// Steps in their rings, 0 if all edges are near.
    pub(super) capacity: usize,
    /// Where the rings of its first point start; the others follow.
    rings: usize,
    /// Delays of every edge of every matrix.
    pub(super) delays: Vec<Vec<u32>>,
}

/// What the nodes of a tile have sent.
#[derive(Clone, Debug)]
pub(super) struct History<T> {
    pub(super) nodes: usize,
    pub(super) width: usize,
    pub(super) lanes: usize,
    pub(super) channels: usize,
    /// Rows of the past in `recent`: [`NEAR_BLOCK`], or none without delays.
    past: usize,
    /// `[step][channel][lane]`
    recent: Vec<T>,
    /// `[point][channel][source][step]` of each class, then room for what lanes without a ring write.
    rings: Vec<T>,
    pub(super) classes: Vec<DelayClass>,
    /// Where the ring of a lane starts, `[channel][lane]`; `None` if it has none.
    starts: Vec<Option<usize>>,
    /// Scratch: where lanes write, and where they write a copy.
    places: [Vec<usize>; 2],
}

impl<T: Real> History<T> {
    /// For points `points` of the job, those of one speed side by side.
    pub(super) fn new(
        job: &Job<'_>,
        points: &[usize],
        lanes: usize,
        channels: usize,
    ) -> Result<Self, JobError> {
        let (nodes, width) = (job.nodes, points.len());
        let past = if is_delayed(job) { NEAR_BLOCK } else { 0 };
        let rows = past + if past == 0 { 1 } else { NEAR_BLOCK };
        let mut classes: Vec<DelayClass> = Vec::new();
        let mut size = 0;
        let mut start = 0;
        while start < width {
            let speed = job.speed.of(points[start]);
            let same = points[start..].iter().take_while(|&&p| job.speed.of(p) == speed).count();
            let mut delays = Vec::with_capacity(job.matrices.len());
            let mut longest = 0;
            for (index, matrix) in job.matrices.iter().enumerate() {
                let used =
                    job.program.gathers.iter().any(|g| g.delayed && g.matrix as usize == index);
                let steps = if used { matrix.delay_steps(speed, job.dt_ms)? } else { Vec::new() };
                longest = steps.iter().copied().fold(longest, u32::max);
                delays.push(steps);
            }
            let capacity = ring::capacity(longest);
            classes.push(DelayClass { points: start..start + same, capacity, rings: size, delays });
            size += ring::storage(capacity) * channels * nodes * same;
            start += same;
        }
        let mut history = Self {
            nodes,
            width,
            lanes,
            channels,
            past,
            recent: vec![T::default(); rows * channels * lanes],
            rings: Vec::new(),
            classes,
            starts: Vec::new(),
            places: [const { Vec::new() }; 2],
        };
        if size > 0 {
            history.rings = vec![T::default(); size + NEAR_BLOCK];
            history.places = [const { Vec::new() }; 2].map(|_: Vec<usize>| vec![0; lanes]);
            history.starts = vec![None; channels * lanes];
            for class in &history.classes {
                for lane in (0..nodes * width).filter(|_| class.capacity > 0) {
                    let (node, point) = (lane / width, lane % width);
                    if class.points.contains(&point) {
                        for channel in 0..channels {
                            let start = history.ring(class, point, channel, node);
                            history.starts[channel * lanes + lane] = Some(start);
                        }
                    }
                }
            }
        }
        Ok(history)
    }

    /// Whether there are rings.
    pub(super) fn has_rings(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Values from the ring of node 0 on to that of the next point.
    fn point_size(&self, class: &DelayClass) -> usize {
        self.channels * self.nodes * ring::storage(class.capacity)
    }

    /// Where the ring of a node starts.
    fn ring(&self, class: &DelayClass, point: usize, channel: usize, node: usize) -> usize {
        class.rings
            + (point - class.points.start) * self.point_size(class)
            + (channel * self.nodes + node) * ring::storage(class.capacity)
    }

    /// The rings of all nodes, for a channel of a point.
    pub(super) fn rings(&self, class: &DelayClass, point: usize, channel: usize) -> &[T] {
        let size = self.nodes * ring::storage(class.capacity);
        &self.rings[self.ring(class, point, channel, 0)..][..size]
    }

    /// Fills the past with `channels`, each by lane.
    pub(super) fn start(&mut self, channels: &[Vec<T>]) {
        for row in 0..self.past {
            self.push(row as isize - self.past as isize, channels);
        }
        for class in &self.classes {
            let storage = ring::storage(class.capacity);
            for point in class.points.clone().filter(|_| storage > 0) {
                for (channel, values) in channels.iter().enumerate() {
                    let start = self.ring(class, point, channel, 0);
                    let rings = self.rings[start..].chunks_exact_mut(storage);
                    for (node, ring) in rings.take(self.nodes).enumerate() {
                        ring.fill(values[node * self.width + point]);
                    }
                }
            }
        }
    }

    /// The recent history.
    pub(super) fn recent(&self) -> &[T] {
        &self.recent
    }

    /// Where a channel of step `step` of the present [`NEAR_BLOCK`] steps is in [`Self::recent`].
    pub(super) fn row(&self, step: isize, channel: usize) -> usize {
        let row = if self.past == 0 { 0 } else { (self.past as isize + step) as usize };
        (row * self.channels + channel) * self.lanes
    }

    /// Takes the channels of a step, each by lane.
    pub(super) fn push(&mut self, step: isize, channels: &[Vec<T>]) {
        for (channel, values) in channels.iter().enumerate() {
            let row = self.row(step, channel);
            self.recent[row..row + self.lanes].copy_from_slice(values);
        }
    }

    /// Makes the past of [`NEAR_BLOCK`] whole steps that started at step `t0`.
    pub(super) fn advance(&mut self, isa: Isa, t0: u64) {
        if self.past == 0 {
            return;
        }
        let row = self.channels * self.lanes;
        if self.has_rings() {
            let nowhere = self.rings.len() - NEAR_BLOCK;
            let mut position = vec![(0, 0); self.width];
            for class in self.classes.iter().filter(|c| c.capacity > 0) {
                let at = ring::block_position(t0, class.capacity);
                let copy = if at < BLOCK { class.capacity + at } else { at };
                position[class.points.clone()].fill((at, copy));
            }
            for channel in 0..self.channels {
                let [places, copies] = &mut self.places;
                let starts = &self.starts[channel * self.lanes..][..self.lanes];
                let slots = starts.iter().zip(places.iter_mut().zip(copies.iter_mut()));
                for ((start, (place, copy)), &(at, again)) in slots.zip(position.iter().cycle()) {
                    *place = start.map_or(nowhere, |start| start + at);
                    *copy = start.map_or(nowhere, |start| start + again);
                }
                let from = &self.recent[self.past * row + channel * self.lanes..];
                T::to_rings(isa, from, row, places, copies, &mut self.rings);
            }
        }
        self.recent.copy_within(self.past * row.., 0);
    }

    /// A channel at a node, `delay` steps before step `step` of the present [`NEAR_BLOCK`] steps, which
    /// started at `t0`.
    pub(super) fn at(
        &self,
        class: usize,
        (point, channel, node): (usize, usize, usize),
        (step, t0): (usize, u64),
        delay: u32,
    ) -> T {
        if pass_of(delay) == Pass::Near {
            let row = self.row(step as isize - delay as isize, channel);
            return self.recent[row + node * self.width + point];
        }
        let class = &self.classes[class];
        let position = ring::block_position(t0, class.capacity);
        let window = ring::window(position, delay as usize, class.capacity);
        self.rings[self.ring(class, point, channel, node) + window + step]
    }
}

/// Whether any gather looks into the past.
pub(super) fn is_delayed(job: &Job<'_>) -> bool {
    job.program.gathers.iter().any(|g| g.delayed && g.source != GatherSource::Ones)
}
