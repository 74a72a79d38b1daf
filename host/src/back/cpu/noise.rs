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
            let [a, b, c, d] = &mut self.normals;
            fill(isa, self.seed, &self.low, &self.high, block, a, b, c, d);
            self.block = Some(block);
        }
        &self.normals[(index % 4) as usize]
    }
}

/// Lanes at a time: words first, then normals, so that each loop has one word length and fills
/// whole vectors.
const GROUP: usize = 64;

multiversion! {
    fn fill<T: Real>(
        seed: u64,
        nodes: &[u32],
        points: &[u32],
        block: u64,
        z0: &mut [T],
        z1: &mut [T],
        z2: &mut [T],
        z3: &mut [T],
    ) {
        let halves = |x: u64| [x as u32, (x >> 32) as u32];
        let (key, [low, high]) = (halves(seed), halves(block));
        let mut start = 0;
        while start < nodes.len() {
            let len = GROUP.min(nodes.len() - start);
            let mut words = [[0_u32; GROUP]; 4];
            let [w0, w1, w2, w3] = &mut words;
            for lane in 0..len {
                let counter = [low, high, nodes[start + lane], points[start + lane]];
                [w0[lane], w1[lane], w2[lane], w3[lane]] = philox::philox4x32(counter, key);
            }
            for (a, b, sines, cosines) in [(&*w0, &*w1, &mut *z0, &mut *z1), (&*w2, &*w3, &mut *z2, &mut *z3)] {
                let (sines, cosines) = (&mut sines[start..start + len], &mut cosines[start..start + len]);
                for lane in 0..len {
                    let (sine, cosine) = philox::normal_pair::<f32>(a[lane], b[lane]);
                    sines[lane] = T::from_f32(sine);
                    cosines[lane] = T::from_f32(cosine);
                }
            }
            start += len;
        }
    }
}
