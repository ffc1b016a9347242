//! A tiny seeded generator of random numbers (splitmix64): a corpus must come out the same on every
//! machine and in every year, so it rests on no crate whose stream may change.

/// A stream of numbers that depends only on its seed.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of the item `index` under `seed`: neighbours share nothing.
    pub fn of_item(seed: u64, index: u64) -> Self {
        Self(mix(seed ^ mix(index.wrapping_add(0x5851_F42D_4C95_7F2D))))
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `n`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        // The upper half of the product: no division, and no modulus that prefers small numbers.
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True `per_mille` times out of a thousand.
    #[inline]
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of `items`.
    #[inline]
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// A rank below `n` in which each halving is as likely as any other: close to Zipf's law, in
    /// integers only. More `octaves` make the first ranks more frequent.
    #[inline]
    pub fn rank(&mut self, n: u64, octaves: u64) -> u64 {
        let octave = self.below(octaves);
        self.below((n >> octave).max(1))
    }
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
