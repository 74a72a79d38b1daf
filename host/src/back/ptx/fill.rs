//! What the slots of a simulation kernel are filled with.

use super::ParameterPlacement;
use super::operands::{Columns, Operands, States};
use super::print::{Offset, Place, Source, Space, Target, print};
use super::recorder::Recorded;
use super::section;
use super::tape::{Operand, Tape, Word};
use crate::back::{Job, Recorded as RecordedVariable};
use crate::experiment::{Method, Precision};
use crate::ir::{Bound, GatherSource, Input, Inst, Program, Section};
use crate::monitor::MonitorKind;
use cuda_std::slot::{self, Call, SlotError, Type};
use kernels_gpu::abi::{features, grouped};
use kernels_gpu::lane::Lane;
use kernels_gpu::scheme;
use std::cell::RefCell;

/// Why a slot cannot be filled: kernels and host do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// A slot of this name is not known.
    #[error("the kernels have a slot `{slot}`, which is not known")]
    Unknown {
        /// Its name.
        slot: String,
    },
    /// A slot has other operands than expected.
    #[error("the operands of slot `{slot}` are not those that are known")]
    Operands {
        /// Its name.
        slot: String,
    },
    /// A section reads what its slot does not have.
    #[error("slot `{slot}` does not have what its section reads: {input:?}")]
    Input {
        /// The slot's name.
        slot: String,
        /// What is read.
        input: Input,
    },
}

/// What a kernel that runs groups of points keeps in shared memory: how many values its columns have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedColumns {
    /// Lanes of a block: sums and channels have a value each.
    pub lanes: u32,
    /// Threads of a block: coupling inputs and noise have a value each.
    pub threads: u32,
    /// Values of a recorded variable.
    pub recorded: u32,
    /// Values of a node and step in the history.
    pub width: u32,
    /// Sums are delayed.
    pub delayed: bool,
}

/// Fills the slots of a kernel for one job.
#[derive(Clone, Debug)]
pub struct Filler<'a> {
    program: &'a Program,
    precision: Precision,
    nodes: usize,
    placements: &'a [ParameterPlacement],
    recorded: &'a [RecordedVariable],
    edge_states: Vec<u32>,
    features: u32,
    shared: SharedColumns,
}

/// The states that sections of edges read: they enter the history after the channels.
pub(crate) fn edge_states(program: &Program) -> Vec<u32> {
    let insts = program.edges.iter().flat_map(|section| &section.insts);
    let mut states: Vec<u32> = insts
        .filter_map(|inst| match inst {
            Inst::Input(Input::SourceState(state)) => Some(*state),
            _ => None,
        })
        .collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// What the kernel of a job has to do; see [`features`].
pub(crate) fn job_features(job: &Job<'_>) -> u32 {
    let program = job.program;
    let method = match job.method {
        Method::Euler => features::EULER,
        Method::Heun => features::HEUN,
        Method::Rk4 => features::RK4,
        Method::Map => features::MAP,
    };
    let edge = |g: &crate::ir::Gather| matches!(g.source, GatherSource::Edge(_));
    let record = &job.record;
    let flags = [
        (features::NOISE, !program.noisy.is_empty()),
        (features::BOUNDS, program.bounds.iter().any(|b| *b != Bound::Free)),
        (features::EVENTS, !program.events.results.is_empty()),
        (features::EDGES, program.gathers.iter().any(edge)),
        (features::RECORD, record.mean || !record.monitors.is_empty()),
        (features::CURAND, job.draws_curand()),
        (features::BOLD, record.monitors.iter().any(|m| matches!(m, MonitorKind::Bold(_)))),
    ];
    flags.into_iter().filter(|(_, on)| *on).fold(method, |word, (flag, _)| word | flag)
}

/// What a kernel that runs groups of points is told; see [`grouped`].
pub(crate) fn grouped_features(shared: &SharedColumns) -> u32 {
    let width = (shared.width << grouped::WIDTH_SHIFT) & grouped::WIDTH;
    width | if shared.delayed { grouped::DELAYED } else { 0 }
}

/// What a slot can read besides states.
#[derive(Default)]
struct Frame<'c> {
    time: Option<&'c str>,
    point: Option<&'c str>,
    node: Option<&'c str>,
    coupling: Option<Columns<'c>>,
    gathered: Option<Columns<'c>>,
    signals: Option<&'c str>,
    /// History of the source, and bytes between its channels.
    source: Option<(&'c str, &'c str)>,
}

