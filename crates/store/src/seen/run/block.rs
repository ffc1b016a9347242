//! Blocks: sorted keys, each without the bytes that it shares with the key before it.
//!
//! Bytes of a block, before packing: the number of keys (4 bytes); the width of lengths and of marks (a byte
//! each: 1, 2 or 4; marks of width 0 are all the one that follows, in 4 bytes); then for all keys the number
//! of bytes shared with the key before, for all keys the number of other bytes, for all keys the mark, and
//! for all keys the other bytes. Numbers are lowest byte first. Columns pack better than entries
//! one after the other, and a search passes over a key without looking at its bytes.

use uniqurl::internal::{AllocError, alloc};

/// Bytes before the columns.
const HEAD: usize = 6;

/// Gathers the keys of a block.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    shared: Vec<u32>,
    rest: Vec<u32>,
    marks: Vec<u32>,
    suffixes: Vec<u8>,
    last: Vec<u8>,
    longest: u32,
    spelled_out: usize,
}

impl BlockBuilder {
    /// The key that was added last, to this block or to the one before.
    pub(super) fn last(&self) -> &[u8] {
        &self.last
    }

    /// Adds a key that shares `shared` bytes with the last one, and is greater.
    pub(super) fn push(&mut self, key: &[u8], shared: usize, mark: u32) -> Result<(), AllocError> {
        let own = &key[shared..];
        // It is kept across blocks: the separator of the next one tells its first key from this
        // one.
        self.last.truncate(shared);
        alloc::try_reserve(&mut self.last, own.len())?;
        self.last.extend_from_slice(own);
        // The first key of a block is whole.
        let (shared, suffix) = if self.shared.is_empty() { (0, key) } else { (shared, own) };
        alloc::try_reserve(&mut self.suffixes, suffix.len())?;
        for column in [&mut self.shared, &mut self.rest, &mut self.marks] {
            alloc::try_reserve(column, 1)?;
        }
        self.shared.push(shared as u32);
        self.rest.push(suffix.len() as u32);
        self.marks.push(mark);
        self.suffixes.extend_from_slice(suffix);
        self.longest = self.longest.max(shared as u32).max(suffix.len() as u32);
        self.spelled_out += key.len();
        Ok(())
    }

    /// Adds a key that is greater than the last one, whatever they share.
    pub(super) fn push_whole(&mut self, key: &[u8], mark: u32) -> Result<(), AllocError> {
        self.push(key, shared_bytes(&self.last, key), mark)
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.shared.len()
    }

    /// About the bytes that the block has so far.
    pub(super) fn size(&self) -> usize {
        // Nearly all lengths of URLs fit a byte, and the marks of a block are mostly one.
        HEAD + 2 * self.shared.len() + self.suffixes.len()
    }

    /// Bytes of its keys.
    pub(super) fn spelled_out(&self) -> usize {
        self.spelled_out
    }

    /// Appends the bytes of the block, and begins another.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), AllocError> {
        let width = width(self.longest);
        let first = self.marks.first().copied().unwrap_or_default();
        // Most runs are one add, so one mark stands for all keys of most blocks.
        let marks_width = match self.marks.iter().all(|mark| *mark == first) {
            true => 0,
            false => self::width(self.marks.iter().copied().max().unwrap_or_default()),
        };
        let columns = self.len() * (2 * width + marks_width);
        alloc::try_reserve_exact(out, HEAD + 4 + columns + self.suffixes.len())?;
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        out.extend_from_slice(&[width as u8, marks_width as u8]);
        if marks_width == 0 {
            out.extend_from_slice(&first.to_le_bytes());
        }
        for (column, width) in
            [(&self.shared, width), (&self.rest, width), (&self.marks, marks_width)]
        {
            column.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()[..width]));
        }
        out.extend_from_slice(&self.suffixes);
        self.shared.clear();
        self.rest.clear();
        self.marks.clear();
        self.suffixes.clear();
        (self.longest, self.spelled_out) = (0, 0);
        Ok(())
    }
}

