//! A chunk whose records are URLs and nothing else: lines of a list, or cells of a table.
//!
//! They are proven clean and taken one by one in one loop, and under the ladder alone those that are not
//! are rewritten in it too: a call for each costs more than most of what is wrong with them.

use super::digest::reserve;
use super::text::{AT_ONCE, IN_REWRITTEN, Url};
use super::{Raw, Rules, Sheet};
use uniqurl::bytes::AllocError;
use uniqurl::bytes::Span;
#[cfg(feature = "tables")]
use uniqurl::bytes::alloc;
use uniqurl::bytes::{Reject, RejectReason};
use uniqurl::simd::{SpanBatch, UrlKind, Vector, VectorOp, Visitor, holds};
#[cfg(feature = "tables")]
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{self, BufferId};

impl Sheet {
    pub(super) fn lines(&mut self, rules: &Rules<'_>) -> Result<(), AllocError> {
        let Some(chunk) = &self.text.chunk else { return Ok(()) };
        let lines = &mut self.scratch.lines;
        lines.clear();
        let (kernel, separator) = (rules.normalizer.kernel(), rules.context.separator);
        record::cut(kernel, separator, chunk.bytes(), lines);
        lines.drain(..self.from.min(lines.len()));
        self.spans(rules)?;
        self.listed = self.tally.records;
        Ok(())
    }

    /// The rows of a table that are URLs and nothing else: as the lines of a list.
    #[cfg(feature = "tables")]
    pub(super) fn cells(&mut self, rules: &Rules<'_>) -> Result<(), AllocError> {
        let rows = self.text.chunk.as_ref().and_then(Chunk::rows);
        let cells = rows.map_or(&[][..], |rows| &rows.cells);
        let lines = &mut self.scratch.lines;
        lines.clear();
        alloc::try_reserve(lines, cells.len())?;
        let blank = |cell: &Span| if *cell == record::NULL { Span::default() } else { *cell };
        lines.extend(cells.iter().map(blank));
        self.spans(rules)?;
        // Columns are told apart otherwise.
        self.tabbed = 0;
        Ok(())
    }

    /// What stands in [`Scratch::lines`](super::Scratch::lines).
    fn spans(&mut self, rules: &Rules<'_>) -> Result<(), AllocError> {
        let normalizer = rules.normalizer;
        let mut lines = std::mem::take(&mut self.scratch.lines);
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let bytes = chunk.bytes();
        reserve(&mut self.urls, lines.len())?;
        // Only where any byte may be clean is a tab.
        let any_tab = normalizer.may_write_any_byte() && memchr::memchr(b'\t', bytes).is_some();
        let is_quick = !any_tab && !rules.decoded;
        let mut result = Ok(Taking::On);
        let (sheet, state) = (&mut *self, &mut result);
        let batch = SpanBatch::last(bytes, &lines);
        if normalizer.rules_alone_act() && is_quick && !rules.count_rules {
            let visitor = Take::<true> { sheet, bytes, rules, is_quick, state };
            normalizer.clean_each(batch, visitor);
        } else {
            let visitor = Take::<false> { sheet, bytes, rules, is_quick, state };
            normalizer.judge_each(batch, visitor);
        }
        result?;
        if self.urls.len() < lines.len() {
            self.rest = Some(self.from + self.urls.len());
            lines.truncate(self.urls.len());
        }
        let records = self.urls.len() as u64;
        self.tally.records = records;
        self.tally.canonical = records - self.tally.rejected - self.tally.blank;
        self.text.chunk = Some(chunk);
        self.scratch.lines = lines;
        Ok(())
    }