impl<'a> Filler<'a> {
    /// For a job and the places of its parameters.
    pub fn new(job: &'a Job<'_>, placements: &'a [ParameterPlacement]) -> Self {
        Self {
            program: job.program,
            precision: job.precision,
            nodes: job.nodes,
            placements,
            recorded: &job.record.variables,
            edge_states: edge_states(job.program),
            features: job_features(job),
            shared: SharedColumns::default(),
        }
    }

    /// For a kernel that runs groups of points.
    #[must_use]
    pub fn grouped(mut self, shared: &SharedColumns) -> Self {
        self.shared = *shared;
        self.features |= grouped_features(shared);
        self
    }

    /// Replaces the slots of a kernel.
    ///
    /// # Errors
    /// Slots that are not those of a simulation kernel.
    pub fn fill(&self, kernel: &str) -> Result<String, SlotError<FillError>> {
        slot::fill(kernel, |call| self.body(call))
    }

    /// The instructions of one slot.
    ///
    /// # Errors
    /// A slot that is not one of a simulation kernel.
    pub fn body(&self, call: &Call<'_>) -> Result<String, FillError> {
        match self.precision {
            Precision::F32 => Writer::<f32>::new(self, call, Type::F32, 4).body(),
            Precision::F64 => Writer::<f64>::new(self, call, Type::F64, 8).body(),
        }
    }
}

/// Writes one slot in one precision.
struct Writer<'w, T> {
    filler: &'w Filler<'w>,
    call: &'w Call<'w>,
    float: Type,
    size: u64,
    tape: Tape,
    sources: RefCell<Vec<Source>>,
    number: std::marker::PhantomData<T>,
}

impl<'w, T: Word> Writer<'w, T> {
    fn new(filler: &'w Filler<'w>, call: &'w Call<'w>, float: Type, size: u64) -> Self {
        Self {
            filler,
            call,
            float,
            size,
            tape: Tape::new(),
            sources: RefCell::default(),
            number: std::marker::PhantomData,
        }
    }

    fn body(self) -> Result<String, FillError> {
        let (name, memory) = match self.call.name.strip_suffix("_memory") {
            Some(name) => (name, true),
            None => (self.call.name, false),
        };
        match name {
            "features" => self.features(),
            "diffusion" => self.diffusion(),
            "emit" => self.emit(memory),
            "edge" => self.edge(memory),
            "post" => self.post(memory),
            "drift" => self.drift(memory),
            "disturb" => self.disturb(memory),
            "bound" => self.bound(memory),
            "event" => self.event(memory),
            "observe" => self.observe(memory),
            "record" => self.record(memory),
            _ => Err(FillError::Unknown { slot: self.call.name.to_owned() }),
        }
    }

    fn features(self) -> Result<String, FillError> {
        match self.call.outputs.as_slice() {
            [output] => Ok(format!("\tmov.u32 {}, {};", output.name, self.filler.features)),
            _ => Err(self.operands()),
        }
    }

    fn diffusion(self) -> Result<String, FillError> {
        let mut operands = Operands::new(self.call);
        let frame = Frame {
            point: Some(operands.address()?),
            node: Some(operands.address()?),
            ..Frame::default()
        };
        let sigma = self.columns(&mut operands, self.filler.shared.threads)?;
        let section = &self.filler.program.diffusion;
        let results = self.section(section, &States::Registers(Vec::new()), &frame)?;
        let targets = self.targets(sigma, results.len());
        Ok(self.finish(targets, results))
    }

