//! The loops that every instruction set shares, over the masks that each makes its own way.

use std::marker::PhantomData;

use super::glance::{Glance, Settle};
use super::kernel::Lead;
use super::rules::{Asked, Depth, Ladder, Rules};
use crate::record::Span;

/// Bytes in a block; one bit of a mask each.
pub(crate) const BLOCK: usize = 64;
/// The bytes of one block.
pub(crate) type Block = [u8; BLOCK];
/// Two blocks, which nearly every URL fits into.
const WINDOW: usize = 2 * BLOCK;
/// Eight, which nearly every other one does.
const LONG: usize = 8 * BLOCK;

/// What is known of a block; bit `i` is about byte `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masks {
    /// Bytes outside [`Rules::HOST`].
    pub(super) host_bad: u64,
    /// Bytes outside [`Rules::TAIL`].
    pub(super) bad: u64,
    /// Slashes.
    pub(super) slash: u64,
    /// Full stops.
    pub(super) dot: u64,
}

/// What a dirty URL is rewritten by; bit `i` is about byte `i` of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Survey {
    pub(crate) slash: u64,
    pub(crate) dot: u64,
    /// Question marks and number signs.
    pub(crate) ends: u64,
    /// Bytes that the grammar of a query does not allow as themselves; percent and number signs are
    /// among them.
    pub(crate) not_query: u64,
    /// Bytes that the grammar of a reg-name does not allow as themselves; all that can stand before
    /// or behind a host is among them.
    pub(crate) not_reg_name: u64,
}

/// Where the delimiters of a clean URL are, and what in it some profiles change; bit `i` is about
/// byte `i`, and there are none behind the URL.
///
/// What a [`Depth`] does not look for stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    pub(crate) slash: u128,
    pub(crate) dot: u128,
    pub(crate) question: u128,
    /// The bytes that were asked for, and those of 0x80 and above, which no clean URL holds.
    pub(crate) asked: u128,
}

/// What [`Kernel::mark`](super::Kernel::mark) finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    /// The URL is not proven clean.
    Unclean,
    /// It is, but is too long to have marks.
    TooLong,
    /// It is, and these are its marks.
    Clean,
}

/// What [`Kernel::mark_each`](super::Kernel::mark_each) sees of a URL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen<'m> {
    /// It is proven clean, and a glance tells that the profile changes nothing else in it.
    Settled,
    /// What was found, and the marks where there are some.
    Marked(Marked, &'m Marks),
}

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

/// An instruction set. Whoever has a value of it knows that the CPU has it.
///
/// Its functions are inlined into one that has the instruction set enabled ([`Work`]).
pub(crate) trait Vector: Copy {
    /// What tells whether a URL is clean.
    fn masks<R: Rules>(self, block: &Block) -> Masks;

    /// What a URL is rewritten by.
    fn survey(self, block: &Block) -> Survey;

    /// The bytes that are this one.
    fn find(self, block: &Block, byte: u8) -> u64;

    /// The bytes that are asked for, and those of 0x80 and above.
    fn find_asked(self, block: &Block, asked: &Asked) -> u64;

    /// The bits of a mask below `length`, which is a block at most.
    #[inline(always)]
    fn below(self, mask: u64, length: usize) -> u64 {
        mask & up_to(length)
    }
}

/// What is to be done with an instruction set: translated once for each of them.
///
/// `run` has to be `#[inline(always)]`, and so has all in it that uses the vector: each backend calls
/// it from its one function that has the instruction set enabled.
pub(crate) trait Work {
    type Output;

    fn run<V: Vector>(self, vector: V) -> Self::Output;
}

/// See [`super::lines`].
pub(super) struct Lines<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) out: &'a mut Vec<Span>,
}

/// See [`Kernel::clean`](super::Kernel::clean).
pub(super) struct Clean<'a, R> {
    pub(super) bytes: &'a [u8],
    pub(super) spans: &'a [Span],
    pub(super) out: &'a mut Vec<u64>,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::is_clean`](super::Kernel::is_clean).
pub(super) struct IsClean<'a, R> {
    pub(super) url: &'a [u8],
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
pub(super) struct SettleEach<'a, R, S, F> {
    pub(super) bytes: &'a [u8],
    pub(super) spans: &'a [Span],
    pub(super) settle: S,
    pub(super) is_clean: F,
    pub(super) out: &'a mut Vec<u64>,
    pub(super) rules: PhantomData<R>,
}

