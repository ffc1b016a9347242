//! Columns that logs have in common, whatever their layout: the client, the time, the method, the
//! status, the bytes, the referrer and the agent.
//!
//! The input is a format and the lines of a chunk, headers included; the output is the values of
//! [`Values`]. Texts are unescaped once, as the log escaped them. A [`Measurer`] reads the numbers, so
//! that the time of every log has one form, which its bytes sort: RFC 3339 in UTC.

mod access;

use super::escape::Escape;
use super::json::{JsonFields, carry};
use super::log::Field;
use super::measure::write_time;
use super::part::RecordPart;
use super::{Csv, Extended, Format, LogFormat, Measurer, Tsv, Values};
use access::Texts;
use uniqurl::internal::alloc;

/// A column that logs have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogColumn {
    Client,
    Time,
    Method,
    Status,
    Bytes,
    Referrer,
    Agent,
}

impl LogColumn {
    pub const ALL: [LogColumn; 7] = [
        LogColumn::Client,
        LogColumn::Time,
        LogColumn::Method,
        LogColumn::Status,
        LogColumn::Bytes,
        LogColumn::Referrer,
        LogColumn::Agent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LogColumn::Client => "client",
            LogColumn::Time => "time",
            LogColumn::Method => "method",
            LogColumn::Status => "status",
            LogColumn::Bytes => "bytes",
            LogColumn::Referrer => "referrer",
            LogColumn::Agent => "agent",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The names in `#Fields:` lines that mean this column. A time is in two of them.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            LogColumn::Client => &["c-ip"],
            LogColumn::Time => &[],
            LogColumn::Method => &["cs-method"],
            LogColumn::Status => &["sc-status"],
            LogColumn::Bytes => &["sc-bytes"],
            LogColumn::Referrer => &["cs(referer)", "cs(referrer)", "cs-referred"],
            LogColumn::Agent => &["cs(user-agent)", "c-agent"],
        }
    }

    /// The field of a format string with the text of this column.
    fn field(self) -> Option<Field> {
        match self {
            LogColumn::Client => Some(Field::Client),
            LogColumn::Method => Some(Field::Method),
            LogColumn::Referrer => Some(Field::Referrer),
            LogColumn::Agent => Some(Field::Agent),
            LogColumn::Time | LogColumn::Status | LogColumn::Bytes => None,
        }
    }

    /// The part with the text of this column.
    fn part(self) -> Option<RecordPart> {
        match self {
            LogColumn::Client => Some(RecordPart::Client),
            LogColumn::Method => Some(RecordPart::Method),
            LogColumn::Referrer => Some(RecordPart::Referrer),
            LogColumn::Agent => Some(RecordPart::Agent),
            LogColumn::Time | LogColumn::Status | LogColumn::Bytes => None,
        }
    }

    /// True if a [`Measurer`] reads it.
    fn is_number(self) -> bool {
        self.part().is_none()
    }

    /// True if records of `format` can have the column. Tables name their own columns.
    pub fn is_in(self, format: &Format) -> bool {
        let fields = || Measurer::new(format).fields();
        match (self, format) {
            (_, Format::Wrapped(wrapped)) => self.is_in(wrapped.format()),
            (LogColumn::Time, Format::Table(table)) => table.has(RecordPart::Time),
            (LogColumn::Agent, Format::Table(table)) => table.has(RecordPart::Agent),
            (LogColumn::Time, _) => fields().time,
            (LogColumn::Status, _) => fields().status,
            (LogColumn::Bytes, _) => fields().bytes,
            (_, Format::Clf) => !matches!(self, LogColumn::Referrer | LogColumn::Agent),
            (_, Format::Combined | Format::Vhost | Format::Extended(_)) => true,
            (_, Format::Elb) => self != LogColumn::Referrer,
            (_, Format::Haproxy) => !matches!(self, LogColumn::Referrer | LogColumn::Agent),
            (_, Format::Log(format)) => self.field().is_some_and(|field| format.has_noted(field)),
            (_, Format::Json(json)) => {
                json.fields().of(self.name()).is_some_and(|pointers| !pointers.is_empty())
            }
            (_, Format::Csv(csv)) => self.part().is_some_and(|part| csv.columns.have(part)),
            (_, Format::Tsv(tsv)) => self.part().is_some_and(|part| tsv.columns.have(part)),
            _ => false,
        }
    }
}

/// Reads some of these columns.
#[derive(Debug)]
pub(super) struct LogColumns {
    /// The columns, each with its number among the columns of [`Values`].
    columns: Vec<(usize, LogColumn)>,
    texts: TextSource,
    numbers: Option<Measurer>,
    /// A number as text, or the copy of a line.
    buffer: Vec<u8>,
}

/// How to read the texts of a record.
#[derive(Debug)]
enum TextSource {
    /// The reader of a layout, which takes the texts out of a line.
    Line(for<'a> fn(&'a [u8]) -> Texts<'a>),
    Log(LogFormat),
    Json(JsonFields),
    Extended(Extended),
    Csv(Csv),
    Tsv(Tsv),
    Nothing,
}

