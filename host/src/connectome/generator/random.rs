//! Random choices that are the same on every machine.
//!
//! The bits are those of ChaCha with 12 rounds (Bernstein 2008), with the seed as the first eight
//! bytes of the key, least significant first, and zeros as the rest of the key and as the stream.
//! What is made of the bits is written out here, so that it can't change with a library.

use rand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;

pub(super) struct Random(ChaCha12Rng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha12Rng::from_seed(key))
    }

    /// A number of [0, 1): the upper 53 bits of 64.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A whole number below `end`, all equally probable; 0 if `end` is 0. Lemire 2019.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        let least = if end == 0 { 0 } else { end.wrapping_neg() % end };
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(end);
            if product as u64 >= least {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number of the standard normal distribution. Box and Muller 1958, the sine branch.
    ///
    /// Logarithm and sine are the platform's, so the last bit may differ between platforms.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).sin()
    }

    /// Brings items into an order, all equally probable. Fisher and Yates; Durstenfeld 1964.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bits_are_those_of_chacha12_with_a_key_of_zeros() {
        // Strombergson's test vectors, TC1 with 12 rounds and a key of 256 bits.
        let mut random = Random::new(0);
        assert_eq!(
            random.0.next_u64().to_le_bytes(),
            [0x9b, 0xf4, 0x9a, 0x6a, 0x07, 0x55, 0xf9, 0x53]
        );
    }

    #[test]
    fn whole_numbers_are_uniform() {
        let mut random = Random::new(1);
        let mut counts = [0f64; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1.0;
        }
        let chi_squared: f64 = counts.iter().map(|c| (c - 1e4).powi(2) / 1e4).sum();
        // Six degrees of freedom: above 22.5 once in a thousand seeds.
        assert!(chi_squared < 22.5, "{counts:?}");
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut random = Random::new(2);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / n as f64;
        let fourth = draws.iter().map(|x| x.powi(4)).sum::<f64>() / n as f64;
        assert!(
            mean.abs() < 0.012 && (variance - 1.0).abs() < 0.016 && (fourth - 3.0).abs() < 0.12
        );
    }
}
