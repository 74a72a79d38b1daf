//! The ring allocator of the device slab: which bytes are in use, without touching any.
//!
//! Two absolute counters of 64 bits never wrap: `write` is where the next allocation begins at the
//! earliest, `read` is up to where everything has been released. The place in the slab is the
//! counter modulo the capacity. Hence the rules, which hold for every sequence of calls:
//!
//! - an allocation begins at a multiple of [`ALIGNMENT`] and never straddles the end of the slab:
//!   the rest of the lap is skipped, and counts as used until the read head has passed it;
//! - `write − read` never exceeds the capacity, so that no allocation overlaps one that is not
//!   released;
//! - each allocation has a serial number that is never given twice. A counter value may come again,
//!   after [`RingAllocator::restore_checkpoint`]; a serial number does not, so a stale
//!   [`Allocation`] is recognised.

use std::collections::VecDeque;

/// Alignment of every allocation, in bytes: that of device memory itself.
pub const ALIGNMENT: u64 = 256;

/// Why the allocator refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlabError {
    /// More than the whole slab.
    #[error("{requested} bytes do not fit the slab of {capacity} bytes")]
    LargerThanSlab {
        /// Bytes asked for.
        requested: u64,
        /// Bytes of the slab.
        capacity: u64,
    },
    /// The write head would lap the read head.
    #[error(
        "{requested} bytes would overwrite memory in use: {used} of {capacity} bytes are not released"
    )]
    WouldLap {
        /// Bytes asked for.
        requested: u64,
        /// Bytes between the heads.
        used: u64,
        /// Bytes of the slab.
        capacity: u64,
    },
    /// The read head moves only forward, and not past the write head.
    #[error("the read head cannot move to {offset}: it is at {read}, the write head at {write}")]
    ReadHeadOutOfRange {
        /// Where it should go.
        offset: u64,
        /// Where it is.
        read: u64,
        /// Where the write head is.
        write: u64,
    },
    /// No checkpoint was taken at this place, or what lay there is released.
    #[error("{checkpoint} is no checkpoint between the heads at {read} and {write}")]
    InvalidCheckpoint {
        /// The value given.
        checkpoint: u64,
        /// Where the read head is.
        read: u64,
        /// Where the write head is.
        write: u64,
    },
    /// A slab of less than one aligned unit.
    #[error("a slab of {requested} bytes holds nothing: at least {ALIGNMENT} bytes are needed")]
    NoCapacity {
        /// Bytes asked for.
        requested: u64,
    },
}

/// How long an allocation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Until the heads pass it.
    Kept,
    /// Until [`RingAllocator::clear_transient`], if the heads do not pass it before.
    Transient,
}

/// A piece of the slab, as the allocator gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Absolute counter of its first byte.
    pub start: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Never given twice by one allocator.
    pub serial: u64,
}

#[derive(Debug)]
struct Entry {
    start: u64,
    end: u64,
    serial: u64,
    lifetime: Lifetime,
    released: bool,
}

/// How full the slab is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlabReport {
    /// Bytes of the slab.
    pub capacity: u64,
    /// Bytes between the heads, with padding.
    pub used: u64,
    /// The most bytes that were ever between the heads.
    pub high_water: u64,
    /// Allocations that are not released.
    pub live_allocations: usize,
}

/// The allocator; see the module's description.
#[derive(Debug)]
pub struct RingAllocator {
    capacity: u64,
    read: u64,
    write: u64,
    /// No allocation beyond this place was released from the front: at most `read`, and less where
    /// the read head skipped the rest of a lap of an empty ring.
    checkpoint_floor: u64,
    /// Sorted by place and by serial number at once: entries come and go only at the two ends.
    entries: VecDeque<Entry>,
    next_serial: u64,
    high_water: u64,
}

impl RingAllocator {
    /// An empty ring over `capacity` bytes, rounded down to the alignment.
    ///
    /// # Errors
    ///
    /// [`SlabError::NoCapacity`] where nothing is left after rounding.
    pub fn new(capacity: u64) -> Result<Self, SlabError> {
        let rounded = capacity / ALIGNMENT * ALIGNMENT;
        if rounded == 0 {
            return Err(SlabError::NoCapacity { requested: capacity });
        }
        Ok(Self {
            capacity: rounded,
            read: 0,
            write: 0,
            checkpoint_floor: 0,
            entries: VecDeque::new(),
            next_serial: 0,
            high_water: 0,
        })
    }

    /// Bytes of the slab, a multiple of the alignment.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Absolute counter up to which everything is released.
    pub fn read_head(&self) -> u64 {
        self.read
    }

    /// Absolute counter at which the next allocation begins at the earliest.
    pub fn write_head(&self) -> u64 {
        self.write
    }

    /// Place in the slab of an absolute counter, in bytes from the slab's begin.
    pub fn place(&self, absolute: u64) -> u64 {
        absolute % self.capacity
    }

