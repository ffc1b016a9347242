//! A short URL or target that the scanner proved clean under the ladder, and where its parts are.
//!
//! The profiles that change more than the ladder does look at the marks, a bit for each byte, instead
//! of at the bytes. Most of these URLs they leave; of most others they take a prefix of the host, a
//! slash, or change the order of parameters, and can write the result at once.

use crate::profile::starts::Starts;
use crate::scan::{Glance, Lead, Marks, Vector, first};

/// A URL of at most 128 bytes that is its own canonical form under the ladder, or was proven clean for
/// the profile but for what is looked for here.
pub(super) struct Clean<'a> {
    pub(super) url: &'a [u8],
    pub(super) marks: &'a Marks,
    /// Where the host starts; 0 in a target, which has none.
    pub(super) host: usize,
    /// Where the path starts and ends.
    pub(super) path: usize,
    pub(super) path_end: usize,
}

/// A parameter of the query: offsets in the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pair {
    pub(super) start: usize,
    /// Where the first `=` is, or the end.
    pub(super) name_end: usize,
    pub(super) end: usize,
}

impl<'a> Clean<'a> {
    #[inline(always)]
    pub(super) fn new(url: &'a [u8], lead: Lead, marks: &'a Marks) -> Self {
        let (host, path) = match lead {
            Lead::Target => (0, 0),
            Lead::Absolute => {
                // The scanner found `http://` or `https://`, a host, and a slash among the first 64
                // bytes.
                let host = 7 + usize::from(url.get(4) == Some(&b's'));
                (host, host + (marks.slash as u64 >> host).trailing_zeros() as usize)
            }
        };
        let path_end = (marks.question.trailing_zeros() as usize).min(url.len());
        Self { url, marks, host, path, path_end }
    }

    /// The bits of the path.
    #[inline(always)]
    pub(super) fn in_path(&self, mask: u128) -> u128 {
        mask & from(self.path) & !from(self.path_end)
    }

    /// Whether an empty label is in the host, the first one too.
    #[inline(always)]
    pub(super) fn has_empty_label(&self) -> bool {
        // A host ends among the first 64 bytes.
        let dots = self.marks.dot as u64;
        let host = (1u64 << (self.path & 63)).wrapping_sub(1u64 << self.host);
        dots & (dots << 1 | 1 << self.host) & host != 0
    }

    /// Whether an empty segment that is not the last is in the path.
    #[inline(always)]
    pub(super) fn has_empty_segment(&self) -> bool {
        let doubled = self.marks.slash & self.marks.slash << 1;
        // Most URLs have none but the one before the host.
        doubled.count_ones() > u32::from(self.host > 0) && self.in_path(doubled) != 0
    }

    /// Whether the path ends with a slash that is not all of it.
    #[inline(always)]
    pub(super) fn ends_with_slash(&self) -> bool {
        self.path_end > self.path + 1 && self.url[self.path_end - 1] == b'/'
    }

    #[inline(always)]
    pub(super) fn path_bytes(&self) -> &'a [u8] {
        &self.url[self.path..self.path_end]
    }

    #[inline(always)]
    pub(super) fn host_name(&self) -> &'a [u8] {
        &self.url[self.host..self.path]
    }

    /// What follows the last slash before `end`, which lies in the path or at its end.
    #[inline(always)]
    pub(super) fn last_segment(&self, end: usize) -> &'a [u8] {
        let slashes = self.marks.slash & !from(end);
        &self.url[(128 - slashes.leading_zeros() as usize).min(end)..end]
    }

    /// Where the query starts, behind its `?`.
    #[inline(always)]
    pub(super) fn query(&self) -> Option<usize> {
        (self.path_end < self.url.len()).then_some(self.path_end + 1)
    }

    /// What stands between `&` in the query that starts at `query`: one pair at least.
    #[inline(always)]
    pub(super) fn pairs(&self, query: usize) -> impl Iterator<Item = Pair> {
        let mut ends = Bits::new(self.marks.ampersand & from(query));
        let mut equals = Bits::new(self.marks.equals & from(query));
        let mut next = Some(query);
        let length = self.url.len();
        std::iter::from_fn(
            #[inline(always)]
            move || {
                let start = next?;
                let end = ends.first().min(length);
                next = (end < length).then_some(end + 1);
                ends.pop();
                let name_end = equals.first().min(end);
                // Those of this pair are done with.
                while equals.first() < end {
                    equals.pop();
                }
                Some(Pair { start, name_end, end })
            },
        )
    }
}

