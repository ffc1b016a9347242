//! The keyed hash of a run.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};

use crate::simd::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::simd::Vaes;

/// Mixes the last bits well. Shard and slot take their bits from both ends of the hash.
const AVALANCHE: bool = true;
/// Protects against any input zeroing a product of two parts, which would lose the earlier state.
const PROTECTED: bool = true;

/// A random key. Logs hold URLs chosen by strangers: with a hash they can compute, they could make the
/// set quadratic.
///
/// The hash never leaves the process.
#[derive(Clone)]
pub struct HashKey {
    by: Means,
    kernel: Kernel,
    /// Number of hash bits that differ; the others repeat them.
    #[cfg(any(test, feature = "test-hooks"))]
    width: u32,
}

/// Prints no key: anyone who knows it can make URLs collide.
impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").finish_non_exhaustive()
    }
}

/// The hash function of a kernel.
#[derive(Clone)]
enum Means {
    /// Works by words. Both seed and secrets are random: a fast hash with only a random seed has
    /// collisions that hold for every seed.
    Words(RapidSecrets),
    /// Works by whole vectors, if the CPU can: 3 ns for a URL instead of 11.
    #[cfg(target_arch = "x86_64")]
    Vectors(Box<Vaes>),
}

impl Means {
    fn new(kernel: Kernel, seed: u64) -> Self {
        let secrets = RapidSecrets::seed(seed);
        // The keys are derived from the seed, so that a seeded run can be repeated.
        #[cfg(target_arch = "x86_64")]
        if let Some(vaes) = Vaes::new(kernel, |word| by_words(&word.to_le_bytes(), &secrets)) {
            return Self::Vectors(Box::new(vaes));
        }
        let _ = kernel;
        Self::Words(secrets)
    }
}

#[inline]
fn by_words(url: &[u8], secrets: &RapidSecrets) -> u64 {
    rapidhash_v3_micro_inline::<AVALANCHE, PROTECTED>(url, secrets)
}

impl HashKey {
    /// A key from the randomness that the standard library gets from the system.
    pub fn random(kernel: Kernel) -> Self {
        // The hashed number is arbitrary: `RandomState` supplies the randomness.
        Self::seeded(kernel, RandomState::new().hash_one(0x756E_6971_7572_6C00_u64))
    }

    /// A key from a seed, for repeatable runs.
    pub fn seeded(kernel: Kernel, seed: u64) -> Self {
        Self {
            by: Means::new(kernel, seed),
            kernel,
            #[cfg(any(test, feature = "test-hooks"))]
            width: 64,
        }
    }

    /// A random key whose hashes have only `width` bits, at most 8 or all 64. For tests of code that
    /// must be correct with a bad hash.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fn narrow(width: u32) -> Self {
        Self { width, ..Self::random(Kernel::best()) }
    }

    /// A new random key for hashing the same URLs again. Its hashes are independent of those of this
    /// key. (The width is kept.)
    pub fn another(&self) -> Self {
        Self {
            #[cfg(any(test, feature = "test-hooks"))]
            width: self.width,
            ..Self::random(self.kernel)
        }
    }

    /// The hash of a URL. Time is linear in its length.
    #[inline]
    pub fn hash(&self, url: &[u8]) -> Hash {
        let hash = match &self.by {
            Means::Words(secrets) => by_words(url, secrets),
            #[cfg(target_arch = "x86_64")]
            Means::Vectors(vaes) => vaes.hash(url),
        };
        self.narrowed(hash)
    }

    /// The hashes of many URLs, in order.
    #[inline]
    pub fn hash_all<'t>(&self, urls: impl Iterator<Item = &'t [u8]>, mut take: impl FnMut(Hash)) {
        // Selects the function once for all URLs, not for each.
        match &self.by {
            Means::Words(secrets) => {
                urls.for_each(|url| take(self.narrowed(by_words(url, secrets))));
            }
            #[cfg(target_arch = "x86_64")]
            Means::Vectors(vaes) => vaes.hash_all(urls, |hash| take(self.narrowed(hash))),
        }
    }

    #[inline]
    fn narrowed(&self, hash: u64) -> Hash {
        #[cfg(any(test, feature = "test-hooks"))]
        if self.width < 64 {
            // Repeats the bits in every byte, so that shard, partition and tag all get them.
            return Hash((hash & ((1 << self.width) - 1)) * 0x0101_0101_0101_0101);
        }
        Hash(hash)
    }
}

/// A hash. Each bit is used once: the upper sixteen select the shard, the next sixteen the partition of
/// spilled URLs, and the lower half is the tag, which selects the slot and is stored in it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// A hash chosen by a test.
    #[cfg(test)]
    pub(super) fn chosen(bits: u64) -> Self {
        Self(bits)
    }

    /// Selects one of `shards`, a power of two of at most 2^16.
    #[inline]
    pub fn shard(self, shards: usize) -> usize {
        debug_assert!(shards.is_power_of_two() && shards <= 1 << 16);
        (self.0 >> 48) as usize & (shards - 1)
    }

    /// Selects one of `partitions`, a power of two of at most 2^16.
    #[inline]
    pub fn partition(self, partitions: usize) -> usize {
        debug_assert!(partitions.is_power_of_two() && partitions <= 1 << 16);
        (self.0 >> 32) as usize & (partitions - 1)
    }

    /// The bits that a slot of the table stores.
    #[inline]
    pub fn tag(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Backend;

    #[test]
    fn batch_hash_agrees_with_single_hash_on_every_backend() {
        let texts: Vec<Vec<u8>> =
            (0..=300u32).rev().map(|n| (0..n).map(|i| (i * n) as u8).collect()).collect();
        for kernel in Backend::ALL.iter().copied().filter_map(Kernel::new) {
            let key = HashKey::seeded(kernel, 7);
            let mut hashes = Vec::new();
            key.hash_all(texts.iter().map(Vec::as_slice), |hash| hashes.push(hash));
            let each: Vec<_> = texts.iter().map(|text| key.hash(text)).collect();
            assert_eq!(hashes, each, "{:?}", kernel.backend());
        }
    }
}
