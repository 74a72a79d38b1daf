//! The macros of `cuda_std`, to be used through that crate, which documents them.
//!
//! They read token streams by hand. That keeps this crate free of dependencies, and kernels are
//! built in a target folder of their own, where a parser crate would be compiled once more.

mod compile_error;
mod kernel;
mod signature;
mod slot;

use proc_macro::TokenStream;

/// Makes a function a GPU kernel. Documented at `cuda_std::kernel`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments, item).unwrap_or_else(|error| error.into_tokens())
}

/// Declares slots: functions whose body is filled in when a program is loaded. Documented at
/// `cuda_std::slot`.
#[proc_macro]
pub fn slot(declarations: TokenStream) -> TokenStream {
    slot::expand(declarations).unwrap_or_else(|error| error.into_tokens())
}
