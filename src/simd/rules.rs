//! What makes a URL clean: a type for each set of rules, for which the kernels are compiled.

use std::marker::PhantomData;
use std::ops::Range;

use crate::bytes::Triplet;
use crate::bytes::set::{self, AsciiSet};

/// Where the query of a URL is, once it was searched for.
pub type Query = Option<Range<usize>>;

/// What a URL has to look like to be its own canonical form.
pub trait Rules {
    /// The bytes that a host may hold.
    const HOST: AsciiSet = set::CLEAN_HOST;
    /// The bytes that the whole URL may hold, and those that may follow the host. Each `%` is checked by
    /// itself.
    const TAIL: AsciiSet;

    /// Whether question marks are left out of [`Rules::TAIL`] and searched for: a URL in which no byte
    /// has to be checked by itself is then known to have no query.
    const QUERIES: bool = false;

    /// Whether all triplets stay that [`Triplet::is_canonical`] accepts.
    const TRIPLETS_STAY: bool = false;

    /// Whether all bytes of `url` at the bits of `bad`, counted from `at`, stay nevertheless, with the
    /// bytes after them. They are outside [`Rules::TAIL`], or full stops after a slash. `query` is kept
    /// from block to block of a URL.
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool;

    /// Whether a host whose last label starts with `first` stays.
    #[inline(always)]
    fn last_label_stays(_first: u8) -> bool {
        true
    }
}

/// The normal form of RFC 3986 section 6.2, as far as it can be proven.
pub(crate) struct Rfc3986;

impl Rules for Rfc3986 {
    const TAIL: AsciiSet = set::CLEAN_TAIL;
    const TRIPLETS_STAY: bool = true;

    #[inline]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        all_bits(bad, at, |i| url[i] == b'%' && Triplet::is_canonical_at_start(&url[i..]))
    }
}

/// Whether `stays` holds for each bit of `bad`, counted from `at`.
#[inline(always)]
pub(crate) fn all_bits(mut bad: u128, at: usize, mut stays: impl FnMut(usize) -> bool) -> bool {
    while bad != 0 {
        if !stays(at + bad.trailing_zeros() as usize) {
            return false;
        }
        bad &= bad - 1;
    }
    true
}

/// Where the query of `url` is.
pub(crate) fn query_of(url: &[u8]) -> Range<usize> {
    let end = memchr::memchr(b'#', url).unwrap_or(url.len());
    memchr::memchr(b'?', &url[..end]).unwrap_or(end)..end
}

/// The tables of a set of rules, as the kernels look them up.
pub(super) struct Rows<R>(PhantomData<R>);

impl<R: Rules> Rows<R> {
    /// See [`AsciiSet::nibble_rows`].
    pub(super) const HOST: &'static [u8; 16] = &R::HOST.nibble_rows();
    /// The same for what stands behind the host.
    pub(super) const TAIL: &'static [u8; 16] = &R::TAIL.nibble_rows();
}
