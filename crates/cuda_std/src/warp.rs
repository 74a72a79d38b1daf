//! Exchanges between the 32 threads of a warp.
//!
//! Each takes a mask of the lanes that take part; every lane of the mask must make the same call
//! with the same mask. [`ALL_LANES`] is the usual one.

#[cfg(not(target_arch = "nvptx64"))]
use crate::emulate;
use crate::thread;

/// The mask of a whole warp.
pub const ALL_LANES: u32 = u32::MAX;

/// LLVM knows that these must not be moved into or out of a branch; inline assembly would not say
/// so.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
        pub(super) fn shuffle_xor(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
        pub(super) fn shuffle_down(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
        pub(super) fn shuffle_up(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub(super) fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub(super) fn ballot(mask: u32, predicate: bool) -> u32;
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub(super) fn sync_warp(mask: u32);
    }
}

/// The thread's number in its warp, 0 to 31.
#[inline(always)]
#[must_use]
pub fn lane_id() -> u32 {
    linear_thread() % 32
}

/// The warp's number in its block.
#[inline(always)]
#[must_use]
pub fn warp_id() -> u32 {
    linear_thread() / 32
}

/// Warps are made along x, then y, then z.
#[inline(always)]
fn linear_thread() -> u32 {
    let row = thread::thread_idx_z() * thread::block_dim_y() + thread::thread_idx_y();
    row * thread::block_dim_x() + thread::thread_idx_x()
}

/// A value that lanes can exchange.
pub trait Shuffle: Copy {
    #[doc(hidden)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self;
}

impl Shuffle for u32 {
    #[inline(always)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
        exchange(self)
    }
}

impl Shuffle for i32 {
    #[inline(always)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
        exchange(self as u32) as i32
    }
}

impl Shuffle for f32 {
    #[inline(always)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
        f32::from_bits(exchange(self.to_bits()))
    }
}

impl Shuffle for u64 {
    #[inline(always)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
        let (low, high) = (exchange(self as u32), exchange((self >> 32) as u32));
        u64::from(high) << 32 | u64::from(low)
    }
}

impl Shuffle for f64 {
    #[inline(always)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
        f64::from_bits(self.to_bits().map_words(exchange))
    }
}

/// One shuffle. `$clamp` and the width make PTX's operand `c`; `$source` is the lane that is read,
/// as the PTX manual defines it for `shfl.sync`.
macro_rules! shuffle {
    ($(#[$doc:meta])* $name:ident, $llvm:ident, $clamp:literal, |$lane:ident, $first:ident, $operand:ident, $width:ident| $source:expr) => {
        $(#[$doc])*
        ///
        /// The warp is cut into parts of `width` lanes, a power of two up to 32, and a lane reads
        /// in its own part. A lane that would read outside gets its own value and `false`.
        ///
        /// # Safety
        /// Every lane of `mask` makes this call with the same mask, and this lane is one of them.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name<T: Shuffle>(mask: u32, value: T, $operand: u32, $width: u32) -> (T, bool) {
            let $lane = lane_id();
            let $first = $lane & !($width - 1);
            // Before the first lane it wraps to a large number.
            let source: u32 = $source;
            let inside = source.wrapping_sub($first) < $width;
            #[cfg(target_arch = "nvptx64")]
            let exchange = |word| {
                let clamp = (32 - $width) << 8 | $clamp;
                // SAFETY: the caller's.
                unsafe { llvm::$llvm(mask, word, $operand, clamp) }
            };
            #[cfg(not(target_arch = "nvptx64"))]
            let exchange = |word| {
                let (words, own) = emulate::exchange_in_warp(mask, u64::from(word));
                words[if inside { source as usize } else { own }] as u32
            };
            (value.map_words(exchange), inside)
        }
    };
}

shuffle! {
    /// Reads the value of the lane whose number differs by the bits of `lanes`.
    warp_shuffle_xor, shuffle_xor, 0x1f, |lane, first, lanes, width| lane ^ lanes
}

shuffle! {
    /// Reads the value of the lane `lanes` further on.
    warp_shuffle_down, shuffle_down, 0x1f, |lane, first, lanes, width| lane.wrapping_add(lanes)
}

shuffle! {
    /// Reads the value of the lane `lanes` before.
    warp_shuffle_up, shuffle_up, 0x00, |lane, first, lanes, width| lane.wrapping_sub(lanes)
}

shuffle! {
    /// Reads the value of lane `index` of its part, modulo the width.
    warp_shuffle_idx, shuffle_idx, 0x1f, |lane, first, index, width| first | (index & (width - 1))
}

/// One bit for every lane of the mask: whether its predicate holds.
///
/// # Safety
/// Every lane of `mask` makes this call with the same mask, and this lane is one of them.
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's.
    return unsafe { llvm::ballot(mask, predicate) };
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let (votes, _) = emulate::exchange_in_warp(mask, u64::from(predicate));
        votes.iter().enumerate().fold(0, |bits, (lane, &vote)| bits | (vote as u32) << lane)
    }
}

/// Whether the predicate holds for all lanes of the mask.
///
/// # Safety
/// As for [`warp_vote_ballot`].
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's.
    unsafe { warp_vote_ballot(mask, !predicate) == 0 }
}

/// Whether the predicate holds for any lane of the mask.
///
/// # Safety
/// As for [`warp_vote_ballot`].
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's.
    unsafe { warp_vote_ballot(mask, predicate) != 0 }
}

/// Waits for the lanes of the mask. What they wrote to memory before is visible to them after.
///
/// # Safety
/// As for [`warp_vote_ballot`].
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's.
    unsafe {
        llvm::sync_warp(mask);
    }
    #[cfg(not(target_arch = "nvptx64"))]
    emulate::exchange_in_warp(mask, 0);
}
