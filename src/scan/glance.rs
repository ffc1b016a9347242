//! A first look at a URL that was proven clean: nearly always it tells that nothing is left to do, and no
//! marks have to be made.

use super::loops::{BLOCK, Block, Vector, up_to};
use super::rules::Asked;

/// A URL of at most `N` blocks that was proven clean, and begins with `http://` or `https://`, a host, and a
/// slash among the first 64 bytes. Masks have a bit for each byte, and none behind the URL.
pub(crate) struct Glance<'a, V, const N: usize> {
    vector: V,
    blocks: &'a [Block; N],
    /// Bytes of the URL.
    pub(crate) length: usize,
    slash: [u64; N],
}

/// What a profile asks at a glance.
pub(crate) trait Settle {
    /// Whether the profile changes nothing in the URL. `false` may only mean that it was not looked
    /// into.
    ///
    /// To be `#[inline(always)]`, like all that uses the vector.
    fn settles<V: Vector, const N: usize>(&self, glance: &Glance<'_, V, N>) -> bool;
}

impl<'a, V: Vector, const N: usize> Glance<'a, V, N> {
    #[inline(always)]
    pub(super) fn new(vector: V, blocks: &'a [Block; N], length: usize) -> Self {
        let glance = Self { vector, blocks, length, slash: [0; N] };
        Self { slash: glance.find(b'/'), ..glance }
    }

    #[inline(always)]
    pub(crate) fn url(&self) -> &'a [u8] {
        &self.blocks.as_flattened()[..self.length]
    }

    /// The byte at `i`, which is within the blocks.
    #[inline(always)]
    pub(crate) fn byte(&self, i: usize) -> u8 {
        self.blocks[(i / BLOCK) & (N - 1)][i % BLOCK]
    }

    /// The first 64 bytes.
    #[inline(always)]
    pub(crate) fn front(&self) -> &'a Block {
        &self.blocks[0]
    }

    /// The bytes that are this one.
    #[inline(always)]
    pub(crate) fn find(&self, byte: u8) -> [u64; N] {
        let mut found = [0; N];
        for (i, found) in found.iter_mut().enumerate() {
            *found = self.vector.find(&self.blocks[i], byte) & self.inside(i);
        }
        found
    }

    #[inline(always)]
    fn inside(&self, block: usize) -> u64 {
        up_to(self.length.saturating_sub(block * BLOCK))
    }

    /// Whether a byte that is asked for may be in the path.
    #[inline(always)]
    pub(crate) fn may_find_in_path(&self, asked: &Asked) -> bool {
        // `https://`, or `http://` and a byte of the host.
        const START: u64 = 0xFF;
        let mut found = [0; N];
        for (i, found) in found.iter_mut().enumerate() {
            *found = self.vector.find_asked(&self.blocks[i], asked) & self.inside(i);
        }
        found[0] &= !START;
        // Most have none at all, and need no look at where the path ends.
        found != [0; N] && first(found) < self.path_end()
    }

    /// Where the host starts.
    #[inline(always)]
    pub(crate) fn host(&self) -> usize {
        // The fifth byte is `:` or `s`; as a comparison it would become a branch, and be guessed wrong.
        7 + usize::from(self.byte(4) & 1)
    }

    /// Where the path starts, for a host that starts there.
    #[inline(always)]
    pub(crate) fn path(&self, host: usize) -> usize {
        host + (self.slash[0] >> (host % BLOCK)).trailing_zeros() as usize
    }

    /// Where the path ends: at the first question mark, or with the URL.
    #[inline(always)]
    pub(crate) fn path_end(&self) -> usize {
        first(self.find(b'?')).min(self.length)
    }

    /// Whether two slashes stand together anywhere but before the host.
    #[inline(always)]
    pub(crate) fn has_more_double_slashes(&self) -> bool {
        let (mut before, mut doubled) = (0, [0; N]);
        for (slash, doubled) in self.slash.iter().zip(&mut doubled) {
            *doubled = slash & (slash << 1 | before >> (BLOCK - 1));
            before = *slash;
        }
        // The first are those before the host.
        doubled[0] &= doubled[0].wrapping_sub(1);
        doubled != [0; N]
    }

    /// Whether two full stops stand together in the first 64 bytes, or one at the start of the host.
    #[inline(always)]
    pub(crate) fn may_have_empty_label(&self, host: usize) -> bool {
        let dot = self.vector.find(&self.blocks[0], b'.');
        dot & (dot << 1 | 1 << (host % BLOCK)) != 0
    }

    /// Where the last segment of a path starts that ends there.
    #[inline(always)]
    pub(crate) fn last_segment(&self, path_end: usize) -> usize {
        // There is always a slash before the host.
        let mut last = 0;
        for (i, slash) in self.slash.iter().enumerate() {
            let slashes = slash & up_to(path_end.saturating_sub(i * BLOCK));
            if slashes != 0 {
                last = (i + 1) * BLOCK - slashes.leading_zeros() as usize;
            }
        }
        last
    }
}

