//! Strips a syslog header: RFC 3164, with the time as in RFC 3164 or RFC 3339, or RFC 5424.
//!
//! ```text
//! <PRI>Jan  1 00:00:00 host tag[pid]: LINE
//! 2024-01-01T00:00:00.123456+00:00 host tag: LINE
//! <PRI>1 TIME HOST APP PROCID MSGID [id name="value"] LINE
//! ```
//!
//! The priority is optional in the first two, as files of rsyslog and syslog-ng have none. The host
//! may be missing, as some servers do not send it. The line is not escaped.

use memchr::memchr;

use super::super::line::without_mark;
use super::stripped::Stripped;
use super::time::{rfc3164, rfc3339};

/// Longest tag; RFC 3164 allows 32 bytes, and senders do not keep to it.
const TAG: usize = 128;

pub(super) fn strip(line: &[u8]) -> Option<Stripped> {
    let after_priority = priority(line);
    let message = match after_priority.and_then(|rest| rest.strip_prefix(b"1 ")) {
        Some(header) => rfc5424(header)?,
        None => with_tag(after_priority.unwrap_or(line))?,
    };
    Some(Stripped::rest_of(line, line.len() - message.len()))
}

/// The text after `<PRI>`, a number of at most 191.
fn priority(line: &[u8]) -> Option<&[u8]> {
    let number = line.strip_prefix(b"<")?;
    // RFC 5424 section 6.2.1: a priority has one to three digits.
    let end = memchr(b'>', &number[..number.len().min(4)])?;
    let digits = std::str::from_utf8(&number[..end]).ok()?;
    let is_priority = digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u8>().is_ok_and(|number| number <= 191);
    is_priority.then_some(&number[end + 1..])
}

/// The message after `TIME HOST TAG:` or `TIME TAG:`.
fn with_tag(text: &[u8]) -> Option<&[u8]> {
    let time = rfc3164(text).or_else(|| rfc3339(text))?;
    let rest = text[time..].strip_prefix(b" ")?;
    // A host may hold colons (an IPv6 address), so a tag ends in one and a space.
    if let Some(message) = after_tag(rest) {
        return Some(message);
    }
    let (host, rest) = rest.split_at(memchr(b' ', rest)?);
    if host.is_empty() { None } else { after_tag(&rest[1..]) }
}

/// The text after `tag:` or `tag[pid]:` and a space. A message in JSON may follow the colon at once.
fn after_tag(text: &[u8]) -> Option<&[u8]> {
    let is_end = |byte: &u8| matches!(byte, b'[' | b':') || !byte.is_ascii_graphic();
    let tag = text.iter().take(TAG).position(is_end)?;
    let mut rest = &text[tag..];
    if rest.starts_with(b"[") {
        let end = rest.iter().take(TAG).position(|byte| *byte == b']')?;
        if !rest[1..end].iter().all(|byte| byte.is_ascii_graphic() && *byte != b'[') {
            return None;
        }
        rest = &rest[end + 1..];
    }
    let message = rest.strip_prefix(b":").filter(|_| tag > 0)?;
    match message {
        [b' ', message @ ..] => Some(message),
        [] | [b'{', ..] => Some(message),
        _ => None,
    }
}

/// The message after `TIME HOST APP PROCID MSGID SD`.
fn rfc5424(text: &[u8]) -> Option<&[u8]> {
    // RFC 5424 section 6.2.3: a sender that does not know the time writes the nil value, a dash.
    let time = if text.starts_with(b"-") { 1 } else { rfc3339(text)? };
    let mut rest = text[time..].strip_prefix(b" ")?;
    for _ in 0..4 {
        let end = memchr(b' ', rest).filter(|end| *end > 0)?;
        rest = &rest[end + 1..];
    }
    let rest = after_structured_data(rest)?;
    // Without a message the header ends here.
    match rest {
        [] => Some(rest),
        // RFC 5424 section 6.4: a message in UTF-8 begins with a byte-order mark, which would
        // become part of the URL.
        [b' ', message @ ..] => Some(without_mark(message)),
        _ => None,
    }
}

