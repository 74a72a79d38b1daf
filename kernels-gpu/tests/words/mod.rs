//! Arguments for the tests.

/// A fixed sequence of words (Weyl sequence through the finalizer of SplitMix64): independent of
/// the generator under test.
pub(crate) struct Words(pub(crate) u64);

impl Words {
    /// The next word.
    pub(crate) fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
