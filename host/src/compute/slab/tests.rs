//! The allocator against a model that knows only who owns each block of the slab.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Call {
    Allocate {
        size: u64,
        lifetime: Lifetime,
    },
    /// Advance to a place given in 1/1000 of the way from the read head to the write head.
    Advance(u64),
    /// Advance to where the n-th live allocation begins.
    AdvanceTo(usize),
    ClearTransient,
    TakeCheckpoint,
    /// Restore the n-th checkpoint of those taken.
    Restore(usize),
    /// Restore a value that may never have been a checkpoint.
    RestoreAnything(u64),
}

fn calls() -> impl Strategy<Value = Call> {
    let lifetime = prop_oneof![Just(Lifetime::Kept), Just(Lifetime::Transient)];
    prop_oneof![
        8 => (0u64..6_000, lifetime).prop_map(|(size, lifetime)| Call::Allocate { size, lifetime }),
        2 => (0u64..=1_000).prop_map(Call::Advance),
        2 => (0usize..8).prop_map(Call::AdvanceTo),
        1 => Just(Call::ClearTransient),
        2 => Just(Call::TakeCheckpoint),
        1 => (0usize..6).prop_map(Call::Restore),
        1 => (0u64..200_000).prop_map(Call::RestoreAnything),
    ]
}

/// Owner of each 256-byte block, and the live allocations in the order in which they were made.
struct Model {
    owner: Vec<Option<u64>>,
    live: Vec<(Allocation, Lifetime)>,
    released: Vec<u64>,
}

impl Model {
    fn blocks(&self, allocation: &Allocation) -> std::ops::Range<usize> {
        let blocks = self.owner.len() as u64;
        let first = allocation.start / 256 % blocks;
        let count = allocation.size.max(1).div_ceil(256);
        first as usize..(first + count) as usize
    }

    fn take(&mut self, allocation: Allocation, lifetime: Lifetime) {
        assert_eq!(allocation.start % 256, 0);
        let blocks = self.blocks(&allocation);
        assert!(blocks.end <= self.owner.len(), "straddles the end");
        for block in blocks {
            assert_eq!(self.owner[block], None, "memory that nobody released");
            self.owner[block] = Some(allocation.serial);
        }
        self.live.push((allocation, lifetime));
    }

    fn release(&mut self, dead: impl Fn(&Allocation, Lifetime) -> bool) {
        let (gone, live): (Vec<_>, Vec<_>) = self.live.drain(..).partition(|(a, l)| dead(a, *l));
        self.live = live;
        for (allocation, _) in gone {
            for block in self.blocks(&allocation) {
                self.owner[block] = None;
            }
            self.released.push(allocation.serial);
        }
    }

    /// Whether `count` blocks in a row are free anywhere: what the best allocator could do.
    fn has_room(&self, count: usize) -> bool {
        self.owner.split(Option::is_some).any(|free| free.len() >= count)
    }
}

fn run(capacity: u64, sequence: &[Call]) -> u64 {
    let mut ring = RingAllocator::new(capacity).unwrap();
    let blocks = (capacity / 256) as usize;
    let mut model = Model { owner: vec![None; blocks], live: Vec::new(), released: Vec::new() };
    let mut checkpoints = Vec::new();
    for call in sequence {
        let before = (ring.read_head(), ring.write_head());
        match *call {
            Call::Allocate { size, lifetime } => match ring.allocate(size, lifetime) {
                Ok(allocation) => {
                    assert_eq!(allocation.size, size);
                    assert!(allocation.start >= before.1);
                    model.take(allocation, lifetime);
                }
                Err(SlabError::LargerThanSlab { .. }) => {
                    assert!(size > ring.capacity());
                    assert_eq!(before, (ring.read_head(), ring.write_head()));
                }
                Err(SlabError::WouldLap { .. }) => {
                    // Never refused by an empty ring, nor for a fit without a skip.
                    assert!(!model.live.is_empty());
                    let padded = size.max(1).div_ceil(256) * 256;
                    let to_end = ring.capacity() - before.1 % ring.capacity();
                    let free = ring.capacity() - (before.1 - before.0);
                    assert!(free < padded || to_end < padded);
                    assert!(free < padded + to_end);
                    assert_eq!(before, (ring.read_head(), ring.write_head()));
                }
                Err(other) => panic!("{other}"),
            },
            Call::Advance(part) => {
                let offset = before.0 + (before.1 - before.0) * part / 1_000;
                ring.advance_read_head(offset).unwrap();
                model.release(|a, _| a.start < offset);
            }
            Call::AdvanceTo(index) => {
                if let Some((allocation, _)) = model.live.get(index) {
                    let offset = allocation.start;
                    ring.advance_read_head(offset).unwrap();
                    model.release(|a, _| a.start < offset);
                }
            }
            Call::ClearTransient => {
                ring.clear_transient();
                model.release(|_, lifetime| lifetime == Lifetime::Transient);
            }
            Call::TakeCheckpoint => checkpoints.push(ring.write_checkpoint()),
            Call::Restore(index) => {
                if let Some(&checkpoint) = checkpoints.get(index)
                    && ring.restore_checkpoint(checkpoint).is_ok()
                {
                    model.release(|a, _| a.start >= checkpoint);
                }
            }
            Call::RestoreAnything(checkpoint) => {
                if ring.restore_checkpoint(checkpoint).is_ok() {
                    model.release(|a, _| a.start >= checkpoint);
                } else {
                    assert_eq!(before, (ring.read_head(), ring.write_head()));
                }
            }
        }
        assert!(ring.read_head() >= before.0, "the read head went back");
        assert!(ring.read_head() <= ring.write_head());
        assert!(ring.write_head() - ring.read_head() <= ring.capacity(), "lapped");
        assert_eq!(ring.report().live_allocations, model.live.len());
        for (allocation, _) in &model.live {
            assert!(ring.is_live(allocation.serial));
            assert!(allocation.start >= ring.read_head());
            assert!(allocation.start + allocation.size <= ring.write_head());
        }
        for serial in model.released.iter().rev().take(4) {
            assert!(!ring.is_live(*serial));
        }
    }
    // Nothing is lost: after everything is released the whole slab can be had in one piece.
    ring.advance_read_head(ring.write_head()).unwrap();
    model.release(|_, _| true);
    assert!(model.has_room(blocks));
    let whole = ring.allocate(ring.capacity(), Lifetime::Kept).unwrap();
    model.take(whole, Lifetime::Kept);
    sequence.len() as u64
}

