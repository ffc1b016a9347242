//! Scans JSON (RFC 8259) from its start to its end, and checks it.
//!
//! In: text of any bytes. Out: the values that the caller stops at, each as the text writes it, so that no number
//! loses a digit. serde_json decodes those strings that hold escapes, and nothing else. The caller
//! goes through objects and arrays member by member ([`Scan::member`], [`Scan::element`]), or over a whole
//! value ([`Scan::value`]). That one calls itself for no level, so that brackets cannot overflow the stack.
//!
//! Bytes that are no UTF-8 pass, since logs hold what clients sent.

use std::borrow::Cow;

use serde::Deserialize;

/// The error for text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) struct NotJson;

/// What a scan yields.
pub(in crate::record) type Scanned<T = ()> = Result<T, NotJson>;

/// How to read control characters that a string should have escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Controls {
    /// As any other bytes.
    Pass,
    /// As errors.
    Fail,
}

/// A position in a text.
#[derive(Debug)]
pub(in crate::record) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// How to read names, and values that nobody asks for.
    others: Controls,
    /// The brackets that close the arrays and objects around the position, in the value at hand.
    open: Vec<u8>,
}

impl<'a> Scan<'a> {
    /// The start of a text, in whose names and values that nobody asks for control characters are read so.
    pub fn new(text: &'a [u8], others: Controls) -> Self {
        Self { text, at: 0, others, open: Vec::new() }
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                next => return next.copied(),
            }
        }
    }

    /// Skips this byte, if it is the next.
    #[inline]
    pub fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Scanned {
        if self.skip(byte) { Ok(()) } else { Err(NotJson) }
    }

    /// The name of the next member of the object whose opening brace, or a value in it, came before. Then comes
    /// its value. None if the object ends here.
    #[inline]
    pub fn member(&mut self, is_first: bool) -> Scanned<Option<Name<'a>>> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            Some(b',') if !is_first => self.at += 1,
            _ if is_first => {}
            _ => return Err(NotJson),
        }
        self.name(self.others).map(Some)
    }

    /// True if the array has another element, which comes next.
    pub fn element(&mut self, is_first: bool) -> Scanned<bool> {
        if self.skip(b']') {
            return Ok(false);
        }
        if !is_first {
            self.expect(b',')?;
        }
        Ok(true)
    }

    /// Scans a value.
    #[inline]
    pub fn value(&mut self, controls: Controls) -> Scanned<&'a [u8]> {
        // Most values of a log are strings.
        match self.peek().ok_or(NotJson)? {
            b'"' => self.string(controls).map(|string| string.text),
            first => self.value_from(first, controls),
        }
    }

    /// Scans a value that nobody asks for.
    pub fn other(&mut self) -> Scanned<&'a [u8]> {
        self.value(self.others)
    }

    fn value_from(&mut self, first: u8, controls: Controls) -> Scanned<&'a [u8]> {
        let start = self.at;
        self.open.clear();
        let mut next = first;
        loop {
            let is_whole = match next {
                b'"' => self.string(controls).map(|_| true)?,
                b'{' | b'[' => {
                    self.at += 1;
                    let close = if next == b'{' { b'}' } else { b']' };
                    let is_empty = self.skip(close);
                    if !is_empty {
                        self.open.push(close);
                        self.next_name(close, controls)?;
                    }
                    is_empty
                }
                _ => self.word(next).map(|()| true)?,
            };
            // After a value come brackets that close others, and then a comma and the next.
            while let (true, Some(close)) = (is_whole, self.open.last().copied()) {
                match self.peek() {
                    Some(byte) if byte == close => {
                        self.at += 1;
                        self.open.pop();
                    }
                    Some(b',') => {
                        self.at += 1;
                        self.next_name(close, controls)?;
                        break;
                    }
                    _ => return Err(NotJson),
                }
            }
            if self.open.is_empty() {
                return Ok(&self.text[start..self.at]);
            }
            next = self.peek().ok_or(NotJson)?;
        }
    }

    /// Scans the name of a value in an object.
    fn next_name(&mut self, close: u8, controls: Controls) -> Scanned {
        if close == b'}' { self.name(controls).map(|_| ()) } else { Ok(()) }
    }

    /// An error if anything but white space is left.
    pub fn end(&mut self) -> Scanned {
        if self.peek().is_none() { Ok(()) } else { Err(NotJson) }
    }

    /// Scans a name and its colon.
    #[inline]
    fn name(&mut self, controls: Controls) -> Scanned<Name<'a>> {
        if self.peek() != Some(b'"') {
            return Err(NotJson);
        }
        let name = self.string(controls)?;
        self.expect(b':')?;
        Ok(name)
    }

    /// Scans the string whose opening mark is next.
    #[inline]
    fn string(&mut self, controls: Controls) -> Scanned<Name<'a>> {
        let start = self.at;
        self.at += 1 + plain(&self.text[start + 1..]);
        if self.text.get(self.at) != Some(&b'"') {
            return self.string_from(start, controls);
        }
        self.at += 1;
        Ok(Name { text: &self.text[start..self.at], has_escapes: false })
    }

    /// Scans the rest of a string, from a byte that is not plain.
    #[cold]
    fn string_from(&mut self, start: usize, controls: Controls) -> Scanned<Name<'a>> {
        let mut has_escapes = false;
        loop {
            // The text may end here, too. The patterns ask for the length, where an index would
            // panic.
            let escape = match self.text[self.at..] {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(Name { text: &self.text[start..self.at], has_escapes });
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => {
                    6
                }
                [0..b' ', ..] if controls == Controls::Pass => 1,
                // nginx's `\xHH` ends here. `Json::said` then reads the line once more without such
                // escapes.
                _ => return Err(NotJson),
            };
            has_escapes |= escape > 1;
            self.at += escape;
            self.at += plain(&self.text[self.at..]);
        }
    }

    /// Scans a number, `true`, `false` or `null`, which begins with this byte.
    fn word(&mut self, first: u8) -> Scanned {
        let rest = &self.text[self.at..];
        let length = match first {
            b't' if rest.starts_with(b"true") => 4,
            b'f' if rest.starts_with(b"false") => 5,
            b'n' if rest.starts_with(b"null") => 4,
            _ => number(rest).ok_or(NotJson)?,
        };
        self.at += length;
        Ok(())
    }
}

