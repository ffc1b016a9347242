//! Reads the numbers of JSON records.

use super::super::json::{JsonFields, Pointers, carry};
use super::super::{Json, cdxj};
use super::number::{decimal, status, whole};
use super::{Measured, MeasuredFields, time};

/// The pointers to the numbers, and a buffer.
#[derive(Debug)]
pub(super) struct JsonNumbers {
    statuses: Pointers,
    fields: JsonFields,
    buffer: Vec<u8>,
}

impl JsonNumbers {
    pub fn new(json: &Json) -> Self {
        Self { statuses: json.statuses(), fields: json.fields().clone(), buffer: Vec::new() }
    }

    pub fn fields(&self) -> MeasuredFields {
        MeasuredFields {
            status: !self.statuses.is_empty(),
            bytes: !self.fields.bytes.is_empty(),
            duration: !self.fields.seconds.is_empty(),
            time: !self.fields.time.is_empty(),
        }
    }

    pub fn measure(&mut self, text: &[u8]) -> Measured {
        let Self { statuses, fields, buffer } = self;
        let mut numbers = Measured::default();
        let Measured { status: code, bytes, duration, time: when } = &mut numbers;
        first(text, statuses, buffer, code, status);
        first(text, &fields.bytes, buffer, bytes, whole);
        first(text, &fields.seconds, buffer, duration, |text| decimal(text, 6));
        let mut date = None;
        first(text, &fields.date, buffer, &mut date, |text| Some(text.to_vec()));
        first(text, &fields.time, buffer, when, |clock| match &date {
            Some(date) => time::date_and_time(date, clock),
            None => time::of_any_form(clock),
        });
        numbers
    }

    /// The numbers of a `cdxj` line, whose object follows a key and a timestamp.
    pub fn measure_cdxj(&mut self, line: &[u8]) -> Measured {
        let Some(object) = cdxj::object(line) else { return Measured::default() };
        let stamp = line.split(|byte| *byte == b' ').nth(1);
        Measured { time: stamp.and_then(time::stamp), ..self.measure(object) }
    }
}

/// Reads the first value that is a number.
fn first<T>(
    text: &[u8],
    pointers: &Pointers,
    buffer: &mut Vec<u8>,
    number: &mut Option<T>,
    read: impl Fn(&[u8]) -> Option<T>,
) {
    carry(text, pointers, buffer, |value| {
        if number.is_none() {
            *number = value.and_then(&read);
        }
    });
}
