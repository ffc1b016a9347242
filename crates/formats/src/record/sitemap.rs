//! Reads `sitemap`: the content of each `<loc>` of an XML sitemap, or of an index of sitemaps.
//!
//! A `loc` may have a prefix, as `<image:loc>`. References (`&amp;`), CDATA and comments are undone, and
//! white space around the URL goes. Sitemaps come on many lines or on a single one, so the text is not
//! cut at line feeds but after each `>`. A piece is the text up to a `>`: it holds the end of some
//! content, and then a tag, or a part of a comment or of CDATA.
//!
//! The plain loop goes from piece to piece with a [`State`]. [`Sitemap::whole`] ends a chunk where that state is
//! `Outside`, so that every chunk begins there.
//!
//! ```text
//! Outside ---- <loc> ----> Loc ---- </loc> -----> Outside, with a URL
//!    |                      | ----- any other tag --> Outside, with a rejected record
//!    +-- <!-- or <![CDATA[ -+--> Comment or Cdata, and at its end back to where it began
//! ```

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::layout::Layout;
use super::line::{Line, is_blank, without_mark};
use super::{BufferId, Context, Extracted, Record, Records, Separator, entity};
use uniqurl::RejectReason;
use uniqurl::internal::Span;

/// The byte after which the text is cut.
const END: u8 = b'>';

/// The layout.
#[derive(Debug)]
pub(super) struct Sitemap;

impl Layout for Sitemap {
    fn name(&self) -> Cow<'_, str> {
        "sitemap".into()
    }

    fn has_whole_records(&self) -> bool {
        false
    }

    /// Appends a record for each `loc` of `chunk`, which begins outside of all of them.
    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut pieces = Pieces::new(chunk, ctx.max_record);
        while !out.is_full() {
            let Some(ended) = pieces.take() else { break };
            if let Some(content) = ended {
                push(ctx, chunk, content, out);
            }
        }
        // A full window stops between pieces, so an open `loc` goes on in the next pass and is not
        // cut.
        let is_over = !out.is_full();
        if let State::Loc(from) | State::Comment(Some(from)) | State::Cdata(Some(from)) =
            pieces.state
            && is_over
        {
            push(ctx, chunk, Content::Cut(from..chunk.len()), out);
        }
    }

    fn separator(&self, _separator: Separator) -> u8 {
        END
    }

    /// Length of the text that ends outside of any `loc`, comment and CDATA section.
    fn whole(&self, ctx: &Context, text: &[u8]) -> usize {
        let mut pieces = Pieces::new(text, ctx.max_record);
        let mut whole = 0;
        while pieces.take().is_some() {
            whole = match pieces.state {
                State::Outside => pieces.at,
                _ => pieces.since,
            };
        }
        whole
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn fits_envelopes(&self) -> bool {
        false
    }

    fn fits(&self, _line: &[u8]) -> Option<bool> {
        Some(false)
    }
}

/// The place of a piece in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// In no construct that matters.
    Outside,
    /// In a comment. Inside a `loc` there is the start of its content.
    Comment(Option<usize>),
    /// In a CDATA section, as in a comment.
    Cdata(Option<usize>),
    /// In the content of a `loc`, which starts here.
    Loc(usize),
}

/// The end of a `loc`.
enum Content {
    /// The range of its content, markup included.
    Whole(Range<usize>),
    /// The document ends in it.
    Cut(Range<usize>),
    /// Another element begins in it.
    Mixed(Range<usize>),
    TooLong(Range<usize>),
}

/// Goes through a text piece by piece.
struct Pieces<'a> {
    text: &'a [u8],
    max_record: usize,
    at: usize,
    state: State,
    /// Start of the construct that the state is in.
    since: usize,
}

impl<'a> Pieces<'a> {
    fn new(text: &'a [u8], max_record: usize) -> Self {
        Self { text, max_record, at: 0, state: State::Outside, since: 0 }
    }

