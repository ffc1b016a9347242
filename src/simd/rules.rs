//! The rules that make a URL clean: one type for each set of rules. The kernels are compiled for each.

use std::marker::PhantomData;
use std::ops::Range;

use crate::bytes::Triplet;
use crate::bytes::set::{self, AsciiSet};

/// The range of the query, once it was searched for.
pub type Query = Option<Range<usize>>;

/// Rules under which a URL is its own canonical form.
pub trait Rules: Copy {
    /// The bytes that a host may hold.
    const HOST: AsciiSet = set::CLEAN_HOST;
    /// The bytes that may follow the host. All bytes of the URL are checked against it. Each `%` is
    /// checked separately.
    const TAIL: AsciiSet;

    /// True if question marks are left out of [`Rules::TAIL`] and searched for. A URL without any byte
    /// outside `TAIL` then has no query.
    const QUERIES: bool = false;

    /// True if every triplet that [`Triplet::is_canonical`] accepts is clean.
    const TRIPLETS_STAY: bool = false;

    /// True if all bytes of `url` at the bits of `bad`, counted from `at`, are clean nevertheless, with
    /// the bytes after them. They are outside [`Rules::TAIL`], or full stops after a slash. `query` is
    /// kept between the blocks of a URL.
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool;

    /// True if a host whose last label starts with `first` is clean.
    #[inline(always)]
    fn last_label_stays(_first: u8) -> bool {
        true
    }
}

/// The normal form of RFC 3986 section 6.2, as far as the kernels can prove it.
#[derive(Clone, Copy)]
pub(crate) struct Rfc3986;

impl Rules for Rfc3986 {
    const TAIL: AsciiSet = set::CLEAN_TAIL;
    const TRIPLETS_STAY: bool = true;

    #[inline]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        all_bits(bad, at, |i| url[i] == b'%' && Triplet::is_canonical_at_start(&url[i..]))
    }
}

/// True if `stays` holds for each bit of `bad`, counted from `at`.
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

/// The range of the query of `url`.
pub(crate) fn query_of(url: &[u8]) -> Range<usize> {
    // A question mark after the number sign belongs to the fragment.
    let end = memchr::memchr(b'#', url).unwrap_or(url.len());
    memchr::memchr(b'?', &url[..end]).unwrap_or(end)..end
}

/// The tables of a set of rules, in the form that the kernels look up.
pub(super) struct Rows<R>(PhantomData<R>);

impl<R: Rules> Rows<R> {
    /// See [`AsciiSet::nibble_rows`].
    pub(super) const HOST: &'static [u8; 16] = &R::HOST.nibble_rows();
    /// The same for the bytes after the host.
    pub(super) const TAIL: &'static [u8; 16] = &R::TAIL.nibble_rows();
}
