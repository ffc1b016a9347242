//! Cuts CSV into records.
//!
//! RFC 4180, section 2: "Fields containing line breaks (CRLF), double quotes, and commas should be
//! enclosed in double-quotes." A field is quoted if a quotation mark is its first byte. Inside it,
//! a pair of marks stands for one mark, and a single mark ends the quotation. Anywhere else a mark
//! is an ordinary byte. csv-core has the same rules, so each record cut here is one record there.
//!
//! The plain algorithm goes from field to field ([`reach`]). Up to the first mark outside of these
//! rules, [`Usual`] replaces it and finds the line feeds that end records 64 bytes at a time.

use std::ops::Range;

use memchr::{memchr, memrchr};

use uniqurl::internal::{BLOCK, Block, Kernel, Vector, VectorOp};

/// A piece of a chunk: the range of its bytes without the line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CsvRecord {
    /// A whole record.
    Record(Range<usize>),
    /// A line longer than the limit on records.
    TooLong(Range<usize>),
    /// A line with a quotation that does not close within the limit.
    Unclosed(Range<usize>),
}

impl CsvRecord {
    pub fn range(&self) -> Range<usize> {
        match self {
            CsvRecord::Record(range) | CsvRecord::TooLong(range) | CsvRecord::Unclosed(range) => {
                range.clone()
            }
        }
    }
}

/// Iterates over the pieces of a chunk, which ends with a record or with the input.
pub(super) struct CsvCutter<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    max_record: usize,
    at: usize,
    /// Lines that begin before this offset are read one by one.
    single_until: usize,
    /// The line feeds that end the next records, as far as known, the nearest last.
    feeds: Vec<usize>,
    /// True if masks may find more of them.
    usual: bool,
}

/// The extent of a record.
enum Reach {
    /// The record ends at this line feed.
    End(usize),
    /// The record runs past the end of the bytes, inside a quotation or not.
    Open { quoted: bool },
    /// The record exceeds the limit.
    TooFar,
}

impl<'a> CsvCutter<'a> {
    pub fn new(bytes: &'a [u8], delimiter: u8, max_record: usize) -> Self {
        // No record is longer than all bytes, and adding a larger limit to a position could overflow.
        let max_record = max_record.min(bytes.len());
        let feeds = Vec::new();
        Self { bytes, delimiter, max_record, at: 0, single_until: 0, feeds, usual: true }
    }

    /// The same without masks.
    #[cfg(test)]
    pub fn by_fields(bytes: &'a [u8], delimiter: u8, max_record: usize) -> Self {
        Self { usual: false, ..Self::new(bytes, delimiter, max_record) }
    }

    /// Whether masks find the end of the first record.
    #[cfg(test)]
    pub fn finds_by_masks(mut self) -> bool {
        self.usual().is_some()
    }

    /// The line feed that ends the next record, if the masks have found it.
    fn usual(&mut self) -> Option<usize> {
        if self.feeds.is_empty() && self.usual && self.at >= self.single_until {
            let Self { bytes, delimiter, max_record, at, feeds, .. } = self;
            let (bytes, delimiter, max_record) = (&bytes[*at..], *delimiter, *max_record);
            let usual = Usual { bytes, delimiter, max_record, at: *at, feeds };
            // Never again once no whole record is left: each line of an open quotation would repeat
            // the search.
            self.usual = Kernel::best().run(usual);
            self.feeds.reverse();
        }
        self.feeds.pop()
    }

    /// The next line by itself, and the offset of the line after it.
    fn line(&self) -> (Range<usize>, usize) {
        match memchr(b'\n', &self.bytes[self.at..]).map(|length| self.at + length) {
            Some(feed) => (without_return(self.bytes, self.at..feed), feed + 1),
            None => (self.at..self.bytes.len(), self.bytes.len()),
        }
    }
}

