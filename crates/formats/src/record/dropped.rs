//! Finds a field that names the site of each request and that the chosen format does not read.
//!
//! Without it, equal paths of different sites would become one URL.

use std::collections::HashMap;

use memchr::memchr2;

use super::access::time_and_request;
use super::hosts::is_site;
use super::json::{Json, slice};
use super::part::RecordPart;
use super::{Format, request};

/// Fields of a line that are looked at, and the longest name of a member, in bytes. A pointer repeats the
/// names of all objects around its member.
const FIELDS: usize = 200;
const NAME: usize = 256;

/// A field by its name, its values, and the number of lines in which it names a site.
struct Candidate<'a> {
    name: String,
    first: &'a [u8],
    varies: bool,
    lines: usize,
}

/// The field that names a site in most lines, not the same in all of them. `format` was chosen for
/// these lines.
pub(super) fn dropped_host<'a>(
    format: &Format,
    lines: impl Iterator<Item = &'a [u8]>,
) -> Option<String> {
    let json = match format {
        Format::Clf | Format::Combined | Format::Haproxy => None,
        Format::Log(format) if !format.has_host() => None,
        Format::Json(json) if json.has_target() => Some(json),
        _ => return None,
    };
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut all = 0;
    for line in lines {
        all += 1;
        let fields = match json {
            None => fields_of_log(line),
            Some(json) if finds_host(json, line) => Vec::new(),
            Some(_) => members(line),
        };
        for (name, value) in fields {
            match places.get(&name) {
                Some(place) => {
                    let known = &mut candidates[*place];
                    known.lines += 1;
                    known.varies |= !known.first.eq_ignore_ascii_case(value);
                }
                None => {
                    places.insert(name.clone(), candidates.len());
                    candidates.push(Candidate { name, first: value, varies: false, lines: 1 });
                }
            }
        }
    }
    let is_it = |known: &Candidate<'_>| known.varies && known.lines * 2 > all;
    candidates.into_iter().find(is_it).map(|known| known.name)
}

/// True if a record has one of the members that the format reads as a host.
fn finds_host(json: &Json, line: &[u8]) -> bool {
    let mut buffer = Vec::new();
    json.has_host()
        && json.said(line, &mut buffer).is_ok_and(|said| {
            [RecordPart::Host, RecordPart::ClientHost].iter().any(|part| said.get(*part).is_some())
        })
}

/// The fields of a line of an access log that name sites, by their number. Quotation marks, brackets and
/// braces each enclose one field.
fn fields_of_log(line: &[u8]) -> Vec<(String, &[u8])> {
    let Some((time, request)) = time_and_request(line) else { return Vec::new() };
    // A request in absolute-form names its host itself.
    let has_host = request::split(&line[request.clone()])
        .is_some_and(|(_, target)| !line[request.start + target.start..].starts_with(b"/"));
    if has_host {
        return Vec::new();
    }
    let before =
        line[..time.start].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    // A syslog header names the machine.
    let is_syslog = line[..time.start]
        .split(|byte| *byte == b' ')
        .any(|word| word.len() > 1 && word.ends_with(b":"));
    let mut found = Vec::new();
    for (index, field) in split(line).into_iter().enumerate().take(FIELDS) {
        // Before the time stand the client, a name that only some servers log a host in, and the name of
        // a user.
        let is_client = index < before
            && (is_syslog || before > 2 && (index + 3 == before || index + 1 == before));
        if is_client || field.contains(&b' ') {
            continue;
        }
        if let Some(site) = field.split(|byte| *byte == b'|').find_map(site_of) {
            found.push((format!("field {}", index + 1), site));
        }
    }
    found
}

/// The site that a word names, perhaps after a label: `a.example`, `vhost=a.example`, `vhost:a.example`.
fn site_of(word: &[u8]) -> Option<&[u8]> {
    if is_site(word) {
        return Some(word);
    }
    let (label, value) = word.split_at(memchr2(b'=', b':', word)?);
    let value = unquoted(&value[1..]).unwrap_or(&value[1..]);
    (is_site(value) && !names_other(&String::from_utf8_lossy(label))).then_some(value)
}

/// The text between quotation marks.
fn unquoted(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""))
}

/// The fields of a line, without their marks.
fn split(line: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let close = match line[at] {
            b' ' => {
                at += 1;
                continue;
            }
            b'"' => b'"',
            b'[' => b']',
            b'{' => b'}',
            _ => b' ',
        };
        let start = at + usize::from(close != b' ');
        let end = line[start..].iter().position(|byte| *byte == close);
        let end = end.map_or(line.len(), |length| start + length);
        fields.push(&line[start..end]);
        at = end + 1;
    }
    fields
}

/// Parts of the names of members and labels that name other machines than the site.
const OTHERS: [&str; 13] = [
    "client",
    "remote",
    "addr",
    "ip",
    "agent",
    "refer",
    "upstream",
    "user",
    "forwarded",
    "email",
    "origin",
    "logger",
    "kube",
];

/// True for the name of a member that names another machine than the site.
fn names_other(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    OTHERS.iter().any(|other| lower.contains(other))
}

/// Parts of the names of members that may name the site, which objects inside of a record need: they
/// tell of much else.
const SITES: [&str; 6] = ["host", "authority", "domain", "fqdn", "site", "server"];

/// How many objects around a member are gone into.
const DEPTH: usize = 3;

/// The members of an object that name sites, by their pointers.
fn members(line: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    add_members(line, "", &mut found);
    found
}

fn add_members<'a>(object: &'a [u8], outer: &str, found: &mut Vec<(String, &'a [u8])>) {
    let depth = outer.matches('/').count();
    for (name, value) in slice::members(object).filter(|(name, _)| name.len() <= NAME) {
        if found.len() == FIELDS {
            return;
        }
        let name = String::from_utf8_lossy(name);
        let lower = name.to_ascii_lowercase();
        if names_other(&name) {
            continue;
        }
        let pointer = format!("{outer}/{}", name.replace('~', "~0").replace('/', "~1"));
        if value.starts_with(b"{") && depth < DEPTH {
            add_members(value, &pointer, found);
            continue;
        }
        if depth > 0 && !SITES.iter().any(|site| lower.contains(site)) {
            continue;
        }
        if let Some(site) = unquoted(value).filter(|site| is_site(site)) {
            found.push((pointer, site));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_few_and_short_candidates() {
        let log = |fields: usize| {
            let line = r#"10.0.0.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5"#;
            fields_of_log((line.to_owned() + &" a.example".repeat(fields)).as_bytes()).len()
        };
        assert_eq!(log(5), 5);
        assert!(log(10_000) <= FIELDS);
        let json = |name: usize, fields: usize| {
            let site = r#""host":"a.example","#.repeat(fields);
            let line = format!(r#"{{"{}":{{{site}"x":1}}}}"#, "n".repeat(name));
            members(line.as_bytes()).iter().map(|(pointer, _)| pointer.len()).sum::<usize>()
        };
        assert_eq!(json(10, 3), 3 * 16);
        assert!(json(100, 10_000) <= FIELDS * 106);
        assert_eq!(json(NAME + 1, 3), 0);
    }
}
