//! What a GPU kernel in Rust needs, over `rustc`'s own PTX back end.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_ptx,
        abi_unadjusted,
        asm_experimental_arch,
        core_intrinsics,
        link_llvm_intrinsics,
        stdarch_nvptx
    )
)]
#![cfg_attr(
    target_arch = "nvptx64",
    expect(
        internal_features,
        reason = "core reaches LLVM's float operations in no other way here"
    )
)]

#[cfg(not(target_arch = "nvptx64"))]
pub mod emulate;
pub mod float;
pub mod thread;

pub use cuda_std_macros::kernel;

/// A panic ends the kernel with a trap: the host sees a failed launch.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: a trap ends the thread and touches nothing.
    unsafe { core::arch::nvptx::trap() }
}