/// The lowest bit, counted through all words; behind them where there is none.
#[inline(always)]
pub(crate) fn first<const N: usize>(words: [u64; N]) -> usize {
    for (i, word) in words.iter().enumerate().take(N - 1) {
        if *word != 0 {
            return i * BLOCK + word.trailing_zeros() as usize;
        }
    }
    (N - 1) * BLOCK + words[N - 1].trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::super::loops::Work;
    use super::super::{Backend, Kernel};
    use super::*;
    use crate::profile::set::AsciiSet;

    /// Asks all that can be asked.
    struct Ask<'a, const N: usize>(&'a [u8]);

    #[derive(Debug, PartialEq)]
    struct Answers {
        query: Vec<usize>,
        asked: bool,
        host: usize,
        path: usize,
        path_end: usize,
        doubled: bool,
        last: usize,
    }

    const ASKED: Asked = Asked::new(AsciiSet::of(b"-,"));

    impl<const N: usize> Work for Ask<'_, N> {
        type Output = Answers;

        #[inline(always)]
        fn run<V: Vector>(self, vector: V) -> Answers {
            // What stands behind the URL belongs to another one.
            let mut blocks = [[b'/'; BLOCK]; N];
            blocks.as_flattened_mut()[..self.0.len()].copy_from_slice(self.0);
            let glance = Glance::new(vector, &blocks, self.0.len());
            let host = glance.host();
            let path_end = glance.path_end();
            let query = glance.find(b'?');
            Answers {
                query: (0..N * 64).filter(|i| query[i / 64] >> (i % 64) & 1 == 1).collect(),
                asked: glance.may_find_in_path(&ASKED),
                host,
                path: glance.path(host),
                path_end,
                doubled: glance.has_more_double_slashes(),
                last: glance.last_segment(path_end),
            }
        }
    }

    /// The same, read off the text.
    fn read(url: &[u8]) -> Answers {
        let colon = url.iter().position(|byte| *byte == b':').unwrap();
        let host = colon + 3;
        let path = host + url[host..].iter().position(|byte| *byte == b'/').unwrap();
        let path_end = url.iter().position(|byte| *byte == b'?').unwrap_or(url.len());
        Answers {
            query: (0..url.len()).filter(|i| url[*i] == b'?').collect(),
            asked: url[8..path_end].iter().any(|byte| b"-,".contains(byte)),
            host,
            path,
            path_end,
            doubled: url.windows(2).skip(host).any(|two| two == b"//"),
            last: url[..path_end].iter().rposition(|byte| *byte == b'/').unwrap() + 1,
        }
    }

    #[test]
    fn a_glance_sees_what_the_text_says_on_every_backend() {
        let mut urls = Vec::new();
        for (scheme, host) in [("http", "a.example"), ("https", "w"), ("http", "h-,")] {
            for tail in ["/", "/a/b-c", "/a//b", "/-,?-,", "/?a//b?c", "/index.html?/"] {
                for padding in 0..=240 {
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
            for url in urls.iter().filter(|url| url.len() <= 256) {
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
