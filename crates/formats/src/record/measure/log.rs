//! Reads the numbers of logs that a format string describes.

use super::super::LogFormat;
use super::super::log::Field;
use super::number::{decimal, status, whole};
use super::{Measured, MeasuredFields, time};

/// The format, and the field with the duration.
#[derive(Debug)]
pub(super) struct FormattedLog {
    format: LogFormat,
    duration: Option<Field>,
}

impl FormattedLog {
    pub fn new(format: &LogFormat) -> Self {
        // Of several units, the finest: Apache's `%T` alone drops the fraction.
        let units = [Field::Micros, Field::Millis, Field::Seconds];
        let has = |unit: &Field| format.measured_fields().any(|field| field == *unit);
        Self { format: format.clone(), duration: units.into_iter().find(has) }
    }

    pub fn fields(&self) -> MeasuredFields {
        let has =
            |which: &[Field]| self.format.measured_fields().any(|field| which.contains(&field));
        MeasuredFields {
            status: has(&[Field::Status]),
            bytes: has(&[Field::Bytes]),
            duration: self.duration.is_some(),
            time: has(&[Field::Date, Field::EpochSeconds, Field::EpochMillis, Field::EpochMicros]),
        }
    }

    pub fn measure(&self, line: &[u8]) -> Measured {
        let mut numbers = Measured::default();
        self.format.measured(line, |field, text| {
            // The line may go on after the last field of the format.
            let first = text.split(|byte| *byte == b' ').next().unwrap_or_default();
            let Measured { status: code, bytes, duration, time: when } = &mut numbers;
            match field {
                Field::Status => *code = code.or_else(|| status(first)),
                Field::Bytes => *bytes = bytes.or_else(|| whole(first)),
                Field::Date => *when = when.or_else(|| time::written(text)),
                Field::EpochSeconds => *when = when.or_else(|| time::epoch_in(first, 0)),
                Field::EpochMillis => *when = when.or_else(|| time::epoch_in(first, -3)),
                Field::EpochMicros => *when = when.or_else(|| time::epoch_in(first, -6)),
                unit if Some(unit) == self.duration => {
                    let power = match unit {
                        Field::Micros => 0,
                        Field::Millis => 3,
                        _ => 6,
                    };
                    *duration = duration.or_else(|| decimal(first, power));
                }
                _ => {}
            }
        });
        numbers
    }
}
