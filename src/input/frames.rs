//! The records of an archive (WARC, ARC), one behind the other, each with a head that says how long its
//! body is.
//!
//! In comes a source; out go chunks of whole heads, with the bodies where they are wanted. What is not
//! wanted is passed over, in a plain file without reading it. Where no head is, the next one is looked
//! for, and what lies before it is one frame that says so.
//!
//! In a compressed archive a record is a member of its own (WARC 1.1 annex D: "each WARC record is
//! individually compressed as its own member"; so it is in ARC files), so where a member begins with a
//! head a record begins, whatever the one before it says of its length.

use std::collections::VecDeque;
use std::io;

use memchr::{memchr, memmem, memrchr};

use super::buffers::Buffer;
use super::source::Source;
use crate::record::{Frame, Framing, State, arc_body, warc_body, warc_head};

/// A body that is wanted may be this long: the links of a page are one.
const BODY: u64 = 16 << 20;

/// What is kept of bytes that are no record.
const EXCERPT: usize = 1 << 10;

/// How much is read at a time.
const READ: usize = 64 << 10;

/// Cuts a source into records.
pub(super) struct Framer<'a> {
    source: &'a mut dyn Source,
    framing: Framing,
    max_head: usize,
    /// Bytes that were read, and how many of them are dealt with.
    buffer: Vec<u8>,
    used: usize,
    /// Offset of the first byte that is not dealt with.
    offset: u64,
    ended: bool,
    /// Where the record at hand begins, and where members start, but for those that do not matter.
    begun: u64,
    starts: VecDeque<u64>,
    /// An error that stands behind what was read already.
    failed: Option<io::Error>,
}

impl<'a> Framer<'a> {
    /// `head` is what was read of the source already.
    pub(super) fn new(
        source: &'a mut dyn Source,
        head: Vec<u8>,
        failed: Option<io::Error>,
        framing: Framing,
        max_head: usize,
    ) -> Self {
        Self {
            source,
            framing,
            max_head,
            buffer: head,
            used: 0,
            offset: 0,
            ended: false,
            begun: 0,
            starts: VecDeque::new(),
            failed,
        }
    }