/// See [`Kernel::mark_each`](super::Kernel::mark_each).
pub(super) struct MarkEach<'a, R, D, S, F> {
    pub(super) bytes: &'a [u8],
    pub(super) spans: &'a [Span],
    pub(super) asked: &'a Asked,
    pub(super) settle: S,
    pub(super) is_clean: F,
    pub(super) out: &'a mut Vec<u64>,
    pub(super) depth: PhantomData<(R, D)>,
}

impl Work for Lines<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        lines(vector, self.bytes, self.out);
    }
}

impl<R: Rules> Work for Clean<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        for group in self.spans.chunks(64) {
            let mut word = 0;
            for (i, span) in group.iter().enumerate() {
                let (start, end) = (span.start as usize, span.end as usize);
                let clean = is_clean::<V, R>(vector, self.bytes, start, end, Lead::Absolute);
                word |= u64::from(clean) << i;
            }
            self.out.push(word);
        }
    }
}

impl<R: Rules> Work for IsClean<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        is_clean::<V, R>(vector, self.url, 0, self.url.len(), self.lead)
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

impl<R, S, F> Work for SettleEach<'_, R, S, F>
where
    R: Rules,
    S: Settle + Copy,
    F: Fn(&[u8]) -> bool,
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let SettleEach { bytes, spans, settle, is_clean, out, .. } = self;
        let lead = Lead::Absolute;
        for group in spans.chunks(64) {
            let mut word = 0;
            for (i, span) in group.iter().enumerate() {
                let (start, end) = (span.start as usize, span.end as usize);
                let (url, length) = (span.of(bytes), end - start);
                let mut room = None;
                let window = window(bytes, start, end, &mut room);
                let front = front::<V, R>(vector, length, window, lead);
                // Most are short, and have no query and nothing to be looked at by itself.
                let plain =
                    front.starts_well & (front.bad[0] | front.bad[1] == 0) & (length <= WINDOW);
                let clean = if plain {
                    let Front { host, path, masks, .. } = front;
                    let proof = Proof { clean: true, host, path, question: Some([0; 2]), masks };
                    let from = at_least(&bytes[start..], window);
                    Glance::<V, { WINDOW / BLOCK }>::new(vector, from, length, lead, &proof)
                        .is_some_and(|glance| settle.settles(&glance.without_query()))
                } else {
                    let proof = prove_from::<V, R>(vector, url, window, &front);
                    proof.clean
                        && glance(vector, &bytes[start..], window, length, lead, &proof, settle)
                            .unwrap_or_else(|| is_clean(url))
                };
                word |= u64::from(clean) << i;
            }
            out.push(word);
        }
    }
}

impl<R, D, S, F> Work for MarkEach<'_, R, D, S, F>
where
    R: Rules,
    D: Depth,
    S: Settle + Copy,
    F: Fn(&[u8], Seen<'_>) -> bool,
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let MarkEach { bytes, spans, asked, settle, is_clean, out, .. } = self;
        let mut marks = Marks::default();
        for group in spans.chunks(64) {
            let mut word = 0;
            for (i, span) in group.iter().enumerate() {
                let (start, end) = (span.start as usize, span.end as usize);
                let (url, length) = (span.of(bytes), end - start);
                let mut room = None;
                let window = window(bytes, start, end, &mut room);
                let lead = Lead::Absolute;
                let proof = prove::<V, R>(vector, url, window, lead);
                let glance =
                    || glance(vector, &bytes[start..], window, length, lead, &proof, settle);
                let seen = if proof.clean && glance() == Some(true) {
                    Seen::Settled
                } else {
                    let marked = mark::<V, D>(vector, window, length, &proof, asked, &mut marks);
                    Seen::Marked(marked, &marks)
                };
                let clean = is_clean(url, seen);
                word |= u64::from(clean) << i;
            }
            out.push(word);
        }
    }
}

