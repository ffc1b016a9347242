//! Reads parts of a record beside its URL: who asked, when, and what the response was.
//!
//! In: a format, then the lines of a chunk, headers included. Out: [`Fields`], numbers in one unit each
//! and texts unescaped once, whatever the log writes. This parses a record a second time, so reading
//! costs nothing where neither a filter, nor a column, nor a tally asks.

mod number;
mod time;

pub(super) use self::number::{decimal, status, whole};
pub use self::time::write_time;
pub(super) use self::time::{date_and_time, epoch_in, of_any_form, stamp, written};

use std::borrow::Cow;

use super::escape::Escape;
use super::part::{PartSet, RecordPart};
use super::{Format, NULL, RowBatch};
use uniqurl::internal::{AllocError, Span, alloc};

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

/// Reads parts of the records of one chunk.
#[derive(Debug)]
pub struct FieldReader {
    format: Format,
    parts: PartSet,
    /// A line without its envelope.
    buffer: Vec<u8>,
}

impl FieldReader {
    /// For those of these parts that records of `format` can have. It is the format at the start of the
    /// chunk.
    pub fn new(format: &Format, wanted: PartSet) -> Self {
        Self { format: format.clone(), parts: format.parts().and(wanted), buffer: Vec::new() }
    }

    /// The parts that it reads.
    pub fn parts(&self) -> PartSet {
        self.parts
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        self.format.pass(line, &mut self.buffer);
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Fields<'a>, AllocError> {
        let (format, line) = self.format.unwrapped(line, &mut self.buffer);
        format.fields(line, self.parts)
    }

    /// Reads a row of a table.
    pub fn read_row<'a>(&self, chunk: &'a [u8], rows: &RowBatch, row: usize) -> Fields<'a> {
        let mut fields = Fields::new(self.parts);
        let Format::Table(table) = &self.format else { return fields };
        let cells = &rows.cells[row * rows.width..][..rows.width];
        let cell = |part| table.cell_of(part).map(|cell| cells[cell]);
        fields.read_parts(|part, take| {
            let cell = cell(part).filter(|cell: &Span| *cell != NULL);
            cell.into_iter().for_each(|cell| take(Cow::Borrowed(cell.of(chunk))));
        });
        fields
    }
}

impl Format {
    /// The parts of a record that are read beside its URL. Tables name their own columns, so of their rows
    /// only what a filter asks for.
    pub fn parts(&self) -> PartSet {
        use RecordPart::{Agent, Bytes, Client, Method, Referrer, Seconds, Status, Time};
        const CLF: PartSet = PartSet::of(&[Client, Time, Method, Status, Bytes]);
        match self {
            Format::Clf => CLF,
            Format::Combined | Format::Vhost => CLF.with(Referrer).with(Agent),
            Format::Elb => CLF.with(Seconds).with(Agent),
            Format::Haproxy => CLF.with(Seconds),
            Format::Log(format) => format.parts(),
            // The owner of the log chooses its fields.
            Format::Extended(_) => CLF.with(Seconds).with(Referrer).with(Agent),
            Format::Json(json) => json.parts(),
            Format::Cdx(_) | Format::Cdxj(_) => PartSet::of(&[Status, Time]),
            Format::Csv(csv) => csv.columns.parts(),
            Format::Tsv(tsv) => tsv.columns.parts(),
            Format::Archive(archive) => archive.parts(),
            Format::Table(table) => table.parts().and(PartSet::of(&[Time, Agent])),
            Format::Wrapped(wrapped) => wrapped.format().parts(),
            Format::Lines | Format::Labelled(_) | Format::Target => PartSet::NONE,
            Format::Text(_) | Format::Sitemap | Format::Ws(_) => PartSet::NONE,
        }
    }

    /// The format of a record in its envelope, and the record without it.
    pub(super) fn unwrapped<'f, 'a>(
        &'f self,
        line: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> (&'f Format, &'a [u8]) {
        match self {
            Format::Wrapped(wrapped) => (wrapped.format(), wrapped.text_of(line, buffer)),
            format => (format, line),
        }
    }

    /// Reads parts of a record, which has no envelope.
    pub(super) fn fields<'a>(
        &self,
        line: &'a [u8],
        wanted: PartSet,
    ) -> Result<Fields<'a>, AllocError> {
        let mut out = Fields::new(wanted);
        match self {
            _ if wanted.is_empty() => {}
            Format::Clf | Format::Combined => super::clf::fields(line, 0, &mut out),
            Format::Vhost => super::clf::fields(line, 1, &mut out),
            Format::Elb => super::elb::fields(line, &mut out),
            Format::Haproxy => super::haproxy::fields(line, &mut out),
            Format::Log(format) => format.fields(line, &mut out),
            Format::Extended(extended) => extended.fields(line, &mut out),
            Format::Json(json) => json.fields(line, &mut out),
            Format::Cdxj(json) => super::cdxj::fields(json, line, &mut out),
            Format::Cdx(cdx) => cdx.fields(line, &mut out),
            Format::Csv(csv) => csv.fields(line, &mut out),
            Format::Tsv(tsv) => tsv.fields(line, &mut out),
            Format::Archive(archive) => archive.fields(line, &mut out),
            _ => {}
        }
        if out.lacks_memory { Err(AllocError) } else { Ok(out) }
    }
}

/// Parses a date and time as logs write them, such as `2000-10-10T13:55:36-07:00`, in seconds since 1970
/// began in UTC. A time without a zone is taken as UTC, and fractions of a second are dropped.
pub fn parse_time(text: &str) -> Option<i64> {
    written(text.as_bytes())
}

#[cfg(test)]
mod tests;
