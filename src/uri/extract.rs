//! URIs in free text (RFC 3986 Appendix C).
//!
//! Whatever is a URI has a colon, so the text is searched for colons. From one, a look back finds the
//! scheme and what delimits the URI, a look ahead its end. The next search goes on behind both; the
//! few looks ahead that lead to nothing stop at a byte that stops the next one too, or at its start,
//! so the whole is linear.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::bytes::DebugBytes;
use crate::bytes::set::{self, AsciiSet};
use crate::profile::scheme::{self, Kind};

/// A URI that [`extract`] found.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundUri<'a> {
    /// Where it stands in the text, without its delimiters.
    pub span: Range<usize>,
    /// The URI: the bytes there, without the white space that angle brackets let it hold.
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

/// The URIs in free text, in order, told from what surrounds them as Appendix C describes.
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
/// # What starts a URI
///
/// A scheme of at least two characters (`C:\` is none), the longest that ends at the colon, and after
/// it either `//`, or anything where the scheme is one of `geo` `magnet` `mailto` `sip` `sips` `sms`
/// `tel` `urn` `xmpp`, or where `URL:` stands before it, in either case and with or without
/// white space between, and no letter, digit, `+`, `-` or `.` before that. Where a full stop and one of `http` `https` `ftp` `ws` `wss` end it, the
/// sentence before lacked its space, and the scheme starts after the full stop. Relative references
/// and names like `www.example.com` are not found: only a reader knows that they are any.
///
/// # Where it ends
///
/// - **In angle brackets**, which stand right before the scheme or the `URL:` (but for white space):
///   at the closing bracket. White space in between is no part of the URI; a hyphen before it stays.
///   This needs `//` or `URL:` where there is white space, and the brackets do not hold a `"`, a
///   control character or an empty line; else the next rules act.
/// - **In double quotes** likewise: at the closing one, if no white space, control character or angle
///   bracket comes before it; else the next rule acts. Punctuation in the quotes belongs to the URI.
/// - **Elsewhere** before white space, a control character, one of ``"<>\^`{|}``, or a `)` or `]` that
///   nothing in the URI opened; of the bytes from 0x80 on, which belong to it although the grammar
///   lacks them, before the UTF-8 of U+0080-00BF, U+2000-206F but for the dashes U+2010-2015,
///   U+3000-303F, U+FEFF, U+FF01-FF0F, U+FF1A-FF20, U+FF3B-FF40 and U+FF5B-FF65, which are spaces and
///   punctuation. Then each `.` `,` `:` `;` `!` `?` `'` `(` `[` at its end is left to the text.
///
/// With nothing after `scheme:` or `scheme://` there is no URI. Nothing else is checked: a
/// [`Normalizer`](crate::Normalizer) says whether what was found is good.
pub fn extract(text: &[u8]) -> Extract<'_> {
    Extract { text, from: 0, free: 0 }
}

/// The iterator of [`extract`].
#[must_use = "an iterator does nothing until it is asked"]
#[derive(Debug, Clone)]
pub struct Extract<'a> {
    text: &'a [u8],
    /// Where the search for the next colon starts.
    from: usize,
    /// Where the text starts that belongs to no URI yet.
    free: usize,
}

impl<'a> Iterator for Extract<'a> {
    type Item = FoundUri<'a>;

    fn next(&mut self) -> Option<FoundUri<'a>> {
        while let Some(found) = memchr(b':', &self.text[self.from..]) {
            let colon = self.from + found;
            self.from = colon + 1;
            let Some(start) = Start::find(self.text, self.free, colon) else { continue };
            let Some((end, uri)) = start.read(self.text) else { continue };
            self.from = end;
            self.free = end;
            return Some(FoundUri { span: start.at..end, uri });
        }
        None
    }
}

/// Schemes that are told from other words before a colon without `//`. They are registered, and none
/// is an everyday word.
const KNOWN: [&[u8]; 9] =
    [b"geo", b"magnet", b"mailto", b"sip", b"sips", b"sms", b"tel", b"urn", b"xmpp"];

