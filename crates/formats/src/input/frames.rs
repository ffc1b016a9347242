//! Cuts the records of an archive (WARC, ARC). Each record has a head that gives the length of its
//! body.
//!
//! Input is a byte source; output is chunks of whole heads, with bodies where requested. Unwanted
//! bodies are skipped; in a plain file, without reading them. If no head is found where one should be,
//! the next head is searched for and the bytes before it become one malformed frame.
//!
//! In a compressed archive each record is a member of its own (WARC 1.1 annex D: "each WARC record is
//! individually compressed as its own member"; ARC files do the same). So a member that begins with a
//! head starts a record, regardless of the length in the preceding record.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::buffers::Buffer;
use super::byte_source::ByteSource;
use crate::record::{
    Frame, FrameState, Framing, WARC_VERSION, arc_body, blanks, warc_body, warc_head,
};

/// Bytes kept of garbage, or of a record that is too long.
const EXCERPT: usize = 1 << 10;

/// Read size.
const READ: usize = 64 << 10;

/// Cuts a source into records.
pub(super) struct Framer<'a> {
    source: &'a mut dyn ByteSource,
    framing: Framing,
    /// Longest head, and longest body that is read, such as the links of a page.
    max_record: usize,
    /// Bytes read, and how many of them have been consumed.
    buffer: Vec<u8>,
    used: usize,
    /// Offset of the first unconsumed byte.
    offset: u64,
    ended: bool,
    /// Offset of the current record, and those of the members that may start a record.
    begun: u64,
    starts: VecDeque<u64>,
    /// Offsets already searched without finding the end of a head. Candidates for heads, or members,
    /// may start every few bytes while the end of them all is far away or missing. This range makes
    /// sure each byte is searched once.
    barren: Range<u64>,
    /// Bytes searched for the ends of heads.
    #[cfg(test)]
    looked: u64,
    /// An error to report after the bytes read before it.
    failed: Option<io::Error>,
}

