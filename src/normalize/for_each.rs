//! Normalizes many URLs of one buffer, and hands over one by one.

use std::convert::Infallible;

use memchr::{memchr, memrchr};

use super::canonical::Canonical;
use super::normalizer::Normalizer;
use crate::bytes::Span;
use crate::bytes::{Reject, RejectReason};
use crate::simd::{SpanBatch, UrlKind, Vector, VectorOp, Visitor};

/// Bytes of a list that are split into lines and then normalized as one piece. Meanwhile the bytes of the
/// next piece are fetched into the cache, so the next search for lines does not wait for memory. Pieces
/// are short under Miri, which is slow.
const PIECE: usize = if cfg!(miri) { 512 } else { 32 << 10 };

/// Buffers of [`Normalizer::for_each`], [`Normalizer::for_each_line`] and similar functions, reused
/// between calls.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    lines: Vec<Span>,
    url: Vec<u8>,
}

/// Hands over canonical URLs, clean ones unchanged. If only the ladder acts (`LADDER`), a dirty URL is
/// rewritten inline: this saves a call, and a second branch that would be mispredicted.
struct HandOver<'a, F, const LADDER: bool> {
    normalizer: &'a Normalizer,
    bytes: &'a [u8],
    url: &'a mut Vec<u8>,
    visit: F,
}

impl<F, const LADDER: bool> Visitor for HandOver<'_, F, LADDER>
where
    F: FnMut(usize, Result<Canonical<'_>, Reject>),
{
    const REWRITES: bool = LADDER;

    #[inline(always)]
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool) {
        let bytes = self.bytes;
        if is_clean {
            return (self.visit)(number, Ok(Canonical::new(span.of(bytes))));
        }
        self.url.clear();
        let range = span.range();
        let result = if !LADDER {
            self.normalizer.rewrite_in(bytes, range, UrlKind::Absolute, self.url)
        } else if self.normalizer.rewrite_of(UrlKind::Absolute, bytes, &range, self.url).run(vector)
        {
            Ok(())
        } else {
            self.normalizer.rewrite_by_steps(bytes, range, UrlKind::Absolute, self.url)
        };
        (self.visit)(number, result.map(|()| Canonical::new(self.url)));
    }
}

