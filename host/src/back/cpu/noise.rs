//! Standard normals for every lane, drawn four steps or variables at a time.

use kernels_cpu::{Isa, Real};
use kernels_gpu::noise::{normal_index, subsequence};

/// The normals of a tile. A Philox block of four is computed once, when the first is asked for.
#[derive(Clone, Debug)]
pub(super) struct NoiseStream<T> {
    seed: u64,
    variables: u32,
    /// Low words of the subsequences.
    low: Vec<u32>,
    /// High words.
    high: Vec<u32>,
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
        let low = subsequences.iter().map(|&s| s as u32).collect();
        let high = subsequences.iter().map(|&s| (s >> 32) as u32).collect();
        Self { seed, variables, low, high, block: None, normals }
    }

    /// The normals of noisy variable `variable` at `step`, by lane.
    pub(super) fn draw(&mut self, isa: Isa, step: u64, variable: u32) -> &[T] {
        let index = normal_index(step, self.variables, variable);
        let block = index / 4;
        if self.block != Some(block) {
            T::normals(isa, self.seed, &self.low, &self.high, block, &mut self.normals);
            self.block = Some(block);
        }
        &self.normals[(index % 4) as usize]
    }
}
