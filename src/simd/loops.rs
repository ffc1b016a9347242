//! The loops that every instruction set shares, over the masks that each makes its own way.

use std::marker::PhantomData;

use super::glance::{Glance, Settle};
use super::kernel::Lead;
use super::prefetch::prefetch;
use super::proof::{
    Proof, WINDOW, blocks, front, is_clean, is_plain, is_verbatim, prove, prove_from, window,
};
use super::rules::{Asked, Depth, Rules};
use super::vector::{BLOCK, Vector, Work, up_to};
use crate::bytes::Span;

/// Bytes of a URL that is longer than its window and is glanced at nevertheless.
const LONG: usize = 8 * BLOCK;

/// Where the delimiters of a clean URL are, and what in it some profiles change; bit `i` is about
/// byte `i`, and there are none behind the URL.
///
/// What a [`Depth`] does not look for stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    pub(crate) slash: u128,
    pub(crate) dot: u128,
    pub(crate) question: u128,
    /// The bytes that were asked for, and those of 0x80 and above, which no clean URL holds.
    pub(crate) asked: u128,
}

/// What [`Kernel::mark`](super::Kernel::mark) finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// The URL is not proven clean.
    Unclean,
    /// It is, but is too long to have marks.
    TooLong,
    /// It is, and these are its marks.
    Clean,
}

/// What [`Kernel::mark_each`](super::Kernel::mark_each) sees of a URL.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'m> {
    /// It is proven clean, and a glance tells that the profile changes nothing else in it.
    Settled,
    /// What was found, and the marks where there are some.
    Marked(Marked, &'m Marks),
}

/// What [`Kernel::settle`](super::Kernel::settle) finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The URL is not proven clean.
    Unclean,
    /// It is, but is too long for a glance.
    TooLong,
    /// It is, and a glance settled it.
    Yes,
    /// It is, but a glance did not.
    No,
}

/// URLs of a buffer, and what comes behind it, which is fetched into the cache while they are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) ahead: &'a [u8],
}

impl<'a> Piece<'a> {
    /// With nothing behind it, or what is in the cache already.
    pub fn last(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans, ahead: &[] }
    }

    /// Fetches what has the place of a URL in what comes next. Most take two cache lines or fewer; what is
    /// left out of longer ones the processor sees coming.
    #[inline(always)]
    pub(crate) fn fetch_beyond(&self, span: Span) {
        prefetch(self.ahead, span.start as usize);
        prefetch(self.ahead, span.start as usize + BLOCK);
    }
}

/// What is done about each URL of a [`Piece`] once it is known whether it is proven clean.
pub trait Act {
    /// Whether it rewrites what is not clean, and so need not be told of all that is.
    const REWRITES: bool = false;

    /// Does it about the URL of this number there. To be `#[inline(always)]`, like all that uses the vector.
    fn act<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool);
}

/// Appends one bit for each URL, 64 to a word: whether it is clean.
pub(crate) struct Bits<'a>(pub(crate) &'a mut Vec<u64>);

impl Act for Bits<'_> {
    #[inline(always)]
    fn act<V: Vector>(&mut self, _: V, number: usize, _: Span, is_clean: bool) {
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
    pub(super) piece: Piece<'a>,
    pub(super) act: A,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::clean_each`](super::Kernel::clean_each), where bytes are all that counts.
pub(super) struct VerbatimEach<'a, A> {
    pub(super) piece: Piece<'a>,
    pub(super) act: A,
}

/// See [`Kernel::each`](super::Kernel::each).
pub(super) struct Each<'a, F, A> {
    pub(super) piece: Piece<'a>,
    pub(super) is_clean: F,
    pub(super) act: A,
}

/// See [`Kernel::is_clean`](super::Kernel::is_clean), where bytes are all that counts.
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
    pub(super) lead: Lead,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::mark`](super::Kernel::mark).
pub(super) struct Mark<'a, R, D> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lead: Lead,
    pub(super) asked: &'a Asked,
    pub(super) marks: &'a mut Marks,
    pub(super) depth: PhantomData<(R, D)>,
}

/// See [`Kernel::settle`](super::Kernel::settle).
pub(super) struct SettleOne<'a, R, S> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lead: Lead,
    pub(super) settle: S,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::settle_each`](super::Kernel::settle_each).
pub(super) struct SettleEach<'a, R, S, F, A> {
    pub(super) piece: Piece<'a>,
    pub(super) settle: S,
    pub(super) is_clean: F,
    pub(super) act: A,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::mark_each`](super::Kernel::mark_each).
