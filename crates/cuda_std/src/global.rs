//! Wide loads from global memory.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

mod sealed {
    pub trait Sealed {}
}

/// A value that can be loaded with its neighbours.
pub trait Constant: Copy + sealed::Sealed {
    /// Loads `N` values that lie side by side, 1, 2, 4 or 8, in instructions of up to 16 bytes.
    ///
    /// # Safety
    /// They exist, are in global memory, and nobody writes them during the launch. `from` is aligned to
    /// the bytes of all of them, or to 16 if that is less.
    unsafe fn load_constant<const N: usize>(from: *const Self) -> [Self; N];

    /// The same of values that the block itself has written, behind a barrier.
    ///
    /// # Safety
    /// As [`load_constant`](Self::load_constant), but the block may write them at other times.
    unsafe fn load_written<const N: usize>(from: *const Self) -> [Self; N];
}

/// A load of one, two or four values.
#[cfg(target_arch = "nvptx64")]
macro_rules! load {
    ($from:expr, $space:literal, $register:ident, $ptx:literal, [$($name:ident)*], $vector:literal,
     $list:literal, ($($option:ident),*)) => {{
        $(let $name;)*
        asm!(
            "{{",
            ".reg .b64 global;",
            "cvta.to.global.u64 global, {from};",
            concat!("ld.global", $space, $vector, ".", $ptx, " ", $list, ", [global];"),
            "}}",
            $($name = out($register) $name,)*
            from = in(reg64) $from,
            options($($option),*)
        );
        [$($name),*]
    }};
}

macro_rules! constant {
    ($($word:ident: $register:ident, $ptx:literal, $quads:literal;)*) => {$(
        impl sealed::Sealed for $word {}

        impl Constant for $word {
            constant!(load_constant, $word, $register, $ptx, $quads, ".nc", (pure, readonly, nostack));
            constant!(load_written, $word, $register, $ptx, $quads, "", (readonly, nostack));
        }
    )*};
    ($name:ident, $word:ident, $register:ident, $ptx:literal, $quads:literal, $space:literal,
     $options:tt) => {
        #[inline(always)]
        unsafe fn $name<const N: usize>(from: *const Self) -> [Self; N] {
            const { assert!(N == 1 || N == 2 || N == 4 || N == 8) };
            #[cfg(target_arch = "nvptx64")]
            {
                // Places are known when this is compiled: an array that is indexed by a variable
                // would live in local memory.
                let mut values = [0 as $word; N];
                // SAFETY: the caller's, in all of the following.
                if $quads {
                    if N >= 4 {
                        let quad = unsafe {
                            load!(from, $space, $register, $ptx, [a b c d], ".v4",
                                "{{{a}, {b}, {c}, {d}}}", $options)
                        };
                        (values[0], values[1], values[2], values[3]) =
                            (quad[0], quad[1], quad[2], quad[3]);
                    }
                    if N >= 8 {
                        let quad = unsafe {
                            load!(from.add(4), $space, $register, $ptx, [a b c d], ".v4",
                                "{{{a}, {b}, {c}, {d}}}", $options)
                        };
                        (values[4], values[5], values[6], values[7]) =
                            (quad[0], quad[1], quad[2], quad[3]);
                    }
                }
                if N == 2 || (N > 2 && !$quads) {
                    let pair = unsafe {
                        load!(from, $space, $register, $ptx, [a b], ".v2", "{{{a}, {b}}}", $options)
                    };
                    (values[0], values[1]) = (pair[0], pair[1]);
                }
                if N > 2 && !$quads {
                    let pair = unsafe {
                        load!(from.add(2), $space, $register, $ptx, [a b], ".v2", "{{{a}, {b}}}",
                            $options)
                    };
                    (values[2], values[3]) = (pair[0], pair[1]);
                }
                if N > 4 && !$quads {
                    let pair = unsafe {
                        load!(from.add(4), $space, $register, $ptx, [a b], ".v2", "{{{a}, {b}}}",
                            $options)
                    };
                    (values[4], values[5]) = (pair[0], pair[1]);
                    let pair = unsafe {
                        load!(from.add(6), $space, $register, $ptx, [a b], ".v2", "{{{a}, {b}}}",
                            $options)
                    };
                    (values[6], values[7]) = (pair[0], pair[1]);
                }
                if N == 1 {
                    let one =
                        unsafe { load!(from, $space, $register, $ptx, [a], "", "{a}", $options) };
                    values[0] = one[0];
                }
                values
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                debug_assert!(from.addr().is_multiple_of((N * size_of::<Self>()).min(16)));
                // SAFETY: the caller's.
                core::array::from_fn(|at| unsafe { *from.add(at) })
            }
        }
    };
}

constant! {
    f32: reg32, "f32", true;
    u32: reg32, "u32", true;
    f64: reg64, "f64", false;
}
