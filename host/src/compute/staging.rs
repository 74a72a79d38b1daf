//! Page-locked memory through which bytes go to the device and come back.
//!
//! A copy from ordinary memory makes the driver stage it and may wait for the stream. Here the host
//! fills one chunk while the device copies another, and an event says when a chunk is free again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::driver::{
    DeviceAddress, Driver, DriverError, EventHandle, HostMemoryHandle, HostRange, Owned,
    StreamHandle,
};

/// Chunks of one staging area.
const CHUNKS: usize = 4;

/// Chunks of page-locked memory, each with the event of its last copy.
#[derive(Debug)]
pub(super) struct Staging<D: Driver> {
    driver: Arc<D>,
    chunk_bytes: usize,
    next: usize,
    in_flight: [bool; CHUNKS],
    // The events and the memory are released after the stream's owner has waited for its work.
    events: Vec<Owned<D, EventHandle>>,
    memory: Owned<D, HostMemoryHandle>,
}

impl<D: Driver> Staging<D> {
    pub(super) fn new(driver: &Arc<D>, chunk_bytes: usize) -> Result<Self, DriverError> {
        let memory = Owned::new(driver, driver.allocate_host(chunk_bytes * CHUNKS)?);
        let events = (0..CHUNKS)
            .map(|_| Ok(Owned::new(driver, driver.create_event(false)?)))
            .collect::<Result<_, DriverError>>()?;
        Ok(Self {
            driver: Arc::clone(driver),
            chunk_bytes,
            next: 0,
            in_flight: [false; CHUNKS],
            events,
            memory,
        })
    }

    /// Queues the upload of `bytes`. They are copied from the caller's memory before this returns.
    pub(super) fn upload(
        &mut self,
        stream: &StreamHandle,
        bytes: &[u8],
        to: DeviceAddress,
    ) -> Result<(), DriverError> {
        let mut at = to;
        for piece in bytes.chunks(self.chunk_bytes) {
            let chunk = self.free_chunk()?;
            let offset = chunk * self.chunk_bytes;
            self.driver.write_host(&self.memory, offset, piece)?;
            let range = HostRange { memory: &self.memory, offset, size: piece.len() };
            self.driver.copy_to_device(stream, range, at)?;
            self.mark_in_flight(chunk, stream)?;
            at = at.offset(piece.len() as u64);
        }
        Ok(())
    }

    /// Copies from the device into `bytes`, after everything that is queued on the stream.
    pub(super) fn download(
        &mut self,
        stream: &StreamHandle,
        from: DeviceAddress,
        bytes: &mut [u8],
    ) -> Result<(), DriverError> {
        let mut queued: VecDeque<(usize, &mut [u8])> = VecDeque::with_capacity(CHUNKS);
        let mut at = from;
        for piece in bytes.chunks_mut(self.chunk_bytes) {
            if queued.len() == CHUNKS
                && let Some((chunk, oldest)) = queued.pop_front()
            {
                self.collect(chunk, oldest)?;
            }
            let chunk = self.free_chunk()?;
            let offset = chunk * self.chunk_bytes;
            let range = HostRange { memory: &self.memory, offset, size: piece.len() };
            self.driver.copy_to_host(stream, at, range)?;
            self.mark_in_flight(chunk, stream)?;
            at = at.offset(piece.len() as u64);
            queued.push_back((chunk, piece));
        }
        for (chunk, piece) in queued {
            self.collect(chunk, piece)?;
        }
        Ok(())
    }

    fn collect(&mut self, chunk: usize, piece: &mut [u8]) -> Result<(), DriverError> {
        self.wait(chunk)?;
        self.driver.read_host(&self.memory, chunk * self.chunk_bytes, piece)
    }

    fn free_chunk(&mut self) -> Result<usize, DriverError> {
        let chunk = self.next;
        self.next = (chunk + 1) % CHUNKS;
        self.wait(chunk)?;
        Ok(chunk)
    }

    fn mark_in_flight(&mut self, chunk: usize, stream: &StreamHandle) -> Result<(), DriverError> {
        self.in_flight[chunk] = true;
        self.driver.record_event(stream, &self.events[chunk])
    }

    fn wait(&mut self, chunk: usize) -> Result<(), DriverError> {
        if self.in_flight[chunk] {
            self.driver.synchronize_event(&self.events[chunk])?;
            self.in_flight[chunk] = false;
        }
        Ok(())
    }
}
