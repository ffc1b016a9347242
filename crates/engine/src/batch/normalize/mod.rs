//! Normalizes the URLs of a chunk in batches.
//!
//! Spans of one buffer go to one loop ([`span_loop`]), which proves each URL clean or passes it on. All lines
//! of a list are one such run of spans. In any other format, a run is a sequence of neighbouring records
//! with their URLs in the same buffer, the chunk or the scratch buffer. Only request targets without a
//! host, which no loop takes, are normalized one by one.

mod span_loop;
mod single;

use std::mem::take;

use super::parse::reserve;
use super::text::UrlRef;
use super::{ParseRules, WorkBatch};
use span_loop::{SpanLoop, SpanRun, Taking};
use uniqurl::internal::{AllocError, Grammar, Span};
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{BufferId, Extracted, Labels, Record, Records};

impl WorkBatch {
    /// Normalizes the lines of a list, or the cells of a column.
    ///
    /// `labels` are the lines that are no URLs, if the records are lines.
    pub(super) fn normalize_list(
        &mut self,
        labels: Option<Labels>,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        let mut lines = take(&mut self.text.lines);
        // Taken out, so that its bytes can be borrowed while the batch grows.
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let bytes = chunk.bytes();
        reserve(&mut self.keys, lines.len())?;
        // A clean URL holds a tab only if any byte may be clean.
        let any_tab =
            rules.normalizer.may_write_any_byte() && memchr::memchr(b'\t', bytes).is_some();
        // To `string`, a URL is any bytes.
        let labels =
            labels.filter(|_| rules.normalizer.profile().rules().grammar != Grammar::Ignored);
        // A label with a blank is never clean, because no clean URL holds one here, so only the
        // slow path has to look for it.
        let is_quick = !any_tab && labels.is_none_or(|labels| labels == Labels::Spaced);
        let how = SpanLoop::new(rules, rules.context.max_url, is_quick).without(labels);
        let run = SpanRun { bytes, buffer: BufferId::Chunk, spans: &lines, records: None };
        how.run(self, run)?;
        let mut read = self.text.lines_read;
        if self.keys.len() < lines.len() {
            // Counted with the blank lines that were left out, since the next batch cuts the
            // chunk into all of them again.
            read = self.text.number_of(self.keys.len());
            self.sequence.rest = Some(self.sequence.from + read);
            lines.truncate(self.keys.len());
        }
        self.tally.records.blank += (read - self.keys.len()) as u64;
        self.text.chunk = Some(chunk);
        self.text.lines = lines;
        self.count_records(read);
        Ok(())
    }

    /// Normalizes the URLs of records in any other format. In records with a query where none is marked,
    /// `has_queries`, secrets may be anywhere.
    pub(super) fn normalize_records(
        &mut self,
        has_queries: bool,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let mut records = take(&mut self.text.records);
        let mut spans = take(&mut self.text.lines);
        reserve(&mut self.keys, records.records.len())?;
        reserve(&mut spans, records.records.len())?;
        let headers = records.headers();
        let read = self.normalize_runs(&chunk, &records, &mut spans, has_queries, rules)?;
        if read < records.records.len() || records.is_full() {
            self.sequence.rest = Some(self.sequence.from + read - headers);
            records.records.truncate(read);
        }
        spans.clear();
        self.text.chunk = Some(chunk);
        self.text.records = records;
        self.text.lines = spans;
        self.count_records(self.keys.len());
        Ok(())
    }

    /// Normalizes one run of records after the other, and returns how many records that were.
    fn normalize_runs(
        &mut self,
        chunk: &Chunk,
        records: &Records,
        spans: &mut Vec<Span>,
        has_queries: bool,
        rules: &ParseRules<'_>,
    ) -> Result<usize, AllocError> {
        let how = SpanLoop::new(rules, usize::MAX, true);
        // A later row with the same cell reuses the result of the earlier one.
        let may_repeat = has_repeats(chunk) && !rules.needs.decoded;
        let all = &records.records[..];
        let mut at = records.headers();
        while at < all.len() && self.text.rewritten.len() <= self.text.at_once() {
            let Some((buffer, _)) = url_span(all[at].found) else {
                self.normalize_single(
                    chunk.bytes(),
                    &records.scratch,
                    all[at],
                    has_queries,
                    rules,
                )?;
                at += 1;
                continue;
            };
            if may_repeat && let Some(key) = self.earlier_key(chunk, at, all[at]) {
                self.keys.push(key);
                at += 1;
                continue;
            }
            spans.clear();
            let start = at;
            while let Some(record) = all.get(at)
                && let Some((same, span)) = url_span(record.found)
                && same == buffer
                // A row with an earlier equal cell ends the run, so that it can reuse the key.
                && (at == start || !may_repeat || chunk.earlier(at).is_none())
            {
                spans.push(span);
                at += 1;
            }
            let bytes = match buffer {
                BufferId::Chunk => chunk.bytes(),
                BufferId::Scratch => &records.scratch,
            };
            let before = self.keys.len();
            let run = SpanRun { bytes, buffer, spans, records: Some(&all[start..at]) };
            if how.run(self, run)? == Taking::Off {
                // One key for each record that the loop took.
                return Ok(start + self.keys.len() - before);
            }
        }
        Ok(at)
    }

    /// The key of an earlier row with the same cell.
    #[inline]
    fn earlier_key(&self, chunk: &Chunk, row: usize, record: Record) -> Option<UrlRef> {
        let key = self.keys[chunk.earlier(row)?];
        // A rejected row is listed by itself, so only canonical keys are reused.
        (matches!(record.found, Extracted::Url(..)) && key.is_canonical()).then_some(key)
    }

    fn count_records(&mut self, read: usize) {
        let tally = &mut self.tally.records;
        tally.records = read as u64;
        tally.canonical = tally.records - tally.rejected - tally.blank - tally.filtered;
    }
}

/// The buffer and span of the URL in a record, unless it is a request target.
#[inline]
fn url_span(found: Extracted) -> Option<(BufferId, Span)> {
    match found {
        Extracted::Url(buffer, span) => Some((buffer, span)),
        Extracted::Joined { url, .. } => Some((BufferId::Scratch, url)),
        _ => None,
    }
}

/// Whether rows of a table are known to hold the same cell as earlier ones.
fn has_repeats(chunk: &Chunk) -> bool {
    #[cfg(feature = "tables")]
    return chunk.rows().is_some_and(|rows| !rows.first.is_empty());
    #[cfg(not(feature = "tables"))]
    {
        let _ = chunk;
        false
    }
}

#[cfg(test)]
mod tests;
