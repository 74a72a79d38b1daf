//! Views: pieces of the slab that a caller holds.

/// What a kernel does with a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BufferUsage {
    /// Read only.
    Input,
    /// Written only.
    Output,
    /// Read and written.
    InputOutput,
}

/// A piece of the slab, valid in its own context until it is released.
///
/// A view is a plain value: a copy refers to the same memory. Every use is checked, so a view that
/// outlived its memory gives an error and never somebody else's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferView {
    pub(super) context: u64,
    pub(super) serial: u64,
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) binding: u32,
    pub(super) group: u32,
}

impl BufferView {
    /// Absolute counter of the first byte: what `advance_read_head` takes.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Absolute counter behind the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of the kernel argument within its group.
    pub fn binding(&self) -> u32 {
        self.binding
    }

    /// Group of arguments; groups come in ascending order.
    pub fn group(&self) -> u32 {
        self.group
    }
}
