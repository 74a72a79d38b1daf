//! One interface for the CUDA context and the CPU context, so that one test runs on both.

use super::buffer::{BufferUsage, BufferView};
use super::context::ComputeContext;
use super::device::{AdapterConstraints, AdapterIdentity};
use super::driver::Driver;
use super::error::ComputeError;
use super::kernel::{KernelSpec, Schedule};

/// What a test needs of a compute context, whatever it runs on.
pub trait OracleContext {
    /// Runs a kernel over `element_count` elements, first `warmups` times untimed, then `samples`
    /// times timed. Returns the nanoseconds of each timed run; `warmups = 0, samples = 1` is one
    /// plain run.
    ///
    /// # Errors
    ///
    /// The kernel has no body for this context, or does not compile; the views are not those that it
    /// declares; the schedule is beyond the device's limits; the device refuses.
    fn run_kernel(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
        views: &[BufferView],
        element_count: u64,
        warmups: u32,
        samples: u32,
    ) -> Result<Vec<u64>, ComputeError>;

    /// Allocates a view and fills it.
    ///
    /// # Errors
    ///
    /// Out of slab, or the device refuses.
    fn allocate_and_write(
        &mut self,
        bytes: &[u8],
        binding: u32,
        group: u32,
        usage: BufferUsage,
    ) -> Result<BufferView, ComputeError>;

    /// Allocates a view with undefined content.
    ///
    /// # Errors
    ///
    /// Out of slab.
    fn allocate_transient(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        usage: BufferUsage,
    ) -> Result<BufferView, ComputeError>;

    /// Reads a view.
    ///
    /// # Errors
    ///
    /// The view is stale or no whole number of elements; an error of earlier work.
    fn read_buffer_f32(&mut self, view: &BufferView) -> Result<Vec<f32>, ComputeError>;

    /// Releases the views made by [`Self::allocate_transient`].
    ///
    /// # Errors
    ///
    /// The device refuses.
    fn clear_transient_allocations(&mut self) -> Result<(), ComputeError>;

    /// Vendor, device and driver, as the device says.
    fn adapter(&self) -> &AdapterIdentity;

    /// Limits, as the device says.
    fn constraints(&self) -> &AdapterConstraints;

    /// Whether the times of [`Self::run_kernel`] come from the device's own clock.
    fn timestamp_supported(&self) -> bool;
}

impl<D: Driver> OracleContext for ComputeContext<D> {
    fn run_kernel(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
        views: &[BufferView],
        element_count: u64,
        warmups: u32,
        samples: u32,
    ) -> Result<Vec<u64>, ComputeError> {
        Self::run_kernel(self, spec, schedule, views, element_count, warmups, samples)
    }

    fn allocate_and_write(
        &mut self,
        bytes: &[u8],
        binding: u32,
        group: u32,
        _usage: BufferUsage,
    ) -> Result<BufferView, ComputeError> {
        Self::allocate_and_write(self, bytes, binding, group)
    }

    fn allocate_transient(
        &mut self,
        size: u64,
        binding: u32,
        group: u32,
        _usage: BufferUsage,
    ) -> Result<BufferView, ComputeError> {
        Self::allocate_transient(self, size, binding, group)
    }

    fn read_buffer_f32(&mut self, view: &BufferView) -> Result<Vec<f32>, ComputeError> {
        Self::read_buffer_f32(self, view)
    }

    fn clear_transient_allocations(&mut self) -> Result<(), ComputeError> {
        Self::clear_transient_allocations(self)
    }

    fn adapter(&self) -> &AdapterIdentity {
        Self::adapter(self)
    }

    fn constraints(&self) -> &AdapterConstraints {
        Self::constraints(self)
    }

    fn timestamp_supported(&self) -> bool {
        true
    }
}

/// Compares values with those of the oracle, in units in the last place of `f32`; 0 asks for equal
/// bits, up to the payload of a NaN.
///
/// # Errors
///
/// [`ComputeError::OracleMismatch`] with the first element that is too far off. A length that
/// differs is a mismatch behind the shorter end, against NaN.
pub fn compare_f32(
    what: &str,
    expected: &[f32],
    actual: &[f32],
    most_ulps: u64,
) -> Result<(), ComputeError> {
    for index in 0..expected.len().max(actual.len()) {
        let pair = (expected.get(index), actual.get(index));
        let (e, a) = (pair.0.copied().unwrap_or(f32::NAN), pair.1.copied().unwrap_or(f32::NAN));
        let ulps = match (e.is_nan(), a.is_nan()) {
            _ if pair.0.is_none() || pair.1.is_none() => u64::MAX,
            (true, true) => 0,
            (false, false) => ordered(e).abs_diff(ordered(a)),
            _ => u64::MAX,
        };
        if ulps > most_ulps {
            return Err(ComputeError::OracleMismatch {
                what: what.to_owned(),
                index,
                expected: e.into(),
                actual: a.into(),
                ulps,
            });
        }
    }
    Ok(())
}

/// The position of a number among all numbers; −0 lies one below +0.
fn ordered(x: f32) -> i64 {
    let bits = i64::from(x.to_bits());
    if bits < 1 << 31 { bits } else { (1 << 31) - 1 - bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_across_zero() {
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert!(compare_f32("x", &[1.0], &[next], 1).is_ok());
        assert!(compare_f32("x", &[1.0], &[next], 0).is_err());
        let tiny = f32::from_bits(1);
        assert!(compare_f32("x", &[-tiny], &[tiny], 3).is_ok());
        assert!(compare_f32("x", &[-tiny], &[tiny], 2).is_err());
        assert!(compare_f32("x", &[0.0], &[-0.0], 0).is_err());
        assert!(compare_f32("x", &[f32::NAN], &[-f32::NAN], 0).is_ok());
        assert!(compare_f32("x", &[f32::NAN], &[1.0], u64::MAX - 1).is_err());
    }

    #[test]
    fn a_mismatch_names_the_first_element() {
        let error = compare_f32("sum", &[1.0, 2.0, 3.0], &[1.0, 2.5, 4.0], 4).unwrap_err();
        let ComputeError::OracleMismatch { index, expected, actual, .. } = error else { panic!() };
        assert_eq!((index, expected, actual), (1, 2.0, 2.5));
        assert!(compare_f32("length", &[1.0], &[1.0, 1.0], 4).is_err());
    }
}