#[inline(always)]
fn lines<V: Vector>(vector: V, bytes: &[u8], out: &mut Vec<Span>) {
    let mut start = 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        let mut feeds = vector.find(block, b'\n');
        // Room for as many lines as a block can end, so that none of them has to ask.
        out.reserve(BLOCK);
        let mut length = out.len();
        while feeds != 0 {
            let end = i * BLOCK + feeds.trailing_zeros() as usize;
            // SAFETY: a block has BLOCK bits at most, so this is within what was reserved; a span is
            // plain data.
            unsafe { out.as_mut_ptr().add(length).write(line(bytes, start, end)) };
            length += 1;
            start = end + 1;
            feeds &= feeds - 1;
        }
        // SAFETY: the spans up to there were written just now.
        unsafe { out.set_len(length) };
    }
    for (i, _) in rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let end = blocks.len() * BLOCK + i;
        out.push(line(bytes, start, end));
        start = end + 1;
    }
    if start < bytes.len() {
        out.push(Span { start: start as u32, end: bytes.len() as u32 });
    }
}

/// The line from `start` to a line feed at `end`, without a carriage return before that.
#[inline(always)]
fn line(bytes: &[u8], start: usize, end: usize) -> Span {
    let cut = usize::from(end > start && bytes[end - 1] == b'\r');
    Span { start: start as u32, end: (end - cut) as u32 }
}

/// Whether a URL is proven clean under the ladder.
#[inline(always)]
pub(crate) fn is_clean_by_ladder<V: Vector>(vector: V, bytes: &[u8], url: Span) -> bool {
    let (start, end) = (url.start as usize, url.end as usize);
    is_clean::<V, Ladder>(vector, bytes, start, end, Lead::Absolute)
}

/// Whether the URL `bytes[start..end]` is proven clean.
#[inline(always)]
fn is_clean<V: Vector, R: Rules>(
    vector: V,
    bytes: &[u8],
    start: usize,
    end: usize,
    lead: Lead,
) -> bool {
    let mut room = None;
    let window = window(bytes, start, end, &mut room);
    prove::<V, R>(vector, &bytes[start..end], window, lead).clean
}

/// The first bytes of the URL `bytes[start..end]`. Bytes behind it may be looked at if they belong to the
/// buffer; their bits are cut off.
#[inline(always)]
fn window<'a>(
    bytes: &'a [u8],
    start: usize,
    end: usize,
    room: &'a mut Option<[u8; WINDOW]>,
) -> &'a [u8; WINDOW] {
    let url = &bytes[start..end];
    match bytes[start..].first_chunk() {
        Some(window) => window,
        None => {
            let copy = room.insert([0; WINDOW]);
            let length = url.len().min(WINDOW);
            copy[..length].copy_from_slice(&url[..length]);
            copy
        }
    }
}

/// The two blocks of a window.
#[inline(always)]
fn blocks(window: &[u8; WINDOW]) -> [&Block; 2] {
    let (blocks, _) = window.as_chunks::<BLOCK>();
    [&blocks[0], &blocks[1]]
}

/// What the first two blocks of a URL tell.
struct Front {
    /// It starts with a scheme, a clean host, and a slash; or as a target with a slash.
    starts_well: bool,
    /// Where host and path start, if it does.
    host: usize,
    path: usize,
    /// Bytes that have to be looked at by themselves.
    bad: [u64; 2],
    masks: [Masks; 2],
}

/// What is known of a URL that was looked at.
pub(super) struct Proof {
    pub(super) clean: bool,
    /// Where the host and the path start, if it is clean.
    pub(super) host: usize,
    pub(super) path: usize,
    /// Question marks in its window, where the rules ask for them.
    pub(super) question: Option<[u64; 2]>,
    /// Those of its window.
    pub(super) masks: [Masks; 2],
}

/// Looks at the first two blocks of a URL.
#[inline(always)]
fn front<V: Vector, R: Rules>(
    vector: V,
    length: usize,
    window: &[u8; WINDOW],
    lead: Lead,
) -> Front {
    let [first, second] = blocks(window);
    let (a, b) = (vector.masks::<R>(first), vector.masks::<R>(second));
    let inside = up_to(length);
    let bad_a = (a.bad | a.dots_after_slash(0)) & inside;
    let bad_b = (b.bad | b.dots_after_slash(a.slash)) & up_to(length.saturating_sub(BLOCK));
    let (starts_well, host, path) = match lead {
        Lead::Absolute => starts_with_host::<R>(first, &a, inside),
        Lead::Target => (a.slash & inside & 1 == 1, 0, 0),
    };
    Front { starts_well, host, path, bad: [bad_a, bad_b], masks: [a, b] }
}

/// Whether a URL is proven clean.
#[inline(always)]
pub(super) fn prove<V: Vector, R: Rules>(
    vector: V,
    url: &[u8],
    window: &[u8; WINDOW],
    lead: Lead,
) -> Proof {
    prove_from::<V, R>(vector, url, window, &front::<V, R>(vector, url.len(), window, lead))
}