impl LogColumns {
    /// For these columns of `format`, each with its number; without an envelope around it.
    pub fn new(format: &Format, columns: Vec<(usize, LogColumn)>) -> Self {
        let texts = match format {
            Format::Clf | Format::Combined => TextSource::Line(access::clf),
            Format::Vhost => TextSource::Line(access::vhost),
            Format::Elb => TextSource::Line(access::elb),
            Format::Haproxy => TextSource::Line(access::haproxy),
            Format::Log(format) => TextSource::Log(format.clone()),
            Format::Json(json) => TextSource::Json(json.fields().clone()),
            Format::Extended(extended) => TextSource::Extended(extended.clone()),
            Format::Csv(csv) => TextSource::Csv(csv.clone()),
            Format::Tsv(tsv) => TextSource::Tsv(tsv.clone()),
            _ => TextSource::Nothing,
        };
        let has_numbers = columns.iter().any(|(_, column)| column.is_number());
        let numbers = has_numbers.then(|| Measurer::new(format));
        Self { columns, texts, numbers, buffer: Vec::new() }
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        match &mut self.texts {
            TextSource::Extended(extended) => extended.take(line),
            TextSource::Csv(csv) => csv.take_header(line),
            TextSource::Tsv(tsv) => tsv.take_header(line),
            _ => {}
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.pass(line);
        }
    }

    /// Fills in those of the columns that have no value yet.
    pub fn fill(&mut self, line: &[u8], out: &mut Values) {
        self.fill_numbers(line, out);
        if self.columns.iter().any(|(_, column)| !column.is_number()) {
            self.fill_texts(line, out);
        }
    }

    fn fill_numbers(&mut self, line: &[u8], out: &mut Values) {
        let Self { columns, numbers, buffer, .. } = self;
        let is_missing =
            |(n, column): &(usize, LogColumn)| column.is_number() && out.get(*n).is_none();
        let Some(numbers) = numbers.as_mut().filter(|_| columns.iter().any(is_missing)) else {
            return;
        };
        let numbers = numbers.measure(line);
        for (n, column) in columns {
            buffer.clear();
            match column {
                LogColumn::Time => numbers.time.map(|time| write_time(time, buffer)),
                LogColumn::Status => numbers.status.map(|status| write(status, buffer)),
                LogColumn::Bytes => numbers.bytes.map(|bytes| write(bytes, buffer)),
                _ => None,
            };
            if !buffer.is_empty() {
                out.fill(*n, buffer);
            }
        }
    }

    fn fill_texts(&mut self, line: &[u8], out: &mut Values) {
        let Self { columns, texts, buffer, .. } = self;
        let mut fill_unescaped = |n: usize, escape: Escape, text: &[u8], out: &mut Values| {
            buffer.clear();
            // Without its escapes a text is no longer.
            match alloc::try_reserve(buffer, text.len()) {
                Ok(()) => escape.undo(text, buffer),
                Err(_) => out.fail(),
            }
            out.fill(n, buffer);
        };
        match texts {
            TextSource::Line(read) => {
                let texts = read(line);
                for (n, column) in columns {
                    if let Some(text) = texts.of(*column) {
                        fill_unescaped(*n, texts.escape, text, out);
                    }
                }
            }
            TextSource::Log(format) => format.noted(line, |field, text| {
                let place = columns.iter().find(|(_, column)| column.field() == Some(field));
                if let Some((n, _)) = place {
                    fill_unescaped(*n, Escape::Backslash, text, out);
                }
            }),
            TextSource::Json(fields) => {
                for (n, column) in columns {
                    // Of several values the first one stays.
                    if let Some(pointers) = fields.of(column.name()) {
                        carry(line, pointers, buffer, |value| {
                            value.into_iter().for_each(|value| out.fill(*n, value));
                        });
                    }
                }
            }
            TextSource::Extended(extended) => extended.fields(line, |header, fields| {
                // After a missing field or a space within one, all others are in the wrong place.
                if header.len() == fields.len() {
                    for (n, column) in columns {
                        let place = place_of(*column, header);
                        place.into_iter().for_each(|place| out.fill(*n, fields[place].bytes()));
                    }
                }
            }),
            TextSource::Csv(csv) => {
                let fields = csv.fields(line);
                let field = |column: LogColumn| fields.get(csv.column_of(column.part()?)?);
                for (n, column) in columns {
                    field(*column).into_iter().for_each(|field| out.fill(*n, field.bytes()));
                }
            }
            TextSource::Tsv(tsv) => {
                let field = |column: LogColumn| {
                    line.split(|byte| *byte == b'\t').nth(tsv.column_of(column.part()?)?)
                };
                for (n, column) in columns {
                    if let Some(field) = field(*column) {
                        out.fill(*n, tsv.decoded(field).bytes());
                    }
                }
            }
            TextSource::Nothing => {}
        }
    }
}

/// The place of a column in a `#Fields:` line.
pub(super) fn place_of(column: LogColumn, header: &[Vec<u8>]) -> Option<usize> {
    column.fields().iter().find_map(|name| {
        header.iter().position(|field| field.eq_ignore_ascii_case(name.as_bytes()))
    })
}

fn write(number: impl std::fmt::Display, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}

#[cfg(test)]
mod tests;
