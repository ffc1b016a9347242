//! The masks of a proven clean URL, for the extra rules of a profile. They nearly always show that
//! nothing is left to do, or give the text to write.

use std::hint::select_unpredictable;

use super::block::{BLOCK, Block, up_to};
use super::proof::Front;
use super::url_kind::UrlKind;
use super::vector::{Masks, Vector};
use crate::bytes::set::NibbleTable;

/// A proven clean URL of at most `N` blocks. An absolute URL begins with `http://` or `https://`, a
/// host, and a slash within the first 64 bytes; a target begins with a slash. Masks have a bit for each
/// byte, and none after the URL.
pub(crate) struct MaskedUrl<'a, V, const N: usize> {
    vector: V,
    kind: UrlKind,
    /// The URL and the bytes after it.
    from: &'a [u8],
    /// The first blocks of `from`.
    blocks: &'a [Block; N],
    /// Length of the URL in bytes.
    pub(crate) length: usize,
    /// Where the host starts; 0 in a target, which has none.
    pub(crate) host: usize,
    /// Where the path starts.
    pub(crate) path: usize,
    /// Where the path ends, if known.
    path_end: Option<usize>,
    /// Slashes, including those after the URL.
    slash: [u64; N],
    /// Full stops of the first block, including those after the URL.
    dot: u64,
}

/// The extra rules of a profile, applied to the masks of a clean URL.
pub(crate) trait FastPath {
    /// Returns true if the URL is finished: the profile changes nothing in it, or its form was written.
    /// `false` may also mean that the URL was not examined.
    ///
    /// Must be `#[inline(always)]`, like all code that uses the vector.
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool;
}

impl<'a, V: Vector, const N: usize> MaskedUrl<'a, V, N> {
    /// Builds the masks of the first `length` bytes of `from`. Returns `None` if `from` is shorter than
    /// `N` blocks.
    #[inline(always)]
    pub(super) fn new(
        vector: V,
        from: &'a [u8],
        length: usize,
        kind: UrlKind,
        front: &Front,
    ) -> Option<Self> {
        let blocks: &[Block; N] = from.as_chunks().0.first_chunk()?;
        let mut slash = [0; N];
        for (i, slash) in slash.iter_mut().enumerate() {
            // The front already has the slashes of the first two blocks.
            *slash = match front.masks.get(i) {
                Some(masks) => masks.slash,
                None => vector.find(&blocks[i], b'/'),
            };
        }
        let &Front { host, path, masks: [Masks { dot, .. }, _], .. } = front;
        let masked =
            Self { vector, kind, from, blocks, length, host, path, path_end: None, slash, dot };
        let path_end = front.question.map(
            #[inline(always)]
            |question| masked.end_of_path(&question),
        );
        Some(Self { path_end, ..masked })
    }

    /// Marks the URL as one that has no query.
    #[inline(always)]
    pub(super) fn without_query(self) -> Self {
        Self { path_end: Some(self.length), ..self }
    }

    /// Finds the end of the path, given the question marks of the first blocks.
    #[inline(always)]
    fn end_of_path(&self, known: &[u64]) -> usize {
        let mut question = [0; N];
        for (i, question) in question.iter_mut().enumerate() {
            *question = match known.get(i) {
                Some(known) => *known,
                None => self.vector.find(&self.blocks[i], b'?'),
            };
        }
        // A question mark after the URL does not count.
        first(question).min(self.length)
    }

    /// The instruction set of the masks.
    #[inline(always)]
    pub(crate) fn vector(&self) -> V {
        self.vector
    }

