//! One source for several instruction sets, chosen at run time.
//!
//! [`multiversion!`] compiles a function's body once for each instruction set and adds a first
//! argument of type [`Isa`] that picks one. The body is plain Rust; the compiler vectorises it with
//! the instructions it may use. The results have the same bits on each: nothing is reassociated,
//! and a fused multiply-add is one rounding with or without hardware for it.
//!
//! This is the only module of the crate with `unsafe`: calling a function that was compiled for an
//! instruction set needs a processor that has it.

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(pub(crate) Level);

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// What the target guarantees: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// 256-bit vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// Every instruction set that this processor has, the widest first.
    pub fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                found.push(Self(Level::Avx512));
            }
            if avx2 {
                found.push(Self(Level::Avx2));
            }
        }
        found.push(Self(Level::Baseline));
        found
    }

    /// Whether vectors have 512 bits, and there are 32 of them in place of 16.
    pub(crate) fn has_512_bits(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Level::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// The widest instruction set that this processor has.
    pub fn detect() -> Self {
        Self::available()[0]
    }
}

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Level::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        })
    }
}

/// Defines functions, generic over one type and perhaps constants, with one compiled version for
/// each [`Isa`], which becomes the first argument.
macro_rules! multiversion {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$real:ident: $bound:path $(, const $constant:ident: $kind:ty)*>(
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? $body:block
    )*) => {$(
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "kernels take their arrays one by one")]
        $visibility fn $name<$real: $bound $(, const $constant: $kind)*>(
            isa: $crate::isa::Isa, $($argument: $type),*
        ) $(-> $result)? {
            #[inline(always)]
            fn body<$real: $bound $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$real: $bound $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? {
                body::<$real $(, $constant)*>($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512<$real: $bound $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? {
                body::<$real $(, $constant)*>($($argument),*)
            }

            match isa.0 {
                $crate::isa::Level::Baseline => body::<$real $(, $constant)*>($($argument),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: an `Isa` of this level is only made by `Isa::available`, which has checked
                // that the processor has these features.
                $crate::isa::Level::Avx2 => unsafe { avx2::<$real $(, $constant)*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                $crate::isa::Level::Avx512 => unsafe { avx512::<$real $(, $constant)*>($($argument),*) },
            }
        }
    )*};
}

pub(crate) use multiversion;
