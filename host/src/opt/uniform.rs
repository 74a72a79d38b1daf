//! How often a value has to be computed, so that engines can lift it out of their loops.

use crate::ir::{Input, Inst, Section};

/// What a value may change with, from the rarest; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// Nothing: it is the same in the whole sweep.
    Constant,
    /// The sweep point, through parameters that are the same at every node.
    PointUniform,
    /// The node too, through parameters that have one value a node; not time.
    TimeUniform,
    /// Time, state or what the network sends.
    Varying,
}

/// The rate of each instruction's value. `per_node[i]` tells whether parameter `i` differs between
/// nodes; parameters beyond its end don't.
pub fn classify(section: &Section, per_node: &[bool]) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::with_capacity(section.insts.len());
    for inst in &section.insts {
        let own = match inst {
            Inst::Input(Input::Parameter(i)) if per_node.get(*i as usize) == Some(&true) => {
                Rate::TimeUniform
            }
            Inst::Input(Input::Parameter(_)) => Rate::PointUniform,
            Inst::Input(_) => Rate::Varying,
            _ => Rate::Constant,
        };
        rates.push(inst.operands().map(|v| rates[v.0 as usize]).fold(own, Rate::max));
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Builder;

    #[test]
    fn a_value_varies_with_the_fastest_of_its_operands() {
        let mut b = Builder::default();
        let third = b.constant(1.0 / 3.0);
        let tenth = b.constant(0.1);
        let constant = b.add(third, tenth);
        let (p, q) = (b.input(Input::Parameter(0)), b.input(Input::Parameter(1)));
        let (x, t) = (b.input(Input::State(0)), b.input(Input::Time));
        let point = b.mul(p, constant);
        let node = b.mul(q, point);
        let state = b.mul(node, x);
        let time = b.mul(p, t);
        let values = [constant, point, node, state, time];
        let section = b.finish(values.to_vec());
        let rates = classify(&section, &[false, true]);
        let of: Vec<Rate> = section.results.iter().map(|v| rates[v.0 as usize]).collect();
        let expected =
            [Rate::Constant, Rate::PointUniform, Rate::TimeUniform, Rate::Varying, Rate::Varying];
        assert_eq!(of, expected);
    }
}