impl Normalizer {
    /// Calls `visit` with the canonical form of each URL `spans[i]` of `bytes`, in order.
    /// Clean URLs are borrowed from `bytes`; clean URLs with triplets may be copied.
    ///
    /// ```
    /// use uniqurl::{Backend, Normalizer, Profile, Scratch, simd};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let list = b"http://a.com/b\nHTTP://A.com/%62\nx\n";
    /// let mut lines = Vec::new();
    /// simd::lines(Backend::best(), list, &mut lines);
    /// let mut canonical = Vec::new();
    /// crawl.for_each(list, &lines, &mut Scratch::default(), |_, url| {
    ///     canonical.extend(url.map(|url| url.as_bytes().to_vec()));
    /// });
    /// assert_eq!(canonical, [b"http://a.com/b", b"http://a.com/b"]);
    /// ```
    ///
    /// # Panics
    ///
    /// If a span lies outside `bytes`.
    pub fn for_each(
        &self,
        bytes: &[u8],
        spans: &[Span],
        scratch: &mut Scratch,
        visit: impl FnMut(usize, Result<Canonical<'_>, Reject>),
    ) {
        self.for_each_in(SpanBatch::last(bytes, spans), scratch, visit);
    }

    /// Calls `visit` with the number of each line of `bytes`, from 0, and the canonical form of the URL
    /// in it, in order. This is the fastest way to normalize a list in memory, because it fetches the next
    /// lines while it normalizes the current ones.
    ///
    /// A line ends with LF or CRLF, which are not part of the URL; the last line may lack them. A blank line
    /// is an empty URL. A URL of 4 GiB or more is rejected ([`RejectReason::TooLong`]).
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Scratch};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let list = b"http://a.com/b\r\nHTTP://A.com/%62\n\nhttp://c.com";
    /// let mut canonical = Vec::new();
    /// crawl.for_each_line(list, &mut Scratch::default(), |line, url| {
    ///     canonical.extend(url.map(|url| (line, url.as_bytes().to_vec())));
    /// });
    /// let expected = [(0, &b"http://a.com/b"[..]), (1, b"http://a.com/b"), (3, b"http://c.com/")];
    /// assert_eq!(canonical, expected.map(|(line, url)| (line, url.to_vec())));
    /// ```
    pub fn for_each_line(
        &self,
        bytes: &[u8],
        scratch: &mut Scratch,
        mut visit: impl FnMut(usize, Result<Canonical<'_>, Reject>),
    ) {
        let Ok(()) = self.try_for_each_line(bytes, scratch, |line, url| {
            visit(line, url);
            Ok::<(), Infallible>(())
        });
    }

    /// Like [`for_each_line`](Self::for_each_line), but stops at the first error of `visit` and returns it.
    /// Some later lines may have been normalized by then; they are not visited.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Scratch};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let mut canonical = Vec::new();
    /// let list = b"http://a.com\nno\nhttp://b.com\n";
    /// let done = crawl.try_for_each_line(list, &mut Scratch::default(), |line, url| {
    ///     canonical.push(url.map_err(|reject| (line, reject.to_string()))?.as_bytes().to_vec());
    ///     Ok(())
    /// });
    /// let (line, why) = done.expect_err("one is relative");
    /// assert_eq!(line, 1);
    /// assert!(why.starts_with("relative"));
    /// assert_eq!(canonical, [b"http://a.com/"]);
    /// ```
    ///
    /// # Errors
    ///
    /// The one that `visit` made.
    pub fn try_for_each_line<E>(
        &self,
        bytes: &[u8],
        scratch: &mut Scratch,
        mut visit: impl FnMut(usize, Result<Canonical<'_>, Reject>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut lines = std::mem::take(&mut scratch.lines);
        let (mut rest, mut number, mut result) = (bytes, 0, Ok(()));
        while !rest.is_empty() && result.is_ok() {
            let (piece, ahead) = rest.split_at(end_of_piece(rest));
            rest = ahead;
            if u32::try_from(piece.len()).is_err() {
                result = visit(number, Err(Reject::new(RejectReason::TooLong, u32::MAX as usize)));
                number += 1;
                continue;
            }
            lines.clear();
            self.kernel().lines(piece, &mut lines);
            let batch = SpanBatch { bytes: piece, spans: &lines, ahead };
            self.for_each_in(batch, scratch, |i, url| {
                if result.is_ok() {
                    result = visit(number + i, url);
                }
            });
            number += lines.len();
        }
        scratch.lines = lines;
        result
    }

    fn for_each_in(
        &self,
        batch: SpanBatch<'_>,
        scratch: &mut Scratch,
        visit: impl FnMut(usize, Result<Canonical<'_>, Reject>),
    ) {
        let (normalizer, url) = (self, &mut scratch.url);
        let bytes = batch.bytes;
        if self.rules_alone_act() {
            let visitor = HandOver::<_, true> { normalizer, bytes, url, visit };
            self.clean_each(batch, visitor);
        } else {
            let visitor = HandOver::<_, false> { normalizer, bytes, url, visit };
            self.judge_each(batch, visitor);
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
    use crate::normalize::outcome::Outcome;
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
            for profile in [&Profile::CRAWL, &Profile::STRING, &Profile::SERVLET] {
                let normalizer = Normalizer::new(profile);
                let mut expected = Vec::new();
                for (i, span) in spans.iter().enumerate() {
                    let mut out = Vec::new();
                    let outcome = normalizer.normalize(span.of(&list), &mut out);
                    expected.push((i, outcome, out));
                }
                let mut found = Vec::new();
                normalizer.for_each_line(&list, &mut Scratch::default(), |i, url| {
                    let (outcome, out) = match url {
                        Ok(url) => (Outcome::Canonical, url.as_bytes().to_vec()),
                        Err(reject) => (Outcome::Reject(reject), Vec::new()),
                    };
                    found.push((i, outcome, out));
                });
                assert!(found == expected, "{} {case}", profile.name());
            }
        }
    }

    #[test]
    fn no_line_is_visited_after_an_error() {
        let crawl = Normalizer::new(&Profile::CRAWL);
        let list = b"http://h/a\nHTTP://h\n".repeat(PIECE / 4);
        let lines = memchr::memchr_iter(b'\n', &list).count();
        let mut scratch = Scratch::default();
        for last in [0, 1, 2, PIECE / 16, lines / 2, lines - 1] {
            let mut visited = 0;
            let done = crawl.try_for_each_line(&list, &mut scratch, |line, url| {
                assert_eq!((line, url.is_ok()), (visited, true));
                visited += 1;
                if line == last { Err(line) } else { Ok(()) }
            });
            assert_eq!((done, visited), (Err(last), last + 1));
        }
        let done = crawl.try_for_each_line(&list, &mut scratch, |_, _| Ok::<(), ()>(()));
        assert_eq!(done, Ok(()));
    }

    #[test]
    fn empty_list_has_no_line() {
        let normalizer = Normalizer::new(&Profile::CRAWL);
        normalizer.for_each_line(b"", &mut Scratch::default(), |_, _| panic!("a line"));
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
                let with = |backend| Normalizer::new(profile).with_backend(backend);
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
                        let _ = normalizer.normalize(&text, &mut alone);
                        normalizer.for_each(slice, &[span], &mut Scratch::default(), |_, url| {
                            assert_eq!(url.map_or(&b""[..], |url| url.as_bytes()), alone);
                        });
                    }
                }
            }
        }
    }
}
