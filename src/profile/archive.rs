//! The rules of web-archive index keys, for the profile `ia`.
//!
//! The indexers of web archives share these steps. They began as Google's Safe Browsing
//! canonicalization, which decodes repeatedly, plus folding of case, `www` and session ids.
//! Their order is code, in `normalize/ia/`.

use super::starts::Starts;
use crate::bytes::set::{self, ALPHA, AsciiSet, DIGIT, UPPER};

/// The rules of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Archive {
    /// Schemes that name records of an archive file; their URLs stay unchanged.
    pub(crate) records: &'static [&'static [u8]],
    /// A first label of a host that is removed, with any digits after it.
    pub(crate) prefix: &'static [u8; 3],
    /// Ends of query parameters that identify a session, in the order in which the indexers look for them.
    pub(crate) sessions: &'static [Session],
    /// Two neighbouring parameters that identify a session together; anything may stand before the first
    /// name.
    pub(crate) twins: [&'static [u8]; 2],
    /// Length of the ids in path segments like `(s(ID))` and `(ID)`.
    pub(crate) segment_id: usize,
    /// Text that must follow such a segment in the path.
    pub(crate) segment_page: &'static [u8],
    /// Bytes that stay literal in path and query. Every other byte is a triplet with digits in lower
    /// case, like the rest of the key.
    pub(crate) plain: AsciiSet,
}

/// The end of a parameter that identifies a session by the shape of its value. Anything may stand before
/// the name: the indexers take `a=x;jsessionid=ID` and `foosid=ID` too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// In lower case.
    pub(crate) name: &'static [u8],
    /// Letters that follow the name before the equals sign.
    pub(crate) letters: usize,
    /// Exact length of the value.
    pub(crate) length: usize,
    /// The bytes that the value may hold.
    pub(crate) alphabet: AsciiSet,
}

const ALNUM: AsciiSet = ALPHA.or(DIGIT);

impl Session {
    const fn hash(name: &'static [u8]) -> Self {
        Self { name, letters: 0, length: 32, alphabet: ALNUM }
    }

    /// Length of name and value.
    pub(crate) const fn total(&self) -> usize {
        self.name.len() + self.letters + 1 + self.length
    }
}

/// The rules of `ia@1`.
pub(crate) const IA: Archive = Archive {
    records: &[b"filedesc", b"warcinfo"],
    prefix: b"www",
    sessions: &[
        Session::hash(b"jsessionid"),
        Session::hash(b"phpsessid"),
        Session::hash(b"sid"),
        Session { name: b"aspsessionid", letters: 8, length: 24, alphabet: ALPHA },
    ],
    twins: [b"cfid", b"cftoken"],
    segment_id: 24,
    segment_page: b".aspx",
    plain: AsciiSet::range(0x21, 0x7E).without(AsciiSet::of(b"%#")),
};

/// Bytes that may follow the host of a canonical URL without a separate check. Each `%` is checked
/// separately, and so is the byte that starts session segments.
pub(crate) const CLEAN_TAIL: AsciiSet = FOLDABLE_TAIL.without(UPPER);
/// The same for a URL that is canonical except for case.
pub(crate) const FOLDABLE_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b"("));

const _: () = assert!(FOLDABLE_TAIL.is_subset(IA.plain));

/// The starts of parameters that may identify a session together with the one before them.
pub(crate) static STARTS: Starts = {
    let mut starts = Starts::NONE;
    starts.add(IA.twins[1]);
    starts
};

/// Length of the shortest parameter that may end in a session id.
pub(crate) const SHORTEST_SESSION: usize = {
    let mut shortest = usize::MAX;
    let mut i = 0;
    while i < IA.sessions.len() {
        if IA.sessions[i].total() < shortest {
            shortest = IA.sessions[i].total();
        }
        i += 1;
    }
    shortest
};

impl Archive {
    /// True if a triplet of this value stays: the byte is not plain, and it is not a percent sign,
    /// which would be decoded again.
    pub(crate) fn keeps(&self, value: u8) -> bool {
        value != b'%' && !self.plain.contains(value)
    }
}
