//! Separation of a coupling function: `pre(x_j, x_i) = Σ_r ± a_r(x_j)·b_r(x_i)`.
//!
//! It works on instructions. A value that reads the source node alone is one factor `a`, whatever is
//! in it; a value that does not read the source is one factor `b`. A mixed value is taken apart:
//! sums and differences into their terms, products into the products of their terms (so integer
//! powers of sums expand), quotients if the divisor reads one side only, and sine, cosine and
//! exponential of a sum of both sides by their addition theorems. Terms with the same `b`, then
//! terms with the same `a`, are joined, so that `x_j + x_j·x_j − x_i` needs two sums over the
//! network and not three. The order is that of the text.
//!
//! Time belongs to the target: the factor `a` is computed when the source emits, which is earlier by
//! the delay than the time that the text means. A parameter with one value a node is the source's.

use crate::ir::{BinaryOp, Builder, Function1, Input, Inst, UnaryOp, Value};

/// More terms than this cost more than a loop over edges.
const TERMS: usize = 8;

/// One term; a missing factor is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) negative: bool,
    /// The factor that the source node emits.
    pub(super) source: Option<Value>,
    /// The factor that the target node multiplies with.
    pub(super) target: Option<Value>,
}

/// The terms of a value of `builder`, whose factors are values of `builder` too; none where it does
/// not separate.
pub(super) fn separate(
    builder: &mut Builder,
    value: Value,
    per_node: &[bool],
) -> Option<Vec<Term>> {
    Separation { builder, per_node, reads: Vec::new() }.terms(value)
}

/// Which nodes a value reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reads {
    source: bool,
    target: bool,
}

struct Separation<'b> {
    builder: &'b mut Builder,
    per_node: &'b [bool],
    reads: Vec<Reads>,
}

