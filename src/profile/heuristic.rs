//! The data of the switches of `aggressive`: merges that no standard licenses, but that "some
//! applications" find by experience (RFC 3986 section 6.2.4).

use super::glob::{Case, Glob};
use super::starts::Starts;
use crate::bytes::set::{self, AsciiSet};

/// Names of pages that stand for their directory. Case is ignored.
pub(crate) const INDEX_PAGES: &[&[u8]] = &[
    b"index.asp",
    b"index.aspx",
    b"index.cfm",
    b"index.cgi",
    b"index.htm",
    b"index.html",
    b"index.jsp",
    b"index.php",
    b"index.pl",
    b"index.shtml",
    b"index.xhtml",
    b"default.asp",
    b"default.aspx",
    b"default.htm",
    b"default.html",
];

/// True if a segment that starts with these two bytes may be an index page.
#[inline(always)]
pub(crate) fn may_be_index_page(first: u8, second: u8) -> bool {
    // Compares both bytes at once, without a branch on the first.
    let start = u16::from_be_bytes([first, second]) | 0x2020;
    (start == u16::from_be_bytes(*b"in")) | (start == u16::from_be_bytes(*b"de"))
}

/// True if a segment is an index page.
#[inline]
pub(crate) fn is_index_page(segment: &[u8]) -> bool {
    // Two bytes decide about nearly all segments.
    matches!(segment, [first, second, ..] if may_be_index_page(*first, *second))
        && INDEX_PAGES.iter().any(|page| page.eq_ignore_ascii_case(segment))
}

/// Parameters that identify a session, whatever their value.
const SESSION_NAMES: &[&[u8]] = &[b"jsessionid", b"phpsessid"];
/// Parameters whose name starts like this identify a session too.
const SESSION_PREFIX: &[u8] = b"aspsessionid";
/// A parameter that identifies a session only if its value looks like an id.
const SESSION_SHORT: &[u8] = b"sid";
/// Number of hexadecimal digits of such a value.
const SESSION_DIGITS: usize = 32;

/// Bytes that may follow the host of a clean URL without a session id in its path. Each `%` is checked
/// separately, and so are the bytes that start session ids.
pub(crate) const CLEAN_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b";("));

/// First letters of the names of session parameters.
const fn is_initial(byte: u8) -> bool {
    matches!(byte, b'j' | b'J' | b'p' | b'P' | b'a' | b'A' | b's' | b'S')
}

/// True if the second of these bytes, a `;` or `(` in a path, may start a session id.
pub(crate) fn may_start_session(bytes: &[u8]) -> bool {
    match bytes {
        [_, b';', initial, ..] => is_initial(*initial),
        [b'/', b'(', letter, ..] => matches!(letter, b's' | b'S'),
        _ => false,
    }
}

/// True if a parameter of a query, or of a path segment after a `;`, is a session id. Case is ignored.
#[inline]
pub(crate) fn is_session(name: &[u8], value: &[u8]) -> bool {
    // One byte decides about nearly all names.
    if !name.first().is_some_and(|first| is_initial(*first)) {
        return false;
    }
    SESSION_NAMES.iter().any(|session| session.eq_ignore_ascii_case(name))
        || name
            .get(..SESSION_PREFIX.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(SESSION_PREFIX))
        || (name.eq_ignore_ascii_case(SESSION_SHORT)
            && value.len() == SESSION_DIGITS
            && value.iter().all(u8::is_ascii_hexdigit))
}

/// Adds the starts of session parameter names.
pub(crate) fn add_sessions(starts: &mut Starts) {
    for name in SESSION_NAMES.iter().chain(&[SESSION_PREFIX, SESSION_SHORT]) {
        starts.add(name);
    }
}

/// True if a segment is a session of ASP.NET, `(S(id))`.
pub(crate) fn is_session_segment(segment: &[u8]) -> bool {
    match segment {
        [b'(', b's' | b'S', b'(', id @ .., b')', b')'] => {
            !id.is_empty() && id.iter().all(u8::is_ascii_alphanumeric)
        }
        _ => false,
    }
}

/// The list of tracking parameters that ships with the program.
const TRACKING: &str = include_str!("../../data/tracking.txt");

/// The version of the list of tracking parameters.
pub fn tracking_version() -> u32 {
    let version = TRACKING.lines().find_map(|line| line.strip_prefix("# version: "));
    version.and_then(|version| version.parse().ok()).expect("the list has its version")
}

/// The patterns of the list.
pub(crate) fn tracking() -> impl Iterator<Item = Glob> {
    let lines = TRACKING.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| Glob::new(line.split('\t').next().unwrap_or_default().as_bytes()))
}

/// Tracking parameters match in any case: some senders change it.
pub(crate) const TRACKING_CASE: Case = Case::Ignored;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::profile::glob::Globs;

    #[test]
    fn every_line_of_the_parameter_list_has_a_pattern_and_a_source() {
        let mut before = String::new();
        for line in TRACKING.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (pattern, source) = line.split_once('\t').expect("a pattern, a tab, a source");
            assert!(!source.is_empty() && !source.contains('\t'), "{line}");
            // In a canonical URL these bytes are never written as triplets.
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~*".contains(&byte);
            assert!(pattern.bytes().all(plain) && !pattern.starts_with('*'), "{line}");
            assert!(before.as_str() < pattern, "{pattern} is sorted, and there once");
            before = pattern.to_owned();
        }
        assert_eq!(tracking_version(), Profile::Aggressive.version());
    }

    #[test]
    fn parameter_list_matches_trackers_and_not_ordinary_names() {
        let globs = Globs::new(tracking().collect(), TRACKING_CASE);
        for name in ["utm_source", "UTM_Campaign", "utm_", "fbclid", "gclid", "msclkid"] {
            assert!(globs.match_any(name.as_bytes()), "{name}");
        }
        for name in ["", "q", "id", "page", "utm", "ref", "source", "campaign", "sort", "p", "v"] {
            assert!(!globs.match_any(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn prefilter_rejects_ordinary_names() {
        let mut starts = Globs::new(tracking().collect(), TRACKING_CASE).starts().clone();
        add_sessions(&mut starts);
        let hold = |starts: &Starts, name: &str| {
            let mut first = [b'='; 4];
            first.iter_mut().zip(name.bytes()).for_each(|(to, byte)| *to = byte);
            starts.hold(u32::from_le_bytes(first))
        };
        for name in ["utm_source", "UTM_Campaign", "fbclid", "_ga", "phpsessid", "ASPSESSIONIDXX"] {
            assert!(hold(&starts, name), "{name}");
        }
        assert!(hold(&super::super::archive::STARTS, "CFTOKEN"));
        for name in [
            "a", "action", "author", "b", "c", "cat", "category", "color", "country", "date",
            "dir", "filter", "format", "from", "group", "height", "hl", "id", "ids", "index",
            "key", "lang", "limit", "locale", "max", "min", "mode", "month", "n", "name", "next",
            "offset", "order", "p", "page", "path", "per_page", "pid", "price", "product", "q",
            "query", "redirect", "ref", "s", "search", "session", "show", "size", "sort", "source",
            "start", "status", "t", "tab", "tag", "theme", "title", "to", "token", "type", "u",
            "url", "user", "v", "view", "width", "x", "year", "z", "zoom",
        ] {
            let held = hold(&starts, name) || hold(&super::super::archive::STARTS, name);
            assert!(!held, "{name}");
        }
    }
}
