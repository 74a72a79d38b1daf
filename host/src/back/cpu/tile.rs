//! A tile of points, stepped together by one thread.

use super::compiled::Compiled;
use super::coupling::Coupling;
use super::graph::{Leaf, Moment};
use super::history::is_delayed;
use super::interpret::Running;
use super::noise::NoiseStream;
use super::real::Real;
use super::record::{BUFFER_BYTES, Recorder};
use crate::back::{Job, JobError, ParameterValues};
use crate::back::{Progress, Sink, SinkError};
use crate::monitor::TileShape;
use kernels_cpu::{CHUNK, Isa, PACK};
use kernels_gpu::ring::{self, BLOCK, NEAR_BLOCK};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a tile did not finish.
#[derive(Debug, thiserror::Error)]
pub enum TileError {
    /// The job does not fit together.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The sink refused.
    #[error("the results could not be kept")]
    Sink(#[source] SinkError),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Time spent in each stage of a run, where it was measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    /// Far part of gathers, block by block.
    pub far: Duration,
    /// Middle part of gathers, a few steps at once.
    pub middle: Duration,
    /// Near and undelayed gathers.
    pub near: Duration,
    /// Random numbers.
    pub noise: Duration,
    /// The interpreted step.
    pub step: Duration,
    /// Looking for states that are not finite.
    pub check: Duration,
    /// Monitors and means.
    pub record: Duration,
    /// Writing the history.
    pub history: Duration,
}

impl Stages {
    /// The smaller time of each stage: the best of several runs on a busy machine.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self {
            far: self.far.min(other.far),
            middle: self.middle.min(other.middle),
            near: self.near.min(other.near),
            noise: self.noise.min(other.noise),
            step: self.step.min(other.step),
            check: self.check.min(other.check),
            record: self.record.min(other.record),
            history: self.history.min(other.history),
        }
    }
}

/// Points that are stepped together.
pub struct Tile<'a, T> {
    job: &'a Job<'a>,
    compiled: &'a Compiled,
    isa: Isa,
    shape: TileShape,
    arrays: Vec<Vec<T>>,
    step: Running<T>,
    coupling: Coupling<T>,
    noise: NoiseStream<T>,
    recorder: Recorder<T>,
    stages: Option<Stages>,
}

impl<'a, T: Real> Tile<'a, T> {
    /// Prepares points `points` (positions in `job.points`), those of one speed side by side. The job
    /// has been checked.
    ///
    /// # Errors
    /// A delay that cannot be had.
    pub fn new(
        job: &'a Job<'a>,
        compiled: &'a Compiled,
        points: &[usize],
        isa: Isa,
    ) -> Result<Self, JobError> {
        let (nodes, width) = (job.nodes, points.len());
        let lanes = padded(nodes * width);
        let shape = TileShape { nodes, width, lanes, variables: job.record.variables.len(), isa };
        let layout = &compiled.layout;
        let mut arrays = vec![Vec::new(); compiled.step.arrays() as usize];
        for (index, array) in arrays.iter_mut().enumerate() {
            let is_register = compiled.schedules().any(|s| s.registers.contains(&(index as u32)));
            *array = vec![T::default(); if is_register { CHUNK.min(lanes) } else { lanes }];
        }
        for (position, &point) in points.iter().enumerate() {
            for (state, values) in job.initial.of(point).chunks_exact(nodes).enumerate() {
                for (node, &value) in values.iter().enumerate() {
                    arrays[layout.states as usize + state][node * width + position] =
                        T::from_f64(value);
                }
            }
        }
        for &(slot, array) in &layout.parameters {
            let swept = job.parameters.swept.iter().find(|s| s.slot == slot);
            for lane in 0..nodes * width {
                let (node, point) = (lane / width, points[lane % width]);
                let value = match (swept, &job.parameters.base[slot]) {
                    (Some(swept), _) => swept.values[point],
                    (None, ParameterValues::PerNode(values)) => values[node],
                    (None, ParameterValues::Uniform(value)) => *value,
                };
                arrays[array as usize][lane] = T::from_f64(value);
            }
        }
        let keys: Vec<u64> = points.iter().map(|&p| job.points[p]).collect();
        let values = vec![T::default(); compiled.step.nodes.len()];
        Ok(Self {
            job,
            compiled,
            isa,
            shape,
            arrays,
            step: Running { schedule: compiled.step.clone(), values },
            coupling: Coupling::new(job, compiled, points, lanes)?,
            noise: NoiseStream::new(job.seed, job.program.noisy.len() as u32, &keys, nodes, lanes),
            recorder: Recorder::new(job, layout, points, shape),
            stages: None,
        })
    }