/// The text after `-` or `[id name="value" …][…]`. In values, a backslash hides the next byte.
fn after_structured_data(text: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = text.strip_prefix(b"-") {
        return Some(rest);
    }
    let mut rest = text;
    while rest.starts_with(b"[") {
        let mut quoted = false;
        let mut bytes = rest.iter().enumerate();
        let end = loop {
            match bytes.next()? {
                (_, b'\\') if quoted => {
                    bytes.next()?;
                }
                (_, b'"') => quoted = !quoted,
                (at, b']') if !quoted => break at,
                _ => {}
            }
        };
        rest = &rest[end + 1..];
    }
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::super::Envelope;
    use super::super::tests::check;

    #[test]
    fn header_of_rfc_3164_ends_after_the_tag() {
        check(
            Envelope::Syslog,
            &[
                (b"Jan  1 00:00:00 web1 nginx: GET /a", Some(b"GET /a")),
                (b"<190>Jan  1 00:00:00 web1 nginx[12]: GET /a", Some(b"GET /a")),
                (b"<190>Jan  1 00:00:00 nginx: GET /a", Some(b"GET /a")),
                (b"Jan  1 00:00:00 haproxy[7]: 1.2.3.4:5 [x]", Some(b"1.2.3.4:5 [x]")),
                (b"Oct 11 22:14:15 2001:db8::1 httpd: ::1 - -", Some(b"::1 - -")),
                (b"2024-01-01T00:00:00.123456+00:00 h t: x: y", Some(b"x: y")),
                (b"<13>2024-01-01T00:00:00Z h docker/1a2b[3]: x", Some(b"x")),
                (b"Jan  1 00:00:00 h t:{\"a\":1}", Some(b"{\"a\":1}")),
                (b"Jan  1 00:00:00 h t: \xFF ", Some(b"\xFF ")),
                (b"Jan  1 00:00:00 h t: ", Some(b"")),
                (b"Jan  1 00:00:00 h t:", Some(b"")),
                (b"Jan  1 00:00:00 h t:x", None),
                (b"Jan  1 00:00:00 h GET /a", None),
                (b"Jan  1 00:00:00 h : x", None),
                (b"Jan  1 00:00:00", None),
                (b"<192>Jan  1 00:00:00 h t: x", None),
                (b"<+1>Jan  1 00:00:00 h t: x", None),
                (b"<>Jan  1 00:00:00 h t: x", None),
                // Of load balancers, Heritrix and containers.
                (b"2015-05-13T23:39:43.945958Z lb 1.2.3.4:2817 10.0.0.1:80 0.1", None),
                (b"2004-07-20T18:13:01.000Z 200 3235 http://h/ L http://h/", None),
                (b"2024-01-01T00:00:00Z stdout F http://h/", None),
                (b"", None),
            ],
        );
    }

    #[test]
    fn header_of_rfc_5424_ends_after_the_structured_data() {
        check(
            Envelope::Syslog,
            &[
                (b"<190>1 2024-01-01T00:00:00Z h app - - - GET /a", Some(b"GET /a")),
                (b"<34>1 2003-10-11T22:14:15.003-07:00 h su 7 ID47 - \xEF\xBB\xBFx", Some(b"x")),
                (br#"<0>1 - - - - - [a@1 k="\"]\\" l="["][b] x"#, Some(b"x")),
                (b"<0>1 - - - - - -", Some(b"")),
                (b"<0>1 - - - - - - ", Some(b"")),
                (b"<0>1 - - - - - [a]", Some(b"")),
                (b"<0>1 - - - - - [a x", None),
                (br#"<0>1 - - - - - [a k="\"] x"#, None),
                (b"<0>1 - - - - - [a]x", None),
                (b"<0>1 - - - - x", None),
                (b"<0>1 - -  - - - x", None),
                (b"<0>1 yesterday - - - - - x", None),
                (b"<0>2 - - - - - - x", None),
                (b"1 - - - - - - x", None),
            ],
        );
    }
}
