//! An error at a place in the user's source.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A message for the user and where it belongs.
pub(crate) struct CompileError {
    span: Span,
    message: String,
}

impl CompileError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// `::core::compile_error! { "message" }`, every token at the error's place.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let punct = |character, spacing| {
            let mut punct = Punct::new(character, spacing);
            punct.set_span(self.span);
            TokenTree::from(punct)
        };
        let mut message = Literal::string(&self.message);
        message.set_span(self.span);
        let mut body = Group::new(Delimiter::Brace, TokenTree::from(message).into());
        body.set_span(self.span);
        [
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("core", self.span).into(),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("compile_error", self.span).into(),
            punct('!', Spacing::Alone),
            body.into(),
        ]
        .into_iter()
        .collect()
    }
}
