//! Undoes a log's own escaping, exactly once, and finds the unescaped quotation mark that ends a field.
//!
//! Loggers escape so that a client cannot write lines of its own into the log. Apache's
//! `ap_escape_logitem` writes `\"`, `\\`, `\n` and so on, and `\xHH` for unprintable bytes; nginx
//! writes `\xHH` for all of these; HAProxy writes `#XX`. Escapes that the client sent (`%22`) are
//! not the log's and stay. So does a sequence that the logger cannot have written.

use memchr::{memchr, memchr2};

/// A logger's way of escaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Apache's and nginx's.
    Backslash,
    /// HAProxy's.
    Hash,
    /// Amazon load balancers': only `\xHH`.
    Hex,
    /// CloudFront's: percent-encoding, once more than the client's own.
    Percent,
    /// Nothing is escaped.
    None,
}

impl Escape {
    /// True if [`undo`](Self::undo) might change `text`.
    #[inline]
    pub fn is_in(self, text: &[u8]) -> bool {
        match self {
            Escape::Backslash | Escape::Hex => memchr(b'\\', text).is_some(),
            Escape::Hash => memchr(b'#', text).is_some(),
            Escape::Percent => memchr(b'%', text).is_some(),
            Escape::None => false,
        }
    }

    /// Appends `text` to `out` as it was before the logger wrote it.
    pub fn undo(self, text: &[u8], out: &mut Vec<u8>) {
        let mark = match self {
            Escape::Backslash | Escape::Hex => b'\\',
            Escape::Hash => b'#',
            Escape::Percent => b'%',
            Escape::None => return out.extend_from_slice(text),
        };
        let mut rest = text;
        while let Some(at) = memchr(mark, rest) {
            out.extend_from_slice(&rest[..at]);
            // The rest begins after the mark, so that `\\x41` is `\x41` and not `\A`.
            let sequence = &rest[at + 1..];
            let decoded = match self {
                Escape::Backslash => backslash(sequence),
                Escape::Hash | Escape::Percent => hex(sequence),
                Escape::Hex => {
                    let digits = sequence.strip_prefix(b"x").and_then(hex);
                    digits.map(|(byte, length)| (byte, length + 1))
                }
                Escape::None => None,
            };
            let (byte, length) = decoded.unwrap_or((mark, 0));
            out.push(byte);
            rest = &sequence[length..];
        }
        out.extend_from_slice(rest);
    }
}

/// The byte that a sequence stands for, and the sequence's length, both after the backslash.
fn backslash(after: &[u8]) -> Option<(u8, usize)> {
    let byte = match *after.first()? {
        b'x' => return hex(&after[1..]).map(|(byte, length)| (byte, length + 1)),
        same @ (b'"' | b'\\') => same,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'v' => 0x0b,
        b'a' => 0x07,
        _ => return None,
    };
    Some((byte, 1))
}

/// The byte that two hexadecimal digits stand for, and their length.
fn hex(after: &[u8]) -> Option<(u8, usize)> {
    let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
    Some(((digit(0)? << 4 | digit(1)?) as u8, 2))
}

/// The first unescaped quotation mark at or after `from`: the end of a quoted field that begins there.
#[inline]
pub(super) fn closing_quote(line: &[u8], from: usize) -> Option<usize> {
    Some(quoted(line, from)?.0)
}

/// Also returns which escaping may occur before the mark.
#[inline(always)]
pub(super) fn quoted(line: &[u8], from: usize) -> Option<(usize, Escape)> {
    let mut at = from;
    let mut escape = Escape::None;
    loop {
        // After a backslash at the very end, `at` lies beyond the line.
        at += memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some((at, escape));
        }
        escape = Escape::Backslash;
        // A backslash hides the byte after it.
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::{Escape, closing_quote};

    fn undone(escape: Escape, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        escape.undo(text, &mut out);
        out
    }

    #[test]
    fn every_escape_of_apache_and_nginx_is_decoded() {
        let text = br#"\x00\xfF\"\\\n\t\r\b\f\v\a"#;
        let bytes = b"\x00\xff\"\\\n\t\r\x08\x0c\x0b\x07";
        assert_eq!(undone(Escape::Backslash, text), bytes);
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(undone(Escape::Backslash, br"\\x41\x5cx41"), br"\x41\x41");
        assert_eq!(undone(Escape::Hash, b"#2341"), b"#41");
    }

    #[test]
    fn unknown_escape_is_kept() {
        for text in [br"\u003C".as_slice(), br"\x4", br"\x", br"\xg0", br"\", br"\'", b"%5C"] {
            assert_eq!(undone(Escape::Backslash, text), text);
        }
        for text in [b"#".as_slice(), b"#4", b"#g0", br"\x41"] {
            assert_eq!(undone(Escape::Hash, text), text);
        }
    }

    #[test]
    fn only_an_unescaped_quote_closes_a_field() {
        assert_eq!(closing_quote(br#"a"b"#, 0), Some(1));
        assert_eq!(closing_quote(br#"a\"b""#, 0), Some(4));
        assert_eq!(closing_quote(br#"a\\"b"#, 0), Some(3));
        for open in [br#"a\"b"#.as_slice(), br"a\", b""] {
            assert_eq!(closing_quote(open, 0), None);
        }
    }
}
