//! Reads `elb` and `alb`, the access logs of Amazon's load balancers, classic and application.
//!
//! `2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048
//! 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -`; application
//! load balancers put their type in front. The request is the first quoted field and names scheme
//! and host. Unprintable bytes, quotation marks and backslashes are logged as `\xHH`. A connection
//! without a request has dashes for the method and the rest.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::escape::Escape;
use super::fields::{Fields, decimal, status as number, whole, written};
use super::hosts::split_port;
use super::layout::Layout;
use super::line::Line;
use super::part::{PartSet, RecordPart};
use super::{Context, Extracted, request};
use uniqurl::RejectReason;

/// The layout.
#[derive(Debug)]
pub(super) struct Elb;

impl Layout for Elb {
    fn name(&self) -> Cow<'_, str> {
        "elb".into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        // No mark can stand inside the request: the balancer writes it as `\x22`.
        let Some(open) = memchr(b'"', line.bytes) else {
            return Some(Extracted::Reject(RejectReason::LogSyntax, 0));
        };
        let Some(length) = memchr(b'"', &line.bytes[open + 1..]) else {
            return Some(Extracted::Reject(RejectReason::Truncated, 0));
        };
        let field = open + 1..open + 1 + length;
        let request = &line.bytes[field.clone()];
        let method = request.split(|byte| *byte == b' ').next();
        if !ctx.filter.keeps(method, Some(status(&line.bytes[..open])), None) {
            return Some(Extracted::Filtered);
        }
        if method == Some(b"-") {
            return Some(Extracted::Reject(RejectReason::LogSyntax, 0));
        }
        Some(request::found(ctx, line, field, Escape::Hex, None, scratch))
    }

    /// Reads parts of a line. The fields are counted back from the request, since application balancers write
    /// their type as a further field at the start.
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let mut marks = memchr_iter(b'"', line);
        let Some(open) = marks.next() else { return };
        let before = &line[..open].trim_ascii_end();
        if let Some(close) = marks.next() {
            let client = before.rsplit(|byte| *byte == b' ').nth(8).filter(|text| *text != b"-");
            if let Some(client) = client {
                out.set_escaped(RecordPart::Client, split_port(client).0, Escape::Hex);
            }
            if let Some(method) = request::method_text(&line[open + 1..close]) {
                out.set_escaped(RecordPart::Method, method, Escape::Hex);
            }
            if let Some((open, close)) = marks.next().zip(marks.next()) {
                out.set_escaped(RecordPart::Agent, &line[open + 1..close], Escape::Hex);
            }
        }
        let mut last: [&[u8]; 11] = [b""; 11];
        let mut fields = before.rsplit(|byte| *byte == b' ');
        for place in last.iter_mut().rev() {
            let Some(field) = fields.next() else { return };
            *place = field;
        }
        let [time, _, _, _, first, second, third, told, _, _, sent] = last;
        // More than a type in front of the time would be another layout, whose fields are not
        // these.
        let Some(time) = written(time).filter(|_| fields.count() < 2) else { return };
        out.numbers.time = Some(time);
        out.numbers.status = number(told);
        out.numbers.bytes = whole(sent);
        // A part of the duration is -1 if the target did not answer.
        let mut parts = [first, second, third].into_iter().map(|part| decimal(part, 6));
        out.numbers.duration = parts.try_fold(0u64, |sum, part| sum.checked_add(part?));
    }

    fn parts(&self) -> PartSet {
        PartSet::OF_REQUEST.with(RecordPart::Seconds).with(RecordPart::Agent)
    }

    /// True if a line has this format: a time, or a type and a time, then the balancer, two addresses with
    /// ports, three durations, two statuses and two sizes.
    fn fits(&self, line: &[u8]) -> Option<bool> {
        let Some(open) = memchr(b'"', line) else { return Some(false) };
        let before: Vec<&[u8]> =
            line[..open].trim_ascii_end().split(|byte| *byte == b' ').collect();
        let fields = match before.len() {
            11 => &before[..],
            12 if before[0].iter().all(u8::is_ascii_alphanumeric) => &before[1..],
            _ => return Some(false),
        };
        let is_time = |field: &[u8]| {
            field.len() > 19 && field[4] == b'-' && field[10] == b'T' && field.ends_with(b"Z")
        };
        let is_peer = |field: &[u8]| field == b"-" || split_port(field).1.is_some();
        let is_number = |field: &&[u8]| {
            !field.is_empty()
                && field.iter().all(|byte| byte.is_ascii_digit() || b".-".contains(byte))
        };
        let are_peers = is_peer(fields[2]) && is_peer(fields[3]);
        Some(is_time(fields[0]) && are_peers && fields[4..].iter().all(is_number))
    }
}

/// The balancer's status, four fields before the request.
fn status(before: &[u8]) -> &[u8] {
    before.trim_ascii_end().rsplit(|byte| *byte == b' ').nth(3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Context, Format, format::tests::show};

    const ELB: &str = "2015-05-13T23:39:43.945958Z lb 192.168.131.39:2817 10.0.0.1:80 0.000073 \
                       0.001048 0.000057 200 502 0 29 ";

    fn elb(prefix: &str, rest: &str) -> String {
        let line = format!("{prefix}{ELB}{rest}");
        assert!(
            Format::parse("elb").unwrap().fits(line.as_bytes()) == Some(true) || rest.is_empty()
        );
        show(&Format::parse("elb").unwrap(), &Context::default(), line.as_bytes())
    }

    #[test]
    fn request_is_the_first_quoted_field() {
        for prefix in ["", "https "] {
            let rest = r#""GET https://h:443/a?b HTTP/1.1" "UA \x22x\x22" - -"#;
            assert_eq!(elb(prefix, rest), "url https://h:443/a?b");
        }
    }

    #[test]
    fn elb_escapes_are_decoded_once() {
        let rest = r#""GET http://h:80/\x22\x5Cx41\n\" HTTP/1.1" "-""#;
        assert_eq!(elb("", rest), r#"url http://h:80/"\x41\n\"#);
    }

    #[test]
    fn line_without_a_request_is_rejected() {
        assert_eq!(elb("", r#""- - - " "-" - -"#), "log-syntax 0");
        assert_eq!(elb("h2 ", r#""- http://h:80- -" "-""#), "log-syntax 0");
        assert_eq!(elb("", r#""GET http://h"#), "truncated 0");
        assert_eq!(elb("", ""), "log-syntax 0");
    }

    #[test]
    fn status_is_that_of_the_load_balancer() {
        assert_eq!(super::status(ELB.as_bytes()), b"200");
        assert_eq!(super::status(b"\xff"), b"");
    }
}
