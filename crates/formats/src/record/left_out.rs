//! Finds a field that names the site of each request, or holds its query, and that the chosen format does
//! not read.
//!
//! Without it, equal paths of different sites would become one URL.

use memchr::memchr2;

use super::access::time_and_request;
use super::advice::Columns;
use super::census::{Census, Column, names_other, names_site};
use super::hosts::{has_public_suffix, is_site};
use super::json::Json;
use super::part::RecordPart;
use super::trial::{Found, Trial};
use super::value_kind::ValueKind;
use super::{Format, request};

/// What a format leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// `field 3`, or the pointer of a member.
    pub place: String,
    /// The format that reads it, too, and that was tried.
    pub whole: Option<String>,
}

/// Lines that are looked at.
const LINES: usize = 100;

/// What `format`, which was chosen for these lines, leaves out of most of them.
pub(super) fn left_out<'a>(
    format: &Format,
    lines: impl Iterator<Item = &'a [u8]>,
) -> Option<LeftOut> {
    match format {
        Format::Clf | Format::Combined | Format::Haproxy => of_log(lines),
        Format::Log(format) if !format.has_host() => of_log(lines),
        Format::Json(json) if json.has_target() => of_json(format, json, lines),
        _ => None,
    }
}

/// The field of a log that names a site in most lines, not the same in all of them.
fn of_log<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<LeftOut> {
    let lines: Vec<&[u8]> = lines.take(LINES).collect();
    let rows = lines.iter().map(|line| {
        let fields = fields(line);
        let candidates = candidates(line, &fields).unwrap_or_default();
        candidates.into_iter().map(|value| site_of(value).unwrap_or_default()).collect::<Vec<_>>()
    });
    let census = Census::of_rows(rows, &[]);
    let is_host = |column: &&Column| column.is_filled_by(ValueKind::Host) && column.varies();
    let host = census.columns.iter().find(is_host)?;
    let number: usize = host.place.parse().ok()?;
    let whole = lines.iter().find_map(|line| layout(line, number - 1));
    let whole = whole.filter(|whole| Trial::of_lines(&lines).reads_sites(whole));
    Some(LeftOut { place: format!("field {number}"), whole })
}