/// Whether the names of a query that starts there are in ascending order by two bytes, and `stays` holds
/// for each parameter that may be one of `starts`. `false` may only mean that it was not looked into.
#[inline(always)]
pub(super) fn are_in_order<V: Vector, const N: usize>(
    glance: &Glance<'_, V, N>,
    query: usize,
    starts: &Starts,
    stays: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut ends = Bits(glance.find(b'&'));
    // Those of the path are done with.
    while ends.first() < query {
        ends.pop();
    }
    let (mut start, mut before) = (query, 0);
    loop {
        let (first, second) = (glance.byte(start), glance.byte(start + 1));
        let end = ends.first().min(glance.length);
        // What stands behind a name comes before any byte of one.
        let is_short = start + 1 >= end || second == b'=';
        let name = u32::from(first) << 9 | if is_short { 0 } else { 1 << 8 | u32::from(second) };
        // A last parameter without a name would be judged by what stands behind the URL.
        if start >= glance.length || name <= before {
            return false;
        }
        if starts.hold(first, second) && !stays(&glance.url()[start..end]) {
            return false;
        }
        before = name;
        if end == glance.length {
            return true;
        }
        start = end + 1;
        ends.pop();
    }
}

/// Whether two slashes stand together in a path. A search for both at once costs more to begin with than a
/// path takes.
pub(super) fn has_double_slash(path: &[u8]) -> bool {
    memchr::memchr_iter(b'/', path).any(|at| path.get(at + 1) == Some(&b'/'))
}

/// The bits of a mask, one after the other: in words, which take half the instructions.
struct Bits<const N: usize>([u64; N]);

impl Bits<2> {
    #[inline(always)]
    fn new(mask: u128) -> Self {
        Self([mask as u64, (mask >> 64) as u64])
    }
}

impl<const N: usize> Bits<N> {
    /// The lowest one; 64 times `N` where there is none.
    #[inline(always)]
    fn first(&self) -> usize {
        first(self.0)
    }

    #[inline(always)]
    fn pop(&mut self) {
        let mut at = 0;
        for i in 0..N - 1 {
            at += usize::from(at == i && self.0[i] == 0);
        }
        self.0[at] &= self.0[at].wrapping_sub(1);
    }
}

/// The bits from `start` on.
#[inline(always)]
fn from(start: usize) -> u128 {
    if start < 128 { u128::MAX << start } else { 0 }
}

/// The most pairs that are put in order here.
const MOST: usize = 16;

/// A few pairs, to be put in order.
#[derive(Default)]
pub(super) struct Pairs {
    pairs: [Pair; MOST],
    length: usize,
}

impl Pairs {
    /// Adds a pair; `None` where there is no room.
    #[inline]
    pub(super) fn push(&mut self, pair: Pair) -> Option<()> {
        *self.pairs.get_mut(self.length)? = pair;
        self.length += 1;
        Some(())
    }

    /// Orders them, equal ones as they came. They are few, and mostly in order.
    #[inline]
    pub(super) fn sort(&mut self, precedes: impl Fn(Pair, Pair) -> bool) {
        for i in 1..self.length {
            let mut at = i;
            while at > 0 && precedes(self.pairs[at], self.pairs[at - 1]) {
                self.pairs.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[Pair] {
        &self.pairs[..self.length]
    }
}
