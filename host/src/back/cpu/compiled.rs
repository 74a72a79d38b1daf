//! A job's program, scheduled: the same for all its tiles.

use super::graph::Leaf;
use super::schedule::{Provided, Schedule};
use super::step;
use crate::back::{Job, ParameterValues, Recorded};
use crate::ir::GatherSource;

/// Where everything is in a tile's table of arrays over lanes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// States at the start of the step; those after it follow.
    pub(super) states: u32,
    /// Number of states.
    pub(super) state_count: u32,
    /// Gathered sums.
    pub(super) gathered: u32,
    /// What enters the history: channels, then states that edges read; those after the step follow.
    pub(super) history: u32,
    /// Number of those.
    pub(super) history_count: u32,
    /// Results of `observe`.
    pub(super) observed: u32,
    /// Standard normals.
    pub(super) normals: u32,
    /// State variables of the source of an edge, one array a state that edges read.
    pub(super) sources: u32,
    /// Which states those are.
    pub(super) source_states: Vec<u32>,
    /// Results of sections of edges.
    pub(super) edge_results: u32,
    /// Parameters that are not the same in all lanes: `(slot, array)`.
    pub(super) parameters: Vec<(usize, u32)>,
    /// One after the last.
    pub(super) end: u32,
}

/// A scheduled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Where its arrays are.
    pub(super) layout: Layout,
    /// Channels of the initial state.
    pub(super) initial: Schedule,
    /// Values of edges.
    pub(super) edges: Vec<Schedule>,
    /// A whole step.
    pub(super) step: Schedule,
}

impl Layout {
    fn new(job: &Job<'_>) -> Self {
        let program = job.program;
        let source_states = step::edge_states(program);
        let mut next = 0;
        let mut take = |count: usize| {
            let start = next;
            next += count as u32;
            start
        };
        let state_count = program.states.len();
        let states = take(2 * state_count);
        let gathered = take(program.gathers.len());
        let history_count = program.emit.results.len() + source_states.len();
        let history = take(2 * history_count);
        let observed = take(program.observed.len());
        let normals = take(program.noisy.len());
        let sources = take(source_states.len());
        let edge_results = take(program.edges.len());
        let varying = (0..job.parameters.base.len()).filter(|&slot| {
            let swept = job.parameters.swept.iter().any(|s| s.slot == slot);
            swept || matches!(job.parameters.base[slot], ParameterValues::PerNode(_))
        });
        let parameters = varying.map(|slot| (slot, take(1))).collect();
        Self {
            states,
            state_count: state_count as u32,
            gathered,
            history,
            history_count: history_count as u32,
            observed,
            normals,
            sources,
            source_states,
            edge_results,
            parameters,
            end: next,
        }
    }

    fn provided(&self, job: &Job<'_>, leaf: Leaf) -> Provided {
        let lanes = |array| Provided::Lanes { array, steady: false };
        match leaf {
            Leaf::Time(_) | Leaf::Signal(_) => Provided::Uniform { steady: false },
            Leaf::State(s) => lanes(self.states + s),
            Leaf::Channel(c) => lanes(self.history + c),
            Leaf::Normal(v) => lanes(self.normals + v),
            Leaf::SourceState(s) => {
                let position = self.source_states.iter().position(|&x| x == s).unwrap_or(0);
                lanes(self.sources + position as u32)
            }
            Leaf::Gathered(r) => Provided::Lanes {
                array: self.gathered + r,
                steady: job.program.gathers[r as usize].source == GatherSource::Ones,
            },
            Leaf::Parameter(p) => {
                match self.parameters.iter().find(|(slot, _)| *slot == p as usize) {
                    Some(&(_, array)) => Provided::Lanes { array, steady: true },
                    None => Provided::Uniform { steady: true },
                }
            }
        }
    }

    /// The array of a recorded variable, after a step.
    pub(super) fn recorded(&self, variable: Recorded) -> u32 {
        match variable {
            Recorded::State(s) => self.states + s as u32,
            Recorded::Observed(o) => self.observed + o as u32,
        }
    }
}

impl Compiled {
    /// Schedules the program of a job that has been checked.
    pub fn new(job: &Job<'_>) -> Self {
        let program = job.program;
        let layout = Layout::new(job);
        let range = |start: u32, count: usize| start..start + count as u32;
        let history: Vec<u32> = range(layout.history, layout.history_count as usize).collect();
        let provided = |leaf| layout.provided(job, leaf);
        let initial = Schedule::new(&step::initial_emit(program), &history, layout.end, provided);
        let mut end = initial.arrays();
        let mut edges = Vec::with_capacity(program.edges.len());
        for (index, section) in program.edges.iter().enumerate() {
            let target = [layout.edge_results + index as u32];
            let schedule = Schedule::new(&step::edge(section), &target, end, provided);
            end = schedule.arrays();
            edges.push(schedule);
        }
        let mut outputs: Vec<u32> =
            range(layout.states + layout.state_count, program.states.len()).collect();
        outputs.extend(history.iter().map(|h| h + layout.history_count));
        outputs.extend(range(layout.observed, program.observed.len()));
        let code = step::step(program, job.method, job.dt);
        let step = Schedule::new(&code, &outputs, end, provided);
        Self { layout, initial, edges, step }
    }

    /// All schedules.
    pub(super) fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        [&self.initial, &self.step].into_iter().chain(&self.edges)
    }

    /// Arrays that are as long as the lanes, and registers, which are as long as a chunk.
    pub(super) fn array_counts(&self) -> (usize, usize) {
        let registers: usize = self.schedules().map(|s| s.registers.len()).sum();
        (self.step.arrays() as usize - registers, registers)
    }
}
