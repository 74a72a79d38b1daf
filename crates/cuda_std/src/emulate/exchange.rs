//! What the running thread asks of its launch.

use super::launch::SlotBody;
use super::memory::{Copies, SharedMemory};
use super::schedule::{Abandoned, Exchanged, Schedule};
use super::{Dim3, Place, WARP};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

/// One launch, as its threads see it.
pub(super) struct Context {
    pub(super) schedule: Schedule,
    pub(super) shared: SharedMemory,
    pub(super) slots: BTreeMap<&'static str, Box<SlotBody>>,
    pub(super) grid_dim: Dim3,
    pub(super) block_dim: Dim3,
}

/// One thread in one block of a launch.
pub(super) struct Current {
    pub(super) launch: Arc<Context>,
    pub(super) copies: Copies,
    thread: usize,
    place: Place,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Resets the current thread when dropped.
pub(super) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// Makes the calling thread a thread of a block until the result is dropped.
pub(super) fn enter_context(launch: &Arc<Context>, thread: usize, block: u64) -> Entered {
    let (grid_dim, block_dim) = (launch.grid_dim, launch.block_dim);
    let place = Place {
        thread: block_dim.place(thread as u64),
        block: grid_dim.place(block),
        block_dim,
        grid_dim,
    };
    let (launch, copies) = (Arc::clone(launch), Copies::default());
    CURRENT.set(Some(Current { launch, copies, thread, place }));
    Entered
}

/// Calls a function with the current thread, if there is one.
pub(super) fn with_current<R>(function: impl FnOnce(Option<&mut Current>) -> R) -> R {
    CURRENT.with_borrow_mut(|current| function(current.as_mut()))
}

/// The launch and the number of the current thread. They are cloned out, because a thread that
/// waits must not hold on to what it borrowed.
fn launch_and_thread() -> Option<(Arc<Context>, usize)> {
    with_current(|current| current.map(|current| (Arc::clone(&current.launch), current.thread)))
}

fn or_unwind<T>(result: Result<T, Abandoned>) -> T {
    // Without the panic hook: the failure is reported by the thread that had it.
    result.unwrap_or_else(|abandoned| resume_unwind(Box::new(abandoned)))
}

/// Where the current thread is.
pub(crate) fn place() -> Place {
    let (one, zero) = (Dim3 { x: 1, y: 1, z: 1 }, Dim3 { x: 0, y: 0, z: 0 });
    let alone = Place { thread: zero, block: zero, block_dim: one, grid_dim: one };
    with_current(|current| current.map_or(alone, |current| current.place))
}

/// The barrier of the block.
pub(crate) fn sync_threads() {
    if let Some((launch, thread)) = launch_and_thread() {
        or_unwind(launch.schedule.barrier(thread));
    }
}

/// Gives `value` to the lanes of the warp in `mask` and returns theirs, and the own lane's number.
pub(crate) fn exchange_in_warp(mask: u32, value: u64) -> (Exchanged, usize) {
    let Some((launch, thread)) = launch_and_thread() else {
        let mut alone = [0; WARP];
        alone[0] = value;
        return (alone, 0);
    };
    (or_unwind(launch.schedule.exchange(thread, mask, value)), thread % WARP)
}

/// Calls what the launch has put into a slot.
///
/// # Panics
/// When the slot is not filled; a launch reports it as its error.
#[doc(hidden)]
#[must_use]
pub fn call_slot<const OUTPUTS: usize>(name: &str, inputs: &[u64]) -> [u64; OUTPUTS] {
    let launch = launch_and_thread().map(|(launch, _)| launch);
    let Some(body) = launch.as_ref().and_then(|launch| launch.slots.get(name)) else {
        panic!("slot `{name}` is not filled: give its body to `Launch::slot`");
    };
    let mut outputs = [0; OUTPUTS];
    body(inputs, &mut outputs);
    outputs
}
