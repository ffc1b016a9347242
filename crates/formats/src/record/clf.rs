//! Reads `clf` and `combined`, the access logs of Apache, nginx and most other servers.
//!
//! The fields are `%h %l %u %t "%r" %>s %b`, and for combined two more quoted ones. Only the
//! request matters. In every variant it is the first quoted field after the bracketed time,
//! whatever a proxy adds before either. So a line wrapped in another pair of quotation marks needs
//! no rule of its own.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr_iter};

use super::escape::{Escape, closing_quote, quoted};
use super::fields::{Fields, bracketed, status, whole};
use super::layout::Layout;
use super::line::Line;
use super::origin::RecordOrigin;
use super::part::{PartSet, RecordPart};
use super::{Context, Extracted, request};
use uniqurl::RejectReason;

/// The layouts `clf` and `combined`, which differ in the parts after the bytes.
#[derive(Debug)]
pub(super) struct Clf {
    name: &'static str,
    parts: PartSet,
}

pub(super) const CLF: Clf = Clf { name: "clf", parts: PartSet::OF_REQUEST };

pub(super) const COMBINED: Clf = Clf { name: "combined", parts: OF_COMBINED };

/// The parts of `combined`.
pub(super) const OF_COMBINED: PartSet =
    PartSet::OF_REQUEST.with(RecordPart::Referrer).with(RecordPart::Agent);

impl Layout for Clf {
    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        Some(found(ctx, line, None, scratch))
    }

    fn parts(&self) -> PartSet {
        self.parts
    }

    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        fields(line, 0, out);
    }

    fn fits(&self, _line: &[u8]) -> Option<bool> {
        Some(false)
    }
}

/// Reads the request of a line. `origin` comes from the fields that the format has read before it.
///
/// Everything from here to the target is inlined. A range or an `Extracted` returned from a call
/// goes through memory and is loaded in other widths than it was stored, which stalls the CPU.
#[inline(always)]
pub(super) fn found(
    ctx: &Context,
    line: Line<'_>,
    origin: Option<RecordOrigin<'_>>,
    scratch: &mut Vec<u8>,
) -> Extracted {
    match field(line.bytes) {
        Ok((field, _)) if !is_wanted(ctx, line.bytes, field.clone()) => Extracted::Filtered,
        Ok((field, escape)) => request::found(ctx, line, field, escape, origin, scratch),
        Err(code) => Extracted::Reject(code, 0),
    }
}

/// Reads parts of a line: the field of this number is the client; the time stands in brackets before the
/// request, the status and the bytes after it, and then the referrer and the agent in quotation marks.
pub(super) fn fields<'a>(line: &'a [u8], client: usize, out: &mut Fields<'a>) {
    let escape = Escape::Backslash;
    // A whole line may be in quotation marks.
    let words = line.strip_prefix(b"\"").unwrap_or(line);
    if let Some(client @ [_, ..]) = words.split(|byte| *byte == b' ').nth(client) {
        out.set_escaped(RecordPart::Client, client, escape);
    }
    let Ok(request) = quoted_request(line) else {
        out.numbers.time = bracketed_time(line).and_then(|range| bracketed(&line[range]));
        return;
    };
    if out.want(RecordPart::Time) {
        // The last time before the request: the client may have written one into the name of the user.
        let before = &line[..request.start];
        let open = memrchr_iter(b'[', before).find(|open| begins_as_time(&before[open + 1..]));
        out.numbers.time = open.and_then(|open| {
            let close = memchr(b']', &before[open..])?;
            bracketed(&before[open..=open + close])
        });
    }
    if out.want_any(PartSet::of(&[RecordPart::Status, RecordPart::Bytes])) {
        let mut after = line[request.end + 1..].trim_ascii_start().split(|byte| *byte == b' ');
        let told = after.next().unwrap_or_default();
        out.numbers.status = status(told);
        // If neither is the status, other fields may stand before the bytes.
        let is_usual = out.numbers.status.is_some() || told == b"-" || told == b"000";
        out.numbers.bytes = after.next().filter(|_| is_usual).and_then(whole);
    }
    if out.want(RecordPart::Method)
        && let Some(method) = request::method_text(&line[request.clone()])
    {
        out.set_escaped(RecordPart::Method, method, escape);
    }
    const QUOTED: [RecordPart; 2] = [RecordPart::Referrer, RecordPart::Agent];
    if !out.want_any(PartSet::of(&QUOTED)) {
        return;
    }
    let mut at = request.end + 1;
    for part in QUOTED {
        let open = line.get(at..).and_then(|rest| memchr(b'"', rest)).map(|open| at + open);
        let close = open.and_then(|open| closing_quote(line, open + 1));
        let (Some(open), Some(close)) = (open, close) else { return };
        out.set_escaped(part, &line[open + 1..close], escape);
        at = close + 1;
    }
}

