//! The GPU's place taken by an emulation: kernels run natively, slots are answered by the scalar
//! interpreter.

use cuda_std::emulate::{Launch as Emulation, Order};
use cuda_std::shared::SharedPtr;
use cuda_std::slot::Bits;
use host::back::cpu::{Real, interp};
use host::back::gpu::{
    ArrayId, Arrays, Batch, CallArguments, Collector, DeviceJob, HostArray, Launch, Plan, Upload,
};
use host::back::ptx::ParameterPlacement;
use host::back::{Job, Recorded};
use host::experiment::Method;
use host::ir::{Bound, Input, Inst, Program, Section};
use host::monitor::MonitorKind;
use host::sweep::{Samples, Sink};
use kernels_gpu::abi::{features, grouped};
use kernels_gpu::kernels::NativeFloat;
use kernels_gpu::kernels::group::{NativeFar, NativeGroups};
use kernels_gpu::{math, scheme};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A precision that the emulation knows.
pub trait Float: NativeFloat + NativeGroups + Real + interp::Real + Bits {
    fn floats(values: Vec<Self>) -> HostArray;
}

impl Float for f32 {
    fn floats(values: Vec<f32>) -> HostArray {
        HostArray::F32(values)
    }
}

impl Float for f64 {
    fn floats(values: Vec<f64>) -> HostArray {
        HostArray::F64(values)
    }
}

/// Runs all points of a job in one batch, `steps` a launch.
pub fn run<T: Float>(device_job: &DeviceJob<'_>, steps: u32, order: Order, sink: &mut dyn Sink) {
    let job = device_job.job();
    let points: Vec<usize> = (0..job.points.len()).collect();
    let (batch, arrays) = device_job.batch(&points, steps).unwrap();
    run_batch::<T>(device_job, &batch, arrays, order, sink);
}

fn run_batch<T: Float>(
    device_job: &DeviceJob<'_>,
    batch: &Batch<'_>,
    arrays: Arrays,
    order: Order,
    sink: &mut dyn Sink,
) {
    let job = device_job.job();
    let entries = device_job.entries();
    let model = Arc::new(Model::new(device_job));
    let mut memory = Memory::new::<T>(arrays);
    let mut collector = Collector::new(batch);
    for launch in batch.launches() {
        memory.chunk(&launch);
        for call in launch.before.iter().chain(&launch.calls) {
            let (entry, parameters) = &entries[call.kernel];
            let pointers = Shared(parameters.iter().map(|&id| memory.start(id)).collect());
            let emulation = Emulation::new(
                cuda_std::emulate::Dim3 { x: call.grid[0], y: call.grid[1], z: 1 },
                call.threads,
            )
            .shared_bytes(call.shared_bytes)
            .order(order);
            let emulation = fill::<T>(emulation, &model);
            // SAFETY: the arrays are those that the batch made for these arguments.
            let result = emulation.run(|| unsafe {
                call_kernel::<T>(entry, &call.arguments, pointers.get());
            });
            result.unwrap();
        }
        let nonfinite = memory.u64s(ArrayId::Nonfinite);
        let rows = memory.0[&ArrayId::Rows].samples().unwrap();
        collector.launch(&launch, rows, &nonfinite, sink).unwrap();
    }
    let nonfinite = memory.u64s(ArrayId::Nonfinite);
    let columns = memory.0[&ArrayId::Columns].samples().unwrap();
    assert!(matches!(columns, Samples::F32(_) | Samples::F64(_)), "{:?}", job.precision);
    collector.finish(columns, &nonfinite, sink).unwrap();
}

/// Calls the kernel of this name with arrays in the order of its parameters.
///
/// # Safety
/// The arrays are what the arguments say.
unsafe fn call_kernel<T: Float>(entry: &str, arguments: &CallArguments, p: &[*mut u8]) {
    macro_rules! call {
        ($kernel:expr, $arguments:expr, $($at:literal)*) => {
            $kernel(*$arguments, $(p[$at].cast()),*)
        };
    }
    // SAFETY: the caller's.
    unsafe {
        match arguments {
            CallArguments::Points(a) => {
                let kernel = <T as NativeFloat>::kernel(entry).unwrap();
                call!(kernel, a, 0 1 2 3 4 5 6 7 8 9 10 11 12 13);
            }
            CallArguments::Group(a) => match <T as NativeGroups>::advance(entry) {
                Some(kernel) => call!(kernel, a, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17),
                None => match <T as NativeGroups>::far(entry).unwrap() {
                    NativeFar::Dense(kernel) => call!(kernel, a, 0 1 2 3 4 5),
                    NativeFar::Sparse(kernel) => call!(kernel, a, 0 1 2 3 4 5 6 7),
                },
            },
        }
    }
}

