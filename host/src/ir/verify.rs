//! The rules that every engine relies on, checked once.
//!
//! 1. An instruction reads only values of earlier instructions of its section.
//! 2. Operands have the types that the instruction asks for.
//! 3. An input is one that its section may read, and its index is in range.
//! 4. Results exist, are real, and are as many as the section's kind fixes: `emit` any number, an
//!    edge one, `post` one a coupling input, `drift` one a state, `diffusion` one a noisy state,
//!    `events` one a state or none, `observe` one an observed name.
//! 5. A gather reads a channel or an edge section that exists.
//! 6. There is one bound a state, with `lo ≤ hi`, finite and `lo < hi` for a wrap.
//! 7. Noisy states exist and ascend.

use super::{Bound, GatherSource, Input, Inst, Program, Section, Type, Value};

/// Something that was checked and can't be changed any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    /// Gives up the guarantee.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> std::ops::Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A rule that a program breaks. It is a fault of whatever made the program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VerifyError {
    /// Rule 1.
    #[error("{section}: %{inst} reads {operand}, which is not defined before it")]
    Order {
        /// The section's name.
        section: String,
        /// The guilty instruction.
        inst: usize,
        /// What it reads.
        operand: Value,
    },
    /// Rule 2.
    #[error("{section}: operand {operand} of %{inst} is not {expected:?}")]
    OperandType {
        /// The section's name.
        section: String,
        /// The guilty instruction.
        inst: usize,
        /// What it reads.
        operand: Value,
        /// The type that it should have.
        expected: Type,
    },
    /// Rule 3, the kind.
    #[error("{section}: %{inst} reads `{input}`, which this section may not")]
    InputKind {
        /// The section's name.
        section: String,
        /// The guilty instruction.
        inst: usize,
        /// What it reads.
        input: Input,
    },
    /// Rule 3, the index.
    #[error("{section}: %{inst} reads `{input}`, and there are only {count}")]
    InputRange {
        /// The section's name.
        section: String,
        /// The guilty instruction.
        inst: usize,
        /// What it reads.
        input: Input,
        /// How many there are.
        count: usize,
    },
    /// Rule 4, the number.
    #[error("{section} has {found} results and should have {expected}")]
    ResultCount {
        /// The section's name.
        section: String,
        /// Results it has.
        found: usize,
        /// Results it should have.
        expected: usize,
    },
    /// Rule 4, existence and type.
    #[error("{section}: result {result} is not a real value of the section")]
    Result {
        /// The section's name.
        section: String,
        /// The guilty result.
        result: Value,
    },
    /// Rule 5.
    #[error("gather {gather} reads a channel or edge section that does not exist")]
    GatherSource {
        /// The guilty gather.
        gather: usize,
    },
    /// Rule 6.
    #[error("there are {found} bounds for {states} states")]
    BoundCount {
        /// Bounds there are.
        found: usize,
        /// States there are.
        states: usize,
    },
    /// Rule 6.
    #[error("the bounds of state {state} are empty or not finite")]
    Bound {
        /// The state.
        state: usize,
    },
    /// Rule 7.
    #[error("the noisy states do not exist or do not ascend")]
    Noisy,
}

/// Checks the rules.
///
/// # Errors
/// The first rule that is broken.
pub fn verify(program: Program) -> Result<Verified<Program>, VerifyError> {
    for (name, section) in program.sections() {
        check_section(&program, &name, section)?;
    }
    for (at, gather) in program.gathers.iter().enumerate() {
        let exists = match gather.source {
            GatherSource::Channel(i) => (i as usize) < program.emit.results.len(),
            GatherSource::Edge(i) => (i as usize) < program.edges.len(),
            GatherSource::Ones => true,
        };
        if !exists {
            return Err(VerifyError::GatherSource { gather: at });
        }
    }
    check_states(&program)?;
    Ok(Verified(program))
}

fn check_states(program: &Program) -> Result<(), VerifyError> {
    let states = program.states.len();
    if program.bounds.len() != states {
        return Err(VerifyError::BoundCount { found: program.bounds.len(), states });
    }
    for (state, bound) in program.bounds.iter().enumerate() {
        let sound = match *bound {
            Bound::Free => true,
            Bound::Clamp { lo, hi } => lo <= hi,
            Bound::Wrap { lo, hi } => lo < hi && lo.is_finite() && hi.is_finite(),
        };
        if !sound {
            return Err(VerifyError::Bound { state });
        }
    }
    let ascending = program.noisy.is_sorted_by(|a, b| a < b);
    if !ascending || program.noisy.last().is_some_and(|&last| last as usize >= states) {
        return Err(VerifyError::Noisy);
    }
    Ok(())
}

/// How many of an input there are; none where the section may not read it.
fn available(program: &Program, section: &str, input: Input) -> Option<usize> {
    let edge = section.starts_with("edge");
    let node = matches!(section, "drift" | "events" | "observe");
    match input {
        Input::Parameter(_) => Some(program.parameters.len()),
        Input::Time if section != "diffusion" => Some(usize::MAX),
        Input::State(_) if section != "diffusion" => Some(program.states.len()),
        Input::SourceState(_) if edge => Some(program.states.len()),
        Input::Gathered(_) if section == "post" => Some(program.gathers.len()),
        Input::Coupling(_) if node => Some(program.couplings.len()),
        Input::Signal(_) if node => Some(program.signals.len()),
        _ => None,
    }
}