    /// How full the slab is.
    pub fn report(&self) -> SlabReport {
        SlabReport {
            capacity: self.capacity,
            used: self.write - self.read,
            high_water: self.high_water,
            live_allocations: self.entries.iter().filter(|entry| !entry.released).count(),
        }
    }

    /// Takes `size` bytes; an allocation of no bytes takes one aligned unit.
    ///
    /// # Errors
    ///
    /// [`SlabError::LargerThanSlab`] and [`SlabError::WouldLap`]; the allocator is then unchanged.
    pub fn allocate(&mut self, size: u64, lifetime: Lifetime) -> Result<Allocation, SlabError> {
        if size > self.capacity {
            return Err(SlabError::LargerThanSlab { requested: size, capacity: self.capacity });
        }
        let padded = size.max(1).next_multiple_of(ALIGNMENT);
        let place = self.place(self.write);
        let skipped = if place + padded > self.capacity { self.capacity - place } else { 0 };
        let start = self.write + skipped;
        // An empty ring has nothing to protect: the skipped rest of the lap is released at once.
        let read = if self.entries.is_empty() { start } else { self.read };
        if start + padded - read > self.capacity {
            return Err(SlabError::WouldLap {
                requested: size,
                used: self.write - self.read,
                capacity: self.capacity,
            });
        }
        self.read = read;
        self.write = start + padded;
        self.high_water = self.high_water.max(self.write - self.read);
        let serial = self.next_serial;
        self.next_serial += 1;
        self.entries.push_back(Entry { start, end: self.write, serial, lifetime, released: false });
        Ok(Allocation { start, size, serial })
    }

    /// Whether the allocation with this serial number is not released.
    pub fn is_live(&self, serial: u64) -> bool {
        self.entries
            .binary_search_by_key(&serial, |entry| entry.serial)
            .is_ok_and(|index| !self.entries[index].released)
    }

    /// Releases everything that begins before the absolute counter `offset`.
    ///
    /// The read head moves to `offset`, rounded down to the alignment.
    ///
    /// # Errors
    ///
    /// [`SlabError::ReadHeadOutOfRange`] where `offset` is not between the heads.
    pub fn advance_read_head(&mut self, offset: u64) -> Result<(), SlabError> {
        if offset < self.read || offset > self.write {
            return Err(SlabError::ReadHeadOutOfRange {
                offset,
                read: self.read,
                write: self.write,
            });
        }
        while let Some(first) = self.entries.front()
            && first.start < offset
        {
            // Its tail beyond `offset` stays out of use until the read head passes that too.
            self.entries.pop_front();
        }
        self.move_read(offset / ALIGNMENT * ALIGNMENT);
        self.trim();
        Ok(())
    }

    /// Releases the allocations made with [`Lifetime::Transient`].
    ///
    /// Their memory can be used again at once, except where an allocation that is kept lies on both
    /// sides: the ring gives such memory back when it has released the older side.
    pub fn clear_transient(&mut self) {
        for entry in &mut self.entries {
            entry.released |= entry.lifetime == Lifetime::Transient;
        }
        self.trim();
    }

    /// The write head, to be given to [`Self::restore_checkpoint`].
    pub fn write_checkpoint(&self) -> u64 {
        self.write
    }

    /// Releases everything that was allocated since the checkpoint was taken.
    ///
    /// # Errors
    ///
    /// [`SlabError::InvalidCheckpoint`] where the value lies outside the heads or inside an
    /// allocation.
    pub fn restore_checkpoint(&mut self, checkpoint: u64) -> Result<(), SlabError> {
        let inside = |entry: &Entry| entry.start < checkpoint && checkpoint < entry.end;
        if checkpoint < self.checkpoint_floor
            || checkpoint > self.write
            || self.entries.iter().any(inside)
        {
            return Err(SlabError::InvalidCheckpoint {
                checkpoint,
                read: self.read,
                write: self.write,
            });
        }
        while let Some(last) = self.entries.back()
            && last.start >= checkpoint
        {
            self.entries.pop_back();
        }
        // A value inside the padding between two allocations is no multiple of the alignment.
        self.write = checkpoint.next_multiple_of(ALIGNMENT).max(self.read);
        self.trim();
        Ok(())
    }

    fn move_read(&mut self, to: u64) {
        self.read = to;
        self.checkpoint_floor = to;
    }

    /// Gives back the released entries at both ends.
    fn trim(&mut self) {
        while let Some(last) = self.entries.back()
            && last.released
        {
            self.write = last.start.max(self.read);
            self.entries.pop_back();
        }
        while let Some(first) = self.entries.front()
            && first.released
        {
            let end = first.end;
            self.entries.pop_front();
            self.move_read(end);
        }
        debug_assert!(self.read <= self.write && self.write - self.read <= self.capacity);
    }
}

#[cfg(test)]
mod tests;
