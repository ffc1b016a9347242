//! Sources of bytes that count what they have read, with the metadata that record readers need.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::compression::Compression;
use super::opened::OpenFile;

/// A source of bytes, decompressed if necessary.
pub(super) trait ByteSource: Read {
    /// Bytes of the input consumed so far; for a compressed input, compressed bytes.
    fn taken(&self) -> u64;

    /// How the input is compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// Number of zero bytes after the last member.
    fn padding(&self) -> u64 {
        0
    }

    /// The offsets of member starts in the decoded bytes, if the input has members.
    fn starts(&mut self) -> Option<&mut MemberStarts> {
        None
    }

    /// True if the next read would find nothing for this long. `false` if that is unknown.
    fn waits(&self, _patience: Duration) -> bool {
        false
    }

    /// Skips `count` bytes, or all that remain. Returns how many were skipped.
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        // A source that cannot seek has to read what it skips. Plain files have a `skip` of their
        // own.
        let mut scratch = [0; 16 << 10];
        let mut skipped = 0;
        while skipped < count {
            let part = (count - skipped).min(scratch.len() as u64) as usize;
            match self.read(&mut scratch[..part]) {
                Ok(0) => break,
                Ok(read) => skipped += read as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(skipped)
    }
}

/// Records where members started in the decoded bytes, for callers that ask.
#[derive(Debug, Default)]
pub(super) struct MemberStarts {
    given: u64,
    told: VecDeque<u64>,
    unwanted: bool,
}

impl MemberStarts {
    /// Records that a member, or the end, follows after `behind` more decoded bytes.
    pub(super) fn begin(&mut self, behind: usize) {
        let start = self.given + behind as u64;
        // An empty member starts where the next one does, and a start that is known twice would
        // make an empty record.
        if !self.unwanted && self.told.back() != Some(&start) {
            self.told.push_back(start);
        }
    }

    /// Adds `count` decoded bytes to the total.
    pub(super) fn give(&mut self, count: usize) {
        self.given += count as u64;
    }

    /// Moves the recorded starts to the end of `out`.
    pub(super) fn take(&mut self, out: &mut VecDeque<u64>) {
        out.append(&mut self.told);
    }

    /// Stops recording, because nobody will ask.
    pub(super) fn forget(&mut self) {
        // Starts wait until someone takes them, so a list of many small members would gather one
        // for each.
        (self.unwanted, self.told) = (true, VecDeque::new());
    }
}

/// Counts the bytes read.
pub(super) struct Counted<R> {
    inner: R,
    taken: u64,
}

/// Read size for a compressed input.
const READ: usize = 64 << 10;

impl<R: Read> Counted<BufReader<R>> {
    pub(super) fn buffered(inner: R) -> Self {
        Self { inner: BufReader::with_capacity(READ, inner), taken: 0 }
    }
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, taken: 0 }
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // Counted when they are consumed, not when they are buffered: an offset in a message must
        // not depend on how far the buffer has read ahead.
        self.taken += count as u64;
        self.inner.consume(count);
    }
}

/// The bytes of a file from an offset to its size at opening.
pub(super) struct Plain<F> {
    file: F,
    at: u64,
}

impl<F: Borrow<OpenFile>> Plain<F> {
    pub(super) fn new(file: F, at: u64) -> Self {
        Self { file, at }
    }
}

impl<F: Borrow<OpenFile>> Read for Plain<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let file = self.file.borrow();
        // The file may have grown since it was checked. Its new bytes belong to a later run, and
        // may be half a line.
        let rest = usize::try_from(file.size().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = out.len().min(rest);
        let read = file.file.read_at(&mut out[..length], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<F: Borrow<OpenFile>> ByteSource for Plain<F> {
    fn taken(&self) -> u64 {
        self.at
    }

    /// Skips without reading.
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let skipped = count.min(self.file.borrow().size().saturating_sub(self.at));
        self.at += skipped;
        Ok(skipped)
    }
}
