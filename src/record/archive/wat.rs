//! WAT records: what a crawler noted about each record of a WARC file, in JSON.
//!
//! A WAT file is a WARC file of `metadata` records; each tells of a request, a response or another
//! record. Only responses count here: with their target, or with every link that was found in the page.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::json::{Text, slice};
use super::super::{Context, Found, Record, Records, Span};
use super::warc::bare;
use super::{side, warc};
use crate::uri;
use crate::url::Code;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "Envelope", borrow)]
    envelope: Envelope<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "WARC-Header-Metadata", borrow)]
    head: Head<'a>,
    #[serde(rename = "Payload-Metadata", borrow)]
    payload: Option<Payload<'a>>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "WARC-Type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(rename = "WARC-Target-URI", borrow)]
    target: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(rename = "HTTP-Response-Metadata", borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(rename = "HTML-Metadata", borrow)]
    page: Option<Page<'a>>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(rename = "Head", borrow)]
    head: Option<PageHead<'a>>,
    #[serde(rename = "Links", borrow, default)]
    links: Vec<Link<'a>>,
}

#[derive(Deserialize)]
struct PageHead<'a> {
    #[serde(rename = "Base", borrow)]
    base: Option<Text<'a>>,
    #[serde(rename = "Link", borrow, default)]
    links: Vec<Link<'a>>,
    #[serde(rename = "Scripts", borrow, default)]
    scripts: Vec<Link<'a>>,
}

#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow)]
    url: Option<Text<'a>>,
    /// What stands in its place for a URL of a style sheet that the page holds: `STYLE/#text`.
    #[serde(borrow)]
    href: Option<Text<'a>>,
}

/// What a record tells, and its target.
enum Told<'a> {
    /// Of no response.
    Nothing,
    /// In no JSON of the kind that is known.
    Malformed,
    Response {
        target: Cow<'a, [u8]>,
        page: Option<Page<'a>>,
    },
}

fn told(record: &[u8]) -> Told<'_> {
    let Some(end) = warc::end_of_fields(record) else { return Told::Malformed };
    let (head, body) = record.split_at(end);
    if !warc::is_wat(head) {
        return Told::Nothing;
    }
    let (Head { kind, target }, page) = match serde_json::from_slice(body) {
        Ok(Document { envelope: Envelope { head, payload } }) => {
            (head, payload.and_then(|payload| payload.response?.page))
        }
        Err(_) if serde_json::from_slice::<IgnoredAny>(body).is_ok() => odd(body),
        Err(_) => return Told::Malformed,
    };
    match kind {
        Some(Text(kind)) if kind.eq_ignore_ascii_case(b"response") => {}
        Some(_) => return Told::Nothing,
        None => return Told::Malformed,
    }
    match target {
        Some(Text(target)) => Told::Response { target, page },
        None => Told::Malformed,
    }
}

/// What JSON says that has a name twice, or what is none of its kind. Of a name the last one counts, and
/// what makes no sense is as good as not there.
fn odd(body: &[u8]) -> (Head<'_>, Option<Page<'_>>) {
    fn text<'a>(object: &'a [u8], name: &str) -> Option<Text<'a>> {
        serde_json::from_slice(slice::at(object, &[name])?).ok()
    }
    fn links<'a>(object: &'a [u8], name: &str) -> Vec<Link<'a>> {
        let links = slice::elements(slice::at(object, &[name]).unwrap_or_default());
        links.map(|link| Link { url: text(link, "url"), href: text(link, "href") }).collect()
    }
    let at = |names: &[&str]| slice::at(body, names).unwrap_or_default();
    let head = at(&["Envelope", "WARC-Header-Metadata"]);
    let page = at(&["Envelope", "Payload-Metadata", "HTTP-Response-Metadata", "HTML-Metadata"]);
    let top = slice::at(page, &["Head"]).unwrap_or_default();
    let top = PageHead {
        base: text(top, "Base"),
        links: links(top, "Link"),
        scripts: links(top, "Scripts"),
    };
    let head = Head { kind: text(head, "WARC-Type"), target: text(head, "WARC-Target-URI") };
    (head, Some(Page { head: Some(top), links: links(page, "Links") }))
}

/// Appends the target of a response.
pub(super) fn target(ctx: &Context, record: &[u8], line: Span, out: &mut Records) {
    let found = match told(record) {
        Told::Nothing => Found::Skipped,
        Told::Malformed => Found::Reject(Code::LogSyntax, 0),
        Told::Response { target, .. } => {
            let start = out.side.len();
            out.side.extend_from_slice(bare(&target));
            side(ctx, start, out)
        }
    };
    out.push(Record { line, found });
}

/// Appends the links of a page, in the order of head, scripts and body, each resolved against what the
/// page says is its base, or its own address.
pub(super) fn links(ctx: &Context, record: &[u8], line: Span, out: &mut Records) {
    let (target, page) = match told(record) {
        Told::Nothing => return out.push(Record { line, found: Found::Skipped }),
        Told::Malformed => {
            let found = Found::Reject(Code::LogSyntax, 0);
            return out.push(Record { line, found });
        }
        Told::Response { target, page } => (target, page),
    };
    let Some(Page { head, links: body }) = page else { return };
    let head = head.unwrap_or(PageHead { base: None, links: Vec::new(), scripts: Vec::new() });
    let own = bare(&target);
    let mut base = Vec::new();
    match &head.base {
        Some(Text(reference)) if resolve(own, reference, &mut base) => {}
        _ => base = own.to_vec(),
    }
    for link in head.links.iter().chain(&head.scripts).chain(&body) {
        let Some(Text(reference)) = link.url.as_ref().or(link.href.as_ref()) else { continue };
        if out.is_full() {
            break;
        }
        if out.is_passing() {
            out.push(Record { line, found: Found::Blank });
            continue;
        }
        let start = out.side.len();
        if !resolve(&base, reference, &mut out.side) {
            out.side.extend_from_slice(reference.trim_ascii());
        }
        let found = side(ctx, start, out);
        out.push(Record { line, found });
    }
}

/// Appends a reference of a page, resolved; false where it cannot be, since the base is none. Attributes
/// may have white space around what they say.
fn resolve(base: &[u8], reference: &[u8], out: &mut Vec<u8>) -> bool {
    uri::resolve(base, reference.trim_ascii(), out).is_ok()
}
