//! `f32` and `f64` as the engine computes with them.

use crate::gather::{DenseTable, NearTable, WindowTable};
use crate::interpret::Op;
use crate::isa::Isa;
use crate::{gather, interpret, lanes, noise, transpose};
use kernels_gpu::bold::Constants;
use kernels_gpu::lane::Lane;
use kernels_gpu::ring::BLOCK;
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A number that the loops of this crate are written for.
pub trait Number:
    Lane<Mask = bool> + Default + PartialOrd + std::fmt::Debug + Send + Sync + 'static + sealed::Sealed
{
    /// One.
    const ONE: Self;
    /// Not a number.
    const NAN: Self;
    /// Rounded from 64 bits.
    fn from_f64(value: f64) -> Self;
    /// Exactly as 64 bits.
    fn to_f64(self) -> f64;
    /// Widened or kept.
    fn from_f32(value: f32) -> Self;
    /// Neither infinite nor NaN.
    fn finite(self) -> bool;
}

/// 1 for true, 0 for false: how booleans are kept in lanes.
#[inline(always)]
pub fn truth<T: Number>(condition: bool) -> T {
    if condition { T::ONE } else { T::default() }
}

/// Declares the loops as functions of [`Real`] and implements them for both precisions, so that
/// they are compiled here and not in the crates that call them.
macro_rules! loops {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $path:path;
    )*) => {
        /// A number in the precision of the run, and the loops over many of them.
        pub trait Real: Number {
            $(
                $(#[$attribute])*
                #[allow(clippy::too_many_arguments, reason = "loops take their arrays one by one")]
                fn $name(isa: Isa, $($argument: $type),*) $(-> $result)?;
            )*
        }

        loops!(@implement f32 $(fn $name($($argument: $type),*) $(-> $result)? = $path;)*);
        loops!(@implement f64 $(fn $name($($argument: $type),*) $(-> $result)? = $path;)*);
    };
    (@implement $float:ident $(
        fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $path:path;
    )*) => {
        impl Real for $float {
            $(
                #[inline(never)]
                fn $name(isa: Isa, $($argument: $type),*) $(-> $result)? {
                    $path(isa, $($argument),*)
                }
            )*
        }
    };
}

loops! {
    /// Runs instructions over all lanes; see [`interpret`](crate::interpret).
    fn run(ops: &[Op], arrays: &mut [Vec<Self>], values: &[Self], lanes: usize) = interpret::run;

    /// Adds the near or undelayed edges of all targets and finishes the sums, for `points` of `width`
    /// and one or two gathers over the same edges: gather g reads `history` from `now[g]` (node 0,
    /// point 0, now) and goes to array `sums[g]`, by lane. The sums start as those of `before`, by lane,
    /// or at zero.
    fn near(
        table: &NearTable<Self>,
        history: &[Self],
        now: &[usize],
        before: Option<[&[Self]; 2]>,
        arrays: &mut [Vec<Self>],
        sums: &[usize],
        width: usize,
        points: Range<usize>,
    ) = gather::near;

    /// Undelayed sums of all targets for all of `width` points, by lane like `history`, which has a
    /// value for every lane and must be finite: absent edges are multiplied by 0.
    fn dense(
        table: &DenseTable<Self>,
        history: &[Self],
        width: usize,
        sums: &mut [Self],
    ) = gather::dense;

    /// Where the window of every edge starts, in the rings of one channel of one point, for the steps
    /// from `position` of rings of `capacity` steps; replaces what is in `starts`.
    fn window_starts(
        table: &WindowTable<Self>,
        position: usize,
        capacity: usize,
        starts: &mut Vec<u32>,
    ) = gather::starts;

    /// Adds far edges for a whole block of steps, for one or two histories that are read at the same
    /// places: `rings[h]` holds the rings of all sources, its sums by target go to `sums[h]`.
    fn far(
        table: &WindowTable<Self>,
        starts: &[u32],
        rings: &[&[Self]],
        sums: &mut [&mut [[Self; BLOCK]]],
    ) = gather::far;

    /// Adds middle edges for the `NEAR_BLOCK` steps of the block from `at` on, for one, two or four
    /// histories; see [`far`](Self::far).
    fn middle(
        table: &WindowTable<Self>,
        starts: &[u32],
        at: usize,
        rings: &[&[Self]],
        sums: &mut [&mut [[Self; BLOCK]]],
    ) = gather::middle;

    /// Writes steps `at` to `at +` `NEAR_BLOCK` of row `rows[lane]` of `from` to `lane` of as many
    /// steps, which lie `stride` apart in `to`. There are as many lanes as `rows`, a multiple of
    /// [`PACK`](crate::PACK).
    fn to_steps(
        from: &[[Self; BLOCK]],
        at: usize,
        rows: &[u32],
        to: &mut [Self],
        stride: usize,
    ) = transpose::to_steps;

    /// The opposite: `NEAR_BLOCK` steps of all lanes, which lie `stride` apart in `from`, go to
    /// `places[lane]` and `copies[lane]` of `rings`. There are as many lanes as places, a multiple of
    /// [`PACK`](crate::PACK).
    fn to_rings(
        from: &[Self],
        stride: usize,
        places: &[usize],
        copies: &[usize],
        rings: &mut [Self],
    ) = transpose::to_rings;

    /// Normals number `4·block` to `4·block + 3` of the subsequences whose words are `low` and `high`.
    fn normals(
        seed: u64,
        low: &[u32],
        high: &[u32],
        block: u64,
        normals: &mut [Vec<Self>; 4],
    ) = noise::fill;

    /// Whether all values are finite.
    fn all_finite(values: &[Self]) -> bool = lanes::all_finite;

    /// Adds `values` to compensated sums, lane by lane.
    fn accumulate(sums: &mut [Self], compensations: &mut [Self], values: &[Self]) = lanes::accumulate;

    /// One haemodynamic step, lane by lane.
    fn haemodynamics(
        state: &mut [Vec<Self>; 4],
        activity: &[Self],
        step: &Constants<Self>,
    ) = lanes::haemodynamics;

    /// The BOLD signal, lane by lane.
    fn bold(
        volume: &[Self],
        content: &[Self],
        step: &Constants<Self>,
        signal: &mut [Self],
    ) = lanes::bold;
}

macro_rules! number {
    ($float:ident) => {
        impl Number for $float {
            const ONE: Self = 1.0;
            const NAN: Self = $float::NAN;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                $float::from(value)
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}

number!(f32);
number!(f64);
