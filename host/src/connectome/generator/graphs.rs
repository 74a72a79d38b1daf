//! Graphs whose connections all have weight 1.

use super::random::Random;
use super::{
    COLUMNS, ConnectomeError, DEGREE, GeneratorSpec, MOST_NODES, PROBABILITY, ROWS, nodes,
};
use nalgebra::DMatrix;

/// A graph as a matrix of truth values, `[target, source]`.
pub(super) struct Graph {
    n: usize,
    connected: Vec<bool>,
}

impl Graph {
    fn empty(n: usize) -> Self {
        Self { n, connected: vec![false; n * n] }
    }

    fn has(&self, target: usize, source: usize) -> bool {
        self.connected[target * self.n + source]
    }

    fn set(&mut self, target: usize, source: usize, there: bool) {
        self.connected[target * self.n + source] = there;
    }

    /// Connects two nodes both ways.
    fn join(&mut self, a: usize, b: usize) {
        self.set(a, b, true);
        self.set(b, a, true);
    }

    fn part(&mut self, a: usize, b: usize) {
        self.set(a, b, false);
        self.set(b, a, false);
    }

    fn degree(&self, node: usize) -> usize {
        self.connected[node * self.n..][..self.n].iter().filter(|&&c| c).count()
    }

    pub(super) fn into_weights(self) -> DMatrix<f64> {
        DMatrix::from_fn(self.n, self.n, |i, j| f64::from(u8::from(self.has(i, j))))
    }
}

pub(super) fn erdos_renyi(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let p = spec.number(PROBABILITY, 0.0..=1.0)?;
    let mut graph = Graph::empty(n);
    for target in 0..n {
        for source in if spec.directed { 0..n } else { 0..target } {
            if target != source && random.uniform() < p {
                graph.set(target, source, true);
                if !spec.directed {
                    graph.set(source, target, true);
                }
            }
        }
    }
    Ok(graph)
}

pub(super) fn barabasi_albert(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let m = spec.count(&["m", "k"], 1..=n - 1)?;
    let mut graph = Graph::empty(n);
    for node in 1..=m {
        graph.join(0, node);
    }
    // Every node once for each of its edges.
    let mut ends: Vec<usize> = (1..=m).flat_map(|node| [0, node]).collect();
    for node in m + 1..n {
        let mut chosen = Vec::with_capacity(m);
        while chosen.len() < m {
            let candidate = ends[random.below(ends.len())];
            if !chosen.contains(&candidate) {
                chosen.push(candidate);
            }
        }
        for other in chosen {
            graph.join(node, other);
            ends.extend([node, other]);
        }
    }
    Ok(graph)
}

pub(super) fn watts_strogatz(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let k = spec.count(&["k"], 0..=n)?;
    let p = spec.number(PROBABILITY, 0.0..=1.0)?;
    if k >= n - 1 {
        return complete(spec);
    }
    if k % 2 == 1 {
        let problem = format!("parameter `k` is {k}, but neighbours come in pairs, left and right");
        return Err(spec.error(problem, "give an even number"));
    }
    let mut graph = Graph::empty(n);
    for distance in 1..=k / 2 {
        for node in 0..n {
            graph.join(node, (node + distance) % n);
        }
    }
    for distance in 1..=k / 2 {
        for node in 0..n {
            let neighbour = (node + distance) % n;
            // With all others connected already there is nowhere to rewire to.
            if random.uniform() >= p || graph.degree(node) >= n - 1 {
                continue;
            }
            let other = loop {
                let other = random.below(n);
                if other != node && !graph.has(node, other) {
                    break other;
                }
            };
            graph.part(node, neighbour);
            graph.join(node, other);
        }
    }
    Ok(graph)
}

/// Pairs free ends at random, as long as they make new edges; starts again when none can be paired.
pub(super) fn random_regular(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let d = spec.count(DEGREE, 0..=n - 1)?;
    if n * d % 2 == 1 {
        let problem = format!("no graph of {n} nodes has {d} neighbours at each");
        return Err(spec.error(problem, "make the number of nodes or of neighbours even"));
    }
    // Pairing rarely gets through with many neighbours; what is missing is regular as well.
    let few = d.min(n - 1 - d);
    let mut graph = loop {
        if let Some(graph) = pairing(n, few, random) {
            break graph;
        }
    };
    if few < d {
        for target in 0..n {
            for source in (0..n).filter(|&source| source != target) {
                graph.set(target, source, !graph.has(target, source));
            }
        }
    }
    Ok(graph)
}

fn pairing(n: usize, d: usize, random: &mut Random) -> Option<Graph> {
    let mut graph = Graph::empty(n);
    let mut ends: Vec<usize> = (0..n).flat_map(|node| std::iter::repeat_n(node, d)).collect();
    while !ends.is_empty() {
        random.shuffle(&mut ends);
        let mut left = Vec::new();
        for pair in ends.chunks_exact(2) {
            if pair[0] == pair[1] || graph.has(pair[0], pair[1]) {
                left.extend_from_slice(pair);
            } else {
                graph.join(pair[0], pair[1]);
            }
        }
        let fits = |a: usize, b: usize| a != b && !graph.has(a, b);
        if !left.is_empty() && !left.iter().any(|&a| left.iter().any(|&b| fits(a, b))) {
            return None;
        }
        ends = left;
    }
    Some(graph)
}

pub(super) fn complete(spec: &GeneratorSpec) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let mut graph = Graph::empty(n);
    for a in 0..n {
        for b in 0..a {
            graph.join(a, b);
        }
    }
    Ok(graph)
}

/// A directed star sends from its centre, node 0.
pub(super) fn star(spec: &GeneratorSpec) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let mut graph = Graph::empty(n);
    for node in 1..n {
        graph.set(node, 0, true);
        graph.set(0, node, !spec.directed);
    }
    Ok(graph)
}

/// A directed ring sends from each node to the next.
pub(super) fn cycle(spec: &GeneratorSpec) -> Result<Graph, ConnectomeError> {
    let n = nodes(spec)?;
    let mut graph = Graph::empty(n);
    for node in 0..n {
        let next = (node + 1) % n;
        if next != node {
            graph.set(next, node, true);
            if !spec.directed {
                graph.set(node, next, true);
            }
        }
    }
    Ok(graph)
}

/// Nodes are numbered row by row.
pub(super) fn grid(spec: &GeneratorSpec) -> Result<Graph, ConnectomeError> {
    let rows = spec.count(ROWS, 1..=MOST_NODES)?;
    let columns = spec.count(COLUMNS, 1..=MOST_NODES / rows)?;
    let periodic = match spec.find(&["periodic"]) {
        None => false,
        Some(_) => spec.count(&["periodic"], 0..=1)? == 1,
    };
    let mut graph = Graph::empty(rows * columns);
    let mut join = |a: usize, b: usize| {
        // On a torus two nodes wide or less, a neighbour may be the node itself.
        if a != b {
            graph.join(a, b);
        }
    };
    for row in 0..rows {
        for column in 0..columns {
            let node = row * columns + column;
            if column + 1 < columns || periodic {
                join(node, row * columns + (column + 1) % columns);
            }
            if row + 1 < rows || periodic {
                join(node, (row + 1) % rows * columns + column);
            }
        }
    }
    Ok(graph)
}