/// True if the filter keeps a line with this request. The status follows the request.
#[inline]
fn is_wanted(ctx: &Context, line: &[u8], field: Range<usize>) -> bool {
    if ctx.filter.is_empty() {
        return true;
    }
    let method = line[field.clone()].split(|byte| *byte == b' ').next();
    let status = line[field.end + 1..].trim_ascii_start().split(|byte| *byte == b' ').next();
    ctx.filter.keeps(method, status, None)
}

/// The range between the request's quotation marks.
#[inline]
pub(super) fn quoted_request(line: &[u8]) -> Result<Range<usize>, RejectReason> {
    Ok(field(line)?.0)
}

/// Also returns which escaping may occur in the request.
#[inline(always)]
fn field(line: &[u8]) -> Result<(Range<usize>, Escape), RejectReason> {
    let start = match memchr(b'[', line) {
        // The usual time has a fixed length, so one comparison replaces a search for its bracket
        // and for the opening mark.
        Some(open) if is_usual(&line[open..]) => open + USUAL,
        _ => start_of_any(line).ok_or(RejectReason::LogSyntax)?,
    };
    request_from(line, start)
}

/// The request that begins at `start`, after its opening mark.
#[inline(always)]
fn request_from(line: &[u8], start: usize) -> Result<(Range<usize>, Escape), RejectReason> {
    // A mark that never closes was lost with the end of the line, and so was the end of the URL.
    let (end, escape) = quoted(line, start).ok_or(RejectReason::Truncated)?;
    if is_followed_by_status(&line[end + 1..]) {
        return Ok((start..end, escape));
    }
    let end = end_of_any(line, start, end).ok_or(RejectReason::LogSyntax)?;
    // `quoted` has looked at the bytes before the first mark alone.
    let escape = match memchr(b'\\', &line[start..end]) {
        Some(_) => Escape::Backslash,
        None => Escape::None,
    };
    Ok((start..end, escape))
}

/// True if a mark before this text ends the request for certain: a blank and the status follow, or
/// nothing.
#[inline(always)]
fn is_followed_by_status(text: &[u8]) -> bool {
    matches!(text, [] | [b' ', b'0'..=b'9' | b'-', ..])
}

/// Slow path: where a request from `start` ends whose first mark, at `first`, has no status after it.
///
/// Some servers (S3, for one) log a quotation mark of the client as it is. Then the request ends at a
/// later mark. Where there is none with a status after it, other fields may follow a request that is
/// complete, and its version shows that.
#[cold]
fn end_of_any(line: &[u8], start: usize, first: usize) -> Option<usize> {
    let is_complete = |end: usize| request::has_version(&line[start..end]);
    let next = line.get(first + 1);
    if next == Some(&b' ') && is_complete(first) {
        return Some(first);
    }
    let mut marks = std::iter::successors(Some(first), |mark| closing_quote(line, mark + 1));
    // From the most certain to the least: a mark after a version and before a status, a mark before
    // a blank, a mark before another separator, any mark before a status.
    if let Some(end) = marks.find(|mark| is_complete(*mark) && ends_before_status(line, *mark)) {
        return Some(end);
    }
    match next {
        None | Some(b' ') => Some(first),
        Some(b',' | b';' | b'|' | b'\t' | b'"' | b')' | b']' | b'}') if is_complete(first) => {
            Some(first)
        }
        Some(_) => {
            let mut marks =
                std::iter::successors(Some(first), |mark| closing_quote(line, mark + 1));
            marks.find(|mark| ends_before_status(line, *mark))
        }
    }
}

