//! Prints untrusted bytes on a terminal.
//!
//! In: any bytes. Out: bytes 0x20-0x7E only. A backslash is escaped too, so the output shows the input
//! without ambiguity.

use std::fmt::{self, Write};

/// Longest text of an excerpt in bytes, including the ellipsis.
const LIMIT: usize = 200;
const ELLIPSIS: &str = "...";

/// Prints all of the bytes. For names, which are useless when cut.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a [u8]);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&byte| write_byte(byte, f))
    }
}

/// Prints the start of the bytes, at most 200 bytes of text. For input.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a>(pub &'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cut(&[self.0], f)
    }
}

/// Writes the parts one after the other, at most [`LIMIT`] bytes of text.
pub(crate) fn cut(parts: &[&[u8]], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = String::with_capacity(LIMIT + 4);
    // Longest length of the text after which an ellipsis still fits.
    let mut room = 0;
    for &byte in parts.iter().copied().flatten() {
        write_byte(byte, &mut text)?;
        if text.len() > LIMIT {
            text.truncate(room);
            text.push_str(ELLIPSIS);
            break;
        }
        if text.len() <= LIMIT - ELLIPSIS.len() {
            room = text.len();
        }
    }
    f.write_str(&text)
}

fn write_byte(byte: u8, to: &mut impl Write) -> fmt::Result {
    match stands_for_itself(byte) {
        true => to.write_char(char::from(byte)),
        false => write!(to, "\\x{byte:02X}"),
    }
}

/// True for a character that a terminal acts on, that turns the direction of text, or that ends a line:
/// control characters, those of Unicode's `Bidi_Control`, U+2028 and U+2029.
pub fn is_control(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61C}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// True if a byte is printed literally.
pub fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7E) && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_holds_printable_bytes_only() {
        let all: Vec<u8> = (0..=255).collect();
        for text in [Printable(&all).to_string(), Excerpt(&all).to_string()] {
            assert!(text.bytes().all(|b| (0x20..=0x7E).contains(&b)), "{text:?}");
        }
        assert_eq!(Printable(b"a\x1b[31m\n\\x\xff").to_string(), r"a\x1B[31m\x0A\x5Cx\xFF");
    }

    #[test]
    fn long_excerpts_are_cut_and_names_are_not() {
        let long = vec![b'a'; 1000];
        assert_eq!(Printable(&long).to_string().len(), 1000);
        assert_eq!(Excerpt(&long).to_string(), "a".repeat(197) + "...");
        assert_eq!(Excerpt(&long[..200]).to_string(), "a".repeat(200));
        assert_eq!(Excerpt(&long[..201]).to_string(), "a".repeat(197) + "...");
    }

    #[test]
    fn an_escape_is_never_cut_in_two() {
        for lead in 0..8 {
            let mut bytes = vec![b'a'; lead];
            bytes.extend([0u8; 100]);
            let text = Excerpt(&bytes).to_string();
            assert!(text.len() <= LIMIT && text.ends_with("..."), "{text}");
            assert_eq!((text.len() - 3 - lead) % 4, 0, "{text}");
        }
    }
}
