//! The loops that every instruction set shares, over the masks that each makes its own way.

use std::marker::PhantomData;

use super::glance::{Glance, Settle};
use super::kernel::Lead;
use super::prefetch::prefetch;
use super::proof::{
    Proof, WINDOW, front, is_clean, is_plain, is_verbatim, prove, prove_from, window,
};
use super::rules::Rules;
use super::vector::{BLOCK, Vector, Work};
use crate::bytes::Span;

/// Bytes of a URL that is longer than its window and is glanced at nevertheless.
const LONG: usize = 8 * BLOCK;

/// What [`Kernel::settle`](super::Kernel::settle) finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
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
    F: Fn(&[u8], Settled) -> bool,
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
                // Most need no more than that.
                let settled = if let Some(proof) = front.proof(length) {
                    match short_glance(vector, &bytes[start..], window, length, lead, &proof) {
                        // Where question marks stand out, there is none.
                        Some(glance) if R::QUERIES => Some(settle.settles(&glance.without_query())),
                        Some(glance) => Some(settle.settles(&glance)),
                        None => None,
                    }
                } else {
                    let proof = prove_from::<V, R>(vector, url, window, &front);
                    if !proof.clean {
                        return false;
                    }
                    glance(vector, &bytes[start..], window, length, lead, &proof, settle)
                };
                match settled {
                    Some(true) => true,
                    Some(false) => is_clean(url, Settled::No),
                    None => is_clean(url, Settled::TooLong),
                }
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