/// The device's memory.
struct Memory(BTreeMap<ArrayId, HostArray>);

impl Memory {
    /// What the kernels must not read before they have written it is NaN.
    fn new<T: Float>(arrays: Arrays) -> Self {
        let array = |(id, upload)| match upload {
            Upload::Values(values) => (id, values),
            Upload::Floats(count) => (id, T::floats(vec![<T as kernels_cpu::Number>::NAN; count])),
            Upload::Zeros(count) => {
                (id, T::floats(vec![<T as kernels_cpu::Number>::from_f64(0.0); count]))
            }
        };
        Self(arrays.into_iter().map(array).collect())
    }

    fn chunk(&mut self, launch: &Launch) {
        for id in ArrayId::OF_CHUNKS {
            self.0.insert(id, launch.array(id).unwrap().clone());
        }
    }

    fn start(&mut self, id: ArrayId) -> *mut u8 {
        self.0.get_mut(&id).map_or(std::ptr::null_mut(), |array| array.bytes_mut().as_mut_ptr())
    }

    fn u64s(&self, id: ArrayId) -> Vec<u64> {
        match &self.0[&id] {
            HostArray::U64(values) => values.clone(),
            _ => panic!("not of 64 bits"),
        }
    }
}

struct Shared(Vec<*mut u8>);

impl Shared {
    fn get(&self) -> &[*mut u8] {
        &self.0
    }
}

// SAFETY: only one emulated thread runs at a time.
unsafe impl Sync for Shared {}

/// All that the slots need to know.
struct Model {
    program: Program,
    placements: Vec<ParameterPlacement>,
    recorded: Vec<Recorded>,
    /// States that edges read, in the order of the history.
    edge_states: Vec<u32>,
    nodes: usize,
    states: usize,
    in_memory: bool,
    features: u32,
    /// Where columns are in shared memory: lanes and threads of a block.
    shared: Option<(usize, usize)>,
    recorded_by_lane: bool,
}

/// Whose value a column has where it is in shared memory.
#[derive(Clone, Copy)]
enum Of {
    /// Always in global memory, one value a node.
    Node,
    Lane,
    Thread,
}

/// What a section reads besides states, as addresses.
#[derive(Clone, Copy, Default)]
struct Frame {
    point: u64,
    node: u64,
    coupling: u64,
    gathered: u64,
    signals: u64,
    source: u64,
    stride: u64,
}

impl Model {
    fn new(device_job: &DeviceJob<'_>) -> Self {
        let job = device_job.job();
        let program = job.program.clone();
        let mut edge_states = Vec::new();
        for state in 0..program.states.len() as u32 {
            let read = Inst::Input(Input::SourceState(state));
            if program.edges.iter().any(|section| section.insts.contains(&read)) {
                edge_states.push(state);
            }
        }
        Self {
            placements: device_job.placements().to_vec(),
            recorded: job.record.variables.clone(),
            edge_states,
            nodes: job.nodes,
            states: match device_job.plan() {
                Plan::Plain => device_job.kernel().states as usize,
                Plan::Groups(plan) => plan.states as usize,
            },
            in_memory: device_job.kernel().in_memory && *device_job.plan() == Plan::Plain,
            features: job_features(job)
                | match device_job.plan() {
                    Plan::Plain => 0,
                    Plan::Groups(plan) => {
                        let delayed = if plan.delayed { grouped::DELAYED } else { 0 };
                        (plan.width << grouped::WIDTH_SHIFT) | delayed
                    }
                },
            shared: match device_job.plan() {
                Plan::Plain => None,
                Plan::Groups(plan) => Some((plan.lanes() as usize, plan.threads as usize)),
            },
            recorded_by_lane: job
                .record
                .monitors
                .iter()
                .any(|monitor| matches!(monitor, MonitorKind::GlobalAverage { .. })),
            program,
        }
    }

