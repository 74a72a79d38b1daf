//! Expressions to instructions.

use super::equation::{Parsed, Place};
use super::findings::{Findings, Poisoned};
use super::stimulus::StimulusModel;
use super::symbols::{Definition, Symbol, Table};
use super::tensor::{Tensor, broadcast_shape};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{BinaryOperator, CompareOperator, Expr, ExprKind, UnaryOperator};
use crate::ir::{BinaryOp, Builder, CompareOp, LogicOp, Type, Value};
use std::ops::Range;

/// Expressions inside expressions, derived variables and functions that may be open at once.
const DEPTH: usize = 1000;
/// Expression nodes that one section may visit: functions and sums are written out in full.
const VISITS: usize = 500_000;

/// What all equations of an experiment share.
#[derive(Clone, Copy)]
pub(super) struct Model<'a> {
    pub(super) dynamics: &'a Table<'a>,
    pub(super) definitions: &'a [Definition<'a>],
    pub(super) stimuli: &'a [StimulusModel<'a>],
    pub(super) findings: &'a Findings,
}

/// Compiles expressions into one section.
pub(super) struct Evaluator<'a> {
    pub(super) builder: Builder,
    pub(super) model: Model<'a>,
    /// The names in scope.
    pub(super) table: &'a Table<'a>,
    /// Arguments of functions, running indices of sums, `gx`; the last of a name wins.
    pub(super) locals: Vec<(String, Tensor)>,
    /// Values of definitions that were needed so far.
    pub(super) known: Vec<Option<Result<Tensor, Poisoned>>>,
    /// Definitions being computed.
    pub(super) circle: Vec<usize>,
    /// Functions being written out.
    pub(super) calls: Vec<String>,
    /// State variables after earlier assignments of an event.
    pub(super) states: Option<Vec<Value>>,
    pub(super) place: Option<Place<'a>>,
    depth: usize,
    visits: usize,
}

pub(super) type Outcome = Result<Tensor, Poisoned>;

impl<'a> Evaluator<'a> {
    pub(super) fn new(model: Model<'a>, table: &'a Table<'a>, builder: Builder) -> Self {
        Self {
            builder,
            model,
            table,
            locals: Vec::new(),
            known: vec![None; model.definitions.len()],
            circle: Vec::new(),
            calls: Vec::new(),
            states: None,
            place: None,
            depth: 0,
            visits: 0,
        }
    }

    /// Gives a name a value that is not an input.
    pub(super) fn bind(&mut self, name: &str, value: Tensor) {
        self.locals.push((name.into(), value));
    }

    /// Forgets what was computed from state variables that have changed.
    pub(super) fn forget(&mut self) {
        self.known.fill(None);
    }

    /// An equation in this evaluator's scope.
    pub(super) fn equation(&mut self, parsed: &Parsed<'a>) -> Outcome {
        let Some(expr) = &parsed.expr else { return Err(Poisoned) };
        let before = self.place.replace(parsed.place);
        let result = self.eval(expr);
        self.place = before;
        result
    }

    /// An equation that has to be a number or array of numbers.
    pub(super) fn real_equation(&mut self, parsed: &Parsed<'a>) -> Outcome {
        let value = self.equation(parsed)?;
        let before = self.place.replace(parsed.place);
        let span = 0..parsed.expr.as_ref().map_or(0, |e| e.span.end);
        let result = self.expect(value, Type::Real, span);
        self.place = before;
        result
    }

    /// Adds an error at a part of the current equation.
    pub(super) fn fail<T>(
        &self,
        code: Code,
        span: Range<usize>,
        message: String,
        help: Option<String>,
    ) -> Result<T, Poisoned> {
        let mut diagnostic = Diagnostic::error(code, message);
        if let Some(place) = self.place {
            diagnostic = diagnostic.at(place.locate(span), "");
        }
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.model.findings.push(diagnostic);
        Err(Poisoned)
    }

