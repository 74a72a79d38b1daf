//! Standard normals for every lane.

use crate::isa::multiversion;
use crate::real::Number;
use kernels_gpu::philox;

/// Lanes at a time: words first, then normals, so that each loop has one word length and fills
/// whole vectors.
const GROUP: usize = 64;

multiversion! {
    /// Normals number `4·block` to `4·block + 3` of the subsequence of every lane, whose low word is
    /// its node and whose high word is its point.
    pub(crate) fn fill<T: Number>(
        seed: u64,
        nodes: &[u32],
        points: &[u32],
        block: u64,
        normals: &mut [Vec<T>; 4],
    ) {
        let [z0, z1, z2, z3] = normals;
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
