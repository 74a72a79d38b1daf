//! Common values: a section made anew through the builder, which shares, folds and drops.

use crate::ir::{Builder, Section};

/// The same results from the fewest instructions that the builder can find.
#[must_use]
pub fn share(section: &Section) -> Section {
    let mut builder = Builder::default();
    let results = builder.import(&section.insts, &section.results, &mut |b, input| b.input(input));
    builder.finish(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::interp::{Real, run_section};
    use crate::ir::{BinaryOp, CompareOp, Function1, Input, Inst, LogicOp, Type, UnaryOp, Value};
    use proptest::prelude::*;

    #[test]
    fn the_same_sum_twice_becomes_one() {
        let insts = vec![
            Inst::Input(Input::State(0)),
            Inst::Input(Input::State(0)),
            Inst::Binary(BinaryOp::Add, Value(0), Value(1)),
            Inst::Binary(BinaryOp::Add, Value(1), Value(0)),
            Inst::Binary(BinaryOp::Mul, Value(2), Value(3)),
        ];
        let shared = share(&Section { insts, results: vec![Value(4)] });
        assert_eq!(shared.insts.len(), 3);
        assert_eq!(shared.results, [Value(2)]);
    }

    const CONSTANTS: [f64; 12] =
        [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, 0.1, 16_777_217.0, 1e-300, f64::INFINITY, f64::NAN];

    /// A section in which every choice is a number, taken modulo what there is to choose from.
    fn section(choices: &[(u8, u16, u16, u16)]) -> Section {
        let mut insts = vec![Inst::Input(Input::State(0)), Inst::Bool(true)];
        for &(kind, a, b, c) in choices {
            let of = |ty: Type, choice: u16| {
                let those: Vec<u32> = (0u32..)
                    .zip(&insts)
                    .filter(|(_, inst)| inst.result_type() == ty)
                    .map(|(at, _)| at)
                    .collect();
                Value(those[usize::from(choice) % those.len()])
            };
            let (x, y) = (of(Type::Real, a), of(Type::Real, b));
            let (p, q) = (of(Type::Bool, a), of(Type::Bool, b));
            let binary = [
                BinaryOp::Add,
                BinaryOp::Sub,
                BinaryOp::Mul,
                BinaryOp::Div,
                BinaryOp::Min,
                BinaryOp::Max,
                BinaryOp::Rem,
            ];
            let compare = [
                CompareOp::Lt,
                CompareOp::Le,
                CompareOp::Gt,
                CompareOp::Ge,
                CompareOp::Eq,
                CompareOp::Ne,
            ];
            let unary = [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Sqrt, UnaryOp::Sign, UnaryOp::Floor];
            let c = usize::from(c);
            insts.push(match kind % 10 {
                0 => Inst::Input(Input::State(u32::from(a % 3))),
                1 | 2 => Inst::Const(CONSTANTS[c % CONSTANTS.len()]),
                3 | 4 => Inst::Binary(binary[c % binary.len()], x, y),
                5 => Inst::Unary(unary[c % unary.len()], x),
                6 => Inst::Compare(compare[c % compare.len()], x, y),
                7 => Inst::Logic(if c % 2 == 0 { LogicOp::And } else { LogicOp::Or }, p, q),
                8 if c % 2 == 0 => Inst::Not(p),
                8 => Inst::Call1(Function1::Exp, x),
                _ => Inst::Select(p, y, of(Type::Real, c as u16)),
            });
        }
        let reals = (0u32..).zip(&insts).filter(|(_, inst)| inst.result_type() == Type::Real);
        let results = reals.map(|(at, _)| Value(at)).collect();
        Section { insts, results }
    }

    fn results<T: Real>(section: &Section) -> Vec<T> {
        let mut out = Vec::new();
        let state = [0.75, -0.0, 3.0];
        let inputs = |input: Input| match input {
            Input::State(i) => T::from_f64(state[i as usize]),
            _ => T::from_f64(0.0),
        };
        run_section(section, &inputs, &mut out);
        out
    }

    proptest! {
        #[test]
        fn sharing_and_folding_keep_every_bit_in_both_precisions(
            choices in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..40),
        ) {
            let plain = section(&choices);
            let shared = share(&plain);
            prop_assert!(shared.insts.len() <= plain.insts.len());
            for (x, y) in results::<f64>(&plain).into_iter().zip(results::<f64>(&shared)) {
                prop_assert!(x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan(), "{x} {y}");
            }
            for (x, y) in results::<f32>(&plain).into_iter().zip(results::<f32>(&shared)) {
                prop_assert!(x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan(), "{x} {y}");
            }
        }
    }
}
