//! Rings in the forms that the configurations of caches have: tables of 256 entries as source code of C, VCL and
//! Lua, and the two parameters of a rule for Apache Traffic Server.
//!
//! The forms are those of Wikimedia's page about path normalization: 0 encodes the byte, 1 decodes it and
//! 2 leaves its spelling.

use std::fmt;

use uniqurl::internal::Act;
use uniqurl::{Ring, RingError};

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

/// Why a text is not the table of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// An entry is no number from 0 to 2.
    Entry(String),
    /// There is more than one table, or none that ends.
    Braces,
    /// It does not have 256 entries; holds how many it has.
    Entries(usize),
    /// It has another entry for a byte than every ring.
    Fixed(u8, Act),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Entry(entry) => {
                let entry = entry.escape_debug();
                write!(f, "not a table of the numbers 0, 1 and 2: `{entry:.20}`")
            }
            TableError::Braces => f.write_str("the braces are not those of one table"),
            TableError::Entries(count) => {
                write!(f, "{count} entries, where the table of a ring has {BYTES}")
            }
            TableError::Fixed(byte, act) => write!(
                f,
                "byte {byte:02X} ({}) does not have the entry that it has in every ring: {}",
                byte.escape_ascii(),
                match act {
                    Act::Encode => "0 (encode)",
                    Act::Decode => "1 (decode)",
                    Act::Leave => "2 (leave)",
                }
            ),
        }
    }
}

/// An array of C with the entries of the ring. `name` names it, and is an identifier.
pub fn to_c(ring: &Ring, name: &str) -> String {
    array(ring, name, "")
}

/// A subroutine of Varnish with C in it.
pub fn to_vcl(ring: &Ring, name: &str) -> String {
    let array = array(ring, name, "    ");
    format!(
        "sub normalize_{name}_path {{ C{{\n{array}\n    \
         normalize_path_encoding(ctx, {name}_decoder_ring);\n}}C }}\n"
    )
}

/// A table of Lua, which is indexed by the byte.
pub fn to_lua(ring: &Ring, name: &str) -> String {
    // The entries after the first have the indices from 1 on.
    format!("local {name}_decoder_ring = {{\n{}}}\n", rows(ring, "", "--", "[0]="))
}

fn array(ring: &Ring, name: &str, indent: &str) -> String {
    let rows = rows(ring, indent, "//", "");
    format!("{indent}static const size_t {name}_decoder_ring[{BYTES}] = {{\n{rows}{indent}}};\n")
}

/// The entries, 32 on a line, with a comment before each kind.
fn rows(ring: &Ring, indent: &str, comment: &str, first: &str) -> String {
    let entries: Vec<&str> = (0..=255).map(|byte| entry(ring.act(byte))).collect();
    let mut text = String::new();
    for (line, entries) in entries.chunks(32).enumerate() {
        if let Some(row) = ROWS.get(line) {
            text.push_str(&format!("{indent}  {comment}{row}\n"));
        }
        let first = if line == 0 { first } else { "" };
        let last = if (line + 1) * 32 == BYTES { "" } else { "," };
        text.push_str(&format!("{indent}    {first}{}{last}\n", entries.join(",")));
    }
    text
}

fn entry(act: Act) -> &'static str {
    match act {
        Act::Encode => "0",
        Act::Decode => "1",
        Act::Leave => "2",
    }
}

/// Reads a table as this module writes it, or 256 numbers with commas and blanks between them. Of source code only
/// the numbers in its innermost braces are read, and comments are left out.
pub fn read(text: &str) -> Result<Ring, TableError> {
    let code = without_comments(text);
    let mut acts = Vec::new();
    let is_between = |c: char| c == ',' || c.is_ascii_whitespace();
    for word in entries_of(&code)?.split(is_between).filter(|word| !word.is_empty()) {
        // Lua counts from 1 if the first entry has no index.
        let number = word.strip_prefix(&format!("[{}]=", acts.len())).unwrap_or(word);
        let act =
            [Act::Encode, Act::Decode, Act::Leave].into_iter().find(|act| entry(*act) == number);
        acts.push(act.ok_or_else(|| TableError::Entry(word.to_owned()))?);
    }
    let acts = acts.try_into().map_err(|acts: Vec<Act>| TableError::Entries(acts.len()))?;
    of_acts(&acts)
}

