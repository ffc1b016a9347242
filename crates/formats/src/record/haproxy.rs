//! Reads `haproxy`, HAProxy's HTTP log, with or without a syslog prefix.
//!
//! `10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ----
//! 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"`. HAProxy logs quotation marks, `#` and
//! unprintable bytes as `#XX`, both in the request and in captured headers. So the first quotation
//! mark after the time opens the request and the next one closes it; a backslash has no meaning.
//! `<BADREQ>` marks an invalid request and yields no URL.

use std::borrow::Cow;

use memchr::memchr;

use super::access::is_access;
use super::escape::Escape;
use super::fields::{Fields, bracketed, status, whole};
use super::hosts::split_port;
use super::layout::Layout;
use super::line::Line;
use super::part::{PartSet, RecordPart};
use super::{Context, Extracted, clf, request};
use uniqurl::RejectReason;

/// The layout.
#[derive(Debug)]
pub(super) struct Haproxy;

impl Layout for Haproxy {
    fn name(&self) -> Cow<'_, str> {
        "haproxy".into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        let quote = |from: usize| Some(from + memchr(b'"', &line.bytes[from..])?);
        let open = clf::bracketed_time(line.bytes).and_then(|time| quote(time.end));
        let Some(open) = open else {
            return Some(Extracted::Reject(RejectReason::LogSyntax, 0));
        };
        let Some(close) = quote(open + 1) else {
            return Some(Extracted::Reject(RejectReason::Truncated, 0));
        };
        if !ctx.filter.is_empty() {
            let method = line.bytes[open + 1..close].split(|byte| *byte == b' ').next();
            let behind = clf::bracketed_time(line.bytes).map_or(0, |time| time.end);
            let status = from_timers(&line.bytes[behind..open]).nth(1);
            if !ctx.filter.keeps(method, Some(status.unwrap_or_default()), None) {
                return Some(Extracted::Filtered);
            }
        }
        Some(request::found(ctx, line, open + 1..close, Escape::Hash, None, scratch))
    }

    /// Reads parts of a line. The client stands before the time, with a port. A plus sign before a number says
    /// that the record was logged before the end: then it is not the last one.
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let Some(time) = clf::bracketed_time(line) else { return };
        out.numbers.time = bracketed(&line[time.clone()]);
        let before = line[..time.start].trim_ascii_end().rsplit(|byte| *byte == b' ').next();
        if let Some(client @ [_, ..]) = before {
            out.set_escaped(RecordPart::Client, split_port(client).0, Escape::Hash);
        }
        let Some(quote) = memchr(b'"', &line[time.end..]) else { return };
        if let Some(method) = request::method_text(&line[time.end + quote + 1..]) {
            out.set_escaped(RecordPart::Method, method, Escape::Hash);
        }
        let mut fields = from_timers(&line[time.end..time.end + quote]);
        let (Some(timers), Some(told), Some(read)) = (fields.next(), fields.next(), fields.next())
        else {
            return;
        };
        let mut timers = timers.split(|byte| *byte == b'/').skip(4);
        // A sixth timer would be of another layout.
        let (Some(total), None) = (timers.next(), timers.next()) else { return };
        out.numbers.status = status(told);
        out.numbers.bytes = whole(read);
        out.numbers.duration = whole(total).and_then(|millis| millis.checked_mul(1000));
    }

    fn parts(&self) -> PartSet {
        PartSet::OF_REQUEST.with(RecordPart::Seconds)
    }

    /// True if a line from its time on reads `[time.123] frontend backend/server`, or, where the
    /// connection failed, `[time.123] frontend/listener: reason`.
    fn fits(&self, line: &[u8]) -> Option<bool> {
        let Some(time) = clf::bracketed_time(line) else { return Some(false) };
        let mut fields = line[time.start..].split(|&byte| byte == b' ');
        // The milliseconds tell the line from those of other servers, whose time has none.
        let is_time = fields.next().is_some_and(|time| {
            clf::begins_as_time(&time[1..])
                && matches!(time, [.., b'.', a, b, c, b']'] if [a, b, c].iter().all(|d| d.is_ascii_digit()))
        });
        let (Some(frontend), Some(server)) = (fields.next(), fields.next()) else {
            return Some(false);
        };
        let has_failed = frontend.ends_with(b":") && frontend.contains(&b'/');
        Some(is_time && (has_failed || (server.contains(&b'/') && is_access(line))))
    }

    fn reads_past_headers(&self) -> bool {
        true
    }
}

/// The fields between the time and the request from the timers on: timers, status, bytes. Before them
/// stand the frontend, and the backend with its server.
fn from_timers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.trim_ascii().split(|byte| *byte == b' ').skip(2)
}

#[cfg(test)]
mod tests {
    use super::super::{Context, Format, format::tests::show};

    fn haproxy(prefix: &str, request: &str) -> String {
        let middle =
            "http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {}";
        let line = format!("{prefix}10.0.1.2:33317 [06/Feb/2009:12:14:14.655] {middle} {request}");
        show(&Format::Haproxy, &Context::default(), line.as_bytes())
    }

    #[test]
    fn request_is_read_after_a_syslog_prefix() {
        for prefix in ["", "Feb  6 12:14:14 localhost haproxy[14389]: "] {
            assert_eq!(haproxy(prefix, r#""GET /index.html HTTP/1.1""#), "target /index.html");
        }
    }

    #[test]
    fn haproxy_escapes_are_decoded_once() {
        assert_eq!(haproxy("", r#""GET /#22#2341\x41\#5C HTTP/1.1""#), r##"target /"#41\x41\\"##);
    }

    #[test]
    fn http_2_request_may_hold_an_absolute_url() {
        assert_eq!(haproxy("", r#""GET https://h/a HTTP/2.0""#), "url https://h/a");
    }

    #[test]
    fn escaped_control_bytes_are_not_a_method() {
        for junk in ["#16#03#01#02 /admin HTTP/1.1", "G#22T /a", "#00 /a HTTP/1.1"] {
            assert_eq!(haproxy("", &format!("\"{junk}\"")), "log-syntax 0", "{junk}");
        }
        // A token may hold `#` itself, and sequences that HAProxy does not write.
        for method in ["#23", "G#23T", "#4", "#"] {
            assert_eq!(haproxy("", &format!("\"{method} /a HTTP/1.1\"")), "target /a", "{method}");
        }
    }

    #[test]
    fn malformed_and_truncated_requests_have_different_codes() {
        assert_eq!(haproxy("", r#""<BADREQ>""#), "log-syntax 0");
        assert_eq!(haproxy("", ""), "log-syntax 0");
        assert_eq!(haproxy("", r#""GET /index"#), "truncated 0");
        assert_eq!(haproxy("", r#""GET /a\"#), "truncated 0");
    }
}