/// Bytes of numbers up to this one.
fn width(most: u32) -> usize {
    match most {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 4,
    }
}

/// How many bytes the two begin with in common.
#[inline]
pub(super) fn shared_bytes(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    let (mut left, mut right) = (a, b);
    // Neighbouring URLs share most of their bytes, so these are compared eight at a time.
    while let (Some((l, more_l)), Some((r, more_r))) =
        (left.split_first_chunk::<8>(), right.split_first_chunk::<8>())
    {
        let differing = u64::from_le_bytes(*l) ^ u64::from_le_bytes(*r);
        if differing != 0 {
            return shared + differing.trailing_zeros() as usize / 8;
        }
        shared += 8;
        (left, right) = (more_l, more_r);
    }
    shared + left.iter().zip(right).take_while(|(l, r)| l == r).count()
}

/// A block whose columns are where they should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'b> {
    shared: Column<'b>,
    rest: Column<'b>,
    marks: Column<'b>,
    suffixes: &'b [u8],
    len: usize,
}

/// Numbers of one width, or one number for all.
#[derive(Debug, Clone, Copy)]
enum Column<'b> {
    Same(u32),
    Bytes(&'b [u8]),
    Pairs(&'b [[u8; 2]]),
    Words(&'b [[u8; 4]]),
}

impl<'b> Column<'b> {
    fn of(bytes: &'b [u8], width: u8) -> Option<Self> {
        match width {
            1 => Some(Self::Bytes(bytes)),
            2 => Some(Self::Pairs(bytes.as_chunks().0)),
            4 => Some(Self::Words(bytes.as_chunks().0)),
            _ => None,
        }
    }

    #[inline(always)]
    fn get(self, at: usize) -> usize {
        match self {
            Self::Same(number) => number as usize,
            Self::Bytes(bytes) => bytes[at].into(),
            Self::Pairs(pairs) => u16::from_le_bytes(pairs[at]).into(),
            Self::Words(words) => u32::from_le_bytes(words[at]) as usize,
        }
    }
}

impl<'b> Block<'b> {
    /// The block of these bytes. None: they are none.
    pub(super) fn parse(bytes: &'b [u8]) -> Option<Self> {
        let mut bytes = bytes;
        let len = u32::from_le_bytes(take_front(&mut bytes)?) as usize;
        let [width, marks_width] = take_front(&mut bytes)?;
        let same = if marks_width == 0 { Some(take_front(&mut bytes)?) } else { None };
        let mut column = |width: u8| {
            // The number of keys is the file's word. A product that overflows is damage, and no
            // panic.
            let (column, rest) = bytes.split_at_checked(len.checked_mul(width.into())?)?;
            bytes = rest;
            Some(column)
        };
        let shared = Column::of(column(width)?, width)?;
        let rest = Column::of(column(width)?, width)?;
        let marks = match same {
            Some(mark) => Column::Same(u32::from_le_bytes(mark)),
            None => Column::of(column(marks_width)?, marks_width)?,
        };
        let block = Self { shared, rest, marks, suffixes: bytes, len };
        block.is_consistent().then_some(block)
    }

    /// Whether the lengths are those of keys that the suffixes hold. After this, no length needs to be
    /// looked at again.
    fn is_consistent(&self) -> bool {
        let (mut before, mut end) = (0, 0usize);
        for at in 0..self.len {
            let (shared, rest) = (self.shared.get(at), self.rest.get(at));
            if shared > before {
                return false;
            }
            before = shared + rest;
            end += rest;
        }
        end == self.suffixes.len()
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The mark of a key.
    pub(super) fn mark(&self, at: usize) -> u32 {
        self.marks.get(at) as u32
    }

    /// Bytes of all keys.
    pub(super) fn spelled_out(&self) -> usize {
        (0..self.len).map(|at| self.shared.get(at) + self.rest.get(at)).sum()
    }

    /// The keys, in order.
    pub(super) fn keys(self) -> impl Iterator<Item = BlockKey<'b>> {
        let mut suffixes = self.suffixes;
        (0..self.len).map(move |at| {
            let (suffix, rest) = suffixes.split_at(self.rest.get(at));
            suffixes = rest;
            BlockKey { shared: self.shared.get(at), suffix, mark: self.mark(at) }
        })
    }
}

/// A key as a block holds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockKey<'b> {
    /// The bytes that it shares with the key before.
    pub(super) shared: usize,
    /// The other bytes.
    pub(super) suffix: &'b [u8],
    pub(super) mark: u32,
}

impl BlockKey<'_> {
    /// Makes `key`, which holds the key before, this one.
    pub(super) fn follow(&self, key: &mut Vec<u8>) -> Result<(), AllocError> {
        key.truncate(self.shared);
        alloc::try_reserve(key, self.suffix.len())?;
        key.extend_from_slice(self.suffix);
        Ok(())
    }
}