    /// Measures the time of each stage; costs a few per cent.
    pub fn measure(&mut self) {
        self.stages = Some(Stages::default());
    }

    /// The times measured.
    pub fn stages(&self) -> Option<Stages> {
        self.stages
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// A sink that refuses, or a cancelled run.
    pub fn run(
        &mut self,
        sink: &Mutex<&mut dyn Sink>,
        progress: &dyn Progress,
        cancel: &AtomicBool,
    ) -> Result<(), TileError> {
        let mut deliver = |delivery: super::record::Delivery<'_>| {
            let mut sink = sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            delivery.to(*sink)
        };
        self.start();
        let total = self.job.total_steps();
        let mut t0 = 0;
        while t0 < total {
            if cancel.load(Ordering::Relaxed) {
                return Err(TileError::Cancelled);
            }
            let len = (BLOCK as u64).min(total - t0);
            self.timed(|s| &mut s.far, |tile| tile.coupling.begin_block(tile.isa, t0));
            for at in (0..len).step_by(NEAR_BLOCK) {
                let steps = (NEAR_BLOCK as u64).min(len - at);
                self.part(t0 + at, at as usize, steps as usize, &mut deliver)?;
            }
            progress.advance(len * (self.shape.nodes * self.shape.width) as u64);
            t0 += len;
            if self.recorder.all_flagged() {
                break;
            }
        }
        self.recorder.finish(total, &mut deliver).map_err(TileError::Sink)
    }

