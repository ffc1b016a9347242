//! Takes records one by one: those without a URL, request targets, and URLs that the loop does not take.

use super::span_loop::{Known, SpanLoop, SpanRun};
use crate::batch::rejected::{Shown, hidden_prefix};
use crate::batch::text::{IN_REWRITTEN, UrlRef, buffer_number};
use crate::batch::{ParseRules, WorkBatch};
use uniqurl::internal::{AllocError, Form, GROWTH, Span, UrlKind, alloc};
use uniqurl::{Reject, RejectReason};
use uniqurl_formats::record::{BufferId, Extracted, Labels, MARK, Record};

impl WorkBatch {
    /// Takes a record without a URL, or with a request target.
    pub(super) fn normalize_single(
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
                self.take_target(bytes, buffer, span, record.line, rules)?;
            }
            // They are in a run.
            Extracted::Url(..) | Extracted::Joined { .. } => {}
        }
        Ok(())
    }

    fn take_target(
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
            self.keys.push(UrlRef::new(buffer_number(buffer), span.start as usize, span.len())?);
            return Ok(());
        }
        let start = self.text.rewritten.len();
        self.reserve_rewritten(target, rules)?;
        let rewritten = &mut self.text.rewritten;
        match normalizer.rewrite_in(bytes, span.range(), UrlKind::Target, rewritten) {
            Ok(()) => {
                self.tally.hostless += 1;
                self.decode(target, UrlKind::Target, rules)?;
                self.push_rewritten(start)
            }
            Err(reject) => {
                // A rewrite that fails may have written a part.
                self.text.rewritten.truncate(start);
                self.reject(line, buffer, span, Shown::Url, reject);
                Ok(())
            }
        }
    }

    /// Takes a URL that the loop does not take.
    pub(super) fn normalize_by_steps(
        &mut self,
        run: SpanRun<'_>,
        number: usize,
        mut span: Span,
        mut known: Known,
        how: &SpanLoop<'_, '_>,
    ) -> Result<(), AllocError> {
        let rules = how.rules;
        let whole = span;
        let is_marked = run.records.is_none() && rules.skips_marks;
        if is_marked && span.of(run.bytes).starts_with(MARK) {
            // Files that were joined begin with one each.
            span.start += MARK.len() as u32;
            known = Known::Not(Form::Unclean);
        }
        let url = span.of(run.bytes);
        // Under a profile that calls the empty URL clean, it is a URL.
        if url.is_empty() && run.records.is_none() && known != Known::Clean {
            self.tally.records.blank += 1;
            self.keys.push(UrlRef::BLANK);
            return Ok(());
        }
        let ParseRules { normalizer, context, .. } = rules;
        let (line, mut prefix) = match run.records {
            Some(records) => (records[number].line, prefix(records[number].found)),
            None => {
                let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                // Only the end of a longer line would tell whether it is blank, so such a
                // line is too long instead.
                if url.len() <= context.max_record && url.iter().all(is_blank) {
                    self.tally.records.blank += 1;
                    self.keys.push(UrlRef::BLANK);
                    return Ok(());
                }
                if url.len() > context.max_url {
                    let reject = Reject::new(RejectReason::TooLong, context.max_url);
                    self.reject(whole, BufferId::Chunk, span, Shown::Url, reject);
                    return Ok(());
                }
                self.tally.tabbed += u64::from(memchr::memchr(b'\t', url).is_some());
                // Before it is normalized: `INFO: 1.2.3.4` would become a URL of the scheme info.
                if let Some(labels) = how.labels.filter(|labels| labels.has(url)) {
                    self.tally.labelled += u64::from(labels != Labels::All);
                    let reject = Reject::new(RejectReason::Relative, 0);
                    self.reject(whole, BufferId::Chunk, span, Shown::Url, reject);
                    return Ok(());
                }
                (whole, 0)
            }
        };
        let Known::Not(form) = known else {
            self.keys.push(UrlRef::in_buffer(run.shifted_number(), span));
            return self.decode(url, UrlKind::Absolute, rules);
        };
        let start = self.text.rewritten.len();
        self.reserve_rewritten(url, rules)?;
        let result = normalizer.rewrite_rest(run.bytes, span, form, &mut self.text.rewritten);
        match result {
            Ok(()) => {
                // Records know the host that a target was joined to, and targets without
                // one are counted elsewhere.
                let is_hostless = run.records.is_none() && normalizer.is_hostless(url);
                self.tally.hostless += u64::from(is_hostless);
                self.decode(url, UrlKind::Absolute, rules)?;
                self.push_rewritten(start)
            }
            Err(reject) => {
                self.text.rewritten.truncate(start);
                // The fault is reported by its place in the URL that the record has.
                prefix = hidden_prefix(url, prefix, &reject);
                let reject = reject.moved(|at| at - prefix as usize);
                let raw = Span { start: span.start + prefix, end: span.end };
                self.reject(line, run.buffer, raw, Shown::Url, reject);
                Ok(())
            }
        }
    }

    /// Reserves space for the canonical form of a URL.
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
            extras.decoded.add((), 3 * url.len() + 64, |paths| {
                let _canonical = rules.normalizer.decoded_as(kind, url, paths);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Bytes of a host that were put before the target of a record.
fn prefix(found: Extracted) -> u32 {
    match found {
        Extracted::Joined { prefix, .. } => prefix,
        _ => 0,
    }
}
