//! Functions of a transform.

use super::value::{self, Value};
use super::{Matrices, TransformError, conditions, eval, numbers};
use crate::expr::{Expr, ExprKind};
use nalgebra::DMatrix;

pub(super) fn call(
    name: &str,
    arguments: &[Expr],
    whole: &Expr,
    matrices: &Matrices<'_>,
) -> Result<Value, TransformError> {
    if name == "Piecewise" {
        return piecewise(arguments, whole, matrices);
    }
    let arity = |expected| TransformError::Arity {
        name: name.to_string(),
        expected,
        found: arguments.len(),
        span: whole.span.clone(),
    };
    if let Some(function) = elementwise(name) {
        let [argument] = arguments else { return Err(arity("1")) };
        return Ok(numbers(argument, matrices)?.map(function));
    }
    if let Some(function) = two(name) {
        let [a, b] = arguments else { return Err(arity("2")) };
        return Ok(numbers(a, matrices)?.zip(&numbers(b, matrices)?, function));
    }
    if let Some(function) = reduction(name)
        && let [argument] = arguments
    {
        return Ok(Value::number(function(numbers(argument, matrices)?.entries())));
    }
    let fold: fn(f64, f64) -> f64 = match name {
        "Min" | "min" | "minimum" => least_of,
        "Max" | "max" | "maximum" => largest_of,
        "log" | "ln" => {
            return logarithm(arguments, matrices).unwrap_or_else(|| Err(arity("1 or 2")));
        }
        "where" => {
            let [condition, yes, no] = arguments else { return Err(arity("3")) };
            let condition = conditions(condition, matrices)?;
            return Ok(condition.choose(&numbers(yes, matrices)?, &numbers(no, matrices)?));
        }
        "sum" | "mean" | "std" => return Err(arity("1")),
        _ => {
            let (name, span) = (name.to_string(), whole.span.clone());
            return Err(TransformError::UnknownFunction { name, span });
        }
    };
    let [first, rest @ ..] = arguments else { return Err(arity("at least 1")) };
    let first = numbers(first, matrices)?;
    rest.iter().try_fold(first, |folded, next| Ok(folded.zip(&numbers(next, matrices)?, fold)))
}

/// NaN if either is, unlike [`f64::min`].
fn least_of(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// NaN if either is, unlike [`f64::max`].
fn largest_of(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

fn elementwise(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "exp" => f64::exp,
        "log10" => f64::log10,
        "log2" => f64::log2,
        "log1p" => f64::ln_1p,
        "sqrt" => f64::sqrt,
        "abs" | "Abs" => f64::abs,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "tanh" => f64::tanh,
        "sign" => |x| if x == 0.0 { 0.0 } else { x.signum() },
        "floor" => f64::floor,
        "ceiling" | "ceil" => f64::ceil,
        _ => return None,
    })
}

fn two(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "pow" | "Pow" => f64::powf,
        "Mod" => |a, b| a - b * (a / b).floor(),
        "atan2" => f64::atan2,
        _ => return None,
    })
}

fn reduction(name: &str) -> Option<fn(&DMatrix<f64>) -> f64> {
    Some(match name {
        "min" | "Min" => value::least,
        "max" | "Max" => value::largest,
        "sum" => |m| m.sum(),
        "mean" => |m| m.mean(),
        "std" => |m| m.variance().sqrt(),
        _ => return None,
    })
}

fn logarithm(arguments: &[Expr], matrices: &Matrices<'_>) -> Option<Result<Value, TransformError>> {
    match arguments {
        [x] => Some(numbers(x, matrices).map(|x| x.map(f64::ln))),
        [x, base] => Some(numbers(x, matrices).and_then(|x| {
            let base = numbers(base, matrices)?;
            Ok(x.zip(&base, |x, base| x.ln() / base.ln()))
        })),
        _ => None,
    }
}

/// The value of the first case whose condition holds; NaN where none does.
fn piecewise(
    cases: &[Expr],
    whole: &Expr,
    matrices: &Matrices<'_>,
) -> Result<Value, TransformError> {
    let mut chosen = Value::number(f64::NAN);
    for case in cases.iter().rev() {
        match &case.kind {
            ExprKind::Tuple(parts) if parts.len() == 2 => {
                let value = numbers(&parts[0], matrices)?;
                chosen = conditions(&parts[1], matrices)?.choose(&value, &chosen);
            }
            // A last value without a condition.
            _ if std::ptr::eq(case, cases.last().unwrap_or(whole)) => {
                chosen = eval(case, matrices)?;
            }
            _ => {
                return Err(TransformError::Unsupported {
                    what: "a case without a condition",
                    span: case.span.clone(),
                });
            }
        }
    }
    Ok(chosen)
}
