//! Reads `text`: every URL in free text is a record, by the rules of [`extract`].
//!
//! Each line is read by itself, so the records do not depend on how the input is cut. A URL that
//! angle brackets hold together across a line's end becomes two pieces. Lines without a URL and
//! blank lines are not records.
//!
//! The escaping of the text around a URL is undone: references in HTML and XML ([`markup`]), and
//! slashes and `\u0026` as JSON may write them ([`unescape_json`]).

mod markup;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memmem};

use self::markup::Place;
use super::layout::Layout;
use super::line::Line;
use super::{BufferId, Context, Extracted, Record, Records};
use uniqurl::RejectReason;
use uniqurl::internal::Span;
use uniqurl::uri::extract;

/// Whether the input is HTML or XML, once its first line that is not blank was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Text {
    is_markup: Option<bool>,
}

impl Layout for Text {
    fn name(&self) -> Cow<'_, str> {
        "text".into()
    }

    /// Appends a record for each URL in `chunk`, and a skipped one for each line without any.
    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let is_markup = self.is_markup.or_else(|| markup::begins(chunk)).unwrap_or(false);
        let mut start = 0;
        let ends = memchr_iter(b'\n', chunk).map(|feed| {
            let is_pair = feed > 0 && chunk[feed - 1] == b'\r';
            (feed - usize::from(is_pair), feed + 1)
        });
        let last = (chunk.last() != Some(&b'\n')).then_some((chunk.len(), chunk.len()));
        for (end, next) in ends.chain(last) {
            let line = Line { bytes: &chunk[start..end], start: start as u32 };
            if start < next {
                read_line(ctx, line, is_markup, out);
                if out.is_full() {
                    break;
                }
            }
            start = next;
        }
    }

    /// True until it is known whether the input is HTML or XML.
    fn looks_back(&self) -> bool {
        self.is_markup.is_none()
    }

    fn following(&self, _ctx: &Context, chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        let is_markup = markup::begins(chunk).filter(|_| self.is_markup.is_none())?;
        Some(Arc::new(Self { is_markup: Some(is_markup) }))
    }

    fn has_whole_records(&self) -> bool {
        false
    }

    fn is_within_lines(&self) -> bool {
        true
    }
}

fn read_line(ctx: &Context, line: Line<'_>, is_markup: bool, out: &mut Records) {
    let whole = line.span(0..line.bytes.len());
    if line.bytes.len() > ctx.max_record {
        let found = Extracted::Reject(RejectReason::TooLong, 0);
        return out.push(Record { line: whole, found });
    }
    let mut has_url = false;
    // A URL has a colon.
    if memchr(b':', line.bytes).is_some() {
        let unescaped = unescape_json(line.bytes);
        let text = unescaped.as_ref().map_or(line.bytes, |unescaped| &unescaped.text);
        let mut place = Place::default();
        for url in extract(text) {
            let mut span = url.span.clone();
            let mut uri = url.uri;
            place.advance(text, span.start);
            // Names of namespaces look like URLs, stand on every page, and lead nowhere.
            if place.is_namespace() {
                continue;
            }
            if is_markup || place.is_in_tag() {
                match markup::url(&place, text, span, uri) {
                    Some(found) => (span, uri) = found,
                    None => continue,
                }
            }
            // RFC 3986 appendix C takes white space out of a URL, which is then shorter than its
            // place in the text.
            let is_verbatim = unescaped.is_none() && uri.len() == span.len();
            let span = match &unescaped {
                Some(unescaped) => unescaped.origin(span),
                None => span,
            };
            push(ctx, line, span, &uri, is_verbatim, out);
            has_url = true;
        }
    }
    if !has_url {
        out.push(Record { line: whole, found: Extracted::Skipped });
    }
}

/// Appends the record of a URL that was found at `span` of the line.
fn push(
    ctx: &Context,
    line: Line<'_>,
    span: Range<usize>,
    uri: &[u8],
    is_verbatim: bool,
    out: &mut Records,
) {
    let span = line.span(span);
    let found = if uri.len() > ctx.max_url {
        Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
    } else if is_verbatim {
        Extracted::Url(BufferId::Chunk, span)
    } else {
        let start = out.scratch.len();
        out.scratch.extend_from_slice(uri);
        match Span::checked(start..out.scratch.len()) {
            Some(uri) => Extracted::Url(BufferId::Scratch, uri),
            None => Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32),
        }
    };
    out.push(Record { line: span, found });
}

/// A line without some of the escapes of JSON.
struct Unescaped {
    text: Vec<u8>,
    /// For each escape that was undone: the offset of its byte in `text`, and how many bytes fewer
    /// there are up to there, this one included.
    undone: Vec<(usize, usize)>,
}

impl Unescaped {
    /// The range of the line from which a range of the text comes.
    fn origin(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let before = self.undone.partition_point(|(undone, _)| *undone < at);
            at + before.checked_sub(1).map_or(0, |last| self.undone[last].1)
        };
        place(range.start)..place(range.end)
    }
}

