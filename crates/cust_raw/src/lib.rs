//! The CUDA driver's functions, resolved in `libcuda` at first use; same names as `cust_raw` 0.11.
//!
//! Nothing is linked: the first call of any function opens `libcuda.so.1`. Every function returns a
//! [`CUresult`]; without a driver that is `CUDA_ERROR_NO_DEVICE`. The signatures are those of the
//! published bindings (see `generate.py`), and what a function does is in NVIDIA's CUDA Driver API
//! reference under the same name.

mod functions;
mod loader;
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    clippy::all,
    reason = "generated: the names are NVIDIA's, not every cust build uses all of them"
)]
mod types;

use core::ffi::c_char;

pub use functions::*;
pub use loader::{DriverUnavailable, driver};
pub use types::*;

/// Declares the driver functions: each looks its symbol up once and clamps the result.
macro_rules! driver_functions {
    ($( #[symbol = $symbol:literal] fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> CUresult; )*) => {
        $(
            #[doc = concat!("`", $symbol, "` of the CUDA driver API.")]
            ///
            /// # Safety
            ///
            /// The conditions of the CUDA Driver API reference: live handles, pointers valid for
            /// what the call reads or writes.
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "NVIDIA's signature")]
            pub unsafe fn $name($($argument: $type),*) -> CUresult {
                type Signature = unsafe extern "C" fn($($type),*) -> i32;
                static SYMBOL: $crate::loader::Symbol =
                    $crate::loader::Symbol::new(concat!($symbol, "\0"));
                match SYMBOL.address() {
                    Ok(address) => {
                        // SAFETY: the address is that of the driver's function of this name, whose C
                        // signature is the one of the bindings; an enum returned in C is an int.
                        let function = unsafe { core::mem::transmute::<*const (), Signature>(address) };
                        // SAFETY: the caller keeps the conditions of this function.
                        result_from_code(unsafe { function($($argument),*) })
                    }
                    Err(result) => result,
                }
            }
        )*
    };
}
pub(crate) use driver_functions;

/// Declares the conversion from a code to [`CUresult`] and the code's name.
macro_rules! results {
    ($($name:ident,)*) => {
        /// The result with this code, `CUDA_ERROR_UNKNOWN` where the bindings do not know it.
        ///
        /// A driver newer than the bindings returns codes that are not in the enum; to hold one in
        /// a [`CUresult`] would be undefined behaviour.
        pub fn result_from_code(code: i32) -> CUresult {
            $(if code == CUresult::$name as i32 { return CUresult::$name; })*
            CUresult::CUDA_ERROR_UNKNOWN
        }

        /// NVIDIA's name of a result, for example `CUDA_ERROR_NO_DEVICE`.
        pub fn result_name(result: CUresult) -> &'static core::ffi::CStr {
            match result {
                $(CUresult::$name => {
                    const NAME: &core::ffi::CStr = match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    };
                    NAME
                })*
            }
        }
    };
}
pub(crate) use results;

/// Describes a result in words. Unlike the driver's own function it never fails: where the driver
/// is absent or has no text, the text is the result's name.
///
/// # Safety
///
/// `text` must be valid for writing one pointer.
#[allow(non_snake_case, reason = "the name that cust calls")]
pub unsafe fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    let mut answer: *const c_char = core::ptr::null();
    // SAFETY: `answer` is a local that the driver may write.
    let result = unsafe { driver_error_string(error, &mut answer) };
    if result != CUresult::CUDA_SUCCESS || answer.is_null() {
        answer = result_name(error).as_ptr();
    }
    // SAFETY: the caller says that `text` may be written.
    unsafe { text.write(answer) };
    CUresult::CUDA_SUCCESS
}
