//! The loop over the URLs of one buffer.
//!
//! The library finds the URLs that are not clean, piece by piece, and clean ones are taken where they stand.
//! Under the rules of RFC 3986 alone the same pass rewrites most of the others, because a call for each
//! costs more than most rewrites.

use crate::batch::text::{BUFFER_SHIFT, IN_REWRITTEN, UrlRef, buffer_number};
use crate::batch::{ParseRules, WorkBatch};
use uniqurl::internal::{AllocError, Change, Form, Span, SpanBatch, alloc};
use uniqurl_formats::record::{BufferId, Labels, Record};

/// URLs that follow each other in the same buffer.
#[derive(Clone, Copy)]
pub(super) struct SpanRun<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) buffer: BufferId,
    pub(super) spans: &'a [Span],
    /// The record of each. None for a list: there the spans are the records.
    pub(super) records: Option<&'a [Record]>,
}

/// The result that the loop has found for a URL that it leaves to the slow path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Clean,
    Not(Form),
}

/// Whether the batch takes more records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    On,
    /// The rest goes to another batch.
    Off,
}

/// Most URLs of a piece. Memory for their canonical forms is reserved before, and between two pieces the
/// batch may turn out to be full, so a piece is short.
const PIECE: usize = 64;

/// Bytes of URLs after which a piece ends.
const PIECE_BYTES: usize = 4 << 10;

/// Most bytes that rewriting in one pass writes for a byte of a URL.
const GROWTH: usize = 3;

impl SpanRun<'_> {
    pub(super) fn shifted_number(&self) -> u32 {
        buffer_number(self.buffer) << BUFFER_SHIFT
    }

    /// The run without its first URLs.
    fn after(self, count: usize) -> Self {
        let records = self.records.map(|records| &records[count..]);
        Self { spans: &self.spans[count..], records, ..self }
    }

    /// How many URLs the next piece has, and their bytes.
    fn next_piece(&self) -> (usize, usize) {
        let spans = &self.spans[..self.spans.len().min(PIECE)];
        let bytes = |spans: &[Span]| spans.iter().map(|span| span.len()).sum::<usize>();
        match bytes(spans) {
            most if most <= PIECE_BYTES => (spans.len(), most),
            // URLs of this length are rare, and are counted one by one.
            _ => {
                let short = spans.iter().scan(0, |sum, span| {
                    *sum += span.len();
                    (*sum <= PIECE_BYTES).then_some(())
                });
                let count = short.count().max(1);
                (count, bytes(&spans[..count]))
            }
        }
    }
}

/// How runs of a chunk are normalized.
pub(super) struct SpanLoop<'a, 'r> {
    pub(super) rules: &'a ParseRules<'r>,
    /// Longest URL that the loop takes.
    longest: usize,
    /// True if a clean URL needs nothing but a reference to its span.
    is_quick: bool,
    /// The lines of a list that are no URLs.
    pub(super) labels: Option<Labels>,
}

impl<'a, 'r> SpanLoop<'a, 'r> {
    pub(super) fn new(rules: &'a ParseRules<'r>, longest: usize, is_quick: bool) -> Self {
        let is_quick = is_quick && !rules.needs.decoded;
        Self { rules, longest, is_quick, labels: None }
    }

    /// The same for a list in which such lines are no URLs.
    pub(super) fn without(self, labels: Option<Labels>) -> Self {
        Self { labels, ..self }
    }

    /// Appends a key for each span of a run, until the batch is full.
    pub(super) fn run(
        &self,
        batch: &mut WorkBatch,
        mut run: SpanRun<'_>,
    ) -> Result<Taking, AllocError> {
        // Each position in the buffer has to fit.
        UrlRef::new(buffer_number(run.buffer), run.bytes.len(), 0)?;
        let mut changes = std::mem::take(&mut batch.changes);
        let mut taking = Ok(Taking::On);
        while !run.spans.is_empty() && taking == Ok(Taking::On) {
            let (count, bytes) = run.next_piece();
            changes.clear();
            alloc::try_reserve(&mut changes, count)?;
            // A longer URL is not rewritten in the loop.
            let written = &mut batch.text.rewritten;
            alloc::try_reserve(written, GROWTH * bytes.min(2 * PIECE_BYTES) + 64)?;
            let piece = SpanBatch::last(run.bytes, &run.spans[..count]);
            // If a URL needs more than its form, the slow path has to see it.
            match self.is_quick {
                true => self.rules.normalizer.find_changes(piece, written, &mut changes),
                false => self.rules.normalizer.find_unclean(piece, &mut changes),
            }
            taking = self.take(batch, run, count, &changes);
            run = run.after(count);
        }
        batch.changes = changes;
        taking
    }

