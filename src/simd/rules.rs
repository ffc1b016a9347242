//! What makes a URL clean: one type for each set of rules, to which the kernels are translated.

use std::marker::PhantomData;
use std::ops::Range;

use crate::normalize::Triplet;
use crate::profile::set::{self, AsciiSet};
use crate::profile::{archive, heuristic, sanitize, servlet, whatwg};

const QUESTION: AsciiSet = AsciiSet::of(b"?");

/// Where the query of a URL is, once somebody asked.
pub(super) type Query = Option<Range<usize>>;

/// What a URL has to look like to be its own canonical form.
pub(crate) trait Rules {
    /// What a host holds.
    const HOST: AsciiSet = set::CLEAN_HOST;
    /// What the whole URL holds, and what may stand behind the host. A `%` is looked at by itself.
    const TAIL: AsciiSet;

    /// Whether question marks are looked for, and so are not in [`Rules::TAIL`]: where no other byte is
    /// looked at by itself, it is soon known that there is no query.
    const QUERIES: bool = false;

    /// Whether the triplets stay that the ladder leaves.
    const TRIPLETS_STAY: bool = false;

    /// Whether all bytes of `url` at the bits of `bad`, counted from `at`, stay nevertheless, with what
    /// follows them: they are outside of [`Rules::TAIL`], or full stops behind a slash. The query is looked for
    /// once for all blocks of a URL.
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool;

    /// Whether a host whose last label starts with `first` stays.
    #[inline(always)]
    fn last_label_stays(_first: u8) -> bool {
        true
    }
}

/// Every rung of the ladder of RFC 3986 section 6.2.
pub(crate) struct Ladder;

impl Rules for Ladder {
    const TAIL: AsciiSet = set::CLEAN_TAIL;
    const TRIPLETS_STAY: bool = true;

    /// A triplet does that a normalizer leaves as it is.
    #[inline]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        each(bad, at, |i| url[i] == b'%' && is_canonical_triplet(&url[i..]))
    }
}

/// The sanitizer: the ladder, and no triplets but those that nobody hides anything in.
pub(crate) struct Unescaped;

impl Rules for Unescaped {
    const TAIL: AsciiSet = set::CLEAN_TAIL;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        let stays =
            |triplet: Triplet| triplet.is_canonical() && sanitize::is_harmless(triplet.value);
        each(bad, at, |i| url[i] == b'%' && Triplet::read(&url[i..]).is_some_and(stays))
    }
}

/// A servlet container: the ladder, and a path that is mapped as it stands but for its empty segments,
/// which are not looked for.
pub(crate) struct Container;

impl Rules for Container {
    const TAIL: AsciiSet = servlet::CLEAN_TAIL;

    /// What a path does not keep stays in a query.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        let query = query.get_or_insert_with(|| query_of(url));
        each(bad, at, |i| match url[i] {
            b'%' => query.contains(&i) && is_canonical_triplet(&url[i..]),
            b';' => query.contains(&i),
            _ => false,
        })
    }
}

/// Merges by experience: the ladder, and no session id in the path. The rest is not looked for.
pub(crate) struct Experience;

impl Rules for Experience {
    const TAIL: AsciiSet = heuristic::CLEAN_TAIL.without(QUESTION);
    const QUERIES: bool = true;
    const TRIPLETS_STAY: bool = true;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        each(bad, at, |i| match url[i] {
            b'%' => is_canonical_triplet(&url[i..]),
            b'(' | b';' => !heuristic::may_start_session(&url[i - 1..]),
            _ => false,
        })
    }
}

/// The keys of web-archive indexes: a host that the ladder leaves, and a path and a query that hold
/// nothing to decode, to encode or to fold, and no session segment. The rest is not looked for.
pub(crate) struct Index;

impl Rules for Index {
    const TAIL: AsciiSet = archive::CLEAN_TAIL.without(QUESTION);
    const QUERIES: bool = true;

    /// Capital letters, as digits too, are among the bytes that do not.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        let archive = &archive::IA;
        each(bad, at, |i| match url[i] {
            b'%' => Triplet::read(&url[i..]).is_some_and(|triplet| archive.keeps(triplet.value)),
            // A session segment starts with it.
            b'(' => url[i - 1] != b'/',
            _ => false,
        })
    }
}

/// The same, but for case, which is folded as it is written.
pub(crate) struct Foldable;

impl Rules for Foldable {
    const TAIL: AsciiSet = archive::FOLDABLE_TAIL.without(QUESTION);
    const QUERIES: bool = true;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        Index::bad_stays(url, at, bad, query)
    }
}

/// The URL Standard.
pub(super) struct Browser;

impl Rules for Browser {
    const TAIL: AsciiSet = whatwg::CLEAN_TAIL.without(AsciiSet::of(b"%"));

    /// Triplets stay and need not be any, but `%2e` may be a dot segment. An apostrophe stays outside
    /// of queries.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        each(bad, at, |i| match &url[i..] {
            [b'%', b'2', b'e' | b'E', ..] => false,
            [b'%', ..] => true,
            [b'\'', ..] => !query.get_or_insert_with(|| query_of(url)).contains(&i),
            _ => false,
        })
    }

    /// A host that ends in a number is an IPv4 address, and numbers start with a digit.
    #[inline(always)]
    fn last_label_stays(first: u8) -> bool {
        !first.is_ascii_digit()
    }
}

/// Whether `stays` holds for each bit of `bad`, counted from `at`.
#[inline(always)]
fn each(mut bad: u128, at: usize, mut stays: impl FnMut(usize) -> bool) -> bool {
    while bad != 0 {
        if !stays(at + bad.trailing_zeros() as usize) {
            return false;
        }
        bad &= bad - 1;
    }
    true
}

/// Whether the triplet at the start of `bytes`, which starts with `%`, is one that the ladder leaves.
#[inline]
fn is_canonical_triplet(bytes: &[u8]) -> bool {
    Triplet::read(bytes).is_some_and(Triplet::is_canonical)
}

/// Where the query of `url` is.
fn query_of(url: &[u8]) -> Range<usize> {
    let end = memchr::memchr(b'#', url).unwrap_or(url.len());
    memchr::memchr(b'?', &url[..end]).unwrap_or(end)..end
}

/// A set of bytes to ask for, as the kernels look it up: by the rows of all others. A complement that
/// is taken of the mask instead makes compilers take vectors apart, bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(super) others: [u8; 16],
}

impl Asked {
    /// These bytes.
    pub(crate) const fn new(set: AsciiSet) -> Self {
        Self { others: AsciiSet::range(0, 0x7F).without(set).nibble_rows() }
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        byte >= 0x80 || self.others[usize::from(byte & 15)] >> (byte >> 4) & 1 == 0
    }
}

/// The tables of a set of rules, as the kernels look them up.
pub(super) struct Rows<R>(PhantomData<R>);

impl<R: Rules> Rows<R> {
    /// See [`AsciiSet::nibble_rows`].
    pub(super) const HOST: &'static [u8; 16] = &R::HOST.nibble_rows();
    /// The same for what stands behind the host.
    pub(super) const TAIL: &'static [u8; 16] = &R::TAIL.nibble_rows();
}
