//! Tables of 256 entries for a ring: reads and writes them as source code of C, VCL and Lua.
//!
//! The forms are those of Wikimedia's page about path normalization: 0 encodes the byte, 1 decodes it and
//! 2 leaves its spelling.

use std::fmt::{self, Write as _};

use super::ring::{Act, Ring, RingError};

/// The language that the table of a ring is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingForm {
    /// An array of C.
    C,
    /// A subroutine of Varnish with C in it.
    Vcl,
    /// A table of Lua, which is indexed by the byte.
    Lua,
}

/// The number of bytes, and so of entries.
const BYTES: usize = 256;

/// The bytes of each row, in the words of Wikimedia's page.
const ROWS: [&str; 5] = [
    " 0x00-0x1F (all unprintable)",
    "  ! \" # $ % & ' ( ) * + , - . / 0 1 2 3 4 5 6 7 8 9 : ; < = > ?",
    "@ A B C D E F G H I J K L M N O P Q R S T U V W X Y Z [ \\ ] ^ _",
    "` a b c d e f g h i j k l m n o p q r s t u v w x y z { | } ~ <DEL>",
    " 0x80-0xFF (all unprintable)",
];

impl Ring {
    /// The table of 256 entries, as source code. `name` names the ring, and is an identifier.
    ///
    /// ```
    /// use uniqurl::{Ring, RingForm};
    ///
    /// let ring = Ring::parse("decode=2F encode=21,24")?;
    /// let table = ring.to_table("my", RingForm::C);
    /// assert!(table.starts_with("static const size_t my_decoder_ring[256] = {\n"));
    /// assert_eq!(Ring::parse_table(&table), Ok(ring));
    /// # Ok::<(), uniqurl::RingError>(())
    /// ```
    pub fn to_table(&self, name: &str, form: RingForm) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = match form {
            RingForm::C => self.write_array(name, "", &mut text),
            RingForm::Vcl => self.write_subroutine(name, &mut text),
            RingForm::Lua => self.write_lua(name, &mut text),
        };
        text
    }

    fn write_array(&self, name: &str, indent: &str, out: &mut String) -> fmt::Result {
        writeln!(out, "{indent}static const size_t {name}_decoder_ring[{BYTES}] = {{")?;
        self.write_rows(indent, "//", "", out)?;
        writeln!(out, "{indent}}};")
    }

    fn write_subroutine(&self, name: &str, out: &mut String) -> fmt::Result {
        writeln!(out, "sub normalize_{name}_path {{ C{{")?;
        self.write_array(name, "    ", out)?;
        writeln!(out, "\n    normalize_path_encoding(ctx, {name}_decoder_ring);\n}}C }}")
    }

    fn write_lua(&self, name: &str, out: &mut String) -> fmt::Result {
        writeln!(out, "local {name}_decoder_ring = {{")?;
        // The entries after the first have the indices from 1 on.
        self.write_rows("", "--", "[0]=", out)?;
        writeln!(out, "}}")
    }

    /// Writes the entries, 32 on a line, with a comment before each kind.
    fn write_rows(
        &self,
        indent: &str,
        comment: &str,
        first: &str,
        out: &mut String,
    ) -> fmt::Result {
        for line in 0..BYTES / 32 {
            if let Some(row) = ROWS.get(line) {
                writeln!(out, "{indent}  {comment}{row}")?;
            }
            let entries = (line * 32..(line + 1) * 32).map(|byte| match self.act(byte as u8) {
                Act::Encode => "0",
                Act::Decode => "1",
                Act::Leave => "2",
            });
            let first = if line == 0 { first } else { "" };
            let last = if (line + 1) * 32 == BYTES { "" } else { "," };
            writeln!(out, "{indent}    {first}{}{last}", entries.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    /// Reads a table as [`Ring::to_table`] writes it, or 256 numbers with commas and blanks between them.
    /// Of source code only the numbers in its innermost braces are read, and comments are left out.
    ///
    /// # Errors
    ///
    /// [`RingError::Table`], [`RingError::Entries`] or [`RingError::Fixed`] if the text is not a table,
    /// or the table is not that of a ring.
    ///
    /// ```
    /// use uniqurl::{Ring, RingError};
    ///
    /// assert_eq!(Ring::parse_table("{ 0, 0, 2 }"), Err(RingError::Entries(3)));
    /// assert_eq!(Ring::parse_table(&"0 ".repeat(256)), Err(RingError::Fixed(b'#')));
    /// ```
    pub fn parse_table(text: &str) -> Result<Self, RingError> {
        let code = without_comments(text);
        let (start, end) = entries_of(&code)?;
        let (mut acts, mut is_set) = ([Act::Leave; BYTES], [false; BYTES]);
        let (mut next, mut count, mut is_indexed) = (0, 0, false);
        let mut at = start;
        while let Some(&first) = code[..end].get(at) {
            if is_between(&first) {
                at += 1;
                continue;
            }
            if let Some((index, length)) = index(&code[at..end]) {
                (next, is_indexed) = (index, true);
                at += length;
                continue;
            }
            let act = match first {
                b'0' => Act::Encode,
                b'1' => Act::Decode,
                b'2' => Act::Leave,
                _ => return Err(RingError::Table(at)),
            };
            if !code[..end].get(at + 1).is_none_or(is_between) {
                return Err(RingError::Table(at));
            }
            match is_set.get_mut(next) {
                Some(is_set @ false) => (*is_set, acts[next]) = (true, act),
                None if !is_indexed => {}
                _ => return Err(RingError::Table(at)),
            }
            (next, count) = (next + 1, count + 1);
            at += 1;
        }
        if count != BYTES {
            return Err(RingError::Entries(count));
        }
        Self::of_acts(&acts)
    }
}

fn is_between(byte: &u8) -> bool {
    *byte == b',' || byte.is_ascii_whitespace()
}

/// The text with blanks in place of comments, so that offsets stay.
fn without_comments(text: &str) -> Vec<u8> {
    let mut code = text.as_bytes().to_vec();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let close: Option<&[u8]> = match rest {
            [b'/', b'*', ..] => Some(b"*/"),
            [b'-', b'-', b'[', b'[', ..] => Some(b"]]"),
            [b'/', b'/', ..] | [b'-', b'-', ..] | [b'#', ..] => Some(b"\n"),
            _ => None,
        };
        let Some(close) = close else {
            at += 1;
            continue;
        };
        let end = rest.windows(close.len()).skip(2).position(|window| window == close);
        let end = end.map_or(code.len(), |end| at + end + 2 + close.len());
        code[at..end].fill(b' ');
        at = end;
    }
    code
}

/// Where the entries stand: between the only braces that hold no others, or brackets around all of
/// the text, or nothing.
fn entries_of(code: &[u8]) -> Result<(usize, usize), RingError> {
    let mut found = None;
    let mut open = None;
    for (at, byte) in code.iter().enumerate() {
        match byte {
            b'{' => open = Some(at + 1),
            b'}' => {
                if let Some(start) = open.take()
                    && found.replace((start, at)).is_some()
                {
                    return Err(RingError::Table(start));
                }
            }
            _ => {}
        }
    }
    if let Some(found) = found {
        return Ok(found);
    }
    if let Some(start) = open {
        return Err(RingError::Table(start - 1));
    }
    let first = code.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
    let end = code.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    match code.get(first..end) {
        Some([b'[', .., b']']) => Ok((first + 1, end - 1)),
        _ => Ok((first, end)),
    }
}

/// The index in front of an entry, `[0]=`, and its length.
fn index(code: &[u8]) -> Option<(usize, usize)> {
    let close = code.iter().position(|byte| *byte == b']')?;
    let digits = std::str::from_utf8(code[..close].strip_prefix(b"[")?).ok()?.trim();
    let blanks = code[close + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_index = code.get(close + 1 + blanks) == Some(&b'=');
    let number = match digits.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    is_index.then_some((number, close + blanks + 2))
}

#[cfg(test)]
mod tests {
    use super::super::ring::{MEDIAWIKI, PLAIN, RESTBASE, UPLOAD};
    use super::*;

    const FORMS: [RingForm; 3] = [RingForm::C, RingForm::Vcl, RingForm::Lua];

    fn numbers(ring: &Ring) -> Vec<&'static str> {
        let digit = |byte| match ring.act(byte) {
            Act::Encode => "0",
            Act::Decode => "1",
            Act::Leave => "2",
        };
        (0..=255).map(digit).collect()
    }

    /// Rings whose choices for the sixteen bytes come from the digits of a number.
    fn rings() -> impl Iterator<Item = Ring> {
        let step = if cfg!(miri) { 1_000_003 } else { 40_009 };
        let drawn = (0..3_u32.pow(16)).step_by(step).map(|number| {
            let (mut rest, mut lists) = (number, [Vec::new(), Vec::new()]);
            for &byte in b":/[]@!$&'()*+,;=" {
                if let Some(list) = lists.get_mut(rest as usize % 3) {
                    list.push(byte);
                }
                rest /= 3;
            }
            Ring::new(&lists[0], &lists[1]).unwrap()
        });
        [PLAIN, MEDIAWIKI, RESTBASE, UPLOAD].into_iter().chain(drawn)
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        for ring in rings() {
            for form in FORMS {
                let table = ring.to_table("own", form);
                assert_eq!(Ring::parse_table(&table).as_ref(), Ok(&ring), "{table}");
            }
            for (between, around) in [(" ", ["", ""]), (",\n", ["[", "]\n"]), (", ", ["{", ",}"])] {
                let table = numbers(&ring).join(between);
                let table = format!("{}{table}{}", around[0], around[1]);
                assert_eq!(Ring::parse_table(&table).as_ref(), Ok(&ring), "{table}");
            }
        }
    }

    #[test]
    fn the_table_of_uploads_has_the_form_of_the_page() {
        let table = UPLOAD.to_table("upload", RingForm::Vcl);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "sub normalize_upload_path { C{");
        assert_eq!(lines[1], "    static const size_t upload_decoder_ring[256] = {");
        assert_eq!(lines[2], "      // 0x00-0x1F (all unprintable)");
        assert_eq!(
            lines[5],
            "        0,0,0,2,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,2,"
        );
        assert_eq!(
            lines[15..],
            ["    };", "", "    normalize_path_encoding(ctx, upload_decoder_ring);", "}C }"]
        );
    }

    #[test]
    fn another_entry_for_a_byte_that_every_ring_has_is_refused() {
        for byte in 0..=255_u8 {
            let digits = numbers(&PLAIN);
            for other in ["0", "1", "2"] {
                let mut changed = digits.clone();
                changed[usize::from(byte)] = other;
                let is_customizable = Ring::new(&[byte], b"").is_ok();
                let is_ring = other == digits[usize::from(byte)] || is_customizable;
                match Ring::parse_table(&changed.join(",")) {
                    Ok(ring) => assert!(is_ring && numbers(&ring) == changed, "{byte:02X}"),
                    Err(error) => assert!(!is_ring && error == RingError::Fixed(byte)),
                }
            }
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let good = numbers(&PLAIN).join(",");
        let table = PLAIN.to_table("a", RingForm::C);
        for (text, error) in [
            (String::new(), RingError::Entries(0)),
            (format!("{good},0"), RingError::Entries(257)),
            (good[2..].to_owned(), RingError::Entries(255)),
            (format!("[0]=0,{good}"), RingError::Table(516)),
            (format!("[1]={good}"), RingError::Table(514)),
            (format!("{good},[0]=0"), RingError::Table(516)),
            (format!("3{}", &good[1..]), RingError::Table(0)),
            (format!("00{}", &good[1..]), RingError::Table(0)),
            (format!("0x0{}", &good[1..]), RingError::Table(0)),
            (format!("{{{good}"), RingError::Table(0)),
            (format!("{table}{table}"), RingError::Table(table.len() + 43)),
            ("crawl".to_owned(), RingError::Table(0)),
            ("0,0,\u{e9}".to_owned(), RingError::Table(4)),
        ] {
            assert_eq!(Ring::parse_table(&text), Err(error), "{text}");
        }
    }
}
