//! The kernels as functions of this machine, by name, for the emulation.

use super::*;
use crate::abi::{EdgeRecord, GatherRecord, MonitorRecord, PointRecord, SimulationArguments};

/// A simulation kernel; the parameters are those of its PTX entry.
pub type NativeKernel<T> = unsafe fn(
    SimulationArguments,
    *mut T,
    *mut T,
    *mut T,
    *mut u64,
    *const PointRecord,
    *const T,
    *const T,
    *const T,
    *const GatherRecord,
    *const u32,
    *const EdgeRecord,
    *const T,
    *const T,
    *const MonitorRecord,
);

/// A precision with its kernels.
pub trait NativeFloat: KernelFloat {
    /// The kernel of this name.
    fn kernel(name: &str) -> Option<NativeKernel<Self>>;
}

macro_rules! kernels {
    ($($float:ident: $($kernel:ident)*;)*) => {$(
        impl NativeFloat for $float {
            fn kernel(name: &str) -> Option<NativeKernel<Self>> {
                let kernels: &[(&str, NativeKernel<Self>)] =
                    &[$((stringify!($kernel), $kernel)),*];
                kernels.iter().find(|(own, _)| *own == name).map(|(_, kernel)| *kernel)
            }
        }
    )*};
}

kernels! {
    f32: simulate_f32_1 simulate_f32_2 simulate_f32_3 simulate_f32_4 simulate_f32_5 simulate_f32_6 simulate_f32_7 simulate_f32_8 simulate_f32_10 simulate_f32_12 simulate_f32_16 simulate_f32_memory;
    f64: simulate_f64_1 simulate_f64_2 simulate_f64_3 simulate_f64_4 simulate_f64_5 simulate_f64_6 simulate_f64_7 simulate_f64_8 simulate_f64_10 simulate_f64_12 simulate_f64_16 simulate_f64_memory;
}
