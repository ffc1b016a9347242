//! URIs in free text (RFC 3986 Appendix C).
//!
//! Every URI has a colon, so the text is searched for colons. From a colon, a scan backwards finds the
//! scheme and the delimiter before the URI, and a scan forwards its end. The next search starts after
//! both. The few forward scans that find nothing stop at a byte that also stops the next scan, or at
//! its start, so the time is linear.

use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::bytes::DebugBytes;
use crate::bytes::set::{self, AsciiSet};
use crate::profile::scheme::{self, Kind};

/// A URI that [`extract`] found.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundUri<'a> {
    /// Its range in the text, without delimiters.
    pub span: Range<usize>,
    /// The URI: the bytes of the range, without the white space that angle brackets allow.
    pub uri: Cow<'a, [u8]>,
}

impl fmt::Debug for FoundUri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundUri")
            .field("span", &self.span)
            .field("uri", &DebugBytes(&self.uri))
            .finish()
    }
}

/// Finds the URIs in free text, in order, by the delimiters of Appendix C.
///
/// ```
/// use uniqurl::uri::extract;
///
/// let text = b"Yes, Jim, I found it under \"http://www.w3.org/Addressing/\",
///     but you can probably pick it up from <ftp://foo.example.
///     com/rfc/>.  Note the warning in <http://www.ics.uci.edu/pub/
///     ietf/uri/historical.html#WARNING>.";
/// let uris: Vec<_> = extract(text).map(|found| found.uri).collect();
/// assert_eq!(uris, [
///     &b"http://www.w3.org/Addressing/"[..],
///     b"ftp://foo.example.com/rfc/",
///     b"http://www.ics.uci.edu/pub/ietf/uri/historical.html#WARNING",
/// ]);
/// ```
///
/// # Start of a URI
///
/// A scheme of at least two characters (`C:\` has none), the longest that ends at the colon. After it
/// comes `//`. Anything may follow if the scheme is one of `geo` `magnet` `mailto` `sip` `sips` `sms`
/// `tel` `urn` `xmpp`, or if `URL:` precedes it, in either case and with or without white space
/// between, and no letter, digit, `+`, `-` or `.` before that. If the scheme ends in a full stop and
/// one of `http` `https` `ftp` `ws` `wss`, the sentence before lacked its space, and the scheme starts
/// after the full stop. Relative references and names like `www.example.com` are not found: only a
/// reader can recognize them.
///
/// # End of a URI
///
/// - **In angle brackets**, which come directly before the scheme or the `URL:` (except for white
///   space): at the closing bracket. White space inside is not part of the URI; a hyphen before it
///   stays. White space requires `//` or `URL:`, and the brackets must not hold a `"`, a control
///   character or an empty line. Otherwise the next rules apply.
/// - **In double quotes**, likewise: at the closing quote, unless white space, a control character or
///   an angle bracket comes before it. Otherwise the next rule applies. Punctuation in the quotes
///   belongs to the URI.
/// - **Elsewhere** before white space, a control character, one of ``"<>\^`{|}``, or a `)` or `]` that
///   nothing in the URI opened. Bytes from 0x80 on belong to the URI although the grammar lacks them,
///   except the UTF-8 of spaces and punctuation: U+0080-00BF, U+2000-206F without the dashes
///   U+2010-2015, U+3000-303F, U+FEFF, U+FF01-FF0F, U+FF1A-FF20, U+FF3B-FF40 and U+FF5B-FF65. Finally
///   each `.` `,` `:` `;` `!` `?` `'` `(` `[` at its end is left to the text.
///
/// If nothing follows `scheme:` or `scheme://`, there is no URI. Nothing else is checked: use a
/// [`Normalizer`](crate::Normalizer) to validate the result.
pub fn extract(text: &[u8]) -> impl Iterator<Item = FoundUri<'_>> + Clone {
    // Starts of the search for the next colon, and of the text that belongs to no URI yet.
    let (mut from, mut free) = (0, 0);
    iter::from_fn(move || {
        while let Some(found) = memchr(b':', &text[from..]) {
            let colon = from + found;
            from = colon + 1;
            let Some(start) = Start::find(text, free, colon) else { continue };
            let Some((end, uri)) = start.read(text) else { continue };
            (from, free) = (end, end);
            return Some(FoundUri { span: start.at..end, uri });
        }
        None
    })
}

/// Schemes that need no `//` to be recognized. They are registered, and none is an everyday word.
const KNOWN: [&[u8]; 9] =
    [b"geo", b"magnet", b"mailto", b"sip", b"sips", b"sms", b"tel", b"urn", b"xmpp"];

/// The start of a URI, if something follows.
struct Start {
    /// Offset of the scheme.
    at: usize,
    /// Offset of the rest, after the colon or the `//`.
    body: usize,
    /// True if there is no doubt: the URI has `//`, or `URL:` in front.
    certain: bool,
    /// The byte before the scheme or the `URL:`, ignoring white space.
    before: Option<u8>,
}

