//! Cuts CSV into records.
//!
//! RFC 4180, section 2: "Fields containing line breaks (CRLF), double quotes, and commas should be
//! enclosed in double-quotes." A field is quoted if a quotation mark is its first byte; in it two
//! marks are one, and one alone ends the quotation. Everywhere else a mark is a byte like any other.
//! These are csv-core's rules too, so that what is cut here is one record there.

use std::ops::Range;

use memchr::{memchr, memrchr};

/// A piece of a chunk: the range of its bytes without the line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cut {
    /// A whole record.
    Record(Range<usize>),
    /// A line that is longer than a record may be.
    TooLong(Range<usize>),
    /// A line with a quotation that does not close in time.
    Unclosed(Range<usize>),
}

impl Cut {
    pub fn range(&self) -> Range<usize> {
        match self {
            Cut::Record(range) | Cut::TooLong(range) | Cut::Unclosed(range) => range.clone(),
        }
    }
}

/// The pieces of a chunk that ends with a record or with the input.
pub(super) struct Cutter<'a> {
    bytes: &'a [u8],
    max_record: usize,
    at: usize,
    /// Lines that begin before here are read each by itself.
    single_until: usize,
}

/// How far a record goes.
enum Reach {
    /// To the line feed here.
    End(usize),
    /// Beyond what there is; in a quotation or not.
    Open { quoted: bool },
    /// Beyond the longest record.
    TooFar,
}

impl<'a> Cutter<'a> {
    pub fn new(bytes: &'a [u8], max_record: usize) -> Self {
        Self { bytes, max_record, at: 0, single_until: 0 }
    }

    /// The next line by itself, and where the line behind it begins.
    fn line(&self) -> (Range<usize>, usize) {
        match memchr(b'\n', &self.bytes[self.at..]).map(|length| self.at + length) {
            Some(feed) => (without_return(self.bytes, self.at..feed), feed + 1),
            None => (self.at..self.bytes.len(), self.bytes.len()),
        }
    }
}

impl Iterator for Cutter<'_> {
    type Item = Cut;

    fn next(&mut self) -> Option<Cut> {
        if self.at == self.bytes.len() {
            return None;
        }
        if self.at >= self.single_until {
            match reach(self.bytes, self.at, self.max_record) {
                Reach::End(feed) => {
                    let range = without_return(self.bytes, self.at..feed);
                    self.at = feed + 1;
                    return Some(Cut::Record(range));
                }
                Reach::Open { quoted: false } => {
                    let range = self.at..self.bytes.len();
                    self.at = self.bytes.len();
                    return Some(Cut::Record(range));
                }
                Reach::Open { quoted: true } | Reach::TooFar => {
                    self.single_until = self.at + self.max_record + 1;
                }
            }
        }
        let (range, next) = self.line();
        let line = &self.bytes[range.clone()];
        self.at = next;
        Some(match reach(line, 0, self.max_record) {
            Reach::TooFar => Cut::TooLong(range),
            Reach::Open { quoted: true } => Cut::Unclosed(range),
            Reach::Open { quoted: false } | Reach::End(_) => Cut::Record(range),
        })
    }
}

/// Length of the pieces at the start of `bytes` that are the same whatever follows.
pub(super) fn whole(bytes: &[u8], max_record: usize) -> usize {
    // Without a quotation mark, lines are records; what follows the last of them is a line's start,
    // or the start of one that is too long and whose end nobody will see.
    let lines = memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    let lines = if bytes.len() - lines > max_record { bytes.len() } else { lines };
    if memchr(b'"', bytes).is_none() {
        return lines;
    }
    let mut cutter = Cutter::new(bytes, max_record);
    while cutter.at < lines {
        if cutter.at >= cutter.single_until {
            match reach(bytes, cutter.at, max_record) {
                Reach::End(_) => {}
                Reach::Open { .. } => return cutter.at,
                // The lines that are read by themselves go together, up to the one that the limit
                // lies in, so that whoever gets them sees what was seen here.
                Reach::TooFar if cutter.at + max_record + 1 > lines => return cutter.at,
                Reach::TooFar => {}
            }
        }
        cutter.next();
    }
    lines
}

/// How far the record at `start` goes.
fn reach(bytes: &[u8], start: usize, max_record: usize) -> Reach {
    let limit = bytes.len().min(start + max_record + 1);
    let too_far = bytes.len() - start > max_record;
    let window = &bytes[start..limit];
    let open = |quoted| if too_far { Reach::TooFar } else { Reach::Open { quoted } };
    let feed = memchr(b'\n', window);
    if memchr(b'"', &window[..feed.unwrap_or(window.len())]).is_none() {
        return feed.map_or(open(false), |feed| Reach::End(start + feed));
    }
    let mut at = 0;
    // At the start of a field.
    loop {
        if window.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let Some(length) = memchr(b'"', &window[at..]) else { return open(true) };
                at += length + 1;
                match window.get(at) {
                    Some(b'"') => at += 1,
                    // The mark is the last byte there is: the next may make it a pair.
                    None if too_far => return Reach::TooFar,
                    _ => break,
                }
            }
        }
        match memchr::memchr2(b',', b'\n', &window[at..]) {
            None => return open(false),
            Some(length) if window[at + length] == b'\n' => return Reach::End(start + at + length),
            Some(length) => at += length + 1,
        }
    }
}

/// A range up to a line feed without the carriage return before that.
fn without_return(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    range.start..range.end - usize::from(bytes[range.clone()].ends_with(b"\r"))
}