/// A ring with these entries.
fn of_acts(acts: &[Act; BYTES]) -> Result<Ring, TableError> {
    // A byte that is not for a ring to choose is in no list, and has the entry that it has in every ring.
    let is_chosen = |byte: &u8| Ring::new(&[*byte], b"").is_ok();
    let list = |act| -> Vec<u8> {
        (0..=255).filter(|byte| acts[usize::from(*byte)] == act && is_chosen(byte)).collect()
    };
    let [decode, encode] = [Act::Decode, Act::Encode].map(list);
    let ring = Ring::new(&decode, &encode).expect("each byte has one entry");
    // The lists change only the bytes that a ring may choose, so all others are compared here.
    match (0..=255).find(|byte| ring.act(*byte) != acts[usize::from(*byte)]) {
        Some(byte) => Err(TableError::Fixed(byte, ring.act(byte))),
        None => Ok(ring),
    }
}

/// Reads `decode=2F encode=21,24`, or the parameters of a rule for Apache Traffic Server as they stand in its
/// configuration: `@pparam="2F"` and `@pparam="21 24"`, or the two quoted lists alone. The first is decoded, the
/// second encoded, and a `#` starts a comment.
pub fn read_lists(text: &str) -> Result<Ring, RingError> {
    match quoted_lists(text) {
        Some(lists) => Ring::parse(&lists),
        None => Ring::parse(text),
    }
}

fn quoted_lists(text: &str) -> Option<String> {
    let code = |line: &'_ str| line.split('#').next().unwrap_or_default().replace("@pparam=", "");
    let code = text.lines().map(code).collect::<Vec<_>>().join(" ");
    // A list of YAML has a dash before each string, and a shell has quotation marks around it.
    let is_between = |part: &&str| {
        part.chars().all(|c| matches!(c, ',' | '\'' | '-') || c.is_ascii_whitespace())
    };
    let parts: Vec<&str> = code.split('"').collect();
    match parts[..] {
        [a, decode, b] if [a, b].iter().all(is_between) => Some(format!("decode={decode}")),
        [a, decode, b, encode, c] if [a, b, c].iter().all(is_between) => {
            Some(format!("decode={decode} encode={encode}"))
        }
        _ => None,
    }
}

/// The text with a blank in place of each comment.
fn without_comments(mut text: &str) -> String {
    // `--[[` comes before `--`, for both begin at the same byte, and of equal ones the first counts.
    let marks = [("/*", "*/"), ("--[[", "]]"), ("//", "\n"), ("--", "\n"), ("#", "\n")];
    let mut code = String::new();
    let first = |text: &str| {
        let starts = marks.iter().filter_map(|(open, close)| Some((text.find(open)?, open, close)));
        starts.min_by_key(|(at, ..)| *at)
    };
    while let Some((at, open, close)) = first(text) {
        code.push_str(&text[..at]);
        // A blank keeps the numbers on both sides of a comment apart.
        code.push(' ');
        let comment = &text[at + open.len()..];
        text = comment.split_once(close).map_or("", |(_, rest)| rest);
    }
    code + text
}

/// The entries: between the only braces that hold no others, between brackets around all of the text, or all of it.
fn entries_of(code: &str) -> Result<&str, TableError> {
    if let Some((before, entries)) = code.rsplit_once('{') {
        let closed = entries.split_once('}').filter(|_| !before.contains('}'));
        return closed.map(|(entries, _)| entries).ok_or(TableError::Braces);
    }
    let list = code.trim().strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    Ok(list.unwrap_or(code))
}

#[cfg(test)]
mod tests {
    use uniqurl::Profile;
    use uniqurl::internal::System;

    use super::*;

