//! The kernels as functions of this machine, by name, for the emulation.

use super::*;
use crate::abi::{
    ChunkRecord, EdgeRecord, GatherRecord, GroupArguments, GroupRecord, MonitorRecord, PointRecord,
    RowRecord,
};
use crate::kernels::KernelFloat;

/// An `advance` kernel; the parameters are those of its PTX entry.
pub type NativeAdvance<T> = unsafe fn(
    GroupArguments,
    *const ChunkRecord,
    *const GroupRecord,
    *const PointRecord,
    *mut T,
    *mut T,
    *const T,
    *mut T,
    *mut u64,
    *const T,
    *const T,
    *const T,
    *const GatherRecord,
    *const RowRecord,
    *const EdgeRecord,
    *const T,
    *const T,
    *const T,
    *const MonitorRecord,
);

/// A kernel for far sums.
#[derive(Clone, Copy, Debug)]
pub enum NativeFar<T> {
    /// Over dense tables.
    Dense(
        unsafe fn(
            GroupArguments,
            *const ChunkRecord,
            *const GroupRecord,
            *const T,
            *mut T,
            *const T,
            *const u32,
        ),
    ),
    /// Over compressed rows.
    Sparse(
        unsafe fn(
            GroupArguments,
            *const ChunkRecord,
            *const GroupRecord,
            *const T,
            *mut T,
            *const u32,
            *const RowRecord,
            *const EdgeRecord,
            *const T,
        ),
    ),
}

/// A precision with its kernels.
pub trait NativeGroups: KernelFloat {
    /// The `advance` kernel of this name.
    fn advance(name: &str) -> Option<NativeAdvance<Self>>;
    /// The kernel for far sums of this name.
    fn far(name: &str) -> Option<NativeFar<Self>>;
}

macro_rules! kernels {
    ($($float:ident: $($advance:ident)*, $($dense:ident)*, $($sparse:ident)*;)*) => {$(
        impl NativeGroups for $float {
            fn advance(name: &str) -> Option<NativeAdvance<Self>> {
                let kernels: &[(&str, NativeAdvance<Self>)] =
                    &[$((stringify!($advance), $advance)),*];
                kernels.iter().find(|(own, _)| *own == name).map(|(_, kernel)| *kernel)
            }
            fn far(name: &str) -> Option<NativeFar<Self>> {
                let kernels: &[(&str, NativeFar<Self>)] = &[
                    $((stringify!($dense), NativeFar::Dense($dense)),)*
                    $((stringify!($sparse), NativeFar::Sparse($sparse)),)*
                ];
                kernels.iter().find(|(own, _)| *own == name).map(|(_, kernel)| *kernel)
            }
        }
    )*};
}

kernels! {
    f32: advance_f32_1 advance_f32_2 advance_f32_3 advance_f32_4 advance_f32_5 advance_f32_6 advance_f32_8 advance_f32_10 advance_f32_12 advance_f32_16,
        far_f32_1_8 far_f32_2_8 far_f32_4_8 far_f32_1_2 far_f32_2_2 far_f32_4_2,
        far_f32_1_sparse far_f32_2_sparse far_f32_4_sparse;
    f64: advance_f64_1 advance_f64_2 advance_f64_3 advance_f64_4 advance_f64_5 advance_f64_6 advance_f64_8 advance_f64_10 advance_f64_12 advance_f64_16,
        far_f64_1_8 far_f64_2_8 far_f64_1_2 far_f64_2_2,
        far_f64_1_sparse far_f64_2_sparse;
}