    /// Takes the first `count` URLs of a run. `changes` lists those that are not clean.
    fn take(
        &self,
        batch: &mut WorkBatch,
        run: SpanRun<'_>,
        count: usize,
        changes: &[Change],
    ) -> Result<Taking, AllocError> {
        let mut done = 0;
        // The lines of a list are in order, so one search finds all tabs. Cells of a table need not be, but
        // nobody counts tabs in those.
        let is_list = run.records.is_none();
        let end = run.spans[count - 1].end as usize;
        let tab_from = |start: usize| {
            let rest = run.bytes.get(start..end).filter(|_| is_list).unwrap_or_default();
            memchr::memchr(b'\t', rest).map_or(usize::MAX, |at| start + at)
        };
        let first = changes.first().map(|change| run.spans[change.number].start as usize);
        let mut tab = first.map_or(usize::MAX, tab_from);
        for change in changes {
            if self.take_clean(batch, run, done, change.number)? == Taking::Off {
                return Ok(Taking::Off);
            }
            done = change.number + 1;
            let span = run.spans[change.number];
            let url = span.of(run.bytes);
            match change.form {
                // A label may pass for a URL and be rewritten, and is none all the same.
                Form::Written { start, len }
                    if span.len() <= self.longest
                        && !self.labels.is_some_and(|labels| labels.has(url)) =>
                {
                    batch.keys.push(UrlRef::new(IN_REWRITTEN, start, len)?);
                    let range = span.range();
                    // Changes are in the order of the lines, so the search for tabs only goes forwards.
                    if tab < range.start {
                        tab = tab_from(range.start);
                    }
                    batch.tally.tabbed += u64::from(range.contains(&tab));
                }
                form => {
                    if self.take_slowly(batch, run, change.number, Known::Not(form))? == Taking::Off
                    {
                        return Ok(Taking::Off);
                    }
                }
            }
        }
        self.take_clean(batch, run, done, count)
    }

    /// Takes the clean URLs from `start` to `end` of a run.
    #[inline]
    fn take_clean(
        &self,
        batch: &mut WorkBatch,
        run: SpanRun<'_>,
        start: usize,
        end: usize,
    ) -> Result<Taking, AllocError> {
        let (number, spans) = (run.shifted_number(), &run.spans[start..end]);
        // Two loops, which compilers turn into vector code.
        if self.is_quick && spans.iter().all(|span| span.len() <= self.longest) {
            batch.keys.extend(spans.iter().map(|span| UrlRef::in_buffer(number, *span)));
            return Ok(Taking::On);
        }
        for i in start..end {
            let is_short = run.spans[i].len() <= self.longest;
            if self.is_quick && is_short {
                batch.keys.push(UrlRef::in_buffer(number, run.spans[i]));
            } else if self.take_slowly(batch, run, i, Known::Clean)? == Taking::Off {
                return Ok(Taking::Off);
            }
        }
        Ok(Taking::On)
    }

    // Out of line, to keep the loop over clean URLs small.
    #[cold]
    #[inline(never)]
    fn take_slowly(
        &self,
        batch: &mut WorkBatch,
        run: SpanRun<'_>,
        number: usize,
        known: Known,
    ) -> Result<Taking, AllocError> {
        // Only here does a base or a redirect come in, which may be much longer than the URL.
        if batch.text.rewritten.len() > batch.text.at_once() {
            return Ok(Taking::Off);
        }
        batch.normalize_by_steps(run, number, run.spans[number], known, self)?;
        Ok(Taking::On)
    }
}