impl Iterator for CsvCutter<'_> {
    type Item = CsvRecord;

    fn next(&mut self) -> Option<CsvRecord> {
        if let Some(feed) = self.usual() {
            let range = without_return(self.bytes, self.at..feed);
            self.at = feed + 1;
            return Some(CsvRecord::Record(range));
        }
        if self.at == self.bytes.len() {
            return None;
        }
        if self.at >= self.single_until {
            match reach(self.bytes, self.at, self.delimiter, self.max_record) {
                Reach::End(feed) => {
                    let range = without_return(self.bytes, self.at..feed);
                    self.at = feed + 1;
                    return Some(CsvRecord::Record(range));
                }
                Reach::Open { quoted: false } => {
                    let range = self.at..self.bytes.len();
                    self.at = self.bytes.len();
                    return Some(CsvRecord::Record(range));
                }
                Reach::Open { quoted: true } | Reach::TooFar => {
                    // The quotation may be a stray mark, and must not swallow the input: the lines
                    // up to the limit are read one by one.
                    self.single_until = self.at + self.max_record + 1;
                }
            }
        }
        let (range, next) = self.line();
        let line = &self.bytes[range.clone()];
        self.at = next;
        Some(match reach(line, 0, self.delimiter, self.max_record) {
            Reach::TooFar => CsvRecord::TooLong(range),
            Reach::Open { quoted: true } => CsvRecord::Unclosed(range),
            Reach::Open { quoted: false } | Reach::End(_) => CsvRecord::Record(range),
        })
    }
}

/// Length of the pieces at the start of `bytes` that stay the same whatever follows.
pub(super) fn whole(bytes: &[u8], delimiter: u8, max_record: usize) -> usize {
    let max_record = max_record.min(bytes.len());
    // Without a quotation mark, lines are records. The bytes after the last of them are the start
    // of a line. If they already exceed the limit, the end of that line does not matter.
    let lines = memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    let lines = if bytes.len() - lines > max_record { bytes.len() } else { lines };
    if memchr(b'"', bytes).is_none() {
        return lines;
    }
    let mut cutter = CsvCutter::new(bytes, delimiter, max_record);
    while cutter.at < lines {
        if let Some(feed) = cutter.usual() {
            cutter.at = feed + 1;
            continue;
        }
        if cutter.at >= cutter.single_until {
            match reach(bytes, cutter.at, delimiter, max_record) {
                Reach::End(_) => {}
                Reach::Open { .. } => return cutter.at,
                // Lines that are read one by one stay in one chunk, up to the line that the limit
                // falls in, so that the reader of the chunk makes the same decision.
                Reach::TooFar if cutter.at + max_record + 1 > lines => return cutter.at,
                Reach::TooFar => {}
            }
        }
        cutter.next();
    }
    lines
}