    fn numbers(ring: &Ring) -> Vec<&'static str> {
        (0..=255).map(|byte| entry(ring.act(byte))).collect()
    }

    fn of(profile: Profile) -> Ring {
        let System::Ring(ring) = profile.rules().system else { panic!("{profile} has a ring") };
        ring.clone()
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
        [Profile::Ring, Profile::Mediawiki, Profile::Restbase, Profile::Upload]
            .map(of)
            .into_iter()
            .chain(drawn)
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        for ring in rings() {
            for table in [to_c(&ring, "own"), to_vcl(&ring, "own"), to_lua(&ring, "own")] {
                assert_eq!(read(&table).as_ref(), Ok(&ring), "{table}");
            }
            for (between, around) in [(" ", ["", ""]), (",\n", ["[", "]\n"]), (", ", ["{", ",}"])] {
                let table = numbers(&ring).join(between);
                let table = format!("{}{table}{}", around[0], around[1]);
                assert_eq!(read(&table).as_ref(), Ok(&ring), "{table}");
            }
        }
    }

    #[test]
    fn the_table_of_uploads_has_the_form_of_the_page() {
        let table = to_vcl(&of(Profile::Upload), "upload");
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
            let digits = numbers(&of(Profile::Ring));
            for other in ["0", "1", "2"] {
                let mut changed = digits.clone();
                changed[usize::from(byte)] = other;
                let is_customizable = Ring::new(&[byte], b"").is_ok();
                let is_ring = other == digits[usize::from(byte)] || is_customizable;
                match read(&changed.join(",")) {
                    Ok(ring) => assert!(is_ring && numbers(&ring) == changed, "{byte:02X}"),
                    Err(error) => assert!(
                        !is_ring && error == TableError::Fixed(byte, of(Profile::Ring).act(byte))
                    ),
                }
            }
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let good = numbers(&of(Profile::Ring)).join(",");
        let table = to_c(&of(Profile::Ring), "a");
        let wrong = |entry: &str| TableError::Entry(entry.to_owned());
        for (text, error) in [
            (String::new(), TableError::Entries(0)),
            (format!("{good},0"), TableError::Entries(257)),
            (good[2..].to_owned(), TableError::Entries(255)),
            (format!("[0]=0,{good}"), TableError::Entries(257)),
            (format!("[1]={good}"), wrong("[1]=0")),
            (format!("{good},[0]=0"), wrong("[0]=0")),
            (format!("3{}", &good[1..]), wrong("3")),
            (format!("00{}", &good[1..]), wrong("00")),
            (format!("0x0{}", &good[1..]), wrong("0x0")),
            (format!("{{{good}"), TableError::Braces),
            (format!("{table}{table}"), TableError::Braces),
            ("crawl".to_owned(), wrong("crawl")),
            ("0,0,\u{e9}".to_owned(), wrong("\u{e9}")),
        ] {
            assert_eq!(read(&text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_parameters_of_a_rule_are_read_as_they_stand() {
        let encode = "21 24 26 27 28 29 2A 2B 2C 3A 3B 3D 40 5B 5D";
        for text in [
            format!("decode=2F encode={encode}"),
            format!("decode=\"2F\" encode=\"{encode}\""),
            format!("@pparam=\"2F\" @pparam=\"{encode}\""),
            format!("'@pparam=\"2F\"' '@pparam=\"{encode}\"'"),
            format!("'@pparam=\"2F\"',\n'@pparam=\"{encode}\"'\n"),
            format!(
                "          # decode    /\n          - '@pparam=\"2F\"'\n          # encode    !  $  &  '  \
                 (  )  *  +  ,  :  ;  =  @  [  ]\n          - '@pparam=\"{encode}\"'\n"
            ),
            format!("\"2F\" \"{encode}\""),
            format!("\"2F\",\"{}\"", encode.replace(' ', ",")),
        ] {
            assert_eq!(read_lists(&text), Ok(of(Profile::Upload)), "{text}");
        }
        let encoding = Ring::new(b"", b"!$");
        for text in ["@pparam=\"\" @pparam=\"21 24\"", "\"\" \"21 24\"", "encode=,21\t24,,"] {
            assert_eq!(read_lists(text), encoding, "{text}");
        }
        for text in ["", "@pparam=\"\""] {
            assert_eq!(read_lists(text), Ok(of(Profile::Ring)), "{text}");
        }
        for text in [
            "@pparam=2F encode=21",
            "@pparam=/etc/trafficserver/lua/normalize-path.lua",
            "\"2F\" 21",
            "\"2F\" \"21",
            "\"2F\" \"21\" \"24\"",
            "\"2F\" \"encode=21\"",
        ] {
            assert!(matches!(read_lists(text), Err(RingError::Syntax(_))), "{text}");
        }
    }
}
