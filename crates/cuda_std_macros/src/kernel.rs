//! `#[kernel]`.

use crate::compile_error::CompileError;
use crate::signature::{Signature, source, span_of_next};
use proc_macro::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

/// Checks the function and writes it twice: with the kernel ABI and an unmangled name for the GPU,
/// and unchanged for every other target.
pub(crate) fn expand(
    arguments: TokenStream,
    item: TokenStream,
) -> Result<TokenStream, CompileError> {
    if let Some(argument) = arguments.into_iter().next() {
        return Err(CompileError::new(argument.span(), "`#[kernel]` takes no arguments"));
    }
    let mut tokens = item.into_iter().peekable();
    let signature = Signature::parse(&mut tokens)?;
    if !signature.is_unsafe {
        let message = "a kernel must be an `unsafe fn`: nothing checks the pointers and the launch \
                       dimensions it is given";
        return Err(CompileError::new(signature.name.span(), message));
    }
    if signature.output.is_some() {
        let message = "a kernel returns nothing: write results through a pointer";
        return Err(CompileError::new(signature.output_span, message));
    }
    let body = match tokens.next() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
        _ => return Err(CompileError::new(span_of_next(&mut tokens), "expected a body")),
    };

    let Signature { attributes, visibility, name, parameter_list, parameters, .. } = signature;
    let function = |qualifiers: &str, abi: &str| {
        let mut function = source(qualifiers);
        function.extend(attributes.clone());
        function.extend(visibility.clone());
        function.extend(source(abi));
        function.extend([
            TokenTree::from(name.clone()),
            parameter_list.clone().into(),
            body.clone().into(),
        ]);
        function
    };
    let mut expansion = function(
        "#[cfg(target_arch = \"nvptx64\")] #[unsafe(no_mangle)]",
        "unsafe extern \"ptx-kernel\" fn",
    );
    expansion.extend(function("#[cfg(not(target_arch = \"nvptx64\"))]", "unsafe fn"));
    expansion.extend(parameters.into_iter().map(|parameter| copy_check(parameter.ty)));
    Ok(expansion)
}

/// An item that compiles only if the type is `Copy`: a parameter reaches the GPU as its bytes. That
/// also refuses `&mut T`, which every thread would hold at once.
fn copy_check(ty: TokenStream) -> TokenStream {
    let mut call = source("fn parameter<T: ::core::marker::Copy>() {} parameter::");
    call.extend(source("<"));
    call.extend(ty);
    call.extend(source(">();"));
    let mut item = source("const _: fn() = ||");
    item.extend([
        TokenTree::from(Group::new(Delimiter::Brace, call)),
        Punct::new(';', Spacing::Alone).into(),
    ]);
    item
}
