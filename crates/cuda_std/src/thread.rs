//! Where a thread is in its block and its grid, and the barrier of a block.
//!
//! The names are those of CUDA's built-in variables: `thread_idx_x` is `threadIdx.x`.

#[cfg(not(target_arch = "nvptx64"))]
use crate::emulate;
#[cfg(target_arch = "nvptx64")]
use core::arch::nvptx;

/// One function for one built-in variable.
macro_rules! index {
    ($(#[$doc:meta] $name:ident = $on_gpu:ident, $natively:ident . $axis:tt;)*) => {
        $(
            #[$doc]
            #[inline(always)]
            #[must_use]
            pub fn $name() -> u32 {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: reads a special register, which every thread has.
                return unsafe { nvptx::$on_gpu() } as u32;
                #[cfg(not(target_arch = "nvptx64"))]
                return emulate::place().$natively.$axis;
            }
        )*
    };
}

index! {
    /// The thread's index in its block along x.
    thread_idx_x = _thread_idx_x, thread.x;
    /// The thread's index in its block along y.
    thread_idx_y = _thread_idx_y, thread.y;
    /// The thread's index in its block along z.
    thread_idx_z = _thread_idx_z, thread.z;
    /// The block's index in the grid along x.
    block_idx_x = _block_idx_x, block.x;
    /// The block's index in the grid along y.
    block_idx_y = _block_idx_y, block.y;
    /// The block's index in the grid along z.
    block_idx_z = _block_idx_z, block.z;
    /// The threads of a block along x.
    block_dim_x = _block_dim_x, block_dim.x;
    /// The threads of a block along y.
    block_dim_y = _block_dim_y, block_dim.y;
    /// The threads of a block along z.
    block_dim_z = _block_dim_z, block_dim.z;
    /// The blocks of the grid along x.
    grid_dim_x = _grid_dim_x, grid_dim.x;
    /// The blocks of the grid along y.
    grid_dim_y = _grid_dim_y, grid_dim.y;
    /// The blocks of the grid along z.
    grid_dim_z = _grid_dim_z, grid_dim.z;
}

/// The thread's index in a grid that extends along x only.
#[inline(always)]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// Waits until every thread of the block is here. What the threads wrote to memory before is
/// visible to all of them after.
///
/// Every thread of the block must get here, none may have returned: on a GPU anything else hangs
/// or is undefined, in the emulation it is an error.
#[inline(always)]
pub fn sync_threads() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: a barrier touches no memory of its own.
    unsafe {
        nvptx::_syncthreads();
    }
    #[cfg(not(target_arch = "nvptx64"))]
    emulate::sync_threads();
}
