//! Tokens to a tree, by precedence climbing.
//!
//! From the loosest: `or`, `and`, `not`, comparisons, `|`, `&`, `+ -`, `* / %` and implicit
//! multiplication, unary `- + ~`, `**` (right associative). These are Python's, so `&` binds tighter
//! than a comparison: `(a < b) & (c < d)` needs its parentheses.

use super::ast::{BinaryOperator as B, CompareOperator as C, Expr, ExprKind, UnaryOperator};
use super::error::{ExprError, ExprErrorKind};
use super::function;
use super::lexer::{Token, TokenKind, tokens};
use std::ops::Range;

/// Levels of brackets, signs and powers that may be open at once; bounds the parser's stack.
const NESTING: usize = 100;
/// Height of the tree; bounds the stack of everything that walks it.
pub(super) const HEIGHT: usize = 400;
/// Nodes that chained comparisons may copy: nested chains would double them at every level.
const COPIED: usize = 4096;

const OR: u8 = 1;
const AND: u8 = 3;
pub(super) const NOT: u8 = 5;
const COMPARISON: u8 = 7;
const BIT_OR: u8 = 9;
const BIT_AND: u8 = 11;
const SUM: u8 = 13;
const PRODUCT: u8 = 15;
pub(super) const SIGN: u8 = 17;
pub(super) const POWER: u8 = 19;

/// Parses the right-hand side of an equation.
///
/// `is_symbol` tells which names are symbols of the model; they win over functions and constants, so
/// that `gamma(x + 1)` is a product where the model has a `gamma`. A name before `(` that is no
/// symbol and no constant is a call, known function or not: the caller knows which functions the
/// model defines.
///
/// # Errors
/// The first fault of the text, with the bytes that it is about.
pub fn parse(text: &str, is_symbol: &dyn Fn(&str) -> bool) -> Result<Expr, ExprError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0, nesting: 0, copied: 0, is_symbol };
    if parser.peek().kind == TokenKind::End {
        return Err(ExprError { kind: ExprErrorKind::Empty, span: 0..text.len() });
    }
    let node = parser.expression(0)?;
    match parser.peek().kind {
        TokenKind::End => Ok(node.expr),
        _ => Err(parser.unexpected_operator()),
    }
}