/// The start of what is a URI if something follows.
struct Start {
    /// Where the scheme is.
    at: usize,
    /// Where the rest begins, after the colon or the `//`.
    body: usize,
    /// There is `//`, or `URL:` in front, so there is no doubt.
    certain: bool,
    /// The byte before the scheme or the `URL:`, white space aside.
    before: Option<u8>,
}

impl Start {
    /// The start whose scheme ends at `colon` and does not reach before `free`.
    fn find(text: &[u8], free: usize, colon: usize) -> Option<Self> {
        let run = text[free..colon].iter().rev().take_while(|byte| set::SCHEME.contains(**byte));
        let run = &text[colon - run.count()..colon];
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
        let mut context = without_white_space(&text[free..at]);
        let prefixed = match context.split_last_chunk::<4>() {
            Some((rest, prefix)) if prefix.eq_ignore_ascii_case(b"url:") => {
                let whole_word = rest.last().is_none_or(|byte| !set::SCHEME.contains(*byte));
                if whole_word {
                    context = without_white_space(rest);
                }
                whole_word
            }
            _ => false,
        };
        let slashes = text[colon + 1..].starts_with(b"//");
        let certain = slashes || prefixed;
        if !certain && !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return None;
        }
        let body = colon + if slashes { 3 } else { 1 };
        Some(Self { at, body, certain, before: context.last().copied() })
    }

    /// The end of the URI and the URI, by the first rule that fits.
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
            return Some((
                end,
                uri.iter().copied().filter(|byte| !is_white_space(*byte)).collect(),
            ));
        }
        Some((end, Cow::Borrowed(uri)))
    }

    /// Length of what stands before the `>`, white space at its end not counted.
    fn in_brackets(&self, rest: &[u8]) -> Option<usize> {
        let end = memchr3(b'>', b'<', b'"', rest).filter(|end| rest[*end] == b'>')?;
        if !has_blank(&rest[..end]) {
            return (end > 0).then_some(end);
        }
        let mut length = 0;
        let mut breaks = 0;
        for (i, &byte) in rest[..end].iter().enumerate() {
            match byte {
                b'\n' if breaks == 1 => return None,
                b'\n' => breaks += 1,
                _ if is_white_space(byte) => {}
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

/// Whether there is white space or a control character in a text. All of it is looked at, which takes
/// less time than to stop at the first.
fn has_blank(text: &[u8]) -> bool {
    text.iter().fold(false, |any, byte| any | (*byte <= b' ') | (*byte == 0x7F))
}

/// Length of what stands before the closing quote, if it is all of a piece.
fn in_quotes(rest: &[u8]) -> Option<usize> {
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'<' | b'>' | b' ') || byte.is_ascii_control())?;
    (rest[end] == b'"' && end > 0).then_some(end)
}

/// ASCII that a URI holds; all other is in no rule of the grammar, so that it delimits one.
const URI: AsciiSet = set::QUERY.or(AsciiSet::of(b"%#[]"));
/// What a URI holds wherever it stands. As a table, since each byte of it is looked up.
const PLAIN: [bool; 256] = {
    let plain = URI.without(AsciiSet::of(b"()[]"));
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        table[byte] = plain.contains(byte as u8);
        byte += 1;
    }
    table
};

/// Length of what stands before the first delimiter, final punctuation not counted.
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

/// Whether white space or punctuation beyond ASCII stands at the start of `bytes`, in UTF-8.
fn is_punctuation(bytes: &[u8]) -> bool {
    match *bytes {
        [0xC2, 0x80..=0xBF, ..] => true,
        [0xE2, 0x80, last @ 0x80..=0xBF, ..] => !(0x90..=0x95).contains(&last),
        [0xE2, 0x81, 0x80..=0xAF, ..] => true,
        [0xE3, 0x80, 0x80..=0xBF, ..] => true,
        [0xEF, 0xBB, 0xBF, ..] => true,
        [0xEF, 0xBC, last, ..] => {
            matches!(last, 0x81..=0x8F | 0x9A..=0xA0 | 0xBB..=0xBF)
        }
        [0xEF, 0xBD, last, ..] => matches!(last, 0x80 | 0x9B..=0xA5),
        _ => false,
    }
}

/// Space, tab, line feed, form feed, carriage return.
fn is_white_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn without_white_space(text: &[u8]) -> &[u8] {
    text.trim_ascii_end()
}
