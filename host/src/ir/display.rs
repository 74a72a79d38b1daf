//! Programs as text for people: one instruction a line, `%3 = mul %1, %2`.

use super::{
    BinaryOp, Bound, CompareOp, Gather, GatherSource, Input, Inst, LogicOp, Program, Section,
    UnaryOp, Value,
};
use std::fmt::{Display, Formatter, Result};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Input {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::State(i) => write!(f, "state {i}"),
            Self::Parameter(i) => write!(f, "parameter {i}"),
            Self::Coupling(i) => write!(f, "coupling {i}"),
            Self::Gathered(i) => write!(f, "gathered {i}"),
            Self::SourceState(i) => write!(f, "source_state {i}"),
            Self::Signal(i) => write!(f, "signal {i}"),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Const(c) => return write!(f, "const {c:?}"),
            Self::Bool(b) => return write!(f, "bool {b}"),
            Self::Input(input) => return write!(f, "{input}"),
            Self::Unary(op, _) => f.write_str(unary_name(*op))?,
            Self::Binary(op, ..) => f.write_str(binary_name(*op))?,
            Self::MulAdd(..) => f.write_str("muladd")?,
            Self::Compare(op, ..) => f.write_str(compare_name(*op))?,
            Self::Logic(LogicOp::And, ..) => f.write_str("and")?,
            Self::Logic(LogicOp::Or, ..) => f.write_str("or")?,
            Self::Not(_) => f.write_str("not")?,
            Self::Select(..) => f.write_str("select")?,
            Self::Call1(function, _) => f.write_str(&format!("{function:?}").to_lowercase())?,
            Self::Call2(function, ..) => f.write_str(&format!("{function:?}").to_lowercase())?,
        }
        for (i, operand) in self.operands().enumerate() {
            write!(f, "{}{operand}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "neg",
        UnaryOp::Abs => "abs",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Floor => "floor",
        UnaryOp::Ceil => "ceil",
        UnaryOp::Trunc => "trunc",
        UnaryOp::Sign => "sign",
    }
}

fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Rem => "rem",
    }
}

fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
    }
}

impl Display for Section {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, inst) in self.insts.iter().enumerate() {
            writeln!(f, "  %{i} = {inst}")?;
        }
        f.write_str("  return")?;
        for (i, result) in self.results.iter().enumerate() {
            write!(f, "{}{result}", if i == 0 { " " } else { ", " })?;
        }
        writeln!(f)
    }
}

impl Display for Gather {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.source {
            GatherSource::Channel(i) => write!(f, "channel {i}")?,
            GatherSource::Ones => f.write_str("ones")?,
            GatherSource::Edge(i) => write!(f, "edge {i}")?,
        }
        write!(f, " weights {}", self.matrix)?;
        f.write_str(if self.delayed { " delayed" } else { "" })
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::Clamp { lo, hi } => write!(f, "clamp {lo:?} {hi:?}"),
            Self::Wrap { lo, hi } => write!(f, "wrap {lo:?} {hi:?}"),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, name) in self.states.iter().enumerate() {
            write!(f, "state {i} {name}")?;
            match self.bounds.get(i) {
                None | Some(Bound::Free) => writeln!(f)?,
                Some(bound) => writeln!(f, " {bound}")?,
            }
        }
        let named = [
            ("parameter", &self.parameters),
            ("coupling", &self.couplings),
            ("signal", &self.signals),
            ("observed", &self.observed),
        ];
        for (what, names) in named {
            for (i, name) in names.iter().enumerate() {
                writeln!(f, "{what} {i} {name}")?;
            }
        }
        for (i, gather) in self.gathers.iter().enumerate() {
            writeln!(f, "gather {i} {gather}")?;
        }
        for state in &self.noisy {
            writeln!(f, "noise {state}")?;
        }
        for (name, section) in self.sections() {
            if !section.insts.is_empty() || !section.results.is_empty() {
                write!(f, "{name}:\n{section}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Function1};

    #[test]
    fn a_program_reads_from_top_to_bottom() {
        let mut b = Builder::default();
        let (x, half) = (b.input(Input::State(0)), b.constant(0.5));
        let below = b.compare(CompareOp::Lt, x, half);
        let sine = b.call1(Function1::Sin, x);
        let drift = b.select(below, sine, half);
        let program = Program {
            states: vec!["theta".into()],
            bounds: vec![Bound::Wrap { lo: 0.0, hi: 1.0 }],
            gathers: vec![Gather { source: GatherSource::Ones, matrix: 0, delayed: true }],
            drift: b.finish(vec![drift]),
            ..Program::default()
        };
        let expected = "\
state 0 theta wrap 0.0 1.0
gather 0 ones weights 0 delayed
drift:
  %0 = state 0
  %1 = const 0.5
  %2 = lt %0, %1
  %3 = sin %0
  %4 = select %2, %3, %1
  return %4
";
        assert_eq!(program.to_string(), expected);
    }
}