#[cfg(test)]
thread_local! {
    /// The bytes that this thread looked at for the ends of records.
    pub(super) static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Finds the extent of the record at `start`.
fn reach(bytes: &[u8], start: usize, delimiter: u8, max_record: usize) -> Reach {
    let limit = bytes.len().min(start + max_record + 1);
    let too_far = bytes.len() - start > max_record;
    let window = &bytes[start..limit];
    let open = |quoted| if too_far { Reach::TooFar } else { Reach::Open { quoted } };
    let feed = memchr(b'\n', window);
    #[cfg(test)]
    LOOKED.set(LOOKED.get() + feed.unwrap_or(window.len()));
    if memchr(b'"', &window[..feed.unwrap_or(window.len())]).is_none() {
        return feed.map_or(open(false), |feed| Reach::End(start + feed));
    }
    let mut at = 0;
    // Invariant: `at` is the start of a field.
    loop {
        if window.get(at) == Some(&b'"') {
            let length = quotation(&window[at..]);
            #[cfg(test)]
            LOOKED.set(LOOKED.get() + length.unwrap_or(window.len() - at));
            let Some(length) = length else { return open(true) };
            at += length;
            // The mark is the last byte of the window, and the next byte may make it a pair.
            if at == window.len() && too_far {
                return Reach::TooFar;
            }
        }
        match memchr::memchr2(delimiter, b'\n', &window[at..]) {
            None => return open(false),
            Some(length) if window[at + length] == b'\n' => return Reach::End(start + at + length),
            Some(length) => at += length + 1,
        }
    }
}

/// Length of the quotation at the start of a text, both marks included.
fn quotation(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr(b'"', &text[at..])? + 1;
        if text.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

/// The raw fields of a record, including their marks.
pub(super) fn fields(record: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = (!record.is_empty()).then_some(record);
    std::iter::from_fn(move || {
        let text = rest?;
        let quoted = if text.starts_with(b"\"") { quotation(text)? } else { 0 };
        let end = memchr(delimiter, &text[quoted..]).map(|length| quoted + length);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Finds the records at the start of a text from masks of its quotation marks, delimiters and line feeds.
///
/// A mark belongs to a quotation if an odd number of marks precedes it, or if an even number does
/// and it begins a field. A mark right after the end of a quotation forms a pair with it; by this
/// count the first ends the quotation and the second begins it again. So while all marks are of
/// these kinds, a byte is quoted if the number of marks before it is odd.
struct Usual<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    max_record: usize,
    /// Offset of `bytes` in the chunk.
    at: usize,
    /// Receives the line feeds that end the records.
    feeds: &'a mut Vec<usize>,
}

/// The state at the start of a block.
struct Before {
    /// All ones if the block begins in a quotation, else 0.
    quoted: u64,
    /// True if a quotation may begin at the first byte.
    start: bool,
}

impl VectorOp for Usual<'_> {
    /// True if it stopped at a mark outside of any quotation, or at a record that is too long.
    /// Otherwise no whole record follows the ones it found.
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let Self { bytes, delimiter, max_record, at, feeds } = self;
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        // The zeros after the rest are neither marks nor line feeds, so the last block needs no
        // case of its own.
        let mut last: Block = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let mut before = Before { quoted: 0, start: true };
        let mut start = at;
        for (i, block) in blocks.iter().chain([&last]).enumerate() {
            #[cfg(test)]
            LOOKED.set(LOOKED.get() + BLOCK);
            let (mut ends, odd) = before.ends(vector, block, delimiter);
            while ends != 0 {
                let feed = at + i * BLOCK + ends.trailing_zeros() as usize;
                if feed - start > max_record {
                    return true;
                }
                feeds.push(feed);
                start = feed + 1;
                ends &= ends - 1;
            }
            if odd {
                return true;
            }
        }
        false
    }
}

impl Before {
    /// The line feeds of a block that end a record, up to the first mark outside of any quotation,
    /// and whether there is such a mark.
    #[inline(always)]
    fn ends<V: Vector>(&mut self, vector: V, block: &Block, delimiter: u8) -> (u64, bool) {
        let marks = vector.find(block, b'"');
        let feeds = vector.find(block, b'\n');
        let mut quoted = marks;
        // Each bit becomes the parity of the marks up to it. Six shifts do what one carry-less
        // product would, which not every CPU has.
        for shift in [1, 2, 4, 8, 16, 32] {
            quoted ^= quoted << shift;
        }
        quoted ^= self.quoted;
        let starts = marks | feeds | vector.find(block, delimiter);
        // A mark in the middle of an unquoted field is an ordinary byte, and the parity after it is
        // wrong. From here on the plain algorithm decides.
        let odd = marks & quoted & !(starts << 1 | u64::from(self.start));
        self.quoted = 0u64.wrapping_sub(quoted >> (BLOCK - 1));
        self.start = starts >> (BLOCK - 1) != 0;
        // All bits below the first such mark. Without one the subtraction wraps to all ones.
        let usual = (odd & odd.wrapping_neg()).wrapping_sub(1);
        (feeds & !quoted & usual, odd != 0)
    }
}

/// A range that ends at a line feed, without the carriage return before it.
fn without_return(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    range.start..range.end - usize::from(bytes[range.clone()].ends_with(b"\r"))
}
