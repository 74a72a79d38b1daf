//! host
pub mod compute;
