//! Proves from the masks of its blocks that a URL is clean under a set of rules.

use std::ops::Range;

use super::block::{BLOCK, Block, up_to};
use super::rules::{Query, Rules};
use super::url_kind::UrlKind;
use super::vector::{Masks, Vector};
use crate::bytes::set::{AsciiSet, NibbleTable};

/// Two blocks. Nearly every URL fits.
pub(super) const WINDOW: usize = 2 * BLOCK;

/// The first two blocks of the URL `bytes[range]`. If the buffer goes on, they are a view of it
/// and hold bytes after the URL, whose bits the callers mask off. Otherwise they are a padded copy.
#[inline(always)]
pub(super) fn window<'a>(
    bytes: &'a [u8],
    range: Range<usize>,
    room: &'a mut Option<[u8; WINDOW]>,
) -> &'a [u8; WINDOW] {
    let url = &bytes[range.clone()];
    match bytes[range.start..].first_chunk() {
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
pub(super) fn blocks(window: &[u8; WINDOW]) -> [&Block; 2] {
    let (blocks, _) = window.as_chunks::<BLOCK>();
    [&blocks[0], &blocks[1]]
}

/// The result of a look at the first two blocks of a URL.
pub(super) struct Front {
    /// True if the URL starts with a scheme, a clean host, and a slash; or a target with a slash.
    pub(super) starts_well: bool,
    /// Where host and path start, if `starts_well`.
    pub(super) host: usize,
    pub(super) path: usize,
    /// Bytes that must be checked separately.
    pub(super) bad: [u64; 2],
    pub(super) masks: [Masks; 2],
    /// Question marks, once [`prove`] searched for them.
    pub(super) question: Option<[u64; 2]>,
}

impl Front {
    /// True if the front alone proves a URL of `length` bytes clean. It does for most URLs: they are short
    /// and have no byte to check separately.
    #[inline(always)]
    pub(super) fn is_proof(&self, length: usize) -> bool {
        // Bitwise `&`: one branch instead of one for each condition.
        self.starts_well & (self.bad[0] | self.bad[1] == 0) & (length <= WINDOW)
    }
}

/// Computes the masks of the first two blocks of a URL. The window is a byte and the one before it, and for
/// the front a scheme, a host and its last label, which lie in the first block.
#[inline(always)]
pub(super) fn front<V: Vector, R: Rules>(
    vector: V,
    length: usize,
    window: &[u8; WINDOW],
    kind: UrlKind,
) -> Front {
    let [first, second] = blocks(window);
    let a = vector.masks::<R>(first);
    let b = match V::BLOCKS_ARE_CHEAP || length > BLOCK {
        true => vector.masks::<R>(second),
        false => Masks::default(),
    };
    // The window may hold bytes after the URL.
    let inside = up_to(length);
    let bad_a = (a.bad | a.dots_after_slash(0)) & inside;
    let bad_b = (b.bad | b.dots_after_slash(a.slash)) & up_to(length.saturating_sub(BLOCK));
    let (starts_well, host, path) = match kind {
        UrlKind::Absolute => starts_with_host::<R>(first, &a, inside),
        UrlKind::Target => (a.slash & inside & 1 == 1, 0, 0),
    };
    Front { starts_well, host, path, bad: [bad_a, bad_b], masks: [a, b], question: None }
}

/// Tries to prove a URL clean, and adds the question marks to its front if the rules search for them.
#[inline(always)]
pub(super) fn prove<V: Vector, R: Rules>(
    vector: V,
    url: &[u8],
    window: &[u8; WINDOW],
    front: &mut Front,
) -> bool {
    let &mut Front { starts_well, bad: [mut bad_a, mut bad_b], masks, .. } = front;
    let mut question = [0; 2];
    // The marks are found only now, since most URLs have nothing outside `TAIL`.
    if R::QUERIES && bad_a | bad_b != 0 {
        let [first, second] = blocks(window);
        question = [vector.find(first, b'?'), vector.find(second, b'?')];
        (bad_a, bad_b) = (bad_a & !question[0], bad_b & !question[1]);
    }
    let bad = u128::from(bad_a) | u128::from(bad_b) << BLOCK;
    let mut query = None;
    let mut clean = starts_well & (bad == 0);
    // Branching on `starts_well` alone mispredicts: half of the dirty URLs fail only there.
    if starts_well & (bad != 0) {
        let bad = unsure::<V, R, 2>(vector, blocks(window), url.len(), bad);
        clean = bad == 0 || R::bad_stays(url, 0, bad, &mut query);
    }
    if clean & (url.len() > WINDOW) {
        clean = is_clean_tail::<V, R>(vector, url, masks[1].slash, &mut query);
    }
    front.question = R::QUERIES.then_some(question);
    clean
}

const HEX: AsciiSet = AsciiSet::of(b"0123456789ABCDEF");

/// Digits of triplets that encode no unreserved character. Under the rules of the ladder these are
/// clean. After one of these first digits (0x00 to 0x1F and 0x80 to 0xFF) any digit may follow; after a
/// `2`, any digit except those of `-` and `.`.
const FIRST_OF_ANY: NibbleTable = NibbleTable::new(AsciiSet::of(b"0189ABCDEF"));
const ANY_DIGIT: NibbleTable = NibbleTable::new(HEX);
const BEHIND_TWO: NibbleTable = NibbleTable::new(HEX.without(AsciiSet::of(b"DE")));

/// Clears the bits of most triplets that are already canonical. The window is a percent sign and the two
/// bytes after it, and whether there is another. `length` is the number of bytes from
/// the start of the blocks to the end of the URL.
#[inline(always)]
fn unsure<V: Vector, R: Rules, const N: usize>(
    vector: V,
    blocks: [&Block; N],
    length: usize,
    bad: u128,
) -> u128 {
    if !R::TRIPLETS_STAY {
        return bad;
    }
    let mut percent = 0;
    for (i, block) in blocks.iter().enumerate() {
        percent |= u128::from(vector.find(block, b'%')) << (i * BLOCK);
    }
    // A single percent sign is faster to check directly. Any other bad byte is nearly always fatal.
    if (bad & (bad - 1) == 0) | (bad & !percent != 0) {
        return bad;
    }
    // Decides about all triplets at once, by their digits.
    let [mut first, mut any, mut two, mut second] = [0; 4];
    for (i, block) in blocks.iter().enumerate() {
        let inside = up_to(length.saturating_sub(i * BLOCK));
        let at = |mask: u64| u128::from(mask & inside) << (i * BLOCK);
        first |= at(vector.find_in_set(block, &FIRST_OF_ANY));
        any |= at(vector.find_in_set(block, &ANY_DIGIT));
        two |= at(vector.find(block, b'2'));
        second |= at(vector.find_in_set(block, &BEHIND_TWO));
    }
    // Moves the bits of both digits back to their percent sign.
    bad & !(first >> 1 & any >> 2 | two >> 1 & second >> 2)
}

impl Masks {
    /// Full stops that follow a slash. `before` is the slashes of the previous block.
    #[inline(always)]
    fn dots_after_slash(&self, before: u64) -> u64 {
        (self.slash << 1 | before >> (BLOCK - 1)) & self.dot
    }
}

/// True if a block starts with a scheme, a clean host and a slash; also returns where host and path
/// start. A host that ends after the first block is left to the scalar path.
#[inline(always)]
fn starts_with_host<R: Rules>(block: &Block, masks: &Masks, inside: u64) -> (bool, usize, usize) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0") << 8;
    let start = block.first_chunk().map_or(0, |start| u64::from_le_bytes(*start));
    let https = start == HTTPS;
    // `http://` has seven bytes, so the eighth is shifted out before the comparison.
    let http = start << 8 == HTTP;
    let host = 7 + u32::from(https);
    let length = (masks.host_bad >> host).trailing_zeros();
    // If no byte ends the host, the shift below would be by 64 or more.
    let end = (host + length) & 63;
    let ends_with_slash = masks.slash & inside & 1 << end != 0;
    let ends_with_dot = masks.dot & 1 << (end - 1) != 0;
    // The dots before `end` are all in the host: the scheme holds none. Without a dot the label is the
    // host.
    let dots = masks.dot & ((1 << end) - 1);
    let label = (64 - dots.leading_zeros()).max(host) as usize & (BLOCK - 1);
    let stays = R::last_label_stays(block[label]);
    // Bitwise `&`: one branch at the caller instead of one for each condition.
    let starts_well =
        (https | http) & (length > 0) & (length < 64) & ends_with_slash & !ends_with_dot & stays;
    (starts_well, host as usize, end as usize)
}

