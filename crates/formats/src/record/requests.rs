//! Reads who made the request of a record, and when, for the filters that judge them.
//!
//! The input is the records of a chunk, in order, headers included. This parses a record a second time,
//! so reading costs nothing where no filter asks.

use super::carry::Carrier;
use super::logged::LogColumn;
use super::measure::of_any_form;
use super::part::RecordPart;
use super::{Format, Measurer, NULL, RowBatch, Values};
use uniqurl::internal::{AllocError, Span};

/// Reads the time and the agent of each record.
#[derive(Debug)]
pub struct RequestReader {
    time: Option<Measurer>,
    agent: Option<Carrier>,
    /// The cells of a table's row with the time and the agent.
    cells: [Option<usize>; 2],
    values: Values,
}

/// The time and the agent of a record; None where the format has no such field, the record has no value
/// there, or it is not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestFacts<'a> {
    /// When the request was, in seconds since 1970 began in UTC.
    pub time: Option<i64>,
    /// The agent as the client sent it.
    pub agent: Option<&'a [u8]>,
}

impl RequestReader {
    /// For records of `format`, which is the one at the start of the chunk. None if they have neither of
    /// the fields that are asked for.
    pub fn new(format: &Format, asks_time: bool, asks_agent: bool) -> Option<Self> {
        let has_time = asks_time && LogColumn::Time.is_in(format);
        let has_agent = asks_agent && LogColumn::Agent.is_in(format);
        if !has_time && !has_agent {
            return None;
        }
        let cells = match format {
            Format::Table(table) => [RecordPart::Time, RecordPart::Agent].map(|p| table.cell_of(p)),
            _ => [None; 2],
        };
        Some(Self {
            time: has_time.then(|| Measurer::new(format)),
            agent: has_agent.then(|| Carrier::of_agent(format)),
            cells,
            values: Values::default(),
        })
    }

    /// True if records can have a time.
    pub fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// True if records can have an agent.
    pub fn has_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        if let Some(time) = &mut self.time {
            time.pass(line);
        }
        if let Some(agent) = &mut self.agent {
            agent.pass(line);
        }
    }

    /// Reads a record.
    pub fn read(&mut self, line: &[u8]) -> Result<RequestFacts<'_>, AllocError> {
        let time = self.time.as_mut().and_then(|time| time.measure(line).time);
        let Some(agent) = &mut self.agent else { return Ok(RequestFacts { time, agent: None }) };
        agent.values(line, &mut self.values)?;
        Ok(RequestFacts { time, agent: self.values.get(0) })
    }

    /// Reads a row of a table.
    pub fn read_row<'a>(&self, chunk: &'a [u8], rows: &RowBatch, row: usize) -> RequestFacts<'a> {
        let cells = &rows.cells[row * rows.width..][..rows.width];
        let text = |cell: Option<usize>| {
            Some(cells[cell?]).filter(|cell: &Span| *cell != NULL).map(|cell| cell.of(chunk))
        };
        let [time, agent] = self.cells;
        RequestFacts { time: text(time).and_then(of_any_form), agent: text(agent) }
    }
}