    /// Takes the next piece, if its end is known, and returns the `loc` that ends in it.
    fn take(&mut self) -> Option<Option<Content>> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = match memchr(END, rest) {
            Some(length) => length,
            // The reader of the input leaves out the rest of such a piece.
            None if rest.len() > self.max_record => rest.len(),
            None => return None,
        };
        let end = start + length;
        self.at = (end + 1).min(self.text.len());
        if length > self.max_record {
            return Some(self.give_up(end));
        }
        let ended = self.step(start, end);
        // What does not close within the limit must not swallow the rest of the document.
        if self.state != State::Outside && end - self.since > self.max_record {
            return Some(self.give_up(end));
        }
        Some(ended)
    }

    fn give_up(&mut self, end: usize) -> Option<Content> {
        match std::mem::replace(&mut self.state, State::Outside) {
            State::Loc(from) | State::Comment(Some(from)) | State::Cdata(Some(from)) => {
                Some(Content::TooLong(from..end))
            }
            State::Outside | State::Comment(None) | State::Cdata(None) => None,
        }
    }

    /// Moves past the piece `start..end`, whose `>` is at `end`.
    fn step(&mut self, start: usize, end: usize) -> Option<Content> {
        let piece = &self.text[start..end];
        let (opener, outer) = match self.state {
            State::Comment(outer) => {
                // The text is cut at each `>`, so `-->` shows as two hyphens at the end of a piece.
                self.leave_if(piece.ends_with(b"--"), outer);
                return None;
            }
            State::Cdata(outer) => {
                self.leave_if(piece.ends_with(b"]]"), outer);
                return None;
            }
            State::Outside => (opener(piece)?, None),
            State::Loc(from) => (opener(piece)?, Some(from)),
        };
        let at = start + opener;
        let tag = &piece[opener + 1..];
        if let Some(text) = tag.strip_prefix(b"!--") {
            self.enter(State::Comment(outer), at, text.ends_with(b"--"), outer);
            return None;
        }
        if let Some(text) = tag.strip_prefix(CDATA) {
            self.enter(State::Cdata(outer), at, text.ends_with(b"]]"), outer);
            return None;
        }
        let ended = outer.map(|from| match tag.strip_prefix(b"/").map(name) {
            Some(b"loc") => Content::Whole(from..at),
            // Another tag inside: nobody knows where the URL ends.
            _ => Content::Mixed(from..at),
        });
        self.state = State::Outside;
        if !tag.ends_with(b"/") && name(tag) == b"loc" {
            self.state = State::Loc(end + 1);
            self.since = at;
        }
        ended
    }

    /// Enters a construct, unless it ends in the same piece.
    fn enter(&mut self, state: State, at: usize, is_closed: bool, outer: Option<usize>) {
        if outer.is_none() {
            self.since = at;
        }
        self.state = state;
        self.leave_if(is_closed, outer);
    }

    fn leave_if(&mut self, is_closed: bool, outer: Option<usize>) {
        if is_closed {
            self.state = outer.map_or(State::Outside, State::Loc);
        }
    }
}

const CDATA: &[u8] = b"![CDATA[";

/// Where the markup of a piece begins: the last `<`, or the first one of a comment or of CDATA.
fn opener(piece: &[u8]) -> Option<usize> {
    let last = memrchr(b'<', piece)?;
    // A comment may hold any `<`, so its own start is looked for and not the last one.
    let mut markup = memmem::find_iter(piece, b"<!");
    let starts = |at: &usize| {
        let text = &piece[at + 1..];
        text.starts_with(b"!--") || text.starts_with(CDATA)
    };
    Some(markup.find(starts).unwrap_or(last))
}