fn index(input: Input) -> usize {
    match input {
        Input::Time => 0,
        Input::State(i)
        | Input::Parameter(i)
        | Input::Coupling(i)
        | Input::Gathered(i)
        | Input::SourceState(i)
        | Input::Signal(i) => i as usize,
    }
}

fn expected_results(program: &Program, section: &str, found: usize) -> usize {
    match section {
        "emit" => found,
        "post" => program.couplings.len(),
        "drift" => program.states.len(),
        "diffusion" => program.noisy.len(),
        "events" if found == 0 => 0,
        "events" => program.states.len(),
        "observe" => program.observed.len(),
        _ => 1,
    }
}

fn check_section(program: &Program, name: &str, section: &Section) -> Result<(), VerifyError> {
    let owned = || name.to_owned();
    for (at, inst) in section.insts.iter().enumerate() {
        for (place, operand) in inst.operands().enumerate() {
            if operand.0 as usize >= at {
                return Err(VerifyError::Order { section: owned(), inst: at, operand });
            }
            let expected = inst.operand_type(place);
            if section.insts[operand.0 as usize].result_type() != expected {
                let section = owned();
                return Err(VerifyError::OperandType { section, inst: at, operand, expected });
            }
        }
        if let Inst::Input(input) = *inst {
            match available(program, name, input) {
                None => return Err(VerifyError::InputKind { section: owned(), inst: at, input }),
                Some(count) if index(input) >= count => {
                    let section = owned();
                    return Err(VerifyError::InputRange { section, inst: at, input, count });
                }
                Some(_) => {}
            }
        }
    }
    let found = section.results.len();
    let expected = expected_results(program, name, found);
    if found != expected {
        return Err(VerifyError::ResultCount { section: owned(), found, expected });
    }
    for &result in &section.results {
        let inst = section.insts.get(result.0 as usize);
        if inst.is_none_or(|inst| inst.result_type() != Type::Real) {
            return Err(VerifyError::Result { section: owned(), result });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BinaryOp, CompareOp, Gather, LogicOp};

    /// One state, one parameter, their product as drift.
    fn sound() -> Program {
        Program {
            states: vec!["x".into()],
            parameters: vec!["p".into()],
            bounds: vec![Bound::Free],
            drift: Section {
                insts: vec![
                    Inst::Input(Input::State(0)),
                    Inst::Input(Input::Parameter(0)),
                    Inst::Binary(BinaryOp::Mul, Value(0), Value(1)),
                ],
                results: vec![Value(2)],
            },
            ..Program::default()
        }
    }

    #[test]
    fn a_sound_program_passes() {
        assert_eq!(verify(sound()).unwrap().into_inner(), sound());
    }

    #[test]
    fn every_rule_is_checked() {
        type Break = fn(&mut Program);
        let section = || "drift".to_owned();
        let cases: [(Break, VerifyError); 12] = [
            (
                |p| p.drift.insts[2] = Inst::Binary(BinaryOp::Mul, Value(0), Value(2)),
                VerifyError::Order { section: section(), inst: 2, operand: Value(2) },
            ),
            (
                |p| p.drift.insts[2] = Inst::Logic(LogicOp::And, Value(0), Value(1)),
                VerifyError::OperandType {
                    section: section(),
                    inst: 2,
                    operand: Value(0),
                    expected: Type::Bool,
                },
            ),
            (
                |p| p.drift.insts[1] = Inst::Input(Input::Gathered(0)),
                VerifyError::InputKind { section: section(), inst: 1, input: Input::Gathered(0) },
            ),
            (
                |p| p.drift.insts[1] = Inst::Input(Input::Parameter(1)),
                VerifyError::InputRange {
                    section: section(),
                    inst: 1,
                    input: Input::Parameter(1),
                    count: 1,
                },
            ),
            (
                |p| p.drift.results.clear(),
                VerifyError::ResultCount { section: section(), found: 0, expected: 1 },
            ),
            (
                |p| p.drift.results[0] = Value(3),
                VerifyError::Result { section: section(), result: Value(3) },
            ),
            (
                |p| p.drift.insts[2] = Inst::Compare(CompareOp::Lt, Value(0), Value(1)),
                VerifyError::Result { section: section(), result: Value(2) },
            ),
            (
                |p| {
                    let source = GatherSource::Channel(0);
                    p.gathers.push(Gather { source, matrix: 0, delayed: false });
                },
                VerifyError::GatherSource { gather: 0 },
            ),
            (|p| p.bounds.clear(), VerifyError::BoundCount { found: 0, states: 1 }),
            (
                |p| p.bounds[0] = Bound::Wrap { lo: 0.0, hi: f64::INFINITY },
                VerifyError::Bound { state: 0 },
            ),
            (|p| p.bounds[0] = Bound::Clamp { lo: 1.0, hi: 0.0 }, VerifyError::Bound { state: 0 }),
            (
                |p| {
                    p.noisy.push(1);
                    p.diffusion = Section {
                        insts: vec![Inst::Input(Input::Parameter(0))],
                        results: vec![Value(0)],
                    };
                },
                VerifyError::Noisy,
            ),
        ];
        for (spoil, expected) in cases {
            let mut program = sound();
            spoil(&mut program);
            assert_eq!(verify(program).unwrap_err(), expected);
        }
    }
}
