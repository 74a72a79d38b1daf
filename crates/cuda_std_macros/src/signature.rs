//! Reading a function's signature from tokens.

use crate::compile_error::CompileError;
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// Tokens with one token of look-ahead.
pub(crate) type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

/// One parameter, `name: type`.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) ty: TokenStream,
}

/// A function up to its body or semicolon.
pub(crate) struct Signature {
    /// Attributes and documentation.
    pub(crate) attributes: TokenStream,
    pub(crate) visibility: TokenStream,
    pub(crate) is_unsafe: bool,
    pub(crate) name: Ident,
    /// The parameters as written, with their parentheses.
    pub(crate) parameter_list: Group,
    pub(crate) parameters: Vec<Parameter>,
    /// What follows `->`.
    pub(crate) output: Option<TokenStream>,
    /// Where the output type, or else the name, is.
    pub(crate) output_span: Span,
}

impl Signature {
    /// Reads a signature and stops before the body or the semicolon.
    pub(crate) fn parse(tokens: &mut Tokens) -> Result<Self, CompileError> {
        let attributes = attributes(tokens);
        let visibility = visibility(tokens);
        let is_unsafe = take_ident(tokens, "unsafe").is_some();
        for qualifier in ["const", "async", "extern"] {
            if let Some(ident) = take_ident(tokens, qualifier) {
                let message = format!("remove `{qualifier}`: it has no meaning here");
                return Err(CompileError::new(ident.span(), message));
            }
        }
        if take_ident(tokens, "fn").is_none() {
            return Err(CompileError::new(span_of_next(tokens), "expected a function"));
        }
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) => name,
            _ => return Err(CompileError::new(Span::call_site(), "expected a function name")),
        };
        let parameter_list = match tokens.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
            Some(other) => {
                let message = "generic parameters are not possible here: the function has one \
                               name and one signature in PTX";
                return Err(CompileError::new(other.span(), message));
            }
            None => return Err(CompileError::new(name.span(), "expected parameters")),
        };
        let parameters = split_at_commas(parameter_list.stream())
            .into_iter()
            .map(parameter)
            .collect::<Result<_, _>>()?;
        let (output, output_span) = output(tokens, name.span());
        Ok(Self {
            attributes,
            visibility,
            is_unsafe,
            name,
            parameter_list,
            parameters,
            output,
            output_span,
        })
    }
}

fn attributes(tokens: &mut Tokens) -> TokenStream {
    let mut attributes = TokenStream::new();
    while let Some(hash) = take_punct(tokens, '#') {
        attributes.extend([hash]);
        attributes.extend(tokens.next());
    }
    attributes
}

fn visibility(tokens: &mut Tokens) -> TokenStream {
    let mut visibility = TokenStream::new();
    if let Some(keyword) = take_ident(tokens, "pub") {
        visibility.extend([TokenTree::from(keyword)]);
        if let Some(TokenTree::Group(group)) = tokens.peek()
            && group.delimiter() == Delimiter::Parenthesis
        {
            visibility.extend(tokens.next());
        }
    }
    visibility
}

/// Reads `-> type` if there is one.
fn output(tokens: &mut Tokens, name: Span) -> (Option<TokenStream>, Span) {
    if take_punct(tokens, '-').is_none() {
        return (None, name);
    }
    tokens.next();
    let span = span_of_next(tokens);
    let mut ty = TokenStream::new();
    while let Some(token) = tokens.peek() {
        let ends = match token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Ident(ident) => ident.to_string() == "where",
            TokenTree::Literal(_) => false,
        };
        if ends {
            break;
        }
        ty.extend(tokens.next());
    }
    (Some(ty), span)
}

fn parameter(tokens: TokenStream) -> Result<Parameter, CompileError> {
    let mut tokens = tokens.into_iter().peekable();
    let start = span_of_next(&mut tokens);
    attributes(&mut tokens);
    take_ident(&mut tokens, "mut");
    let wrong = || CompileError::new(start, "expected a parameter of the form `name: type`");
    let Some(TokenTree::Ident(name)) = tokens.next() else { return Err(wrong()) };
    if take_punct(&mut tokens, ':').is_none() {
        return Err(wrong());
    }
    Ok(Parameter { name, ty: tokens.collect() })
}

/// Splits at the commas outside brackets and outside `<…>`.
pub(crate) fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let (mut parts, mut part, mut depth) = (Vec::new(), TokenStream::new(), 0_usize);
    let mut after_dash = false;
    for token in tokens {
        let mut dash = false;
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' if !after_dash => depth = depth.saturating_sub(1),
                '-' => dash = true,
                ',' if depth == 0 => {
                    parts.push(std::mem::take(&mut part));
                    continue;
                }
                _ => {}
            }
        }
        after_dash = dash;
        part.extend([token]);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

pub(crate) fn take_ident(tokens: &mut Tokens, keyword: &str) -> Option<Ident> {
    match tokens.peek() {
        Some(TokenTree::Ident(ident)) if ident.to_string() == keyword => {
            let ident = ident.clone();
            tokens.next();
            Some(ident)
        }
        _ => None,
    }
}

pub(crate) fn take_punct(tokens: &mut Tokens, character: char) -> Option<TokenTree> {
    match tokens.peek() {
        Some(TokenTree::Punct(punct)) if punct.as_char() == character => tokens.next(),
        _ => None,
    }
}

pub(crate) fn span_of_next(tokens: &mut Tokens) -> Span {
    tokens.peek().map_or_else(Span::call_site, TokenTree::span)
}

/// The tokens of Rust text that this crate wrote.
pub(crate) fn source(text: &str) -> TokenStream {
    text.parse().expect("text written by this crate is Rust tokens")
}