    /// `steps` steps from `t0` on, at most [`NEAR_BLOCK`], the first of which is number `at` of a block.
    fn part(
        &mut self,
        t0: u64,
        at: usize,
        steps: usize,
        deliver: &mut dyn FnMut(super::record::Delivery<'_>) -> Result<(), SinkError>,
    ) -> Result<(), TileError> {
        self.timed(|s| &mut s.middle, |tile| tile.coupling.begin_part(tile.isa, t0, at));
        for step in 0..steps {
            self.one_step(t0, step);
            let now = t0 + step as u64;
            let mut clock = self.stages.map(|_| Instant::now());
            self.check(now);
            self.lap(&mut clock, |s| &mut s.check);
            self.recorder.record(now, &self.arrays, deliver).map_err(TileError::Sink)?;
            self.lap(&mut clock, |s| &mut s.record);
        }
        if steps == NEAR_BLOCK {
            self.timed(|s| &mut s.history, |tile| tile.coupling.end_part(tile.isa, t0));
        }
        Ok(())
    }

    fn timed(&mut self, stage: fn(&mut Stages) -> &mut Duration, work: impl FnOnce(&mut Self)) {
        let mut clock = self.stages.map(|_| Instant::now());
        work(self);
        self.lap(&mut clock, stage);
    }

    fn lap(&mut self, clock: &mut Option<Instant>, stage: fn(&mut Stages) -> &mut Duration) {
        if let (Some(from), Some(stages)) = (clock, &mut self.stages) {
            let now = Instant::now();
            *stage(stages) += now - *from;
            *from = now;
        }
    }

    /// Parameters, hoisted values and the history before t = 0.
    fn start(&mut self) {
        let job = self.job;
        let steady = |leaf| match leaf {
            Leaf::Parameter(p) => match job.parameters.base[p as usize] {
                ParameterValues::Uniform(value) => Some(T::from_f64(value)),
                ParameterValues::PerNode(_) => None,
            },
            _ => changing(job, leaf, 0),
        };
        let lanes = self.shape.lanes;
        let schedule = self.compiled.initial.clone();
        let values = vec![T::default(); schedule.nodes.len()];
        let mut initial = Running { schedule, values };
        initial.set(steady);
        initial.set_up(self.isa, &mut self.arrays, lanes);
        initial.step(self.isa, &mut self.arrays, lanes);
        self.step.set(steady);
        self.coupling.set(steady);
        self.coupling.start(self.isa, &mut self.arrays);
        self.step.set_up(self.isa, &mut self.arrays, lanes);
    }

    fn one_step(&mut self, t0: u64, step: usize) {
        let (isa, job, lanes) = (self.isa, self.job, self.shape.lanes);
        let now = t0 + step as u64;
        let mut clock = self.stages.map(|_| Instant::now());
        self.coupling.set(|leaf| changing(job, leaf, now));
        self.coupling.push(step, &self.arrays);
        self.coupling.gather(isa, step, t0, &mut self.arrays);
        self.lap(&mut clock, |s| &mut s.near);
        for variable in 0..job.program.noisy.len() as u32 {
            let array = &mut self.arrays[(self.compiled.layout.normals + variable) as usize];
            match &job.noise_replay {
                None => array.copy_from_slice(self.noise.draw(isa, now, variable)),
                Some(normals) => {
                    let row = now as usize * job.program.noisy.len() + variable as usize;
                    let row = &normals[row * job.nodes..][..job.nodes];
                    for (lanes, &z) in array.chunks_exact_mut(self.shape.width).zip(row) {
                        lanes.fill(T::from_f64(z));
                    }
                }
            }
        }
        self.lap(&mut clock, |s| &mut s.noise);
        self.step.set(|leaf| changing(job, leaf, now));
        self.step.step(isa, &mut self.arrays, lanes);
        let layout = &self.compiled.layout;
        for (first, count) in
            [(layout.states, layout.state_count), (layout.history, layout.history_count)]
        {
            for array in first as usize..(first + count) as usize {
                self.arrays.swap(array, array + count as usize);
            }
        }
        self.lap(&mut clock, |s| &mut s.step);
    }

    /// Flags the points whose state after `step` is not finite.
    fn check(&mut self, step: u64) {
        let layout = &self.compiled.layout;
        let live = self.shape.nodes * self.shape.width;
        for state in layout.states..layout.states + layout.state_count {
            let values = &self.arrays[state as usize][..live];
            if !T::all_finite(self.isa, values) {
                for (lane, value) in values.iter().enumerate() {
                    if !value.finite() {
                        self.recorder.flag(lane % self.shape.width, step);
                    }
                }
            }
        }
    }
}

/// Uniform leaves that change from step to step. Times are products in 64 bits, rounded once.
fn changing<T: Real>(job: &Job<'_>, leaf: Leaf, step: u64) -> Option<T> {
    let k = step as f64;
    match leaf {
        Leaf::Time(Moment::Start) => Some(T::from_f64(k * job.dt)),
        Leaf::Time(Moment::Middle) => Some(T::from_f64((k + 0.5) * job.dt)),
        Leaf::Time(Moment::End) => Some(T::from_f64((k + 1.0) * job.dt)),
        Leaf::Signal(s) => Some(T::from_f64(job.signals[s as usize].at(step))),
        _ => None,
    }
}

fn padded(lanes: usize) -> usize {
    lanes.next_multiple_of(PACK)
}

/// Bytes that a tile of `width` points takes whose longest delays are `longest` steps.
pub fn bytes(
    job: &Job<'_>,
    compiled: &Compiled,
    word: usize,
    longest: impl IntoIterator<Item = u32>,
) -> u64 {
    let longest: Vec<u32> = longest.into_iter().collect();
    let (nodes, width) = (job.nodes, longest.len());
    let lanes = padded(nodes * width);
    let channels = compiled.layout.history_count as usize;
    let (arrays, registers) = compiled.array_counts();
    let delayed = is_delayed(job);
    let storage: usize = longest.iter().map(|&d| ring::storage(ring::capacity(d))).sum();
    let windows = storage > 0;
    let gathers = job.program.gathers.len();
    let recent = if delayed { 2 * NEAR_BLOCK } else { 1 } * channels;
    let window_sums = if windows { (BLOCK + NEAR_BLOCK) * gathers } else { 0 };
    let noise = if job.program.noisy.is_empty() { 0 } else { 4 };
    let variables = job.record.variables.len();
    let monitors: usize =
        job.record.monitors.iter().map(|m| m.bytes_per_lane(variables, word)).sum();
    let means = if job.record.mean { 2 * variables } else { 0 };
    let by_lane = (arrays + recent + window_sums + noise + means) * word + monitors + 8;
    let mut classes = longest.clone();
    classes.dedup();
    let edges: usize = job.matrices.iter().map(|m| m.edges()).sum();
    let series = job.record.monitors.len() * BUFFER_BYTES;
    let total = lanes * by_lane
        + storage * channels * nodes * word
        + registers * CHUNK * word
        + classes.len() * edges * 20
        + series;
    total as u64
}
