//! The history of a channel at one source node: where time step `t` is kept.
//!
//! Time is cut into blocks of [`BLOCK`] steps. An edge whose delay is at least one block needs, for a
//! whole block, only what is known when the block starts: it is *far*. An edge that is not far but whose
//! delay is at least [`NEAR_BLOCK`] needs as little for so many steps.
//!
//! The ring of a channel holds `capacity` steps, a multiple of [`BLOCK`], contiguous in time, followed
//! by a copy of its first [`BLOCK`] steps. So the window of [`BLOCK`] steps that a far edge reads is one
//! contiguous slice, wherever it starts, and a block is written in one piece.

/// Steps in a block, and the delay in steps from which an edge is far. Part of the numerical
/// contract: it fixes the [order of summation](crate::summation).
pub const BLOCK: usize = 32;

/// Steps in a part of a block that edges which are neither far nor shorter than this can be summed for
/// at once. Part of the numerical contract too.
pub const NEAR_BLOCK: usize = 8;

/// Whether an edge belongs to the first, far [pass](crate::summation::Pass) of a gather.
#[inline(always)]
pub const fn is_far(delay: u32) -> bool {
    delay as usize >= BLOCK
}

/// Steps that a ring keeps so that every delay of at least [`NEAR_BLOCK`] up to `longest` can be read; 0 if
/// there is none.
#[inline(always)]
pub const fn capacity(longest: u32) -> usize {
    if longest as usize >= NEAR_BLOCK { (longest as usize).div_ceil(BLOCK) * BLOCK } else { 0 }
}

/// Values that a ring of that capacity takes, with the copy of its first block.
#[inline(always)]
pub const fn storage(capacity: usize) -> usize {
    if capacity == 0 { 0 } else { capacity + BLOCK }
}

/// Where the block that starts at step `t0` (a multiple of [`BLOCK`], or of [`NEAR_BLOCK`] if so many are
/// written at once) is written.
#[inline(always)]
pub const fn block_position(t0: u64, capacity: usize) -> usize {
    (t0 % capacity as u64) as usize
}

/// Where the window starts that an edge of that delay reads for the block at `position`:
/// as many steps from `t0 − delay`. Needs that many `≤ delay ≤ capacity`.
#[inline(always)]
pub const fn window(position: usize, delay: usize, capacity: usize) -> usize {
    if position >= delay { position - delay } else { position + capacity - delay }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    /// Writes times into a ring and reads every window that is allowed, with far windows at the start of
    /// a block and shorter ones within it.
    #[test]
    fn windows_hold_the_times_they_should() {
        for longest in [8_u32, 31, 32, 33, 63, 64, 65, 100, 127, 128] {
            let capacity = capacity(longest);
            assert!(capacity >= longest as usize && capacity.is_multiple_of(BLOCK));
            let mut ring = vec![i64::MIN; storage(capacity)];
            for t0 in (0..10 * capacity as u64).step_by(NEAR_BLOCK) {
                let position = block_position(t0, capacity);
                let read = |steps: usize| {
                    for delay in steps..=longest as usize {
                        let from = window(position, delay, capacity);
                        for step in 0..steps {
                            let time = t0 as i64 + step as i64 - delay as i64;
                            let expected = if time < 0 { i64::MIN } else { time };
                            assert_eq!(ring[from + step], expected, "delay {delay} at {t0}");
                        }
                    }
                };
                read(NEAR_BLOCK);
                if t0.is_multiple_of(BLOCK as u64) {
                    read(BLOCK);
                }
                for step in 0..NEAR_BLOCK {
                    ring[position + step] = (t0 + step as u64) as i64;
                }
                if position < BLOCK {
                    ring.copy_within(position..position + NEAR_BLOCK, capacity + position);
                }
            }
        }
        assert_eq!((capacity(7), storage(capacity(7))), (0, 0));
    }
}
