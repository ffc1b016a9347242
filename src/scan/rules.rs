//! What makes a URL clean: one type for each set of rules, to which the kernels are translated.

use std::marker::PhantomData;
use std::ops::Range;

use crate::profile::set::{self, AsciiSet};
use crate::profile::whatwg;
use crate::url::Triplet;

/// What a URL has to look like to be its own canonical form.
pub(crate) trait Rules {
    /// What a host holds.
    const HOST: AsciiSet;
    /// What the whole URL holds, and what may stand behind the host. A `%` is looked at by itself.
    const TAIL: AsciiSet;

    /// Whether all bytes of `url` at the bits of `bad`, counted from `at`, stay nevertheless, with what
    /// follows them: they are outside of [`Rules::TAIL`], or full stops behind a slash.
    fn bad_stays(url: &[u8], at: usize, bad: u128) -> bool;

    /// Whether a host whose last label starts with `first` stays.
    fn last_label_stays(first: u8) -> bool;
}

/// Every rung of the ladder of RFC 3986 section 6.2.
pub(super) struct Ladder;

impl Rules for Ladder {
    const HOST: AsciiSet = set::CLEAN_HOST;
    const TAIL: AsciiSet = set::CLEAN_TAIL;

    /// A triplet does that a normalizer leaves as it is.
    #[inline]
    fn bad_stays(url: &[u8], at: usize, mut bad: u128) -> bool {
        while bad != 0 {
            let bytes = &url[at + bad.trailing_zeros() as usize..];
            if bytes[0] != b'%' || !Triplet::read(bytes).is_some_and(Triplet::is_canonical) {
                return false;
            }
            bad &= bad - 1;
        }
        true
    }

    #[inline(always)]
    fn last_label_stays(_: u8) -> bool {
        true
    }
}

/// The URL Standard.
pub(super) struct Browser;

impl Rules for Browser {
    const HOST: AsciiSet = set::CLEAN_HOST;
    const TAIL: AsciiSet = whatwg::CLEAN_TAIL.without(AsciiSet::of(b"%"));

    /// Triplets stay and need not be any, but `%2e` may be a dot segment. An apostrophe stays outside
    /// of queries.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, mut bad: u128) -> bool {
        let mut query = None;
        while bad != 0 {
            let i = at + bad.trailing_zeros() as usize;
            let stays = match &url[i..] {
                [b'%', b'2', b'e' | b'E', ..] => false,
                [b'%', ..] => true,
                [b'\'', ..] => !query.get_or_insert_with(|| query_of(url)).contains(&i),
                _ => false,
            };
            if !stays {
                return false;
            }
            bad &= bad - 1;
        }
        true
    }

    /// A host that ends in a number is an IPv4 address, and numbers start with a digit.
    #[inline(always)]
    fn last_label_stays(first: u8) -> bool {
        !first.is_ascii_digit()
    }
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
    /// Whether all marks are to be looked for.
    pub(super) rest: bool,
}

impl Asked {
    /// These bytes, beside slashes and the question mark.
    pub(crate) const fn new(set: AsciiSet) -> Self {
        Self { others: others(set), rest: false }
    }

    /// These bytes, beside all other marks.
    pub(crate) const fn with_rest(set: AsciiSet) -> Self {
        Self { others: others(set), rest: true }
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        byte >= 0x80 || self.others[usize::from(byte & 15)] >> (byte >> 4) & 1 == 0
    }
}

/// Which marks are made.
pub(crate) trait Depth {
    const REST: bool;
}

/// Slashes, the question mark, and what is asked for.
pub(super) struct Few;

impl Depth for Few {
    const REST: bool = false;
}

/// All of them.
pub(super) struct All;

impl Depth for All {
    const REST: bool = true;
}

const fn others(set: AsciiSet) -> [u8; 16] {
    AsciiSet::range(0, 0x7F).without(set).nibble_rows()
}

/// All but capital letters, likewise.
pub(super) const NOT_UPPER: &[u8; 16] = &others(set::UPPER);

/// The tables of a set of rules, as the kernels look them up.
pub(super) struct Rows<R>(PhantomData<R>);

impl<R: Rules> Rows<R> {
    /// See [`AsciiSet::nibble_rows`].
    pub(super) const HOST: &'static [u8; 16] = &R::HOST.nibble_rows();
    /// The same for what stands behind the host.
    pub(super) const TAIL: &'static [u8; 16] = &R::TAIL.nibble_rows();
}
