//! Memory, queues and clock of the fake device.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::FakeKernel;
use crate::compute::driver::LaunchShape;
use crate::compute::kernel::SourceDigest;

/// Byte that fills fresh device memory, so that an unwritten byte shows.
const UNWRITTEN: u8 = 0xA5;

#[derive(Debug, Clone)]
pub(super) enum Operation {
    ToDevice { host: u64, offset: usize, size: usize, device: u64 },
    ToHost { device: u64, host: u64, offset: usize, size: usize },
    Fill { device: u64, size: u64, value: u8 },
    Launch { function: u64, shape: LaunchShape, arguments: Vec<Vec<u8>> },
    Replay { graph: u64 },
    Record { ticket: u64 },
    Wait { ticket: u64 },
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    queue: VecDeque<Operation>,
    recording: Option<Vec<Operation>>,
}

#[derive(Debug, Default)]
pub(super) struct Event {
    timed: bool,
    last: Option<u64>,
}

/// A launch as a fake kernel sees it.
pub struct FakeLaunch<'a> {
    memory: &'a mut BTreeMap<u64, Vec<u8>>,
    violations: &'a mut Vec<String>,
    arguments: &'a [Vec<u8>],
    /// Grid and block.
    pub shape: LaunchShape,
}

impl FakeLaunch<'_> {
    /// The value of an argument.
    pub fn value<T: bytemuck::AnyBitPattern>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(&self.arguments[argument])
    }

    /// Reads `count` numbers from where a pointer argument points.
    pub fn read(&mut self, argument: usize, count: usize) -> Vec<f32> {
        let address = self.value(argument);
        match bytes_at(self.memory, address, count * 4) {
            Some(bytes) => bytemuck::pod_collect_to_vec(bytes),
            None => {
                self.violations.push(format!("a kernel read outside memory at {address:#x}"));
                vec![f32::NAN; count]
            }
        }
    }

    /// The bytes from where a pointer argument points to the end of the allocation: for a kernel that
    /// is compiled code.
    pub fn bytes(&mut self, argument: usize) -> &mut [u8] {
        let address: u64 = self.value(argument);
        match self.memory.range_mut(..=address).next_back() {
            Some((base, bytes)) => {
                let offset = usize::try_from(address - base).unwrap_or(usize::MAX);
                bytes.get_mut(offset..).unwrap_or_default()
            }
            None => &mut [],
        }
    }

    /// Writes numbers to where a pointer argument points.
    pub fn write(&mut self, argument: usize, numbers: &[f32]) {
        let address = self.value(argument);
        match bytes_at(self.memory, address, numbers.len() * 4) {
            Some(bytes) => bytes.copy_from_slice(bytemuck::cast_slice(numbers)),
            None => self.violations.push(format!("a kernel wrote outside memory at {address:#x}")),
        }
    }
}

/// The bytes of live memory at an address, if all of them lie in one allocation.
fn bytes_at(memory: &mut BTreeMap<u64, Vec<u8>>, address: u64, size: usize) -> Option<&mut [u8]> {
    let (base, bytes) = memory.range_mut(..=address).next_back()?;
    let offset = usize::try_from(address - base).ok()?;
    bytes.get_mut(offset..offset.checked_add(size)?)
}

