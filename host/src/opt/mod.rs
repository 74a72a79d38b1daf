//! Passes over programs that don't change a bit of any result, and what engines ask about sections.
//!
//! Equal instructions and exact constants are already dealt with as [`crate::ir::Builder`] makes
//! them; [`cse`] does the same for sections from elsewhere.

pub mod cse;
pub mod dead;
pub mod uniform;
