//! Normalizes the URLs of a chunk in batches.
//!
//! Spans of one buffer go to one loop, which proves each URL clean or passes it on; under the rules of RFC
//! 3986 alone it rewrites the others too, because a call for each costs more than most rewrites. All lines
//! of a list are one such run of spans. Of any other format, a run is as many records as follow each other
//! with their URLs in the same buffer, the chunk or the scratch buffer. Only request targets without a
//! host, which no loop takes, are normalized one by one.

use std::mem::take;

use super::parse::reserve;
use super::rejected::{Shown, hidden_prefix};
use super::text::{AT_ONCE, BUFFER_SHIFT, IN_CHUNK, IN_REWRITTEN, IN_SCRATCH, UrlRef};
use super::{ParseRules, WorkBatch};
use uniqurl::bytes::alloc;
use uniqurl::bytes::{AllocError, Reject, RejectReason, Span};
use uniqurl::normalize::GROWTH;
use uniqurl::simd::{SpanBatch, UrlKind, Vector, VectorOp, Visitor, holds};
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{BufferId, Extracted, Record, Records};

/// URLs that follow each other in the same buffer.
#[derive(Clone, Copy)]
struct SpanRun<'a> {
    bytes: &'a [u8],
    buffer: BufferId,
    spans: &'a [Span],
    /// The record of each. None for a list: there the spans are the records.
    records: Option<&'a [Record]>,
}

/// What is known of a URL that is not taken by the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Clean,
    /// It is not proven clean.
    Unclean,
    /// Nor can it be rewritten in one pass.
    Declined,
}

/// Whether the batch takes more records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    On,
    /// The rest goes to another batch.
    Off,
}

