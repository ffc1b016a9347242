//! The records that start in one range of a file.
//!
//! A range owns the records whose first byte lies in it. It skips the end of the preceding record and
//! reads past its own end until its last record is complete. So the ranges of a file yield each record
//! exactly once, in any order and on any thread.

use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memrchr};

use super::buffers::PAGE;
use super::error::{InputError, Trouble};
use super::opened::OpenFile;
use uniqurl::internal::{AllocError, alloc};

/// A reusable buffer for the records of a range.
#[derive(Debug, Default)]
pub struct RangeBuffer {
    /// Initialized to its full length; bytes outside `used` are stale.
    buffer: Vec<u8>,
    /// Start of the bytes read.
    front: usize,
    used: Range<usize>,
}

impl RangeBuffer {
    /// Returns the records of the range.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.used.clone()]
    }

    pub(super) fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.used.start += count;
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.used.end = self.used.start + length;
    }

    /// Reserves room for `length` bytes of the file starting at `from`, plus one page for alignment.
    fn begin(&mut self, from: u64, length: usize) -> Result<(), AllocError> {
        self.used = 0..0;
        self.front = 0;
        self.reach(length + PAGE)?;
        // The bytes get the offset within a page that they have in the file, for the reason that
        // `PAGE` gives.
        self.front = (from as usize).wrapping_sub(self.buffer.as_ptr().addr()) % PAGE;
        Ok(())
    }

    /// Reserves room for `length` bytes in total.
    fn reach(&mut self, length: usize) -> Result<(), AllocError> {
        let end = self.front + length;
        if self.buffer.len() < end {
            // Rounded up, so that records of slightly different lengths do not move the buffer each
            // time.
            let end = end.next_multiple_of(STEP);
            let more = end - self.buffer.len();
            // A record may be as long as memory is, so running out of it is an error with a name
            // and an offset, not an abort.
            alloc::try_reserve_exact(&mut self.buffer, more)?;
            self.buffer.resize(end, 0);
        }
        Ok(())
    }

    /// Returns the first `length` bytes that were read.
    fn read(&self, length: usize) -> &[u8] {
        &self.buffer[self.front..][..length]
    }
}

/// An unterminated last line in a file that has grown since it was opened: it was still being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutLine {
    /// Offset of its first byte.
    pub at: u64,
}

/// Least read size while the last record of a range is completed. Each step may move the whole buffer, so
/// steps grow with the record.
const STEP: usize = 16 << 10;

/// A line this many bytes longer than the record limit is too long under any terminator: one of the
/// bytes may be the carriage return of a CRLF whose line feed is still unread.
pub(super) const TOO_LONG: usize = 2;

/// Fills `block` with the records that start in `range`, which lies within the size of the file at
/// opening. Records end with the byte `separator`. Returns the offset of the first record, and the
/// omitted unfinished line, if any.
pub fn read_range(
    opened: &OpenFile,
    range: Range<u64>,
    max_record: usize,
    separator: u8,
    block: &mut RangeBuffer,
) -> Result<(u64, Option<CutLine>), InputError> {
    let size = opened.size();
    // The byte before the range tells whether a record starts at `range.start`.
    let from = range.start.saturating_sub(1);
    let mut length = (range.end - from) as usize;
    let no_room = |error: AllocError| {
        InputError::new(opened.path(), Some(range.start), Trouble::Io(error.into()))
    };
    block.begin(from, length).map_err(no_room)?;
    read(opened, from, 0..length, block)?;
    let start = if range.start == 0 {
        0
    } else {
        match memchr(separator, block.read(length)) {
            Some(feed) if feed + 1 < length => feed + 1,
            // The first record after this separator starts in the next range, which owns it.
            _ => return Ok((range.end, None)),
        }
    };
    let last = memrchr(separator, block.read(length)).map_or(start, |feed| (feed + 1).max(start));
    // Read on until the last record is complete, too long, or the last of the file.
    let limit = last + max_record + TOO_LONG;
    let mut complete = last == length;
    let first = length;
    while !complete && from + (length as u64) < size && length < limit {
        let step = STEP.max((length - first) / 4).min((size - from - length as u64) as usize);
        block.reach(length + step).map_err(no_room)?;
        read(opened, from, length..length + step, block)?;
        match memchr(separator, &block.read(length + step)[length..]) {
            Some(feed) => {
                length += feed + 1;
                complete = true;
            }
            None => length += step,
        }
    }
    let mut cut = None;
    // Without growth a last line without a separator is complete. In a live log it is half a line,
    // which would be a URL that nobody asked for.
    if !complete && from + length as u64 == size && has_grown(opened)? {
        cut = Some(CutLine { at: from + last as u64 });
        length = last;
    } else if !complete {
        // The start of a record that is too long is enough to reject it.
        length = length.min(limit);
    }
    block.used = block.front + start..block.front + length;
    Ok((from + start as u64, cut))
}

