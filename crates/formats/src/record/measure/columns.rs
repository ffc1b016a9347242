//! Reads the numbers of formats with columns: `w3c`, `cloudfront`, `cdx`, `csv` and `tsv`.

use super::super::columns::Columns;
use super::super::part::{RecordPart, Value};
use super::super::{Cdx, Csv, Extended, Tsv};
use super::number::{decimal, status, whole};
use super::{Measured, MeasuredFields, time};

/// A log with `#Fields:` lines, and the columns of the numbers.
#[derive(Debug)]
pub(super) struct ExtendedColumns {
    format: Extended,
    places: [Option<usize>; NAMES.len()],
}

/// The columns that are read.
const NAMES: [&[u8]; 5] = [b"sc-status", b"sc-bytes", b"time-taken", b"date", b"time"];

impl ExtendedColumns {
    pub fn new(format: &Extended) -> Self {
        let header = format.header();
        let find = |name: &[u8]| header.iter().position(|other| other.eq_ignore_ascii_case(name));
        Self { places: NAMES.map(find), format: format.clone() }
    }

    /// Applies a directive.
    pub fn pass(&mut self, line: &[u8]) {
        self.format.take(line);
        *self = Self::new(&self.format);
    }

    pub fn measure(&self, line: &[u8]) -> Measured {
        let mut numbers = Measured::default();
        self.format.fields(line, |header, values| {
            // After a missing field or a space within one, all others are in the wrong place.
            if header.len() != values.len() {
                return;
            }
            let [told, sent, taken, date, at] =
                self.places.map(|place| place.map_or(&b""[..], |place| values[place].bytes()));
            numbers = Measured {
                status: status(told),
                bytes: whole(sent),
                duration: self.duration(taken),
                time: time::date_and_time(date, at),
            };
        });
        numbers
    }

    /// The draft of W3C and CloudFront have seconds with a fraction; IIS has whole milliseconds.
    fn duration(&self, taken: &[u8]) -> Option<u64> {
        let is_seconds = taken.contains(&b'.') || self.format.name() == "cloudfront";
        decimal(taken, if is_seconds { 6 } else { 3 })
    }
}

/// `cdx`: the lengths are those of compressed records, so no bytes are read.
pub(super) fn cdx(format: &Cdx, line: &[u8]) -> Measured {
    let (delimiter, letters) = format.columns(line);
    let fields = || line.split(|byte| *byte == delimiter);
    if fields().count() != letters.len() {
        return Measured::default();
    }
    let field = |letter| fields().nth(letters.iter().position(|other| *other == letter)?);
    Measured {
        status: field(b's').and_then(status),
        time: field(b'b').and_then(time::stamp),
        ..Measured::default()
    }
}

/// The numbers that columns are named for.
pub(super) fn fields(columns: &Columns) -> MeasuredFields {
    MeasuredFields {
        status: columns.have(RecordPart::Status),
        bytes: columns.have(RecordPart::Bytes),
        duration: false,
        time: columns.have(RecordPart::Time),
    }
}

/// `csv`: the columns of the status and the time, if they are named.
pub(super) fn csv(format: &Csv, record: &[u8]) -> Measured {
    if !NUMBERS.iter().any(|part| format.columns.have(*part)) {
        return Measured::default();
    }
    let fields = format.fields(record);
    of_parts(|part| fields.get(format.column_of(part)?).map(Value::bytes))
}

/// `tsv`: the same, and of formats with a name also the bytes.
pub(super) fn tsv(format: &Tsv, line: &[u8]) -> Measured {
    of_parts(|part| line.split(|byte| *byte == b'\t').nth(format.column_of(part)?))
}

/// The parts that are numbers.
const NUMBERS: [RecordPart; 3] = [RecordPart::Status, RecordPart::Time, RecordPart::Bytes];

fn of_parts<'a>(field: impl Fn(RecordPart) -> Option<&'a [u8]>) -> Measured {
    let clock = field(RecordPart::Time);
    Measured {
        status: field(RecordPart::Status).and_then(status),
        bytes: field(RecordPart::Bytes).and_then(whole),
        duration: None,
        time: match field(RecordPart::Date) {
            Some(date) => clock.and_then(|clock| time::date_and_time(date, clock)),
            None => clock.and_then(time::of_any_form),
        },
    }
}
