//! What a GPU kernel in Rust needs, over rustc's own `nvptx64-nvidia-cuda` back end: threads,
//! warps, shared memory, atomics, asynchronous copies, and [slots](mod@slot) for code that is only
//! known when a program runs. The names are those of rust-cuda's `cuda_std` where it has the same.
//!
//! Everything also compiles natively, where [`emulate`] runs kernels thread by thread.
//!
//! # Kernels
//!
//! A crate of kernels is `no_std` and begins with
//!
//! ```text
//! #![no_std]
//! #![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]
//! ```
//!
//! The features are unstable, which is why `cuda_builder` sets `RUSTC_BOOTSTRAP=1` for it; the
//! native build of the same crate is stable Rust. `asm_experimental_arch` is needed by the crate
//! that calls [`slot!`](slot!).
//!
//! # What the back end does
//!
//! - Pass pointers that are used in a hot loop as parameters of their own: a pointer inside a
//!   struct is read with generic loads. What is read through `&T` becomes `ld.global.nc`. Scalars
//!   may travel in one `#[repr(C)]` struct.
//! - An array indexed by a value that is not known at compile time goes to local memory. Unroll,
//!   or keep it in shared memory; `ptxas -v` must show a stack of 0 bytes.
//! - `+`, `-`, `*` and `/` are IEEE's (`add.rn`, `div.rn`, …), subnormal numbers are kept, and
//!   `a * b + c` is never contracted. [`float::GpuFloat`] has the fused operation, the square root
//!   and the rounding to integers that stable `core` lacks. `abs`, `copysign` and `to_bits` are
//!   exact and need no help.
//! - Not the same as on a CPU: `%` (a division, a product and a difference, far from exact for
//!   large quotients), `round` (halves away from zero, approximated; round to even instead), `min`
//!   and `max` (for NaN and for zeros of either sign; compare and select instead).
//! - `as i32` from a float saturates as Rust says, in seven instructions; `to_int_unchecked` is
//!   one.
//! - `core`'s intrinsics for exp, ln, sin and cos crash the back end.
//! - A panic is a trap. Where `core` was built with immediate abort, as `cuda_builder` does when
//!   it has the sources, a bounds check costs a compare and a branch.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        core_intrinsics,
        link_llvm_intrinsics,
        stdarch_nvptx
    )
)]
#![cfg_attr(
    target_arch = "nvptx64",
    expect(internal_features, reason = "LLVM's operations are reached in no other way here")
)]

pub mod async_copy;
pub mod atomic;
#[cfg(not(target_arch = "nvptx64"))]
pub mod emulate;
pub mod float;
pub mod global;
pub mod shared;
#[cfg(not(target_arch = "nvptx64"))]
pub mod slot;
pub mod thread;
pub mod warp;

/// Makes a function a GPU kernel.
///
/// On the GPU it gets the kernel ABI and its own name as symbol, natively it stays the function it
/// is. It must be an `unsafe fn` without generic parameters that returns nothing, and its
/// parameters must be `Copy`: they travel as bytes. Pointers must point into device memory.
///
/// ```
/// # use cuda_std::kernel;
/// /// Sets `n` values to zero.
/// ///
/// /// # Safety
/// /// `values` holds `n` values; the grid extends along x only.
/// #[kernel]
/// pub unsafe fn clear(n: u32, values: *mut f32) {
///     let i = cuda_std::thread::index_1d();
///     if i < n {
///         // SAFETY: i < n.
///         unsafe { *values.add(i as usize) = 0.0 };
///     }
/// }
/// ```
///
/// Calling it must be unsafe:
/// ```compile_fail
/// # use cuda_std::kernel;
/// #[kernel]
/// pub fn clear(values: *mut f32) {}
/// ```
/// It cannot return a value:
/// ```compile_fail
/// # use cuda_std::kernel;
/// #[kernel]
/// pub unsafe fn first(values: *const f32) -> f32 { unsafe { *values } }
/// ```
/// What must be dropped cannot travel, nor can what every thread would hold alone:
/// ```compile_fail,E0277
/// # use cuda_std::kernel;
/// #[kernel]
/// pub unsafe fn fill(values: Vec<f32>) {}
/// ```
/// ```compile_fail,E0277
/// # use cuda_std::kernel;
/// #[kernel]
/// pub unsafe fn fill(value: &mut f32) {}
/// ```
/// One name in PTX cannot stand for many instances:
/// ```compile_fail
/// # use cuda_std::kernel;
/// #[kernel]
/// pub unsafe fn clear<T>(values: *mut T) {}
/// ```
pub use cuda_std_macros::kernel;

/// Declares functions whose bodies are filled in when a program is loaded; see
/// [the module](mod@slot).
///
/// ```compile_fail
/// cuda_std::slot! { fn sum(values: [f32; N]) -> f32; }
/// ```
/// ```compile_fail
/// cuda_std::slot! { fn nothing(value: f32); }
/// ```
/// ```compile_fail
/// cuda_std::slot! { fn body(value: f32) -> f32 { value } }
/// ```
/// A slot that touches memory is unsafe to call:
/// ```compile_fail
/// cuda_std::slot! { #[memory(read)] fn first(values: *const f32) -> f32; }
/// ```
pub use cuda_std_macros::slot;

/// A panic ends the kernel with a trap: the host sees a failed launch.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: a trap ends the thread and touches nothing.
    unsafe { core::arch::nvptx::trap() }
}
