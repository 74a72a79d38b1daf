//! Which work of the compute stream used a view last, so that a prefetch waits for that work only.
//!
//! Every piece of work on the compute stream gets a number. Once a prefetch stream exists, an event
//! follows each piece; the last [`KEPT`] of them are kept. To overwrite a view, the prefetch stream
//! waits for the oldest kept event that is not older than the view's last use: the compute stream
//! works in order, so that event covers the use.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::driver::{Driver, DriverError, EventHandle, Owned, StreamHandle};
use super::slab::RingAllocator;

/// Events kept. A use that is older than all of them waits for the oldest one.
const KEPT: usize = 32;

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Number of the last work that used the view; 0 for none.
    last: u64,
    /// A prefetch into it has not been joined.
    prefetched: bool,
}

/// Numbers of work, the events behind them, and the last use of each view.
#[derive(Debug)]
pub(super) struct Timeline<D: Driver> {
    number: u64,
    events: VecDeque<(u64, Owned<D, EventHandle>)>,
    /// By serial number of the allocation.
    uses: BTreeMap<u64, Use>,
    /// Last use of any memory that was released: new allocations may lie in it.
    recycled: u64,
    pending: bool,
}

impl<D: Driver> Timeline<D> {
    pub(super) fn new() -> Self {
        Self {
            number: 0,
            events: VecDeque::new(),
            uses: BTreeMap::new(),
            recycled: 0,
            pending: false,
        }
    }

    /// A new allocation: it may lie in memory that earlier work still uses.
    pub(super) fn allocated(&mut self, serial: u64) {
        self.uses.insert(serial, Use { last: self.recycled, prefetched: false });
    }

    /// Whether a prefetch was queued that has not been joined.
    pub(super) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Whether a prefetch into this view has not been joined.
    pub(super) fn is_prefetched(&self, serial: u64) -> bool {
        self.uses.get(&serial).is_some_and(|u| u.prefetched)
    }

    /// A prefetch into this view was queued.
    pub(super) fn prefetched(&mut self, serial: u64) {
        self.pending = true;
        if let Some(u) = self.uses.get_mut(&serial) {
            u.prefetched = true;
        }
    }

    /// The compute stream waits for all prefetches.
    pub(super) fn joined(&mut self) {
        self.pending = false;
        for u in self.uses.values_mut() {
            u.prefetched = false;
        }
    }

    /// Work was queued on the compute stream that uses these views.
    pub(super) fn used(&mut self, serials: impl Iterator<Item = u64>) {
        self.number += 1;
        for serial in serials {
            if let Some(u) = self.uses.get_mut(&serial) {
                u.last = self.number;
            }
        }
    }

    /// Puts an event behind everything that is queued on the compute stream.
    pub(super) fn mark(
        &mut self,
        driver: &Arc<D>,
        compute: &StreamHandle,
    ) -> Result<(), DriverError> {
        let event = if self.events.len() < KEPT {
            Owned::new(driver, driver.create_event(false)?)
        } else {
            match self.events.pop_front() {
                Some((_, event)) => event,
                None => Owned::new(driver, driver.create_event(false)?),
            }
        };
        driver.record_event(compute, &event)?;
        self.events.push_back((self.number, event));
        Ok(())
    }

    /// Makes the prefetch stream wait for the last use of a view.
    pub(super) fn wait_for_last_use(
        &self,
        driver: &D,
        prefetch: &StreamHandle,
        serial: u64,
    ) -> Result<(), DriverError> {
        let last = self.uses.get(&serial).map_or(0, |u| u.last);
        if last == 0 {
            return Ok(());
        }
        match self.events.iter().find(|(number, _)| *number >= last) {
            Some((_, event)) => driver.wait_event(prefetch, event),
            None => Ok(()), // Not reached: `mark` follows every use once a prefetch stream exists.
        }
    }

    /// Memory was released.
    pub(super) fn released(&mut self, allocator: &RingAllocator) {
        let mut recycled = self.recycled;
        self.uses.retain(|serial, u| {
            let live = allocator.is_live(*serial);
            if !live {
                recycled = recycled.max(u.last);
            }
            live
        });
        self.recycled = recycled;
    }
}
