//! Normalizes many URLs of one buffer: the lines of a list, or the values of a column.
//!
//! One loop goes over a piece of the buffer. Clean URLs stay where they are, and the loop notes each other
//! one ([`Change`]): most are rewritten by masks at once, the rest is left to the exact path. Whoever walks
//! over the URLs afterwards ([`Lines`], [`Normalizer::for_each`], the engine) looks at the changes only. So
//! the loop is compiled once for each instruction set and rule set, and not for each caller.

use memchr::{memchr, memrchr};

use crate::bytes::Span;
use crate::bytes::{Reject, RejectReason};
use crate::normalize::canonical::Canonical;
use crate::normalize::masks::rewrite::Rewrite;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::rewrite_dirty::Masks;
use crate::normalize::trace::NoTrace;
use crate::simd::{Plain, Rfc3986, SpanBatch, UrlKind, Vector, VectorOp, Visitor};

/// Bytes of a list that are split into lines and then normalized as one piece. Meanwhile the bytes of the
/// next piece are fetched into the cache, so the next search for lines does not wait for memory. Pieces
/// are short under Miri, which is slow.
const PIECE: usize = if cfg!(miri) { 512 } else { 32 << 10 };

/// URLs of a column that are normalized as one piece: about as many bytes as [`PIECE`].
const PIECE_URLS: usize = 512;

/// A URL of a batch that is not clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The number of the URL in the batch.
    pub number: usize,
    /// Its canonical form, as far as it is known.
    pub form: Form,
}

/// The canonical form of a URL that is not clean, as far as one pass over the batch finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It is written to this span of the output.
    Written {
        /// Where it starts.
        start: usize,
        /// Its length in bytes.
        len: usize,
    },
    /// The URL needs the exact path, and rewriting by masks has declined it.
    Declined,
    /// The URL is not proven clean, and nothing else is known.
    Unclean,
}

/// Notes each URL that is not proven clean.
pub(in crate::normalize) struct Note<'a>(&'a mut Vec<Change>);

impl Visitor for Note<'_> {
    #[inline(always)]
    fn visit<V: Vector>(&mut self, _: V, number: usize, _: Span, is_clean: bool) {
        if !is_clean {
            self.0.push(Change { number, form: Form::Unclean });
        }
    }
}

/// Rewrites each URL that is not proven clean, inline: this saves a call, and a second branch that would be
/// mispredicted.
struct Write<'a> {
    normalizer: &'a Normalizer,
    bytes: &'a [u8],
    written: &'a mut Vec<u8>,
    changes: &'a mut Vec<Change>,
}

impl Visitor for Write<'_> {
    #[inline(always)]
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool) {
        if is_clean {
            return;
        }
        let (start, Span { start: from, end }) = (self.written.len(), span);
        let rewrite = Rewrite {
            profile: &self.normalizer.rules.profile,
            ports: self.normalizer.rules.ports.as_deref(),
            kind: UrlKind::Absolute,
            bytes: self.bytes,
            start: from as usize,
            end: end as usize,
            out: self.written,
        };
        let form = match rewrite.run(vector) {
            true => Form::Written { start, len: self.written.len() - start },
            false => Form::Declined,
        };
        self.changes.push(Change { number, form });
    }
}

/// Buffers of [`Normalizer::for_each`], reused between calls.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    changes: Vec<Change>,
    written: Vec<u8>,
    url: Vec<u8>,
}

impl Scratch {
    fn clear(&mut self) {
        self.changes.clear();
        self.written.clear();
    }

