//! A TVBO YAML file as a tree with places: bytes in, [`Node`] out.
//!
//! `saphyr-parser` delivers the events and their places, `serde_yaml` says what a plain scalar
//! means (number, truth value, null or text). Aliases and `<<` merges are resolved, a key that
//! stands twice is an error at both places. [`class`] then holds a tree against the tables of
//! [`tvbo`], which name every key of the format and say what becomes of it. All findings of a file
//! are collected.

pub mod class;
mod node;
mod parse;
mod scalar;
mod suggest;
pub mod tvbo;

pub use node::{Entry, Kind, Node, Scalar, ScalarValue};
pub use parse::parse;
pub use suggest::nearest;