pub(super) struct MarkEach<'a, R, D, S, F, A> {
    pub(super) piece: Piece<'a>,
    pub(super) asked: &'a Asked,
    pub(super) settle: S,
    pub(super) is_clean: F,
    pub(super) act: A,
    pub(super) depth: PhantomData<(R, D)>,
}

impl<R: Rules, A: Act> Work for CleanEach<'_, R, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let CleanEach { piece, act, .. } = self;
        each(
            vector,
            piece,
            act,
            #[inline(always)]
            |span| {
                let (start, end) = (span.start as usize, span.end as usize);
                if A::REWRITES && V::NORMALIZES_TRIPLETS {
                    is_plain::<V, R>(vector, piece.bytes, start, end)
                } else {
                    is_clean::<V, R>(vector, piece.bytes, start, end, Lead::Absolute)
                }
            },
        );
    }
}

impl<A: Act> Work for VerbatimEach<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let VerbatimEach { piece, act } = self;
        each(
            vector,
            piece,
            act,
            #[inline(always)]
            |span| is_verbatim(vector, piece.bytes, span.start as usize, span.end as usize),
        );
    }
}

impl<F: Fn(&Span) -> bool, A: Act> Work for Each<'_, F, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Each { piece, is_clean, act } = self;
        each(vector, piece, act, is_clean);
    }
}

impl Work for IsVerbatim<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        is_verbatim(vector, self.bytes, self.start, self.end)
    }
}

impl<R: Rules> Work for IsClean<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        is_clean::<V, R>(vector, self.bytes, self.start, self.end, self.lead)
    }
}

impl<R: Rules, D: Depth> Work for Mark<'_, R, D> {
    type Output = Marked;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Marked {
        let Mark { bytes, start, end, lead, asked, marks, .. } = self;
        let mut room = None;
        let window = window(bytes, start, end, &mut room);
        let proof = prove::<V, R>(vector, &bytes[start..end], window, lead);
        mark::<V, D>(vector, window, end - start, &proof, asked, marks)
    }
}

impl<R: Rules, S: Settle> Work for SettleOne<'_, R, S> {
    type Output = Settled;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Settled {
        let SettleOne { bytes, start, end, lead, settle, .. } = self;
        let mut room = None;
        let window = window(bytes, start, end, &mut room);
        let proof = prove::<V, R>(vector, &bytes[start..end], window, lead);
        if !proof.clean {
            return Settled::Unclean;
        }
        match glance(vector, &bytes[start..], window, end - start, lead, &proof, settle) {
            None => Settled::TooLong,
            Some(true) => Settled::Yes,
            Some(false) => Settled::No,
        }
    }
}

impl<R, S, F, A> Work for SettleEach<'_, R, S, F, A>
where
    R: Rules,
    S: Settle + Copy,
    F: Fn(&[u8]) -> bool,
    A: Act,
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let SettleEach { piece, settle, is_clean, act, .. } = self;
        let bytes = piece.bytes;
        let lead = Lead::Absolute;
        each(
            vector,
            piece,
            act,
            #[inline(always)]
            |span| {
                let (start, end) = (span.start as usize, span.end as usize);
                let (url, length) = (span.of(bytes), end - start);
                let mut room = None;
                let window = window(bytes, start, end, &mut room);
                let front = front::<V, R>(vector, length, window, lead);
                // Where no question mark stands out either.
                if let Some(proof) = front.proof(length) {
                    return short_glance(vector, &bytes[start..], window, length, lead, &proof)
                        .is_some_and(|glance| settle.settles(&glance.without_query()));
                }
                let proof = prove_from::<V, R>(vector, url, window, &front);
                proof.clean
                    && glance(vector, &bytes[start..], window, length, lead, &proof, settle)
                        .unwrap_or_else(|| is_clean(url))
            },
        );
    }
}

