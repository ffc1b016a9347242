//! Reads `varnishlog`, the text that Varnish's command of this name prints, grouped by transaction.
//!
//! ```text
//! *   << Request  >> 32770
//! -   ReqMethod      GET
//! -   ReqURL         /a
//! -   ReqHeader      Host: h.example
//! -   RespStatus     200
//! -   End
//! ```
//!
//! A transaction begins with such a header and ends with `End`, an empty line or the next header. Its record is the first
//! `ReqURL`, as the client sent it; VCL may write others after it. The first `Host` makes the authority
//! and `X-Forwarded-Proto` the scheme. Lines without a header before them, as `grep` leaves them, are read
//! one by one. Requests to backends (`BereqURL`) repeat those of clients and are skipped.

use std::ops::Range;

use super::line::{Line, cut, is_blank};
use super::origin::RecordOrigin;
use super::target::{self, Method, TargetText};
use super::{Context, Extracted, Facts, Record, Records, Separator, request};
use uniqurl::RejectReason;
use uniqurl::internal::{Kernel, Span};

/// The facts for filters.
pub(super) const FACTS: Facts = Facts { method: true, status: true, mime: false, ..Facts::NONE };

/// The parts of a transaction.
#[derive(Default)]
struct Transaction<'a> {
    /// The line of the URL, and the range of the URL in it.
    url: Option<(Line<'a>, Range<usize>)>,
    method: Option<&'a [u8]>,
    host: Option<&'a [u8]>,
    scheme: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
}

/// Appends a record for each transaction of `chunk`.
pub(super) fn read(ctx: &Context, chunk: &[u8], out: &mut Records) {
    for part in Parts::new(chunk) {
        let lines = part.lines.iter().map(|line| Line { bytes: line.of(chunk), start: line.start });
        let [first, .., last] = [part.lines.first(), part.lines.last()];
        let (Some(first), Some(last)) = (first, last) else { continue };
        let all = Span { start: first.start, end: last.end };
        if all.len() > ctx.max_record {
            let found = Extracted::Reject(RejectReason::TooLong, 0);
            out.push(Record { line: all, found });
        } else if part.has_header {
            let transaction = lines.fold(Transaction::default(), Transaction::with);
            let is_cut = all.end as usize == chunk.len() && !chunk.ends_with(b"\n");
            // The host may be in the lines that are missing.
            let found = match (&transaction.url, transaction.host) {
                (Some(_), None) if !part.is_closed => Extracted::Reject(RejectReason::Truncated, 0),
                (Some(_), _) if is_cut && !part.is_closed => {
                    Extracted::Reject(RejectReason::Truncated, 0)
                }
                _ => transaction.found(ctx, &mut out.scratch),
            };
            let line = transaction.url.map_or(all, |(line, _)| line.span(0..line.bytes.len()));
            out.push(Record { line, found });
        } else {
            for line in lines {
                let alone = Transaction::default().with(line);
                let whole = line.span(0..line.bytes.len());
                let found = match is_blank(line.bytes) {
                    true => Extracted::Blank,
                    false => alone.found(ctx, &mut out.scratch),
                };
                out.push(Record { line: whole, found });
                if out.is_full() {
                    break;
                }
            }
        }
        if out.is_full() {
            break;
        }
    }
}

impl<'a> Transaction<'a> {
    /// Takes a line into account.
    fn with(mut self, line: Line<'a>) -> Self {
        let Some((tag, value)) = tagged(line.bytes) else { return self };
        match tag {
            b"ReqURL" if self.url.is_none() => {
                self.url = line.range_of(value).map(|range| (line, range));
            }
            b"ReqMethod" => self.method = self.method.or(Some(value)),
            b"RespStatus" => self.status = self.status.or(Some(value)),
            b"ReqHeader" => {
                let colon = value.iter().position(|byte| *byte == b':').unwrap_or(value.len());
                let (name, text) = value.split_at(colon);
                let text = text.get(1..).unwrap_or_default().trim_ascii();
                if name.eq_ignore_ascii_case(b"host") {
                    self.host = self.host.or(Some(text));
                } else if name.eq_ignore_ascii_case(b"x-forwarded-proto") {
                    let known = [b"http".as_slice(), b"https"];
                    self.scheme = self.scheme.or(Some(text).filter(|text| known.contains(text)));
                }
            }
            _ => {}
        }
        self
    }