impl<'a> Framer<'a> {
    /// `head` holds the bytes already read from the source.
    pub(super) fn new(
        source: &'a mut dyn ByteSource,
        head: Vec<u8>,
        failed: Option<io::Error>,
        framing: Framing,
        max_record: usize,
    ) -> Self {
        Self {
            source,
            framing,
            max_record,
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

    /// Offset of the next record, or of the error.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn source(&self) -> &dyn ByteSource {
        self.source
    }

    /// Appends the next record to `out`. Returns `None` at the end.
    pub(super) fn next(&mut self, out: &mut Buffer) -> io::Result<Option<Frame>> {
        // Records end with empty lines; any number is accepted, and they may hold blanks.
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
        // A member that starts right here is this record and not the next one, so `next_member`
        // passes it over.
        self.begun = offset;
        let start = out.len();
        let state = match self.head()? {
            RecordHead::Complete { length, body: Some(body) } => {
                out.extend_from_slice(&self.rest()[..length]);
                self.pass(length);
                self.body(body, out)?
            }
            RecordHead::Complete { length, body: None } => {
                // The next head may start right after the last line feed.
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
                // All that is left fits: `head` has compared it with `max_record` before it called
                // the head cut.
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

    /// Classifies the head of a record.
    fn head(&mut self) -> io::Result<RecordHead> {
        loop {
            let next = self.next_member()?;
            let there = next.unwrap_or(self.rest().len());
            if !could_begin(self.framing, &self.rest()[..there]) {
                return Ok(RecordHead::None);
            }
            // The length decides first. Whether the next member or the end of the source is known
            // depends on how much the last read returned, and must not change the result.
            let end = self.end_of_head(0, there);
            if end.unwrap_or(there) > self.max_record {
                return Ok(RecordHead::Endless);
            }
            if let Some(length) = end {
                return Ok(complete(self.framing, &self.rest()[..length]));
            }
            // A member that begins with a head starts a record (WARC 1.1 annex D), so the head
            // before it can end nowhere.
            if next.is_some() {
                return Ok(RecordHead::Broken(there));
            }
            if !self.more()? {
                return Ok(RecordHead::Cut);
            }
        }
    }

    /// Returns the end of the head that starts at `from`, if it lies within the first `limit` bytes.
    fn end_of_head(&mut self, from: usize, limit: usize) -> Option<usize> {
        let at = self.offset + from as u64;
        if at > self.barren.end {
            // If the gap between the searched range and `from` holds no end either, the searched range
            // stays valid.
            let known = self.barren.end.checked_sub(self.offset);
            let is_barren =
                known.is_some_and(|known| self.seek_end(known as usize, from).is_none());
            self.barren = if is_barren { self.barren.start } else { at }..at;
        }
        let is_known = self.barren.start <= at;
        let start = if is_known { (self.barren.end - self.offset) as usize } else { from };
        let end = self.seek_end(start.min(limit), limit);
        // An empty line may start in the last available bytes, so these are searched again.
        let until = self.offset + end.unwrap_or(limit).saturating_sub(EMPTY_LINE) as u64;
        if is_known {
            self.barren.end = self.barren.end.max(until);
        } else if until > self.barren.start {
            self.barren = at..until;
        }
        end
    }

    /// Searches the bytes from `start` to `limit` for the end of a head.
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

    /// Skips a body, or appends it to `out`.
    fn body(&mut self, length: u64, out: &mut Buffer) -> io::Result<FrameState> {
        let wanted = self.framing == (Framing::Warc { bodies: true });
        let taken = wanted && length <= self.max_record as u64;
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
            // The length says that the body goes on, and the next member says that it does not. The
            // member is believed: a length that is too great would swallow whole records.
            if next.is_some() {
                return Ok(FrameState::Malformed);
            }
            // Only a plain file can be skipped without reading. An error that waits to be reported
            // comes after the bytes that were read, and a skip would jump over it.
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

    /// Returns the distance to the next member that begins with a record head, if it lies in the bytes
    /// read so far.
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
            // Nothing of this member has been read yet, so its start is kept for a later call.
            let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
            let (there, from) = (bytes.len(), self.rest().len() - bytes.len());
            match self.begins(from) {
                Some(true) => return Ok(Some(from)),
                // More bytes may decide whether a record begins, but no more than a head may have,
                // or one long line would be read into memory whole.
                None if there <= self.max_record && self.more()? => {}
                _ => {
                    self.starts.pop_front();
                }
            }
        }
    }

    /// Skips garbage up to the next line that looks like a head; the first `barren` bytes hold none.
    /// Appends the first bytes of the garbage to `out`.
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

    /// Finds the next line within the first `limit` bytes that looks like a head. Never returns the
    /// first byte: a head must follow a line feed. If there is none, returns how many bytes can be
    /// skipped as `Err`.
    fn find_head(&mut self, limit: usize) -> Result<usize, usize> {
        if let Framing::Warc { .. } = self.framing {
            let bytes = &self.rest()[..limit];
            // The pattern may begin in the last bytes and end in the next read, so the last line
            // feed is kept.
            let last = &bytes[limit.saturating_sub(LINE.len() - 1)..];
            let from = memrchr(b'\n', last).map_or(limit, |feed| limit - last.len() + feed);
            return memmem::find(bytes, LINE).map(|feed| feed + 1).ok_or(from);
        }
        // An ARC record has no mark of its own, so each line has to be tried as a head.
        let mut line = self.end_of_head(0, limit);
        let mut from = limit;
        while let Some(start) = line {
            let end = self.end_of_head(start, limit);
            // A line longer than `max_record` is no head, whether or not its end was read. A head may
            // begin after the last line feed.
            let is_head = |end| {
                end - start <= self.max_record && arc_body(&self.rest()[start..end - 1]).is_some()
            };
            if end.is_some_and(is_head) {
                return Ok(start);
            }
            from = if limit - start > self.max_record { limit } else { start - 1 };
            line = end;
        }
        Err(from)
    }

    /// True if a record begins at `from`; `None` if more bytes are needed to decide.
    fn begins(&mut self, from: usize) -> Option<bool> {
        if let Framing::Warc { .. } = self.framing {
            let bytes = &self.rest()[from..];
            let is_cut = bytes.len() < WARC_VERSION.len() && WARC_VERSION.starts_with(bytes);
            return (!is_cut).then(|| bytes.starts_with(WARC_VERSION));
        }
        let end = self.end_of_head(from, self.rest().len())?;
        Some(end - from <= self.max_record && arc_body(&self.rest()[from..end - 1]).is_some())
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    fn pass(&mut self, count: usize) {
        self.used += count;
        self.offset += count as u64;
    }

    /// Skips `count` bytes, appending them to `out` until it is `until` bytes long.
    fn pass_into(&mut self, count: usize, out: &mut Buffer, until: usize) {
        let kept = count.min(until.saturating_sub(out.len()));
        out.extend_from_slice(&self.rest()[..kept]);
        self.pass(count);
    }

    /// Reads more bytes. Returns false at the end.
    fn more(&mut self) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(false);
        }
        // Compact only if the remainder is no longer than the consumed part, so that moving costs
        // amortized O(1) per byte.
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

/// The bytes found where a record should start.
enum RecordHead {
    /// A head of `length` bytes; `body` is `None` if it does not give the length of its body.
    Complete {
        length: usize,
        body: Option<u64>,
    },
    /// A head cut off by the end of the input.
    Cut,
    /// An unfinished head, cut off after this many bytes by the start of another record.
    Broken(usize),
    /// A head that exceeds the limit.
    Endless,
    None,
}

/// True if a head may begin with these bytes.
fn could_begin(framing: Framing, bytes: &[u8]) -> bool {
    match framing {
        Framing::Lines => false,
        Framing::Warc { .. } => {
            let common = bytes.len().min(WARC_VERSION.len());
            bytes[..common] == WARC_VERSION[..common]
        }
        Framing::Arc => true,
    }
}

/// Parses a complete head.
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

/// The search pattern for a record: its first line, after the end of another line.
const LINE: &[u8] = b"\nWARC/1.";

/// The end of a line and an empty line; no head has a longer terminator.
const EMPTY_LINE: usize = 3;

#[cfg(test)]
mod tests;
