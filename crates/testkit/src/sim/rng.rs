//! A small random generator (splitmix64): the same seed gives the same run on every machine.

/// The generator. Not for secrets.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` up to but not including `high`.
    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    pub(super) fn index(&mut self, len: usize) -> usize {
        (self.next() % len.max(1) as u64) as usize
    }

    /// Between `-most` and `most`.
    pub(super) fn signed(&mut self, most: i64) -> i64 {
        self.range(0, 2 * most as u64 + 1) as i64 - most
    }

    pub(super) fn per_mille(&mut self, chance: u64) -> bool {
        self.next() % 1000 < chance
    }
}
