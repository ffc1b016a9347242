//! Reads the lists of a ring: `decode=2F,3A encode=21,24`, or two strings from the configuration of
//! Apache Traffic Server.

/// How a text marks its two lists. Only one way may be used at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// By `decode=` and `encode=`.
    Names,
    /// By `@pparam=` before each.
    Parameters,
    /// By quotation marks around each; nothing else marks them.
    Quotes,
}

/// The bytes to decode and those to encode. The error is the offset of the fault.
pub(super) fn parse(text: &str) -> Result<[Vec<u8>; 2], usize> {
    let words = words(text);
    let are_quoted = words.iter().all(|word| word.kind != Kind::Equals);
    let mut lists: [Option<Vec<u8>>; 2] = [None, None];
    let (mut marks, mut open) = (None, None);
    let mut rest = words.iter().enumerate();
    while let Some((i, word)) = rest.next() {
        let is_name = words.get(i + 1).is_some_and(|next| next.kind == Kind::Equals);
        let next = lists.iter().take_while(|list| list.is_some()).count();
        let (mark, list) = match (word.kind, word.text) {
            (Kind::Word, "decode") if is_name => (Marks::Names, 0),
            (Kind::Word, "encode") if is_name => (Marks::Names, 1),
            (Kind::Word, "@pparam") if is_name => (Marks::Parameters, next),
            (Kind::Quote, _) if are_quoted && open.is_none() => (Marks::Quotes, next),
            (Kind::Quote, _) => {
                open = open.filter(|_| !are_quoted);
                continue;
            }
            (Kind::Word, digits) => {
                let list: usize = open.ok_or(word.at)?;
                lists[list].get_or_insert_default().push(hex(digits).ok_or(word.at)?);
                continue;
            }
            (Kind::Equals, _) => return Err(word.at),
        };
        let is_free = lists.get(list).is_some_and(Option::is_none);
        if !is_free || *marks.get_or_insert(mark) != mark {
            return Err(word.at);
        }
        lists[list] = Some(Vec::new());
        open = Some(list);
        if is_name {
            rest.next();
        }
    }
    match marks {
        Some(Marks::Quotes) if open.is_some() => Err(text.len()),
        _ => Ok(lists.map(Option::unwrap_or_default)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Equals,
    /// A double quotation mark.
    Quote,
}

struct Word<'a> {
    kind: Kind,
    text: &'a str,
    at: usize,
}

/// The words, equals signs and quotation marks of a text. Commas, blanks, apostrophes, comments, and the
/// dashes of a list in YAML are left out.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let end = match first {
            '#' => text[at..].find('\n').map_or(text.len(), |end| at + end),
            '=' | '"' => {
                let kind = if first == '=' { Kind::Equals } else { Kind::Quote };
                words.push(Word { kind, text: &text[at..at + 1], at });
                at + 1
            }
            _ if is_between(first) => at + first.len_utf8(),
            _ => {
                let ends = |char| is_between(char) || matches!(char, '=' | '"' | '#');
                let end = text[at..].find(ends).map_or(text.len(), |end| at + end);
                if &text[at..end] != "-" {
                    words.push(Word { kind: Kind::Word, text: &text[at..end], at });
                }
                end
            }
        };
        at = end;
    }
    words
}

fn is_between(char: char) -> bool {
    matches!(char, ',' | '\'') || char.is_ascii_whitespace()
}

/// The byte that two hexadecimal digits spell.
fn hex(digits: &str) -> Option<u8> {
    let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::super::ring::{PLAIN, Ring, RingError, UPLOAD};

    #[test]
    fn the_parameters_of_a_rule_are_read_as_they_stand() {
        let encode = "21 24 26 27 28 29 2A 2B 2C 3A 3B 3D 40 5B 5D";
        for text in [
            format!("decode=2F encode={encode}"),
            format!("decode=\"2F\" encode=\"{encode}\""),
            format!("encode = '{encode}', decode = '2f'"),
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
            assert_eq!(Ring::parse(&text), Ok(UPLOAD), "{text}");
        }
        let encoding = Ring::new(b"", b"!$").unwrap();
        for text in ["@pparam=\"\" @pparam=\"21 24\"", "\"\" \"21 24\"", "encode=,21\t24,,"] {
            assert_eq!(Ring::parse(text), Ok(encoding.clone()), "{text}");
        }
        for text in ["", " ,\n", "decode=", "encode=''", "@pparam=\"\""] {
            assert_eq!(Ring::parse(text), Ok(PLAIN), "{text}");
        }
    }

    #[test]
    fn malformed_ring_is_an_error_with_its_position() {
        for (text, at) in [
            ("decode", 0),
            ("decode=2", 7),
            ("decode=2F,+1", 10),
            ("decode=2F,\u{e9}\u{e9}", 10),
            ("decode=2F encod=21", 10),
            ("decode=2F decode=3A", 10),
            ("decode==2F", 7),
            ("decode=2F3A", 7),
            ("decode=%2F", 7),
            ("@pparam=2F @pparam=21 @pparam=24", 22),
            ("@pparam=2F encode=21", 11),
            ("@pparam=/etc/trafficserver/lua/normalize-path.lua", 8),
            ("2F", 0),
            ("\"2F\" 21", 5),
            ("\"2F\" \"21", 8),
            ("\"2F\" \"21\" \"24\"", 10),
        ] {
            assert_eq!(Ring::parse(text), Err(RingError::Syntax(at)), "{text}");
        }
    }
}
