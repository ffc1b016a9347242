//! Reads integers in Parquet's delta encoding (Encodings.md, "Delta Encoding"). Pages store the lengths
//! of texts in it.
//!
//! "`<block size in values> <number of miniblocks in a block> <total value count> <first value>`", and
//! blocks of "`<min delta> <list of bitwidths of miniblocks> <miniblocks>`". Input is the bytes of a
//! page; output is the numbers one by one, without allocating, and the offset of their end.

/// Most bits per number.
const BITS: usize = i32::BITS as usize;

/// An iterator over the remaining numbers.
#[derive(Debug, Clone)]
pub(super) struct Deltas<'a> {
    bytes: &'a [u8],
    /// Offset of the next miniblock or block.
    at: usize,
    /// Numbers in a miniblock, and miniblocks in a block.
    miniblock: usize,
    miniblocks: usize,
    /// Offsets of the bit widths of the remaining miniblocks in this block.
    widths: std::ops::Range<usize>,
    /// Remaining numbers, in total and in this miniblock.
    left: usize,
    here: usize,
    /// Position of the next number in bits, and its width.
    bit: usize,
    width: usize,
    least: i32,
    last: i32,
    is_first: bool,
}

impl<'a> Deltas<'a> {
    /// Reads the header at the start of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let mut at = 0;
        let mut next = || varint(bytes, &mut at);
        let said = [next()?, next()?, next()?].map(u32::try_from);
        let first = narrow(zigzag(next()?))?;
        // "the block size is a multiple of 128; the miniblock count per block is a divisor of the block
        // size such that their quotient, the number of values in a miniblock, is a multiple of 32"
        let (miniblock, miniblocks, count) = match said {
            [Ok(block @ 128..), Ok(miniblocks @ 1..), Ok(count)]
                if block % 128 == 0 && block % miniblocks == 0 && block / miniblocks % 32 == 0 =>
            {
                (block / miniblocks, miniblocks, count)
            }
            [_, _, Err(_)] => return Err("it has more numbers than there can be"),
            _ => return Err("its numbers are packed in blocks of a size that none can have"),
        };
        Ok(Self {
            bytes,
            at,
            miniblock: miniblock as usize,
            miniblocks: miniblocks as usize,
            widths: 0..0,
            left: count as usize,
            here: 0,
            bit: 0,
            width: 0,
            least: 0,
            last: first,
            is_first: true,
        })
    }

    /// Number of remaining values.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Returns the offset after the last number, including the padding of its miniblock.
    pub(super) fn end(mut self) -> Result<usize, &'static str> {
        self.left = self.left.saturating_sub(1);
        while self.left > 0 {
            self.begin_miniblock()?;
            self.left = self.left.saturating_sub(self.here);
        }
        if self.at > self.bytes.len() { Err(CUT) } else { Ok(self.at) }
    }

    /// Returns the next number, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<i32>, &'static str> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        if std::mem::take(&mut self.is_first) {
            return Ok(Some(self.last));
        }
        if self.here == 0 {
            self.begin_miniblock()?;
        }
        self.here -= 1;
        let delta = self.bits()?;
        // Writers let differences overflow, so the sums have to wrap as well (Encodings.md:
        // "wrapping around in 2's complement notation").
        self.last = self.last.wrapping_add(self.least).wrapping_add(delta as i32);
        Ok(Some(self.last))
    }

    fn begin_miniblock(&mut self) -> Result<(), &'static str> {
        if self.widths.is_empty() {
            self.least = narrow(zigzag(varint(self.bytes, &mut self.at)?))?;
            let end = self.at + self.miniblocks;
            if end > self.bytes.len() {
                return Err(CUT);
            }
            self.widths = self.at..end;
            self.at = end;
        }
        // Only miniblocks with values are entered: the widths of the others may be arbitrary.
        let width = self.widths.next().and_then(|at| self.bytes.get(at)).ok_or(CUT)?;
        self.width = usize::from(*width);
        if self.width > BITS {
            return Err("its numbers are packed with more bits than they have");
        }
        self.here = self.miniblock;
        self.bit = 8 * self.at;
        self.at += self.width * self.miniblock / 8;
        Ok(())
    }

    /// Reads the bits of the next number, lowest first.
    fn bits(&mut self) -> Result<u32, &'static str> {
        let end = self.bit + self.width;
        let bytes = self.bytes.get(self.bit / 8..end.div_ceil(8)).ok_or(CUT)?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word) >> (self.bit % 8) & ((1 << self.width) - 1);
        self.bit = end;
        Ok(bits as u32)
    }
}

const CUT: &str = "its numbers end early";

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, &'static str> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.get(*at).ok_or(CUT)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("one of its numbers is too long")
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn narrow(number: i64) -> Result<i32, &'static str> {
    i32::try_from(number).map_err(|_| "one of its numbers is too long")
}
