//! Exit codes.

/// The run was done.
pub const DONE: u8 = 0;
/// The experiment was refused.
pub const REFUSED: u8 = 1;
/// Wrong usage, or a file that can't be read or written.
pub const USAGE: u8 = 2;
/// The device can't be used.
pub const DEVICE: u8 = 3;
/// Interrupted; nothing half-written is left.
pub const INTERRUPTED: u8 = 130;
