//! host
#![deny(unsafe_code)]
pub mod compute;
