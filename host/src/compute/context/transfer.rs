//! Bytes to the slab and back, on both streams.

use super::{ComputeContext, Prefetch, fits, staging_chunk};
use crate::compute::buffer::BufferView;
use crate::compute::driver::{Driver, Owned};
use crate::compute::error::ComputeError;
use crate::compute::staging::Staging;

impl<D: Driver> ComputeContext<D> {
    /// Uploads into a view, in the order of the compute stream, without allocating. `bytes` may be
    /// shorter than the view and are copied before this returns.
    ///
    /// # Errors
    ///
    /// [`ComputeError::ViewSize`] where they do not fit; [`ComputeError::StaleView`];
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn write_view(&mut self, view: &BufferView, bytes: &[u8]) -> Result<(), ComputeError> {
        self.capture.require_idle("an upload")?;
        let address = self.writable(view, bytes)?;
        self.join_if_prefetched(std::iter::once(view))?;
        self.staging.upload(&self.stream, bytes, address)?;
        self.used(std::iter::once(view))
    }

    /// Uploads into a view on the prefetch stream, beside the work of the compute stream. The upload
    /// waits for the compute stream's last use of this view, and for nothing else.
    ///
    /// # Errors
    ///
    /// As [`Self::write_view`].
    pub fn write_view_prefetch(
        &mut self,
        view: &BufferView,
        bytes: &[u8],
    ) -> Result<(), ComputeError> {
        self.capture.require_idle("a prefetch")?;
        let address = self.writable(view, bytes)?;
        self.prefetch()?;
        let Some(prefetch) = &mut self.prefetch else { return Ok(()) };
        self.timeline.wait_for_last_use(&self.driver, &prefetch.stream, view.serial)?;
        // Noted first: a copy that is refused half-way has been queued in part.
        self.timeline.prefetched(view.serial);
        prefetch.staging.upload(&prefetch.stream, bytes, address)?;
        Ok(())
    }

    /// Makes the compute stream wait for all prefetches so far; nothing if there were none.
    ///
    /// Launches, reads and writes that touch a prefetched view do this by themselves.
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn join_prefetch(&mut self) -> Result<(), ComputeError> {
        let Some(prefetch) = &self.prefetch else { return Ok(()) };
        if !self.timeline.is_pending() {
            return Ok(());
        }
        self.capture.require_idle("a join")?;
        self.driver.record_event(&prefetch.stream, &prefetch.joined)?;
        self.driver.wait_event(&self.stream, &prefetch.joined)?;
        self.timeline.joined();
        Ok(())
    }

    pub(super) fn prefetch(&mut self) -> Result<&mut Prefetch<D>, ComputeError> {
        if self.prefetch.is_none() {
            self.capture.require_idle("the first use of the prefetch stream")?;
            let stream = Owned::new(&self.driver, self.driver.create_stream()?);
            let joined = Owned::new(&self.driver, self.driver.create_event(false)?);
            let chunk = staging_chunk(self.allocator.capacity());
            let staging = Staging::new(&self.driver, chunk)?;
            // Covers the uses that were made before events were kept.
            self.timeline.mark(&self.driver, &self.stream)?;
            self.prefetch = Some(Prefetch { staging, joined, stream });
        }
        match &mut self.prefetch {
            Some(prefetch) => Ok(prefetch),
            None => Err(ComputeError::RecordingForbids { operation: "a prefetch" }),
        }
    }

    /// Reads the first bytes of a view into `out` on the prefetch stream, while the compute stream
    /// goes on: the read waits for the last use of this view that was queued, and for nothing else.
    /// So the results of one batch are fetched while the next one is computed.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_into`].
    pub fn read_buffer_beside(
        &mut self,
        view: &BufferView,
        out: &mut [u8],
    ) -> Result<(), ComputeError> {
        self.capture.require_idle("a read")?;
        let address = self.address_of(view)?;
        fits("a read longer than the view", out.len() as u64, view)?;
        self.prefetch()?;
        let Some(prefetch) = &mut self.prefetch else { return Ok(()) };
        self.timeline.wait_for_last_use(&self.driver, &prefetch.stream, view.serial)?;
        // The host waits for the bytes, so later work of the compute stream comes after the read.
        Ok(prefetch.staging.download(&prefetch.stream, address, out)?)
    }

    /// Sets every byte of a view, in the order of the compute stream. May be recorded.
    ///
    /// # Errors
    ///
    /// [`ComputeError::StaleView`]; what the driver refuses.
    pub fn fill_view(&mut self, view: &BufferView, value: u8) -> Result<(), ComputeError> {
        let address = self.address_of(view)?;
        self.join_if_prefetched(std::iter::once(view))?;
        if view.size > 0 {
            let filled = self.driver.fill(&self.stream, address, view.size, value);
            self.note_failure(filled)?;
            self.capture.launched(std::iter::once(view));
        }
        self.used(std::iter::once(view))
    }

    /// Reads a view as `f32`, after everything that is queued on the compute stream.
    ///
    /// # Errors
    ///
    /// [`ComputeError::ViewSize`] where the view is no whole number of elements;
    /// [`ComputeError::StaleView`]; [`ComputeError::RecordingForbids`]; an error of earlier work.
    pub fn read_buffer_f32(&mut self, view: &BufferView) -> Result<Vec<f32>, ComputeError> {
        self.read_elements(view)
    }

    /// Reads a view as `f64`.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_f32`].
    pub fn read_buffer_f64(&mut self, view: &BufferView) -> Result<Vec<f64>, ComputeError> {
        self.read_elements(view)
    }

    /// Reads the first elements of a view into `out` as `u32`, without allocating on the host.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_f32`]; [`ComputeError::ViewSize`] where `out` is longer than the view.
    pub fn read_buffer_u32_into(
        &mut self,
        view: &BufferView,
        out: &mut [u32],
    ) -> Result<(), ComputeError> {
        self.read_buffer_into(view, bytemuck::cast_slice_mut(out))
    }

    /// Reads the first bytes of a view into `out`, without allocating on the host.
    ///
    /// # Errors
    ///
    /// As [`Self::read_buffer_u32_into`].
    pub fn read_buffer_into(
        &mut self,
        view: &BufferView,
        out: &mut [u8],
    ) -> Result<(), ComputeError> {
        self.capture.require_idle("a read")?;
        let address = self.address_of(view)?;
        fits("a read longer than the view", out.len() as u64, view)?;
        self.join_if_prefetched(std::iter::once(view))?;
        self.staging.download(&self.stream, address, out)?;
        self.used(std::iter::once(view))
    }

    fn read_elements<T: bytemuck::Pod>(
        &mut self,
        view: &BufferView,
    ) -> Result<Vec<T>, ComputeError> {
        let element = size_of::<T>() as u64;
        if !view.size.is_multiple_of(element) {
            return Err(ComputeError::ViewSize {
                what: "a read in elements that do not divide the view",
                bytes: element,
                size: view.size,
            });
        }
        self.address_of(view)?;
        let mut elements = vec![T::zeroed(); (view.size / element) as usize];
        self.read_buffer_into(view, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// Waits for the compute stream.
    ///
    /// # Errors
    ///
    /// An error of earlier work; [`ComputeError::RecordingForbids`].
    pub fn synchronize(&mut self) -> Result<(), ComputeError> {
        self.capture.require_idle("waiting")?;
        Ok(self.driver.synchronize(&self.stream)?)
    }
}
