//! Couplings: what nodes emit, what is gathered, and the coupling inputs made from it.
//!
//! Names in `pre` and `post`, from the strongest: the coupling's own parameters (those that all
//! couplings share after those that are its alone); in `post`, `gx`;
//! `x_j` and `incoming_states` (the source's incoming states), `x_i` and `local_states` (the target's
//! local states; the incoming ones where no local states are given); `<state>_j`, `<state>_i`; the
//! plain name of a state variable (in `pre` the source's if it is an incoming state, else the
//! target's); the model's parameters and derived parameters; `t`.
//!
//! In an undelayed `pre` that names nothing of the source, `local_states` are the source's: that is
//! how a plain product of weights and states is written.
//!
//! With several modes, an input of dimension 1 sums `pre` over the modes; an input with one
//! dimension a mode keeps them apart.

use super::equation::Parsed;
use super::evaluate::{Evaluator, Model};
use super::findings::Poisoned;
use super::layout::{Layout, element_names};
use super::separate::{Term, separate};
use super::symbols::{Symbol, Table};
use super::tensor::Tensor;
use crate::diagnostic::{Code, Diagnostic};
use crate::experiment::{Coupling, Equation, Experiment, Scope};
use crate::expr::{Expr, ExprKind};
use crate::ir::{BinaryOp, Builder, Gather, GatherSource, Input, Inst, Program, Section, Value};
use indexmap::IndexMap;

/// The global factor on every coupling input.
const GLOBAL: &str = "global_coupling";

/// The sections that couplings share while they are compiled.
#[derive(Default)]
struct Sections {
    emit: Builder,
    channels: Vec<Value>,
    edges: Vec<Section>,
    gathers: Vec<Gather>,
    post: Builder,
    results: Vec<Value>,
}

/// Fills in `emit`, `edges`, `gathers`, `post` and `couplings`.
pub(super) fn lower(
    experiment: &Experiment,
    layout: &Layout,
    model: Model<'_>,
    program: &mut Program,
) {
    let mut sections = Sections::default();
    for (at, coupling) in experiment.couplings.iter().enumerate().filter(|(_, c)| c.connected) {
        let one = One { experiment, layout, model, at, coupling };
        let width = coupling.dimension.max(1);
        match one.lower(&mut sections) {
            Ok(values) => sections.results.extend(values),
            // Whatever stands here is never run, since the findings hold an error.
            Err(Poisoned) => {
                let zero = sections.post.constant(0.0);
                sections.results.extend(std::iter::repeat_n(zero, width));
            }
        }
        let shape: &[usize] = if width > 1 { &[width] } else { &[] };
        program.couplings.extend(element_names(&coupling.name, shape));
    }
    program.emit = sections.emit.finish(sections.channels);
    program.edges = sections.edges;
    program.gathers = sections.gathers;
    program.post = sections.post.finish(sections.results);
}

/// One coupling.
struct One<'a> {
    experiment: &'a Experiment,
    layout: &'a Layout,
    model: Model<'a>,
    at: usize,
    coupling: &'a Coupling,
}

/// Where a plain name or `local_states` is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Target,
}

impl Side {
    fn input(self) -> fn(u32) -> Input {
        match self {
            Self::Source => Input::SourceState,
            Self::Target => Input::State,
        }
    }
}

impl<'a> One<'a> {
    fn lower(&self, sections: &mut Sections) -> Result<Vec<Value>, Poisoned> {
        let (scratch, edge_values) = self.pre()?;
        let gathered = self.gather(scratch, &edge_values, sections)?;
        self.post(gathered, sections)
    }

    fn width(&self) -> usize {
        self.coupling.dimension.max(1)
    }

