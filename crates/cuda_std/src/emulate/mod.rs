//! Runs kernels on the CPU as a GPU would, to test and debug them without one.
//!
//! ```
//! use cuda_std::{emulate, kernel, thread};
//!
//! /// # Safety
//! /// `values` holds one value per thread.
//! #[kernel]
//! unsafe fn double(values: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     // SAFETY: one value per thread.
//!     unsafe { *values.add(i) *= 2.0 };
//! }
//!
//! let mut values: Vec<f32> = (0..64).map(|i| i as f32).collect();
//! let pointer = emulate::DevicePointer::new(&mut values);
//! // SAFETY: two blocks of 32 threads, 64 values.
//! emulate::launch(2, 32, 0, || unsafe { double(pointer.as_mut_ptr()) })?;
//! assert_eq!(values[63], 126.0);
//! # Ok::<(), emulate::EmulationError>(())
//! ```
//!
//! Blocks run one after another. Each thread of a block is a thread of the operating system, but
//! only one runs at a time: it keeps its turn until it waits at a barrier, exchanges values with
//! its warp, or returns. So a launch gives the same result every time, atomic sums included, and a
//! race between threads cannot corrupt the test program. A kernel whose result depends on the
//! order of the turns lacks a barrier: run it in more than one [`Order`] to see.
//!
//! The emulation is stricter than a GPU where that finds mistakes. A thread that returns while
//! others wait at a barrier is an error. Shared memory starts as NaN, its accesses are checked for
//! bounds and alignment. An asynchronous copy arrives only when it is waited for.
//!
//! Outside a launch, kernel code sees a grid of one thread without shared memory.

mod error;
mod exchange;
mod launch;
mod memory;
mod schedule;

pub use error::EmulationError;
pub use exchange::call_slot;
pub(crate) use exchange::{exchange_in_warp, place, sync_threads};
pub use launch::{Launch, launch};
pub use memory::DevicePointer;
pub(crate) use memory::{commit_copies, queue_copy, read_shared, wait_for_copies, write_shared};
pub use schedule::Order;

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

/// An extent or an index in three dimensions; x varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// The number of places in this extent.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// The place with this number, counted along x, then y, then z.
    const fn place(self, number: u64) -> Self {
        let (x, y) = (self.x as u64, self.y as u64);
        // Each is less than the extent it was reduced by, which is a u32.
        Self { x: (number % x) as u32, y: (number / x % y) as u32, z: (number / x / y) as u32 }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

/// Where a thread is, and in what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) thread: Dim3,
    pub(crate) block: Dim3,
    pub(crate) block_dim: Dim3,
    pub(crate) grid_dim: Dim3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_along_x_first() {
        let extent = Dim3::from((3, 2, 2));
        assert_eq!(extent.count(), 12);
        assert_eq!(extent.place(0), Dim3 { x: 0, y: 0, z: 0 });
        assert_eq!(extent.place(4), Dim3 { x: 1, y: 1, z: 0 });
        assert_eq!(extent.place(11), Dim3 { x: 2, y: 1, z: 1 });
    }
}
