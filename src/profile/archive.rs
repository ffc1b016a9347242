//! What the key of existing web-archive indexes folds, for the profile `ia`.
//!
//! The steps are those that the indexers of web archives share; they began as Google's Safe Browsing
//! canonicalization, which decodes repeatedly, with folding of case, `www` and session ids added.
//! Their order is code, in [`url`](crate::url).

use super::starts::Starts;
use crate::bytes::set::{self, ALPHA, AsciiSet, DIGIT, UPPER};

/// The rules of such a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Archive {
    /// Schemes that name records of an archive file; their URLs are left alone.
    pub(crate) records: &'static [&'static [u8]],
    /// A first label of a host that goes, with any digits behind it.
    pub(crate) prefix: &'static [u8; 3],
    /// Query parameters that identify a session.
    pub(crate) sessions: &'static [Session],
    /// The first letters of those, and of the twins.
    pub(crate) initials: AsciiSet,
    /// Two parameters that identify one together.
    pub(crate) twins: [&'static [u8]; 2],
    /// Length of the ids in path segments like `(s(ID))` and `(ID)`.
    pub(crate) segment_id: usize,
    /// What has to come in the path behind such a segment.
    pub(crate) segment_page: &'static [u8],
    /// What stands as itself in path and query; every other byte is a triplet with digits in lower
    /// case, as the rest of the key is.
    pub(crate) plain: AsciiSet,
}

/// A parameter that identifies a session by the shape of its value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// In lower case.
    pub(crate) name: &'static [u8],
    /// Letters that follow the name before the equals sign.
    pub(crate) letters: usize,
    /// Length of the value, exactly.
    pub(crate) length: usize,
    /// What the value is made of.
    pub(crate) alphabet: AsciiSet,
}

const ALNUM: AsciiSet = ALPHA.or(DIGIT);

impl Session {
    const fn hash(name: &'static [u8]) -> Self {
        Self { name, letters: 0, length: 32, alphabet: ALNUM }
    }

    /// Length of the whole parameter.
    const fn total(&self) -> usize {
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
    initials: AsciiSet::of(b"acjps"),
    twins: [b"cfid", b"cftoken"],
    segment_id: 24,
    segment_page: b".aspx",
    plain: AsciiSet::range(0x21, 0x7E).without(AsciiSet::of(b"%#")),
};

/// What may follow the host of a URL that is its own form without a closer look; a `%` is looked at by
/// itself, and so is what session segments start with.
pub(crate) const CLEAN_TAIL: AsciiSet = FOLDABLE_TAIL.without(UPPER);
/// The same for one that is its own form but for case.
pub(crate) const FOLDABLE_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b"("));

const _: () = assert!(FOLDABLE_TAIL.is_subset(IA.plain));

/// How parameters start that may identify a session.
pub(crate) static STARTS: Starts = {
    let mut starts = Starts::NONE;
    let mut i = 0;
    while i < IA.sessions.len() {
        starts.add(IA.sessions[i].name);
        i += 1;
    }
    let mut i = 0;
    while i < IA.twins.len() {
        starts.add(IA.twins[i]);
        i += 1;
    }
    starts
};

/// Length of the shortest parameter that may go. A single one that is shorter stays.
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
    /// Whether a triplet of this value stays one: it is not plain, and no percent sign that would decode
    /// once more.
    pub(crate) fn keeps(&self, value: u8) -> bool {
        value != b'%' && !self.plain.contains(value)
    }
}