/// Undoes `\/`, as PHP writes slashes, where a URL has it after its scheme, and `\u0026` and the like of
/// bytes that a URL may hold. None if the line has neither.
fn unescape_json(line: &[u8]) -> Option<Unescaped> {
    memchr(b'\\', line)?;
    // Regular expressions hold `\/` as well. Only after a scheme and its colon it can be that of
    // JSON.
    let slashes = memmem::find(line, br":\/\/").is_some();
    if !slashes && memmem::find(line, br"\u00").is_none() {
        return None;
    }
    let mut unescaped = Unescaped { text: Vec::with_capacity(line.len()), undone: Vec::new() };
    let (mut at, mut fewer) = (0, 0);
    while let Some(found) = memchr(b'\\', &line[at..]) {
        let escape = at + found;
        unescaped.text.extend_from_slice(&line[at..escape]);
        let (byte, length) = match &line[escape + 1..] {
            [b'/', ..] if slashes => (b'/', 2),
            [b'u', b'0', b'0', high, low, ..] => match url_byte(*high, *low) {
                Some(byte) => (byte, 6),
                None => (b'\\', 1),
            },
            // A backslash may stand before another, which then begins nothing.
            [b'\\', ..] => {
                unescaped.text.push(b'\\');
                (b'\\', 2)
            }
            _ => (b'\\', 1),
        };
        if length > 1 && byte != b'\\' {
            fewer += length - 1;
            unescaped.undone.push((unescaped.text.len(), fewer));
        }
        unescaped.text.push(byte);
        at = escape + length;
    }
    unescaped.text.extend_from_slice(&line[at..]);
    (!unescaped.undone.is_empty()).then_some(unescaped)
}

/// The byte of two hexadecimal digits, if a URL may hold it.
fn url_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
    (byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<String> {
        let mut out = Records::default();
        Text::default().read(&Context::default(), text.as_bytes(), &mut out);
        let show = |record: &Record| match record.found {
            Extracted::Url(BufferId::Chunk, url) => url.of(text.as_bytes()).to_vec(),
            Extracted::Url(BufferId::Scratch, url) => url.of(&out.scratch).to_vec(),
            _ => Vec::new(),
        };
        let urls = out.records.iter().map(show).filter(|url| !url.is_empty());
        urls.map(|url| String::from_utf8(url).unwrap()).collect()
    }

    #[test]
    fn carriage_return_before_a_line_feed_is_not_part_of_the_record() {
        let ctx = Context { max_record: 9, ..Context::default() };
        for (text, found) in [
            ("<http://h>", Extracted::Reject(RejectReason::TooLong, 0)),
            ("http://h/\r\n", Extracted::Url(BufferId::Chunk, Span { start: 0, end: 9 })),
            ("http://h/\r", Extracted::Reject(RejectReason::TooLong, 0)),
            ("\r\n", Extracted::Skipped),
        ] {
            let mut out = Records::default();
            Text::default().read(&ctx, text.as_bytes(), &mut out);
            assert_eq!(out.records.iter().map(|record| record.found).collect::<Vec<_>>(), [found]);
        }
    }

    #[test]
    fn escapes_of_json_are_undone() {
        for (line, url) in [
            (r#"{"u":"http:\/\/h\/a\/b"}"#, "http://h/a/b"),
            (r#"["http:\/\/h\/?a\u0026b\u003d1"]"#, "http://h/?a&b=1"),
            (r#"{"u":"https://h/?a=1\u0026b=2"}"#, "https://h/?a=1&b=2"),
            (r#"{"u":"https://h/\u003ca"}"#, r"https://h/\u003ca"),
            (r#"C:\dir http://h/\\u0026"#, "http://h/"),
        ] {
            assert_eq!(urls(line), [url], "{line}");
        }
    }

    #[test]
    fn record_of_an_unescaped_url_is_its_place_in_the_line() {
        let line = br#"{"a":"http:\/\/h\/\u0026","b":"http:\/\/i\/"}"#;
        let mut out = Records::default();
        Text::default().read(&Context::default(), line, &mut out);
        let places: Vec<&[u8]> = out.records.iter().map(|record| record.line.of(line)).collect();
        assert_eq!(places, [br"http:\/\/h\/\u0026".as_slice(), br"http:\/\/i\/"]);
    }

    #[test]
    fn references_are_undone_in_markup_alone() {
        let page = "<html><a href=\"http://h/?a&amp;b=&quot;c&quot;\">x</a>\n\
            see http://h/?d&#38;e, &lt;http://h/f&gt; or &quot;http://h/g&quot;.\n\
            <a href='http://h/?i&amp;j'>k</a> http://h/?l&amp;m; <q>http://h/?n&quot;</q>\n";
        assert_eq!(
            urls(page),
            [
                "http://h/?a&b=\"c\"",
                "http://h/?d&e",
                "http://h/f",
                "http://h/g",
                "http://h/?i&j",
                "http://h/?l&m",
                "http://h/?n",
            ]
        );
        assert_eq!(
            urls("see <a title=x href=\"http://h/?a&amp;b\">http://h/?c&amp;d</a>\n"),
            ["http://h/?a&b", "http://h/?c&amp;d"]
        );
        assert_eq!(urls("http://h/?a&amp;b\n<p>http://h/?a&amp;b\n"), ["http://h/?a&amp;b"; 2]);
    }

    #[test]
    fn names_of_namespaces_are_no_urls() {
        let rss = "<?xml version='1.0'?>\n<rss xmlns:a = \"http://n/1\" xmlns='http://n/2'\n\
            xsi:schemaLocation=\"http://n/3 http://n/4.xsd\" base=\"http://h/1\">\n\
            <a xmlns=\"http://n/5\" href=\"http://h/2\"/>";
        assert_eq!(urls(rss), ["http://h/1", "http://h/2"]);
    }
}
