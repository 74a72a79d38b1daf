//! Arguments of a launch, and the checks before it.

use super::buffer::BufferView;
use super::device::AdapterConstraints;
use super::driver::LaunchShape;
use super::error::ComputeError;
use super::kernel::within;
use super::module::Function;

#[derive(Debug, Clone)]
pub(super) enum Argument {
    View(BufferView),
    Value(Vec<u8>),
}

/// Arguments of a kernel in the order of its parameters.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub(super) list: Vec<Argument>,
}

impl Arguments {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the device address of a view.
    #[must_use]
    pub fn view(mut self, view: BufferView) -> Self {
        self.list.push(Argument::View(view));
        self
    }

    /// Adds a value: a number, or a `#[repr(C)]` struct without padding.
    #[must_use]
    pub fn value<T: bytemuck::NoUninit>(mut self, value: &T) -> Self {
        self.list.push(Argument::Value(bytemuck::bytes_of(value).to_vec()));
        self
    }

    pub(super) fn views(&self) -> impl Iterator<Item = &BufferView> {
        self.list.iter().filter_map(|argument| match argument {
            Argument::View(view) => Some(view),
            Argument::Value(_) => None,
        })
    }

    /// Compares number and sizes with what the kernel declares.
    pub(super) fn check(&self, function: &Function) -> Result<(), ComputeError> {
        let given: Vec<usize> = self
            .list
            .iter()
            .map(|argument| match argument {
                Argument::View(_) => size_of::<u64>(),
                Argument::Value(bytes) => bytes.len(),
            })
            .collect();
        if given == function.parameters() {
            return Ok(());
        }
        Err(ComputeError::InvalidArguments {
            entry: function.entry().to_owned(),
            problem: format!(
                "the kernel takes parameters of {:?} bytes, the launch has {given:?}",
                function.parameters()
            ),
        })
    }
}

/// Compares a launch with the limits of the device and of the function.
pub(super) fn check_shape(
    shape: &LaunchShape,
    function: &Function,
    constraints: &AdapterConstraints,
) -> Result<(), ComputeError> {
    const GRID: [&str; 3] = ["grid x", "grid y", "grid z"];
    const BLOCK: [&str; 3] = ["block x", "block y", "block z"];
    for axis in 0..3 {
        within(GRID[axis], shape.grid[axis].into(), 1, constraints.max_grid[axis].into())?;
        within(BLOCK[axis], shape.block[axis].into(), 1, constraints.max_block[axis].into())?;
    }
    let threads = shape.block.iter().map(|&n| u64::from(n)).product();
    let most = constraints.max_threads_per_block.min(function.limits().max_threads_per_block);
    within("threads of a block", threads, 1, most.into())?;
    let statically = function.limits().static_shared_bytes;
    let most = constraints.shared_bytes_per_block_optin.saturating_sub(statically);
    within("dynamic shared memory in bytes", shape.dynamic_shared_bytes.into(), 0, most.into())
}