    /// The canonical form of a URL that is not clean.
    #[inline]
    fn settle(
        &mut self,
        normalizer: &Normalizer,
        bytes: &[u8],
        span: Span,
        form: Form,
    ) -> Result<Canonical<'_>, Reject> {
        if let Form::Written { start, len } = form {
            return Ok(Canonical::new(&self.written[start..start + len]));
        }
        self.url.clear();
        normalizer.rewrite_rest(bytes, span, form, &mut self.url)?;
        Ok(Canonical::new(&self.url))
    }

    /// Visits the URLs of a batch from number `first` on: the clean ones before each change at once.
    #[inline]
    fn walk<F: FnMut(usize, Result<Canonical<'_>, Reject>)>(
        &mut self,
        normalizer: &Normalizer,
        bytes: &[u8],
        spans: &[Span],
        first: usize,
        mut visit: F,
    ) {
        let mut next = first;
        let visit_clean = |from: usize, to: usize, visit: &mut F| {
            for (number, span) in (from..to).zip(&spans[from..to]) {
                visit(number, Ok(Canonical::new(span.of(bytes))));
            }
        };
        // Taken out, since `settle` writes to the other buffers meanwhile, and put back to keep the
        // memory.
        let mut changes = std::mem::take(&mut self.changes);
        // `next` may have returned some of the lines already.
        for Change { number, form } in changes.drain(..).skip_while(|change| change.number < first)
        {
            visit_clean(next, number, &mut visit);
            visit(number, self.settle(normalizer, bytes, spans[number], form));
            next = number + 1;
        }
        self.changes = changes;
        visit_clean(next, spans.len(), &mut visit);
    }
}

/// The canonical forms of the lines of a list, in order: [`Normalizer::lines`].
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    normalizer: &'a Normalizer,
    /// The list after the current piece.
    rest: &'a [u8],
    piece: &'a [u8],
    /// The lines of the piece, and how many of them are done.
    spans: Vec<Span>,
    done: usize,
    /// How many changes of the piece are done.
    changed: usize,
    /// Lines before the piece.
    before: usize,
    scratch: Scratch,
}

impl Lines<'_> {
    /// The canonical form of the next line; `None` after the last.
    ///
    /// It is not an [`Iterator`], because the form of a dirty line is borrowed from a buffer that the next
    /// line overwrites.
    #[expect(clippy::should_implement_trait, reason = "an item borrows from the iterator")]
    #[inline]
    pub fn next(&mut self) -> Option<Result<Canonical<'_>, Reject>> {
        if self.done == self.spans.len() && !self.read_piece() {
            return self.too_long().map(Err);
        }
        let (number, span) = (self.done, self.spans[self.done]);
        self.done += 1;
        match self.scratch.changes.get(self.changed) {
            Some(change) if change.number == number => {
                let form = change.form;
                self.changed += 1;
                Some(self.scratch.settle(self.normalizer, self.piece, span, form))
            }
            _ => Some(Ok(Canonical::new(span.of(self.piece)))),
        }
    }

    /// Calls `visit` with the canonical form of each line that is left. It is faster than
    /// [`next`](Self::next), which looks at each line by itself whether it is clean.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let mut lengths = Vec::new();
    /// Normalizer::new(Profile::Crawl).lines(b"http://a.com/b\nhttp://b.com/%61").for_each(|url| {
    ///     lengths.extend(url.ok().map(|url| url.as_bytes().len()));
    /// });
    /// assert_eq!(lengths, [14, 14]);
    /// ```
    #[inline]
    pub fn for_each(mut self, mut visit: impl FnMut(Result<Canonical<'_>, Reject>)) {
        loop {
            let Self { scratch, piece, spans, normalizer, done, .. } = &mut self;
            scratch.walk(normalizer, piece, spans, *done, |_, url| visit(url));
            if !self.read_piece() {
                match self.too_long() {
                    Some(reject) => visit(Err(reject)),
                    None => return,
                }
            }
        }
    }

    /// The rejection of the line that could not be read as a piece, if there is one.
    fn too_long(&mut self) -> Option<Reject> {
        // Only a line that is too long for spans makes a piece without any.
        let is_too_long = !std::mem::take(&mut self.piece).is_empty();
        self.before += usize::from(is_too_long);
        is_too_long.then(|| Reject::new(RejectReason::TooLong, u32::MAX as usize))
    }

    /// How many lines were read so far: the number of the last one, counted from 1.
    pub fn number(&self) -> usize {
        self.before + self.done
    }

    /// Normalizes the next piece; false if it has no line that fits a span.
    fn read_piece(&mut self) -> bool {
        self.before += self.spans.len();
        (self.done, self.changed) = (0, 0);
        self.spans.clear();
        self.scratch.clear();
        (self.piece, self.rest) = self.rest.split_at(end_of_piece(self.rest));
        if u32::try_from(self.piece.len()).is_err() {
            return false;
        }
        self.normalizer.kernel().lines(self.piece, &mut self.spans);
        let batch = SpanBatch { bytes: self.piece, spans: &self.spans, ahead: self.rest };
        let Scratch { changes, written, .. } = &mut self.scratch;
        self.normalizer.find_changes(batch, written, changes);
        !self.spans.is_empty()
    }
}