    /// Where the next record, or the trouble, is.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn source(&self) -> &dyn Source {
        self.source
    }

    /// Appends the next record to `out`; none at the end.
    pub(super) fn next(&mut self, out: &mut Buffer) -> io::Result<Option<Frame>> {
        // Records end with empty lines; how many does not matter.
        loop {
            let blank = self.rest().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.pass(blank);
            if !self.rest().is_empty() {
                break;
            }
            if !self.more()? {
                return Ok(None);
            }
        }
        let offset = self.offset;
        self.begun = offset;
        let start = out.len();
        let state = match self.head()? {
            Head::Complete { length, body: Some(body) } => {
                out.extend_from_slice(&self.rest()[..length]);
                self.pass(length);
                self.body(body, out)?
            }
            Head::Complete { length, body: None } => {
                out.extend_from_slice(&self.rest()[..length.min(EXCERPT)]);
                // The next head may stand right behind the last line feed.
                self.pass(length - 1);
                self.find_next()?;
                State::Malformed
            }
            Head::Broken(length) => {
                out.extend_from_slice(&self.rest()[..length.min(EXCERPT)]);
                self.pass(length);
                State::Malformed
            }
            Head::Endless => {
                out.extend_from_slice(&self.rest()[..self.max_head + 1]);
                self.pass(1);
                self.find_next()?;
                State::TooLong
            }
            Head::Cut => {
                let rest = self.rest().len();
                out.extend_from_slice(self.rest());
                self.pass(rest);
                State::Cut
            }
            Head::None => {
                out.extend_from_slice(&self.rest()[..self.rest().len().min(EXCERPT)]);
                self.pass(1);
                self.find_next()?;
                State::Malformed
            }
        };
        Ok(Some(Frame { start: start as u32, end: out.len() as u32, offset, state }))
    }

    /// Looks at the head of a record.
    fn head(&mut self) -> io::Result<Head> {
        loop {
            let next = self.next_member()?;
            let there = next.unwrap_or(self.rest().len());
            match look(self.framing, &self.rest()[..there]) {
                // The length decides first: whether the next member is known, and the end, depends
                // on how much came with the last read.
                Head::Complete { length, .. } if length > self.max_head => {
                    return Ok(Head::Endless);
                }
                Head::Cut if there > self.max_head => return Ok(Head::Endless),
                Head::Cut if next.is_some() => return Ok(Head::Broken(there)),
                Head::Cut if self.more()? => {}
                head => return Ok(head),
            }
        }
    }

    /// Passes over a body, or appends it to `out`.
    fn body(&mut self, length: u64, out: &mut Buffer) -> io::Result<State> {
        let wanted = self.framing == (Framing::Warc { bodies: true });
        let taken = wanted && length <= BODY;
        let mut left = length;
        loop {
            let next = self.next_member()?;
            let there =
                next.unwrap_or(self.rest().len()).min(usize::try_from(left).unwrap_or(usize::MAX));
            if taken {
                out.extend_from_slice(&self.rest()[..there]);
            }
            self.pass(there);
            left -= there as u64;
            if left == 0 {
                break;
            }
            if next.is_some() {
                return Ok(State::Malformed);
            }
            if !taken && self.source.packing().is_none() && self.failed.is_none() {
                let skipped = self.source.skip(left)?;
                self.offset += skipped;
                left -= skipped;
                break;
            }
            if !self.more()? {
                break;
            }
        }
        Ok(match () {
            () if left > 0 => State::Cut,
            () if wanted && !taken => State::TooLong,
            () => State::Whole,
        })
    }

    /// How far it is to the next member that begins with the head of a record, if that is in what was
    /// read.
    fn next_member(&mut self) -> io::Result<Option<usize>> {
        loop {
            if let Some(starts) = self.source.starts() {
                starts.take(&mut self.starts);
            }
            let Some(start) = self.starts.front().copied() else { return Ok(None) };
            let behind = start.checked_sub(self.offset).filter(|_| start > self.begun);
            let Some(bytes) = behind.map(|behind| self.rest().get(behind as usize..)) else {
                self.starts.pop_front();
                continue;
            };
            let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
            match begins(self.framing, bytes) {
                Some(true) => return Ok(behind.map(|behind| behind as usize)),
                None if bytes.len() <= self.max_head && self.more()? => {}
                _ => {
                    self.starts.pop_front();
                }
            }
        }
    }

    /// Passes over what is no record, up to the line that looks like the head of one.
    fn find_next(&mut self) -> io::Result<()> {
        loop {
            let next = self.next_member()?;
            let rest = &self.rest()[..next.unwrap_or(self.rest().len())];
            if let Some(found) = find_head(self.framing, rest).or(next) {
                self.pass(found);
                return Ok(());
            }
            // Behind the last line feed a head may begin; a line this long is none.
            let rest = self.rest();
            let feed = memrchr(b'\n', rest).unwrap_or(rest.len());
            let from = if rest.len() - feed > self.max_head { rest.len() } else { feed };
            self.pass(from);
            if !self.more()? {
                let rest = self.rest().len();
                self.pass(rest);
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    fn pass(&mut self, count: usize) {
        self.used += count;
        self.offset += count as u64;
    }

    /// Reads on. False at the end.
    fn more(&mut self) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + READ, 0);
        let read = loop {
            match self.source.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(filled + read.as_ref().copied().unwrap_or(0));
        let read = read?;
        self.ended = read == 0;
        Ok(!self.ended)
    }
}

/// What stands where a record should.
enum Head {
    /// A head of this many bytes; none: it does not say how long the body is.
    Complete {
        length: usize,
        body: Option<u64>,
    },
    /// The beginning of one.
    Cut,
    /// The same, and behind so many bytes another record begins.
    Broken(usize),
    /// The beginning of one, and it is too long.
    Endless,
    None,
}

/// The head at the start of `bytes`, behind which more may come.
fn look(framing: Framing, bytes: &[u8]) -> Head {
    match framing {
        Framing::Lines => Head::None,
        Framing::Warc { .. } => {
            let common = bytes.len().min(VERSION.len());
            if bytes[..common] != VERSION[..common] {
                return Head::None;
            }
            match warc_head(bytes) {
                Some(length) => Head::Complete { length, body: warc_body(&bytes[..length]) },
                None => Head::Cut,
            }
        }
        Framing::Arc => match memchr(b'\n', bytes) {
            Some(feed) => match arc_body(&bytes[..feed]) {
                Some(body) => Head::Complete { length: feed + 1, body: Some(body) },
                None => Head::None,
            },
            None => Head::Cut,
        },
    }
}

/// Whether a record begins at the start of `bytes`; none, where that takes more of them to tell.
fn begins(framing: Framing, bytes: &[u8]) -> Option<bool> {
    if let Framing::Warc { .. } = framing {
        let is_cut = bytes.len() < VERSION.len() && VERSION.starts_with(bytes);
        return (!is_cut).then(|| bytes.starts_with(VERSION));
    }
    match look(framing, bytes) {
        Head::Complete { .. } => Some(true),
        Head::Cut => None,
        _ => Some(false),
    }
}

/// Where the next line of `bytes` begins that looks like a head; never the first byte unless a line
/// begins there.
fn find_head(framing: Framing, bytes: &[u8]) -> Option<usize> {
    match framing {
        Framing::Lines => None,
        Framing::Warc { .. } => memmem::find(bytes, b"\nWARC/1.").map(|feed| feed + 1),
        Framing::Arc => memchr::memchr_iter(b'\n', bytes)
            .map(|feed| feed + 1)
            .find(|start| matches!(look(framing, &bytes[*start..]), Head::Complete { .. })),
    }
}

/// The first line of every record (WARC 1.1 section 4: `version = "WARC/1.1" CRLF`). Drafts began
/// with 0.
const VERSION: &[u8] = b"WARC/";

#[cfg(test)]
mod tests;