impl WorkBatch {
    /// Normalizes the lines of a list, or the cells of a column.
    pub(super) fn normalize_list(&mut self, rules: &ParseRules<'_>) -> Result<(), AllocError> {
        let mut lines = take(&mut self.text.lines);
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let bytes = chunk.bytes();
        reserve(&mut self.keys, lines.len())?;
        // A clean URL holds a tab only if any byte may be clean.
        let any_tab =
            rules.normalizer.may_write_any_byte() && memchr::memchr(b'\t', bytes).is_some();
        let how = SpanLoop::new(rules, rules.context.max_url, !any_tab);
        let run = SpanRun { bytes, buffer: BufferId::Chunk, spans: &lines, records: None };
        how.run(self, run)?;
        if self.keys.len() < lines.len() {
            self.sequence.rest = Some(self.sequence.from + self.keys.len());
            lines.truncate(self.keys.len());
        }
        self.text.chunk = Some(chunk);
        self.text.lines = lines;
        self.count_records();
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
        self.count_records();
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
        // What was made of an earlier row with the same cell holds for a later one.
        let may_repeat = has_repeats(chunk) && !rules.needs.decoded && !rules.needs.rule_counts;
        let all = &records.records[..];
        let mut at = records.headers();
        while at < all.len() && self.text.rewritten.len() <= AT_ONCE {
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
                return Ok(start + self.keys.len() - before);
            }
        }
        Ok(at)
    }

    /// The key of an earlier row with the same cell.
    #[inline]
    fn earlier_key(&self, chunk: &Chunk, row: usize, record: Record) -> Option<UrlRef> {
        let key = self.keys[chunk.earlier(row)?];
        (matches!(record.found, Extracted::Url(..)) && key.is_canonical()).then_some(key)
    }

    /// Takes a record without a URL, or with a request target.
    fn normalize_single(
        &mut self,
        chunk: &[u8],
        side: &[u8],
        record: Record,
        has_queries: bool,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        match record.found {
            Extracted::Blank => {
                self.tally.records.blank += 1;
                self.keys.push(UrlRef::BLANK);
            }
            Extracted::Skipped => self.tally.records.skipped += 1,
            Extracted::Filtered => {
                self.tally.records.filtered += 1;
                self.keys.push(UrlRef::FILTERED);
            }
            Extracted::Reject(code, at) => {
                let reject = Reject::new(code, at as usize);
                let shown = if has_queries { Shown::Columns } else { Shown::Record };
                self.reject(record.line, BufferId::Chunk, record.line, shown, reject);
            }
            Extracted::Target(buffer, span) => {
                let bytes = if buffer == BufferId::Chunk { chunk } else { side };
                self.normalize_target(bytes, buffer, span, record.line, rules)?;
            }
            // They are in a run.
            Extracted::Url(..) | Extracted::Joined { .. } => {}
        }
        Ok(())
    }

    fn normalize_target(
        &mut self,
        bytes: &[u8],
        buffer: BufferId,
        span: Span,
        line: Span,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        let (normalizer, target) = (rules.normalizer, span.of(bytes));
        if normalizer.is_clean_in(bytes, span.range(), UrlKind::Target) {
            self.tally.hostless += 1;
            self.decode(target, UrlKind::Target, rules)?;
            self.keys.push(UrlRef::new(number_of(buffer), span.start as usize, span.len())?);
            return Ok(());
        }
        let start = self.text.rewritten.len();
        self.reserve_rewritten(target, rules)?;
        let rewritten = &mut self.text.rewritten;
        match normalizer.rewrite_in(bytes, span.range(), UrlKind::Target, rewritten) {
            Ok(()) => {
                self.tally.hostless += 1;
                self.decode(target, UrlKind::Target, rules)?;
                self.count_rules(target, UrlKind::Target, start, rules);
                self.push_rewritten(start)
            }
            Err(reject) => {
                self.text.rewritten.truncate(start);
                self.reject(line, buffer, span, Shown::Url, reject);
                Ok(())
            }
        }
    }

    /// Takes a URL that the loop does not take.
    fn normalize_by_steps(
        &mut self,
        run: SpanRun<'_>,
        number: usize,
        span: Span,
        known: Known,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        let url = span.of(run.bytes);
        let ParseRules { normalizer, context, .. } = rules;
        let (line, mut prefix) = match run.records {
            Some(records) => (records[number].line, prefix(records[number].found)),
            None => {
                let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                if url.len() <= context.max_record && url.iter().all(is_blank) {
                    self.tally.records.blank += 1;
                    self.keys.push(UrlRef::BLANK);
                    return Ok(());
                }
                if url.len() > context.max_url {
                    let reject = Reject::new(RejectReason::TooLong, context.max_url);
                    self.reject(span, BufferId::Chunk, span, Shown::Url, reject);
                    return Ok(());
                }
                self.tally.tabbed += u64::from(memchr::memchr(b'\t', url).is_some());
                (span, 0)
            }
        };
        if known == Known::Clean {
            self.keys.push(UrlRef::in_buffer(run.shifted_number(), span));
            return self.decode(url, UrlKind::Absolute, rules);
        }
        let start = self.text.rewritten.len();
        self.reserve_rewritten(url, rules)?;
        let (range, rewritten) = (span.range(), &mut self.text.rewritten);
        let result = match known {
            Known::Declined => {
                normalizer.rewrite_by_steps(run.bytes, range, UrlKind::Absolute, rewritten)
            }
            Known::Clean | Known::Unclean => {
                normalizer.rewrite_in(run.bytes, range, UrlKind::Absolute, rewritten)
            }
        };
        match result {
            Ok(()) => {
                let is_hostless = run.records.is_none() && normalizer.is_hostless(url);
                self.tally.hostless += u64::from(is_hostless);
                self.decode(url, UrlKind::Absolute, rules)?;
                self.count_rules(url, UrlKind::Absolute, start, rules);
                self.push_rewritten(start)
            }
            Err(reject) => {
                self.text.rewritten.truncate(start);
                prefix = hidden_prefix(url, prefix, &reject);
                let reject = reject.moved(|at| at - prefix as usize);
                let raw = Span { start: span.start + prefix, end: span.end };
                self.reject(line, run.buffer, raw, Shown::Url, reject);
                Ok(())
            }
        }
    }

    /// Reserves space for the canonical form of a URL.
    #[inline]
    fn reserve_rewritten(&mut self, url: &[u8], rules: &ParseRules<'_>) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.text.rewritten, GROWTH * url.len() + rules.brought + 64)
    }

    fn push_rewritten(&mut self, start: usize) -> Result<(), AllocError> {
        let len = self.text.rewritten.len() - start;
        self.keys.push(UrlRef::new(IN_REWRITTEN, start, len)?);
        Ok(())
    }

    /// Keeps the decoded path of a URL that has a canonical form, if the job needs it.
    fn decode(
        &mut self,
        url: &[u8],
        kind: UrlKind,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        if rules.needs.decoded
            && let Some(extras) = &mut self.extras
        {
            let paths = &mut extras.decoded.paths;
            alloc::try_reserve(paths, 3 * url.len() + 64)?;
            let _canonical = rules.normalizer.decoded_as(kind, url, paths);
            extras.decoded.ends.push(paths.len());
        }
        Ok(())
    }

    /// Counts the rules that changed a URL, rewritten from `start` on, if the job needs it.
    fn count_rules(&mut self, url: &[u8], kind: UrlKind, start: usize, rules: &ParseRules<'_>) {
        if rules.needs.rule_counts && self.text.rewritten[start..] != *url {
            rules.normalizer.count_rules(kind, url, &mut self.tally.records.by_rule);
        }
    }

    fn count_records(&mut self) {
        let tally = &mut self.tally.records;
        tally.records = self.keys.len() as u64;
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

/// Bytes of a host that were put before the target of a record.
fn prefix(found: Extracted) -> u32 {
    match found {
        Extracted::Joined { prefix, .. } => prefix,
        _ => 0,
    }
}

fn number_of(buffer: BufferId) -> u32 {
    match buffer {
        BufferId::Chunk => IN_CHUNK,
        BufferId::Scratch => IN_SCRATCH,
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

impl SpanRun<'_> {
    fn shifted_number(&self) -> u32 {
        number_of(self.buffer) << BUFFER_SHIFT
    }
}

/// How runs of a chunk are normalized.
struct SpanLoop<'a, 'r> {
    rules: &'a ParseRules<'r>,
    /// Longest URL that the loop takes.
    longest: usize,
    /// Whether nothing is needed of a clean URL except where it is.
    is_quick: bool,
    /// Whether the loop rewrites what is not clean.
    rewrites: bool,
}

impl<'a, 'r> SpanLoop<'a, 'r> {
    fn new(rules: &'a ParseRules<'r>, longest: usize, is_quick: bool) -> Self {
        let is_quick = is_quick && !rules.needs.decoded;
        let rewrites = rules.normalizer.rules_alone_act() && is_quick && !rules.needs.rule_counts;
        Self { rules, longest, is_quick, rewrites }
    }

    /// Appends a key for each span of a run, until the batch is full.
    fn run(&self, batch: &mut WorkBatch, run: SpanRun<'_>) -> Result<Taking, AllocError> {
        // Each position in the buffer has to fit.
        UrlRef::new(number_of(run.buffer), run.bytes.len(), 0)?;
        let mut state = Ok(Taking::On);
        let (number, spans) = (run.shifted_number(), SpanBatch::last(run.bytes, run.spans));
        let normalizer = self.rules.normalizer;
        if self.rewrites {
            let take = Take::<true> { batch, run, number, how: self, state: &mut state };
            normalizer.clean_each(spans, take);
        } else {
            let take = Take::<false> { batch, run, number, how: self, state: &mut state };
            normalizer.judge_each(spans, take);
        }
        state
    }
}

/// Takes the URLs of a run. `REWRITES` if only the rules of RFC 3986 act, and nothing is needed of a URL
/// except its canonical form.
struct Take<'a, 'r, const REWRITES: bool> {
    batch: &'a mut WorkBatch,
    run: SpanRun<'a>,
    /// The number of its buffer, shifted.
    number: u32,
    how: &'a SpanLoop<'a, 'r>,
    state: &'a mut Result<Taking, AllocError>,
}

impl<const REWRITES: bool> Visitor for Take<'_, '_, REWRITES> {
    const REWRITES: bool = REWRITES;

    #[inline(always)]
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool) {
        if *self.state != Ok(Taking::On) {
            return;
        }
        let is_short = span.len() <= self.how.longest;
        if is_clean & is_short & self.how.is_quick {
            return self.batch.keys.push(UrlRef::in_buffer(self.number, span));
        }
        let known = match is_clean {
            true => Known::Clean,
            false if REWRITES && is_short => match self.rewrite(vector, span) {
                Ok(true) => return,
                Ok(false) => Known::Declined,
                Err(error) => return *self.state = Err(error),
            },
            false => Known::Unclean,
        };
        self.by_steps(number, span, known);
    }
}

impl<const REWRITES: bool> Take<'_, '_, REWRITES> {
    /// Whether one pass does it.
    #[inline(always)]
    fn rewrite<V: Vector>(&mut self, vector: V, span: Span) -> Result<bool, AllocError> {
        if self.is_full() {
            return Ok(false);
        }
        let (bytes, rules) = (self.run.bytes, self.how.rules);
        self.batch.reserve_rewritten(span.of(bytes), rules)?;
        let (range, rewritten) = (span.range(), &mut self.batch.text.rewritten);
        let start = rewritten.len();
        let is_done =
            rules.normalizer.rewrite_of(UrlKind::Absolute, bytes, &range, rewritten).run(vector);
        if is_done {
            let url = UrlRef::new(IN_REWRITTEN, start, rewritten.len() - start)?;
            self.batch.keys.push(url);
            if self.run.records.is_none() {
                let has_tab = holds(vector, bytes, range.start, range.end, b'\t');
                self.batch.tally.tabbed += u64::from(has_tab);
            }
        }
        Ok(is_done)
    }

    /// Whether the batch has made as many bytes as it may.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.batch.text.rewritten.len() > AT_ONCE
    }

    #[cold]
    #[inline(never)]
    fn by_steps(&mut self, number: usize, span: Span, known: Known) {
        if self.is_full() {
            *self.state = Ok(Taking::Off);
        } else if let Err(error) =
            self.batch.normalize_by_steps(self.run, number, span, known, self.how.rules)
        {
            *self.state = Err(error);
        }
    }
}