/// Takes so many bytes from the front.
pub(super) fn take_front<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*front)
}

/// Finds keys in a block, in ascending order.
///
/// The key at the place, and `above`, the bytes of it: it is the first key that is at least the last one that was
/// looked for.
#[derive(Debug)]
pub(super) struct BlockSearch<'b> {
    block: Block<'b>,
    at: usize,
    suffix: usize,
    above: Vec<u8>,
}

impl<'b> BlockSearch<'b> {
    /// Stands at the first key.
    pub(super) fn new(block: Block<'b>) -> Result<Self, AllocError> {
        let mut search = Self { block, at: 0, suffix: 0, above: Vec::new() };
        if block.len > 0 {
            // The first key shares nothing with another, as `is_consistent` has made sure.
            let rest = block.rest.get(0);
            alloc::try_reserve(&mut search.above, rest)?;
            search.above.extend_from_slice(&block.suffixes[..rest]);
        }
        Ok(search)
    }

    /// Goes on to the first key that is at least `key`, which is at least the one before. Returns its number
    /// (the number of keys if there is none), and whether it is equal.
    pub(super) fn find(&mut self, key: &[u8]) -> Result<(usize, bool), AllocError> {
        let block = self.block;
        if self.at == block.len {
            return Ok((self.at, false));
        }
        // The bytes that `key` and the key at the place have in common.
        let mut common = shared_bytes(&self.above, key);
        match (self.above.get(common), key.get(common)) {
            (None, None) => return Ok((self.at, true)),
            (Some(own), Some(other)) if own > other => return Ok((self.at, false)),
            (Some(_), None) => return Ok((self.at, false)),
            (Some(_), Some(_)) | (None, Some(_)) => {}
        }
        // The key at the place is less. A key that shares more with it than `common` is less too, for the
        // same byte; one that shares less is greater, since it is greater than the key before it.
        loop {
            self.suffix += block.rest.get(self.at);
            self.at += 1;
            if self.at == block.len {
                return Ok((self.at, false));
            }
            let shared = block.shared.get(self.at);
            if shared > common {
                continue;
            }
            let suffix = &block.suffixes[self.suffix..][..block.rest.get(self.at)];
            let rest = &key[common..];
            let more = if shared < common { 0 } else { shared_bytes(suffix, rest) };
            let is_less = shared == common
                && match (suffix.get(more), rest.get(more)) {
                    (None, Some(_)) => true,
                    (Some(own), Some(other)) => own < other,
                    (Some(_) | None, None) => false,
                };
            if is_less {
                common += more;
                continue;
            }
            // It shares its first bytes with `key`, as the key before it does.
            self.above.clear();
            alloc::try_reserve(&mut self.above, shared + suffix.len())?;
            self.above.extend_from_slice(&key[..shared]);
            self.above.extend_from_slice(suffix);
            let is_equal = shared == common && more == suffix.len() && more == rest.len();
            return Ok((self.at, is_equal));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    fn block(keys: &[Vec<u8>]) -> Vec<u8> {
        let mut builder = BlockBuilder::default();
        for (i, key) in keys.iter().enumerate() {
            builder.push_whole(key, (i % 7) as u32 * 100).unwrap();
        }
        let mut bytes = Vec::new();
        builder.finish(&mut bytes).unwrap();
        bytes
    }

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let key = prop_oneof![
            proptest::collection::vec(0u8..3, 0..8),
            proptest::collection::vec(any::<u8>(), 0..3),
            (0usize..400).prop_map(|length| vec![1; length]),
            (0usize..2).prop_map(|more| vec![2; 70_000 + more]),
        ];
        proptest::collection::btree_set(key, 0..40).prop_map(|keys| keys.into_iter().collect())
    }

    proptest! {
        #[test]
        fn blocks_round_trip(keys in keys()) {
            let bytes = block(&keys);
            let block = Block::parse(&bytes).expect("a block");
            let (mut key, mut read) = (Vec::new(), Vec::new());
            for (at, entry) in block.keys().enumerate() {
                prop_assert_eq!(entry.mark, (at % 7) as u32 * 100);
                prop_assert_eq!(block.mark(at), entry.mark);
                entry.follow(&mut key).unwrap();
                read.push(key.clone());
            }
            prop_assert_eq!(read, keys);
        }

        #[test]
        fn a_search_finds_the_first_key_that_is_not_less(keys in keys(), mut wanted in keys()) {
            wanted.extend(keys.iter().step_by(2).cloned());
            wanted.sort();
            let bytes = block(&keys);
            let mut search = BlockSearch::new(Block::parse(&bytes).expect("a block")).unwrap();
            for wanted in wanted {
                let at = keys.partition_point(|key| *key < wanted);
                let is_equal = keys.get(at) == Some(&wanted);
                prop_assert_eq!(search.find(&wanted).unwrap(), (at, is_equal));
            }
        }

    }

    /// The bytes of a block of any lengths and texts: some contradict each other, and keys are in no order.
    fn forged_blocks() -> impl Strategy<Value = Vec<u8>> {
        let lengths = proptest::collection::vec((0u32..3, 0u32..4), 0..8);
        let widths = (prop::sample::select(vec![1, 2, 4]), prop::sample::select(vec![0, 1, 2, 4]));
        let text = proptest::collection::vec(any::<u8>(), 64);
        (lengths, widths, text, 0usize..5).prop_map(|(mut lengths, (width, marks), text, fault)| {
            if let Some((shared, _)) = lengths.first_mut().filter(|_| fault != 1) {
                *shared = 0;
            }
            let mut bytes = (lengths.len() as u32).to_le_bytes().to_vec();
            bytes.extend([width as u8, marks as u8]);
            bytes.extend_from_slice(&text[..if marks == 0 { 4 } else { 0 }]);
            let (shared, rest): (Vec<u32>, Vec<u32>) = lengths.into_iter().unzip();
            for length in shared.iter().chain(&rest) {
                bytes.extend_from_slice(&length.to_le_bytes()[..width]);
            }
            bytes.extend_from_slice(&text[..rest.len() * marks]);
            let suffixes = rest.iter().sum::<u32>() as usize;
            bytes.extend_from_slice(&text[..suffixes + usize::from(fault == 2)]);
            bytes
        })
    }

    #[test]
    fn any_bytes_are_a_block_or_none() {
        let (blocks, others) = (Cell::new(0), Cell::new(0));
        let bytes = prop_oneof![proptest::collection::vec(any::<u8>(), 0..60), forged_blocks()];
        let checked = TestRunner::default().run(&bytes, |bytes| {
            let Some(block) = Block::parse(&bytes) else {
                others.set(others.get() + 1);
                return Ok(());
            };
            blocks.set(blocks.get() + usize::from(block.len() > 1));
            let mut key = Vec::new();
            block.keys().try_for_each(|entry| entry.follow(&mut key)).unwrap();
            let mut search = BlockSearch::new(block).unwrap();
            for wanted in [&b""[..], b"a", b"\xFF\xFF"] {
                search.find(wanted).unwrap();
            }
            Ok(())
        });
        checked.unwrap();
        assert!(blocks.get() > 0 && others.get() > 0, "{} and {}", blocks.get(), others.get());
    }
}