/// The name of a tag without its prefix.
fn name(tag: &[u8]) -> &[u8] {
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
    let name = &tag[..end.unwrap_or(tag.len())];
    memrchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

fn push(ctx: &Context, chunk: &[u8], content: Content, out: &mut Records) {
    let (range, code) = match content {
        Content::Whole(range) => (range, None),
        Content::Cut(range) => (range, Some(RejectReason::Truncated)),
        Content::Mixed(range) => (range, Some(RejectReason::LogSyntax)),
        Content::TooLong(range) => (range, Some(RejectReason::TooLong)),
    };
    let line = Line { bytes: &chunk[range.clone()], start: range.start as u32 };
    let text = line.range_of(line.bytes.trim_ascii()).unwrap_or_default();
    let found = match code {
        Some(code) => Extracted::Reject(code, 0),
        None => url(ctx, line, text.clone(), &mut out.scratch),
    };
    out.push(Record { line: line.span(text), found });
}

/// The URL in a range of the content of a `loc`.
fn url(ctx: &Context, line: Line<'_>, range: Range<usize>, scratch: &mut Vec<u8>) -> Extracted {
    let raw = &line.bytes[range.clone()];
    if memchr(b'&', raw).is_none() && memchr(b'<', raw).is_none() {
        return match raw.len() {
            0 => Extracted::Blank,
            length if length > ctx.max_url => {
                Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
            }
            _ => Extracted::Url(BufferId::Chunk, line.span(range)),
        };
    }
    let start = scratch.len();
    undo(raw, scratch);
    // White space may stand inside of CDATA, too, and shows only now.
    let undone = scratch[start..].trim_ascii();
    if is_blank(undone) {
        scratch.truncate(start);
        return Extracted::Blank;
    }
    if undone.len() > ctx.max_url {
        scratch.truncate(start);
        return Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32);
    }
    let lead = scratch[start..].len() - scratch[start..].trim_ascii_start().len();
    let range = start + lead..start + lead + undone.len();
    match Span::checked(range) {
        Some(url) => Extracted::Url(BufferId::Scratch, url),
        None => Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32),
    }
}

/// Appends character data without its references, CDATA marks and comments.
fn undo(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(b'<', rest) {
        entity::undo(&rest[..at], out);
        rest = &rest[at + 1..];
        let (is_data, end): (bool, &[u8]) = match rest.starts_with(CDATA) {
            true => (true, b"]]>"),
            false => (false, b"-->"),
        };
        let inner = if is_data { &rest[CDATA.len()..] } else { rest };
        let length = memmem::find(inner, end);
        if is_data {
            out.extend_from_slice(&inner[..length.unwrap_or(inner.len())]);
        }
        rest = length.map_or(&[], |length| &inner[length + end.len()..]);
    }
    entity::undo(rest, out);
}