#[test]
fn any_million_calls_keep_the_rules() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let made = AtomicU64::new(0);
    let config = ProptestConfig { cases: 1_100, failure_persistence: None, ..Default::default() };
    proptest!(config, |(capacity in 256u64..20_000, sequence in prop::collection::vec(calls(), 1_000))| {
        made.fetch_add(run(capacity, &sequence), Ordering::Relaxed);
    });
    assert!(made.into_inner() >= 1_000_000);
}

#[test]
fn padding_at_the_end_counts() {
    let mut ring = RingAllocator::new(1_024 + 100).unwrap();
    assert_eq!(ring.capacity(), 1_024);
    let first = ring.allocate(512, Lifetime::Kept).unwrap();
    let second = ring.allocate(256, Lifetime::Kept).unwrap();
    ring.advance_read_head(second.start).unwrap();
    // 256 bytes are left in this lap: 512 begin at the slab's start, and 256 + 512 + 256 = 1,024.
    let third = ring.allocate(512, Lifetime::Kept).unwrap();
    assert_eq!((first.start, third.start, ring.place(third.start)), (0, 1_024, 0));
    assert_eq!(
        ring.allocate(1, Lifetime::Kept),
        Err(SlabError::WouldLap { requested: 1, used: 1_024, capacity: 1_024 })
    );
    assert_eq!(ring.report().high_water, 1_024);
}

#[test]
fn a_checkpoint_of_an_empty_ring_survives_a_skip() {
    let mut ring = RingAllocator::new(1_024).unwrap();
    let first = ring.allocate(256, Lifetime::Kept).unwrap();
    ring.advance_read_head(first.start + 256).unwrap();
    let checkpoint = ring.write_checkpoint();
    // Fits only from the begin of the slab.
    let whole = ring.allocate(1_024, Lifetime::Transient).unwrap();
    ring.restore_checkpoint(checkpoint).unwrap();
    assert!(!ring.is_live(whole.serial));
    assert_eq!(ring.report().used, 0);
}

#[test]
fn a_checkpoint_that_was_overtaken_is_refused() {
    let mut ring = RingAllocator::new(4_096).unwrap();
    ring.allocate(256, Lifetime::Kept).unwrap();
    let early = ring.write_checkpoint();
    ring.allocate(512, Lifetime::Kept).unwrap();
    let late = ring.write_checkpoint();
    ring.restore_checkpoint(early).unwrap();
    ring.allocate(2_048, Lifetime::Kept).unwrap();
    assert!(matches!(ring.restore_checkpoint(late), Err(SlabError::InvalidCheckpoint { .. })));
    ring.advance_read_head(ring.write_head()).unwrap();
    assert!(matches!(ring.restore_checkpoint(early), Err(SlabError::InvalidCheckpoint { .. })));
    assert!(matches!(ring.advance_read_head(0), Err(SlabError::ReadHeadOutOfRange { .. })));
}

#[test]
fn kept_allocations_survive_the_clearing_of_transients() {
    let mut ring = RingAllocator::new(4_096).unwrap();
    let kept = ring.allocate(256, Lifetime::Kept).unwrap();
    let transient = ring.allocate(1_024, Lifetime::Transient).unwrap();
    ring.clear_transient();
    assert!(ring.is_live(kept.serial) && !ring.is_live(transient.serial));
    assert_eq!(ring.report().used, 256);
    // The same place again, under another serial number.
    let again = ring.allocate(1_024, Lifetime::Transient).unwrap();
    assert_eq!(again.start, transient.start);
    assert!(!ring.is_live(transient.serial) && ring.is_live(again.serial));
}
