//! Text to tokens.

use super::error::{ExprError, ExprErrorKind};
use std::ops::Range;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A number.
    Number(f64),
    /// A name or a word such as `and`.
    Name,
    /// An operator or bracket; `^` arrives as `**`.
    Symbol(&'static str),
    /// After the last one.
    End,
}

/// A token and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: TokenKind,
    /// Where it is.
    pub(super) span: Range<usize>,
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: &[(&str, &str)] = &[
    ("**", "**"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("^", "**"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("<", "<"),
    (">", ">"),
    ("&", "&"),
    ("|", "|"),
    ("~", "~"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
];

/// All tokens of a text, the last of them [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExprError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = if let Some(length) = number_length(rest) {
            (TokenKind::Number(number(&rest[..length], at)?), length)
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let length = length.unwrap_or(rest.len());
            if !rest[..length].is_ascii() {
                let kind = ExprErrorKind::UnicodeName(rest[..length].into());
                return Err(ExprError { kind, span: at..at + length });
            }
            (TokenKind::Name, length)
        } else if let Some((written, symbol)) = SYMBOLS.iter().find(|s| rest.starts_with(s.0)) {
            (TokenKind::Symbol(symbol), written.len())
        } else {
            let kind = match first {
                '\\' => ExprErrorKind::Latex,
                other => ExprErrorKind::Character(other),
            };
            return Err(ExprError { kind, span: at..at + first.len_utf8() });
        };
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    Ok(tokens)
}

/// The bytes of a decimal literal at the start of a text: `12`, `1.`, `.5`, `1e-3`.
fn number_length(text: &str) -> Option<usize> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(length + 1);
        if whole + fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    }
    if length == 0 {
        return None;
    }
    // An `e` belongs to the number only if an exponent follows: `2e` is `2` and the name `e`.
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some(length)
}

fn number(text: &str, at: usize) -> Result<f64, ExprError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(ExprError {
            kind: ExprErrorKind::NumberRange(text.into()),
            span: at..at + text.len(),
        }),
    }
}