    /// States and what follows them.
    fn states<'b, T: Float>(&self, bits: &'b [u64]) -> (Vec<T>, &'b [u64]) {
        if self.in_memory {
            let states = (0..self.states).map(|s| self.column(bits[0], s, Of::Node)).collect();
            return (states, &bits[1..]);
        }
        let (states, rest) = bits.split_at(self.states);
        (states.iter().map(|&b| <T as Bits>::from_bits(b)).collect(), rest)
    }

    fn stride(&self, of: Of) -> Option<usize> {
        let (lanes, threads) = self.shared?;
        match of {
            Of::Node => None,
            Of::Lane => Some(lanes),
            Of::Thread => Some(threads),
        }
    }

    fn recorded(&self) -> Of {
        if self.recorded_by_lane { Of::Lane } else { Of::Thread }
    }

    fn column<T: Float>(&self, base: u64, column: usize, of: Of) -> T {
        match self.stride(of) {
            // SAFETY: the kernel gave the address of columns in shared memory.
            Some(stride) => unsafe {
                SharedPtr::from_address(base as u32).add((column * stride) as u32).load()
            },
            None => read(base, (column * self.nodes * size_of::<T>()) as u64),
        }
    }

    fn set_column<T: Float>(&self, base: u64, column: usize, of: Of, value: T) {
        match self.stride(of) {
            // SAFETY: as above.
            Some(stride) => unsafe {
                SharedPtr::from_address(base as u32).add((column * stride) as u32).store(value);
            },
            None => write(base, (column * self.nodes * size_of::<T>()) as u64, value),
        }
    }

    fn section<T: Float>(&self, section: &Section, x: &[T], time: T, f: Frame) -> Vec<T> {
        let size = size_of::<T>() as u64;
        let mut out = Vec::new();
        let input = |input| match input {
            Input::Time => time,
            Input::State(s) => x[s as usize],
            Input::Coupling(c) => self.column(f.coupling, c as usize, Of::Thread),
            Input::Gathered(g) => self.column(f.gathered, g as usize, Of::Lane),
            Input::Signal(s) => read(f.signals, u64::from(s) * size),
            Input::SourceState(s) => {
                let at = self.edge_states.iter().position(|e| *e == s).unwrap();
                read(f.source, (self.program.emit.results.len() + at) as u64 * f.stride)
            }
            Input::Parameter(slot) => match self.placements[slot as usize] {
                ParameterPlacement::Constant(value) => <T as kernels_cpu::Number>::from_f64(value),
                ParameterPlacement::PerPoint(at) => read(f.point, u64::from(at) * size),
                ParameterPlacement::PerNode(at) => self.column(f.node, at as usize, Of::Node),
            },
        };
        interp::run_section(section, &input, &mut out);
        out
    }

    /// New states into the outputs, or to where they were.
    fn put_states<T: Float>(&self, bits: &[u64], x: &[T], outputs: &mut [u64]) {
        for (state, &value) in x.iter().enumerate() {
            if self.in_memory {
                self.set_column(bits[0], state, Of::Node, value);
            } else {
                outputs[state] = value.to_bits_of();
            }
        }
    }

    fn call<T: Float>(&self, name: &str, bits: &[u64], outputs: &mut [u64]) {
        let program = &self.program;
        if name == "features" {
            outputs[0] = u64::from(self.features);
            return;
        }
        if name == "diffusion" {
            let frame = Frame { point: bits[0], node: bits[1], ..Frame::default() };
            let nothing = <T as kernels_cpu::Number>::NAN;
            let sigma = self.section(&program.diffusion, &[], nothing, frame);
            return sigma
                .into_iter()
                .enumerate()
                .for_each(|(v, s)| self.set_column(bits[2], v, Of::Thread, s));
        }
        let (mut x, rest) = self.states::<T>(bits);
        match name {
            "disturb" => {
                for (variable, &state) in program.noisy.iter().enumerate() {
                    let xi: T = self.column(rest[0], variable, Of::Thread);
                    x[state as usize] = x[state as usize] + xi;
                }
                return self.put_states(bits, &x, outputs);
            }
            "bound" => {
                for (x, bound) in x.iter_mut().zip(&program.bounds) {
                    *x = bounded(*x, bound);
                }
                return self.put_states(bits, &x, outputs);
            }
            "record" => {
                for (at, &variable) in self.recorded.iter().enumerate() {
                    if let Recorded::State(s) = variable {
                        self.set_column(rest[0], at, self.recorded(), x[s]);
                    }
                }
                return;
            }
            _ => {}
        }
        let time = <T as Bits>::from_bits(rest[0]);
        let frame = Frame { point: rest[1], node: rest[2], ..Frame::default() };
        let rest = &rest[3..];
        let within =
            Frame { coupling: rest[0], signals: rest.get(1).copied().unwrap_or_default(), ..frame };
        match name {
            "emit" => {
                let mut channels = self.section(&program.emit, &x, time, frame);
                channels.extend(self.edge_states.iter().map(|&s| x[s as usize]));
                for (channel, value) in channels.into_iter().enumerate() {
                    match self.shared {
                        Some(_) => self.set_column(rest[0], channel, Of::Lane, value),
                        None => write(rest[0], channel as u64 * rest[1], value),
                    }
                }
            }
            "edge" => {
                let frame = Frame { source: rest[1], stride: rest[2], ..frame };
                let section = &program.edges[rest[0] as usize];
                outputs[0] = self.section(section, &x, time, frame)[0].to_bits_of();
            }
            "post" => {
                let frame = Frame { gathered: rest[0], ..frame };
                let inputs = self.section(&program.post, &x, time, frame);
                inputs
                    .into_iter()
                    .enumerate()
                    .for_each(|(c, v)| self.set_column(rest[1], c, Of::Thread, v));
            }
            "drift" => {
                let drift = self.section(&program.drift, &x, time, within);
                for (state, value) in drift.into_iter().enumerate() {
                    if self.in_memory {
                        self.set_column(rest[2], state, Of::Node, value);
                    } else {
                        outputs[state] = value.to_bits_of();
                    }
                }
            }
            "event" => {
                let after = self.section(&program.events, &x, time, within);
                x[..after.len()].copy_from_slice(&after);
                self.put_states(bits, &x, outputs);
            }
            "observe" => {
                let observed = self.section(&program.observe, &x, time, within);
                for (at, &variable) in self.recorded.iter().enumerate() {
                    if let Recorded::Observed(o) = variable {
                        self.set_column(rest[2], at, self.recorded(), observed[o]);
                    }
                }
            }
            _ => panic!("slot {name} is not known"),
        }
    }
}

