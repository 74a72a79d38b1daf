//! What no result needs: coupling inputs, gathers, channels and edge sections that nothing reads.

use crate::ir::{Builder, Gather, GatherSource, Input, Inst, Program, Section};

/// Drops what has no effect on the drift, events or observations, and renumbers the rest in order.
#[must_use]
pub fn prune(mut program: Program) -> Program {
    let node = [&program.drift, &program.events, &program.observe];
    let couplings = used(program.couplings.len(), |mark| {
        for section in node {
            inputs(section, &mut |input| {
                if let Input::Coupling(i) = input {
                    mark(i);
                }
            });
        }
    });
    let read_coupling = |input| match input {
        Input::Coupling(i) => Input::Coupling(couplings.new[i as usize]),
        other => other,
    };
    program.drift = remap(&program.drift, &read_coupling);
    program.events = remap(&program.events, &read_coupling);
    program.observe = remap(&program.observe, &read_coupling);
    program.post.results = couplings.keep(&program.post.results);
    program.couplings = couplings.keep(&program.couplings);
    program.post = remap(&program.post, &|input| input);

    let gathers = used(program.gathers.len(), |mark| {
        inputs(&program.post, &mut |input| {
            if let Input::Gathered(i) = input {
                mark(i);
            }
        });
    });
    program.post = remap(&program.post, &|input| match input {
        Input::Gathered(i) => Input::Gathered(gathers.new[i as usize]),
        other => other,
    });
    program.gathers = gathers.keep(&program.gathers);

    let sources = |of: fn(&Gather) -> Option<u32>| {
        let gathers = program.gathers.clone();
        move |mark: &mut dyn FnMut(u32)| gathers.iter().filter_map(of).for_each(mark)
    };
    let channels = used(program.emit.results.len(), sources(channel));
    let edges = used(program.edges.len(), sources(edge));
    for gather in &mut program.gathers {
        gather.source = match gather.source {
            GatherSource::Channel(i) => GatherSource::Channel(channels.new[i as usize]),
            GatherSource::Edge(i) => GatherSource::Edge(edges.new[i as usize]),
            GatherSource::Ones => GatherSource::Ones,
        };
    }
    program.emit.results = channels.keep(&program.emit.results);
    program.emit = remap(&program.emit, &|input| input);
    program.edges = edges.keep(&program.edges);
    program
}

fn channel(gather: &Gather) -> Option<u32> {
    match gather.source {
        GatherSource::Channel(i) => Some(i),
        _ => None,
    }
}

fn edge(gather: &Gather) -> Option<u32> {
    match gather.source {
        GatherSource::Edge(i) => Some(i),
        _ => None,
    }
}

/// Which of a list stay, and their new numbers.
struct Used {
    used: Vec<bool>,
    new: Vec<u32>,
}

impl Used {
    fn keep<T: Clone>(&self, list: &[T]) -> Vec<T> {
        list.iter().zip(&self.used).filter(|(_, used)| **used).map(|(x, _)| x.clone()).collect()
    }
}

fn used(count: usize, find: impl FnOnce(&mut dyn FnMut(u32))) -> Used {
    let mut used = vec![false; count];
    find(&mut |i| used[i as usize] = true);
    let mut next = 0;
    let new = used.iter().map(|&used| {
        next += u32::from(used);
        next.saturating_sub(1)
    });
    Used { new: new.collect(), used }
}

fn inputs(section: &Section, see: &mut dyn FnMut(Input)) {
    for inst in &section.insts {
        if let Inst::Input(input) = *inst {
            see(input);
        }
    }
}

/// The section without what its results don't need, reading other inputs.
fn remap(section: &Section, map: &dyn Fn(Input) -> Input) -> Section {
    let mut builder = Builder::default();
    let results = builder.import(&section.insts, &section.results, &mut |b, input| {
        let input = map(input);
        b.input(input)
    });
    builder.finish(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inputs: &[Input]) -> Section {
        let mut builder = Builder::default();
        let results = inputs.iter().map(|&input| builder.input(input)).collect();
        builder.finish(results)
    }

    #[test]
    fn an_unread_coupling_takes_its_gather_and_channel_along() {
        let gather = |source| Gather { source, matrix: 0, delayed: true };
        let program = Program {
            states: vec!["x".into(), "y".into()],
            couplings: vec!["unread".into(), "read".into()],
            emit: read(&[Input::State(0), Input::State(1)]),
            gathers: vec![gather(GatherSource::Channel(0)), gather(GatherSource::Channel(1))],
            post: read(&[Input::Gathered(0), Input::Gathered(1)]),
            drift: read(&[Input::Coupling(1), Input::State(0)]),
            ..Program::default()
        };
        let pruned = prune(program);
        assert_eq!(pruned.couplings, ["read"]);
        assert_eq!(pruned.gathers, [gather(GatherSource::Channel(0))]);
        assert_eq!(pruned.emit, read(&[Input::State(1)]));
        assert_eq!(pruned.post, read(&[Input::Gathered(0)]));
        assert_eq!(pruned.drift, read(&[Input::Coupling(0), Input::State(0)]));
    }
}
