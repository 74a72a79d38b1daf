//! Whole-brain network experiments, from a TVBO YAML file to arrays.

pub mod analysis;
pub mod back;
pub mod cli;
pub mod compute;
pub mod connectome;
pub mod diagnostic;
pub mod experiment;
pub mod expr;
pub mod files;
pub mod ir;
pub mod library;
pub mod lower;
pub mod monitor;
pub mod opt;
pub mod output;
pub mod simulation;
pub mod sweep;
pub mod yaml;
