//! Triplets of another charset, rewritten as UTF-8 before the profile acts.
//!
//! A URL is a sequence of runs: octets, raw or as triplets, that can be part of one text. An octet that no
//! charset here has inside a character ends a run, raw or as a triplet: 0x00-0x2F and 0x3A-0x3F, which
//! include nearly all delimiters. A raw `@` ends a run, too. So does any ASCII but a digit in a part whose
//! case does not matter, such as a host, and `%40` and brackets under a profile that respells delimiters.
//!
//! A run that is UTF-8 stays. Any other is decoded in the charset as a whole, even a part of it that looks
//! like UTF-8: one program wrote it, in one charset, and the octets of two characters may look like one of
//! UTF-8. A run that the charset cannot decode stays too.
//!
//! No profile that accepts a charset moves the end of a run, so a second rewrite changes nothing.

use std::ops::Range;

use crate::bytes::{Octet, Reject, decoded, octets};
use crate::normalize::Charset;
use crate::normalize::front::Front;
use crate::normalize::front::charset::transcode_each;
use crate::normalize::parts::{AuthorityParts, Parts};
use crate::normalize::ruleset::Ruleset;
use crate::profile::scheme::{self, Kind};
use crate::profile::{Grammar, Switch};
use crate::simd::UrlKind;

impl Ruleset {
    /// `url` with its triplets in UTF-8; `None` if nothing changes.
    pub(in crate::normalize) fn transcoded(&self, url: &[u8], kind: UrlKind) -> Option<Transcoded> {
        let charset = self.transcoding?;
        let delimiters = match self.takes_targets() {
            true => Delimiters::Respelled,
            // Written as triplets, the raw bytes would no longer be rejected.
            false if self.rejects_raw(url, kind) => return None,
            false => Delimiters::Kept,
        };
        transcode(url, charset, delimiters, || self.caseless(url, kind))
    }

    /// The same for a host, whose case does not matter.
    pub(in crate::normalize) fn transcoded_host(&self, host: &[u8]) -> Option<Transcoded> {
        transcode(host, self.transcoding?, Delimiters::Kept, || host.len())
    }

    /// Whether the grammar rejects a raw byte of 0x80 or above, in a component that is not dropped unread.
    fn rejects_raw(&self, url: &[u8], kind: UrlKind) -> bool {
        if self.profile.grammar != Grammar::Enforced || url.is_ascii() {
            return false;
        }
        let assumed = self.assume_for(kind, url);
        let mut parts = Parts::of(kind, &assumed.text);
        let scheme = parts.scheme.or(self.base_scheme()).unwrap_or_default().to_ascii_lowercase();
        if !self.profile.switches.contains(Switch::KeepUserinfo)
            && scheme::facts(&scheme).kind == Kind::Network
        {
            // It is dropped unread, so no byte in it rejects the URL.
            parts.authority = parts.authority.map(|all| AuthorityParts::split(all).host_port);
        }
        if !self.profile.switches.contains(Switch::KeepFragment) {
            parts.fragment = None;
        }
        let Parts { scheme, authority, path, query, fragment } = parts;
        !([scheme, authority, Some(path), query, fragment].into_iter().flatten())
            .all(<[u8]>::is_ascii)
    }

    /// The end of the part of `url` in which the profile may change the case of letters: a host, mail
    /// addresses, or a path.
    fn caseless(&self, url: &[u8], kind: UrlKind) -> usize {
        let lowers_path = self.profile.switches.contains(Switch::LowerPath);
        let path_end = memchr::memchr2(b'?', b'#', url).unwrap_or(url.len());
        let path_end = if lowers_path { path_end } else { 0 };
        if kind == UrlKind::Target {
            return path_end;
        }
        let trimmed = self.trim(url).unwrap_or(Front::whole(url));
        let assumed = self.assume(&trimmed.text);
        let parts = self.split(&assumed.text);
        let end = match (parts.scheme.or(self.base_scheme()), parts.authority) {
            (_, Some(_)) if parts.scheme.is_none() && self.takes_targets() => 0,
            (_, Some(_)) => parts.path_start(),
            (Some(scheme), None)
                if scheme.eq_ignore_ascii_case(b"mailto") && !self.takes_targets() =>
            {
                assumed.text.len()
            }
            (_, None) => 0,
        };
        path_end.max(trimmed.cut + assumed.place(end))
    }
}

/// A URL with its runs rewritten.
pub(in crate::normalize) struct Transcoded {
    pub(in crate::normalize) url: Vec<u8>,
    /// The old and new range of each character of a rewritten run, in order; raw ASCII is left out.
    edits: Vec<Edit>,
}

struct Edit {
    old: Range<usize>,
    new: Range<usize>,
}

/// Whether the profile decodes triplets of delimiters, or encodes delimiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiters {
    /// It does neither.
    Kept,
    /// It decodes or encodes some.
    Respelled,
}

/// The URL with its runs in UTF-8; `None` if nothing changes. The profile may change the case of
/// letters before `caseless`.
fn transcode(
    url: &[u8],
    from: Charset,
    delimiters: Delimiters,
    caseless: impl FnOnce() -> usize,
) -> Option<Transcoded> {
    // Most URLs hold no such octet, and need no split.
    if !has_octets(url) {
        return None;
    }
    let caseless = caseless();
    let mut out = Vec::new();
    let mut edits = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while at < url.len() {
        let end = run_end(url, at, delimiters, at < caseless);
        // An octet that ends runs starts none.
        if end == at {
            at += octets(&url[at..]).next().map_or(1, Octet::end);
            continue;
        }
        let run = &url[at..end];
        if std::str::from_utf8(&decoded(run)).is_err() {
            out.extend_from_slice(&url[copied..at]);
            copied = at;
            let (length, known) = (out.len(), edits.len());
            let add = |old: Range<usize>, new| {
                edits.push(Edit { old: at + old.start..at + old.end, new });
            };
            match transcode_each(run, from, Charset::UTF_8, &mut out, add) {
                Ok(()) => copied = end,
                Err(_) => {
                    out.truncate(length);
                    edits.truncate(known);
                }
            }
        }
        at = end;
    }
    if edits.is_empty() {
        return None;
    }
    out.extend_from_slice(&url[copied..]);
    Some(Transcoded { url: out, edits })
}

