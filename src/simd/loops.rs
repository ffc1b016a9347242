//! Loops shared by all instruction sets. Each backend supplies only the masks.

use std::ops::Range;

use memchr::memchr2;

use super::block::{BLOCK, up_to};
use super::masked_url::{FastPath, MaskedUrl};
use super::prefetch::prefetch;
use super::proof::{Front, WINDOW, blocks, front, prove, window};
use super::rules::Rules;
use super::url_kind::UrlKind;
use super::vector::{Vector, VectorOp};
use crate::bytes::Span;

/// Longest URL in bytes that a [`FastPath`] gets. It is longer than a window.
const LONG: usize = 8 * BLOCK;

/// The result of [`ByFastPath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FastPathResult {
    /// The URL is not proven clean.
    Unclean,
    /// The URL is clean, but too long for the fast path.
    TooLong,
    /// The URL is clean, and the fast path finished it.
    Done,
    /// The URL is clean, but the fast path declined it.
    Declined,
}

/// URLs of a buffer, and the bytes of the next batch, which are prefetched meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct SpanBatch<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) ahead: &'a [u8],
}

impl<'a> SpanBatch<'a> {
    /// A batch with nothing to prefetch: it is the last, or the next bytes are cached already.
    pub fn last(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans, ahead: &[] }
    }

    /// Prefetches the bytes at the same offset in the next batch. Most URLs take two cache lines or
    /// fewer; the hardware prefetcher handles the rest of longer ones.
    #[inline(always)]
    pub(crate) fn fetch_beyond(&self, span: Span) {
        prefetch(self.ahead, span.start as usize);
        prefetch(self.ahead, span.start as usize + BLOCK);
    }
}

/// The action for each URL of a [`SpanBatch`], given whether the URL is proven clean.
pub(crate) trait Visitor {
    /// Visits URL `number` of the batch. Must be `#[inline(always)]`, like all code that uses the
    /// vector.
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool);
}

/// Appends one bit for each URL, 64 to a word; 1 means clean.
#[cfg(test)]
pub(crate) struct Bits<'a>(pub(crate) &'a mut Vec<u64>);

#[cfg(test)]
impl Visitor for Bits<'_> {
    #[inline(always)]
    fn visit<V: Vector>(&mut self, _: V, number: usize, _: Span, is_clean: bool) {
        if number.is_multiple_of(64) {
            self.0.push(0);
        }
        if let Some(word) = self.0.last_mut() {
            *word |= u64::from(is_clean) << (number % 64);
        }
    }
}

/// Decides about the URL `bytes[range]`. A closure over the range is one, if it needs no vector.
pub(crate) trait Judge {
    /// The decision.
    type Verdict;

    /// Must be `#[inline(always)]`, like all code that uses the vector.
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> Self::Verdict;
}

/// See [`Kernel::judge`](super::Kernel::judge).
pub(super) struct One<'a, J> {
    pub(super) bytes: &'a [u8],
    pub(super) range: Range<usize>,
    pub(super) judge: J,
}

/// See [`Kernel::judge_each`](super::Kernel::judge_each).
pub(super) struct Each<'a, J, A> {
    pub(super) batch: SpanBatch<'a>,
    pub(super) judge: J,
    pub(super) visitor: A,
}

impl<J: Judge> VectorOp for One<'_, J> {
    type Output = J::Verdict;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> J::Verdict {
        self.judge.judge(vector, self.bytes, self.range)
    }
}

impl<J: Judge<Verdict = bool> + Copy, A: Visitor> VectorOp for Each<'_, J, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Self { batch, judge, mut visitor } = self;
        for (number, span) in batch.spans.iter().enumerate() {
            // One prefetch for each URL spreads them evenly over the work.
            batch.fetch_beyond(*span);
            let is_clean = judge.judge(vector, batch.bytes, span.range());
            visitor.visit(vector, number, *span, is_clean);
        }
    }
}

impl<F: Fn(Range<usize>) -> bool> Judge for F {
    type Verdict = bool;

    #[inline(always)]
    fn judge<V: Vector>(self, _: V, _: &[u8], range: Range<usize>) -> bool {
        self(range)
    }
}

/// Whether the URL is one line that is certainly not blank.
#[derive(Clone, Copy)]
pub(crate) struct Verbatim;

impl Judge for Verbatim {
    type Verdict = bool;

    #[inline(always)]
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> bool {
        let mut room = None;
        let window = window(bytes, range.clone(), &mut room);
        let url = &bytes[range];
        let breaks = blocks(window).map(
            #[inline(always)]
            |block| vector.find(block, b'\n') | vector.find(block, b'\r'),
        );
        let found =
            breaks[0] & up_to(url.len()) | breaks[1] & up_to(url.len().saturating_sub(BLOCK));
        // A record that starts with a space or tab may be blank. The caller examines it.
        let is_blank = url.is_empty() | matches!(window[0], b' ' | b'\t');
        let tail = url.get(WINDOW..).unwrap_or_default();
        (found == 0) & !is_blank && (tail.is_empty() || memchr2(b'\r', b'\n', tail).is_none())
    }
}

/// Whether the URL or target is proven clean.
#[derive(Clone, Copy)]
pub(crate) struct Clean<R>(pub(crate) R, pub(crate) UrlKind);

