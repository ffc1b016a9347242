//! The columns of `--tally`: what the records of a key say about their responses.
//!
//! In: a key, its count, and the bytes of its [`ResponseTally`]. Out: a line of columns between tabs, or
//! an object of JSON. A column without a single number in the run is empty, or null.

use super::fields::{CanonicalBytes, Field, LineForm, escaped};
use super::json::{Object, number};
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record::{Format, Measured, PartSet, RecordPart};
use uniqurl_store::tally::ResponseTally;

/// Groups of columns that a tally can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TallyColumns {
    /// Records by class of status, from 1xx to 5xx.
    pub status: bool,
    /// The share of records with a status of 4xx or 5xx among those with a status.
    pub errors: bool,
    /// The sum of bytes.
    pub bytes: bool,
    /// The median, the 99th percentile and the greatest of the durations, in seconds.
    pub time: bool,
}

/// The names of the columns of statuses.
const STATUSES: [&str; 5] = ["status_1xx", "status_2xx", "status_3xx", "status_4xx", "status_5xx"];

/// The names of the columns of durations, and the percentage of requests that each stands for.
const TIMES: [(&str, u64); 3] = [("time_p50", 50), ("time_p99", 99), ("time_max", 100)];

/// The name of the column of errors.
const ERRORS: &str = "errors";

/// The name of the column of bytes.
const BYTES: &str = "bytes";

/// Bytes of the columns at most, with their names in JSON.
const ROOM: usize = 10 * 40;

impl TallyColumns {
    /// Whether there is any.
    pub fn any(self) -> bool {
        let Self { status, errors, bytes, time } = self;
        status || errors || bytes || time
    }

    /// The parts of a record that they are made of.
    pub fn parts(self) -> PartSet {
        let parts = [RecordPart::Status, RecordPart::Bytes, RecordPart::Seconds];
        let asked = [self.needs_statuses(), self.bytes, self.time];
        let asked = parts.into_iter().zip(asked).filter(|(_, is_asked)| *is_asked);
        asked.map(|(part, _)| part).collect()
    }

    /// Whether statuses are counted. The share of errors is made of these counts, also where no column shows them.
    pub(crate) fn needs_statuses(self) -> bool {
        self.status || self.errors
    }

    /// Those that a record has numbers for.
    pub(crate) fn found_in(self, measured: Measured) -> Self {
        let Self { status, errors, bytes, time } = self;
        Self {
            status: status && measured.status.is_some(),
            errors: errors && measured.status.is_some(),
            bytes: bytes && measured.bytes.is_some(),
            time: time && measured.duration.is_some(),
        }
    }

    /// Whether there is any, and records of the format have none of them.
    pub fn is_lacked_by(self, format: &Format) -> bool {
        self.any() && format.parts().and(self.parts()).is_empty()
    }

    /// Those of either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            status: self.status || other.status,
            errors: self.errors || other.errors,
            bytes: self.bytes || other.bytes,
            time: self.time || other.time,
        }
    }

    /// The names of the columns, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let Self { status, errors, bytes, time } = self;
        let statuses = STATUSES.into_iter().filter(move |_| status);
        let times = TIMES.into_iter().map(|(name, _)| name).filter(move |_| time);
        let errors = errors.then_some(ERRORS);
        statuses.chain(errors).chain(bytes.then_some(BYTES)).chain(times)
    }
}

/// How the line of a key with a tally is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TallyLayout {
    /// The columns.
    pub(crate) asked: TallyColumns,
    /// Those that any record of the run has a number for.
    pub(crate) present: TallyColumns,
    pub(crate) form: LineForm,
    pub(crate) bytes: CanonicalBytes,
    /// The name of the key.
    pub(crate) key: Field,
}

impl TallyLayout {
    /// Appends the line of a key.
    pub(crate) fn append(
        &self,
        key: &[u8],
        count: u64,
        tally: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), AllocError> {
        // JSON escapes a byte by at most six.
        alloc::try_reserve(out, ROOM + 6 * key.len())?;
        let tally = ResponseTally::decode(tally)?;
        match self.form {
            LineForm::Tabs | LineForm::Places(_) => {
                number(count, out);
                out.push(b'\t');
                match self.bytes {
                    CanonicalBytes::Printable => out.extend_from_slice(key),
                    CanonicalBytes::Any => escaped(key, out),
                }
                for (_, value) in self.columns(&tally) {
                    out.push(b'\t');
                    out.extend_from_slice(value.unwrap_or_default().as_bytes());
                }
                out.push(b'\n');
            }
            LineForm::Json => {
                let object = Object::at_end_of(out).number(Field::Count.name(), count);
                let mut object = object.bytes(self.key.name(), key);
                for (name, value) in self.columns(&tally) {
                    object = object.raw(name, value.as_deref().unwrap_or("null"));
                }
                object.end_line();
            }
        }
        Ok(())
    }

    /// The name and the value of each column, in order.
    fn columns(
        &self,
        tally: &ResponseTally,
    ) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let &Self { asked, present, .. } = self;
        // A column is empty if no record of the run has a number for it: the sum of no numbers is not 0 bytes.
        let statuses = STATUSES.into_iter().zip(tally.statuses()).filter(move |_| asked.status);
        let statuses =
            statuses.map(move |(name, count)| (name, present.status.then(|| count.to_string())));
        let rate = error_rate(tally.statuses()).filter(|_| present.errors);
        let errors = asked.errors.then_some((ERRORS, rate));
        let bytes = asked.bytes.then(|| (BYTES, present.bytes.then(|| tally.bytes().to_string())));
        let times = TIMES.into_iter().filter(move |_| asked.time).map(|(name, percent)| {
            let time = match percent {
                100 => tally.greatest_duration(),
                _ => tally.duration(percent),
            };
            (name, time.map(seconds))
        });
        statuses.chain(errors).chain(bytes).chain(times)
    }
}

/// The share of errors among the records with a status; none if no record has one.
fn error_rate(statuses: [u64; 5]) -> Option<String> {
    let [.., client, server] = statuses;
    let all: u64 = statuses.iter().sum();
    (all > 0).then(|| format!("{:.4}", (client + server) as f64 / all as f64))
}

/// Microseconds as seconds.
fn seconds(duration: u64) -> String {
    // From whole numbers, since a division in floating point would round.
    format!("{}.{:06}", duration / 1_000_000, duration % 1_000_000)
}
