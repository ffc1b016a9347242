//! Loops shared by all instruction sets. Each backend supplies only the masks.

use std::marker::PhantomData;

use super::kernel::UrlKind;
use super::masked_url::{FastPath, MaskedUrl};
use super::prefetch::prefetch;
use super::proof::{
    Proof, WINDOW, front, is_clean, is_plain, is_verbatim, prove, prove_from, window,
};
use super::rules::Rules;
use super::vector::{BLOCK, Vector, VectorOp};
use crate::bytes::Span;

/// Longest URL in bytes that a [`FastPath`] gets. It is longer than a window.
const LONG: usize = 8 * BLOCK;

/// The result of [`Kernel::fast_path`](super::Kernel::fast_path).
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
pub trait Visitor {
    /// True if the visitor rewrites dirty URLs itself. The proof may then report some clean URLs as
    /// dirty.
    const REWRITES: bool = false;

    /// Visits URL `number` of the batch. Must be `#[inline(always)]`, like all code that uses the
    /// vector.
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool);
}

/// Appends one bit for each URL, 64 to a word; 1 means clean.
pub(crate) struct Bits<'a>(pub(crate) &'a mut Vec<u64>);

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

/// See [`Kernel::clean_each`](super::Kernel::clean_each).
pub(super) struct CleanEach<'a, R, A> {
    pub(super) batch: SpanBatch<'a>,
    pub(super) visitor: A,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::verbatim_each`](super::Kernel::verbatim_each).
pub(super) struct VerbatimEach<'a, A> {
    pub(super) batch: SpanBatch<'a>,
    pub(super) visitor: A,
}

/// See [`Kernel::each`](super::Kernel::each).
pub(super) struct Each<'a, F, A> {
    pub(super) batch: SpanBatch<'a>,
    pub(super) is_clean: F,
    pub(super) visitor: A,
}

/// See [`Kernel::is_verbatim`](super::Kernel::is_verbatim).
pub(super) struct IsVerbatim<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

/// See [`Kernel::is_clean`](super::Kernel::is_clean).
pub(super) struct IsClean<'a, R> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: UrlKind,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::fast_path`](super::Kernel::fast_path).
pub(super) struct OneFastPath<'a, R, S> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: UrlKind,
    pub(super) fast_path: S,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::fast_path_each`](super::Kernel::fast_path_each).
pub(super) struct FastPathEach<'a, R, S, F, A> {
    pub(super) batch: SpanBatch<'a>,
    pub(super) fast_path: S,
    pub(super) is_clean: F,
    pub(super) visitor: A,
    pub(super) rules: PhantomData<R>,
}

impl<R: Rules, A: Visitor> VectorOp for CleanEach<'_, R, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let CleanEach { batch, visitor, .. } = self;
        each(
            vector,
            batch,
            visitor,
            #[inline(always)]
            |span| {
                let (start, end) = (span.start as usize, span.end as usize);
                // A rewriter that normalizes triplets checks them anyway, so the proof skips them.
                if A::REWRITES && V::NORMALIZES_TRIPLETS {
                    is_plain::<V, R>(vector, batch.bytes, start, end)
                } else {
                    is_clean::<V, R>(vector, batch.bytes, start, end, UrlKind::Absolute)
                }
            },
        );
    }
}

impl<A: Visitor> VectorOp for VerbatimEach<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let VerbatimEach { batch, visitor } = self;
        each(
            vector,
            batch,
            visitor,
            #[inline(always)]
            |span| is_verbatim(vector, batch.bytes, span.start as usize, span.end as usize),
        );
    }
}

impl<F: Fn(&Span) -> bool, A: Visitor> VectorOp for Each<'_, F, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Each { batch, is_clean, visitor } = self;
        each(vector, batch, visitor, is_clean);
    }
}

impl VectorOp for IsVerbatim<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        is_verbatim(vector, self.bytes, self.start, self.end)
    }
}

impl<R: Rules> VectorOp for IsClean<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        is_clean::<V, R>(vector, self.bytes, self.start, self.end, self.kind)
    }
}

impl<R: Rules, S: FastPath> VectorOp for OneFastPath<'_, R, S> {
    type Output = FastPathResult;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> FastPathResult {
        let OneFastPath { bytes, start, end, kind, fast_path, .. } = self;
        // Backs the window of a URL near the end of the buffer.
        let mut room = None;
        let window = window(bytes, start, end, &mut room);
        let proof = prove::<V, R>(vector, &bytes[start..end], window, kind);
        if !proof.clean {
            return FastPathResult::Unclean;
        }
        match finish(vector, &bytes[start..], window, end - start, kind, &proof, fast_path) {
            None => FastPathResult::TooLong,
            Some(true) => FastPathResult::Done,
            Some(false) => FastPathResult::Declined,
        }
    }
}

impl<R, S, F, A> VectorOp for FastPathEach<'_, R, S, F, A>
where
    R: Rules,
    S: FastPath + Copy,
    F: Fn(&[u8], FastPathResult) -> bool,
    A: Visitor,
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let FastPathEach { batch, fast_path, is_clean, visitor, .. } = self;
        let bytes = batch.bytes;
        let kind = UrlKind::Absolute;
        each(
            vector,
            batch,
            visitor,
            #[inline(always)]
            |span| {
                let (start, end) = (span.start as usize, span.end as usize);
                let (url, length) = (span.of(bytes), end - start);
                let mut room = None;
                let window = window(bytes, start, end, &mut room);
                let front = front::<V, R>(vector, length, window, kind);
                // The front alone decides about most URLs.
                let result = if let Some(proof) = front.proof(length) {
                    match mask_short(vector, &bytes[start..], window, length, kind, &proof) {
                        // `TAIL` lacks the question mark here, so a proof by the front alone means no
                        // query.
                        Some(masked) if R::QUERIES => {
                            Some(fast_path.finish(&masked.without_query()))
                        }
                        Some(masked) => Some(fast_path.finish(&masked)),
                        None => None,
                    }
                } else {
                    // Goes on from the masks of the front instead of computing them again.
                    let proof = prove_from::<V, R>(vector, url, window, &front);
                    if !proof.clean {
                        return false;
                    }
                    finish(vector, &bytes[start..], window, length, kind, &proof, fast_path)
                };
                match result {
                    Some(true) => true,
                    Some(false) => is_clean(url, FastPathResult::Declined),
                    None => is_clean(url, FastPathResult::TooLong),
                }
            },
        );
    }
}

/// Calls the visitor for each URL with the result of `is_clean`.
#[inline(always)]
fn each<V: Vector>(
    vector: V,
    batch: SpanBatch<'_>,
    mut visitor: impl Visitor,
    mut is_clean: impl FnMut(&Span) -> bool,
) {
    for (number, span) in batch.spans.iter().enumerate() {
        // One prefetch for each URL spreads them evenly over the work.
        batch.fetch_beyond(*span);
        visitor.visit(vector, number, *span, is_clean(span));
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
    proof: &Proof,
    fast_path: impl FastPath,
) -> Option<bool> {
    // Nearly all URLs fit the window, so they get a copy of the code with masks of two blocks.
    if length <= WINDOW {
        let masked = mask_short(vector, from, window, length, kind, proof)?;
        return Some(fast_path.finish(&masked));
    }
    if length > LONG {
        return None;
    }
    let masked = MaskedUrl::<V, { LONG / BLOCK }>::new(vector, from, length, kind, proof)?;
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
    proof: &Proof,
) -> Option<MaskedUrl<'a, V, { WINDOW / BLOCK }>> {
    MaskedUrl::new(vector, at_least(from, window), length, kind, proof)
}

/// Returns the buffer from the URL on, or the window if the buffer is shorter.
#[inline(always)]
fn at_least<'a>(from: &'a [u8], window: &'a [u8; WINDOW]) -> &'a [u8] {
    if from.len() < WINDOW { window } else { from }
}
