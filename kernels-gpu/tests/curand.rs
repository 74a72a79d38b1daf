//! cuRAND's normals where the CPU can check them: the logarithm, and that they are normals.

mod words;

use kernels_gpu::{curand, philox};

/// CUDA documents 1 ulp for `logf`. Near 1 the logarithm is near 0, and 1 ulp is relative to it.
#[test]
fn the_logarithm_of_a_uniform_is_within_an_ulp() {
    let check = |word: u32| {
        let u = philox::uniform::<f32>(word);
        let exact = f64::from(u).ln();
        let ulp = f64::from((exact as f32).abs().next_up() - (exact as f32).abs());
        let error = (f64::from(curand::ln(u)) - exact).abs() / ulp;
        assert!(error <= 1.0 || u == 1.0 && error == 0.0, "ln({u:?}): {error} ulp");
    };
    for shift in 0..32 {
        let power = 1 << shift;
        [power - 1, power, power + 1, !power, u32::MAX - power].into_iter().for_each(check);
    }
    let mut source = words::Words(3);
    for _ in 0..1 << 20 {
        check(source.next_word() as u32);
    }
    assert_eq!(curand::ln(1.0).to_bits(), 0);
}

/// The same words, uniforms and order as the portable ones: they differ in the last bits only.
#[test]
fn pairs_are_next_to_the_portable_ones() {
    let mut equal = 0;
    for block in 0..20_000 {
        let (a, b) = (curand::normals(7, 9, block), philox::normals(7, 9, block));
        for (a, b) in a.into_iter().zip(b) {
            assert!((a - b).abs() <= 1e-6 * b.abs().max(0.1), "{a} and {b}");
            equal += u32::from(a == b);
        }
    }
    assert!(equal < 80_000, "another logarithm gives other bits");
}