impl Transcoded {
    /// Maps a rejection of the rewritten URL to the original URL.
    pub(in crate::normalize) fn reject(&self, reject: Reject) -> Reject {
        reject.moved(|at| self.origin(at))
    }

    /// The offset in the original URL of an offset in the rewritten one.
    fn origin(&self, at: usize) -> usize {
        let before = self.edits.partition_point(|edit| edit.new.start <= at);
        let Some(edit) = before.checked_sub(1).and_then(|i| self.edits.get(i)) else { return at };
        match at.checked_sub(edit.new.end) {
            Some(behind) => edit.old.end + behind,
            None => edit.old.start,
        }
    }
}

/// Whether there is an octet of 0x80 or above, raw or as a triplet.
fn has_octets(url: &[u8]) -> bool {
    memchr::memchr_iter(b'%', url)
        .any(|at| matches!(url.get(at + 1), Some(b'8' | b'9' | b'A'..=b'F' | b'a'..=b'f')))
        || !url.is_ascii()
}

/// The end of the run that starts at `at`; `at` itself if none starts there.
fn run_end(url: &[u8], at: usize, delimiters: Delimiters, caseless: bool) -> usize {
    let ends_run = |octet: &Octet| match octet.value {
        0x00..=0x2F | 0x3A..=0x3F => true,
        value if caseless && !value.is_ascii_digit() && value < 0x80 => true,
        b'@' => !octet.encoded || delimiters == Delimiters::Respelled,
        b'[' | b']' => delimiters == Delimiters::Respelled,
        _ => false,
    };
    octets(&url[at..]).find(ends_run).map_or(url.len(), |octet| at + octet.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcode(url: &[u8], from: Charset, delimiters: Delimiters) -> Option<Transcoded> {
        let path = url.strip_prefix(b"http://").map_or(0, |_| url.len());
        super::transcode(url, from, delimiters, || path)
    }

    fn transcoded(url: &str) -> String {
        let url = url.as_bytes();
        let out =
            transcode(url, Charset::LATIN_1, Delimiters::Kept).map_or(url.to_vec(), |t| t.url);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn run_that_is_not_utf8_is_transcoded_as_a_whole() {
        for (url, expected) in [
            ("/%F6re%26bro%20", "/%C3%B6re%26bro%20"),
            ("/%C3%B6/%F6", "/%C3%B6/%C3%B6"),
            ("/%C3%B6%F6", "/%C3%83%C2%B6%C3%B6"),
            ("/%C3%B6-%F6", "/%C3%B6-%C3%B6"),
            ("/%C3%B6%2F%F6", "/%C3%B6%2F%C3%B6"),
            ("/%F6%zz", "/%C3%B6%zz"),
            ("/%f6%41", "/%C3%B6%41"),
            ("/a%25F6", "/a%25F6"),
            ("/plain", "/plain"),
        ] {
            assert_eq!(transcoded(url), expected, "{url}");
        }
    }

    #[test]
    fn offsets_map_back_to_the_original_url() {
        let url = b"/%F6/%E9a/x";
        let transcoded = transcode(url, Charset::LATIN_1, Delimiters::Kept).unwrap();
        assert_eq!(transcoded.url, b"/%C3%B6/%C3%A9a/x");
        let places = [0, 1, 3, 7, 8, 9, 14, 15, 16, 17].map(|at| transcoded.origin(at));
        assert_eq!(places, [0, 1, 1, 4, 5, 5, 8, 9, 10, 11]);
    }

    #[test]
    fn no_delimiter_becomes_part_of_a_character() {
        let sjis = Charset::for_label(b"shift_jis").unwrap();
        for byte in b"!\"#$&'()*+,-./:;<=>?@" {
            let url = [b"/%83", &[*byte][..], b"x"].concat();
            assert!(transcode(&url, sjis, Delimiters::Kept).is_none(), "{}", url.escape_ascii());
        }
        let encoded = transcode(b"/%83%40", sjis, Delimiters::Kept).unwrap();
        assert_eq!(encoded.url, b"/%E3%82%A1");
        assert!(transcode(b"/%83%40", sjis, Delimiters::Respelled).is_none());
        assert!(transcode(b"/%83%5B", sjis, Delimiters::Respelled).is_none());
        assert!(transcode(b"http://%83n/", sjis, Delimiters::Kept).is_none());
    }

    #[test]
    fn undecodable_octets_are_kept() {
        let sjis = Charset::for_label(b"shift_jis").unwrap();
        let read = |url: &[u8]| transcode(url, sjis, Delimiters::Kept).map(|t| t.url);
        assert_eq!(read(b"/%83n").as_deref(), Some(&b"/%E3%83%8F"[..]));
        assert_eq!(read(b"/%83n/%FF").as_deref(), Some(&b"/%E3%83%8F/%FF"[..]));
        assert_eq!(read(b"/%FF"), None);
        let raw = transcode(b"/%F6\xF6", Charset::LATIN_1, Delimiters::Kept).unwrap();
        assert_eq!(raw.url, b"/%C3%B6%C3%B6");
    }
}