    /// The names that both expressions see.
    fn table(&self, plain: impl Fn(usize) -> Side, source_side: bool) -> Table<'a> {
        let dynamics = &self.experiment.dynamics;
        let mut symbols = IndexMap::new();
        symbols.insert("t".to_owned(), Symbol::Time);
        for (name, symbol) in self.layout.scope(self.experiment, Scope::Dynamics) {
            symbols.insert(name.to_owned(), symbol);
        }
        for derived in &dynamics.derived_parameters {
            if let Some(symbol) = self.model.dynamics.symbols.get(&derived.name) {
                symbols.insert(derived.name.clone(), symbol.clone());
            }
        }
        for (variable, state) in dynamics.state_variables.iter().enumerate() {
            let side = plain(variable);
            symbols.insert(state.name.clone(), self.layout.state(variable, side.input()));
        }
        for (variable, state) in dynamics.state_variables.iter().enumerate() {
            let sides: &[(&str, Side)] = if source_side {
                &[("j", Side::Source), ("i", Side::Target)]
            } else {
                &[("i", Side::Target)]
            };
            for (suffix, side) in sides {
                let symbol = self.layout.state(variable, side.input());
                symbols.insert(format!("{}_{suffix}", state.name), symbol);
            }
        }
        if !self.coupling.incoming_states.is_empty() && source_side {
            let symbol =
                self.layout.state_vector(&self.coupling.incoming_states, Input::SourceState);
            symbols.insert("x_j".into(), symbol.clone());
            symbols.insert("incoming_states".into(), symbol);
        }
        let locals = self.locals();
        if !locals.is_empty() {
            let symbol = self.layout.state_vector(locals, Input::State);
            symbols.insert("x_i".into(), symbol.clone());
            symbols.insert("local_states".into(), symbol);
        }
        for scope in [Scope::Couplings, Scope::Coupling(self.at)] {
            for (name, symbol) in self.layout.scope(self.experiment, scope) {
                symbols.insert(name.to_owned(), symbol);
            }
        }
        Table { symbols, functions: self.model.dynamics.functions.clone() }
    }

    fn locals(&self) -> &'a [usize] {
        if self.coupling.local_states.is_empty() {
            &self.coupling.incoming_states
        } else {
            &self.coupling.local_states
        }
    }

    /// `pre` in a builder of its own, one value for each dimension of the input.
    fn pre(&self) -> Result<(Builder, Vec<Value>), Poisoned> {
        let incoming = &self.coupling.incoming_states;
        let plain = |v| if incoming.contains(&v) { Side::Source } else { Side::Target };
        let mut table = self.table(plain, true);
        let parsed = self.coupling.pre.as_ref().map(|equation| {
            let parsed = Parsed::new(equation, &|n| table.has(n), self.model.findings);
            if !self.coupling.delayed
                && let Some(expr) = &parsed.expr
                && !self.mentions_source(expr)
                && !self.owns("local_states")
            {
                let symbol = self.layout.state_vector(self.locals(), Input::SourceState);
                table.symbols.insert("local_states".into(), symbol);
            }
            parsed
        });
        let mut evaluator = Evaluator::new(self.model, &table, Builder::default());
        let value = match &parsed {
            Some(parsed) => evaluator.real_equation(parsed)?,
            None => match incoming.first() {
                Some(&variable) => {
                    let inputs = self.layout.states(variable).map(Input::SourceState);
                    let items = inputs.map(|input| evaluator.builder.input(input)).collect();
                    Tensor::reals(self.layout.state_shape(), items)
                }
                None => return Err(self.refuse(None, "it reads no state variable")),
            },
        };
        let value = self.first_state(value);
        let value = if self.width() == 1 { evaluator.reduce(&value, BinaryOp::Add) } else { value };
        let values = self.fit(&value, self.coupling.pre.as_ref())?;
        Ok((evaluator.builder, values))
    }

    fn owns(&self, name: &str) -> bool {
        let own = [Scope::Couplings, Scope::Coupling(self.at)];
        self.experiment.parameters.iter().any(|p| own.contains(&p.scope) && p.name == name)
    }

    /// Whether an expression names something of the source other than `local_states`.
    fn mentions_source(&self, expr: &Expr) -> bool {
        let states = &self.experiment.dynamics.state_variables;
        let of_source = |name: &str| {
            let incoming = &self.coupling.incoming_states;
            matches!(name, "x_j" | "incoming_states")
                || states.iter().any(|s| name.strip_suffix("_j") == Some(&s.name))
                || incoming.iter().any(|&v| states[v].name == name)
        };
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Boolean(_) => false,
            ExprKind::Symbol(name) => of_source(name) && !self.owns(name),
            ExprKind::Unary(_, x) => self.mentions_source(x),
            ExprKind::Binary(_, x, y) | ExprKind::Compare(_, x, y) => {
                self.mentions_source(x) || self.mentions_source(y)
            }
            ExprKind::Call(_, items) | ExprKind::Tuple(items) => {
                items.iter().any(|x| self.mentions_source(x))
            }
            ExprKind::Index(base, items) => {
                self.mentions_source(base) || items.iter().any(|x| self.mentions_source(x))
            }
        }
    }

    /// The first of several states where the input has room for one, with a warning.
    fn first_state(&self, value: Tensor) -> Tensor {
        let wanted = if self.width() > 1 { vec![self.width()] } else { self.layout.state_shape() };
        if value.shape.len() <= wanted.len() || value.shape == wanted {
            return value;
        }
        let weights = self.experiment.network.matrices.get(self.coupling.matrix);
        if weights.is_some_and(|matrix| matrix.iter().all(|w| *w == 0.0)) {
            return value.entry(0);
        }
        let names: Vec<&str> = self
            .coupling
            .incoming_states
            .iter()
            .map(|&v| self.experiment.dynamics.state_variables[v].name.as_str())
            .collect();
        let message = format!(
            "the coupling `{}` computes one value for each of {}, and only the first is used",
            self.coupling.name,
            names.join(", ")
        );
        let mut warning = Diagnostic::warning(Code::Implausible, message);
        if let Some(pre) = &self.coupling.pre {
            warning = warning.at(pre.location.clone(), "");
        }
        self.model.findings.push(warning.help("index it, or set `incoming_states`"));
        value.entry(0)
    }

    fn fit(&self, value: &Tensor, at: Option<&Equation>) -> Result<Vec<Value>, Poisoned> {
        let shape: &[usize] = if self.width() > 1 { &[self.width()] } else { &[] };
        value.broadcast(shape).ok_or_else(|| {
            let found = &value.shape;
            self.refuse(at, &format!("its shape is {found:?} and its input's is {shape:?}"))
        })
    }

    fn refuse(&self, at: Option<&Equation>, why: &str) -> Poisoned {
        let name = &self.coupling.name;
        let message = format!("the coupling `{name}` can't be compiled: {why}");
        let mut diagnostic = Diagnostic::error(Code::WrongKind, message);
        if let Some(equation) = at {
            diagnostic = diagnostic.at(equation.location.clone(), "");
        }
        self.model.findings.push(diagnostic);
        Poisoned
    }

    /// `gx` for each dimension, as values of `post`.
    fn gather(
        &self,
        mut scratch: Builder,
        values: &[Value],
        sections: &mut Sections,
    ) -> Result<Vec<Value>, Poisoned> {
        let per_node = &self.layout.per_node;
        values
            .iter()
            .map(|&value| match separate(&mut scratch, value, per_node) {
                Some(terms) => Ok(self.separated(&scratch, &terms, sections)),
                None => self.edge(&scratch, value, sections),
            })
            .collect()
    }

    fn separated(&self, scratch: &Builder, terms: &[Term], sections: &mut Sections) -> Value {
        let mut sum: Option<Value> = None;
        for term in terms {
            let source = match term.source {
                None => GatherSource::Ones,
                Some(a) => GatherSource::Channel(channel(scratch, a, sections)),
            };
            let gathered = self.gathered(source, sections);
            let value = match term.target {
                None => gathered,
                Some(b) => {
                    let read = &mut |b: &mut Builder, input| b.input(input);
                    let b = sections.post.import(scratch.insts(), &[b], read)[0];
                    sections.post.mul(gathered, b)
                }
            };
            sum = Some(match sum {
                None if term.negative => sections.post.neg(value),
                None => value,
                Some(sum) if term.negative => sections.post.sub(sum, value),
                Some(sum) => sections.post.add(sum, value),
            });
        }
        sum.unwrap_or_else(|| sections.post.constant(0.0))
    }

    fn edge(
        &self,
        scratch: &Builder,
        value: Value,
        sections: &mut Sections,
    ) -> Result<Value, Poisoned> {
        let section = scratch.clone().finish(vec![value]);
        let per_node = section.insts.iter().any(|inst| {
            matches!(*inst, Inst::Input(Input::Parameter(i)) if self.layout.per_node[i as usize])
        });
        if per_node {
            let why = "it mixes source and target in a way that does not separate, and a parameter \
                       in it differs between nodes";
            return Err(self.refuse(self.coupling.pre.as_ref(), why));
        }
        let at = sections.edges.iter().position(|s| *s == section).unwrap_or_else(|| {
            sections.edges.push(section);
            sections.edges.len() - 1
        });
        Ok(self.gathered(GatherSource::Edge(at as u32), sections))
    }

    fn gathered(&self, source: GatherSource, sections: &mut Sections) -> Value {
        let gather =
            Gather { source, matrix: self.coupling.matrix as u32, delayed: self.coupling.delayed };
        let at = sections.gathers.iter().position(|g| *g == gather).unwrap_or_else(|| {
            sections.gathers.push(gather);
            sections.gathers.len() - 1
        });
        sections.post.input(Input::Gathered(at as u32))
    }

    /// The coupling input from `gx`.
    fn post(&self, gx: Vec<Value>, sections: &mut Sections) -> Result<Vec<Value>, Poisoned> {
        let shape = if self.width() > 1 { vec![self.width()] } else { Vec::new() };
        let gx = Tensor::reals(shape, gx);
        let mut values = match &self.coupling.post {
            None => gx.items,
            Some(equation) => {
                let table = self.table(|_| Side::Target, false);
                let is_symbol = |n: &str| n == "gx" || table.has(n);
                let parsed = Parsed::new(equation, &is_symbol, self.model.findings);
                let builder = std::mem::take(&mut sections.post);
                let mut evaluator = Evaluator::new(self.model, &table, builder);
                if !self.owns("gx") {
                    evaluator.bind("gx", gx);
                }
                let value = evaluator.real_equation(&parsed);
                sections.post = evaluator.builder;
                self.fit(&self.first_state(value?), Some(equation))?
            }
        };
        let parameters = &self.experiment.parameters;
        let global = parameters.iter().position(|p| p.scope == Scope::Network && p.name == GLOBAL);
        if let Some(global) = global {
            let slot = self.layout.parameters[global].start;
            let factor = sections.post.input(Input::Parameter(slot));
            for value in &mut values {
                *value = sections.post.mul(*value, factor);
            }
        }
        Ok(values)
    }
}

/// The channel that emits a factor; factors that are equal share one.
fn channel(scratch: &Builder, factor: Value, sections: &mut Sections) -> u32 {
    let value = sections.emit.import(scratch.insts(), &[factor], &mut |b, input| match input {
        Input::SourceState(i) => b.input(Input::State(i)),
        other => b.input(other),
    })[0];
    let at = sections.channels.iter().position(|&c| c == value).unwrap_or_else(|| {
        sections.channels.push(value);
        sections.channels.len() - 1
    });
    at as u32
}
