//! Dynamic shared memory: the bytes a launch gives to each block.
//!
//! Shared memory is reached through [`SharedPtr`], a 32-bit address with a type. Rust's own
//! pointers do not serve here: they are 64-bit and generic, so each access would be slower and
//! take two registers for its address. A `static` in `#[link_section = ".shared"]` does not serve
//! either: rustc's back end silently puts it into global memory.

use core::marker::PhantomData;

#[cfg(target_arch = "nvptx64")]
use core::arch::{asm, global_asm};

// 16 bytes is the widest access. The symbol is the same for every kernel of a module.
#[cfg(target_arch = "nvptx64")]
global_asm!(".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];");

/// A place in the block's dynamic shared memory that holds a `T`.
///
/// Arithmetic on it is checked by nobody on a GPU; the emulation checks every access.
#[derive(Debug, PartialEq, Eq)]
pub struct SharedPtr<T> {
    address: u32,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for SharedPtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPtr<T> {}

/// The start of the block's dynamic shared memory, aligned to 16 bytes.
#[inline(always)]
#[must_use]
pub fn dynamic_shared_mem<T>() -> SharedPtr<T> {
    #[cfg(target_arch = "nvptx64")]
    let address = {
        let address: u32;
        // SAFETY: takes the address of a symbol.
        unsafe {
            asm!(
                "mov.u32 {a}, cuda_std_dynamic_shared;",
                a = out(reg32) address,
                options(pure, nomem, nostack)
            );
        }
        address
    };
    #[cfg(not(target_arch = "nvptx64"))]
    let address = 0;
    SharedPtr::from_address(address)
}

impl<T> SharedPtr<T> {
    /// The place at this byte address, from [`address`](Self::address).
    #[inline(always)]
    #[must_use]
    pub const fn from_address(address: u32) -> Self {
        Self { address, holds: PhantomData }
    }

    /// The byte address.
    #[inline(always)]
    #[must_use]
    pub const fn address(self) -> u32 {
        self.address
    }

    /// The place `count` values further on.
    #[inline(always)]
    #[must_use]
    pub const fn add(self, count: u32) -> Self {
        self.byte_add(count.wrapping_mul(size_of::<T>() as u32))
    }

    /// The place `bytes` further on.
    #[inline(always)]
    #[must_use]
    pub const fn byte_add(self, bytes: u32) -> Self {
        Self::from_address(self.address.wrapping_add(bytes))
    }