/// A string as the text writes it, with its marks.
#[derive(Debug, Clone, Copy)]
pub(in crate::record) struct Name<'a> {
    text: &'a [u8],
    has_escapes: bool,
}

impl<'a> Name<'a> {
    /// It without its marks, and with its escapes.
    pub fn as_written(self) -> &'a [u8] {
        &self.text[1..self.text.len() - 1]
    }

    /// Its content.
    pub fn content(self) -> Cow<'a, [u8]> {
        match self.has_escapes {
            true => string(self.text).unwrap_or_default(),
            false => Cow::Borrowed(self.as_written()),
        }
    }
}

/// The length of a number: `-12.5e+3`, without a leading zero.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text.starts_with(b"-"));
    at += match digits(at) {
        0 => return None,
        // RFC 8259 section 6: no digit may follow a leading zero. The caller finds it there and
        // stops.
        _ if text[at] == b'0' => 1,
        digits => digits,
    };
    if text[at..].starts_with(b".") {
        at += 1 + Some(digits(at + 1)).filter(|digits| *digits > 0)?;
    }
    if let [b'e' | b'E', rest @ ..] = &text[at..] {
        at += 1 + usize::from(matches!(rest, [b'+' | b'-', ..]));
        at += Some(digits(at)).filter(|digits| *digits > 0)?;
    }
    Some(at)
}

/// The number of bytes before the first mark, backslash or control character.
///
/// Eight bytes at a time: most strings of a log are too short for the calls of `memchr`, which would not find
/// control characters either.
#[inline]
fn plain(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    // The high bit of the first byte that is less than `limit` is set. Later ones may be wrong, as the
    // subtraction borrows.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    let (words, rest) = text.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mark = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = mark | backslash | below(word, u64::from(b' '));
        if found != 0 {
            return 8 * n + found.trailing_zeros() as usize / 8;
        }
    }
    let is_other = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    text.len() - rest.len() + rest.iter().position(is_other).unwrap_or(rest.len())
}

/// The content of a string with its marks, UTF-8 or not; none for other values.
pub(in crate::record) fn string(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let content = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', content).is_none() {
        return Some(Cow::Borrowed(content));
    }
    serde_json::from_slice(text).ok().map(|JsonText(bytes)| bytes)
}

/// The content of a string, UTF-8 or not.
#[derive(Deserialize)]
#[serde(transparent)]
pub(in crate::record) struct JsonText<'a>(#[serde(borrow)] pub Cow<'a, [u8]>);

/// True for one value and nothing after it.
pub(in crate::record) fn is_whole(text: &[u8]) -> bool {
    first_value(text).is_some_and(|value| value.trim_ascii().len() == text.trim_ascii().len())
}

/// The value that a text begins with.
pub(in crate::record) fn first_value(text: &[u8]) -> Option<&[u8]> {
    Scan::new(text, Controls::Fail).value(Controls::Fail).ok()
}

/// The first value of an array.
pub(in crate::record) fn first_item(array: &[u8]) -> Option<&[u8]> {
    first_value(array.strip_prefix(b"[")?)
}

/// The names and values of an object's members, as the text writes them but without the marks around
/// names; none for any other value.
pub(in crate::record) fn members(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut scan = Scan::new(text, Controls::Pass);
    let is_object = scan.skip(b'{');
    let mut is_first = true;
    std::iter::from_fn(move || {
        let name = scan.member(is_first).ok().flatten().filter(|_| is_object)?;
        is_first = false;
        Some((name.as_written(), scan.other().ok()?))
    })
}