    fn emit(self, memory: bool) -> Result<String, FillError> {
        let (mut operands, states, frame) = self.start(memory)?;
        let channels = self.columns(&mut operands, self.filler.shared.lanes)?;
        let stride = if channels.shared { "" } else { operands.address()? };
        let mut results = self.section(&self.filler.program.emit, &states, &frame)?;
        for &state in &self.filler.edge_states {
            results.push(self.state(&states, state)?);
        }
        let targets = (0..results.len() as u32)
            .map(|channel| {
                Target::Memory(if channels.shared {
                    self.column(channels, u64::from(channel))
                } else {
                    self.channel(channels.base, stride, channel)
                })
            })
            .collect();
        Ok(self.finish(targets, results))
    }

    /// One of several sections, chosen by an operand: all are written, with a branch around each.
    fn edge(self, memory: bool) -> Result<String, FillError> {
        let [output] = self.call.outputs.as_slice() else { return Err(self.operands()) };
        let mut text = String::new();
        let (mut operands, states, mut frame) = self.start(memory)?;
        let chosen = operands.next(Type::U32)?;
        frame.source = Some((operands.address()?, operands.address()?));
        let sections = &self.filler.program.edges;
        for (index, section) in sections.iter().enumerate() {
            let own = Self::new(self.filler, self.call, self.float, self.size);
            let results = own.section(section, &states, &frame)?;
            let body = own.finish(vec![Target::Register(output.name.to_owned())], results);
            if sections.len() == 1 {
                return Ok(body);
            }
            text += &format!(
                "\t{{\n\t.reg .pred %s_other;\n\tsetp.ne.u32 %s_other, {chosen}, {index};\n\
                 \t@%s_other bra $S_other;\n\t{{\n{}\n\t}}\n$S_other:\n\t}}\n",
                body.trim_end()
            );
        }
        if sections.is_empty() {
            let zero = vec![Recorded::splat(0.0)];
            return Ok(self.finish(vec![Target::Register(output.name.to_owned())], zero));
        }
        Ok(text)
    }

    fn post(self, memory: bool) -> Result<String, FillError> {
        let (mut operands, states, mut frame) = self.start(memory)?;
        let shared = &self.filler.shared;
        frame.gathered = Some(self.columns(&mut operands, shared.lanes)?);
        let coupling = self.columns(&mut operands, shared.threads)?;
        let results = self.section(&self.filler.program.post, &states, &frame)?;
        let targets = self.targets(coupling, results.len());
        Ok(self.finish(targets, results))
    }

    fn drift(self, memory: bool) -> Result<String, FillError> {
        let (mut operands, states, mut frame) = self.start(memory)?;
        frame.coupling = Some(self.columns(&mut operands, self.filler.shared.threads)?);
        frame.signals = Some(operands.address()?);
        let mut results = self.section(&self.filler.program.drift, &states, &frame)?;
        let targets = if memory {
            self.state_columns(operands.address()?, results.len())
        } else {
            self.outputs()
        };
        // Dummies stand still at 0.
        results.resize(targets.len(), Recorded::splat(0.0));
        Ok(self.finish(targets, results))
    }

    fn disturb(self, memory: bool) -> Result<String, FillError> {
        let mut operands = Operands::new(self.call);
        let states = operands.states(memory, self.float, 0)?;
        let noise = self.columns(&mut operands, self.filler.shared.threads)?;
        let mut results = self.all_states(&states)?;
        for (variable, &state) in self.filler.program.noisy.iter().enumerate() {
            let xi = self.input(Source::Memory(self.column(noise, variable as u64)));
            let x = &mut results[state as usize];
            *x = *x + xi;
        }
        let targets = self.state_targets(&states);
        Ok(self.finish(targets, results))
    }

    fn bound(self, memory: bool) -> Result<String, FillError> {
        let states = Operands::new(self.call).states(memory, self.float, 0)?;
        let mut results = self.all_states(&states)?;
        let real = |value: f64| Recorded::<T>::splat(value);
        for (x, bound) in results.iter_mut().zip(&self.filler.program.bounds) {
            *x = match *bound {
                Bound::Free => *x,
                Bound::Clamp { lo, hi } => scheme::clamp(*x, real(lo), real(hi)),
                Bound::Wrap { lo, hi } => scheme::wrap(*x, real(lo), real(hi - lo)),
            };
        }
        let targets = self.state_targets(&states);
        Ok(self.finish(targets, results))
    }

