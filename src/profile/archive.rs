//! The rules of web-archive index keys, for the profile `ia`.
//!
//! The indexers of web archives share these steps. They began as Google's Safe Browsing
//! canonicalization, which decodes repeatedly, plus folding of case, `www` and session ids.
//! Their order is code, in `normalize/ia/`.

use super::starts::Starts;
use crate::bytes::set::{self, ALPHA, AsciiSet, DIGIT, UPPER};

/// Schemes that name records of an archive file; their URLs stay unchanged.
pub(crate) const RECORDS: [&[u8]; 2] = [b"filedesc", b"warcinfo"];

/// A first label of a host that is removed, with any digits after it.
pub(crate) const PREFIX: &[u8; 3] = b"www";

/// Ends of query parameters that identify a session, in the order in which the indexers look for them.
pub(crate) static SESSIONS: [Session; 4] = [
    Session::hash(b"jsessionid"),
    Session::hash(b"phpsessid"),
    SID,
    Session { name: b"aspsessionid", letters: 8, length: 24, alphabet: ALPHA },
];
const SID: Session = Session::hash(b"sid");

/// Length of the shortest parameter that may end in a session id.
pub(crate) const SHORTEST_SESSION: usize = SID.total();

/// Two neighbouring parameters that identify a session together; anything may stand before the first
/// name.
pub(crate) const TWINS: [&[u8]; 2] = [b"cfid", b"cftoken"];

/// Length of the ids in path segments like `(s(ID))` and `(ID)`.
pub(crate) const SEGMENT_ID: usize = 24;
/// Text that must follow such a segment in the path.
pub(crate) const SEGMENT_PAGE: &[u8] = b".aspx";

/// Bytes that stay literal in path and query. Every other byte is a triplet with digits in lower
/// case, like the rest of the key.
pub(crate) const PLAIN: AsciiSet = AsciiSet::range(0x21, 0x7E).without(AsciiSet::of(b"%#"));

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

/// Bytes that may follow the host of a canonical URL without a separate check. Each `%` is checked
/// separately, and so is the byte that starts session segments.
pub(crate) const CLEAN_TAIL: AsciiSet = FOLDABLE_TAIL.without(UPPER);
/// The same for a URL that is canonical except for case.
pub(crate) const FOLDABLE_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b"("));

const _: () = assert!(FOLDABLE_TAIL.is_subset(PLAIN));

/// The starts of parameters that may identify a session together with the one before them.
pub(crate) static STARTS: Starts = {
    let mut starts = Starts::NONE;
    // The first of the two names may stand behind any bytes, so only the second can be found by its
    // start.
    starts.add(TWINS[1]);
    starts
};

/// True if a triplet of this value stays: the byte is not plain, and it is not a percent sign,
/// which would be decoded again.
pub(crate) fn keeps(value: u8) -> bool {
    value != b'%' && !PLAIN.contains(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_session_is_that_of_sid() {
        assert_eq!(SESSIONS.iter().map(Session::total).min(), Some(SHORTEST_SESSION));
    }
}
