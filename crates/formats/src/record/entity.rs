//! Undoes the references of XML and HTML: `&amp;`, `&#38;`, `&#x26;`.
//!
//! XML 1.0, section 4.6, predefines five entities: `amp`, `lt`, `gt`, `apos` and `quot`. HTML also has
//! the names of many other characters, but markup needs none of those escaped. References
//! without a semicolon and to unknown names stay: in a URL, `&copy=1` is a parameter.

use memchr::memchr;

/// The longest reference that is looked at: `&#x0010FFFF;`.
const LONGEST: usize = 12;

/// The named entities.
const NAMED: [(&[u8], u8); 5] =
    [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];

/// Appends `text` to `out` with its references undone, once.
pub(super) fn undo(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match reference(rest) {
            Some((meant, length)) => {
                out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
            }
            None => {
                out.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
}

/// The character that a text's first reference stands for, and the length of the reference. None if
/// the text does not begin with one.
pub(super) fn reference(text: &[u8]) -> Option<(char, usize)> {
    let text = &text[..text.len().min(LONGEST)];
    let end = memchr(b';', text)?;
    let name = text.strip_prefix(b"&")?.get(..end.checked_sub(1)?)?;
    let meant = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        // HTML takes these names in capitals, too.
        name => NAMED
            .iter()
            .find(|(known, _)| name == *known || name == known.to_ascii_uppercase())
            .map(|(_, byte)| char::from(*byte))?,
    };
    Some((meant, end + 1))
}

/// The character with a number. The character 0 is none.
fn number(digits: &[u8], radix: u32) -> Option<char> {
    let mut number = 0u32;
    for digit in digits {
        // The sum cannot overflow: `LONGEST` leaves nine decimal or eight hexadecimal digits.
        number = number.checked_mul(radix)? + char::from(*digit).to_digit(radix)?;
    }
    char::from_u32(number).filter(|meant| *meant != '\0')
}

#[cfg(test)]
mod tests {
    use super::undo;

    fn undone(text: &str) -> String {
        let mut out = Vec::new();
        undo(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn references_are_undone_once() {
        assert_eq!(undone("?a&amp;b&#38;c&#x26;d&#X26;e&#038;f"), "?a&b&c&d&e&f");
        assert_eq!(undone("&lt;&gt;&quot;&apos;&AMP;"), "<>\"'&");
        assert_eq!(undone("&amp;amp;&amp;#38;"), "&amp;&#38;");
        assert_eq!(undone("&#233;&#x20AC;&#x1F600;"), "é€😀");
    }

    #[test]
    fn other_ampersands_stay() {
        for text in [
            "&",
            "&;",
            "&#;",
            "&#x;",
            "&copy=1",
            "&amp",
            "&Amp;",
            "&copy;",
            "&#0;",
            "&#xD800;",
            "&#x110000;",
            "&#99999999999;",
            "&#-1;",
            "a&b;c",
            "& amp;",
        ] {
            assert_eq!(undone(text), text);
        }
    }
}