/// True if a blank and a status of three digits, or a dash, follow a mark.
fn ends_before_status(line: &[u8], mark: usize) -> bool {
    let Some(text) = line[mark + 1..].strip_prefix(b" ") else { return false };
    let status = text.split(|byte| *byte == b' ').next().unwrap_or_default();
    status == b"-" || (status.len() == 3 && status.iter().all(u8::is_ascii_digit))
}

/// Slow path: where the request of any line begins.
#[cold]
fn start_of_any(line: &[u8]) -> Option<usize> {
    Some(opening_quote(line, bracketed_time(line)?.end)? + 1)
}

/// Length of the usual text from the first bracket on: the time, and the opening mark of the
/// request. Each byte lies between its counterparts in `LEAST` and `MOST`, which are ASCII.
const USUAL: usize = 30;
const LEAST: &[u8; USUAL] = b"[00/Aaa/0000:00:00:00 +0000] \"";
const MOST: &[u8; USUAL] = b"[39/Zzz/9999:99:99:99 -9999] \"";

/// True if `text` begins with a time of this shape.
#[inline(always)]
fn is_usual(text: &[u8]) -> bool {
    let Some(text) = text.first_chunk() else { return false };
    // Four words cover all of it; the last two overlap.
    (strange::<0>(text) | strange::<8>(text) | strange::<16>(text) | strange::<22>(text)) == 0
}

/// Nonzero if one of eight bytes is out of bounds.
#[inline(always)]
fn strange<const AT: usize>(text: &[u8; USUAL]) -> u64 {
    out_of_bounds(word(text, AT), const { word(LEAST, AT) }, const { word(MOST, AT) })
}

#[inline(always)]
const fn word(text: &[u8; USUAL], at: usize) -> u64 {
    let mut bytes = [0; 8];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = text[at + i];
        i += 1;
    }
    u64::from_le_bytes(bytes)
}

/// Nonzero if a byte of `word` is not ASCII, or is less than that of `least` or more than that of
/// `most`. The top bit of each byte shows the result. No byte carries into the next while the word is ASCII.
#[inline(always)]
const fn out_of_bounds(word: u64, least: u64, most: u64) -> u64 {
    const UPPER: u64 = 0x8080_8080_8080_8080;
    (word | ((word & !UPPER) + (!UPPER - most)) | !((word | UPPER) - least)) & UPPER
}

/// The bracketed time, brackets included: the first pair of brackets whose content begins like a
/// time, else the first pair of all.
///
/// The second case serves custom time formats. It cannot be the rule, because fields before the
/// time may have brackets too, such as an IPv6 address or a syslog tag.
#[inline]
pub(super) fn bracketed_time(line: &[u8]) -> Option<Range<usize>> {
    let closed = |open: usize| Some(open..open + memchr(b']', &line[open..])? + 1);
    let mut first = None;
    for open in memchr_iter(b'[', line) {
        if begins_as_time(&line[open + 1..]) {
            return closed(open).or_else(|| closed(first?));
        }
        first = first.or(Some(open));
    }
    closed(first?)
}

/// True if `text` begins like `10/Oct/2000:` (Apache, nginx, HAProxy), `10/Oct/2000 ` (Python's
/// http.server) or `2000-10-10T` (ISO 8601). The month may be a name in any language, as Java writes it.
#[inline]
pub(super) fn begins_as_time(text: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    match *text {
        [d1, d2, b'/', m1, m2, m3, b'/', y1, y2, y3, y4, b':' | b' ', ..] => {
            digits(&[d1, d2, y1, y2, y3, y4]) && [m1, m2, m3].iter().all(u8::is_ascii_alphabetic)
        }
        [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b' ', ..] => {
            digits(&[y1, y2, y3, y4, m1, m2, d1, d2])
        }
        [d1, b'/', ..] if d1.is_ascii_digit() => begins_as_month(&text[2..]),
        [d1, d2, b'/', ..] if digits(&[d1, d2]) => begins_as_month(&text[3..]),
        _ => false,
    }
}

/// True if `text` begins like `sept./2000:`.
fn begins_as_month(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'.' | 0x80..);
    let length = text.iter().take_while(|byte| is_letter(byte)).count();
    let is_year = |year: &[u8]| matches!(year, [b'/', y @ .., b':' | b' '] if y.iter().all(u8::is_ascii_digit));
    (3..=16).contains(&length) && text.get(length..length + 6).is_some_and(is_year)
}

