//! Standard normals for every lane, drawn four steps or variables at a time.

use super::isa::{Isa, multiversion};
use super::real::Real;
use kernels_gpu::noise::{normal_index, subsequence};
use kernels_gpu::philox;

/// The normals of a tile. A Philox block of four is computed once, when the first is asked for.
#[derive(Clone, Debug)]
pub(super) struct NoiseStream<T> {
    seed: u64,
    variables: u32,
    subsequences: Vec<u64>,
    block: Option<u64>,
    normals: [Vec<T>; 4],
}

impl<T: Real> NoiseStream<T> {
    /// For `lanes` lanes of points `points` (by lane within a node), node-major.
    pub(super) fn new(
        seed: u64,
        variables: u32,
        points: &[u64],
        nodes: usize,
        lanes: usize,
    ) -> Self {
        let width = points.len();
        let mut subsequences: Vec<u64> = (0..nodes * width)
            .map(|lane| subsequence(points[lane % width], (lane / width) as u32))
            .collect();
        subsequences.resize(lanes, 0);
        let lanes = if variables == 0 { 0 } else { lanes };
        let normals = std::array::from_fn(|_| vec![T::default(); lanes]);
        Self { seed, variables, subsequences, block: None, normals }
    }

    /// The normals of noisy variable `variable` at `step`, by lane.
    pub(super) fn draw(&mut self, isa: Isa, step: u64, variable: u32) -> &[T] {
        let index = normal_index(step, self.variables, variable);
        let block = index / 4;
        if self.block != Some(block) {
            let [a, b, c, d] = &mut self.normals;
            fill(isa, self.seed, &self.subsequences, block, a, b, c, d);
            self.block = Some(block);
        }
        &self.normals[(index % 4) as usize]
    }
}

multiversion! {
    fn fill<T: Real>(
        seed: u64,
        subsequences: &[u64],
        block: u64,
        z0: &mut [T],
        z1: &mut [T],
        z2: &mut [T],
        z3: &mut [T],
    ) {
        for ((((s, z0), z1), z2), z3) in subsequences.iter().zip(z0).zip(z1).zip(z2).zip(z3) {
            let z = philox::normals(seed, *s, block).map(T::from_f32);
            [*z0, *z1, *z2, *z3] = z;
        }
    }
}
