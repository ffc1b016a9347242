//! What is kept of a URL that is spilled.

use uniqurl::internal::{AllocError, alloc};

/// Bytes that the four numbers of an entry and the line feed after its key take at most.
pub(super) const AROUND: usize = 41;

/// A key, and what the output says of it.
///
/// As bytes, the key stands first, after its length and before a line feed, since sorting reads keys that end with
/// one. The numbers and the line follow. Lengths and numbers are written in seven bits a byte, the lowest first, as in
/// LEB128.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillEntry<'a> {
    /// The place of its first record among all records of the run.
    pub ordinal: u64,
    /// Its records.
    pub count: u64,
    /// The key.
    pub key: &'a [u8],
    /// The line of columns, where lines hold more than the key.
    pub line: &'a [u8],
}

impl<'a> SpillEntry<'a> {
    /// Appends its bytes, as a partition or run holds them.
    pub fn append(&self, out: &mut Vec<u8>) -> Result<(), AllocError> {
        alloc::try_reserve(out, AROUND + self.key.len() + self.line.len())?;
        append_number(self.key.len() as u64, out);
        out.extend_from_slice(self.key);
        // The numbers at once, since each call checks the room in the buffer.
        let mut numbers = [b'\n'; AROUND];
        let mut end = 1;
        for number in [self.ordinal, self.count, self.line.len() as u64] {
            end = put_number(number, &mut numbers, end);
        }
        out.extend_from_slice(&numbers[..end]);
        out.extend_from_slice(self.line);
        Ok(())
    }

    /// The entries of whole ones, as they were appended.
    pub fn each(mut bytes: &'a [u8]) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let (entry, length) = Self::decode(bytes)?;
            bytes = &bytes[length..];
            Some(entry)
        })
    }

    /// The entry that `bytes` starts with, and its bytes.
    #[inline]
    pub(super) fn decode(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let mut at = 0;
        let key = decode_text(bytes, &mut at)?;
        at += 1;
        let ordinal = decode_number(bytes, &mut at)?;
        let count = decode_number(bytes, &mut at)?;
        let line = decode_text(bytes, &mut at)?;
        Some((Self { ordinal, count, key, line }, at))
    }
}

#[inline]
pub(crate) fn decode_number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    // No number of 64 bits has more than ten bytes.
    None
}

#[inline]
pub(super) fn decode_text<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
    let length = usize::try_from(decode_number(bytes, at)?).ok()?;
    let text = bytes.get(*at..)?.get(..length)?;
    *at += length;
    Some(text)
}

#[inline]
pub(crate) fn append_number(number: u64, out: &mut Vec<u8>) {
    // Nearly all lengths and counts are below 128.
    match u8::try_from(number) {
        Ok(byte) if byte < 0x80 => out.push(byte),
        _ => {
            let mut bytes = [0; 10];
            let end = put_number(number, &mut bytes, 0);
            out.extend_from_slice(&bytes[..end]);
        }
    }
}

/// Writes a number at a place of a buffer, and returns where it ends.
#[inline]
fn put_number(mut number: u64, out: &mut [u8], mut at: usize) -> usize {
    while number >= 0x80 {
        out[at] = number as u8 | 0x80;
        number >>= 7;
        at += 1;
    }
    out[at] = number as u8;
    at + 1
}