    /// A line that may need more than one pass.
    fn line(
        &mut self,
        bytes: &[u8],
        line: Span,
        known: Known,
        rules: &Rules<'_>,
    ) -> Result<(), AllocError> {
        let url = line.of(bytes);
        let Rules { normalizer, context, .. } = rules;
        if url.len() <= context.max_record && url.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            self.tally.blank += 1;
            self.urls.push(Url::BLANK);
        } else if url.len() > context.max_url {
            let reject = Reject::new(RejectReason::TooLong, context.max_url);
            self.reject(line, BufferId::Chunk, line, Raw::Url, reject);
        } else if known == Known::Clean {
            self.tabbed += u64::from(memchr::memchr(b'\t', url).is_some());
            self.urls.push(Url::in_chunk(line));
            self.decode(url, UrlKind::Absolute, rules)?;
        } else {
            let start = self.text.rewritten.len();
            self.make_room_for(url, rules)?;
            let (range, rewritten) = (line.range(), &mut self.text.rewritten);
            let result = match known {
                Known::Declined => {
                    normalizer.rewrite_by_steps(bytes, range, UrlKind::Absolute, rewritten)
                }
                Known::Clean | Known::Unclean => {
                    normalizer.rewrite_in(bytes, range, UrlKind::Absolute, rewritten)
                }
            };
            self.tabbed += u64::from(memchr::memchr(b'\t', url).is_some());
            if result.is_ok() {
                self.hostless += u64::from(normalizer.is_hostless(url));
                self.decode(url, UrlKind::Absolute, rules)?;
                self.count_rules(url, UrlKind::Absolute, start, rules);
            }
            self.rewritten(result, start, line, BufferId::Chunk, line, 0)?;
        }
        Ok(())
    }
}

/// What was found out about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Clean,
    /// It is not proven clean.
    Unclean,
    /// Nor is it rewritten in one pass.
    Declined,
}

/// Whether lines are still taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    On,
    /// The rest goes on another sheet.
    Off,
}

/// Takes the lines of a chunk. `LADDER` says that nothing acts but its rules, and that nothing else is wanted
/// of a line than its canonical form.
struct Take<'a, 'r, const LADDER: bool> {
    sheet: &'a mut Sheet,
    bytes: &'a [u8],
    rules: &'a Rules<'r>,
    /// Whether nothing is asked of a clean line but where it is.
    is_quick: bool,
    state: &'a mut Result<Taking, AllocError>,
}

impl<const LADDER: bool> Visitor for Take<'_, '_, LADDER> {
    const REWRITES: bool = LADDER;

    #[inline(always)]
    fn visit<V: Vector>(&mut self, vector: V, _number: usize, line: Span, is_clean: bool) {
        if *self.state != Ok(Taking::On) {
            return;
        }
        let is_short = line.len() <= self.rules.context.max_url;
        if is_clean & is_short & self.is_quick {
            return self.sheet.urls.push(Url::in_chunk(line));
        }
        let known = match is_clean {
            true => Known::Clean,
            false if LADDER && is_short => match self.rewrite(vector, line) {
                Ok(true) => return,
                Ok(false) => Known::Declined,
                Err(error) => return *self.state = Err(error),
            },
            false => Known::Unclean,
        };
        self.by_steps(line, known);
    }
}

impl<const LADDER: bool> Take<'_, '_, LADDER> {
    /// Whether one pass does it.
    #[inline(always)]
    fn rewrite<V: Vector>(&mut self, vector: V, line: Span) -> Result<bool, AllocError> {
        if self.is_full() {
            return Ok(false);
        }
        self.sheet.make_room_for(line.of(self.bytes), self.rules)?;
        let (range, rewritten) = (line.range(), &mut self.sheet.text.rewritten);
        let start = rewritten.len();
        let normalizer = self.rules.normalizer;
        let is_done =
            normalizer.rewrite_of(UrlKind::Absolute, self.bytes, &range, rewritten).run(vector);
        if is_done {
            let url = Url::new(IN_REWRITTEN, start, rewritten.len() - start)?;
            self.sheet.urls.push(url);
            let has_tab = holds(vector, self.bytes, range.start, range.end, b'\t');
            self.sheet.tabbed += u64::from(has_tab);
        }
        Ok(is_done)
    }

    /// Whether what was put together is as much as fits on a sheet.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.sheet.text.rewritten.len() > AT_ONCE
    }

    #[cold]
    #[inline(never)]
    fn by_steps(&mut self, line: Span, known: Known) {
        if self.is_full() {
            *self.state = Ok(Taking::Off);
        } else if let Err(error) = self.sheet.line(self.bytes, line, known, self.rules) {
            *self.state = Err(error);
        }
    }
}