/// The same by its front.
#[inline(always)]
fn prove_from<V: Vector, R: Rules>(
    vector: V,
    url: &[u8],
    window: &[u8; WINDOW],
    front: &Front,
) -> Proof {
    let &Front { starts_well, host, path, bad: [mut bad_a, mut bad_b], masks } = front;
    let mut question = [0; 2];
    if R::QUERIES && bad_a | bad_b != 0 {
        let [first, second] = blocks(window);
        question = [vector.find(first, b'?'), vector.find(second, b'?')];
        (bad_a, bad_b) = (bad_a & !question[0], bad_b & !question[1]);
    }
    let bad = u128::from(bad_a) | u128::from(bad_b) << BLOCK;
    let mut clean = starts_well & (bad == 0);
    // No branch on the start alone, which is what is wrong with every second dirty URL.
    if starts_well & (bad != 0) {
        clean = R::bad_stays(url, 0, bad);
    }
    if clean & (url.len() > WINDOW) {
        clean = is_clean_tail::<V, R>(vector, url, masks[1].slash);
    }
    Proof { clean, host, path, question: R::QUERIES.then_some(question), masks }
}

impl Masks {
    /// Full stops behind a slash, where `before` are the slashes of the block before.
    #[inline(always)]
    fn dots_after_slash(&self, before: u64) -> u64 {
        (self.slash << 1 | before >> (BLOCK - 1)) & self.dot
    }
}

/// The bits below `length`; all, where that is a block or more.
#[inline(always)]
pub(crate) fn up_to(length: usize) -> u64 {
    if length >= BLOCK { u64::MAX } else { (1 << length) - 1 }
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
        let from = at_least(from, window);
        let glance = Glance::<V, { WINDOW / BLOCK }>::new(vector, from, length, lead, proof)?;
        return Some(settle.settles(&glance));
    }
    if length > LONG {
        return None;
    }
    let glance = Glance::<V, { LONG / BLOCK }>::new(vector, from, length, lead, proof)?;
    Some(settle.settles(&glance))
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

/// Whether a block starts with a scheme, a clean host and a slash; and where the last two are, if it does.
/// A host that ends beyond the first block is left to the scalar path.
#[inline(always)]
fn starts_with_host<R: Rules>(block: &Block, masks: &Masks, inside: u64) -> (bool, usize, usize) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0") << 8;
    let start = block.first_chunk().map_or(0, |start| u64::from_le_bytes(*start));
    let https = start == HTTPS;
    let http = start << 8 == HTTP;
    let host = 7 + u32::from(https);
    let length = (masks.host_bad >> host).trailing_zeros();
    // Where no byte ends the host, the shift below would be by 64 and more.
    let end = (host + length) & 63;
    let ends_with_slash = masks.slash & inside & 1 << end != 0;
    let ends_with_dot = masks.dot & 1 << (end - 1) != 0;
    // The slash before the host is no dot, and the host's first byte is behind it.
    let dots = masks.dot & ((1 << end) - 1);
    let label = (64 - dots.leading_zeros()).max(host) as usize & (BLOCK - 1);
    let stays = R::last_label_stays(block[label]);
    let starts_well =
        (https | http) & (length > 0) & (length < 64) & ends_with_slash & !ends_with_dot & stays;
    (starts_well, host as usize, end as usize)
}

/// What [`is_clean`] checks, for the bytes of a URL behind its first window.
#[inline(always)]
fn is_clean_tail<V: Vector, R: Rules>(vector: V, url: &[u8], mut slash: u64) -> bool {
    let mut at = WINDOW;
    while at < url.len() {
        let mut copy = [0; BLOCK];
        let rest = &url[at..];
        let block: &Block = match rest.first_chunk() {
            Some(block) => block,
            None => {
                copy[..rest.len()].copy_from_slice(rest);
                &copy
            }
        };
        let masks = vector.masks::<R>(block);
        let mut bad = (masks.bad | masks.dots_after_slash(slash)) & up_to(rest.len());
        if R::QUERIES {
            bad &= !vector.find(block, b'?');
        }
        if bad != 0 && !R::bad_stays(url, at, u128::from(bad)) {
            return false;
        }
        slash = masks.slash;
        at += BLOCK;
    }
    true
}
