//! Which records to keep, by who made the request and when.
//!
//! The input is a batch whose records are found; the output is the same with records that are
//! [filtered](Extracted::Filtered). A record that is rejected is filtered only if its time or agent can be
//! read.

use std::fmt;

use crate::expressions::Expressions;
use uniqurl::internal::AllocError;
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{Extracted, FieldReader, Format, PartSet, RecordPart, Records};

/// A choice among the records of logs: all that is set must agree. The default keeps all of them.
///
/// A filter has no effect on a format without the field it asks for. Of formats that have it, a record
/// without a readable time is dropped, and one without an agent matches no expression.
///
/// ```
/// use uniqurl_engine::RequestFilter;
/// use uniqurl_formats::record::Format;
///
/// let mut wanted = RequestFilter::default();
/// wanted.unwanted_agent("(?i)bot")?;
/// wanted.since(1_431_856_800);
/// let combined = Format::parse("combined").unwrap();
/// assert!(wanted.lacking(combined.facts()).next().is_none());
/// assert!(wanted.lacking(Format::Clf.facts()).eq(["agent"]));
/// # Ok::<(), uniqurl_engine::BadRequestFilter>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RequestFilter {
    agents: Expressions,
    unwanted_agents: Expressions,
    since: Option<i64>,
    until: Option<i64>,
}

/// Why a text is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequestFilter(String);

impl fmt::Display for BadRequestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRequestFilter {}

impl RequestFilter {
    /// Adds a regular expression; a record is kept if one of them is found in its agent.
    ///
    /// # Errors
    ///
    /// `pattern` is not a regular expression.
    pub fn agent(&mut self, pattern: &str) -> Result<(), BadRequestFilter> {
        self.agents.add(pattern).map_err(BadRequestFilter)
    }

    /// Adds a regular expression; a record is dropped if one of them is found in its agent.
    ///
    /// # Errors
    ///
    /// `pattern` is not a regular expression.
    pub fn unwanted_agent(&mut self, pattern: &str) -> Result<(), BadRequestFilter> {
        self.unwanted_agents.add(pattern).map_err(BadRequestFilter)
    }

    /// Keeps records from this second on, counted since 1970 began in UTC.
    pub fn since(&mut self, seconds: i64) {
        self.since = Some(seconds);
    }

    /// Keeps records before this second, counted since 1970 began in UTC.
    pub fn until(&mut self, seconds: i64) {
        self.until = Some(seconds);
    }

    /// Whether it keeps all records.
    pub fn is_empty(&self) -> bool {
        self.asked().is_empty()
    }

    /// Which of `agent` and `time` the filter asks for that records with these facts do not have.
    pub fn lacking(&self, facts: PartSet) -> impl Iterator<Item = &'static str> + use<> {
        let asked = self.asked();
        [("agent", RecordPart::Agent), ("time", RecordPart::Time)]
            .into_iter()
            .filter(move |(_, part)| asked.has(*part) && !facts.has(*part))
            .map(|(name, _)| name)
    }

    /// The parts that decide.
    fn asked(&self) -> PartSet {
        let asks_time = self.since.is_some() || self.until.is_some();
        let asks_agent = !self.agents.is_empty() || !self.unwanted_agents.is_empty();
        let asked = [(RecordPart::Time, asks_time), (RecordPart::Agent, asks_agent)];
        asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(part, _)| part).collect()
    }

    /// Marks the records of a chunk that are to be dropped.
    pub(crate) fn apply(
        &self,
        format: &Format,
        chunk: &Chunk,
        records: &mut Records,
    ) -> Result<(), AllocError> {
        let mut reader = FieldReader::new(format, self.asked());
        let parts = reader.parts();
        if parts.is_empty() {
            return Ok(());
        }
        let bytes = chunk.bytes();
        let mut row = 0;
        for record in &mut records.records {
            if record.found == Extracted::Skipped {
                // A skipped line may be a header, which says where the fields of later records are.
                reader.pass(record.line.of(bytes));
                continue;
            }
            // Blank and filtered rows are counted too, for the columns of a table are by row.
            row += 1;
            // It is decided already, so its fields need not be read.
            if matches!(record.found, Extracted::Blank | Extracted::Filtered) {
                continue;
            }
            let fields = match rows_of(chunk) {
                Some(rows) => reader.read_row(bytes, rows, row - 1),
                None => reader.read(record.line.of(bytes))?,
            };
            // Some formats give a number that nobody asks for beside one that somebody does.
            let time = fields.numbers.time.filter(|_| parts.has(RecordPart::Time));
            let agent = fields.text(RecordPart::Agent);
            let is_unread = time.is_none() && agent.is_none();
            let stays_rejected = is_unread && matches!(record.found, Extracted::Reject(..));
            let is_kept = (!parts.has(RecordPart::Time) || self.keeps_time(time))
                && (!parts.has(RecordPart::Agent) || self.keeps_agent(agent));
            if !is_kept && !stays_rejected {
                record.found = Extracted::Filtered;
            }
        }
        Ok(())
    }

    fn keeps_time(&self, time: Option<i64>) -> bool {
        self.since.is_none_or(|since| time.is_some_and(|time| since <= time))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
    }

    fn keeps_agent(&self, agent: Option<&[u8]>) -> bool {
        let is_one = |agents: &Expressions| agent.is_some_and(|agent| agents.is_match(agent));
        (self.agents.is_empty() || is_one(&self.agents))
            && (self.unwanted_agents.is_empty() || !is_one(&self.unwanted_agents))
    }
}

/// The rows of a chunk, if it is of a table.
#[cfg(feature = "tables")]
fn rows_of(chunk: &Chunk) -> Option<&uniqurl_formats::record::RowBatch> {
    chunk.rows()
}

/// This build reads no tables.
#[cfg(not(feature = "tables"))]
fn rows_of(_: &Chunk) -> Option<&uniqurl_formats::record::RowBatch> {
    None
}

#[cfg(test)]
mod tests {
    use super::RequestFilter;

    #[test]
    fn interval_holds_its_start_and_not_its_end() {
        let mut wanted = RequestFilter::default();
        assert!(wanted.is_empty() && wanted.keeps_time(None));
        wanted.since(10);
        wanted.until(20);
        for (time, kept) in [(9, false), (10, true), (19, true), (20, false)] {
            assert_eq!(wanted.keeps_time(Some(time)), kept, "{time}");
        }
        assert!(!wanted.keeps_time(None));
    }

    #[test]
    fn record_without_an_agent_matches_no_expression() {
        let mut wanted = RequestFilter::default();
        wanted.agent("bot|crawl").unwrap();
        wanted.agent("^-$").unwrap();
        assert!(wanted.keeps_agent(Some(b"Googlebot/2.1")) && wanted.keeps_agent(Some(b"-")));
        assert!(!wanted.keeps_agent(Some(b"curl/8")) && !wanted.keeps_agent(None));
        wanted.unwanted_agent("Google").unwrap();
        assert!(!wanted.keeps_agent(Some(b"Googlebot/2.1")));
        let mut others = RequestFilter::default();
        others.unwanted_agent("bot").unwrap();
        assert!(others.keeps_agent(None) && !others.keeps_agent(Some(b"bot")));
        assert!(RequestFilter::default().agent("(").is_err());
        assert!(RequestFilter::default().unwanted_agent("(").is_err());
    }
}
