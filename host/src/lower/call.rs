//! Calls of the functions that the language knows.

use super::evaluate::{Evaluator, Outcome};
use super::findings::Poisoned;
use super::nearest::nearest;
use super::tensor::Tensor;
use crate::diagnostic::Code;
use crate::expr::{Expr, ExprKind, function};
use crate::ir::{BinaryOp, Builder, CompareOp, Function1, Function2, Type, UnaryOp, Value};
use std::ops::Range;

/// Terms that a `Sum` or `Product` may have.
const TERMS: i64 = 10_000;

impl<'a> Evaluator<'a> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Expr], span: Range<usize>) -> Outcome {
        if self.model.dynamics.functions.contains_key(name) {
            let values: Vec<Outcome> = arguments.iter().map(|a| self.eval(a)).collect();
            let values: Result<Vec<Tensor>, Poisoned> = values.into_iter().collect();
            return self.user_call(name, values?, span);
        }
        let Some((fewest, most)) = function::arity(name) else {
            return self.unknown_function(name, span);
        };
        if !(fewest..=most).contains(&arguments.len()) {
            let needs = match (fewest, most) {
                (a, b) if a == b => format!("{a}"),
                (a, usize::MAX) => format!("at least {a}"),
                (a, b) => format!("{a} to {b}"),
            };
            let has = arguments.len();
            let message = format!("`{name}` takes {needs} arguments and was given {has}");
            return self.fail(Code::WrongArity, span, message, None);
        }
        match name {
            "Piecewise" => return self.piecewise_call(arguments, span),
            "Sum" => return self.series(arguments, BinaryOp::Add, 0.0),
            "Product" => return self.series(arguments, BinaryOp::Mul, 1.0),
            "And" | "Or" => return self.junction(name, arguments, span),
            _ => {}
        }
        let values: Vec<Outcome> = arguments.iter().map(|a| self.eval_as(a, Type::Real)).collect();
        let values: Result<Vec<Tensor>, Poisoned> = values.into_iter().collect();
        self.numeric(name, values?, span)
    }

    fn unknown_function(&self, name: &str, span: Range<usize>) -> Outcome {
        let mut known: Vec<&str> = self.model.dynamics.functions.keys().copied().collect();
        known.extend(function::names().map(|name| -> &str { name }));
        let near = nearest(name, known.into_iter());
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let name_span = span.start..span.start + name.len();
        let message = format!("there is no function `{name}`");
        self.fail(Code::UnknownSymbol, name_span, message, help)
    }

    fn numeric(&mut self, name: &str, mut values: Vec<Tensor>, span: Range<usize>) -> Outcome {
        let first = values.remove(0);
        if let Some(function) = function1(name) {
            return Ok(self.map(first, |b, x| b.call1(function, x)));
        }
        if let Some(op) = unary(name) {
            return Ok(self.map(first, |b, x| b.unary(op, x)));
        }
        match name {
            "log" | "ln" => {
                let result = self.map(first, |b, x| b.call1(Function1::Ln, x));
                let Some(base) = values.pop() else { return Ok(result) };
                let base = self.map(base, |b, x| b.call1(Function1::Ln, x));
                self.zip(&result, &base, span, |b, x, y| b.div(x, y))
            }
            "atan2" => {
                self.zip(&first, &values[0], span, |b, y, x| b.call2(Function2::Atan2, y, x))
            }
            "Heaviside" => match values.pop() {
                None => Ok(self.map(first, heaviside)),
                Some(at_zero) => self.zip(&first, &at_zero, span, heaviside_with),
            },
            "Min" | "min" => self.extreme(first, values, BinaryOp::Min, span),
            "Max" | "max" => self.extreme(first, values, BinaryOp::Max, span),
            "sum" | "mode_sum" => Ok(self.reduce(&first, BinaryOp::Add)),
            "prod" => Ok(self.reduce(&first, BinaryOp::Mul)),
            "mean" => {
                let count = self.builder.constant(first.items.len() as f64);
                let sum = self.reduce(&first, BinaryOp::Add);
                Ok(self.map(sum, |b, x| b.div(x, count)))
            }
            "mode_dot" => self.mode_dot(&first, &values[0], span),
            _ => {
                let message = format!("`{name}` can't be compiled here");
                self.fail(Code::Unsupported, span, message, None)
            }
        }
    }

    /// All elements, from the first to the last.
    pub(super) fn reduce(&mut self, x: &Tensor, op: BinaryOp) -> Tensor {
        let items = x.items.iter().copied();
        let whole = items.reduce(|x, y| self.builder.binary(op, x, y));
        Tensor::scalar(whole.unwrap_or_else(|| self.builder.constant(0.0)))
    }

    /// The least or greatest of several, or of the elements of one array.
    fn extreme(
        &mut self,
        first: Tensor,
        others: Vec<Tensor>,
        op: BinaryOp,
        span: Range<usize>,
    ) -> Outcome {
        if others.is_empty() {
            return Ok(self.reduce(&first, op));
        }
        let mut result = first;
        for other in others {
            result = self.zip(&result, &other, span.clone(), |b, x, y| b.binary(op, x, y))?;
        }
        Ok(result)
    }

    /// The product of an array over modes and a matrix: `(x·A)_m = Σ_k x_k·A[k, m]` for
    /// `mode_dot(x, A)`, `(A·x)_m = Σ_k A[m, k]·x_k` for `mode_dot(A, x)`; of two arrays, their
    /// scalar product. Sums start at k = 0.
    fn mode_dot(&mut self, x: &Tensor, y: &Tensor, span: Range<usize>) -> Outcome {
        let fits = match (x.shape.as_slice(), y.shape.as_slice()) {
            ([k], [rows, _]) => k == rows,
            ([_, columns], [k]) => k == columns,
            ([k], [l]) => k == l,
            _ => false,
        };
        if !fits {
            let message =
                format!("`mode_dot` can't multiply shapes {:?} and {:?}", x.shape, y.shape);
            let help = "it takes an array over modes and a matrix, in either order".to_owned();
            return self.fail(Code::WrongKind, span, message, Some(help));
        }
        let inner = *x.shape.last().unwrap_or(&1);
        let rows = x.items.len() / inner;
        let columns = y.items.len() / inner;
        let mut items = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let terms: Vec<Value> = (0..inner)
                    .map(|k| {
                        let (x, y) = (x.items[row * inner + k], y.items[k * columns + column]);
                        self.builder.mul(x, y)
                    })
                    .collect();
                items.push(self.reduce(&Tensor::reals(vec![inner], terms), BinaryOp::Add).items[0]);
            }
        }
        let shape = if items.len() == 1 { Vec::new() } else { vec![items.len()] };
        Ok(Tensor::reals(shape, items))
    }

    fn piecewise_call(&mut self, arguments: &[Expr], span: Range<usize>) -> Outcome {
        let mut cases = Vec::new();
        for case in arguments {
            let ExprKind::Tuple(parts) = &case.kind else {
                return self.not_a_case(case);
            };
            let [value, condition] = parts.as_slice() else {
                return self.not_a_case(case);
            };
            let value = self.eval_as(value, Type::Real);
            let condition = self.eval_as(condition, Type::Bool);
            cases.push((value, condition));
        }
        let cases: Result<Vec<_>, Poisoned> =
            cases.into_iter().map(|(v, c)| Ok((v?, c?))).collect();
        self.piecewise(cases?, None, span)
    }

    fn not_a_case(&self, case: &Expr) -> Outcome {
        let message = "a case of `Piecewise` is `(value, condition)`".into();
        self.fail(Code::WrongKind, case.span.clone(), message, None)
    }

    /// `Sum(f(i), (i, lo, hi))`, both ends included, written out from the first term.
    fn series(&mut self, arguments: &[Expr], op: BinaryOp, empty: f64) -> Outcome {
        let range = &arguments[1];
        let parts = match &range.kind {
            ExprKind::Tuple(parts) => parts.as_slice(),
            _ => &[],
        };
        let [Expr { kind: ExprKind::Symbol(index), .. }, lo, hi] = parts else {
            let message = "the range is written `(i, first, last)`".into();
            return self.fail(Code::WrongKind, range.span.clone(), message, None);
        };
        let (lo, hi) = (self.whole(lo)?, self.whole(hi)?);
        if hi - lo >= TERMS {
            let message = format!("a range of more than {TERMS} terms can't be written out");
            return self.fail(Code::TooLarge, range.span.clone(), message, None);
        }
        let mut result: Option<Tensor> = None;
        for at in lo..=hi {
            let value = self.builder.constant(at as f64);
            let term = self.with_local(index, Tensor::scalar(value), |e| {
                e.eval_as(&arguments[0], Type::Real)
            })?;
            result = Some(match result {
                None => term,
                Some(sum) => {
                    let span = arguments[0].span.clone();
                    self.zip(&sum, &term, span, |b, x, y| b.binary(op, x, y))?
                }
            });
        }
        Ok(result.unwrap_or_else(|| Tensor::scalar(self.builder.constant(empty))))
    }

    /// `And` or `Or` of one argument or very many; others were made operators by the parser.
    fn junction(&mut self, name: &str, arguments: &[Expr], span: Range<usize>) -> Outcome {
        let op = match name {
            "And" => crate::ir::LogicOp::And,
            _ => crate::ir::LogicOp::Or,
        };
        let mut result = self.eval_as(&arguments[0], Type::Bool)?;
        for argument in &arguments[1..] {
            let next = self.eval_as(argument, Type::Bool)?;
            result = self.zip(&result, &next, span.clone(), |b, x, y| b.logic(op, x, y))?;
        }
        Ok(result)
    }
}

