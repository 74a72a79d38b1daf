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
const HEIGHT: usize = 400;
/// Nodes that chained comparisons may copy: nested chains would double them at every level.
const COPIED: usize = 4096;

const OR: u8 = 1;
const AND: u8 = 3;
const NOT: u8 = 5;
const COMPARISON: u8 = 7;
const BIT_OR: u8 = 9;
const BIT_AND: u8 = 11;
const SUM: u8 = 13;
const PRODUCT: u8 = 15;
const SIGN: u8 = 17;
const POWER: u8 = 19;

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
struct Node {
    expr: Expr,
    height: usize,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    copied: usize,
    is_symbol: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        // The end stays in place, so there is always a token to look at.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Symbol(s) if s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// The next token's word where it is a name.
    fn word(&self) -> Option<&str> {
        let token = self.peek();
        (token.kind == TokenKind::Name).then(|| &self.text[token.span.clone()])
    }

    /// A function of the language that the model has not taken as a symbol.
    fn is_function(&self, name: &str) -> bool {
        function::arity(name).is_some() && !(self.is_symbol)(name)
    }

    fn fail<T>(&self, kind: ExprErrorKind, span: Range<usize>) -> Result<T, ExprError> {
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

    fn node(&self, kind: ExprKind, span: Range<usize>, below: usize) -> Result<Node, ExprError> {
        if below >= HEIGHT {
            return self.fail(ExprErrorKind::TooDeep(HEIGHT), span);
        }
        Ok(Node { expr: Expr { kind, span }, height: below + 1 })
    }

    fn binary(&self, operator: B, x: Node, y: Node) -> Result<Node, ExprError> {
        let span = x.expr.span.start..y.expr.span.end;
        let below = x.height.max(y.height);
        self.node(ExprKind::Binary(operator, Box::new(x.expr), Box::new(y.expr)), span, below)
    }

    fn expression(&mut self, loosest: u8) -> Result<Node, ExprError> {
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

    fn unary(
        &mut self,
        operator: UnaryOperator,
        start: usize,
        binding: u8,
    ) -> Result<Node, ExprError> {
        let x = self.expression(binding)?;
        let span = start..x.expr.span.end;
        self.node(ExprKind::Unary(operator, Box::new(x.expr)), span, x.height)
    }

    fn prefix(&mut self) -> Result<Node, ExprError> {
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
    fn items(
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

    fn name(&mut self, token: &Token) -> Result<Node, ExprError> {
        let name = &self.text[token.span.clone()];
        let span = token.span.clone();
        match name {
            "not" => return self.unary(UnaryOperator::Not, span.start, NOT),
            "True" => return self.node(ExprKind::Boolean(true), span, 0),
            "False" => return self.node(ExprKind::Boolean(false), span, 0),
            "if" | "else" => return self.fail(ExprErrorKind::Conditional, span),
            "and" | "or" => {
                return self.fail(ExprErrorKind::ExpectedValue(format!("`{name}`")), span);
            }
            _ => {}
        }
        if (self.is_symbol)(name) || function::constant(name).is_some() {
            return self.node(ExprKind::Symbol(name.into()), span, 0);
        }
        if self.is("(") {
            return self.call(name, span.start);
        }
        if self.is_function(name) {
            return self.implicit_application(name, span);
        }
        self.node(ExprKind::Symbol(name.into()), span, 0)
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Node, ExprError> {
        let bracket = self.advance().span.start;
        let (arguments, end, height) = self.items(")", '(', bracket)?;
        if height >= HEIGHT {
            return self.fail(ExprErrorKind::TooDeep(HEIGHT), start..end);
        }
        let expr = operator_call(name, arguments, start..end);
        let height = height + depth_of_operator_call(&expr);
        Ok(Node { expr, height })
    }

    /// `sin x`, `sin 2x`, `sin^2 x`, `sin**2(x)`.
    fn implicit_application(&mut self, name: &str, span: Range<usize>) -> Result<Node, ExprError> {
        let exponent = if self.is("**") {
            self.advance();
            match self.peek().kind {
                TokenKind::Number(_) => Some(self.prefix()?),
                _ => return self.fail(ExprErrorKind::BareFunction(name.into()), span),
            }
        } else {
            None
        };
        let applied = if self.is("(") {
            self.call(name, span.start)?
        } else if self.starts_factor() {
            let mut argument = self.expression(SIGN)?;
            // As sympy: a product continues the argument, a quotient or another function ends it.
            loop {
                if self.is("*") {
                    self.advance();
                } else if !self.starts_factor() || self.word().is_some_and(|w| self.is_function(w))
                {
                    break;
                }
                let factor = self.expression(SIGN)?;
                argument = self.binary(B::Multiply, argument, factor)?;
            }
            let span = span.start..argument.expr.span.end;
            let expr = operator_call(name, vec![argument.expr], span);
            Node { expr, height: argument.height + 1 }
        } else {
            return self.fail(ExprErrorKind::BareFunction(name.into()), span);
        };
        match exponent {
            None => Ok(applied),
            Some(exponent) => {
                let span = applied.expr.span.clone();
                let below = applied.height.max(exponent.height);
                let (x, n) = (Box::new(applied.expr), Box::new(exponent.expr));
                self.node(ExprKind::Binary(B::Power, x, n), span, below)
            }
        }
    }

    fn starts_factor(&self) -> bool {
        match self.peek().kind {
            TokenKind::Number(_) => true,
            TokenKind::Name => !matches!(self.word(), Some("and" | "or" | "not" | "if" | "else")),
            TokenKind::Symbol(symbol) => symbol == "(",
            TokenKind::End => false,
        }
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

/// How many nodes [`operator_call`] puts above its arguments.
fn depth_of_operator_call(expr: &Expr) -> usize {
    let mut depth = 1;
    let mut at = expr;
    while let ExprKind::Binary(B::And | B::Or, left, _) = &at.kind {
        depth += 1;
        at = left;
    }
    depth
}

/// A call, or the operator that a function such as `Eq` or `And` is another spelling of.
///
/// With the wrong number of arguments it stays a call, which lowering refuses.
fn operator_call(name: &str, mut arguments: Vec<Expr>, span: Range<usize>) -> Expr {
    let compare = match name {
        "Eq" => Some(C::Equal),
        "Ne" => Some(C::NotEqual),
        "Lt" => Some(C::Less),
        "Le" => Some(C::LessEqual),
        "Gt" => Some(C::Greater),
        "Ge" => Some(C::GreaterEqual),
        _ => None,
    };
    let binary = match name {
        "Mod" => Some(B::Modulo),
        "Pow" | "pow" => Some(B::Power),
        _ => None,
    };
    let junction = match name {
        "And" => Some(B::And),
        "Or" => Some(B::Or),
        _ => None,
    };
    let kind = match (compare, binary, junction, arguments.len()) {
        (Some(operator), _, _, 2) => {
            let y = Box::new(arguments.remove(1));
            ExprKind::Compare(operator, Box::new(arguments.remove(0)), y)
        }
        (_, Some(operator), _, 2) => {
            let y = Box::new(arguments.remove(1));
            ExprKind::Binary(operator, Box::new(arguments.remove(0)), y)
        }
        (_, _, Some(operator), 2..=16) => {
            let whole = span.clone();
            let joined = arguments.into_iter().reduce(|x, y| Expr {
                kind: ExprKind::Binary(operator, Box::new(x), Box::new(y)),
                span: whole.clone(),
            });
            return joined.unwrap_or(Expr { kind: ExprKind::Boolean(true), span });
        }
        (_, _, _, 1) if name == "Not" => {
            ExprKind::Unary(UnaryOperator::Not, Box::new(arguments.remove(0)))
        }
        _ => ExprKind::Call(name.into(), arguments),
    };
    Expr { kind, span }
}