    /// The same place, holding another type.
    #[inline(always)]
    #[must_use]
    pub const fn cast<U>(self) -> SharedPtr<U> {
        SharedPtr::from_address(self.address)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A value of one register: `f32`, `u32`, `i32`, `f64`, `u64`.
pub trait Word: Copy + sealed::Sealed {
    #[doc(hidden)]
    unsafe fn load(address: u32) -> Self;
    #[doc(hidden)]
    unsafe fn store(address: u32, value: Self);
    #[doc(hidden)]
    unsafe fn load2(address: u32) -> [Self; 2];
    #[doc(hidden)]
    unsafe fn store2(address: u32, values: [Self; 2]);
}

/// A value of one 32-bit register, of which four can be moved at once.
pub trait Word32: Word {
    #[doc(hidden)]
    unsafe fn load4(address: u32) -> [Self; 4];
    #[doc(hidden)]
    unsafe fn store4(address: u32, values: [Self; 4]);
}

macro_rules! word {
    ($($word:ident: $register:ident, $ptx:literal, $bytes:literal;)*) => {
        $(
            impl sealed::Sealed for $word {}

            impl Word for $word {
                #[inline(always)]
                unsafe fn load(address: u32) -> Self {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let value;
                        // SAFETY: the caller's.
                        unsafe {
                            asm!(
                                concat!("ld.shared.", $ptx, " {v}, [{a}];"),
                                v = out($register) value, a = in(reg32) address,
                                options(pure, readonly, nostack)
                            );
                        }
                        value
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    Self::from_ne_bytes(crate::emulate::read_shared(address))
                }

                #[inline(always)]
                unsafe fn store(address: u32, value: Self) {
                    #[cfg(target_arch = "nvptx64")]
                    // SAFETY: the caller's.
                    unsafe {
                        asm!(
                            concat!("st.shared.", $ptx, " [{a}], {v};"),
                            v = in($register) value, a = in(reg32) address,
                            options(nostack)
                        );
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    crate::emulate::write_shared(address, value.to_ne_bytes());
                }

                #[inline(always)]
                unsafe fn load2(address: u32) -> [Self; 2] {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let (v0, v1);
                        // SAFETY: the caller's.
                        unsafe {
                            asm!(
                                concat!("ld.shared.v2.", $ptx, " {{{v0}, {v1}}}, [{a}];"),
                                v0 = out($register) v0, v1 = out($register) v1,
                                a = in(reg32) address,
                                options(pure, readonly, nostack)
                            );
                        }
                        [v0, v1]
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let bytes: [u8; 2 * $bytes] = crate::emulate::read_shared(address);
                        core::array::from_fn(|at| {
                            Self::from_ne_bytes(core::array::from_fn(|b| bytes[at * $bytes + b]))
                        })
                    }
                }

                #[inline(always)]
                unsafe fn store2(address: u32, values: [Self; 2]) {
                    #[cfg(target_arch = "nvptx64")]
                    // SAFETY: the caller's.
                    unsafe {
                        asm!(
                            concat!("st.shared.v2.", $ptx, " [{a}], {{{v0}, {v1}}};"),
                            v0 = in($register) values[0], v1 = in($register) values[1],
                            a = in(reg32) address,
                            options(nostack)
                        );
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let parts = values.map(Self::to_ne_bytes);
                        let bytes: [u8; 2 * $bytes] =
                            core::array::from_fn(|at| parts[at / $bytes][at % $bytes]);
                        crate::emulate::write_shared(address, bytes);
                    }
                }
            }
        )*
    };
}

macro_rules! word32 {
    ($($word:ident, $ptx:literal;)*) => {
        $(
            impl Word32 for $word {
                #[inline(always)]
                unsafe fn load4(address: u32) -> [Self; 4] {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let (v0, v1, v2, v3);
                        // SAFETY: the caller's.
                        unsafe {
                            asm!(
                                concat!(
                                    "ld.shared.v4.", $ptx, " {{{v0}, {v1}, {v2}, {v3}}}, [{a}];"
                                ),
                                v0 = out(reg32) v0, v1 = out(reg32) v1,
                                v2 = out(reg32) v2, v3 = out(reg32) v3,
                                a = in(reg32) address,
                                options(pure, readonly, nostack)
                            );
                        }
                        [v0, v1, v2, v3]
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let bytes: [u8; 16] = crate::emulate::read_shared(address);
                        core::array::from_fn(|at| {
                            Self::from_ne_bytes(core::array::from_fn(|b| bytes[at * 4 + b]))
                        })
                    }
                }

                #[inline(always)]
                unsafe fn store4(address: u32, values: [Self; 4]) {
                    #[cfg(target_arch = "nvptx64")]
                    // SAFETY: the caller's.
                    unsafe {
                        asm!(
                            concat!("st.shared.v4.", $ptx, " [{a}], {{{v0}, {v1}, {v2}, {v3}}};"),
                            v0 = in(reg32) values[0], v1 = in(reg32) values[1],
                            v2 = in(reg32) values[2], v3 = in(reg32) values[3],
                            a = in(reg32) address,
                            options(nostack)
                        );
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let parts = values.map(Self::to_ne_bytes);
                        let bytes: [u8; 16] = core::array::from_fn(|at| parts[at / 4][at % 4]);
                        crate::emulate::write_shared(address, bytes);
                    }
                }
            }
        )*
    };
}

word! {
    f32: reg32, "f32", 4;
    u32: reg32, "u32", 4;
    i32: reg32, "s32", 4;
    f64: reg64, "f64", 8;
    u64: reg64, "u64", 8;
}
word32! {
    f32, "f32";
    u32, "u32";
    i32, "s32";
}

impl<T: Word> SharedPtr<T> {
    /// Reads the value.
    ///
    /// # Safety
    /// The place is inside the block's shared memory and aligned to the value's size; no thread
    /// writes it without a barrier in between.
    #[inline(always)]
    #[must_use]
    pub unsafe fn load(self) -> T {
        // SAFETY: the caller's.
        unsafe { T::load(self.address) }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// As for [`load`](Self::load), and no other thread reads it without a barrier in between.
    #[inline(always)]
    pub unsafe fn store(self, value: T) {
        // SAFETY: the caller's.
        unsafe { T::store(self.address, value) }
    }

    /// Reads two values that lie side by side, in one instruction.
    ///
    /// # Safety
    /// As for [`load`](Self::load), with the alignment of both together.
    #[inline(always)]
    #[must_use]
    pub unsafe fn load2(self) -> [T; 2] {
        // SAFETY: the caller's.
        unsafe { T::load2(self.address) }
    }

    /// Writes two values side by side, in one instruction.
    ///
    /// # Safety
    /// As for [`store`](Self::store), with the alignment of both together.
    #[inline(always)]
    pub unsafe fn store2(self, values: [T; 2]) {
        // SAFETY: the caller's.
        unsafe { T::store2(self.address, values) }
    }
}

impl<T: Word32> SharedPtr<T> {
    /// Reads four values that lie side by side, in one instruction.
    ///
    /// # Safety
    /// As for [`load`](Self::load), with an alignment of 16 bytes.
    #[inline(always)]
    #[must_use]
    pub unsafe fn load4(self) -> [T; 4] {
        // SAFETY: the caller's.
        unsafe { T::load4(self.address) }
    }

    /// Writes four values side by side, in one instruction.
    ///
    /// # Safety
    /// As for [`store`](Self::store), with an alignment of 16 bytes.
    #[inline(always)]
    pub unsafe fn store4(self, values: [T; 4]) {
        // SAFETY: the caller's.
        unsafe { T::store4(self.address, values) }
    }
}