    fn found(&self, ctx: &Context, scratch: &mut Vec<u8>) -> Extracted {
        let Some((line, range)) = &self.url else { return Extracted::Skipped };
        if !ctx.filter.is_empty() && !ctx.filter.keeps(self.method, self.status, None) {
            return Extracted::Filtered;
        }
        let method = self.method.map_or(Method::Other, request::method);
        let origin = self.host.and_then(|host| RecordOrigin::plain(self.scheme, host, None));
        target::found(ctx, *line, TargetText::Line(range.clone()), method, origin, scratch)
    }
}

/// The tag of a line and its value.
fn tagged(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let level = line.iter().take_while(|byte| **byte == b'-').count();
    let rest = line[level..].trim_ascii_start();
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    let (tag, value) = rest.split_at(end);
    (level > 0 && !tag.is_empty()).then(|| (tag, value.trim_ascii()))
}

/// True if a line is the header of a transaction: `*   << Request  >> 123`, with more stars for the ones
/// that another began.
fn is_header(line: &[u8]) -> bool {
    let stars = line.iter().take_while(|byte| **byte == b'*').count();
    stars > 0 && line[stars..].trim_ascii_start().starts_with(b"<< ")
}

/// A transaction, or lines between two.
struct Part {
    lines: Vec<Span>,
    has_header: bool,
    is_closed: bool,
}

/// Cuts a chunk into transactions.
struct Parts<'a> {
    chunk: &'a [u8],
    lines: Vec<Span>,
    at: usize,
}

impl<'a> Parts<'a> {
    fn new(chunk: &'a [u8]) -> Self {
        let mut lines = Vec::new();
        cut(Kernel::best(), Separator::LineFeed, chunk, &mut lines);
        Self { chunk, lines, at: 0 }
    }
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let start = self.at;
        let first = self.lines.get(start)?.of(self.chunk);
        let has_header = is_header(first);
        let mut is_closed = false;
        self.at += 1;
        // Between transactions each line is a part.
        while has_header && !is_closed && self.at < self.lines.len() {
            let line = self.lines[self.at].of(self.chunk);
            if is_header(line) {
                break;
            }
            is_closed = is_blank(line) || tagged(line).is_some_and(|(tag, _)| tag == b"End");
            self.at += 1;
        }
        let lines = self.lines[start..self.at].to_vec();
        Some(Part { lines, has_header, is_closed })
    }
}

/// Length of the transactions that are complete, whatever follows.
pub(super) fn whole(ctx: &Context, lines: &[u8]) -> usize {
    let mut whole = 0;
    let mut parts = Parts::new(lines);
    while let Some(part) = parts.next() {
        let start = part.lines.first().map_or(whole, |line| line.start as usize);
        let next = parts.lines.get(parts.at).map(|next| next.start as usize);
        let is_open = part.has_header && !part.is_closed && next.is_none();
        if is_open && lines.len() - start <= ctx.max_record {
            return start;
        }
        whole = next.unwrap_or(lines.len());
    }
    whole
}