    pub(super) fn expect(&self, value: Tensor, ty: Type, span: Range<usize>) -> Outcome {
        if value.ty == ty {
            return Ok(value);
        }
        let (message, help) = match ty {
            Type::Real => (
                "a number is needed here, and this is a condition",
                "choose between numbers with `Piecewise((a, condition), (b, True))`",
            ),
            Type::Bool => (
                "a condition is needed here, and this is a number",
                "compare it with something; `&` and `|` bind tighter than comparisons, so write \
                 `(a < b) & (c < d)`",
            ),
        };
        self.fail(Code::WrongKind, span, message.into(), Some(help.into()))
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Outcome {
        self.depth += 1;
        self.visits += 1;
        let result = if self.depth > DEPTH || self.visits > VISITS {
            let message = "the equation is too large once everything in it is written out";
            self.fail(Code::TooLarge, expr.span.clone(), message.into(), None)
        } else {
            self.node(expr)
        };
        self.depth -= 1;
        result
    }

    pub(super) fn eval_as(&mut self, expr: &Expr, ty: Type) -> Outcome {
        let value = self.eval(expr)?;
        self.expect(value, ty, expr.span.clone())
    }

    fn node(&mut self, expr: &Expr) -> Outcome {
        let span = expr.span.clone();
        match &expr.kind {
            ExprKind::Number(value) => Ok(Tensor::scalar(self.builder.constant(*value))),
            ExprKind::Boolean(value) => {
                let items = vec![self.builder.boolean(*value)];
                Ok(Tensor { shape: Vec::new(), items, ty: Type::Bool })
            }
            ExprKind::Symbol(name) => self.symbol(name, span),
            ExprKind::Unary(UnaryOperator::Negate, x) => {
                let x = self.eval_as(x, Type::Real)?;
                Ok(self.map(x, |b, x| b.neg(x)))
            }
            ExprKind::Unary(UnaryOperator::Not, x) => {
                let x = self.eval_as(x, Type::Bool)?;
                Ok(self.map(x, |b, x| b.not(x)))
            }
            ExprKind::Binary(operator, x, y) => self.binary(*operator, x, y, span),
            ExprKind::Compare(operator, x, y) => {
                let op = match operator {
                    CompareOperator::Less => CompareOp::Lt,
                    CompareOperator::LessEqual => CompareOp::Le,
                    CompareOperator::Greater => CompareOp::Gt,
                    CompareOperator::GreaterEqual => CompareOp::Ge,
                    CompareOperator::Equal => CompareOp::Eq,
                    CompareOperator::NotEqual => CompareOp::Ne,
                };
                let (x, y) = self.both(x, y, Type::Real)?;
                self.zip(&x, &y, span, |b, x, y| b.compare(op, x, y))
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments, span),
            ExprKind::Index(base, indices) => self.index(base, indices, span),
            ExprKind::Tuple(_) => {
                let message = "a tuple can stand only in `Piecewise`, `Sum` and `Product`";
                self.fail(Code::WrongKind, span, message.into(), None)
            }
        }
    }

    /// Both operands, so that the faults of both are found.
    fn both(&mut self, x: &Expr, y: &Expr, ty: Type) -> Result<(Tensor, Tensor), Poisoned> {
        let (x, y) = (self.eval_as(x, ty), self.eval_as(y, ty));
        Ok((x?, y?))
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        x: &Expr,
        y: &Expr,
        span: Range<usize>,
    ) -> Outcome {
        let arithmetic = match operator {
            BinaryOperator::Add => BinaryOp::Add,
            BinaryOperator::Subtract => BinaryOp::Sub,
            BinaryOperator::Multiply => BinaryOp::Mul,
            BinaryOperator::Divide => BinaryOp::Div,
            BinaryOperator::Modulo => BinaryOp::Rem,
            BinaryOperator::Power => {
                let (x, y) = self.both(x, y, Type::Real)?;
                return self.zip(&x, &y, span, super::power::power);
            }
            BinaryOperator::And | BinaryOperator::Or => {
                let op = match operator {
                    BinaryOperator::And => LogicOp::And,
                    _ => LogicOp::Or,
                };
                let (x, y) = self.both(x, y, Type::Bool)?;
                return self.zip(&x, &y, span, |b, x, y| b.logic(op, x, y));
            }
        };
        let (x, y) = self.both(x, y, Type::Real)?;
        self.zip(&x, &y, span, |b, x, y| b.binary(arithmetic, x, y))
    }

    /// A function of each element.
    pub(super) fn map(
        &mut self,
        x: Tensor,
        mut f: impl FnMut(&mut Builder, Value) -> Value,
    ) -> Tensor {
        let items: Vec<Value> = x.items.iter().map(|&x| f(&mut self.builder, x)).collect();
        let ty = items.first().map_or(x.ty, |&v| self.builder.type_of(v));
        Tensor { shape: x.shape, items, ty }
    }

    /// A function of each pair of elements, after numpy's broadcasting.
    pub(super) fn zip(
        &mut self,
        x: &Tensor,
        y: &Tensor,
        span: Range<usize>,
        mut f: impl FnMut(&mut Builder, Value, Value) -> Value,
    ) -> Outcome {
        let shape = broadcast_shape(&x.shape, &y.shape);
        let parts = shape.and_then(|s| Some((x.broadcast(&s)?, y.broadcast(&s)?, s)));
        let Some((xs, ys, shape)) = parts else {
            let message =
                format!("arrays of shapes {:?} and {:?} don't fit together", x.shape, y.shape);
            return self.fail(Code::WrongKind, span, message, None);
        };
        let items: Vec<Value> =
            xs.into_iter().zip(ys).map(|(x, y)| f(&mut self.builder, x, y)).collect();
        let ty = items.first().map_or(Type::Real, |&v| self.builder.type_of(v));
        Ok(Tensor { shape, items, ty })
    }

    /// Runs something with one more local name.
    pub(super) fn with_local<T>(
        &mut self,
        name: &str,
        value: Tensor,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.locals.push((name.into(), value));
        let result = f(self);
        self.locals.pop();
        result
    }

    /// Runs something in another scope, where the arguments of the present one don't count.
    pub(super) fn within<T>(
        &mut self,
        table: &'a Table<'a>,
        locals: Vec<(String, Tensor)>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = (self.table, std::mem::replace(&mut self.locals, locals), self.place);
        self.table = table;
        let result = f(self);
        (self.table, self.locals, self.place) = before;
        result
    }

    /// The first value whose condition holds; NaN where none does and there is no other value.
    pub(super) fn piecewise(
        &mut self,
        cases: Vec<(Tensor, Tensor)>,
        otherwise: Option<Tensor>,
        span: Range<usize>,
    ) -> Outcome {
        let mut result = match otherwise {
            Some(value) => value,
            None => Tensor::scalar(self.builder.constant(f64::NAN)),
        };
        for (value, condition) in cases.into_iter().rev() {
            let shape = broadcast_shape(&value.shape, &result.shape)
                .and_then(|s| broadcast_shape(&s, &condition.shape));
            let parts = shape.and_then(|s| {
                Some((condition.broadcast(&s)?, value.broadcast(&s)?, result.broadcast(&s)?, s))
            });
            let Some((conditions, values, others, shape)) = parts else {
                let message = "the cases are arrays of shapes that don't fit together";
                return self.fail(Code::WrongKind, span, message.into(), None);
            };
            let items = (0..values.len())
                .map(|i| self.builder.select(conditions[i], values[i], others[i]))
                .collect();
            result = Tensor::reals(shape, items);
        }
        Ok(result)
    }

    fn index(&mut self, base: &Expr, indices: &[Expr], span: Range<usize>) -> Outcome {
        let mut value = match &base.kind {
            ExprKind::Symbol(name) if !self.locals.iter().any(|(n, _)| n == name) => {
                match self.table.symbols.get(name) {
                    Some(Symbol::Inputs(inputs)) => self.inputs(inputs),
                    _ => self.eval(base)?,
                }
            }
            _ => self.eval(base)?,
        };
        for index in indices {
            let at = self.whole(index)?;
            let Some(&extent) = value.shape.first() else {
                let message = "this is a single number and has no elements".into();
                return self.fail(Code::WrongKind, span, message, None);
            };
            // As in Python, −1 is the last.
            let from_start = if at < 0 { at + extent as i64 } else { at };
            match usize::try_from(from_start) {
                Ok(at) if at < extent => value = value.entry(at),
                _ => {
                    let message = format!("there is no element {at}: there are {extent}");
                    return self.fail(Code::WrongKind, index.span.clone(), message, None);
                }
            }
        }
        Ok(value)
    }

    /// The whole number that a constant expression is.
    pub(super) fn whole(&mut self, expr: &Expr) -> Result<i64, Poisoned> {
        let value = self.eval_as(expr, Type::Real)?;
        match value.single().and_then(|v| self.builder.constant_of(v)) {
            Some(c) if c.fract() == 0.0 && c.abs() < 1e9 => Ok(c as i64),
            _ => {
                let message = "a whole number is needed here".into();
                self.fail(Code::WrongKind, expr.span.clone(), message, None)
            }
        }
    }
}
