//! Slots: places in compiled kernels that are filled when a program is loaded.
//!
//! [`slot!`](crate::slot!) declares a function without a body:
//!
//! ```
//! cuda_std::slot! {
//!     /// The drift of a model of two states and one coupling input.
//!     pub fn drift_2_1(state: [f32; 2], afferent: [f32; 1], time: f32) -> [f32; 2];
//! }
//! ```
//!
//! In PTX a call is one line that no assembler accepts, with the registers of its operands and
//! their types, outputs before inputs:
//!
//! ```text
//! SLOT drift_2_1 (%r5:f32, %r6:f32), (%r1:f32, %r2:f32, %r3:f32, %r4:f32);
//! ```
//!
//! [`fill`] replaces each such line by instructions. So the model's equations are compiled into
//! the middle of the kernel, in registers, without a call. Natively a call goes to the function
//! that [`Launch::slot`](crate::emulate::Launch::slot) was given.
//!
//! The operands may be `f32`, `f64`, `u32`, `i32`, `u64`, raw pointers, and arrays of those whose
//! length is a literal; the result may be a tuple of them. Variants for several lengths come from
//! a macro that declares one slot for each.
//!
//! The compiler takes a slot for a pure function of its operands. It may move a call, merge equal
//! ones, or unroll the loop around one, which then holds it up to nine times; a barrier in the loop
//! prevents that. The instructions must name their rounding (`add.rn.f32`): without it the
//! assembler may fuse a product with a sum. They may read memory that nobody writes during the
//! launch, through a pointer operand; such a slot should be declared `unsafe fn`.
//!
//! A slot that reads memory which the kernel writes says `#[memory(read)]`, and one that writes
//! memory `#[memory(write)]`; both must be an `unsafe fn`. Only a slot that writes may return
//! nothing.

mod fill;

pub use fill::{Call, Register, SlotError, Type, fill};

/// Conversion between a slot's operand and the bits of a register.
pub trait Bits: Copy {
    /// The bits, in the low part of the word.
    #[must_use]
    fn to_bits(self) -> u64;
    /// The operand with these bits.
    #[must_use]
    fn from_bits(bits: u64) -> Self;
}

impl Bits for f32 {
    fn to_bits(self) -> u64 {
        u64::from(f32::to_bits(self))
    }
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
}

impl Bits for f64 {
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}

impl Bits for u32 {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }
}

impl Bits for i32 {
    fn to_bits(self) -> u64 {
        u64::from(self as u32)
    }
    fn from_bits(bits: u64) -> Self {
        bits as u32 as i32
    }
}

impl Bits for u64 {
    fn to_bits(self) -> u64 {
        self
    }
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

impl<T> Bits for *const T {
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_bits(bits: u64) -> Self {
        core::ptr::with_exposed_provenance(bits as usize)
    }
}

impl<T> Bits for *mut T {
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_bits(bits: u64) -> Self {
        core::ptr::with_exposed_provenance_mut(bits as usize)
    }
}