    fn event(self, memory: bool) -> Result<String, FillError> {
        let (mut operands, states, mut frame) = self.start(memory)?;
        frame.coupling = Some(self.columns(&mut operands, self.filler.shared.threads)?);
        frame.signals = Some(operands.address()?);
        let mut results = self.all_states(&states)?;
        let after = self.section(&self.filler.program.events, &states, &frame)?;
        for (x, after) in results.iter_mut().zip(after) {
            *x = after;
        }
        let targets = self.state_targets(&states);
        Ok(self.finish(targets, results))
    }

    /// Recorded variables that are not states, each in its column.
    fn observe(self, memory: bool) -> Result<String, FillError> {
        let (mut operands, states, mut frame) = self.start(memory)?;
        frame.coupling = Some(self.columns(&mut operands, self.filler.shared.threads)?);
        frame.signals = Some(operands.address()?);
        let recorded = self.columns(&mut operands, self.filler.shared.recorded)?;
        let observed = self.section(&self.filler.program.observe, &states, &frame)?;
        let (mut targets, mut results) = (Vec::new(), Vec::new());
        for (column, &variable) in self.filler.recorded.iter().enumerate() {
            if let RecordedVariable::Observed(at) = variable {
                targets.push(Target::Memory(self.column(recorded, column as u64)));
                results.push(*observed.get(at).ok_or_else(|| self.operands())?);
            }
        }
        Ok(self.finish(targets, results))
    }

    /// Recorded variables that are states.
    fn record(self, memory: bool) -> Result<String, FillError> {
        let mut operands = Operands::new(self.call);
        let states = operands.states(memory, self.float, 0)?;
        let recorded = self.columns(&mut operands, self.filler.shared.recorded)?;
        let (mut targets, mut results) = (Vec::new(), Vec::new());
        for (column, &variable) in self.filler.recorded.iter().enumerate() {
            if let RecordedVariable::State(state) = variable {
                targets.push(Target::Memory(self.column(recorded, column as u64)));
                results.push(self.state(&states, state as u32)?);
            }
        }
        Ok(self.finish(targets, results))
    }

    /// What most slots begin with: states, time, the parameters of the point and of the node.
    fn start(&self, memory: bool) -> Result<(Operands<'w>, States<'w>, Frame<'w>), FillError> {
        let mut operands = Operands::new(self.call);
        let states = operands.states(memory, self.float, 1)?;
        let frame = Frame {
            time: Some(operands.next(self.float)?),
            point: Some(operands.address()?),
            node: Some(operands.address()?),
            ..Frame::default()
        };
        Ok((operands, states, frame))
    }

    fn operands(&self) -> FillError {
        FillError::Operands { slot: self.call.name.to_owned() }
    }

