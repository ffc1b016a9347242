//! Reads what a record says about its response: status, size, duration, and when it was.
//!
//! In: a format, then the lines of a chunk, headers included. Out: numbers in one unit each, whatever
//! the unit of the log. This parses a record a second time, so reading costs nothing if no number is
//! asked for.

mod access;
mod number;
mod time;

use super::Format;

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
}

/// How to read the numbers of a record.
#[derive(Debug)]
enum MeasureSource {
    Clf,
    Nothing,
}

impl Measurer {
    /// For records of `format`, which is the one at the start of the chunk.
    pub fn new(format: &Format) -> Self {
        let from = match format {
            Format::Clf | Format::Combined | Format::Vhost => MeasureSource::Clf,
            _ => MeasureSource::Nothing,
        };
        Self { from }
    }

    /// Which numbers records can have.
    pub fn fields(&self) -> MeasuredFields {
        match &self.from {
            MeasureSource::Clf => {
                MeasuredFields { status: true, bytes: true, duration: false, time: true }
            }
            MeasureSource::Nothing => MeasuredFields::default(),
        }
    }

    /// Passes over a header, which can change where the numbers are.
    pub fn pass(&mut self, _line: &[u8]) {}

    /// The numbers of a record.
    pub fn measure(&mut self, line: &[u8]) -> Measured {
        match &self.from {
            MeasureSource::Clf => access::clf(line),
            MeasureSource::Nothing => Measured::default(),
        }
    }
}

#[cfg(test)]
mod tests;
