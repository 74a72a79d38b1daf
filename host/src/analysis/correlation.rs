//! Functional connectivity: Pearson correlation between nodes.

use super::{Accumulator, Variation};

/// Rows whose products are summed about their own mean before they join the rest. It is a constant
/// of the method: the sums must not depend on the pieces in which rows arrive.
pub(crate) const BLOCK: usize = 256;

/// Correlation of all pairs of nodes, `[variable][node][node]`. Blocks of rows are centred in two passes and
/// merged by the pairwise update of Chan, Golub & LeVeque (1983, doi:10.1080/00031305.1983.10483115).
pub struct Correlation {
    nodes: usize,
    variation: Variation,
    variables: Vec<Products>,
    block: Vec<f64>,
}

struct Products {
    count: f64,
    means: Vec<f64>,
    /// `[node][node]`, of which the upper triangle is kept.
    sums: Vec<f64>,
}

impl Correlation {
    /// For rows of `variables` × `nodes` channels.
    pub fn new(variables: usize, nodes: usize) -> Self {
        let products =
            || Products { count: 0.0, means: vec![0.0; nodes], sums: vec![0.0; nodes * nodes] };
        Self {
            nodes,
            variation: Variation::new(variables * nodes),
            variables: (0..variables).map(|_| products()).collect(),
            block: Vec::with_capacity(BLOCK * variables * nodes),
        }
    }

    fn merge_block(&mut self) {
        let row = self.nodes * self.variables.len();
        if self.block.is_empty() {
            return;
        }
        for (variable, products) in self.variables.iter_mut().enumerate() {
            let from = variable * self.nodes;
            let rows = || self.block.chunks_exact(row).map(|r| &r[from..from + self.nodes]);
            products.merge(self.nodes, rows);
        }
        self.block.clear();
    }
}

impl Products {
    fn merge<'a, I: Iterator<Item = &'a [f64]>>(&mut self, nodes: usize, rows: impl Fn() -> I) {
        let count = rows().count() as f64;
        let mut means = vec![0.0; nodes];
        for row in rows() {
            means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
        }
        means.iter_mut().for_each(|mean| *mean /= count);
        let mut sums = vec![0.0; nodes * nodes];
        let mut centred = vec![0.0; nodes];
        for row in rows() {
            for ((c, x), mean) in centred.iter_mut().zip(row).zip(&means) {
                *c = x - mean;
            }
            add_products(&mut sums, &centred, 1.0);
        }
        let total = self.count + count;
        let shift: Vec<f64> = means.iter().zip(&self.means).map(|(new, old)| new - old).collect();
        self.sums.iter_mut().zip(&sums).for_each(|(sum, new)| *sum += new);
        add_products(&mut self.sums, &shift, self.count * count / total);
        for (mean, shift) in self.means.iter_mut().zip(&shift) {
            *mean += shift * (count / total);
        }
        self.count = total;
    }

    fn correlation(&self, a: usize, b: usize) -> f64 {
        let nodes = self.means.len();
        let (a, b) = (a.min(b), a.max(b));
        let variance = |n: usize| self.sums[n * nodes + n];
        let value = self.sums[a * nodes + b] / (variance(a).sqrt() * variance(b).sqrt());
        value.clamp(-1.0, 1.0)
    }
}

/// Adds `factor·x[a]·x[b]` to the upper triangle.
fn add_products(sums: &mut [f64], x: &[f64], factor: f64) {
    for (a, row) in sums.chunks_exact_mut(x.len().max(1)).enumerate() {
        let scaled = factor * x[a];
        row[a..].iter_mut().zip(&x[a..]).for_each(|(sum, x)| *sum += scaled * x);
    }
}

impl Accumulator for Correlation {
    fn take(&mut self, row: &[f64]) {
        self.variation.take(row);
        self.block.extend_from_slice(row);
        if self.block.len() >= BLOCK * row.len() {
            self.merge_block();
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        self.merge_block();
        let nodes = self.nodes;
        let mut result = Vec::with_capacity(self.variables.len() * nodes * nodes);
        for (variable, products) in self.variables.iter().enumerate() {
            let varies = &self.variation.varies[variable * nodes..][..nodes];
            for a in 0..nodes {
                result.extend((0..nodes).map(|b| match (varies[a] && varies[b], a == b) {
                    (false, _) => f64::NAN,
                    (true, true) => 1.0,
                    (true, false) => products.correlation(a, b),
                }));
            }
        }
        result
    }
}