impl Start {
    /// Finds the start whose scheme ends at `colon` and does not extend before `free`.
    fn find(text: &[u8], free: usize, colon: usize) -> Option<Self> {
        let run = text[free..colon].iter().rev().take_while(|byte| set::SCHEME.contains(**byte));
        let run = &text[colon - run.count()..colon];
        // A scheme begins with a letter. Digits and signs before that belong to the text.
        let letter = run.iter().position(|byte| set::ALPHA.contains(*byte))?;
        let mut name = &run[letter..];
        if let Some(stop) = name.iter().rposition(|byte| *byte == b'.') {
            let last = name[stop + 1..].to_ascii_lowercase();
            if scheme::facts(&last).kind == Kind::Network {
                name = &name[stop + 1..];
            }
        }
        if name.len() < 2 {
            return None;
        }
        let at = colon - name.len();
        let mut context = text[free..at].trim_ascii_end();
        let slashes = text[colon + 1..].starts_with(b"//");
        let mut certain = slashes;
        if let Some((rest, prefix)) = context.split_last_chunk::<4>()
            && prefix.eq_ignore_ascii_case(b"url:")
            && rest.last().is_none_or(|byte| !set::SCHEME.contains(*byte))
        {
            (context, certain) = (rest.trim_ascii_end(), true);
        }
        if !certain && !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return None;
        }
        let body = colon + if slashes { 3 } else { 1 };
        Some(Self { at, body, certain, before: context.last().copied() })
    }

    /// The end of the URI and the URI, by the first rule that applies.
    fn read<'a>(&self, text: &'a [u8]) -> Option<(usize, Cow<'a, [u8]>)> {
        let rest = &text[self.body..];
        let delimited = match self.before {
            Some(b'<') => self.in_brackets(rest),
            Some(b'"') => in_quotes(rest),
            _ => None,
        };
        let length = delimited.unwrap_or_else(|| bare(rest));
        if length == 0 {
            return None;
        }
        let end = self.body + length;
        let uri = &text[self.at..end];
        if delimited.is_some() && has_blank(uri) {
            let without = uri.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
            return Some((end, without.collect()));
        }
        Some((end, Cow::Borrowed(uri)))
    }

    /// Length of the text before the `>`, without trailing white space.
    fn in_brackets(&self, rest: &[u8]) -> Option<usize> {
        // Another bracket or a quotation mark before the closing one means that the first bracket
        // was none of a URI.
        let end = memchr3(b'>', b'<', b'"', rest).filter(|end| rest[*end] == b'>')?;
        if !has_blank(&rest[..end]) {
            return (end > 0).then_some(end);
        }
        let mut length = 0;
        let mut breaks = 0;
        for (i, &byte) in rest[..end].iter().enumerate() {
            match byte {
                // An empty line: the bracket of this paragraph never closes.
                b'\n' if breaks == 1 => return None,
                b'\n' => breaks += 1,
                _ if byte.is_ascii_whitespace() => {}
                _ if byte.is_ascii_control() => return None,
                _ if length < i && !self.certain => return None,
                _ => {
                    length = i + 1;
                    breaks = 0;
                }
            }
        }
        (length > 0).then_some(length)
    }
}

/// True if a text holds white space or a control character. It reads all of the text, which is faster
/// than stopping at the first.
fn has_blank(text: &[u8]) -> bool {
    text.iter().fold(false, |any, byte| any | (*byte <= b' ') | (*byte == 0x7F))
}

/// Length of the text before the closing quote, if nothing forbidden comes before it.
fn in_quotes(rest: &[u8]) -> Option<usize> {
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'<' | b'>' | b' ') || byte.is_ascii_control())?;
    (rest[end] == b'"' && end > 0).then_some(end)
}

/// ASCII that a URI may hold. The grammar has no other ASCII, so the rest delimits URIs.
const URI: AsciiSet = set::QUERY.or(AsciiSet::of(b"%#[]"));
/// Bytes that never end a URI. A table, since each byte is looked up.
const PLAIN: [bool; 256] = URI.without(AsciiSet::of(b"()[]")).table();

/// Length of the text before the first delimiter, without final punctuation.
fn bare(rest: &[u8]) -> usize {
    let mut open = [0usize; 2];
    let mut end = 0;
    loop {
        end += rest[end..].iter().take_while(|byte| PLAIN[usize::from(**byte)]).count();
        let ends = match rest.get(end) {
            Some(byte @ (b'(' | b'[')) => {
                open[usize::from(*byte == b'[')] += 1;
                false
            }
            Some(byte @ (b')' | b']')) => {
                let open = &mut open[usize::from(*byte == b']')];
                let unopened = *open == 0;
                *open = open.saturating_sub(1);
                unopened
            }
            Some(0x80..) => is_punctuation(&rest[end..]),
            _ => true,
        };
        if ends {
            break;
        }
        end += 1;
    }
    let is_final = |byte: &&u8| b".,:;!?'([".contains(*byte);
    end - rest[..end].iter().rev().take_while(is_final).count()
}

/// True if `bytes` start with white space or punctuation beyond ASCII, in UTF-8.
fn is_punctuation(bytes: &[u8]) -> bool {
    match *bytes {
        [0xC2, 0x80..=0xBF, ..] => true,
        [0xE2, 0x80, last @ 0x80..=0xBF, ..] => !(0x90..=0x95).contains(&last),
        [0xE2, 0x81, 0x80..=0xAF, ..] => true,
        [0xE3, 0x80, 0x80..=0xBF, ..] => true,
        [0xEF, 0xBB, 0xBF, ..] => true,
        [0xEF, 0xBC, 0x81..=0x8F | 0x9A..=0xA0 | 0xBB..=0xBF, ..] => true,
        [0xEF, 0xBD, 0x80 | 0x9B..=0xA5, ..] => true,
        _ => false,
    }
}
