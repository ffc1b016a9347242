//! A Bloom filter of prefixes: the first three bytes decide about nearly every name of a query parameter.
//!
//! In: the names, or starts of names, that are looked for. Out: for the first bytes of any name, whether it may be
//! one of them.

/// A Bloom filter with one hash, of the first three bytes of a name; 4 KiB.
///
/// Bytes that differ only in their upper bits are equal, so case is ignored. Different starts may share
/// a bit, so there are false positives, but no false negatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starts([u64; 512]);

/// The bits kept of each byte.
const KEPT: u32 = 0x1F;

impl Starts {
    /// The empty set.
    pub(crate) const NONE: Self = Self([0; 512]);

    /// The set of all starts.
    pub(crate) const ALL: &Self = &Self([u64::MAX; 512]);

    /// Adds every start that begins with `prefix`. After a prefix of one or two bytes, anything may
    /// follow.
    pub(crate) const fn add(&mut self, prefix: &[u8]) {
        let (mut known, mut bits) = (0, 0);
        while bits < 24 && bits / 8 < prefix.len() {
            known |= (prefix[bits / 8] as u32 & KEPT) << bits;
            bits += 8;
        }
        // The bytes that may follow, as digits to the base of 32.
        let mut behind = 0;
        while behind < 1u32 << ((24 - bits) / 8 * 5) {
            let spread = behind & KEPT | (behind >> 5 & KEPT) << 8 | (behind >> 10) << 16;
            let place = place(known | spread << (bits % 24));
            self.0[place >> 6] |= 1 << (place & 63);
            behind += 1;
        }
    }

    /// Adds the starts of another set.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
    }

    /// True if the set may hold this start. The first byte is the lowest; the fourth is ignored.
    #[inline(always)]
    pub(crate) fn hold(&self, first: u32) -> bool {
        let place = place(first);
        self.0[place >> 6] >> (place & 63) & 1 == 1
    }
}

/// A hash below 2^15. The multiplier was found by search: starts of session and tracking names share no
/// hash with those of ordinary names.
#[inline(always)]
const fn place(first: u32) -> usize {
    ((first & (KEPT | KEPT << 8 | KEPT << 16)).wrapping_mul(0xA6CE_CC1B) >> 17) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_filter_has_no_false_negatives_and_few_false_positives() {
        // Two or three bytes have the same lower bits, and the hashes of others collide.
        for (prefix, most) in [(&b"a"[..], 0.1), (b"_g", 0.004), (b"utm_", 0.0005)] {
            let mut starts = Starts::NONE;
            starts.add(prefix);
            let (mut held, mut all) = (0, 0);
            for first in b'!'..=b'~' {
                for second in b'!'..=b'~' {
                    for third in [b'\n', b'=', b'&', b'A', b'm', b'_', b'1'] {
                        let bytes = [first, second, third, 0xFF];
                        let holds = starts.hold(u32::from_le_bytes(bytes));
                        let length = prefix.len().min(3);
                        let starts = bytes[..length].eq_ignore_ascii_case(&prefix[..length]);
                        assert!(holds || !starts, "{bytes:?} {prefix:?}");
                        held += usize::from(holds);
                        all += 1;
                    }
                }
            }
            let share = held as f64 / f64::from(all);
            assert!(share <= most, "{share} {prefix:?}");
        }
    }
}
