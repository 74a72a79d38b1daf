//! Names in expressions: inputs, definitions, functions and stimuli.

use super::evaluate::{Evaluator, Outcome};
use super::findings::Poisoned;
use super::nearest::nearest;
use super::symbols::{Definition, Inputs, Symbol};
use super::tensor::Tensor;
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::function;
use crate::ir::{Input, Type, Value};
use std::ops::Range;

impl<'a> Evaluator<'a> {
    /// A value from outside, or what an event has assigned to it.
    fn input(&mut self, input: Input) -> Value {
        match (&self.states, input) {
            (Some(states), Input::State(i)) => states[i as usize],
            _ => self.builder.input(input),
        }
    }

    pub(super) fn inputs(&mut self, inputs: &Inputs) -> Tensor {
        let items = inputs.inputs.iter().map(|&i| self.input(i)).collect();
        Tensor::reals(inputs.shape.clone(), items)
    }

    pub(super) fn symbol(&mut self, name: &str, span: Range<usize>) -> Outcome {
        if let Some((_, value)) = self.locals.iter().rev().find(|(n, _)| n == name) {
            return Ok(value.clone());
        }
        let Some(symbol) = self.table.symbols.get(name) else {
            return match function::constant(name) {
                Some(value) => Ok(Tensor::scalar(self.builder.constant(value))),
                None => self.unknown(name, span),
            };
        };
        match symbol {
            Symbol::Time => Ok(Tensor::scalar(self.builder.input(Input::Time))),
            Symbol::Zero(shape) => {
                let items = vec![self.builder.constant(0.0); shape.iter().product()];
                Ok(Tensor::reals(shape.clone(), items))
            }
            Symbol::Inputs(inputs) => {
                let value = self.inputs(inputs);
                Ok(if inputs.vector && value.shape[0] == 1 { value.entry(0) } else { value })
            }
            Symbol::Derived(at) => self.definition(*at),
            Symbol::Stimuli(which) => {
                let mut sum: Option<Tensor> = None;
                for &at in which {
                    let next = self.stimulus(at)?;
                    sum = Some(match sum {
                        None => next,
                        Some(sum) => self.zip(&sum, &next, span.clone(), |b, x, y| b.add(x, y))?,
                    });
                }
                sum.map_or_else(|| Ok(Tensor::scalar(self.builder.constant(0.0))), Ok)
            }
        }
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> Outcome {
        let known = self.table.symbols.keys().map(String::as_str);
        let known = known.chain(self.locals.iter().map(|(n, _)| n.as_str()));
        let help = match (nearest(name, known), name) {
            _ if self.table.functions.contains_key(name) || function::arity(name).is_some() => {
                Some(format!("`{name}` is a function: write `{name}(...)`"))
            }
            _ if self.model.dynamics.has(name) => Some(format!(
                "`{name}` belongs to the model; a coupling reads parameters, derived parameters and \
                 state variables"
            )),
            (Some(near), _) => Some(format!("did you mean `{near}`?")),
            (None, "I") => Some("complex numbers are not supported".into()),
            (None, _) => None,
        };
        self.fail(Code::UnknownSymbol, span, format!("nothing defines the symbol `{name}`"), help)
    }

    /// The value of a derived parameter or variable.
    pub(super) fn definition(&mut self, at: usize) -> Outcome {
        if let Some(known) = &self.known[at] {
            return known.clone();
        }
        let definitions = self.model.definitions;
        if let Some(start) = self.circle.iter().position(|&open| open == at) {
            return self.report_circle(&self.circle[start..]);
        }
        self.circle.push(at);
        let result = self.within(self.model.dynamics, Vec::new(), |e| e.compute(&definitions[at]));
        self.circle.pop();
        self.known[at] = Some(result.clone());
        result
    }

    fn report_circle(&self, circle: &[usize]) -> Outcome {
        // Start at the first in the file, so that the same circle is reported once.
        let first = circle.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(i, _)| i);
        let ordered: Vec<&Definition<'_>> = (0..circle.len())
            .map(|i| &self.model.definitions[circle[(first + i) % circle.len()]])
            .collect();
        let names: Vec<&str> = ordered.iter().map(|d| d.name).collect();
        let message = match names.as_slice() {
            [one] => format!("`{one}` depends on itself"),
            many => format!("{} → {} depend on each other in a circle", many.join(" → "), many[0]),
        };
        let mut diagnostic = Diagnostic::error(Code::Cycle, message);
        for definition in ordered {
            diagnostic = diagnostic.at(definition.location.clone(), "");
        }
        self.model.findings.push(diagnostic);
        Err(Poisoned)
    }

    fn compute(&mut self, definition: &'a Definition<'a>) -> Outcome {
        let mut cases = Vec::new();
        for (condition, value) in &definition.cases {
            let value = self.real_equation(value);
            let condition = self.equation(condition).and_then(|c| {
                self.place = Some(condition.place);
                let span = 0..condition.expr.as_ref().map_or(0, |e| e.span.end);
                self.expect(c, Type::Bool, span)
            });
            cases.push((value, condition));
        }
        let otherwise = match &definition.otherwise {
            Some(parsed) => Some(self.real_equation(parsed)?),
            None => None,
        };
        let cases: Result<Vec<_>, Poisoned> =
            cases.into_iter().map(|(v, c)| Ok((v?, c?))).collect();
        self.piecewise(cases?, otherwise, 0..0)
    }

    /// A call of one of the model's own functions, written out in place.
    pub(super) fn user_call(
        &mut self,
        name: &str,
        arguments: Vec<Tensor>,
        span: Range<usize>,
    ) -> Outcome {
        let functions = &self.model.dynamics.functions;
        let Some(function) = functions.get(name) else { return Err(Poisoned) };
        if function.arguments.len() != arguments.len() {
            let (needs, has) = (function.arguments.len(), arguments.len());
            let message =
                format!("the function `{name}` takes {needs} arguments and was given {has}");
            let help = format!("its arguments are: {}", function.arguments.join(", "));
            return self.fail(Code::WrongArity, span, message, Some(help));
        }
        if self.calls.iter().any(|open| open == name) {
            let message = format!("the function `{name}` calls itself");
            return self.fail(Code::Cycle, span, message, None);
        }
        self.calls.push(name.into());
        let locals = function.arguments.iter().cloned().zip(arguments).collect();
        let result = self.within(self.model.dynamics, locals, |e| e.equation(&function.body));
        self.calls.pop();
        result
    }

    /// The weighted time course of a stimulus.
    pub(super) fn stimulus(&mut self, at: usize) -> Outcome {
        let stimulus = &self.model.stimuli[at];
        let value =
            self.within(&stimulus.table, Vec::new(), |e| e.real_equation(&stimulus.equation))?;
        let weight = Tensor::scalar(self.builder.input(stimulus.weight));
        self.zip(&weight, &value, 0..0, |b, w, x| b.mul(w, x))
    }
}
