//! The precision of a run.

/// `f32` or `f64`, as the engine computes with them.
pub trait Real: kernels_cpu::Real {
    /// As samples for a sink.
    fn samples(values: &[Self]) -> crate::back::Samples<'_>;
}

impl Real for f32 {
    fn samples(values: &[Self]) -> crate::back::Samples<'_> {
        crate::back::Samples::F32(values)
    }
}

impl Real for f64 {
    fn samples(values: &[Self]) -> crate::back::Samples<'_> {
        crate::back::Samples::F64(values)
    }
}
