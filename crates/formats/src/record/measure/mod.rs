//! Reads what a record says about its response: status, size, duration, and when it was.
//!
//! In: a format, then the lines of a chunk, headers included. Out: numbers in one unit each, whatever
//! the unit of the log. This parses a record a second time, so reading costs nothing if no number is
//! asked for.

mod access;
mod archive;
mod columns;
mod json;
mod log;

mod number;
mod time;

pub(super) use self::time::of_any_form;
pub use self::time::write_time;

use self::columns::ExtendedColumns;
use self::json::JsonNumbers;
use self::log::FormattedLog;
use super::{Archive, Cdx, Csv, Format, Tsv, Wrapped};

/// The numbers of one record; None where its format has no such field or the field holds no number.
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

/// Which numbers the records of a format can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeasuredFields {
    /// [`Measured::status`].
    pub status: bool,
    /// [`Measured::bytes`].
    pub bytes: bool,
    /// [`Measured::duration`].
    pub duration: bool,
    /// [`Measured::time`].
    pub time: bool,
}

/// Reads the numbers of the records of one chunk.
#[derive(Debug)]
pub struct Measurer {
    from: MeasureSource,
    /// The envelope around each line, and a buffer for the line.
    wrapped: Option<(Wrapped, Vec<u8>)>,
}

/// How to read the numbers of a record.
#[derive(Debug)]
enum MeasureSource {
    Clf,
    Elb,
    Haproxy,
    Log(Box<FormattedLog>),
    Extended(Box<ExtendedColumns>),
    Json(Box<JsonNumbers>),
    Cdxj(Box<JsonNumbers>),
    Cdx(Cdx),
    Csv(Csv),
    Tsv(Tsv),
    Archive(Archive),
    Nothing,
}

impl Measurer {
    /// For records of `format`, which is the one at the start of the chunk.
    pub fn new(format: &Format) -> Self {
        let from = match format {
            Format::Wrapped(wrapped) => {
                let envelope = Some(((**wrapped).clone(), Vec::new()));
                return Self { wrapped: envelope, ..Self::new(wrapped.format()) };
            }
            Format::Clf | Format::Combined | Format::Vhost => MeasureSource::Clf,
            Format::Elb => MeasureSource::Elb,
            Format::Haproxy => MeasureSource::Haproxy,
            Format::Log(format) => MeasureSource::Log(FormattedLog::new(format).into()),
            Format::Extended(format) => {
                MeasureSource::Extended(ExtendedColumns::new(format).into())
            }
            Format::Json(json) => MeasureSource::Json(JsonNumbers::new(json).into()),
            Format::Cdxj(json) => MeasureSource::Cdxj(JsonNumbers::new(json).into()),
            Format::Cdx(cdx) => MeasureSource::Cdx(cdx.clone()),
            Format::Csv(csv) => MeasureSource::Csv(csv.clone()),
            Format::Tsv(tsv) => MeasureSource::Tsv(tsv.clone()),
            Format::Archive(archive) => MeasureSource::Archive(*archive),
            Format::Lines
            | Format::Labelled(_)
            | Format::Target
            | Format::Text(_)
            | Format::Sitemap
            | Format::Ws(_)
            | Format::Table(_) => MeasureSource::Nothing,
        };
        Self { from, wrapped: None }
    }

    /// Which numbers records can have.
    pub fn fields(&self) -> MeasuredFields {
        let none = MeasuredFields::default();
        let all = MeasuredFields { status: true, bytes: true, duration: true, time: true };
        match &self.from {
            MeasureSource::Clf => MeasuredFields { duration: false, ..all },
            MeasureSource::Elb | MeasureSource::Haproxy => all,
            MeasureSource::Log(log) => log.fields(),
            // The owner of the log chooses its fields.
            MeasureSource::Extended(_) => all,
            MeasureSource::Json(json) => json.fields(),
            MeasureSource::Cdx(_) | MeasureSource::Cdxj(_) => {
                MeasuredFields { status: true, time: true, ..none }
            }
            MeasureSource::Csv(csv) => columns::fields(&csv.columns),
            MeasureSource::Tsv(tsv) => columns::fields(&tsv.columns),
            MeasureSource::Archive(archive) => {
                MeasuredFields { time: matches!(archive, Archive::Warc(_) | Archive::Arc), ..none }
            }
            MeasureSource::Nothing => none,
        }
    }

    /// Passes over a header, which can change where the numbers are.
    pub fn pass(&mut self, line: &[u8]) {
        let line = match &mut self.wrapped {
            Some((wrapped, buffer)) => wrapped.text_of(line, buffer),
            None => line,
        };
        match &mut self.from {
            MeasureSource::Extended(columns) => columns.pass(line),
            MeasureSource::Cdx(cdx) => cdx.take(line),
            MeasureSource::Csv(csv) => csv.take_header(line),
            MeasureSource::Tsv(tsv) => tsv.take_header(line),
            _ => {}
        }
    }

    /// The numbers of a record.
    pub fn measure(&mut self, line: &[u8]) -> Measured {
        let line = match &mut self.wrapped {
            Some((wrapped, buffer)) => wrapped.text_of(line, buffer),
            None => line,
        };
        match &mut self.from {
            MeasureSource::Clf => access::clf(line),
            MeasureSource::Elb => access::elb(line),
            MeasureSource::Haproxy => access::haproxy(line),
            MeasureSource::Log(log) => log.measure(line),
            MeasureSource::Extended(columns) => columns.measure(line),
            MeasureSource::Json(json) => json.measure(line),
            MeasureSource::Cdxj(json) => json.measure_cdxj(line),
            MeasureSource::Cdx(cdx) => columns::cdx(cdx, line),
            MeasureSource::Csv(csv) => columns::csv(csv, line),
            MeasureSource::Tsv(tsv) => columns::tsv(tsv, line),
            MeasureSource::Archive(archive) => archive::archive(*archive, line),
            MeasureSource::Nothing => Measured::default(),
        }
    }
}

/// Parses a date and time as logs write them, such as `2000-10-10T13:55:36-07:00`, in seconds since 1970
/// began in UTC. A time without a zone is taken as UTC, and fractions of a second are dropped.
pub fn parse_time(text: &str) -> Option<i64> {
    time::written(text.as_bytes())
}

#[cfg(test)]
mod tests;
