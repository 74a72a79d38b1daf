//! Allocation and release in the slab.

use super::ComputeContext;
use crate::compute::buffer::BufferView;
use crate::compute::driver::Driver;
use crate::compute::error::ComputeError;
use crate::compute::slab::Lifetime;

impl<D: Driver> ComputeContext<D> {
    /// Allocates and uploads. The view lives until the heads of the ring pass it.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`]; [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn allocate_and_write(
        &mut self,
        bytes: &[u8],
        binding: u32,
        group: u32,
    ) -> Result<BufferView, ComputeError> {
        let view = self.allocate(bytes.len() as u64, binding, group, Lifetime::Kept)?;
        self.write_view(&view, bytes)?;
        Ok(view)
    }

    /// Allocates without writing: the content is undefined. The view lives until
    /// [`Self::clear_transient_allocations`], if the heads of the ring do not pass it before.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`]; [`ComputeError::RecordingForbids`].
    pub fn allocate_transient(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
    ) -> Result<BufferView, ComputeError> {
        self.allocate(size, binding, group, Lifetime::Transient)
    }

    /// Allocates without writing: the content is undefined. The view lives until the heads of the
    /// ring pass it.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`]; [`ComputeError::RecordingForbids`].
    pub fn allocate_kept(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
    ) -> Result<BufferView, ComputeError> {
        self.allocate(size, binding, group, Lifetime::Kept)
    }

    fn allocate(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        lifetime: Lifetime,
    ) -> Result<BufferView, ComputeError> {
        self.capture.require_idle("an allocation")?;
        let allocation = self.allocator.allocate(size, lifetime)?;
        self.timeline.allocated(allocation.serial);
        Ok(BufferView {
            context: self.id,
            serial: allocation.serial,
            start: allocation.start,
            size,
            binding,
            group,
        })
    }

    /// Releases everything that begins before the absolute counter `offset`.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`] where `offset` is not between the heads.
    pub fn advance_read_head(&mut self, offset: u64) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.advance_read_head(offset)?;
        self.after_release()
    }

    /// Releases the views made by [`Self::allocate_transient`].
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn clear_transient_allocations(&mut self) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.clear_transient();
        self.after_release()
    }

    /// The write head of the ring, for [`Self::restore_checkpoint`].
    pub fn write_checkpoint(&self) -> u64 {
        self.allocator.write_checkpoint()
    }

    /// Releases everything that was allocated since the checkpoint.
    ///
    /// # Errors
    ///
    /// [`ComputeError::OutOfSlab`] where the value is no checkpoint of the ring as it is now.
    pub fn restore_checkpoint(&mut self, checkpoint: u64) -> Result<(), ComputeError> {
        self.capture.require_idle("a release")?;
        self.allocator.restore_checkpoint(checkpoint)?;
        self.after_release()
    }

    /// Memory that a prefetch still writes may be given out again: the compute stream then waits.
    fn after_release(&mut self) -> Result<(), ComputeError> {
        self.timeline.released(&self.allocator);
        self.join_prefetch()
    }
}
