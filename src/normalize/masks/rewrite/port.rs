//! Parses the digits of a port all at once.

/// A port of at most five digits, or of none.
pub(super) struct Port {
    pub(super) value: u32,
    /// The number of leading zeros, not counting the last digit.
    pub(super) zeros: usize,
}

impl Port {
    /// Reads the `length` digits that `word` starts with, the first one lowest. RFC 3986 section 3.2.3 allows
    /// any number of digits; `None` for more than five, or for a value above 65535.
    #[inline(always)]
    pub(super) fn read(word: u64, length: usize) -> Option<Self> {
        if length > 5 {
            return None;
        }
        let all = |byte: u8| u64::from_ne_bytes([byte; 8]);
        // The values of the digits, aligned to the end of eight bytes.
        // Two shifts, since for no digits one of them alone would be by 64.
        let digits = (word ^ all(b'0')) << 1 << (63 - 8 * length);
        if (digits.wrapping_add(all(0x80 - 10)) | digits) & all(0x80) != 0 {
            return None;
        }
        // Combines pairs, then fours, then all eight digits; the first digit is in the lowest byte.
        let twos = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
        let fours = twos.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
        let value = (fours.wrapping_mul(10_000 << 32 | 1) >> 32) as u32;
        let before = (digits.trailing_zeros() as usize / 8).min(7);
        (value <= 65535).then_some(Self { value, zeros: before.saturating_sub(8 - length) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_parser_agrees_with_the_standard_library() {
        let mut text = Vec::new();
        let step = if cfg!(miri) { 997 } else { 1 };
        for length in 0..=6 {
            for number in (0..10_usize.pow(length)).step_by(step) {
                text.clear();
                text.extend(format!("{number:0width$}/80", width = length as usize).bytes());
                text.truncate(8);
                text.resize(8, b'9');
                let length = length as usize;
                let digits = str::from_utf8(&text[..length]).unwrap();
                let digits = if length == 0 { "" } else { digits };
                let word = u64::from_le_bytes(*text.first_chunk().unwrap());
                let expected = digits.parse::<u32>().ok().or((length == 0).then_some(0));
                let expected = expected.filter(|value| length <= 5 && *value <= 65535);
                let before = digits.len() - digits.trim_start_matches('0').len();
                let zeros = before.min(length.saturating_sub(1));
                let port = Port::read(word, length).map(|Port { value, zeros }| (value, zeros));
                assert_eq!(port, expected.map(|value| (value, zeros)), "{digits}");
            }
        }
    }

    #[test]
    fn port_with_a_non_digit_is_rejected() {
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for length in 1..=5 {
                for at in 0..length {
                    let mut text = *b"00123456";
                    text[at] = byte;
                    assert!(Port::read(u64::from_le_bytes(text), length).is_none(), "{text:?}");
                }
            }
        }
    }
}