    fn section(
        &self,
        section: &Section,
        states: &States<'_>,
        frame: &Frame<'_>,
    ) -> Result<Vec<Recorded<'_, T>>, FillError> {
        let mut missing = None;
        let results = section::record(section, |input| match self.read(input, states, frame) {
            Some(value) => value,
            None => {
                missing.get_or_insert(input);
                Recorded::splat(f64::NAN)
            }
        });
        match missing {
            None => Ok(results),
            Some(input) => Err(FillError::Input { slot: self.call.name.to_owned(), input }),
        }
    }

    fn read(
        &self,
        input: Input,
        states: &States<'_>,
        frame: &Frame<'_>,
    ) -> Option<Recorded<'_, T>> {
        let column = |columns: Option<Columns<'_>>, at: u32| {
            Some(Source::Memory(self.column(columns?, u64::from(at))))
        };
        let constant = |base: &str, bytes: u64| {
            let (base, offset) = (base.to_owned(), Offset::Bytes(bytes));
            Some(Source::Memory(Place { base, offset, space: Space::Constant }))
        };
        let source = match input {
            Input::Time => Some(Source::Register(frame.time?.to_owned())),
            Input::State(state) => return self.state(states, state).ok(),
            Input::Coupling(at) => column(frame.coupling, at),
            Input::Gathered(at) => column(frame.gathered, at),
            Input::Signal(at) => constant(frame.signals?, u64::from(at) * self.size),
            Input::Parameter(slot) => match *self.filler.placements.get(slot as usize)? {
                ParameterPlacement::Constant(value) => return Some(Recorded::splat(value)),
                ParameterPlacement::PerPoint(at) => {
                    constant(frame.point?, u64::from(at) * self.size)
                }
                ParameterPlacement::PerNode(at) => {
                    constant(frame.node?, u64::from(at) * self.filler.nodes as u64 * self.size)
                }
            },
            Input::SourceState(state) => {
                let (base, stride) = frame.source?;
                let at = self.filler.edge_states.iter().position(|s| *s == state)?;
                let channel = (self.filler.program.emit.results.len() + at) as u32;
                Some(Source::Memory(self.channel(base, stride, channel)))
            }
        };
        Some(self.input(source?))
    }

    fn input(&self, source: Source) -> Recorded<'_, T> {
        let mut sources = self.sources.borrow_mut();
        let place = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
            sources.push(source);
            sources.len() - 1
        });
        Recorded::input(&self.tape, place as u32)
    }

    /// The next operand, the address of columns; `stride` is that of shared memory.
    fn columns(&self, operands: &mut Operands<'w>, stride: u32) -> Result<Columns<'w>, FillError> {
        operands.columns(self.filler.nodes as u32, stride)
    }

    /// The value of a lane in a column.
    fn column(&self, columns: Columns<'_>, column: u64) -> Place {
        let offset = Offset::Bytes(column * u64::from(columns.stride) * self.size);
        let space = if columns.shared { Space::Shared } else { Space::Global };
        Place { base: columns.base.to_owned(), offset, space }
    }

    /// A channel of the history.
    fn channel(&self, base: &str, stride: &str, channel: u32) -> Place {
        let offset = Offset::Stride(stride.to_owned(), channel);
        Place { base: base.to_owned(), offset, space: Space::Global }
    }

    fn state(&self, states: &States<'_>, state: u32) -> Result<Recorded<'_, T>, FillError> {
        let source = match states {
            States::Memory(base) => {
                Source::Memory(self.column(self.global(base), u64::from(state)))
            }
            States::Registers(names) => match names.get(state as usize) {
                Some(name) => Source::Register((*name).to_owned()),
                None => return Err(self.operands()),
            },
        };
        Ok(self.input(source))
    }

    /// All states, dummies included.
    fn all_states(&self, states: &States<'_>) -> Result<Vec<Recorded<'_, T>>, FillError> {
        let count = match states {
            States::Registers(names) => names.len(),
            States::Memory(_) => self.filler.program.states.len(),
        };
        (0..count as u32).map(|state| self.state(states, state)).collect()
    }

    /// Where new states go.
    fn state_targets(&self, states: &States<'_>) -> Vec<Target> {
        match states {
            States::Registers(_) => self.outputs(),
            States::Memory(base) => self.state_columns(base, self.filler.program.states.len()),
        }
    }

    /// Columns in global memory.
    fn global<'b>(&self, base: &'b str) -> Columns<'b> {
        Columns { base, stride: self.filler.nodes as u32, shared: false }
    }

    fn state_columns(&self, base: &str, count: usize) -> Vec<Target> {
        self.targets(self.global(base), count)
    }

    fn targets(&self, columns: Columns<'_>, count: usize) -> Vec<Target> {
        (0..count as u64).map(|at| Target::Memory(self.column(columns, at))).collect()
    }

    fn outputs(&self) -> Vec<Target> {
        let outputs = self.call.outputs.iter();
        outputs.map(|output| Target::Register(output.name.to_owned())).collect()
    }

    fn finish(&self, targets: Vec<Target>, results: Vec<Recorded<'_, T>>) -> String {
        let operands: Vec<Operand> = results.iter().map(|result| result.operand()).collect();
        let items = self.tape.finish(operands.iter().copied());
        let results: Vec<(Target, Operand)> = targets.into_iter().zip(operands).collect();
        print(self.filler.precision, &self.sources.borrow(), &items, &results)
    }
}
