//! A keyed hash of short texts by AES rounds in vector registers, for CPUs with VAES and AVX-512.
//!
//! Two blocks of 64 bytes are eight states of 16. Each starts with a random key and goes through three
//! rounds (FIPS 197, section 5.1) with random keys in between, all at once. XOR folds the states and
//! the length together, and three more rounds mix the result. Longer texts continue from the current
//! states, two blocks at a time. Short texts are padded with zeros, so a length of up to two blocks
//! costs no branch: mispredicting it is half the time of a hash that works by words.
//!
//! If two texts differ in a state, the difference becomes any given one with a probability of at most
//! 53 / 2^34, that of two rounds with random keys (Keliher and Sui, "Exact maximum expected
//! differential and linear probability for two-round Advanced Encryption Standard", IET Information
//! Security 1 (2), 2007). The keys of the states are independent, so folding is no likelier to hide the
//! difference. Among n texts chosen without knowledge of the keys, at most some n^2 / 2^29 pairs
//! collide, and a set has fewer than 2^32.

use std::arch::x86_64::*;

use super::avx512::registers::{load, load_padded};
use super::block::{BLOCK, Block};
use super::{Backend, Kernel};

/// Blocks of keys: for each of two blocks of text, one initial key and two round keys.
const KEYS: usize = 6;

/// A hash with its keys, on a CPU that has the instructions.
#[derive(Clone)]
pub(crate) struct Vaes(Keys);

/// Aligned, so that no load of a key crosses a cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Keys([Block; KEYS]);

