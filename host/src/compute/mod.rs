//! compute
pub mod slab;