    #[inline(always)]
    pub(crate) fn url(&self) -> &'a [u8] {
        &self.blocks.as_flattened()[..self.length]
    }

    /// The URL and the bytes after it: at least as many bytes as `N` blocks.
    #[inline(always)]
    pub(crate) fn source(&self) -> &'a [u8] {
        self.from
    }

    /// The byte at `i`, which must lie within the blocks.
    #[inline(always)]
    pub(crate) fn byte(&self, i: usize) -> u8 {
        // The mask replaces a bounds check: `N * BLOCK` is a power of two.
        self.blocks.as_flattened()[i & (N * BLOCK - 1)]
    }

    /// Returns `M` bytes from `i` on, padded with zeros where `from` ends.
    #[inline(always)]
    pub(crate) fn bytes<const M: usize>(&self, i: usize) -> [u8; M] {
        match self.from.get(i..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => *bytes,
            None => last_bytes(self.from, i),
        }
    }

    #[inline(always)]
    fn inside(&self, block: usize) -> u64 {
        up_to(self.length.saturating_sub(block * BLOCK))
    }

    /// True if the path may hold a byte of `asked`.
    #[inline(always)]
    pub(crate) fn may_find_in_path(&self, asked: &NibbleTable) -> bool {
        // The first 8 bytes are `https://`, or `http://` and a byte of the host.
        let start = if self.kind == UrlKind::Absolute { 0xFF } else { 0 };
        // No branch on whether any byte was found: every query holds some, so it would mispredict.
        let (mut any, mut in_path) = (0, u64::MAX);
        for (i, block) in self.blocks.iter().enumerate() {
            let found = self.vector.find_in_set(block, asked) & self.inside(i);
            let question = self.vector.find(block, b'?');
            // The bits below the first question mark, or all bits if there is none.
            let before = question.wrapping_sub(1) & !question;
            any |= found & before & in_path & if i == 0 { !start } else { u64::MAX };
            // Zero for all blocks after one with a question mark: the path has ended.
            in_path &= u64::from(question != 0).wrapping_sub(1);
        }
        any != 0
    }

    /// Where the path ends: at the first question mark, or with the URL.
    #[inline(always)]
    pub(crate) fn path_end(&self) -> usize {
        match self.path_end {
            Some(end) => end,
            None => self.end_of_path(&[]),
        }
    }

    /// The slashes before `end`, including the one that starts a target or those before the host.
    #[inline(always)]
    pub(crate) fn slashes(&self, end: usize) -> Slashes<N> {
        let mut slashes = self.slash;
        for (i, slashes) in slashes.iter_mut().enumerate() {
            *slashes &= up_to(end.saturating_sub(i * BLOCK));
        }
        Slashes { slashes, kind: self.kind }
    }

    /// True if two full stops are adjacent in the first 64 bytes, or the host starts with one. The window is
    /// two bytes.
    #[inline(always)]
    pub(crate) fn may_have_empty_label(&self) -> bool {
        self.dot & (self.dot << 1 | 1 << (self.host % BLOCK)) != 0
    }

    /// True if a full stop lies in `start..end`, among the first 64 bytes.
    #[inline(always)]
    pub(crate) fn has_dot(&self, start: usize, end: usize) -> bool {
        self.dot & up_to(end) & !up_to(start) != 0
    }
}

/// Returns `M` bytes from `i` on, padded with zeros.
// A free function: as a method it would force the whole struct into memory.
#[cold]
#[inline(never)]
fn last_bytes<const M: usize>(from: &[u8], i: usize) -> [u8; M] {
    let mut bytes = [0; M];
    for (to, from) in bytes.iter_mut().zip(from.get(i..).unwrap_or_default()) {
        *to = *from;
    }
    bytes
}

/// The slashes of a URL before some end.
pub(crate) struct Slashes<const N: usize> {
    slashes: [u64; N],
    kind: UrlKind,
}

impl<const N: usize> Slashes<N> {
    /// True if two slashes are adjacent anywhere except before the host. The window is two bytes, with an edge
    /// between them or not, and the first two slashes.
    #[inline(always)]
    pub(crate) fn are_doubled(&self) -> bool {
        let (mut before, mut doubled) = (0, [0; N]);
        for (slash, doubled) in self.slashes.iter().zip(&mut doubled) {
            // The carry is the slash that ends the previous block.
            *doubled = slash & (slash << 1 | before >> (BLOCK - 1));
            before = *slash;
        }
        if self.kind == UrlKind::Absolute {
            // The first pair is the one before the host.
            doubled[0] &= doubled[0].wrapping_sub(1);
        }
        doubled != [0; N]
    }

    /// The offset after the last slash.
    #[inline(always)]
    pub(crate) fn behind_last(&self) -> usize {
        // At least one slash exists: before the host, or at the start of a target.
        let mut behind = 0;
        for (i, slashes) in self.slashes.iter().enumerate() {
            let here = (i + 1) * BLOCK - slashes.leading_zeros() as usize;
            // A conditional move: which block holds the last slash is unpredictable.
            behind = select_unpredictable(*slashes != 0, here, behind);
        }
        behind
    }
}