/// The fields of a line of an access log in which a site may be named, and empty ones in the place of others.
/// None if the line is no access log's, or if its request names its host itself.
fn candidates<'a>(line: &'a [u8], fields: &[Field<'a>]) -> Option<Vec<&'a [u8]>> {
    let (time, request) = time_and_request(line)?;
    let is_absolute = request::split(&line[request.clone()])
        .is_some_and(|(_, target)| !line[request.start + target.start..].starts_with(b"/"));
    if is_absolute {
        return None;
    }
    let words = || line[..time.start].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let before = words().count();
    // A syslog header names the machine.
    let is_syslog = words().any(|word| word.len() > 1 && word.ends_with(b":"));
    let candidate = |(index, field): (usize, &Field<'a>)| {
        // Before the time stand the client, a name that only some servers log a host in, and the name of a
        // user, which hardly ends as names of sites do.
        let is_client = index < before && (is_syslog || before > 2 && index + 3 == before);
        let is_user = before > 2
            && index + 1 == before
            && !(is_site(field.text) && has_public_suffix(field.text));
        if is_client || is_user || field.text.contains(&b' ') { &[] } else { field.text }
    };
    Some(fields.iter().enumerate().map(candidate).collect())
}

/// The label and the site that a word names: `a.example`, `vhost=a.example`, `vhost:"a.example"`, or one of
/// several words between bars.
fn site_of(word: &[u8]) -> Option<(&[u8], &[u8])> {
    word.split(|byte| *byte == b'|').find_map(|word| {
        if is_site(word) {
            return Some((&b""[..], word));
        }
        let (label, value) = word.split_at(memchr2(b'=', b':', word)?);
        let value = unquoted(&value[1..]);
        (is_site(value) && !names_other(&String::from_utf8_lossy(label))).then_some((label, value))
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inner = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    inner.unwrap_or(value)
}

/// A field of a line without its marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub text: &'a [u8],
    /// The marks around it: none, quotation marks, brackets or braces.
    pub marks: &'static str,
}

/// The fields of a line. Quotation marks, brackets and braces each enclose one.
pub(super) fn fields(line: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let (marks, close) = match line[at] {
            b' ' => {
                at += 1;
                continue;
            }
            b'"' => ("\"\"", b'"'),
            b'[' => ("[]", b']'),
            b'{' => ("{}", b'}'),
            _ => ("", b' '),
        };
        let start = at + usize::from(!marks.is_empty());
        let length = line[start..].iter().position(|byte| *byte == close);
        let end = length.map_or(line.len(), |length| start + length);
        fields.push(Field { text: &line[start..end], marks });
        at = end + 1;
    }
    fields
}

/// The format string of a line of an access log with the site in this field.
fn layout(line: &[u8], host: usize) -> Option<String> {
    let fields = fields(line);
    // Compared by address, since several fields may hold the same text.
    let (time, request) = time_and_request(line)?;
    let is_at = |field: &Field<'_>, offset: usize| field.text.as_ptr() == line[offset..].as_ptr();
    let request = fields.iter().position(|field| is_at(field, request.start))?;
    let variable = |(index, field): (usize, &Field<'_>)| match index {
        _ if index == host => match site_of(field.text) {
            Some((label, _)) if !label.is_empty() => {
                let label = &field.text[..=label.len()];
                let mark = if field.text.ends_with(b"\"") { "\"" } else { "" };
                format!("{}{mark}$host{mark}", String::from_utf8_lossy(label))
            }
            _ => "$host".to_owned(),
        },
        _ if index == request => "$request".to_owned(),
        _ if is_at(field, time.start + 1) => "$time_local".to_owned(),
        0 => "$remote_addr".to_owned(),
        _ if index == request + 1 && is_status(field.text) => "$status".to_owned(),
        _ if index == request + 2 && ValueKind::of(field.text) == ValueKind::Number => {
            "$body_bytes_sent".to_owned()
        }
        _ => "$x".to_owned(),
    };
    // The last field of a format takes the rest of the line, so there is one more.
    let last = (host.max(request) + 1).min(fields.len() - 1);
    Some(log_of(&fields[..=last], variable))
}

fn is_status(text: &[u8]) -> bool {
    text.len() == 3 && text.iter().all(u8::is_ascii_digit)
}

/// The format string of fields with these variables.
pub(super) fn log_of<'a>(
    fields: &[Field<'a>],
    variable: impl Fn((usize, &Field<'a>)) -> String,
) -> String {
    let texts = fields.iter().enumerate().map(|(index, field)| {
        let (open, close) = field.marks.split_at(field.marks.len() / 2);
        format!("{open}{}{close}", variable((index, field)))
    });
    format!("log:{}", texts.collect::<Vec<_>>().join(" "))
}

/// The member that names a site in most records, not the same in all of them, or the query of a target that
/// has none.
fn of_json<'a>(
    format: &Format,
    json: &Json,
    lines: impl Iterator<Item = &'a [u8]>,
) -> Option<LeftOut> {
    let lines: Vec<&[u8]> = lines.take(LINES).collect();
    // A record with the part in a member that the format reads lacks nothing.
    let hosts = lines.iter().copied().filter(|line| !finds_host(json, line));
    let hosts = Census::of_json(hosts);
    let is_host = |column: &&Column| {
        !column.is_item
            && column.count(ValueKind::Host) * 2 > lines.len()
            && column.varies()
            && !column.is_of_other()
            // Objects in a record tell of much else.
            && (column.object().is_empty() || names_site(&column.name))
    };
    let columns = Columns::find(&hosts).filter(|columns| columns.source.0 != "url");
    let host = columns.and_then(|columns| columns.host).filter(is_host);
    let host = host.or_else(|| hosts.columns.iter().find(is_host));
    let has_query = |found: Found<'_>| match found {
        Found::Url(target) | Found::Target(target) | Found::Joined(_, target) => {
            target.contains(&b'?')
        }
    };
    let lacks_query = |line: &&[u8]| Trial::of_lines(&[*line]).count_of(format, has_query) == 0;
    let queries = Census::of_json(lines.iter().copied().filter(lacks_query));
    let columns = Columns::find(&queries).filter(|columns| columns.source.0 != "url");
    let query = columns.and_then(|columns| columns.query);
    let left = host.or(query.filter(|query| query.full().next().is_some()))?;
    let all = Census::of_json(lines.iter().copied());
    let whole = Columns::find(&all).filter(|columns| {
        [columns.host, columns.query].into_iter().flatten().any(|column| column.place == left.place)
    });
    let whole = whole.map(|columns| columns.format("json", |column| column.place.clone()));
    let whole = whole.filter(|whole| Trial::of_lines(&lines).reads(whole));
    Some(LeftOut { place: left.place.clone(), whole })
}

/// True if a record has one of the members that the format reads as a host.
fn finds_host(json: &Json, line: &[u8]) -> bool {
    let mut buffer = Vec::new();
    json.said(line, &mut buffer).is_ok_and(|said| {
        [RecordPart::Host, RecordPart::ClientHost].iter().any(|part| said.get(*part).is_some())
    })
}