/// True if a document that begins like this is a sitemap or an index of sitemaps.
pub(super) fn is_one(head: &[u8]) -> bool {
    let head = without_mark(head).trim_ascii_start();
    if !head.starts_with(b"<") {
        return false;
    }
    let mut pieces = Pieces::new(head, head.len());
    loop {
        let start = pieces.at;
        if pieces.take().is_none() {
            return false;
        }
        let piece = &head[start..pieces.at.saturating_sub(1).max(start)];
        let Some(opener) = opener(piece) else { continue };
        let tag = &piece[opener + 1..];
        if pieces.state == State::Outside && !tag.starts_with(b"?") && !tag.starts_with(b"!") {
            return matches!(name(tag), b"urlset" | b"sitemapindex");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::format::tests::read as read_records;
    use super::*;

    /// What each record of a text holds: a URL, or a code.
    fn shown(ctx: &Context, text: &str) -> Vec<String> {
        let out = read_records(&Format::Sitemap, ctx, text.as_bytes());
        let show = |record: &Record| match record.found {
            Extracted::Url(BufferId::Chunk, url) => {
                String::from_utf8_lossy(url.of(text.as_bytes())).into_owned()
            }
            Extracted::Url(BufferId::Scratch, url) => {
                String::from_utf8_lossy(url.of(&out.scratch)).into_owned()
            }
            Extracted::Reject(code, _) => code.name().to_owned(),
            Extracted::Blank => "blank".to_owned(),
            other => panic!("{other:?}"),
        };
        out.records.iter().map(show).collect()
    }

    const MAP: &str = "<?xml version=\"1.0\"?><!-- a > b --><s:urlset xmlns:s='http://n/'>\
        <s:url><s:loc>http://h/1</s:loc><priority>1</priority></s:url>\n<url>\n<loc\n>\n  \
        http://h/?a=1&amp;b=2&#38;c\n</loc ></url><url><loc><![CDATA[http://h/?a&b>c]]></loc>\
        <image:loc> http://h/<!-- x > y -->4</image:loc></url><loc/><loc></loc><loc> </loc>\
        <!-- <loc>http://h/old</loc> --><![CDATA[<loc>http://h/no</loc>]]>\
        <content_loc>http://h/v</content_loc><loc a='b'>http://h/5</loc></s:urlset>";

    #[test]
    fn content_of_each_loc_is_a_record() {
        assert_eq!(
            shown(&Context::default(), MAP),
            [
                "http://h/1",
                "http://h/?a=1&b=2&c",
                "http://h/?a&b>c",
                "http://h/4",
                "blank",
                "blank",
                "http://h/5"
            ]
        );
    }

    #[test]
    fn records_do_not_depend_on_chunks() {
        let ctx = Context::default();
        let all = shown(&ctx, MAP);
        for first in 0..MAP.len() {
            let Some(cut) = MAP[..first].rfind('>').map(|at| at + 1) else { continue };
            let whole = Sitemap.whole(&ctx, &MAP.as_bytes()[..cut]);
            let mut parts = shown(&ctx, &MAP[..whole]);
            parts.extend(shown(&ctx, &MAP[whole..]));
            assert_eq!(parts, all, "cut at {cut}, whole to {whole}");
        }
        assert_eq!(Sitemap.whole(&ctx, MAP.as_bytes()), MAP.len());
    }

    #[test]
    fn broken_content_is_rejected() {
        let ctx = Context::default();
        assert_eq!(shown(&ctx, "<loc>http://h/cut"), ["truncated"]);
        assert_eq!(shown(&ctx, "<loc>http://h/<![CDATA[a>"), ["truncated"]);
        assert_eq!(
            shown(&ctx, "<loc>http://h/1<loc>http://h/2</loc></url>"),
            ["log-syntax", "http://h/2"]
        );
        assert_eq!(shown(&ctx, "<loc>http://h/1</url><loc>http://h/2</loc>").len(), 2);
    }

    #[test]
    fn limits_hold_for_the_url_and_for_the_element() {
        let ctx = Context { max_url: 12, max_record: 40, ..Context::default() };
        let long = "x".repeat(50);
        assert_eq!(
            shown(&ctx, "<loc>http://h/&amp;a</loc><loc>http://h/1234</loc>"),
            ["http://h/&a", "too-long"]
        );
        for text in [
            format!("<loc>{long}</loc><loc>http://h/</loc>"),
            format!("<loc>{}</loc><loc>http://h/</loc>", "<!-- > -->".repeat(9)),
            // The input is cut there, and goes on after the next `>`.
            format!("<loc>{}", &long[..45]),
        ] {
            let shown = shown(&ctx, &text);
            assert_eq!(shown[0], "too-long", "{text}");
            assert!(shown[1..].iter().all(|next| next == "http://h/"), "{text}");
        }
        let comment = format!("<!-- {}><loc>http://h/</loc>", "> ".repeat(30));
        assert_eq!(shown(&ctx, &comment), ["http://h/"]);
    }

    #[test]
    fn sitemap_is_recognized_by_its_first_element() {
        for head in [
            "<urlset>",
            "<?xml version='1.0'?>\n<?xml-stylesheet href='a.xsl'?>\n<urlset xmlns=\"http://n\">",
            "\u{feff}<!-- <html> -->\r\n<sitemapindex\nxmlns='x'>",
            "<sm:urlset xmlns:sm='x'><sm:url>",
        ] {
            assert!(is_one(head.as_bytes()), "{head}");
        }
        for head in
            ["", "<html><urlset>", "urlset", "<!DOCTYPE html><html>", "<urlset", "a<urlset>"]
        {
            assert!(!is_one(head.as_bytes()), "{head}");
        }
    }
}