/// The position of the lowest bit across all words; the total number of bits if none is set.
#[inline(always)]
pub(crate) fn first<const N: usize>(words: [u64; N]) -> usize {
    // From the last word to the first, so that each word with a bit replaces the later ones without
    // a branch.
    let mut found = (N - 1) * BLOCK + words[N - 1].trailing_zeros() as usize;
    for (i, word) in words.iter().enumerate().take(N - 1).rev() {
        let here = i * BLOCK + word.trailing_zeros() as usize;
        found = select_unpredictable(*word != 0, here, found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::proof::{front, prove};
    use super::super::rules::Rfc3986;
    use super::super::vector::VectorOp;
    use super::super::{Backend, Kernel};
    use super::*;
    use crate::bytes::set::AsciiSet;

    /// Calls every query method.
    struct Ask<'a, const N: usize>(&'a [u8]);

    #[derive(Debug, PartialEq)]
    struct Answers {
        word: Vec<u8>,
        asked: bool,
        host: usize,
        path: usize,
        path_end: usize,
        doubled: bool,
        doubled_in_path: bool,
        last: usize,
    }

    const ASKED: NibbleTable = NibbleTable::new(AsciiSet::of(b"-,"));

    impl<const N: usize> VectorOp for Ask<'_, N> {
        type Output = Answers;

        #[inline(always)]
        fn run<V: Vector>(self, vector: V) -> Answers {
            // The bytes after the URL belong to another one.
            let mut bytes = [[b'/'; BLOCK]; N];
            let bytes = bytes.as_flattened_mut();
            bytes[..self.0.len()].copy_from_slice(self.0);
            let kind = if self.0[0] == b'/' { UrlKind::Target } else { UrlKind::Absolute };
            let window = bytes.first_chunk().expect("two blocks");
            let mut front = front::<V, Rfc3986>(vector, self.0.len(), window, kind);
            prove::<V, Rfc3986>(vector, self.0, window, &mut front);
            let length = self.0.len();
            let masked =
                MaskedUrl::<V, N>::new(vector, bytes, length, kind, &front).expect("enough");
            let path_end = masked.path_end();
            let (slashes, in_path) = (masked.slashes(length), masked.slashes(path_end));
            Answers {
                word: masked.bytes::<3>(masked.host).to_vec(),
                asked: masked.may_find_in_path(&ASKED),
                host: masked.host,
                path: masked.path,
                path_end,
                doubled: slashes.are_doubled(),
                doubled_in_path: in_path.are_doubled(),
                last: in_path.behind_last(),
            }
        }
    }

    /// The same answers from the text alone.
    fn read(url: &[u8]) -> Answers {
        let colon = url.iter().position(|byte| *byte == b':').unwrap();
        let host = colon + 3;
        let path = host + url[host..].iter().position(|byte| *byte == b'/').unwrap();
        let path_end = url.iter().position(|byte| *byte == b'?').unwrap_or(url.len());
        Answers {
            word: [&url[host..], &[b'/'; 3]].concat()[..3].to_vec(),
            asked: url[8..path_end].iter().any(|byte| b"-,".contains(byte)),
            host,
            path,
            path_end,
            doubled: url.windows(2).skip(host).any(|two| two == b"//"),
            doubled_in_path: url[..path_end].windows(2).skip(host).any(|two| two == b"//"),
            last: url[..path_end].iter().rposition(|byte| *byte == b'/').unwrap() + 1,
        }
    }

    #[test]
    fn masked_queries_agree_with_the_text_on_every_backend() {
        let mut urls = Vec::new();
        for (scheme, host) in [("http", "a.example"), ("https", "w"), ("http", "h-,")] {
            for tail in ["/", "/a/b-c", "/a//b", "/-,?-,", "/?a//b?c", "/index.html?/"] {
                for padding in (0..=240).step_by(if cfg!(miri) { 61 } else { 1 }) {
                    for padded in ["", "/x"] {
                        let filler = "y".repeat(padding);
                        urls.push(format!("{scheme}://{host}/{filler}{padded}{tail}"));
                        urls.push(format!("{scheme}://{host}{tail}{filler}{padded}"));
                    }
                }
            }
        }
        for backend in Backend::ALL {
            let Some(kernel) = Kernel::new(*backend) else { continue };
            let step = if cfg!(miri) { 7 } else { 1 };
            for url in urls.iter().filter(|url| url.len() <= 256).step_by(step) {
                let (url, told) = (url.as_bytes(), read(url.as_bytes()));
                assert_eq!(kernel.run(Ask::<4>(url)), told, "{backend:?} {}", url.escape_ascii());
                if url.len() <= 128 {
                    let seen = kernel.run(Ask::<2>(url));
                    assert_eq!(seen, told, "{backend:?} {}", url.escape_ascii());
                }
            }
        }
    }
}