/// True if an input with these lines at its start is such a log.
pub(super) fn is_one<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut all, mut headers, mut tags) = (0, 0, 0);
    for line in lines {
        all += 1;
        headers += usize::from(is_header(line));
        tags += usize::from(tagged(line).is_some());
    }
    headers > 0 && (headers + tags) * 2 > all
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::read as read_records;
    use super::super::{BufferId, Format};
    use super::*;

    const LOG: &str = "*   << BeReq    >> 3\n-   Begin          bereq 2 fetch\n\
        -   BereqURL       /a\n-   BereqHeader    Host: no.example\n-   End\n\n\
        *   << Request  >> 2\n-   ReqMethod      GET\n-   ReqURL         /a?b=1\n\
        -   ReqHeader      host: h.example\n-   ReqURL         /rewritten\n\
        -   ReqHeader      Host: rewritten.example\n-   RespStatus     200\n-   End\n\n\
        **  << Request  >> 4\n--  ReqMethod      POST\n--  ReqHeader      X-Forwarded-Proto: https\n\
        --  ReqHeader      Host: s.example\n--  ReqURL         /b c\n--  RespStatus     404\n\n\
        *   << Request  >> 5\n-   ReqURL         /no-host\n*   << Request  >> 6\n\
        -   ReqHeader      Host: h.example\n-   ReqURL         http://o.example/x\n-   End\n\
        *   << Session  >> 1\n-   SessOpen       1.2.3.4\n-   End\n";

    fn shown(ctx: &Context, text: &str) -> Vec<String> {
        let out = read_records(&Format::Varnishlog, ctx, text.as_bytes());
        let bytes = |buffer: BufferId, span: Span| match buffer {
            BufferId::Chunk => String::from_utf8_lossy(span.of(text.as_bytes())).into_owned(),
            BufferId::Scratch => String::from_utf8_lossy(span.of(&out.scratch)).into_owned(),
        };
        let show = |record: &Record| match record.found {
            Extracted::Url(buffer, url) | Extracted::Target(buffer, url) => bytes(buffer, url),
            Extracted::Joined { url, .. } => bytes(BufferId::Scratch, url),
            Extracted::Reject(code, _) => code.name().to_owned(),
            Extracted::Filtered => "filtered".to_owned(),
            Extracted::Skipped | Extracted::Blank => String::new(),
        };
        out.records.iter().map(show).filter(|shown| !shown.is_empty()).collect()
    }

    #[test]
    fn url_of_each_request_is_joined_to_its_host() {
        let urls =
            ["http://h.example/a?b=1", "https://s.example/b c", "truncated", "http://o.example/x"];
        assert_eq!(shown(&Context::default(), LOG), urls);
        let mut ctx = Context::default();
        ctx.filter.status("200").unwrap();
        assert_eq!(shown(&ctx, LOG)[..2], ["http://h.example/a?b=1", "filtered"]);
    }

    #[test]
    fn records_do_not_depend_on_chunks() {
        let ctx = Context::default();
        for (feed, _) in LOG.match_indices('\n') {
            let whole = whole(&ctx, &LOG.as_bytes()[..=feed]);
            let mut parts = shown(&ctx, &LOG[..whole]);
            parts.extend(shown(&ctx, &LOG[whole..]));
            assert_eq!(parts, shown(&ctx, LOG), "{feed}");
        }
    }

    #[test]
    fn cut_transaction_is_truncated_and_lines_alone_are_targets() {
        let ctx = Context::default();
        for cut in ["-   ReqURL  /a\n", "-   ReqHeader  Host: h\n-   ReqURL  /a"] {
            assert_eq!(shown(&ctx, &format!("*   << Request  >> 2\n{cut}")), ["truncated"]);
        }
        let filtered = "*   << Request  >> 2\n-   ReqURL  /a\n-   ReqHeader  Host: h\n";
        assert_eq!(shown(&ctx, &filtered.repeat(2)), ["http://h/a"; 2]);
        assert_eq!(shown(&ctx, "-   ReqURL         /a\n-   ReqURL         /b\n"), ["/a", "/b"]);
        let short = Context { max_record: 30, ..ctx };
        assert_eq!(shown(&short, &LOG[..100])[..1], ["too-long"]);
    }

    #[test]
    fn log_is_recognized_by_a_header_and_tags() {
        let is_one = |text: &str| is_one(text.lines().map(str::as_bytes));
        assert!(is_one(LOG));
        for other in ["", "- a\n- b\n", "* << x\nhttp://h/\nhttp://h/\n", "*   x\n-   ReqURL /\n"] {
            assert!(!is_one(other), "{other}");
        }
    }
}