impl Normalizer {
    /// The canonical form of each line of `list`, in order. This is the fastest way to normalize a list in
    /// memory, because the next lines are fetched while the current ones are normalized.
    ///
    /// A line ends with LF or CRLF, which are not part of the URL; the last line may lack them. A blank line
    /// is an empty URL. A URL of 4 GiB or more is rejected ([`RejectReason::TooLong`]).
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut lines = crawl.lines(b"http://a.com/b\r\nHTTP://A.com/%62\n\nhttp://c.com");
    /// let (mut urls, mut rejects) = (Vec::new(), Vec::new());
    /// while let Some(url) = lines.next() {
    ///     match url {
    ///         Ok(url) => urls.push(url.to_str()?.to_owned()),
    ///         Err(_) => rejects.push(lines.number()),
    ///     }
    /// }
    /// assert_eq!(urls, ["http://a.com/b", "http://a.com/b", "http://c.com/"]);
    /// assert_eq!(rejects, [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lines<'a>(&'a self, list: &'a [u8]) -> Lines<'a> {
        Lines {
            normalizer: self,
            rest: list,
            piece: &[],
            spans: Vec::new(),
            done: 0,
            changed: 0,
            before: 0,
            scratch: Scratch::default(),
        }
    }

    /// Calls `visit` with the canonical form of each URL `spans[i]` of `bytes`, in order.
    ///
    /// # Panics
    ///
    /// If a span lies outside `bytes`.
    #[doc(hidden)]
    pub fn for_each(
        &self,
        bytes: &[u8],
        spans: &[Span],
        scratch: &mut Scratch,
        mut visit: impl FnMut(usize, Result<Canonical<'_>, Reject>),
    ) {
        for (piece, spans) in spans.chunks(PIECE_URLS).enumerate() {
            scratch.clear();
            let batch = SpanBatch::last(bytes, spans);
            self.find_changes(batch, &mut scratch.written, &mut scratch.changes);
            scratch.walk(self, bytes, spans, 0, |number, url| {
                visit(piece * PIECE_URLS + number, url);
            });
        }
    }

    /// Appends each URL that is not its own canonical form to `changes`. Forms that one pass finds are
    /// appended to `written`: at most three times the bytes of their URLs, and a byte for each.
    #[doc(hidden)]
    pub fn find_changes(
        &self,
        batch: SpanBatch<'_>,
        written: &mut Vec<u8>,
        changes: &mut Vec<Change>,
    ) {
        // Elsewhere the form that the masks write is not the last word on a URL.
        if !self.rules_alone_act() {
            return self.find_unclean(batch, changes);
        }
        let write = Write { normalizer: self, bytes: batch.bytes, written, changes };
        self.kernel().judge_each(batch, Plain(Rfc3986), write);
    }

    /// Appends each URL that is not proven clean to `changes`.
    #[doc(hidden)]
    pub fn find_unclean(&self, batch: SpanBatch<'_>, changes: &mut Vec<Change>) {
        self.judge_each(batch, Note(changes));
    }

    /// Appends the canonical form of a URL that [`find_changes`](Self::find_changes) leaves to the exact
    /// path. On a rejection, `out` may hold a part of it.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[doc(hidden)]
    pub fn rewrite_rest(
        &self,
        bytes: &[u8],
        span: Span,
        form: Form,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        let (range, kind) = (span.range(), UrlKind::Absolute);
        match form {
            // Only the ladder acts, or nothing would have been tried.
            Form::Declined => {
                self.rules.rewrite_dirty(bytes, range, kind, Masks::Declined, out, &mut NoTrace)
            }
            _ => self.rewrite_in(bytes, range, kind, out),
        }
    }
}