/// Checks the bytes of a URL after its window.
#[inline(always)]
fn is_clean_tail<V: Vector, R: Rules>(
    vector: V,
    url: &[u8],
    mut slash: u64,
    query: &mut Query,
) -> bool {
    // One block after the other is enough: only one URL in fifty is longer than a window.
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
        if bad != 0 {
            let bad = unsure::<V, R, 1>(vector, [block], rest.len(), u128::from(bad));
            if bad != 0 && !R::bad_stays(url, at, bad, query) {
                return false;
            }
        }
        slash = masks.slash;
        at += BLOCK;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::rules::Rfc3986;
    use super::super::vector::VectorOp;
    use super::super::{Backend, Kernel};
    use super::*;
    use crate::test_util::cases;

    /// Rules under which no triplet is known to be clean.
    #[derive(Clone, Copy)]
    struct Strict;

    impl Rules for Strict {
        const TAIL: AsciiSet = Rfc3986::TAIL;

        fn bad_stays(_: &[u8], _: usize, _: u128, _: &mut Query) -> bool {
            false
        }
    }

    struct Ask<'a, const N: usize> {
        blocks: [&'a Block; N],
        length: usize,
        bad: u128,
    }

    impl<const N: usize> VectorOp for Ask<'_, N> {
        type Output = [u128; 2];

        #[inline(always)]
        fn run<V: Vector>(self, vector: V) -> [u128; 2] {
            let Self { blocks, length, bad } = self;
            [
                unsure::<V, Rfc3986, N>(vector, blocks, length, bad),
                unsure::<V, Strict, N>(vector, blocks, length, bad),
            ]
        }
    }

    /// True if `text` starts with a triplet that its digits prove canonical.
    fn stays(text: &[u8]) -> bool {
        let digit = |at: usize| text.get(at).filter(|digit| HEX.contains(**digit)).copied();
        match (digit(1), digit(2)) {
            (Some(b'2'), Some(second)) => !b"DE".contains(&second),
            (Some(first), Some(_)) => b"0189ABCDEF".contains(&first),
            _ => false,
        }
    }

    #[test]
    fn proven_triplets_are_canonical() {
        const WORDS: &[&[u8]] = &[
            b"%C3", b"%A9", b"%20", b"%2F", b"%2D", b"%2E", b"%00", b"%1F", b"%FF", b"%30", b"%41",
            b"%7E", b"%c3", b"%Cc", b"%", b"%2", b"%C", b"22", b"CC", b"a", b"?",
        ];
        let mut state = 1_u64;
        let mut draw = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        for case in 0..cases(20_000) {
            let mut text = Vec::new();
            while text.len() < WINDOW {
                text.extend_from_slice(WORDS[draw(if case % 2 == 0 { 9 } else { WORDS.len() })]);
                text.resize(text.len() + [0, 0, 0, 3, 40][draw(5)], b'a');
            }
            let window: &[u8; WINDOW] = text.first_chunk().unwrap();
            let length = [WINDOW, 1 + draw(WINDOW), WINDOW + 7][draw(3)];
            let inside = &window[..length.min(WINDOW)];
            let mut bad = 0_u128;
            for (i, byte) in inside.iter().enumerate() {
                // Random subsets of the percent signs, and rarely another byte.
                let asked = if *byte == b'%' { draw(9) > 0 } else { draw(4000) == 0 };
                bad |= u128::from(asked) << i;
            }
            // Nothing to prove.
            if bad == 0 {
                continue;
            }
            for kernel in Backend::available().into_iter().filter_map(Kernel::new) {
                let blocks = blocks(window);
                let context = || format!("{:?} {}", kernel.backend(), inside.escape_ascii());
                let found = kernel.run(Ask { blocks, length, bad });
                assert_eq!(found, [left(bad, inside), bad], "{}", context());
                // The first block alone, if no triplet in it crosses its end.
                let low = bad & u128::from(u64::MAX);
                if low != 0 && (length <= BLOCK || window[BLOCK - 2..BLOCK] == *b"aa") {
                    let found = kernel.run(Ask { blocks: [blocks[0]], length, bad: low });
                    assert_eq!(found, [left(low, inside), low], "{}", context());
                }
            }
        }
    }

    /// The expected result: all of `bad` if it is a single byte, or holds anything but percent signs.
    fn left(bad: u128, text: &[u8]) -> u128 {
        let is_bad = |i: &usize| bad >> i & 1 == 1;
        let at: Vec<usize> = (0..text.len()).filter(is_bad).collect();
        if at.len() < 2 || at.iter().any(|at| text[*at] != b'%') {
            return bad;
        }
        at.into_iter().filter(|at| !stays(&text[*at..])).fold(0, |bits, at| bits | 1 << at)
    }
}
