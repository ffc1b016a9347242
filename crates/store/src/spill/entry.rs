//! What is kept of a URL that is spilled.

use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc;

/// Bytes that the four numbers of an entry take at most.
const NUMBERS: usize = 40;

/// A key, and what the output says of it. Lengths and numbers are written in seven bits a byte,
/// the lowest first, as in LEB128.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillEntry<'a> {
    /// The place of its first record among all records of the run.
    pub ordinal: u64,
    /// Its records; 0 for a key that was seen before the run.
    pub count: u64,
    /// The key.
    pub key: &'a [u8],
    /// The line of columns, where lines hold more than the key.
    pub line: &'a [u8],
}

impl SpillEntry<'_> {
    /// Appends its bytes, as a partition or run holds them.
    pub fn append(&self, out: &mut Vec<u8>) -> Result<(), AllocError> {
        alloc::try_reserve(out, NUMBERS + self.key.len() + self.line.len())?;
        number(self.ordinal, out);
        number(self.count, out);
        number(self.key.len() as u64, out);
        out.extend_from_slice(self.key);
        number(self.line.len() as u64, out);
        out.extend_from_slice(self.line);
        Ok(())
    }
}

fn number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// An entry that was read back, in buffers that are used again for the next.
#[derive(Debug, Default)]
pub struct OwnedEntry {
    pub(super) ordinal: u64,
    pub(super) count: u64,
    pub(super) key: Vec<u8>,
    pub(super) line: Vec<u8>,
}

impl OwnedEntry {
    pub fn entry(&self) -> SpillEntry<'_> {
        SpillEntry { ordinal: self.ordinal, count: self.count, key: &self.key, line: &self.line }
    }
}
