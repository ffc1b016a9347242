//! Masks secrets in input bytes before they are passed on.
//!
//! In: a URL, a query, or a whole record in which no URL was found. Out: the same, with `***` in place
//! of the userinfo, the values of the query and the fragment. Parameter names stay. If nobody knows
//! where a URL begins in a record, only the text before all possible secrets stays.

use crate::masked::{HIDDEN, Masked, after_slashes, last_at};

/// Whether reports about records show their secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Records are shown unchanged.
    Shown,
    /// `***` replaces userinfo, the values of queries, and fragments.
    Masked,
}

/// Appends `text` with its secrets masked.
///
/// ```
/// use uniqurl_text::redact;
///
/// let mut out = Vec::new();
/// redact(b"http://user:secret@example.com/a?token=1&flag#x", &mut out);
/// assert_eq!(out, b"http://***@example.com/a?token=***&***#***");
/// ```
pub fn redact(text: &[u8], out: &mut Vec<u8>) {
    let Masked { shown, query } = Masked::url(text);
    shown.iter().for_each(|part| out.extend_from_slice(part));
    // A fragment may be a token as a whole, so none of its pairs is shown.
    if shown[2].ends_with(b"#") {
        return hide(query, out);
    }
    let end = query.iter().position(|byte| *byte == b'#').unwrap_or(query.len());
    pairs(&query[..end], out);
    if let [mark, fragment @ ..] = &query[end..] {
        out.push(*mark);
        hide(fragment, out);
    }
}

/// Appends `***` for a secret that is not empty.
fn hide(secret: &[u8], out: &mut Vec<u8>) {
    if !secret.is_empty() {
        out.extend_from_slice(HIDDEN.as_bytes());
    }
}

/// Appends a query, with or without its `?`, with its secrets masked.
pub fn redact_query(text: &[u8], out: &mut Vec<u8>) {
    let (mark, query) = text.split_at(usize::from(text.starts_with(b"?")));
    out.extend_from_slice(mark);
    // In `x=http://u:pass&word=1@h` the name of the second pair is part of a password.
    let hidden = after_slashes(query).map(|hidden| hidden.start);
    // A `#` would start a fragment in a URL. Here it is hidden with the value, or the name, before it.
    pairs(&query[..hidden.unwrap_or(query.len())], out);
}

/// Appends the pairs of a query without their values.
fn pairs(query: &[u8], out: &mut Vec<u8>) {
    for (i, pair) in query.split(|byte| *byte == b'&').enumerate() {
        if i > 0 {
            out.push(b'&');
        }
        // A part without a name may be the secret itself, and so may a part with an unlikely name.
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=')
            && pair[..equals].iter().all(|byte| may_be_named(*byte))
        {
            out.extend_from_slice(&pair[..=equals]);
        }
        hide(pair, out);
    }
}

/// True if a byte is plausible in the name of a parameter.
fn may_be_named(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-._~%[]$:!*'()+,".contains(&byte)
}

/// Appends a record in which no URL was found, with possible secrets masked. `***` replaces the text
/// after the first of `?`, `#`, `=` and `//` (including forms that a log escapes), and the text before
/// the last `@` up to there. The start of a record usually identifies it.
pub fn redact_record(record: &[u8], out: &mut Vec<u8>) {
    let mut shown = 0..record.len();
    let mut is_behind_slash = false;
    let mut at = 0;
    while let Some((byte, length)) = meant(&record[at..]) {
        at += length;
        match byte {
            b'@' => shown.start = at - length,
            b'?' | b'#' | b'=' => shown.end = at,
            b'/' if is_behind_slash => shown.end = at,
            _ => {}
        }
        if shown.end == at {
            break;
        }
        is_behind_slash = byte == b'/';
    }
    // Userinfo may hold any of these bytes.
    let is_end = |byte: &u8| *byte <= b' ' || *byte == b'"';
    let start = record[..shown.end].iter().rposition(is_end).map_or(0, |blank| blank + 1);
    let (before, behind) = (&record[start..shown.end], &record[shown.end..]);
    let word = &behind[..behind.iter().position(is_end).unwrap_or(behind.len())];
    if last_at(word).is_some() && (!before.starts_with(b"/") || before.contains(&b':')) {
        shown.end = start;
    }
    // A record that is hidden as a whole gets one `***`.
    if shown.is_empty() {
        shown = 0..0;
    }
    hide(&record[..shown.start], out);
    out.extend_from_slice(&record[shown.clone()]);
    hide(&record[shown.end..], out);
}