/// The end of the whole lines that make up about a [`PIECE`], or of the first line if it is longer.
fn end_of_piece(bytes: &[u8]) -> usize {
    let last = bytes.get(..PIECE).and_then(|piece| memrchr(b'\n', piece));
    let feed = last.or_else(|| Some(PIECE + memchr(b'\n', bytes.get(PIECE..)?)?));
    feed.map_or(bytes.len(), |feed| feed + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::simd::{Backend, lines};
    use crate::test_util::cases;

    #[test]
    fn lines_are_visited_once_wherever_a_piece_ends() {
        let mut state = 1_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for case in 0..cases(300).max(4) {
            let mut list = Vec::new();
            while list.len() < PIECE * 5 / 2 {
                let length = match draw(400) {
                    0 => PIECE - draw(3),
                    1 => PIECE + draw(PIECE),
                    // Up to about the end of a piece.
                    2 => (PIECE - list.len() % PIECE).saturating_sub(20 + draw(4)),
                    _ => draw(150),
                };
                let dirt = [&b""[..], b"%7E", b"A", b"%zz", b" "][draw(5)];
                let end = [&b"\n"[..], b"\n", b"\r\n", b"\n\n"][draw(4)];
                list.extend_from_slice(b"http://a.example/");
                list.extend(std::iter::repeat_n(b'b', length));
                list.extend([dirt, end].concat());
            }
            if draw(2) == 0 {
                list.pop();
            }
            let mut spans = Vec::new();
            lines(Backend::Scalar, &list, &mut spans);
            for profile in [Profile::Crawl, Profile::String, Profile::Servlet] {
                let normalizer = Normalizer::new(profile);
                let mut expected = Vec::new();
                for (i, span) in spans.iter().enumerate() {
                    let mut out = Vec::new();
                    let outcome = normalizer.append(span.of(&list), &mut out);
                    expected.push((i, outcome, out));
                }
                let of = |number, url: Result<Canonical<'_>, Reject>| match url {
                    Ok(url) => (number, Ok(()), url.as_bytes().to_vec()),
                    Err(reject) => (number, Err(reject), Vec::new()),
                };
                let mut found = Vec::new();
                let mut lines = normalizer.lines(&list);
                // Visiting all that are left may begin anywhere.
                let alone = draw(2 * spans.len());
                while found.len() < alone
                    && let Some(url) = lines.next()
                {
                    let url = of(found.len(), url);
                    found.push(url);
                    assert_eq!(lines.number(), found.len());
                }
                lines.for_each(|url| found.push(of(found.len(), url)));
                assert!(found == expected, "{} {case}", profile.name());
            }
        }
    }

    #[test]
    fn empty_list_has_no_line() {
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut lines = normalizer.lines(b"");
        assert!(lines.next().is_none() && lines.next().is_none());
        assert_eq!(lines.number(), 0);
    }

    /// Bulk rewriting copies whole registers, too.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn rewriting_reads_no_byte_outside_the_slice() {
        use crate::simd::tests::{between_guard_pages, url_of};

        let middle = between_guard_pages();
        let end = middle.len();
        let normalizers: Vec<Normalizer> = Profile::ALL
            .iter()
            .flat_map(|profile| {
                let with = |backend| Normalizer::new(*profile).with_backend(backend);
                Backend::available().into_iter().map(with)
            })
            .collect();
        for length in 0..=260 {
            for trouble in [&b""[..], b"/../%7e", b"%C3%a9?A=1&", b"HTTP"] {
                let text = url_of(length, length / 2, trouble);
                for at_end in [true, false] {
                    let range = if at_end { end - length..end } else { 0..length };
                    middle[range.clone()].copy_from_slice(&text);
                    let slice = &middle[range];
                    let span = Span { start: 0, end: length as u32 };
                    for normalizer in &normalizers {
                        let mut alone = Vec::new();
                        let _ = normalizer.append(&text, &mut alone);
                        normalizer.for_each(slice, &[span], &mut Scratch::default(), |_, url| {
                            assert_eq!(url.map_or(&b""[..], |url| url.as_bytes()), alone);
                        });
                    }
                }
            }
        }
    }
}