/// Reads the bytes of the file at `from + part` into `part` of `block`, which already has room for
/// them.
fn read(
    opened: &OpenFile,
    from: u64,
    part: Range<usize>,
    block: &mut RangeBuffer,
) -> Result<(), InputError> {
    let Range { start: mut at, end } = part;
    while at < end {
        let offset = from + at as u64;
        let to = &mut block.buffer[block.front + at..block.front + end];
        let trouble = match opened.file.read_at(to, offset) {
            // All of `part` lies within the size at opening, so an early end means that the file
            // shrank.
            Ok(0) => Trouble::Shrank,
            Ok(read) => {
                at += read;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Trouble::Io(error),
        };
        return Err(InputError::new(opened.path(), Some(offset), trouble));
    }
    Ok(())
}

/// True if the file has grown beyond its size at opening.
pub(super) fn has_grown(opened: &OpenFile) -> Result<bool, InputError> {
    loop {
        match opened.file.read_at(&mut [0], opened.size()) {
            Ok(read) => return Ok(read > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let at = Some(opened.size());
                return Err(InputError::new(opened.path(), at, Trouble::Io(error)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::opened::check;
    use super::*;
    use std::io::Write;

    fn opened(text: &[u8]) -> (tempfile::NamedTempFile, OpenFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let (inputs, errors) = check(&[file.path().to_owned()]);
        assert!(errors.is_empty());
        let opened = OpenFile::open(&inputs[0]).unwrap().unwrap();
        (file, opened)
    }

    /// The records of all ranges of `step` bytes, in order, with their offsets.
    fn records(opened: &OpenFile, step: u64, max_record: usize) -> Vec<(u64, Vec<u8>)> {
        let mut records = Vec::new();
        let mut block = RangeBuffer::default();
        for start in (0..opened.size()).step_by(step as usize) {
            let end = (start + step).min(opened.size());
            let (mut at, cut) =
                read_range(opened, start..end, max_record, b'\n', &mut block).unwrap();
            assert_eq!(cut, None);
            for line in block.bytes().split_inclusive(|byte| *byte == b'\n') {
                records.push((at, line.to_vec()));
                at += line.len() as u64;
            }
        }
        records
    }

    #[test]
    fn every_record_is_read_once_at_any_range_size() {
        for text in [&b"a\nbc\n\n\ndefgh\nij"[..], b"\n", b"x", b"abcdefghijkl\n\nm\n"] {
            let (_file, opened) = opened(text);
            let whole = records(&opened, 1000, 100);
            assert_eq!(whole.iter().flat_map(|(_, r)| r.clone()).collect::<Vec<_>>(), text);
            for step in 1..text.len() as u64 + 2 {
                assert_eq!(records(&opened, step, 100), whole, "{step}");
            }
        }
    }

    #[test]
    fn buffer_has_the_page_alignment_of_the_file() {
        let text: Vec<u8> =
            (0..60_000u32).map(|i| if i % 70 == 9 { b'\n' } else { b'x' }).collect();
        let (_file, opened) = opened(&text);
        let mut block = RangeBuffer::default();
        // A buffer that grows for the last record of a range may move, so it gets its full size first.
        block.begin(0, text.len()).unwrap();
        for start in (0..50_000).step_by(997) {
            for length in [1, 70, 4096, 10_000] {
                let (at, _) =
                    read_range(&opened, start..start + length, 100, b'\n', &mut block).unwrap();
                // A range in which no record starts yields nothing.
                if !block.bytes().is_empty() {
                    let place = block.bytes().as_ptr().addr();
                    assert_eq!(place % PAGE, at as usize % PAGE, "{start} {length}");
                }
            }
        }
    }

    #[test]
    fn record_of_the_maximum_length_is_complete_with_its_line_ending() {
        // The filler makes a read stop at each of the last bytes of the record.
        for filler in STEP - 60..STEP {
            let text =
                [&vec![b'z'; filler][..], b"\n", &[b'x'; STEP], b"\r\n", &[b'y'; STEP], b"\ncd\n"];
            let text = text.concat();
            let (_file, opened) = opened(&text);
            let of_one = records(&opened, text.len() as u64, STEP);
            assert_eq!(of_one.iter().flat_map(|(_, r)| r.clone()).collect::<Vec<_>>(), text);
            assert_eq!(records(&opened, filler as u64 + 2, STEP), of_one, "{filler}");
        }
    }

    #[test]
    fn overlong_record_is_cut_a_little_after_the_limit() {
        let mut text = b"ab\n".to_vec();
        text.extend([b'x'; 200_000]);
        text.extend(b"\ncd\n");
        let (_file, opened) = opened(&text);
        for step in [1000, 65_536, 100_000] {
            let records = records(&opened, step, 50);
            let lengths: Vec<_> = records.iter().map(|(_, record)| record.len()).collect();
            assert_eq!(lengths.len(), 3, "{step}");
            assert!(lengths[1] > 50, "{step}");
            assert_eq!(records[2], (200_004, b"cd\n".to_vec()), "{step}");
        }
    }

    #[test]
    fn records_may_end_with_nul() {
        let (_file, opened) = opened(b"a\nb\0\0cd\0e\n");
        for step in 1..12 {
            let mut all = Vec::new();
            for start in (0..opened.size()).step_by(step) {
                let (end, mut block) =
                    ((start + step as u64).min(opened.size()), RangeBuffer::default());
                read_range(&opened, start..end, 100, 0, &mut block).unwrap();
                all.extend(block.bytes().split_inclusive(|byte| *byte == 0).map(<[u8]>::to_vec));
            }
            assert_eq!(all, [&b"a\nb\0"[..], b"\0", b"cd\0", b"e\n"], "{step}");
        }
    }

    #[test]
    fn unfinished_last_line_is_skipped() {
        let (mut file, opened) = opened(b"a\nb");
        file.write_all(b"cd\n").unwrap();
        let mut block = RangeBuffer::default();
        let (at, cut) = read_range(&opened, 0..3, 100, b'\n', &mut block).unwrap();
        assert_eq!((at, cut, block.bytes()), (0, Some(CutLine { at: 2 }), &b"a\n"[..]));
        opened.verify().unwrap();
    }

    #[test]
    fn file_that_changes_while_it_is_read_is_an_error() {
        let (file, shrunk) = opened(b"a\nb\nc\n");
        file.as_file().set_len(3).unwrap();
        let error = read_range(&shrunk, 0..6, 100, b'\n', &mut RangeBuffer::default()).unwrap_err();
        assert!(matches!((error.trouble, error.at), (Trouble::Shrank, Some(3))));
        let error = shrunk.verify().unwrap_err();
        assert!(matches!((error.trouble, error.at), (Trouble::Shrank, Some(3))));

        let (file, replaced) = opened(b"a\nb\nc\n");
        let other = tempfile::NamedTempFile::new_in(file.path().parent().unwrap()).unwrap();
        std::fs::rename(other.path(), file.path()).unwrap();
        assert!(matches!(replaced.verify().unwrap_err().trouble, Trouble::Replaced));

        let (file, rewritten) = opened(b"a\nb\nc\n");
        file.as_file().write_all_at(b"x", 0).unwrap();
        file.as_file().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(matches!(rewritten.verify().unwrap_err().trouble, Trouble::Replaced));
    }
}
