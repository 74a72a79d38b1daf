//! The CPU engine: a vectorised interpreter over tiles of sweep points.
//!
//! A *lane* is one node of one point. A tile is a few points whose lanes are stepped together by one
//! thread: its history is meant to stay in the second-level cache. Lanes are node-major,
//! `lane = node·width + point`, so that the points of a tile, which share weights, lie side by side.
//!
//! A program becomes a [graph](graph::Graph) of the whole [step](step::step), then a
//! [schedule](schedule::Schedule), which is [interpreted](interpret) over chunks of lanes. Gathers
//! contain no model code and are compiled loops ([`kernels_cpu::gather`]).
//!
//! Results are a pure function of the job and the point: neither the tile, nor the threads, nor the
//! instruction set change a bit.

mod compiled;
mod coupling;
mod edges;
mod graph;
mod history;
pub use crate::ir::interp;
mod interpret;
mod noise;
mod real;
mod record;
mod schedule;
mod step;
mod tile;

pub use compiled::Compiled;
pub use kernels_cpu::{CHUNK, Isa, PACK};
pub use real::Real;
pub use tile::{Stages, Tile, TileError, bytes};
