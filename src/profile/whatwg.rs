//! The sets and schemes of the URL Standard (<https://url.spec.whatwg.org/>), for the profile `whatwg`.
//!
//! The standard names percent-encode sets by the bytes they encode. Here a set holds the bytes that
//! stay literal, which never include 0x80 and above.

use crate::bytes::set::AsciiSet;

/// Outside the C0 control percent-encode set (section 1.3), which hosts and opaque paths use.
const PRINTABLE: AsciiSet = AsciiSet::range(0x20, 0x7E);
/// Outside the fragment percent-encode set.
const FRAGMENT: AsciiSet = PRINTABLE.without(AsciiSet::of(b" \"<>`"));
/// Outside the query percent-encode set.
const QUERY: AsciiSet = PRINTABLE.without(AsciiSet::of(b" \"#<>"));
/// Outside the special-query percent-encode set.
const SPECIAL_QUERY: AsciiSet = QUERY.without(AsciiSet::of(b"'"));
/// Outside the path percent-encode set.
const PATH: AsciiSet = QUERY.without(AsciiSet::of(b"?^`{}"));
/// Outside the userinfo percent-encode set.
const USERINFO: AsciiSet = PATH.without(AsciiSet::of(b"/:;=@[\\]|"));

/// The forbidden host code points (section 3.2).
const FORBIDDEN_HOST: AsciiSet = AsciiSet::of(b"\0\t\n\r #/:<>?@[\\]^|");
/// The forbidden domain code points.
const FORBIDDEN_DOMAIN: AsciiSet =
    FORBIDDEN_HOST.or(AsciiSet::range(0, 0x1F)).or(AsciiSet::of(b"%\x7F"));

/// The components in which a byte may stay literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Place {
    /// A host of a non-special scheme, after the check for forbidden bytes; an opaque path.
    Opaque = 1,
    Userinfo = 2,
    Path = 4,
    Query = 8,
    /// The query of a special scheme.
    SpecialQuery = 16,
    Fragment = 32,
    /// A domain. Bytes that it does not allow are rejected, not encoded.
    Domain = 64,
    /// The same for a host of a non-special scheme.
    Host = 128,
}

/// For each byte, the components in which it stays literal.
const CLASS: [u8; 256] = {
    let sets = [PRINTABLE, USERINFO, PATH, QUERY, SPECIAL_QUERY, FRAGMENT];
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let mut bit = 0;
        while bit < sets.len() {
            class[byte] |= (sets[bit].contains(byte as u8) as u8) << bit;
            bit += 1;
        }
        class[byte] |= (!FORBIDDEN_DOMAIN.contains(byte as u8) as u8) << 6
            | (!FORBIDDEN_HOST.contains(byte as u8) as u8) << 7;
        byte += 1;
    }
    class
};

impl Place {
    /// True if `byte` stays literal in this component.
    #[inline(always)]
    pub(crate) fn allows(self, byte: u8) -> bool {
        CLASS[byte as usize] & self as u8 != 0
    }
}

/// Bytes that may follow the host of a clean URL: those that stay literal in path, query and fragment
/// alike. A `\` would become a slash. `%` and `'` are checked separately.
pub(crate) const CLEAN_TAIL: AsciiSet = PATH.without(AsciiSet::of(b"'\\")).or(AsciiSet::of(b"?#"));

// A byte that the scanner calls clean must be literal in each component that it may stand in.
const _: () = {
    assert!(crate::bytes::set::CLEAN_HOST.is_subset(PRINTABLE.without(FORBIDDEN_DOMAIN)));
    assert!(CLEAN_TAIL.is_subset(SPECIAL_QUERY.or(AsciiSet::of(b"#"))));
    assert!(CLEAN_TAIL.is_subset(FRAGMENT));
    assert!(crate::bytes::set::CLEAN_HOST.without(AsciiSet::of(b"'")).is_subset(CLEAN_TAIL));
};

/// The kind of a scheme in the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A special scheme (section 4.2) with this default port.
    Special(u16),
    /// `file`, which is special too, has no port, and knows drive letters.
    File,
    /// Any other.
    Other,
}

impl Kind {
    /// The kind of the scheme `name`, which is in lower case.
    pub(crate) fn of(name: &[u8]) -> Self {
        match name {
            b"https" | b"wss" => Kind::Special(443),
            b"http" | b"ws" => Kind::Special(80),
            b"ftp" => Kind::Special(21),
            b"file" => Kind::File,
            _ => Kind::Other,
        }
    }

    pub(crate) fn is_special(self) -> bool {
        self != Kind::Other
    }
}