/// The first byte of the record after undoing the escapes of logs, and its length in the record.
fn meant(record: &[u8]) -> Option<(u8, usize)> {
    let hex = |digits: &[u8]| {
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        Some((digit(0)? << 4 | digit(1)?) as u8)
    };
    let (escaped, length) = match record {
        [] => return None,
        [b'%', b'4', b'0', ..] => (Some(b'@'), 3),
        [b'\\', b'/', ..] => (Some(b'/'), 2),
        [b'\\', b'x', digits @ ..] if digits.len() >= 2 => (hex(digits), 4),
        [b'\\', b'u', b'0', b'0', digits @ ..] if digits.len() >= 2 => (hex(digits), 6),
        _ => (None, 1),
    };
    Some(escaped.map_or((record[0], 1), |byte| (byte, length)))
}

#[cfg(test)]
mod tests {
    use super::{redact, redact_query, redact_record};

    #[test]
    fn userinfo_query_values_and_fragment_are_masked() {
        for (url, shown) in [
            ("http://h/a/b", "http://h/a/b"),
            ("http://u:SECRET@h/?a=SECRET&b=SECRET", "http://***@h/?a=***&b=***"),
            ("http://h/?SECRET", "http://h/?***"),
            ("http://h/?a=&&b=1=SECRET?x", "http://h/?a=***&&b=***"),
            ("/p?a=b#SECRET?SECRET", "/p?a=***#***"),
            ("/p#SECRET", "/p#***"),
            ("/p?#", "/p?#"),
            ("u:SECRET@h", "***@h"),
            (
                r#"1.2.3.4 - - [x] "GET /a?k=SECRET HTTP/1.1" 200 "http://r/?SECRET""#,
                r#"1.2.3.4 - - [x] "GET /a?k=***"#,
            ),
            // A name with a byte that no name holds is part of something else.
            (r#""GET a?SECRET HTTP/1.1" 200 "http://r/?x=1""#, r#""GET a?***"#),
            (
                "/?SECRET;a=1&SECRET/a=1&a%5B0%5D[b]=c&\u{E4}.$=1",
                "/?***&***&a%5B0%5D[b]=***&\u{E4}.$=***",
            ),
        ] {
            let mut out = Vec::new();
            redact(url.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{url}");
        }
    }

    #[test]
    fn bare_query_keeps_names_and_masks_values() {
        for (query, shown) in [
            ("a=SECRET&b=SECRET", "a=***&b=***"),
            ("?SECRET", "?***"),
            ("SECRET", "***"),
            ("a=SECRET#SECRET", "a=***"),
            ("SECRET#a=1", "***"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            redact_query(query.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{query}");
        }
    }

    #[test]
    fn record_is_masked_from_its_first_secret_on() {
        for (record, shown) in [
            ("", ""),
            (r#"1.2.3.4 - - [x] "-" 408 0"#, r#"1.2.3.4 - - [x] "-" 408 0"#),
            (r#"h - - [x] "\x16\x03" 400"#, r#"h - - [x] "\x16\x03" 400"#),
            (r#"h - - [x] "GET a?SECRET" 200 "http://r/?x=1""#, r#"h - - [x] "GET a?***"#),
            (
                r#"h - - [x] "GET /a HTTP" 200 "http://u:SECRET@r/""#,
                r#"h - - [x] "GET /a HTTP" 200 "***"#,
            ),
            (r#"h - - [x] "GET http://u:SECRET"#, r#"h - - [x] "GET http://***"#),
            (r#"h - SECRET@d [x] "GET a""#, r#"***@d [x] "GET a""#),
            (r#"[x] "GET /a\x3ft=SECRET"#, r#"[x] "GET /a\x3f***"#),
            (r#"[x] "GET u:SECRET\x40h"#, r#"***\x40h"#),
            (r#"[x] "GET u:SECRET%40h"#, r#"***%40h"#),
            (r#"[x] "GET u:SEC=RET@h"#, r#"[x] "GET ***"#),
            ("u:SEC=RET@h", "***"),
            ("/u:SEC=RET@h", "***"),
            (r#"[x] "GET /a?mail=a@b"#, r#"[x] "GET /a?***"#),
            (r#"[x] "GET u@h#SECRET@x"#, "***"),
            (r#"{"u":"http:\/\/u:SECRET"#, r#"{"u":"http:\/\/***"#),
            (r#"{"u":"/a\u003Fb"#, r#"{"u":"/a\u003F***"#),
            ("foo\ttok=SECRET\th", "foo\ttok=***"),
            (r#"[x] "GET /a\x3"#, r#"[x] "GET /a\x3"#),
            ("#16#03 /", "#***"),
        ] {
            let mut out = Vec::new();
            redact_record(record.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{record}");
        }
    }
}
