//! What can be wrong with an equation's text.

use std::ops::Range;

/// Why a text is not an equation, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ExprError {
    /// What is wrong.
    pub kind: ExprErrorKind,
    /// The bytes of the text that it is about; empty at the end of the text.
    pub span: Range<usize>,
}

/// The ways in which a text fails to be an equation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExprErrorKind {
    /// Nothing but blanks.
    #[error("the equation is empty")]
    Empty,
    /// A character that no token starts with.
    #[error("unexpected character `{0}`")]
    Character(char),
    /// A name with letters beyond ASCII.
    #[error("the name `{0}` has letters other than a-z, A-Z, 0-9 and _")]
    UnicodeName(String),
    /// A backslash.
    #[error("LaTeX equations are not supported")]
    Latex,
    /// A literal beyond the range of 64 bits.
    #[error("the number `{0}` is too large")]
    NumberRange(String),
    /// A token where an operand has to stand.
    #[error("expected a value, found {0}")]
    ExpectedValue(String),
    /// A token after a complete expression.
    #[error("expected an operator, found {0}")]
    ExpectedOperator(String),
    /// A bracket that nothing closes.
    #[error("`{0}` is never closed")]
    Unclosed(char),
    /// A function's name without an argument.
    #[error("the function `{0}` has no argument")]
    BareFunction(String),
    /// Python's conditional expression.
    #[error("`if` and `else` are not part of the language")]
    Conditional,
    /// Brackets or operators nested too deeply.
    #[error("the equation is nested more than {0} levels deep")]
    TooDeep(usize),
}

impl ExprError {
    /// How to mend it, where that is known.
    pub fn help(&self) -> Option<String> {
        Some(match &self.kind {
            ExprErrorKind::Character('=') => {
                "write only the right-hand side; a comparison is `==` or `Eq(a, b)`".into()
            }
            ExprErrorKind::Character('−' | '–' | '—') => "write the minus sign as `-`".into(),
            ExprErrorKind::Character('×' | '·' | '⋅' | '∙') => {
                "write the multiplication sign as `*`".into()
            }
            ExprErrorKind::Character('÷') => "write the division sign as `/`".into(),
            ExprErrorKind::Character('≤') => "write `<=`".into(),
            ExprErrorKind::Character('≥') => "write `>=`".into(),
            ExprErrorKind::Character('!') => "write `~x` or `Not(x)` for the opposite".into(),
            ExprErrorKind::UnicodeName(_) => {
                "spell the name in ASCII, for example `tau`, here and where it is defined".into()
            }
            ExprErrorKind::Latex => "write the equation in Python's syntax".into(),
            ExprErrorKind::Conditional => {
                "write `Piecewise((value, condition), (otherwise, True))`".into()
            }
            ExprErrorKind::BareFunction(name) => format!("write `{name}(x)`"),
            ExprErrorKind::ExpectedOperator(_) => "multiplication can be written `*`".into(),
            ExprErrorKind::TooDeep(_) => "move parts of it into derived variables".into(),
            _ => return None,
        })
    }
}
