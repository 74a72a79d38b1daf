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
    use crate::ir::{BinaryOp, Input, Inst, Value};

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
}
