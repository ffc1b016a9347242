//! Sets of ASCII characters, named by the ABNF rules of RFC 3986 Appendix A.

/// A set of ASCII bytes; a byte of 0x80 or above is never in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsciiSet(u128);

impl AsciiSet {
    /// The set of exactly these bytes.
    pub(crate) const fn of(bytes: &[u8]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < bytes.len() {
            assert!(bytes[i] < 0x80, "not an ASCII byte");
            bits |= 1 << bytes[i];
            i += 1;
        }
        Self(bits)
    }

    /// All bytes from `first` to `last`, both included.
    pub(crate) const fn range(first: u8, last: u8) -> Self {
        assert!(first <= last && last < 0x80);
        // A shift by 128 would overflow.
        let upto = if last == 0x7F { u128::MAX } else { (1 << (last + 1)) - 1 };
        Self(upto & !((1 << first) - 1))
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn contains(self, byte: u8) -> bool {
        byte < 0x80 && self.0 >> byte & 1 == 1
    }

    /// Number of bytes in the set.
    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The bytes of the set in order; `N` is [`AsciiSet::len`].
    pub(crate) const fn members<const N: usize>(self) -> [u8; N] {
        assert!(N == self.len());
        let mut members = [0; N];
        let (mut n, mut byte) = (0, 0);
        while byte < 0x80 {
            if self.contains(byte) {
                members[n] = byte;
                n += 1;
            }
            byte += 1;
        }
        members
    }

    /// For each byte, whether it is in the set: for loops that look up every byte.
    pub(crate) const fn table(self) -> [bool; 256] {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 0x80 {
            table[byte] = self.contains(byte as u8);
            byte += 1;
        }
        table
    }

    /// True if every byte of `self` is in `other`.
    pub(crate) const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Rows for a byte shuffle: bit `h` of row `l` says whether the byte `h << 4 | l` is in the set.
    ///
    /// A kernel selects the row by a byte's low nibble and tests the bit of its high nibble; 16 rows of
    /// 8 bits are 128 members, all of ASCII.
    pub(crate) const fn nibble_rows(self) -> [u8; 16] {
        let mut rows = [0; 16];
        let mut byte = 0;
        while byte < 0x80 {
            if self.contains(byte) {
                rows[(byte & 15) as usize] |= 1 << (byte >> 4);
            }
            byte += 1;
        }
        rows
    }
}

/// A set of bytes in the form for vector code: the rows of its complement. If code complements the mask
/// instead, compilers split vectors bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NibbleTable {
    /// See [`AsciiSet::nibble_rows`].
    pub(crate) others: [u8; 16],
}

impl NibbleTable {
    /// The table of this set.
    pub(crate) const fn new(set: AsciiSet) -> Self {
        Self { others: AsciiSet::range(0, 0x7F).without(set).nibble_rows() }
    }

    /// True if the vector code finds `byte`: it is in the set, or 0x80 or above.
    pub(crate) fn contains(&self, byte: u8) -> bool {
        byte >= 0x80 || self.others[usize::from(byte & 15)] >> (byte >> 4) & 1 == 0
    }
}

pub(crate) const UPPER: AsciiSet = AsciiSet::range(b'A', b'Z');
const LOWER: AsciiSet = AsciiSet::range(b'a', b'z');
/// `ALPHA`, from RFC 5234 appendix B.1.
pub(crate) const ALPHA: AsciiSet = UPPER.or(LOWER);
/// `DIGIT`.
pub(crate) const DIGIT: AsciiSet = AsciiSet::range(b'0', b'9');
/// `unreserved  = ALPHA / DIGIT / "-" / "." / "_" / "~"` (section 2.3).
pub(crate) const UNRESERVED: AsciiSet = ALPHA.or(DIGIT).or(AsciiSet::of(b"-._~"));
/// `gen-delims  = ":" / "/" / "?" / "#" / "[" / "]" / "@"` (section 2.2).
pub(crate) const GEN_DELIMS: AsciiSet = AsciiSet::of(b":/?#[]@");
/// `sub-delims  = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="` (section 2.2).
pub(crate) const SUB_DELIMS: AsciiSet = AsciiSet::of(b"!$&'()*+,;=");
/// The characters after the first letter of a `scheme`: `ALPHA / DIGIT / "+" / "-" / "."` (section
/// 3.1).
pub(crate) const SCHEME: AsciiSet = ALPHA.or(DIGIT).or(AsciiSet::of(b"+-."));
/// The single characters of `reg-name = *( unreserved / pct-encoded / sub-delims )` (section 3.2.2).
pub(crate) const REG_NAME: AsciiSet = UNRESERVED.or(SUB_DELIMS);
/// The single characters of `userinfo = *( unreserved / pct-encoded / sub-delims / ":" )`.
pub(crate) const USERINFO: AsciiSet = REG_NAME.or(AsciiSet::of(b":"));
/// The single characters of `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"`.
pub(crate) const PCHAR: AsciiSet = REG_NAME.or(AsciiSet::of(b":@"));
/// The characters of a path: `pchar` and the `/` between segments (section 3.3).
pub(crate) const PATH: AsciiSet = PCHAR.or(AsciiSet::of(b"/"));
/// `query = *( pchar / "/" / "?" )`, and `fragment` alike (sections 3.4 and 3.5).
pub(crate) const QUERY: AsciiSet = PATH.or(AsciiSet::of(b"?"));

/// The bytes of a host that is in normal form byte by byte: no capital letter, no triplet, no literal.
pub(crate) const CLEAN_HOST: AsciiSet = REG_NAME.without(UPPER);
/// The bytes that may follow a clean host without a separate check; each `%` is checked separately.
pub(crate) const CLEAN_TAIL: AsciiSet = QUERY;

// A kernel checks the whole URL against CLEAN_TAIL, the scheme's `://` and the host included.
const _: () = assert!(CLEAN_HOST.is_subset(CLEAN_TAIL));
const _: () = assert!(AsciiSet::of(b":/").is_subset(CLEAN_TAIL));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nibble_rows_match_set_membership() {
        for set in [UNRESERVED, QUERY, CLEAN_HOST, AsciiSet::range(0, 0x7F)] {
            let rows = set.nibble_rows();
            for byte in 0..=255u8 {
                let bit = if byte < 0x80 { 1 << (byte >> 4) } else { 0 };
                assert_eq!(rows[(byte & 15) as usize] & bit != 0, set.contains(byte), "{byte:#x}");
            }
        }
    }

    #[test]
    fn grammar_has_66_unreserved_characters_and_11_sub_delims() {
        assert_eq!(UNRESERVED.0.count_ones(), 66);
        assert_eq!(SUB_DELIMS.0.count_ones(), 11);
        assert_eq!(UNRESERVED.0 & SUB_DELIMS.0, 0);
    }
}