impl<R, D, S, F, A> Work for MarkEach<'_, R, D, S, F, A>
where
    R: Rules,
    D: Depth,
    S: Settle + Copy,
    F: Fn(&[u8], Seen<'_>) -> bool,
    A: Act,
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let MarkEach { piece, asked, settle, is_clean, act, .. } = self;
        let bytes = piece.bytes;
        let lead = Lead::Absolute;
        let mut marks = Marks::default();
        each(
            vector,
            piece,
            act,
            #[inline(always)]
            |span| {
                let (start, end) = (span.start as usize, span.end as usize);
                let (url, length) = (span.of(bytes), end - start);
                let mut room = None;
                let window = window(bytes, start, end, &mut room);
                let front = front::<V, R>(vector, length, window, lead);
                let from = &bytes[start..];
                // A way of its own for most, in which nothing else is asked.
                let (proof, settled) = match front.proof(length) {
                    Some(proof) => {
                        let glance = short_glance(vector, from, window, length, lead, &proof);
                        let settled = glance.is_some_and(|glance| settle.settles(&glance));
                        if settled {
                            return is_clean(url, Seen::Settled);
                        }
                        (proof, false)
                    }
                    None => {
                        let proof = prove_from::<V, R>(vector, url, window, &front);
                        let glance = || glance(vector, from, window, length, lead, &proof, settle);
                        let settled = proof.clean && glance() == Some(true);
                        (proof, settled)
                    }
                };
                if settled {
                    return is_clean(url, Seen::Settled);
                }
                let marked = mark::<V, D>(vector, window, length, &proof, asked, &mut marks);
                is_clean(url, Seen::Marked(marked, &marks))
            },
        );
    }
}

/// Does something about each URL, by what `is_clean` says of it.
#[inline(always)]
fn each<V: Vector>(
    vector: V,
    piece: Piece<'_>,
    mut act: impl Act,
    mut is_clean: impl FnMut(&Span) -> bool,
) {
    for (number, span) in piece.spans.iter().enumerate() {
        piece.fetch_beyond(*span);
        act.act(vector, number, *span, is_clean(span));
    }
}

/// What is settled at a glance at a clean URL of `length` bytes: one that fits into the window, or else
/// into [`LONG`] bytes, if so many follow. `from` starts with it.
#[inline(always)]
fn glance<V: Vector>(
    vector: V,
    from: &[u8],
    window: &[u8; WINDOW],
    length: usize,
    lead: Lead,
    proof: &Proof,
    settle: impl Settle,
) -> Option<bool> {
    if length <= WINDOW {
        let glance = short_glance(vector, from, window, length, lead, proof)?;
        return Some(settle.settles(&glance));
    }
    if length > LONG {
        return None;
    }
    let glance = Glance::<V, { LONG / BLOCK }>::new(vector, from, length, lead, proof)?;
    Some(settle.settles(&glance))
}

/// A glance at a clean URL that fits into its window.
#[inline(always)]
fn short_glance<'a, V: Vector>(
    vector: V,
    from: &'a [u8],
    window: &'a [u8; WINDOW],
    length: usize,
    lead: Lead,
    proof: &Proof,
) -> Option<Glance<'a, V, { WINDOW / BLOCK }>> {
    Glance::new(vector, at_least(from, window), length, lead, proof)
}

/// What stands in a buffer from a URL on, where it is no less than its window.
#[inline(always)]
fn at_least<'a>(from: &'a [u8], window: &'a [u8; WINDOW]) -> &'a [u8] {
    if from.len() < WINDOW { window } else { from }
}

/// The marks of a URL of `length` bytes that was proven `clean`, or not, by these masks.
#[inline(always)]
fn mark<V: Vector, D: Depth>(
    vector: V,
    window: &[u8; WINDOW],
    length: usize,
    proof: &Proof,
    asked: &Asked,
    marks: &mut Marks,
) -> Marked {
    let [a, b] = &proof.masks;
    if !proof.clean {
        return Marked::Unclean;
    }
    if length > WINDOW {
        return Marked::TooLong;
    }
    let (inside_a, inside_b) = (up_to(length), up_to(length.saturating_sub(BLOCK)));
    let both =
        |[low, high]: [u64; 2]| u128::from(low & inside_a) | (u128::from(high & inside_b) << 64);
    let [first, second] = blocks(window);
    let question = [vector.find(first, b'?'), vector.find(second, b'?')];
    marks.slash = both([a.slash, b.slash]);
    marks.dot = both([a.dot, b.dot]);
    marks.question = both(question);
    if D::ASKED {
        marks.asked = both([vector.find_asked(first, asked), vector.find_asked(second, asked)]);
    }
    Marked::Clean
}