impl<R: Rules> Judge for Clean<R> {
    type Verdict = bool;

    #[inline(always)]
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> bool {
        let mut room = None;
        let window = window(bytes, range.clone(), &mut room);
        let url = &bytes[range];
        let mut front = front::<V, R>(vector, url.len(), window, self.1);
        prove::<V, R>(vector, url, window, &mut front)
    }
}

/// As [`Clean`], but URLs within the window count as dirty if they hold any triplet: a visitor that rewrites
/// dirty URLs checks triplets anyway, if the instruction set normalizes them.
#[derive(Clone, Copy)]
pub(crate) struct Plain<R>(pub(crate) R);

impl<R: Rules> Judge for Plain<R> {
    type Verdict = bool;

    #[inline(always)]
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> bool {
        if !V::NORMALIZES_TRIPLETS {
            return Clean(self.0, UrlKind::Absolute).judge(vector, bytes, range);
        }
        let mut room = None;
        let window = window(bytes, range.clone(), &mut room);
        let url = &bytes[range];
        let mut front = front::<V, R>(vector, url.len(), window, UrlKind::Absolute);
        if url.len() > WINDOW {
            return prove::<V, R>(vector, url, window, &mut front);
        }
        front.is_proof(url.len())
    }
}

/// The result of a fast path on a URL or target.
#[derive(Clone, Copy)]
pub(crate) struct ByFastPath<R, S>(pub(crate) R, pub(crate) UrlKind, pub(crate) S);

impl<R: Rules, S: FastPath> Judge for ByFastPath<R, S> {
    type Verdict = FastPathResult;

    #[inline(always)]
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> FastPathResult {
        let Self(_, kind, fast_path) = self;
        let (from, url) = (&bytes[range.start..], &bytes[range.clone()]);
        // Backs the window of a URL near the end of the buffer.
        let mut room = None;
        let window = window(bytes, range, &mut room);
        let mut front = front::<V, R>(vector, url.len(), window, kind);
        // The front alone decides about most URLs.
        let finished = if front.is_proof(url.len()) {
            match mask_short(vector, from, window, url.len(), kind, &front) {
                // `TAIL` lacks the question mark here, so a proof by the front alone means no query.
                Some(masked) if R::QUERIES => Some(fast_path.finish(&masked.without_query())),
                Some(masked) => Some(fast_path.finish(&masked)),
                None => None,
            }
        } else {
            // Goes on from the masks of the front instead of computing them again.
            if !prove::<V, R>(vector, url, window, &mut front) {
                return FastPathResult::Unclean;
            }
            finish(vector, from, window, url.len(), kind, &front, fast_path)
        };
        match finished {
            None => FastPathResult::TooLong,
            Some(true) => FastPathResult::Done,
            Some(false) => FastPathResult::Declined,
        }
    }
}

/// Whether a fast path finishes the URL. The closure decides about clean URLs that it does not finish.
#[derive(Clone, Copy)]
pub(crate) struct ByFastPathOr<R, S, F>(pub(crate) R, pub(crate) S, pub(crate) F);

impl<R: Rules, S: FastPath, F> Judge for ByFastPathOr<R, S, F>
where
    F: Fn(&[u8], FastPathResult) -> bool,
{
    type Verdict = bool;

    #[inline(always)]
    fn judge<V: Vector>(self, vector: V, bytes: &[u8], range: Range<usize>) -> bool {
        let Self(rules, fast_path, is_clean) = self;
        let url = &bytes[range.clone()];
        match ByFastPath(rules, UrlKind::Absolute, fast_path).judge(vector, bytes, range) {
            FastPathResult::Done => true,
            FastPathResult::Unclean => false,
            // Two calls of one constant each: `is_clean` tests it.
            FastPathResult::TooLong => is_clean(url, FastPathResult::TooLong),
            FastPathResult::Declined => is_clean(url, FastPathResult::Declined),
        }
    }
}

/// Runs the fast path on a clean URL of `length` bytes, which `from` starts with. Returns `None` if the
/// URL is longer than [`LONG`], or longer than the window with fewer than [`LONG`] bytes in `from`.
#[inline(always)]
fn finish<V: Vector>(
    vector: V,
    from: &[u8],
    window: &[u8; WINDOW],
    length: usize,
    kind: UrlKind,
    front: &Front,
    fast_path: impl FastPath,
) -> Option<bool> {
    // Nearly all URLs fit the window, so they get a copy of the code with masks of two blocks.
    if length <= WINDOW {
        let masked = mask_short(vector, from, window, length, kind, front)?;
        return Some(fast_path.finish(&masked));
    }
    if length > LONG {
        return None;
    }
    let masked = MaskedUrl::<V, { LONG / BLOCK }>::new(vector, from, length, kind, front)?;
    Some(fast_path.finish(&masked))
}

/// Builds the masks of a clean URL that fits its window.
#[inline(always)]
fn mask_short<'a, V: Vector>(
    vector: V,
    from: &'a [u8],
    window: &'a [u8; WINDOW],
    length: usize,
    kind: UrlKind,
    front: &Front,
) -> Option<MaskedUrl<'a, V, { WINDOW / BLOCK }>> {
    // The buffer from the URL on may be shorter than the masks.
    let from = if from.len() < WINDOW { window } else { from };
    MaskedUrl::new(vector, from, length, kind, front)
}
