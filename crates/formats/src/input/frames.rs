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
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::buffers::Buffer;
use super::source::ByteSource;
use crate::record::{Frame, FrameState, Framing, arc_body, blanks, warc_body, warc_head};

/// A body that is wanted may be this long: the links of a page are one.
const BODY: u64 = 16 << 20;

/// What is kept of bytes that are no record, or too long for one.
const EXCERPT: usize = 1 << 10;

/// How much is read at a time.
const READ: usize = 64 << 10;

/// Cuts a source into records.
pub(super) struct Framer<'a> {
    source: &'a mut dyn ByteSource,
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
    /// Offsets at which nothing begins that ends a head. What looks like heads may stand every few
    /// bytes, or members start there, and the end of all of them be far, or nowhere: so each byte is
    /// looked at for it once.
    barren: Range<u64>,
    /// What was looked at for the ends of heads, in bytes.
    #[cfg(test)]
    looked: u64,
    /// An error that stands behind what was read already.
    failed: Option<io::Error>,
}

impl<'a> Framer<'a> {
    /// `head` is what was read of the source already.
    pub(super) fn new(
        source: &'a mut dyn ByteSource,
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
            barren: 0..0,
            #[cfg(test)]
            looked: 0,
            failed,
        }
    }

    /// Where the next record, or the trouble, is.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn source(&self) -> &dyn ByteSource {
        self.source
    }

    /// Appends the next record to `out`; none at the end.
    pub(super) fn next(&mut self, out: &mut Buffer) -> io::Result<Option<Frame>> {
        // Records end with empty lines; how many does not matter, nor that some hold blanks.
        loop {
            self.pass(blanks(self.rest()));
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
            RecordHead::Complete { length, body: Some(body) } => {
                out.extend_from_slice(&self.rest()[..length]);
                self.pass(length);
                self.body(body, out)?
            }
            RecordHead::Complete { length, body: None } => {
                // The next head may stand right behind the last line feed.
                self.find_next(length - 1, out)?;
                FrameState::Malformed
            }
            RecordHead::Broken(length) => {
                self.pass_into(length, out, start + EXCERPT);
                FrameState::Malformed
            }
            RecordHead::Endless => {
                self.find_next(1, out)?;
                FrameState::TooLong
            }
            RecordHead::Cut => {
                let rest = self.rest().len();
                out.extend_from_slice(self.rest());
                self.pass(rest);
                FrameState::Cut
            }
            RecordHead::None => {
                self.find_next(1, out)?;
                FrameState::Malformed
            }
        };
        Ok(Some(Frame::new(start as u32, out.len() as u32, offset, state)))
    }

    /// Looks at the head of a record.
    fn head(&mut self) -> io::Result<RecordHead> {
        loop {
            let next = self.next_member()?;
            let there = next.unwrap_or(self.rest().len());
            if !could_begin(self.framing, &self.rest()[..there]) {
                return Ok(RecordHead::None);
            }
            // The length decides first: whether the next member is known, and the end, depends on
            // how much came with the last read.
            let end = self.end_of_head(0, there);
            if end.unwrap_or(there) > self.max_head {
                return Ok(RecordHead::Endless);
            }
            if let Some(length) = end {
                return Ok(complete(self.framing, &self.rest()[..length]));
            }
            if next.is_some() {
                return Ok(RecordHead::Broken(there));
            }
            if !self.more()? {
                return Ok(RecordHead::Cut);
            }
        }
    }

    /// Behind which byte the head ends that begins at the byte `from`, if that is among the first
    /// `limit`.
    fn end_of_head(&mut self, from: usize, limit: usize) -> Option<usize> {
        let at = self.offset + from as u64;
        if at > self.barren.end {
            // Between the two may be nothing either; then what is known goes on being known.
            let known = self.barren.end.checked_sub(self.offset);
            let is_barren =
                known.is_some_and(|known| self.seek_end(known as usize, from).is_none());
            self.barren = if is_barren { self.barren.start } else { at }..at;
        }
        let is_known = self.barren.start <= at;
        let start = if is_known { (self.barren.end - self.offset) as usize } else { from };
        let end = self.seek_end(start.min(limit), limit);
        // An empty line may begin in the last bytes that are there.
        let until = self.offset + end.unwrap_or(limit).saturating_sub(EMPTY_LINE) as u64;
        if is_known {
            self.barren.end = self.barren.end.max(until);
        } else if until > self.barren.start {
            self.barren = at..until;
        }
        end
    }

    /// Behind which byte the first head ends that does so among those from `start` to `limit`.
    fn seek_end(&mut self, start: usize, limit: usize) -> Option<usize> {
        let bytes = &self.rest()[start..limit];
        let end = match self.framing {
            Framing::Lines => None,
            Framing::Warc { .. } => warc_head(bytes),
            Framing::Arc => memchr(b'\n', bytes).map(|feed| feed + 1),
        };
        #[cfg(test)]
        {
            self.looked += end.unwrap_or(limit - start) as u64;
        }
        end.map(|end| start + end)
    }

    /// Passes over a body, or appends it to `out`.
    fn body(&mut self, length: u64, out: &mut Buffer) -> io::Result<FrameState> {
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
                return Ok(FrameState::Malformed);
            }
            if !taken && self.source.compression().is_none() && self.failed.is_none() {
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
            () if left > 0 => FrameState::Cut,
            () if wanted && !taken => FrameState::TooLong,
            () => FrameState::Whole,
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
            let (there, from) = (bytes.len(), self.rest().len() - bytes.len());
            match self.begins(from) {
                Some(true) => return Ok(Some(from)),
                None if there <= self.max_head && self.more()? => {}
                _ => {
                    self.starts.pop_front();
                }
            }
        }
    }

    /// Passes over what is no record, up to the line that looks like the head of one; none begins in the
    /// first `barren` bytes. The beginning of it goes to the end of `out`.
    fn find_next(&mut self, barren: usize, out: &mut Buffer) -> io::Result<()> {
        let until = out.len() + EXCERPT;
        self.pass_into(barren, out, until);
        loop {
            let next = self.next_member()?;
            let there = next.unwrap_or(self.rest().len());
            match self.find_head(there) {
                Ok(found) => {
                    self.pass_into(found, out, until);
                    return Ok(());
                }
                Err(from) => self.pass_into(next.unwrap_or(from), out, until),
            }
            if next.is_some() {
                return Ok(());
            }
            if !self.more()? {
                self.pass_into(self.rest().len(), out, until);
                return Ok(());
            }
        }
    }

    /// Where the next line begins, among the first `limit` bytes, that looks like a head; never the
    /// first byte unless a line begins there. Or how many of the bytes can be passed over, for there
    /// is none.
    fn find_head(&mut self, limit: usize) -> Result<usize, usize> {
        if let Framing::Warc { .. } = self.framing {
            let bytes = &self.rest()[..limit];
            let last = &bytes[limit.saturating_sub(LINE.len() - 1)..];
            let from = memrchr(b'\n', last).map_or(limit, |feed| limit - last.len() + feed);
            return memmem::find(bytes, LINE).map(|feed| feed + 1).ok_or(from);
        }
        let mut line = self.end_of_head(0, limit);
        let mut from = limit;
        while let Some(start) = line {
            let end = self.end_of_head(start, limit);
            // A line this long is none, be its end there or not. Behind the last line feed one may begin.
            let is_head = |end| {
                end - start <= self.max_head && arc_body(&self.rest()[start..end - 1]).is_some()
            };
            if end.is_some_and(is_head) {
                return Ok(start);
            }
            from = if limit - start > self.max_head { limit } else { start - 1 };
            line = end;
        }
        Err(from)
    }

    /// Whether a record begins at the byte `from`; none, where that takes more of them to tell.
    fn begins(&mut self, from: usize) -> Option<bool> {
        if let Framing::Warc { .. } = self.framing {
            let bytes = &self.rest()[from..];
            let is_cut = bytes.len() < VERSION.len() && VERSION.starts_with(bytes);
            return (!is_cut).then(|| bytes.starts_with(VERSION));
        }
        let end = self.end_of_head(from, self.rest().len())?;
        Some(end - from <= self.max_head && arc_body(&self.rest()[from..end - 1]).is_some())
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    fn pass(&mut self, count: usize) {
        self.used += count;
        self.offset += count as u64;
    }

    /// Passes over `count` bytes that go to the end of `out`, as long as that is no longer than `until`.
    fn pass_into(&mut self, count: usize, out: &mut Buffer, until: usize) {
        let kept = count.min(until.saturating_sub(out.len()));
        out.extend_from_slice(&self.rest()[..kept]);
        self.pass(count);
    }

    /// Reads on. False at the end.
    fn more(&mut self) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(false);
        }
        // To move what is left costs no more than what was dealt with did.
        if self.used >= self.rest().len() {
            self.buffer.drain(..self.used);
            self.used = 0;
        }
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
enum RecordHead {
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

/// Whether a head may begin with these bytes.
fn could_begin(framing: Framing, bytes: &[u8]) -> bool {
    match framing {
        Framing::Lines => false,
        Framing::Warc { .. } => {
            let common = bytes.len().min(VERSION.len());
            bytes[..common] == VERSION[..common]
        }
        Framing::Arc => true,
    }
}

/// What these bytes are, up to the end of a head.
fn complete(framing: Framing, head: &[u8]) -> RecordHead {
    let length = head.len();
    match framing {
        Framing::Arc => match arc_body(&head[..length - 1]) {
            Some(body) => RecordHead::Complete { length, body: Some(body) },
            None => RecordHead::None,
        },
        _ => RecordHead::Complete { length, body: warc_body(head) },
    }
}

/// The first line of every record (WARC 1.1 section 4: `version = "WARC/1.1" CRLF`). Drafts began
/// with 0.
const VERSION: &[u8] = b"WARC/";

/// Where a record is looked for: the first line of one, behind another line.
const LINE: &[u8] = b"\nWARC/1.";

/// The end of a line and an empty one: no head ends with more.
const EMPTY_LINE: usize = 3;

#[cfg(test)]
mod tests;
