//! Floating-point operations that `core` does not offer on stable Rust, all rounded correctly as
//! IEEE 754 asks: the same bits on every GPU and CPU.
//!
//! On the GPU they are LLVM's own operations (`fma.rn`, `sqrt.rn`), so constants fold and a
//! negation merges. There is no approximate variant here on purpose.

/// The operations, for `f32` and `f64`.
pub trait GpuFloat: Copy {
    /// `self * factor + term`, rounded once.
    #[must_use]
    fn fused_mul_add(self, factor: Self, term: Self) -> Self;
    /// The square root, rounded correctly.
    #[must_use]
    fn square_root(self) -> Self;
    /// The nearest integer, halves to even.
    #[must_use]
    fn nearest_integer(self) -> Self;
}

macro_rules! gpu_float {
    ($($float:ident, $fma:ident, $sqrt:ident, $round:ident;)*) => {
        $(
            impl GpuFloat for $float {
                #[inline(always)]
                fn fused_mul_add(self, factor: Self, term: Self) -> Self {
                    #[cfg(target_arch = "nvptx64")]
                    return core::intrinsics::$fma(self, factor, term);
                    #[cfg(not(target_arch = "nvptx64"))]
                    return self.mul_add(factor, term);
                }

                #[inline(always)]
                fn square_root(self) -> Self {
                    #[cfg(target_arch = "nvptx64")]
                    return core::intrinsics::$sqrt(self);
                    #[cfg(not(target_arch = "nvptx64"))]
                    return self.sqrt();
                }

                #[inline(always)]
                fn nearest_integer(self) -> Self {
                    #[cfg(target_arch = "nvptx64")]
                    return core::intrinsics::$round(self);
                    #[cfg(not(target_arch = "nvptx64"))]
                    return self.round_ties_even();
                }
            }
        )*
    };
}

gpu_float! {
    f32, fmaf32, sqrtf32, round_ties_even_f32;
    f64, fmaf64, sqrtf64, round_ties_even_f64;
}