/// A tree and its height.
pub(super) struct Node {
    pub(super) expr: Expr,
    pub(super) height: usize,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    copied: usize,
    pub(super) is_symbol: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        // The end stays in place, so there is always a token to look at.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Symbol(s) if s == symbol)
    }

    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// The next token's word where it is a name.
    pub(super) fn word(&self) -> Option<&str> {
        let token = self.peek();
        (token.kind == TokenKind::Name).then(|| &self.text[token.span.clone()])
    }

    /// A function of the language that the model has not taken as a symbol.
    pub(super) fn is_function(&self, name: &str) -> bool {
        function::arity(name).is_some() && !(self.is_symbol)(name)
    }

    pub(super) fn fail<T>(&self, kind: ExprErrorKind, span: Range<usize>) -> Result<T, ExprError> {
        Err(ExprError { kind, span })
    }

    fn describe(&self, token: &Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the equation".into(),
            _ => format!("`{}`", &self.text[token.span.clone()]),
        }
    }

    fn unexpected_operator(&self) -> ExprError {
        let token = self.peek();
        let kind = match self.word() {
            Some("if" | "else") => ExprErrorKind::Conditional,
            _ => ExprErrorKind::ExpectedOperator(self.describe(token)),
        };
        ExprError { kind, span: token.span.clone() }
    }

    pub(super) fn node(
        &self,
        kind: ExprKind,
        span: Range<usize>,
        below: usize,
    ) -> Result<Node, ExprError> {
        if below >= HEIGHT {
            return self.fail(ExprErrorKind::TooDeep(HEIGHT), span);
        }
        Ok(Node { expr: Expr { kind, span }, height: below + 1 })
    }

    pub(super) fn binary(&self, operator: B, x: Node, y: Node) -> Result<Node, ExprError> {
        let span = x.expr.span.start..y.expr.span.end;
        let below = x.height.max(y.height);
        self.node(ExprKind::Binary(operator, Box::new(x.expr), Box::new(y.expr)), span, below)
    }

    pub(super) fn expression(&mut self, loosest: u8) -> Result<Node, ExprError> {
        self.nesting += 1;
        if self.nesting > NESTING {
            return self.fail(ExprErrorKind::TooDeep(NESTING), self.peek().span.clone());
        }
        let mut left = self.prefix()?;
        while let Some((binding, operator)) = self.infix() {
            if binding < loosest {
                break;
            }
            left = match operator {
                Infix::Implicit => {
                    let right = self.expression(binding + 1)?;
                    self.binary(B::Multiply, left, right)?
                }
                Infix::Binary(operator) => {
                    self.advance();
                    // One less than its own binding makes a power group from the right.
                    let right = if operator == B::Power { POWER - 1 } else { binding + 1 };
                    let right = self.expression(right)?;
                    self.binary(operator, left, right)?
                }
                Infix::Compare => self.comparison(left)?,
            };
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// What continues an expression at the next token, and how tightly it binds.
    fn infix(&self) -> Option<(u8, Infix)> {
        if let Some(word) = self.word() {
            return match word {
                "or" => Some((OR, Infix::Binary(B::Or))),
                "and" => Some((AND, Infix::Binary(B::And))),
                "not" | "if" | "else" => None,
                _ => Some((PRODUCT, Infix::Implicit)),
            };
        }
        let TokenKind::Symbol(symbol) = self.peek().kind else { return None };
        let binary = |binding, operator| Some((binding, Infix::Binary(operator)));
        match symbol {
            "|" => binary(BIT_OR, B::Or),
            "&" => binary(BIT_AND, B::And),
            "+" => binary(SUM, B::Add),
            "-" => binary(SUM, B::Subtract),
            "*" => binary(PRODUCT, B::Multiply),
            "/" => binary(PRODUCT, B::Divide),
            "%" => binary(PRODUCT, B::Modulo),
            "**" => binary(POWER, B::Power),
            "(" => Some((PRODUCT, Infix::Implicit)),
            _ if compare_operator(symbol).is_some() => Some((COMPARISON, Infix::Compare)),
            _ => None,
        }
    }

    /// `a < b <= c` means `(a < b) & (b <= c)`.
    fn comparison(&mut self, first: Node) -> Result<Node, ExprError> {
        let mut left = first;
        let mut chain: Option<Node> = None;
        while let TokenKind::Symbol(symbol) = self.peek().kind
            && let Some(operator) = compare_operator(symbol)
        {
            self.advance();
            let right = self.expression(COMPARISON + 1)?;
            if !matches!(self.peek().kind, TokenKind::Symbol(s) if compare_operator(s).is_some()) {
                let link = self.compare(operator, left, right)?;
                return match chain {
                    None => Ok(link),
                    Some(before) => self.binary(B::And, before, link),
                };
            }
            self.copied += size(&right.expr);
            if self.copied > COPIED {
                return self.fail(ExprErrorKind::TooDeep(NESTING), right.expr.span);
            }
            let again = Node { expr: right.expr.clone(), height: right.height };
            let link = self.compare(operator, left, right)?;
            chain = Some(match chain {
                None => link,
                Some(before) => self.binary(B::And, before, link)?,
            });
            left = again;
        }
        Ok(chain.unwrap_or(left))
    }

    fn compare(&self, operator: C, x: Node, y: Node) -> Result<Node, ExprError> {
        let span = x.expr.span.start..y.expr.span.end;
        let below = x.height.max(y.height);
        self.node(ExprKind::Compare(operator, Box::new(x.expr), Box::new(y.expr)), span, below)
    }

    pub(super) fn unary(
        &mut self,
        operator: UnaryOperator,
        start: usize,
        binding: u8,
    ) -> Result<Node, ExprError> {
        let x = self.expression(binding)?;
        let span = start..x.expr.span.end;
        self.node(ExprKind::Unary(operator, Box::new(x.expr)), span, x.height)
    }

    pub(super) fn prefix(&mut self) -> Result<Node, ExprError> {
        let token = self.advance();
        let start = token.span.start;
        let node = match token.kind {
            TokenKind::Number(value) => self.node(ExprKind::Number(value), token.span, 0)?,
            TokenKind::Name => self.name(&token)?,
            TokenKind::Symbol("-") => return self.unary(UnaryOperator::Negate, start, SIGN),
            TokenKind::Symbol("~") => return self.unary(UnaryOperator::Not, start, SIGN),
            TokenKind::Symbol("+") => return self.expression(SIGN),
            TokenKind::Symbol("(") => self.parenthesis(start)?,
            _ => {
                let kind = ExprErrorKind::ExpectedValue(self.describe(&token));
                return self.fail(kind, token.span);
            }
        };
        self.index(node)
    }

    /// `(x)` is x, `(x, y)` and `(x,)` are tuples.
    fn parenthesis(&mut self, start: usize) -> Result<Node, ExprError> {
        let first = self.expression(0)?;
        if self.eat(")") {
            return Ok(first);
        }
        let mut height = first.height;
        let mut items = vec![first.expr];
        while self.eat(",") && !self.is(")") {
            let item = self.expression(0)?;
            height = height.max(item.height);
            items.push(item.expr);
        }
        let end = self.close(")", '(', start)?;
        self.node(ExprKind::Tuple(items), start..end, height)
    }

    fn close(&mut self, symbol: &str, opened: char, start: usize) -> Result<usize, ExprError> {
        let end = self.peek().span.end;
        if self.eat(symbol) {
            return Ok(end);
        }
        match self.peek().kind {
            TokenKind::End => self.fail(ExprErrorKind::Unclosed(opened), start..start + 1),
            _ => Err(self.unexpected_operator()),
        }
    }

    /// Items up to a closing bracket, and the byte after it.
    pub(super) fn items(
        &mut self,
        symbol: &str,
        opened: char,
        start: usize,
    ) -> Result<(Vec<Expr>, usize, usize), ExprError> {
        let (mut items, mut height) = (Vec::new(), 0);
        while !self.is(symbol) {
            let item = self.expression(0)?;
            height = height.max(item.height);
            items.push(item.expr);
            if !self.eat(",") {
                break;
            }
        }
        let end = self.close(symbol, opened, start)?;
        Ok((items, end, height))
    }

    fn index(&mut self, mut base: Node) -> Result<Node, ExprError> {
        while self.is("[") {
            let bracket = self.advance().span.start;
            let (indices, end, height) = self.items("]", '[', bracket)?;
            if indices.is_empty() {
                let kind = ExprErrorKind::ExpectedValue("`]`".into());
                return self.fail(kind, end - 1..end);
            }
            let span = base.expr.span.start..end;
            let below = base.height.max(height);
            base = self.node(ExprKind::Index(Box::new(base.expr), indices), span, below)?;
        }
        Ok(base)
    }
}

enum Infix {
    Implicit,
    Binary(B),
    Compare,
}

fn compare_operator(symbol: &str) -> Option<C> {
    Some(match symbol {
        "<" => C::Less,
        "<=" => C::LessEqual,
        ">" => C::Greater,
        ">=" => C::GreaterEqual,
        "==" => C::Equal,
        "!=" => C::NotEqual,
        _ => return None,
    })
}

/// The number of nodes of a tree.
fn size(expr: &Expr) -> usize {
    1 + match &expr.kind {
        ExprKind::Number(_) | ExprKind::Boolean(_) | ExprKind::Symbol(_) => 0,
        ExprKind::Unary(_, x) => size(x),
        ExprKind::Binary(_, x, y) | ExprKind::Compare(_, x, y) => size(x) + size(y),
        ExprKind::Call(_, items) | ExprKind::Tuple(items) => items.iter().map(size).sum(),
        ExprKind::Index(base, items) => size(base) + items.iter().map(size).sum::<usize>(),
    }
}
