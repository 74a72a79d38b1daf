//! Sections of a program as PTX instructions, put into the slots of the kernels.
//!
//! A section is evaluated over [recorded values](recorder): handles whose operations are appended to a
//! [tape](tape::Tape). The functions of `kernels_gpu::math` are generic, so a slot gets its `exp` from
//! the same source as the CPU. The tape is then [printed](print), and the module is
//! [cut](splice::cut) to the one kernel that a job uses.

mod check;
mod fill;
mod operands;
mod placement;
mod print;
mod recorder;
mod section;
mod splice;
mod tape;

pub use check::{CheckError, check};
pub(crate) use fill::edge_states;
pub use fill::{FillError, Filler, SharedColumns};
pub use placement::ParameterPlacement;
pub use splice::{SpliceError, cut};
