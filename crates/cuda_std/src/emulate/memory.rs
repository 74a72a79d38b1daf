//! Device pointers, shared memory, and copies on their way into it.

use super::exchange::with_current;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pointer that the threads of a launch share, as they do on a GPU.
///
/// Sharing it is safe, using what it points to is not: that is up to the kernel.
#[derive(Debug)]
pub struct DevicePointer<T>(*mut T);

// SAFETY: the pointer is only a number until somebody dereferences it, which takes `unsafe`.
unsafe impl<T> Send for DevicePointer<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for DevicePointer<T> {}

impl<T> Clone for DevicePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePointer<T> {}

impl<T> DevicePointer<T> {
    /// Points to the first value of a slice, valid while the slice is and nobody else uses it.
    #[must_use]
    pub const fn new(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr())
    }

    /// The pointer, to read.
    #[must_use]
    pub const fn as_ptr(self) -> *const T {
        self.0
    }

    /// The pointer, to write.
    #[must_use]
    pub const fn as_mut_ptr(self) -> *mut T {
        self.0
    }
}

/// A block's dynamic shared memory. Only the thread whose turn it is comes here, so the lock is
/// never contended.
pub(super) struct SharedMemory(Mutex<Vec<u8>>);

impl SharedMemory {
    pub(super) fn new(bytes: u32) -> Self {
        let memory = Self(Mutex::new(vec![0; bytes as usize]));
        memory.clear();
        memory
    }

    /// Fills the memory with bytes that make a NaN in every float format: a kernel must not rely
    /// on what it has not written.
    pub(super) fn clear(&self) {
        self.bytes().fill(0xff);
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls a function with the `size` bytes at an address in shared memory.
///
/// # Panics
/// When they are not all there, or not aligned to `size`. A launch reports it as its error.
fn with_shared<R>(address: u32, size: usize, function: impl FnOnce(&mut [u8]) -> R) -> R {
    with_current(|current| {
        let mut bytes = current.as_ref().map(|current| current.launch.shared.bytes());
        let all: &mut [u8] = bytes.as_mut().map_or(&mut [], |bytes| bytes);
        let available = all.len();
        let start = address as usize;
        assert!(start.is_multiple_of(size), "{size} bytes of shared memory at {start}: misaligned");
        match all.get_mut(start..start + size) {
            Some(bytes) => function(bytes),
            None => panic!("{size} bytes of shared memory at {start}: the block has {available}"),
        }
    })
}

/// Reads bytes of shared memory.
pub(crate) fn read_shared<const SIZE: usize>(address: u32) -> [u8; SIZE] {
    with_shared(address, SIZE, |bytes| {
        let mut copy = [0; SIZE];
        copy.copy_from_slice(bytes);
        copy
    })
}

/// Writes bytes of shared memory.
pub(crate) fn write_shared<const SIZE: usize>(address: u32, value: [u8; SIZE]) {
    with_shared(address, SIZE, |bytes| bytes.copy_from_slice(&value));
}

struct PendingCopy {
    to: u32,
    from: *const u8,
    size: usize,
}

/// A thread's asynchronous copies that have not arrived.
#[derive(Default)]
pub(super) struct Copies {
    open: Vec<PendingCopy>,
    committed: VecDeque<Vec<PendingCopy>>,
}

/// Starts a copy of `size` bytes into shared memory.
pub(crate) fn queue_copy(to: u32, from: *const u8, size: usize) {
    with_current(|current| {
        if let Some(current) = current {
            current.copies.open.push(PendingCopy { to, from, size });
        }
    });
}

/// Makes a group of the copies started since the last one.
pub(crate) fn commit_copies() {
    with_current(|current| {
        if let Some(current) = current {
            let group = std::mem::take(&mut current.copies.open);
            current.copies.committed.push_back(group);
        }
    });
}

/// Lets all groups arrive but the `pending` newest.
///
/// # Safety
/// The sources of the copies are readable, and nobody writes them.
pub(crate) unsafe fn wait_for_copies(pending: usize) {
    while let Some(group) = with_current(|current| {
        let committed = &mut current?.copies.committed;
        if committed.len() > pending { committed.pop_front() } else { None }
    }) {
        for copy in group {
            with_shared(copy.to, copy.size, |bytes| {
                // SAFETY: the caller of the kernel's copy vouched for `size` readable bytes, and
                // `bytes`, the emulation's own memory, has as many.
                unsafe { copy.from.copy_to_nonoverlapping(bytes.as_mut_ptr(), copy.size) };
            });
        }
    }
}
