//! URLs in the text of HTML and XML: where they end, and which attributes hold none.
//!
//! An input is markup if it begins with a tag, a declaration or a comment. In other inputs only URLs
//! inside of a tag are, as in a line of Markdown that holds `<a href="...">`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memrchr, memrchr2};

use crate::record::entity;
use crate::record::line::without_mark;

/// True if a text begins with markup. None if it is blank.
pub(super) fn begins(text: &[u8]) -> Option<bool> {
    let text = without_mark(text).trim_ascii_start();
    Some(match text.split_first()? {
        (b'<', [b'!' | b'?', ..]) => true,
        (b'<', [first, rest @ ..]) if first.is_ascii_alphabetic() => {
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b":-_.".contains(byte);
            let length = rest.iter().take_while(|byte| is_name(byte)).count();
            match &rest[length..] {
                [] | [b'>', ..] | [b'/', b'>', ..] => true,
                // A URL in angle brackets goes on otherwise.
                [next, ..] => next.is_ascii_whitespace(),
            }
        }
        _ => false,
    })
}

/// The tag and the attribute that the URLs of a line stand in.
///
/// It goes forward from URL to URL and looks at each byte a fixed number of times. A search backwards from
/// each URL takes quadratic time in a line of many URLs without a bracket or a quotation mark.
#[derive(Default)]
pub(super) struct Place<'a> {
    /// The text up to here has been looked at.
    at: usize,
    /// The end of the last quotation mark.
    mark: usize,
    /// The tag that is open, and whether it holds an `=` so far.
    tag: Option<bool>,
    /// The name of the attribute before the last quotation mark.
    attribute: Option<&'a [u8]>,
    /// Whether only white space follows the last quotation mark.
    is_first: bool,
    /// The number of bytes that were looked at.
    #[cfg(test)]
    looked: usize,
}

impl<'a> Place<'a> {
    /// Goes on to the URL that starts at `start`. All calls get the same text, and starts that rise.
    pub fn advance(&mut self, text: &'a [u8], start: usize) {
        let fresh = &text[self.at..start];
        let open = memrchr(b'<', fresh).map(|open| open + 1);
        if let Some(open) = open {
            // Before anything but a letter, the sign is one of comparison or begins a declaration.
            let is_tag = text[self.at + open..].first().is_some_and(u8::is_ascii_alphabetic);
            self.tag = is_tag.then_some(false);
        }
        let tag = &fresh[open.unwrap_or(0)..];
        if memchr(b'>', tag).is_some() {
            self.tag = None;
        }
        // `<http://h/>` looks like a tag until an attribute shows that it is one.
        self.tag = self.tag.map(|has_equals| has_equals || memchr(b'=', tag).is_some());
        let mut value = fresh;
        if let Some(mark) = memrchr2(b'"', b'\'', fresh) {
            let before = &text[self.mark..self.at + mark];
            #[cfg(test)]
            (self.looked += before.len());
            self.attribute = attribute(before);
            self.is_first = true;
            self.mark = self.at + mark + 1;
            value = &text[self.mark..start];
        }
        self.is_first = self.is_first && value.trim_ascii().is_empty();
        self.at = start;
        #[cfg(test)]
        (self.looked += fresh.len());
    }

    /// True if the URL stands in a tag.
    pub fn is_in_tag(&self) -> bool {
        self.tag == Some(true)
    }

    /// True if the URL begins the value of an attribute.
    fn begins_value(&self) -> bool {
        self.is_first && self.attribute.is_some()
    }

    /// True if an attribute whose value names an XML namespace, or says where schemas of some are, holds
    /// the URL.
    pub fn is_namespace(&self) -> bool {
        match self.attribute {
            Some(b"xmlns") => self.is_first,
            Some(name) if name.starts_with(b"xmlns:") => self.is_first,
            Some(name) => {
                let local = memrchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
                matches!(local, b"schemaLocation" | b"noNamespaceSchemaLocation")
            }
            None => false,
        }
    }
}

/// The name of the attribute that a text ends with, up to its `=`.
fn attribute(text: &[u8]) -> Option<&[u8]> {
    let name = text.trim_ascii_end().strip_suffix(b"=")?.trim_ascii_end();
    let is_outside = |byte: &u8| byte.is_ascii_whitespace() || b"<\"'".contains(byte);
    let start = name.iter().rposition(is_outside).map_or(0, |at| at + 1);
    (start < name.len()).then_some(&name[start..])
}

/// A URL in markup: its range in the text, and its bytes with references undone. None if nothing is left
/// of it.
///
/// In an attribute it ends with the value. Elsewhere a reference to a delimiter ends it, as the delimiter
/// would, and final punctuation is left to the text.
pub(super) fn url<'a>(
    place: &Place<'_>,
    text: &'a [u8],
    mut span: Range<usize>,
    uri: Cow<'a, [u8]>,
) -> Option<(Range<usize>, Cow<'a, [u8]>)> {
    let quote = place.begins_value().then(|| text[place.mark - 1]);
    let uri = match (quote, uri) {
        // White space was taken out of it.
        (_, Cow::Owned(uri)) => Cow::Owned(uri),
        (Some(quote), Cow::Borrowed(uri)) => {
            span.end = span.start + memchr(quote, uri).unwrap_or(uri.len());
            Cow::Borrowed(&text[span.clone()])
        }
        (None, Cow::Borrowed(_)) => {
            span.end = end_of_bare(text, span.clone());
            Cow::Borrowed(&text[span.clone()])
        }
    };
    let colon = memchr(b':', &uri)?;
    // A scheme alone, as in `href="http://"`, names nothing.
    if uri[colon + 1..].iter().all(|byte| *byte == b'/') {
        return None;
    }
    if memchr(b'&', &uri).is_none() {
        return Some((span, uri));
    }
    let mut undone = Vec::with_capacity(uri.len());
    entity::undo(&uri, &mut undone);
    Some((span, Cow::Owned(undone)))
}

/// The end of a URL without quotation marks around it.
fn end_of_bare(text: &[u8], span: Range<usize>) -> usize {
    let mut at = span.start;
    let mut kept = at;
    while let Some(found) = memchr(b'&', &text[at..span.end]) {
        at += found;
        match entity::reference(&text[at..]) {
            Some((meant, _)) if meant.is_whitespace() || "\"<>".contains(meant) => {
                return without_punctuation(text, kept..at);
            }
            Some((_, length)) => {
                at += length;
                // Its semicolon is no punctuation.
                kept = at;
                if at >= span.end {
                    return at;
                }
            }
            None => at += 1,
        }
    }
    without_punctuation(text, kept..span.end)
}

/// The end of a range without the punctuation that it ends with.
fn without_punctuation(text: &[u8], range: Range<usize>) -> usize {
    let is_final = |byte: &&u8| b".,:;!?'([".contains(*byte);
    range.end - text[range].iter().rev().take_while(is_final).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::uri::extract;

    #[test]
    fn place_of_each_url_is_found_in_linear_time() {
        for part in [
            "http://h/ ",
            "<a b='http://h/' ",
            "\"http://h/\" x=\"",
            "   'http://h/",
            "< =http://h/ ",
        ] {
            let text = ["<a b=\" ", &part.repeat(2_000)].concat();
            let mut place = Place::default();
            let mut urls = 0;
            for url in extract(text.as_bytes()) {
                place.advance(text.as_bytes(), url.span.start);
                urls += 1;
            }
            assert_eq!(urls, 2_000, "{part}");
            let (looked, most) = (place.looked, 2 * text.len());
            assert!(looked <= most, "{part}: {looked} of {most}");
        }
    }
}
