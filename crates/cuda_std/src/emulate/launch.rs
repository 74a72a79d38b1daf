//! Launching a kernel.

use super::exchange::{Context, enter_context};
use super::memory::SharedMemory;
use super::schedule::{Abandoned, Schedule};
use super::{Dim3, EmulationError, Order};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// What fills a slot: from the bits of its inputs to the bits of its outputs.
pub(super) type SlotBody = dyn Fn(&[u64], &mut [u64]) + Send + Sync;

/// The largest block of any CUDA device.
const MAX_THREADS: u64 = 1024;
/// Kernels keep little on the stack; a thousand threads at once should not ask for gigabytes.
const STACK_BYTES: usize = 1 << 20;

/// Runs a kernel on a grid: `launch(blocks, threads, shared_bytes, || unsafe { kernel(…) })`.
///
/// # Errors
/// See [`EmulationError`].
pub fn launch(
    grid_dim: impl Into<Dim3>,
    block_dim: impl Into<Dim3>,
    shared_bytes: u32,
    kernel: impl Fn() + Sync,
) -> Result<(), EmulationError> {
    Launch::new(grid_dim, block_dim).shared_bytes(shared_bytes).run(kernel)
}

/// A launch with all its settings.
#[must_use = "nothing runs before `run` is called"]
pub struct Launch {
    grid_dim: Dim3,
    block_dim: Dim3,
    shared_bytes: u32,
    order: Order,
    slots: BTreeMap<&'static str, Box<SlotBody>>,
}

impl Launch {
    /// A grid of `grid_dim` blocks of `block_dim` threads.
    pub fn new(grid_dim: impl Into<Dim3>, block_dim: impl Into<Dim3>) -> Self {
        Self {
            grid_dim: grid_dim.into(),
            block_dim: block_dim.into(),
            shared_bytes: 0,
            order: Order::default(),
            slots: BTreeMap::new(),
        }
    }

    /// The size of each block's dynamic shared memory. Default: 0.
    pub fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// The order of turns. Default: [`Order::Ascending`].
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Fills the slot of this name. The function gets the bits of the inputs and writes those of
    /// the outputs, in the order of the slot's declaration, arrays element by element; see
    /// [`Bits`](crate::slot::Bits).
    pub fn slot(
        mut self,
        name: &'static str,
        body: impl Fn(&[u64], &mut [u64]) + Send + Sync + 'static,
    ) -> Self {
        self.slots.insert(name, Box::new(body));
        self
    }

    /// Runs the kernel once for every thread of the grid.
    ///
    /// # Errors
    /// See [`EmulationError`].
    pub fn run(self, kernel: impl Fn() + Sync) -> Result<(), EmulationError> {
        let Self { grid_dim, block_dim, shared_bytes, order, slots } = self;
        if block_dim.count() == 0 || block_dim.count() > MAX_THREADS {
            return Err(EmulationError::BlockSize { block_dim });
        }
        let threads = block_dim.count() as usize;
        let context = Arc::new(Context {
            schedule: Schedule::new(grid_dim, threads, order),
            shared: SharedMemory::new(shared_bytes),
            slots,
            grid_dim,
            block_dim,
        });
        let kernel = &kernel;
        thread::scope(|scope| {
            for thread in 0..threads {
                let own = Arc::clone(&context);
                let spawned = thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || run_thread(&own, thread, kernel));
                if let Err(error) = spawned {
                    context.schedule.fail(EmulationError::Spawn(error));
                    break;
                }
            }
        });
        context.schedule.result()
    }
}

/// Runs one thread through all blocks.
fn run_thread(context: &Arc<Context>, thread: usize, kernel: &(impl Fn() + Sync)) {
    for block in 0..context.grid_dim.count() {
        if context.schedule.enter(block, thread).is_err() {
            return;
        }
        let entered = enter_context(context, thread, block);
        // What the kernel leaves half done after a panic is given up with the launch.
        let result = catch_unwind(AssertUnwindSafe(kernel));
        drop(entered);
        match result {
            Ok(()) => context.schedule.leave(thread, || context.shared.clear()),
            Err(payload) if payload.is::<Abandoned>() => return,
            Err(payload) => {
                let failure = EmulationError::Panic {
                    block: context.grid_dim.place(block),
                    thread: context.block_dim.place(thread as u64),
                    message: message(payload.as_ref()),
                };
                return context.schedule.fail(failure);
            }
        }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned()
}
