//! The texts of logs whose fields have fixed places around the request.

use memchr::{memchr, memchr_iter};

use super::super::clf;
use super::super::escape::{Escape, closing_quote};
use super::super::hosts::split_port;
use super::super::request::method_text;
use super::LogColumn;

/// The texts of a line; None if it has no such field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    client: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    referrer: Option<&'a [u8]>,
    agent: Option<&'a [u8]>,
    pub escape: Escape,
}

impl<'a> Texts<'a> {
    fn none(escape: Escape) -> Self {
        Self { client: None, method: None, referrer: None, agent: None, escape }
    }

    pub fn of(&self, column: LogColumn) -> Option<&'a [u8]> {
        match column {
            LogColumn::Client => self.client,
            LogColumn::Method => self.method,
            LogColumn::Referrer => self.referrer,
            LogColumn::Agent => self.agent,
            LogColumn::Time | LogColumn::Status | LogColumn::Bytes => None,
        }
    }
}

/// `clf` and `combined`: the client is the first field, and the referrer and the agent are the first two
/// quoted ones after the request.
pub(super) fn clf(line: &[u8]) -> Texts<'_> {
    of_fields(line, 0)
}

/// `vhost`: the client is the second field.
pub(super) fn vhost(line: &[u8]) -> Texts<'_> {
    of_fields(line, 1)
}

fn of_fields(line: &[u8], client: usize) -> Texts<'_> {
    let none = Texts::none(Escape::Backslash);
    // A whole line may be in quotation marks.
    let fields = line.strip_prefix(b"\"").unwrap_or(line);
    let client = fields.split(|byte| *byte == b' ').nth(client).filter(|text| !text.is_empty());
    let Ok(request) = clf::quoted_request(line) else { return Texts { client, ..none } };
    let mut at = request.end + 1;
    let mut next = || {
        let open = at + memchr(b'"', line.get(at..)?)?;
        let close = closing_quote(line, open + 1)?;
        at = close + 1;
        Some(&line[open + 1..close])
    };
    let (referrer, agent) = (next(), next());
    Texts { client, method: method_text(&line[request]), referrer, agent, ..none }
}

/// `elb` and `alb`: the client is the first address, before its port, and the agent is the quoted field
/// after the request.
pub(super) fn elb(line: &[u8]) -> Texts<'_> {
    let none = Texts::none(Escape::Hex);
    let mut marks = memchr_iter(b'"', line);
    let (Some(open), Some(close)) = (marks.next(), marks.next()) else { return none };
    // The last 11 fields before the request: time, balancer, client and others.
    let client = line[..open].trim_ascii_end().rsplit(|byte| *byte == b' ').nth(8);
    let agent = marks.next().zip(marks.next()).map(|(open, close)| &line[open + 1..close]);
    let client = client.filter(|text| *text != b"-").map(|text| split_port(text).0);
    Texts { client, method: method_text(&line[open + 1..close]), agent, ..none }
}

/// `haproxy`: the client stands before the time, with a port.
pub(super) fn haproxy(line: &[u8]) -> Texts<'_> {
    let none = Texts::none(Escape::Hash);
    let Some(time) = clf::bracketed_time(line) else { return none };
    let client = line[..time.start].trim_ascii_end().rsplit(|byte| *byte == b' ').next();
    let client = client.filter(|text| !text.is_empty()).map(|text| split_port(text).0);
    let request = memchr(b'"', &line[time.end..]).map(|open| &line[time.end + open + 1..]);
    Texts { client, method: request.and_then(method_text), ..none }
}