/// 0 below zero, 1/2 at zero, 1 above, NaN for NaN: `(sign(x) + 1)/2`, which is exact.
fn heaviside(b: &mut Builder, x: Value) -> Value {
    let (one, half) = (b.constant(1.0), b.constant(0.5));
    let sign = b.unary(UnaryOp::Sign, x);
    let shifted = b.add(sign, one);
    b.mul(shifted, half)
}

/// The same with another value at zero.
fn heaviside_with(b: &mut Builder, x: Value, at_zero: Value) -> Value {
    let zero = b.constant(0.0);
    let is_zero = b.compare(CompareOp::Eq, x, zero);
    let elsewhere = heaviside(b, x);
    b.select(is_zero, at_zero, elsewhere)
}

fn function1(name: &str) -> Option<Function1> {
    Some(match name {
        "exp" => Function1::Exp,
        "expm1" => Function1::Expm1,
        "log1p" => Function1::Ln1p,
        "log2" => Function1::Log2,
        "log10" => Function1::Log10,
        "sin" => Function1::Sin,
        "cos" => Function1::Cos,
        "tan" => Function1::Tan,
        "sinh" => Function1::Sinh,
        "cosh" => Function1::Cosh,
        "tanh" => Function1::Tanh,
        "asin" => Function1::Asin,
        "acos" => Function1::Acos,
        "atan" => Function1::Atan,
        "erf" => Function1::Erf,
        "erfc" => Function1::Erfc,
        _ => return None,
    })
}

fn unary(name: &str) -> Option<UnaryOp> {
    Some(match name {
        "sqrt" => UnaryOp::Sqrt,
        "Abs" | "abs" => UnaryOp::Abs,
        "sign" => UnaryOp::Sign,
        "floor" => UnaryOp::Floor,
        "ceiling" | "ceil" => UnaryOp::Ceil,
        _ => return None,
    })
}
