//! Running sections on the CPU.

pub mod interp;
