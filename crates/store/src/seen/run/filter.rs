//! The filters of a run: binary fuse filters with fingerprints of 8 bits.
//!
//! Graf, Lemire: "Binary Fuse Filters: Fast and Smaller Than Xor Filters", Journal of Experimental
//! Algorithmics 27 (2022). A key of the zone always passes; one key in 256 of the others does.
//! A filter is 20 bytes (the seed, 8 bytes; the length of a segment, its mask, and the segments' length, 4
//! bytes each) and the fingerprints, about 9.5 bits for each key.

use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter as _, FilterRef};

/// The hash of a key, which the filters hold: rapidhash, version 3, under its default seed.
#[inline]
pub(in super::super) fn hash(key: &[u8]) -> u64 {
    // It has no key, unlike the hash of a set: the file has to mean the same for ever. Keys that
    // are made to collide pass the filter, which costs time and changes no answer.
    rapidhash::v3::rapidhash_v3(key)
}

/// The bytes of a filter of these hashes. Empty: every key passes.
pub(super) fn build(hashes: &mut Vec<u64>) -> Vec<u8> {
    // Hashes may be equal, by chance or by design, and the construction needs distinct ones.
    hashes.sort_unstable();
    hashes.dedup();
    // The construction gives up after some seeds. A filter that lets all keys pass costs time
    // alone.
    let Ok(filter) = BinaryFuse8::try_from(&*hashes) else { return Vec::new() };
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    filter.dma_copy_descriptor_to(&mut bytes);
    bytes.extend_from_slice(filter.dma_fingerprints());
    bytes
}

/// A filter that was read.
#[derive(Debug)]
pub(super) enum Filter<'b> {
    All,
    Fuse(BinaryFuse8Ref<'b>),
}

impl<'b> Filter<'b> {
    /// The filter of these bytes. None: they are none.
    pub(super) fn parse(bytes: &'b [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::All);
        }
        let (descriptor, fingerprints) = bytes.split_at_checked(BinaryFuse8::DESCRIPTOR_LEN)?;
        let number = |at: usize| -> Option<u64> {
            let four = descriptor.get(at..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*four).into())
        };
        let (segment, mask, all) = (number(8)?, number(12)?, number(16)?);
        // No place that is looked at may be outside of the fingerprints.
        let is_legal = segment.is_power_of_two()
            && mask == segment - 1
            && all > 0
            && all + 2 * segment <= fingerprints.len() as u64;
        is_legal.then(|| Self::Fuse(BinaryFuse8Ref::from_dma(descriptor, fingerprints)))
    }

    /// Whether a key with this hash may be in the zone.
    #[inline]
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        match self {
            Self::All => true,
            Self::Fuse(filter) => filter.contains(&hash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: u64) -> Vec<u8> {
        format!("http://h/{i}").into_bytes()
    }

    #[test]
    fn filters_of_any_size_pass_their_keys_and_few_others() {
        for count in (0..300).chain([5_000, 65_536]) {
            let mut hashes: Vec<u64> = (0..count).map(|i| hash(&key(i))).collect();
            // The same again changes nothing.
            hashes.extend_from_within(..count as usize / 2);
            let bytes = build(&mut hashes);
            let filter = Filter::parse(&bytes).expect("a filter");
            assert!((0..count).all(|i| filter.may_contain(hash(&key(i)))), "{count}");
            if count >= 5_000 {
                let others = (1 << 32..).take(100_000);
                let passed = others.filter(|i| filter.may_contain(hash(&key(*i)))).count();
                assert!((250..550).contains(&passed), "{passed}");
                assert!(bytes.len() as f64 * 8.0 / (count as f64) < 11.0, "{}", bytes.len());
            }
        }
    }

    #[test]
    fn the_hash_does_not_change() {
        assert_eq!(hash(b""), 232_177_599_295_442_350);
        assert_eq!(hash(b"http://example.com/"), 9_387_613_071_220_611_681);
    }

    #[test]
    fn other_bytes_are_no_filter() {
        let mut hashes: Vec<u64> = (0..1000).collect();
        let bytes = build(&mut hashes);
        for cut in 1..bytes.len() {
            assert!(Filter::parse(&bytes[..cut]).is_none(), "{cut}");
        }
        let mut parsed = 0;
        for at in 8..20 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x80;
            if let Some(filter) = Filter::parse(&bytes) {
                (0..1000).for_each(|i| {
                    filter.may_contain(i << 50);
                });
                parsed += 1;
            }
        }
        assert!(parsed > 0 && parsed < 12, "{parsed}");
    }
}
