//! Copies from global into shared memory that run beside the computation.
//!
//! A thread starts copies, closes them into a group with [`commit_group`], computes, and waits
//! with [`wait_group`]. That makes the thread's own copies visible to itself; a barrier after it
//! makes them visible to the block. The instructions came with compute capability 8.0. In PTX for
//! older devices a copy is a load and a store that are done when the call returns, which the same
//! calling code is right for.

use crate::shared::SharedPtr;

#[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
use core::arch::asm;

macro_rules! copy {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $ptx:literal, $words:literal, $store:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub unsafe fn $name<T>(to: SharedPtr<T>, from: *const T) {
            #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
            // SAFETY: the caller's.
            unsafe {
                asm!(
                    "{{",
                    ".reg .b64 global;",
                    "cvta.to.global.u64 global, {from};",
                    concat!($ptx, " [{to}], [global], ", $bytes, ";"),
                    "}}",
                    to = in(reg32) to.address(),
                    from = in(reg64) from,
                    options(nostack)
                );
            }
            #[cfg(all(target_arch = "nvptx64", not(target_feature = "sm_80")))]
            // SAFETY: the caller's; the alignment makes the words readable at once.
            unsafe {
                to.cast::<u32>().$store(from.cast::<[u32; $words]>().read());
            }
            #[cfg(not(target_arch = "nvptx64"))]
            crate::emulate::queue_copy(to.address(), from.cast(), $bytes);
        }
    };
}

copy! {
    /// Starts a copy of 8 bytes.
    ///
    /// # Safety
    /// Both places hold 8 bytes and are aligned to 8. `from` is in global memory. Until the copy
    /// is waited for nobody writes either, or reads `to`.
    copy8, 8, "cp.async.ca.shared.global", 2, store2
}

copy! {
    /// Starts a copy of 16 bytes, past the first-level cache.
    ///
    /// # Safety
    /// As for [`copy8`], with 16 bytes.
    copy16, 16, "cp.async.cg.shared.global", 4, store4
}

/// Makes a group of the copies that this thread has started since the last group.
#[inline(always)]
pub fn commit_group() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    // SAFETY: touches no memory itself.
    unsafe {
        asm!("cp.async.commit_group;", options(nostack));
    }
    #[cfg(not(target_arch = "nvptx64"))]
    crate::emulate::commit_copies();
}

/// Waits until at most the `PENDING` newest groups of this thread are still on their way.
///
/// # Safety
/// The sources of all copies that are still on their way are readable.
#[inline(always)]
pub unsafe fn wait_group<const PENDING: u32>() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    // SAFETY: the copies are the caller's.
    unsafe {
        asm!("cp.async.wait_group {n};", n = const PENDING, options(nostack));
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's.
    unsafe {
        crate::emulate::wait_for_copies(PENDING as usize);
    }
}