/// The first unescaped quotation mark at or after `from`, outside of any quotation.
///
/// Unlike inside a quotation, a backslash before `from` may have any meaning, so only those between
/// `from` and the mark count. Each run of them is counted once: linear time.
#[inline]
fn opening_quote(line: &[u8], from: usize) -> Option<usize> {
    memchr_iter(b'"', &line[from..]).map(|at| from + at).find(|&at| {
        let backslashes = line[from..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        backslashes % 2 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, Format};
    use super::{LEAST, MOST, USUAL, field, is_usual, request_from, start_of_any};
    use uniqurl::RejectReason;
    use uniqurl::internal::Origin;

    fn clf(line: &str) -> String {
        show(&Format::Combined, &Context::default(), line.as_bytes())
    }

    /// A whole combined line with this text between the request's quotation marks.
    fn line(request: &str) -> String {
        format!(
            r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000] "{request}" 200 5 "http://r/" "UA [x]""#
        )
    }

    #[test]
    fn the_request_is_the_first_quoted_field_after_the_time() {
        assert_eq!(clf(&line("GET /a?b HTTP/1.1")), "target /a?b");
        for before in [
            r#""10.0.0.1, 10.0.0.2" - "#,
            "[::1] - - ",
            r#"<134>Oct 1 nginx[7]: "GET /no" "#,
            r#"u\"ser [1/2] "#,
        ] {
            assert_eq!(clf(&(before.to_owned() + &line("GET /a HTTP/1.1"))), "target /a");
        }
        assert_eq!(clf(r#"h [17/May/2015:10:05:03 +0000] 0.03 v.h "GET /a""#), "target /a");
    }

    #[test]
    fn fast_path_for_usual_lines_agrees_with_the_general_parser() {
        let usual = line(r#"GET /\"a\" HTTP/1.1"#);
        let mut short = 0;
        for at in 0..usual.len().min(60) {
            for byte in *b" ]\"[\\0aZ+-:/9" {
                let mut line = usual.clone().into_bytes();
                line[at] = byte;
                for line in [&line[..], &line[..at]] {
                    let any = start_of_any(line).ok_or(RejectReason::LogSyntax);
                    let any = any.and_then(|start| request_from(line, start));
                    assert_eq!(field(line), any, "{}", line.escape_ascii());
                    let open = line.iter().position(|byte| *byte == b'[');
                    short += usize::from(open.is_some_and(|open| is_usual(&line[open..])));
                }
            }
        }
        assert!(short > 200, "{short}");
    }

    #[test]
    fn fast_path_accepts_only_well_formed_times() {
        let usual = br#"[17/May/2015:10:05:03 +0000] ""#;
        for at in 0..USUAL {
            for byte in 0..=255 {
                let mut text = *usual;
                text[at] = byte;
                let within = (LEAST[at]..=MOST[at]).contains(&byte);
                assert_eq!(is_usual(&text), within, "{}", text.escape_ascii());
                // The result does not depend on the neighbouring byte.
                text[(at + 1) % USUAL] = byte;
                let both =
                    within && (LEAST[(at + 1) % USUAL]..=MOST[(at + 1) % USUAL]).contains(&byte);
                assert_eq!(is_usual(&text), both, "{}", text.escape_ascii());
            }
        }
        assert!(!is_usual(&usual[..USUAL - 1]));
    }

    #[test]
    fn line_in_extra_quotes_is_read() {
        assert_eq!(clf(&format!("\"{}\"", line("GET /a HTTP/1.1"))), "target /a");
    }

    #[test]
    fn user_name_cannot_forge_the_request() {
        let user = r#"1.2.3.4 - [22/Dec/2016:00:00:00 +0000] \"GET /forged\" "#;
        assert_eq!(clf(&(user.to_owned() + &line("GET /a HTTP/1.1"))), "target /a");
    }

    #[test]
    fn time_in_another_form_ends_at_the_first_bracket() {
        assert_eq!(clf(r#"h - - [1482424252.123] "GET /a" 200 "http://r/[1]""#), "target /a");
        assert_eq!(clf(r#"[::1] - - [2015-05-17T10:05:03+00:00] "GET /a""#), "target /a");
    }

    #[test]
    fn raw_quotation_mark_does_not_end_the_request() {
        for (request, target) in [
            (r#"GET /x"y HTTP/1.1"#, r#"target /x"y"#),
            (r#"GET /x"y" z"w HTTP/2"#, r#"target /x"y" z"w"#),
            (r#"GET /x" y HTTP/1.0"#, r#"target /x" y"#),
            (r#"GET /x""A"y HTTP/1.1"#, r#"target /x""A"y"#),
            (r#"GET /x"y"#, r#"target /x"y"#),
        ] {
            assert_eq!(clf(&line(request)), target, "{request}");
        }
        let time = "h - - [17/May/2015:10:05:03 +0000] ";
        for (rest, shown) in [
            (r#""GET /x"y HTTP/1.1" - 5"#, r#"target /x"y"#),
            (r#""GET /x"y HTTP/1.1"z 200 5"#, "log-syntax 0"),
            (r#""GET /x"y 200 5"#, "log-syntax 0"),
            // Formats with another field after the request.
            (r#""GET /x HTTP/1.1" "http://r/" 200"#, "target /x"),
            (r#""GET /x HTTP/1.1" "a HTTP/1.1" 200"#, "target /x"),
            (r#""GET /x HTTP/1.1",200"#, "target /x"),
            (r#""GET /x HTTP/1.1""#, "target /x"),
        ] {
            assert_eq!(clf(&(time.to_owned() + rest)), shown, "{rest}");
        }
    }

    #[test]
    fn escapes_in_the_target_are_decoded_once() {
        assert_eq!(clf(&line(r#"GET /\"\\x41\x42\u0043 HTTP/1.1"#)), r#"target /"\x41B\u0043"#);
    }

    #[test]
    fn escaped_space_belongs_to_the_target() {
        assert_eq!(clf(&line(r"GET /a\x20HTTP/1.1")), "target /a HTTP/1.1");
    }

    #[test]
    fn unclosed_request_is_truncated() {
        let time = "h - - [17/May/2015:10:05:03 +0000] ";
        for cut in ["\"", "\"GET /a", r#""GET /a\""#, r#""GET /a\"#] {
            assert_eq!(clf(&(time.to_owned() + cut)), "truncated 0");
        }
    }

    #[test]
    fn line_without_time_or_request_is_a_log_syntax_error() {
        for other in ["x", r#"h - - "GET /a""#, "[", "]", "[17/May/2015:10:05:03", "h [t] GET"] {
            assert_eq!(clf(other), "log-syntax 0", "{other}");
        }
        for none in ["-", "", r"\x16\x03\x01", "GET"] {
            assert_eq!(clf(&line(none)), "log-syntax 0", "{none}");
        }
    }

    #[test]
    fn request_forms_are_recognized_by_method_and_target() {
        assert_eq!(clf(&line("GET http://h/a HTTP/1.1")), "url http://h/a");
        assert_eq!(clf(&line("OPTIONS * HTTP/1.1")), "asterisk-form 0");
        assert_eq!(clf(&line("CONNECT h:443 HTTP/1.1")), "authority-form 0");
        assert_eq!(clf(&line("GET h:443 HTTP/1.1")), "url h:443");
        assert_eq!(clf(&line("GET  HTTP/1.1")), "relative 0");
    }

    #[test]
    fn escaped_target_is_joined_to_the_base() {
        let base = Origin { scheme: b"http".to_vec(), authority: b"b".to_vec() };
        let ctx = Context { base: Some(base), ..Context::default() };
        for (request, shown) in [
            ("GET /a HTTP/1.1", "joined 8 http://b/a"),
            (r"GET /\x41 HTTP/1.1", "joined 8 http://b/A"),
            (r"GET \t/\x41 HTTP/1.1", "joined 8 \thttp://b/A"),
        ] {
            assert_eq!(show(&Format::Clf, &ctx, line(request).as_bytes()), shown);
        }
    }

    #[test]
    fn length_limits_apply_to_the_record_and_the_unescaped_target() {
        let ctx = Context { max_url: 3, max_record: 120, ..Context::default() };
        let read = |request: &str| show(&Format::Clf, &ctx, line(request).as_bytes());
        assert_eq!(read(r"GET /\x41\x41 HTTP/1.1"), "target /AA");
        assert_eq!(read("GET /AAA HTTP/1.1"), "too-long 3");
        assert_eq!(read(&format!("GET /{:99} HTTP/1.1", "")), "too-long 0");
    }
}