impl Separation<'_> {
    fn reads(&mut self, value: Value) -> Reads {
        for inst in &self.builder.insts()[self.reads.len()..] {
            let mut reads = match *inst {
                Inst::Input(Input::SourceState(_)) => Reads { source: true, target: false },
                Inst::Input(Input::Parameter(i)) => {
                    Reads { source: self.per_node[i as usize], target: false }
                }
                Inst::Input(_) => Reads { source: false, target: true },
                _ => Reads::default(),
            };
            for operand in inst.operands() {
                let of = self.reads[operand.0 as usize];
                reads.source |= of.source;
                reads.target |= of.target;
            }
            self.reads.push(reads);
        }
        self.reads[value.0 as usize]
    }

    fn terms(&mut self, value: Value) -> Option<Vec<Term>> {
        match self.reads(value) {
            Reads { source: false, .. } => {
                let one = self.builder.constant_of(value) == Some(1.0);
                let target = (!one).then_some(value);
                return Some(vec![Term { negative: false, source: None, target }]);
            }
            Reads { target: false, .. } => {
                return Some(vec![Term { negative: false, source: Some(value), target: None }]);
            }
            _ => {}
        }
        let terms = match self.builder.inst(value) {
            Inst::Unary(UnaryOp::Neg, x) => negated(self.terms(x)?),
            Inst::Binary(BinaryOp::Add, x, y) => {
                let mut terms = self.terms(x)?;
                terms.extend(self.terms(y)?);
                terms
            }
            Inst::Binary(BinaryOp::Sub, x, y) => {
                let mut terms = self.terms(x)?;
                terms.extend(negated(self.terms(y)?));
                terms
            }
            Inst::Binary(BinaryOp::Mul, x, y) => {
                let (xs, ys) = (self.terms(x)?, self.terms(y)?);
                self.product(&xs, &ys)
            }
            Inst::Binary(BinaryOp::Div, x, y) => self.quotient(x, y)?,
            Inst::Call1(Function1::Sin, x) => {
                let (s, t) = self.sides(x)?;
                let (sin_s, cos_s) = self.sin_cos(s.1);
                let (sin_t, cos_t) = self.sin_cos(t.1);
                vec![term(s.0, sin_s, cos_t), term(t.0, cos_s, sin_t)]
            }
            Inst::Call1(Function1::Cos, x) => {
                let (s, t) = self.sides(x)?;
                let (sin_s, cos_s) = self.sin_cos(s.1);
                let (sin_t, cos_t) = self.sin_cos(t.1);
                vec![term(false, cos_s, cos_t), term(s.0 == t.0, sin_s, sin_t)]
            }
            Inst::Call1(Function1::Exp, x) => {
                let (s, t) = self.sides(x)?;
                let (s, t) = (self.signed(s), self.signed(t));
                let exp_s = self.builder.call1(Function1::Exp, s);
                let exp_t = self.builder.call1(Function1::Exp, t);
                vec![term(false, exp_s, exp_t)]
            }
            _ => return None,
        };
        let terms = self.join(terms);
        (terms.len() <= TERMS).then_some(terms)
    }

    fn sin_cos(&mut self, x: Value) -> (Value, Value) {
        (self.builder.call1(Function1::Sin, x), self.builder.call1(Function1::Cos, x))
    }

    fn signed(&mut self, (negative, x): (bool, Value)) -> Value {
        if negative { self.builder.neg(x) } else { x }
    }

    fn multiply(&mut self, x: Option<Value>, y: Option<Value>) -> Option<Value> {
        match (x, y) {
            (Some(x), Some(y)) => Some(self.builder.mul(x, y)),
            (one, None) | (None, one) => one,
        }
    }

    fn product(&mut self, xs: &[Term], ys: &[Term]) -> Vec<Term> {
        let mut terms = Vec::with_capacity(xs.len() * ys.len());
        for x in xs {
            for y in ys {
                terms.push(Term {
                    negative: x.negative != y.negative,
                    source: self.multiply(x.source, y.source),
                    target: self.multiply(x.target, y.target),
                });
            }
        }
        terms
    }

    fn quotient(&mut self, x: Value, y: Value) -> Option<Vec<Term>> {
        let mut terms = self.terms(x)?;
        let Reads { source, target } = self.reads(y);
        if source && target {
            return None;
        }
        let one = self.builder.constant(1.0);
        for term in &mut terms {
            let factor = if source { &mut term.source } else { &mut term.target };
            *factor = Some(self.builder.div(factor.unwrap_or(one), y));
        }
        Some(terms)
    }

    /// A sum as one part that reads the source and one that does not, each with its sign.
    fn sides(&mut self, x: Value) -> Option<((bool, Value), (bool, Value))> {
        let (mut source, mut target) = (Vec::new(), Vec::new());
        for term in self.terms(x)? {
            match (term.source, term.target) {
                (Some(a), None) => source.push((term.negative, a)),
                // A factor without a node, such as the `k` of `sin(k*(x_j - x_i))`, goes with the
                // source.
                (Some(a), Some(b)) if !self.reads(b).target => {
                    source.push((term.negative, self.builder.mul(b, a)));
                }
                (Some(_), Some(_)) => return None,
                (None, Some(b)) => target.push((term.negative, b)),
                (None, None) => target.push((term.negative, self.builder.constant(1.0))),
            }
        }
        Some((self.sum(&source)?, self.sum(&target)?))
    }

    /// A sum of signed values, with the sign of the first.
    fn sum(&mut self, parts: &[(bool, Value)]) -> Option<(bool, Value)> {
        let (&(negative, first), rest) = parts.split_first()?;
        let mut sum = first;
        for &(sign, part) in rest {
            sum = self.add(sum, part, sign != negative);
        }
        Some((negative, sum))
    }

    fn add(&mut self, x: Value, y: Value, subtract: bool) -> Value {
        if subtract { self.builder.sub(x, y) } else { self.builder.add(x, y) }
    }

    /// Joins terms that share a factor. The joined term stands where the first of them stood.
    fn join(&mut self, terms: Vec<Term>) -> Vec<Term> {
        let mut by_target: Vec<Term> = Vec::new();
        for term in terms {
            let like = |t: &&mut Term| t.target == term.target && t.source.is_some();
            match (term.source, by_target.iter_mut().find(like)) {
                (Some(a), Some(Term { negative, source: Some(sum), .. })) => {
                    *sum = self.add(*sum, a, term.negative != *negative);
                }
                _ => by_target.push(term),
            }
        }
        let mut by_source: Vec<Term> = Vec::new();
        for term in by_target {
            match by_source.iter_mut().find(|t| t.source == term.source) {
                Some(like) => {
                    let one = self.builder.constant(1.0);
                    let (b, c) = (like.target.unwrap_or(one), term.target.unwrap_or(one));
                    like.target = Some(self.add(b, c, term.negative != like.negative));
                }
                None => by_source.push(term),
            }
        }
        by_source
    }
}

fn term(negative: bool, source: Value, target: Value) -> Term {
    Term { negative, source: Some(source), target: Some(target) }
}

fn negated(mut terms: Vec<Term>) -> Vec<Term> {
    for term in &mut terms {
        term.negative = !term.negative;
    }
    terms
}