/// `Bits::to_bits` without a doubt which.
trait ToBits {
    fn to_bits_of(self) -> u64;
}

impl<T: Float> ToBits for T {
    fn to_bits_of(self) -> u64 {
        <T as Bits>::to_bits(self)
    }
}

fn read<T: Float>(base: u64, bytes: u64) -> T {
    // SAFETY: the kernel gave the address of an array that holds what the slot may read.
    unsafe { *<*const T as Bits>::from_bits(base + bytes) }
}

fn write<T: Float>(base: u64, bytes: u64, value: T) {
    // SAFETY: as in `read`; only one emulated thread runs at a time.
    unsafe { *<*mut T as Bits>::from_bits(base + bytes) = value }
}

fn bounded<T: Float>(x: T, bound: &Bound) -> T {
    let real = |value| <T as kernels_cpu::Number>::from_f64(value);
    match *bound {
        Bound::Free => x,
        Bound::Clamp { lo, hi } => scheme::clamp(x, real(lo), real(hi)),
        Bound::Wrap { lo, hi } => real(lo) + math::rem_floor(x - real(lo), real(hi - lo)),
    }
}

fn job_features(job: &Job<'_>) -> u32 {
    let program = job.program;
    let mut word = match job.method {
        Method::Euler => features::EULER,
        Method::Heun => features::HEUN,
        Method::Rk4 => features::RK4,
        Method::Map => features::MAP,
    };
    if !program.noisy.is_empty() {
        word |= features::NOISE;
    }
    if program.bounds.iter().any(|bound| *bound != Bound::Free) {
        word |= features::BOUNDS;
    }
    if !program.events.results.is_empty() {
        word |= features::EVENTS;
    }
    if !program.edges.is_empty() {
        word |= features::EDGES;
    }
    if job.record.mean || !job.record.monitors.is_empty() {
        word |= features::RECORD;
    }
    if job.record.monitors.iter().any(|monitor| matches!(monitor, MonitorKind::Bold(_))) {
        word |= features::BOLD;
    }
    word
}

fn fill<T: Float>(mut emulation: Emulation, model: &Arc<Model>) -> Emulation {
    let slot = |emulation: Emulation, name, meaning: &'static str| {
        let model = Arc::clone(model);
        emulation.slot(name, move |bits, outputs| model.call::<T>(meaning, bits, outputs))
    };
    for name in ["features", "diffusion"] {
        emulation = slot(emulation, name, name);
    }
    let names = [
        ("emit", "emit_memory"),
        ("edge", "edge_memory"),
        ("post", "post_memory"),
        ("drift", "drift_memory"),
        ("disturb", "disturb_memory"),
        ("bound", "bound_memory"),
        ("event", "event_memory"),
        ("observe", "observe_memory"),
        ("record", "record_memory"),
    ];
    for (over_registers, over_memory) in names {
        let name = if model.in_memory { over_memory } else { over_registers };
        emulation = slot(emulation, name, over_registers);
    }
    emulation
}
