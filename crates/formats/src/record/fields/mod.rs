//! Reads parts of a record beside its URL: who asked, when, and what the response was.
//!
//! [`FieldReader`] gets a format, then the lines of a chunk, headers included. Out: [`Fields`], numbers in one
//! unit each and texts unescaped once, whatever the log writes. This parses a record a second time, so reading
//! costs nothing where neither a filter, nor a column, nor a tally asks.

mod number;
mod reader;
mod time;

pub(super) use self::number::{decimal, is_zero, status, whole};
pub use self::reader::FieldReader;
pub use self::time::write_time;
pub(super) use self::time::{date_and_time, epoch_in, of_any_form, stamp, written};

use std::borrow::Cow;

use super::escape::Escape;
use super::part::{PartSet, RecordPart};
use uniqurl::internal::{AllocError, alloc};

/// The numbers of one record; None where its format has no such field, the field holds no number, or
/// nobody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measured {
    /// The status of the response.
    pub status: Option<u16>,
    /// Bytes sent.
    pub bytes: Option<u64>,
    /// Duration of the request in microseconds.
    pub duration: Option<u64>,
    /// When the request was, in seconds since 1970 began in UTC.
    pub time: Option<i64>,
}

/// The parts of a record that are texts. A log with names of its own shows a status and bytes as they
/// stand where they are no numbers, such as a dash.
const TEXTS: [RecordPart; 6] = [
    RecordPart::Client,
    RecordPart::Method,
    RecordPart::Referrer,
    RecordPart::Agent,
    RecordPart::Status,
    RecordPart::Bytes,
];

/// The parts that logs have in common, whatever their layout, by the names that a column of them has.
pub(super) const COLUMNS: [(&str, RecordPart); 7] = [
    ("client", RecordPart::Client),
    ("time", RecordPart::Time),
    ("method", RecordPart::Method),
    ("status", RecordPart::Status),
    ("bytes", RecordPart::Bytes),
    ("referrer", RecordPart::Referrer),
    ("agent", RecordPart::Agent),
];

/// The values of one record that were asked for.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    wanted: PartSet,
    /// Its numbers.
    pub numbers: Measured,
    texts: [Option<Cow<'a, [u8]>>; TEXTS.len()],
    /// True if memory ran out for one of the texts.
    lacks_memory: bool,
}

impl<'a> Fields<'a> {
    /// Without values so far.
    pub(super) fn new(wanted: PartSet) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// The values that `read` sets, of those that are wanted.
    pub(super) fn filled(
        wanted: PartSet,
        read: impl FnOnce(&mut Self),
    ) -> Result<Self, AllocError> {
        let mut fields = Self::new(wanted);
        // In most runs nobody asks for anything, and no record is parsed a second time.
        if !wanted.is_empty() {
            read(&mut fields);
        }
        if fields.lacks_memory { Err(AllocError) } else { Ok(fields) }
    }

    /// True if this part is asked for.
    pub(super) fn want(&self, part: RecordPart) -> bool {
        self.wanted.has(part)
    }

    /// True if any of these parts is asked for.
    pub(super) fn want_any(&self, parts: PartSet) -> bool {
        !self.wanted.and(parts).is_empty()
    }

    /// The text of a part, if the record has it. Times and other numbers are in [`Fields::numbers`].
    pub fn text(&self, part: RecordPart) -> Option<&[u8]> {
        self.texts[TEXTS.iter().position(|text| *text == part)?].as_deref()
    }

    /// The value of a part as a column shows it. `buffer` holds it if it is a number. A time has one form
    /// for all logs, which its bytes sort: RFC 3339 in UTC.
    pub(super) fn shown<'b>(
        &'b self,
        part: RecordPart,
        buffer: &'b mut Vec<u8>,
    ) -> Option<&'b [u8]> {
        buffer.clear();
        let Measured { status, bytes, time, .. } = self.numbers;
        let number = match part {
            RecordPart::Time => time.map(|time| write_time(time, buffer)),
            RecordPart::Status => status.map(|status| write(status, buffer)),
            RecordPart::Bytes => bytes.map(|bytes| write(bytes, buffer)),
            _ => None,
        };
        if number.is_some() { Some(buffer) } else { self.text(part) }
    }

    /// Sets the text of a part. Of several the first stays.
    pub(super) fn set(&mut self, part: RecordPart, text: Cow<'a, [u8]>) {
        let place = TEXTS.iter().position(|text| *text == part).filter(|_| self.want(part));
        if let Some(place) = place {
            self.texts[place].get_or_insert(text);
        }
    }

    /// The same of a text that the log escaped.
    pub(super) fn set_escaped(&mut self, part: RecordPart, text: &'a [u8], escape: Escape) {
        if !self.want(part) || !escape.is_in(text) {
            return self.set(part, Cow::Borrowed(text));
        }
        // Without its escapes a text is no longer.
        let mut unescaped = Vec::new();
        match alloc::try_reserve(&mut unescaped, text.len()) {
            Ok(()) => escape.undo(text, &mut unescaped),
            Err(_) => self.lacks_memory = true,
        }
        self.set(part, Cow::Owned(unescaped));
    }

    /// Reads the parts of a record whose fields are named. `each` passes the values of a part in order; of
    /// several, the first that can be read counts.
    pub(super) fn read_parts(
        &mut self,
        mut each: impl FnMut(RecordPart, &mut dyn FnMut(Cow<'a, [u8]>)),
    ) {
        let Measured { status: code, bytes, duration, time } = &mut self.numbers;
        if self.wanted.has(RecordPart::Status) {
            each(RecordPart::Status, &mut |text| *code = code.or_else(|| status(&text)));
        }
        if self.wanted.has(RecordPart::Bytes) {
            each(RecordPart::Bytes, &mut |text| *bytes = bytes.or_else(|| whole(&text)));
        }
        if self.wanted.has(RecordPart::Seconds) {
            each(RecordPart::Seconds, &mut |text| {
                *duration = duration.or_else(|| decimal(&text, 6));
            });
        }
        if self.wanted.has(RecordPart::Time) {
            // The date is read first, since a time of day without one is no time.
            let mut date = None;
            each(RecordPart::Date, &mut |text| _ = date.get_or_insert(text));
            each(RecordPart::Time, &mut |clock| {
                *time = time.or_else(|| match &date {
                    Some(date) => date_and_time(date, &clock),
                    None => of_any_form(&clock),
                });
            });
        }
        for part in TEXTS {
            let is_number = matches!(part, RecordPart::Status | RecordPart::Bytes);
            if self.want(part) && !is_number {
                each(part, &mut |text| self.set(part, text));
            }
        }
    }
}

fn write(number: impl ToString, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}

/// A time with the brackets around it.
pub(super) fn bracketed(text: &[u8]) -> Option<i64> {
    written(text.strip_prefix(b"[")?.strip_suffix(b"]")?)
}

/// Parses a date and time as logs write them, such as `2000-10-10T13:55:36-07:00`, in seconds since 1970
/// began in UTC. A time without a zone is taken as UTC, and fractions of a second are dropped.
pub fn parse_time(text: &str) -> Option<i64> {
    written(text.as_bytes())
}

#[cfg(test)]
mod tests;