pub(super) struct State {
    memory: BTreeMap<u64, Vec<u8>>,
    next_address: u64,
    host: HashMap<u64, Vec<u8>>,
    pub(super) streams: BTreeMap<u64, Stream>,
    pub(super) events: HashMap<u64, Event>,
    graphs: HashMap<u64, Vec<Operation>>,
    functions: HashMap<u64, FakeKernel>,
    pub(super) compiled: HashSet<SourceDigest>,
    next_handle: u64,
    next_ticket: u64,
    /// Time of each recording that was reached.
    reached: HashMap<u64, i64>,
    clock: i64,
    random: u64,
    /// Most operations that run behind the host's back at each call, plus one.
    eagerness: usize,
    pub(super) launches: usize,
    pub(super) replays: usize,
    pub(super) violations: Vec<String>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("violations", &self.violations).finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            memory: BTreeMap::new(),
            next_address: 0x7f00_0000_0000,
            host: HashMap::new(),
            streams: BTreeMap::new(),
            events: HashMap::new(),
            graphs: HashMap::new(),
            functions: HashMap::new(),
            compiled: HashSet::new(),
            next_handle: 1,
            next_ticket: 1,
            reached: HashMap::new(),
            clock: 0,
            random: seed,
            eagerness: 1 + (seed % 4) as usize,
            launches: 0,
            replays: 0,
            violations: Vec::new(),
        }
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    /// Knuth's MMIX generator; the high bits.
    fn random(&mut self, below: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below.max(1)
    }

    pub(super) fn leaks(&self) -> Vec<String> {
        [
            ("device memory", self.memory.len()),
            ("host memory", self.host.len()),
            ("stream", self.streams.len()),
            ("event", self.events.len()),
            ("graph", self.graphs.len()),
        ]
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect()
    }

    // ---- memory -------------------------------------------------------------------------------

    pub(super) fn allocated_bytes(&self) -> u64 {
        self.memory.values().map(|bytes| bytes.len() as u64).sum()
    }

    pub(super) fn allocate(&mut self, bytes: u64) -> u64 {
        let address = self.next_address;
        self.next_address += bytes.next_multiple_of(1 << 20) + (1 << 20);
        self.memory.insert(address, vec![UNWRITTEN; bytes as usize]);
        address
    }

    pub(super) fn free(&mut self, address: u64) -> bool {
        // A pending copy or launch will find the memory gone and note it.
        self.memory.remove(&address).is_some()
    }

    pub(super) fn allocate_host(&mut self, bytes: usize) -> u64 {
        let handle = self.handle();
        self.host.insert(handle, vec![0; bytes]);
        handle
    }

    pub(super) fn free_host(&mut self, handle: u64) -> bool {
        if self.is_copying(handle, 0, usize::MAX) {
            self.violations.push("host memory freed while a copy is under way".to_owned());
        }
        self.host.remove(&handle).is_some()
    }

    pub(super) fn host_bytes(
        &mut self,
        call: &str,
        handle: u64,
        offset: usize,
        size: usize,
    ) -> Option<&mut [u8]> {
        if self.is_copying(handle, offset, size) {
            self.violations.push(format!("{call} while a copy of these bytes is under way"));
        }
        self.host.get_mut(&handle)?.get_mut(offset..offset.checked_add(size)?)
    }

    /// Whether a queued copy reads or writes this range of host memory.
    fn is_copying(&self, handle: u64, from: usize, length: usize) -> bool {
        self.streams.values().flat_map(|stream| &stream.queue).any(|operation| match operation {
            Operation::ToDevice { host, offset, size, .. }
            | Operation::ToHost { host, offset, size, .. } => {
                *host == handle && *offset < from.saturating_add(length) && from < offset + size
            }
            _ => false,
        })
    }

    // ---- streams and events -------------------------------------------------------------------

    pub(super) fn create_stream(&mut self) -> u64 {
        let handle = self.handle();
        self.streams.insert(handle, Stream::default());
        handle
    }

    pub(super) fn create_event(&mut self, timed: bool) -> u64 {
        let handle = self.handle();
        self.events.insert(handle, Event { timed, last: None });
        handle
    }

    pub(super) fn new_recording(&mut self, event: u64) -> Option<u64> {
        let ticket = self.next_ticket;
        self.events.get_mut(&event)?.last = Some(ticket);
        self.next_ticket += 1;
        Some(ticket)
    }

    pub(super) fn last_recording(&self, event: u64) -> Option<u64> {
        self.events.get(&event)?.last
    }

    pub(super) fn time_of(&self, event: u64) -> Option<i64> {
        let event = self.events.get(&event).filter(|event| event.timed)?;
        self.reached.get(&event.last?).copied()
    }

    pub(super) fn add_function(&mut self, kernel: FakeKernel) -> u64 {
        let handle = self.handle();
        self.functions.insert(handle, kernel);
        handle
    }

    /// Queues or records; then the device may or may not get on with its work.
    pub(super) fn enqueue(&mut self, stream: u64, operation: Operation) -> bool {
        let Some(target) = self.streams.get_mut(&stream) else {
            self.violations.push("work on a stream that was destroyed".to_owned());
            return false;
        };
        match &mut target.recording {
            Some(recorded) => {
                if matches!(
                    operation,
                    Operation::ToDevice { .. }
                        | Operation::ToHost { .. }
                        | Operation::Replay { .. }
                ) {
                    self.violations.push(format!("recorded: {operation:?}"));
                }
                recorded.push(operation);
            }
            None => {
                target.queue.push_back(operation);
                for _ in 0..self.random(self.eagerness) {
                    self.step();
                }
            }
        }
        true
    }

    // ---- graphs -------------------------------------------------------------------------------

    pub(super) fn is_recording(&self) -> bool {
        self.streams.values().any(|stream| stream.recording.is_some())
    }

    pub(super) fn begin_recording(&mut self, stream: u64) -> bool {
        match self.streams.get_mut(&stream) {
            Some(stream) if stream.recording.is_none() => {
                stream.recording = Some(Vec::new());
                true
            }
            _ => false,
        }
    }

    pub(super) fn end_recording(&mut self, stream: u64) -> Option<u64> {
        let recorded = self.streams.get_mut(&stream)?.recording.take()?;
        let handle = self.handle();
        self.graphs.insert(handle, recorded);
        Some(handle)
    }

    pub(super) fn destroy_graph(&mut self, graph: u64) -> bool {
        // A real driver finishes replays that are under way.
        while self.streams.values().flat_map(|stream| &stream.queue).any(
            |operation| matches!(operation, Operation::Replay { graph: queued } if *queued == graph),
        ) && self.step()
        {}
        self.graphs.remove(&graph).is_some()
    }

    // ---- running ------------------------------------------------------------------------------

    /// Runs until a stream is empty; false where the stream is gone or waits for ever.
    pub(super) fn run_stream(&mut self, stream: u64) -> bool {
        while let Some(running) = self.streams.get(&stream) {
            if running.queue.is_empty() {
                return true;
            }
            if !self.step() {
                return false;
            }
        }
        false
    }

    /// Runs until a recording is reached.
    pub(super) fn run_until_recorded(&mut self, ticket: u64) -> bool {
        while !self.reached.contains_key(&ticket) {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// Runs the next operation of one of the streams that can go on; false where none can.
    fn step(&mut self) -> bool {
        let ready: Vec<u64> = self
            .streams
            .iter()
            .filter(|(_, stream)| match stream.queue.front() {
                None => false,
                Some(Operation::Wait { ticket }) => self.reached.contains_key(ticket),
                Some(_) => true,
            })
            .map(|(handle, _)| *handle)
            .collect();
        if ready.is_empty() {
            return false;
        }
        let chosen = ready[self.random(ready.len())];
        match self.streams.get_mut(&chosen).and_then(|stream| stream.queue.pop_front()) {
            Some(operation) => {
                self.run(&operation);
                true
            }
            None => false,
        }
    }

    fn run(&mut self, operation: &Operation) {
        self.clock += 1_000;
        match operation {
            Operation::ToDevice { host, offset, size, device } => {
                let source =
                    self.host.get(host).and_then(|bytes| bytes.get(*offset..offset + size));
                match (source, bytes_at(&mut self.memory, *device, *size)) {
                    (Some(source), Some(target)) => target.copy_from_slice(source),
                    _ => self.violations.push("an upload outside memory".to_owned()),
                }
            }
            Operation::ToHost { device, host, offset, size } => {
                let target =
                    self.host.get_mut(host).and_then(|bytes| bytes.get_mut(*offset..offset + size));
                match (target, bytes_at(&mut self.memory, *device, *size)) {
                    (Some(target), Some(source)) => target.copy_from_slice(source),
                    _ => self.violations.push("a download outside memory".to_owned()),
                }
            }
            Operation::Fill { device, size, value } => {
                match bytes_at(&mut self.memory, *device, *size as usize) {
                    Some(target) => target.fill(*value),
                    None => self.violations.push("a fill outside memory".to_owned()),
                }
            }
            Operation::Launch { function, shape, arguments } => {
                self.launches += 1;
                if let Some(kernel) = self.functions.get(function) {
                    kernel(&mut FakeLaunch {
                        memory: &mut self.memory,
                        violations: &mut self.violations,
                        arguments,
                        shape: *shape,
                    });
                }
            }
            Operation::Replay { graph } => {
                self.replays += 1;
                match self.graphs.get(graph).cloned() {
                    Some(recorded) => recorded.iter().for_each(|operation| self.run(operation)),
                    None => self.violations.push("a replay of a destroyed graph".to_owned()),
                }
            }
            Operation::Record { ticket } => {
                self.reached.insert(*ticket, self.clock);
            }
            Operation::Wait { .. } => {}
        }
    }
}
