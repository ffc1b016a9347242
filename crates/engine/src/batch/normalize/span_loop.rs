//! The loop over the URLs of one buffer.
//!
//! It takes clean URLs where they stand. Under the rules of RFC 3986 alone it rewrites the others too,
//! because a call for each costs more than most rewrites.

use super::single::number_of;
use crate::batch::text::{BUFFER_SHIFT, IN_REWRITTEN, UrlRef};
use crate::batch::{ParseRules, WorkBatch};
use uniqurl::bytes::{AllocError, Span};
use uniqurl::simd::{SpanBatch, UrlKind, Vector, VectorOp, Visitor, holds};
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
    /// It is not proven clean.
    Unclean,
    /// One pass cannot rewrite it.
    Declined,
}

/// Whether the batch takes more records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    On,
    /// The rest goes to another batch.
    Off,
}

impl SpanRun<'_> {
    pub(super) fn shifted_number(&self) -> u32 {
        number_of(self.buffer) << BUFFER_SHIFT
    }
}

/// How runs of a chunk are normalized.
pub(super) struct SpanLoop<'a, 'r> {
    pub(super) rules: &'a ParseRules<'r>,
    /// Longest URL that the loop takes.
    longest: usize,
    /// True if a clean URL needs nothing but a reference to its span.
    is_quick: bool,
    /// True if the loop rewrites URLs that are not clean.
    rewrites: bool,
    /// The lines of a list that are no URLs.
    pub(super) labels: Option<Labels>,
}

impl<'a, 'r> SpanLoop<'a, 'r> {
    pub(super) fn new(rules: &'a ParseRules<'r>, longest: usize, is_quick: bool) -> Self {
        let is_quick = is_quick && !rules.needs.decoded;
        let rewrites = rules.normalizer.rules_alone_act() && is_quick;
        Self { rules, longest, is_quick, rewrites, labels: None }
    }

    /// The same for a list in which such lines are no URLs.
    pub(super) fn without(self, labels: Option<Labels>) -> Self {
        Self { labels, ..self }
    }

    /// Appends a key for each span of a run, until the batch is full.
    pub(super) fn run(
        &self,
        batch: &mut WorkBatch,
        run: SpanRun<'_>,
    ) -> Result<Taking, AllocError> {
        // Each position in the buffer has to fit.
        UrlRef::new(number_of(run.buffer), run.bytes.len(), 0)?;
        let mut state = Ok(Taking::On);
        let (number, spans) = (run.shifted_number(), SpanBatch::last(run.bytes, run.spans));
        let normalizer = self.rules.normalizer;
        // A const parameter, so that the loop that only judges has no code for rewriting.
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
        // A visitor cannot end the loop, so it skips the URLs that are left.
        if *self.state != Ok(Taking::On) {
            return;
        }
        let is_short = span.len() <= self.how.longest;
        // `&` instead of `&&` makes this one branch, which clean input predicts well.
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
    /// Rewrites a URL in one pass; false if that is not possible.
    #[inline(always)]
    fn rewrite<V: Vector>(&mut self, vector: V, span: Span) -> Result<bool, AllocError> {
        if self.is_full() {
            return Ok(false);
        }
        let (bytes, rules) = (self.run.bytes, self.how.rules);
        if self.how.labels.is_some_and(|labels| labels.has(span.of(bytes))) {
            return Ok(false);
        }
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

    /// True if the batch has written its limit of bytes.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.batch.text.rewritten.len() > self.batch.text.at_once()
    }

    // Out of line, to keep the loop over clean URLs small.
    #[cold]
    #[inline(never)]
    fn by_steps(&mut self, number: usize, span: Span, known: Known) {
        if self.is_full() {
            *self.state = Ok(Taking::Off);
        } else if let Err(error) =
            self.batch.normalize_by_steps(self.run, number, span, known, self.how)
        {
            *self.state = Err(error);
        }
    }
}