impl Vaes {
    /// Makes a hash from `word`, which must yield random and secret words. Returns `None` if the CPU
    /// lacks the instructions or `kernel` is not allowed to use them.
    pub(crate) fn new(kernel: Kernel, word: impl Fn(usize) -> u64) -> Option<Self> {
        // A user may have chosen another backend, so the CPU alone does not decide.
        let may = kernel.backend() == Backend::Avx512
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("vaes");
        let mut keys = [[0; BLOCK]; KEYS];
        for (i, bytes) in keys.as_flattened_mut().chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&word(i).to_le_bytes());
        }
        may.then_some(Self(Keys(keys)))
    }

    /// A hash of 64 bits, all of equal quality. Time is linear in the length of the text.
    #[inline]
    pub(crate) fn hash(&self, text: &[u8]) -> u64 {
        let mut hash = 0;
        self.hash_all(std::iter::once(text), |of_text| hash = of_text);
        hash
    }

    /// The hashes of many texts, in order. Their rounds overlap, and the keys stay in registers.
    #[inline]
    pub(crate) fn hash_all<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]>,
        take: impl FnMut(u64),
    ) {
        // SAFETY: `new` checked the CPU for all of these instructions.
        unsafe { hash_all(&self.0.0, texts, take) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,bmi2,aes,vaes")]
fn hash_all<'t>(
    keys: &[Block; KEYS],
    texts: impl Iterator<Item = &'t [u8]>,
    mut take: impl FnMut(u64),
) {
    // Loaded once, so that the keys stay in registers.
    let keys = loaded(keys);
    for text in texts {
        take(hash_with(&keys, text));
    }
}

#[target_feature(enable = "avx512f,avx512bw,bmi2,aes,vaes")]
#[inline]
fn hash_with(keys: &[__m512i; KEYS], text: &[u8]) -> u64 {
    let [first, second, third, fourth, fifth, sixth] = *keys;
    let (mut a, mut b) = (first, fourth);
    let mut rest = text;
    loop {
        // Two independent chains of rounds, so that one hides the latency of the other.
        let (left, right) = rest.split_at(rest.len().min(BLOCK));
        a = rounds(_mm512_xor_si512(a, load_padded(left)), second, third);
        b = rounds(_mm512_xor_si512(b, load_padded(right)), fifth, sixth);
        match rest.get(2 * BLOCK..) {
            Some(more) if !more.is_empty() => rest = more,
            _ => break,
        }
    }
    // The keys of the eight states are independent, so XOR is unlikely to cancel a difference.
    let folded = _mm512_xor_si512(a, b);
    let low = _mm512_castsi512_si256(folded);
    let folded = _mm256_xor_si256(low, _mm512_extracti64x4_epi64::<1>(folded));
    let low = _mm256_castsi256_si128(folded);
    let folded = _mm_xor_si128(low, _mm256_extracti128_si256::<1>(folded));
    // The padding is zeros, so the length tells texts apart that differ in zeros at their end.
    let mut mixed = _mm_xor_si128(folded, _mm_cvtsi64_si128(text.len() as i64));
    for key in [second, third, fifth] {
        mixed = _mm_aesenc_si128(mixed, _mm512_castsi512_si128(key));
    }
    _mm_cvtsi128_si64(mixed) as u64
}

/// Three rounds. The last has no key.
#[target_feature(enable = "avx512f,vaes")]
#[inline]
fn rounds(block: __m512i, after_first: __m512i, after_second: __m512i) -> __m512i {
    let block = _mm512_aesenc_epi128(block, after_first);
    let block = _mm512_aesenc_epi128(block, after_second);
    _mm512_aesenc_epi128(block, _mm512_setzero_si512())
}

#[target_feature(enable = "avx512f")]
#[inline]
fn loaded(keys: &[Block; KEYS]) -> [__m512i; KEYS] {
    let [a, b, c, d, e, f] = keys;
    [load(a), load(b), load(c), load(d), load(e), load(f)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::not_tried;

    type State = [u8; 16];

    /// FIPS 197, section 4.2: multiplication modulo x^8 + x^4 + x^3 + x + 1.
    fn times(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b > 0 {
            product ^= a * (b & 1);
            a = (a << 1) ^ (0x1B * (a >> 7));
            b >>= 1;
        }
        product
    }

    /// Section 5.1.1.
    fn substituted(byte: u8) -> u8 {
        let inverse = (0..=255).find(|other| times(byte, *other) == 1).unwrap_or(0);
        (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
    }

    /// Sections 5.1.1 to 5.1.4: a round.
    fn round(state: State, key: &[u8]) -> State {
        let box_: Vec<u8> = (0..=255).map(substituted).collect();
        let mut after = [0; 16];
        for column in 0..4 {
            let shifted = |row: usize| box_[usize::from(state[(column + row) % 4 * 4 + row])];
            for row in 0..4 {
                let two = times(2, shifted(row)) ^ times(3, shifted((row + 1) % 4));
                let mixed = two ^ shifted((row + 2) % 4) ^ shifted((row + 3) % 4);
                after[4 * column + row] = mixed ^ key[4 * column + row];
            }
        }
        after
    }

    fn xor(a: State, b: &[u8]) -> State {
        std::array::from_fn(|i| a[i] ^ b.get(i).copied().unwrap_or(0))
    }

    /// The hash as the head of this file defines it.
    fn plainly(keys: &[Block; KEYS], text: &[u8]) -> u64 {
        let mut folded = xor([0; 16], &text.len().to_le_bytes());
        for which in 0..8 {
            let key = |i: usize| &keys[which / 4 * 3 + i][which % 4 * 16..][..16];
            let mut state = xor([0; 16], key(0));
            for two_blocks in (0..text.len().max(1)).step_by(2 * BLOCK) {
                let part = text.get(two_blocks + 16 * which..).unwrap_or_default();
                state = xor(state, &part[..part.len().min(16)]);
                state = round(round(round(state, key(1)), key(2)), &[0; 16]);
            }
            folded = xor(folded, &state);
        }
        for key in [1, 2, 4] {
            folded = round(folded, &keys[key]);
        }
        u64::from_le_bytes(*folded.first_chunk().unwrap())
    }

    /// Keys and words in which any change shows.
    fn word(i: usize) -> u64 {
        (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
    }

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|i| (word(i + 99) >> 11) as u8).collect()
    }

    fn hashes() -> Option<Vaes> {
        let vaes = Kernel::new(Backend::Avx512).and_then(|kernel| Vaes::new(kernel, word));
        if vaes.is_none() {
            not_tried("this CPU has no VAES");
        }
        vaes
    }

    #[test]
    fn aes_round_agrees_with_fips_197() {
        // FIPS 197, section 5.1.1, and appendix B, round 1.
        assert_eq!(substituted(0x53), 0xED);
        let hex = |text: &str| u128::from_str_radix(text, 16).unwrap().to_be_bytes();
        let after = round(
            hex("193de3bea0f4e22b9ac68d2ae9f84808"),
            &hex("a0fafe1788542cb123a339392a6c7605"),
        );
        assert_eq!(after, hex("a49c7ff2689f352b6b5bea43026a5049"));
    }

    #[test]
    fn vaes_hash_agrees_with_plain_aes_rounds() {
        let Some(vaes) = hashes() else { return };
        for length in (0..=150).chain([191, 192, 193, 255, 256, 257, 384, 385, 1000]) {
            let text = text(length);
            assert_eq!(vaes.hash(&text), plainly(&vaes.0.0, &text), "{length}");
        }
    }

    #[test]
    fn each_bit_of_the_text_and_length_flips_half_of_the_hash() {
        let Some(vaes) = hashes() else { return };
        for length in [1, 16, 63, 64, 65, 100, 128, 129, 300] {
            let mut text = text(length);
            let hash = vaes.hash(&text);
            let (mut changed, mut of_bit) = (0, [0; 64]);
            for bit in 0..8 * length {
                text[bit / 8] ^= 1 << (bit % 8);
                let difference = hash ^ vaes.hash(&text);
                text[bit / 8] ^= 1 << (bit % 8);
                assert!((10..=54).contains(&difference.count_ones()), "{length}, bit {bit}");
                changed += difference.count_ones();
                (0..64).for_each(|i| of_bit[i] += difference >> i & 1);
            }
            let half = 4.0 * length as f64;
            assert!((f64::from(changed) / 64.0 / half - 1.0).abs() < 0.1, "{length}: {changed}");
            let far = |n: &&u64| (**n as f64 - half).abs() > 3.0 * half.sqrt() + 2.0;
            assert!(of_bit.iter().filter(far).count() == 0, "{length}: {of_bit:?}");
            text.push(0);
            assert!((10..=54).contains(&(hash ^ vaes.hash(&text)).count_ones()), "{length}");
        }
    }
}
