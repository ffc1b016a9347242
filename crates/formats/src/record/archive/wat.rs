//! Reads WAT records: a crawler's JSON notes about each record of a WARC file.
//!
//! A WAT file is a WARC file of `metadata` records; each describes a request, a response or another
//! record. Only responses are read: their target, or every link of the page.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::json::{JsonText, slice};
use super::super::{Context, Extracted, Record, Records};
use super::base::{Base, TooLong};
use super::links::Links;
use super::warc::bare;
use super::{scratch, warc};
use uniqurl::internal::Span;
use uniqurl::{RejectReason, uri};

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "Envelope", borrow)]
    envelope: Envelope<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "WARC-Header-Metadata", borrow)]
    head: HeaderMetadata<'a>,
    #[serde(rename = "Payload-Metadata", borrow)]
    payload: Option<Payload<'a>>,
}

#[derive(Deserialize)]
struct HeaderMetadata<'a> {
    #[serde(rename = "WARC-Type", borrow)]
    kind: Option<JsonText<'a>>,
    #[serde(rename = "WARC-Target-URI", borrow)]
    target: Option<JsonText<'a>>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(rename = "HTTP-Response-Metadata", borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(rename = "HTML-Metadata", borrow)]
    page: Option<PageMetadata<'a>>,
}

#[derive(Deserialize)]
struct PageMetadata<'a> {
    #[serde(rename = "Head", borrow)]
    head: Option<PageHead<'a>>,
    #[serde(rename = "Links", borrow, default, deserialize_with = "references")]
    links: Vec<JsonText<'a>>,
}

#[derive(Deserialize)]
struct PageHead<'a> {
    #[serde(rename = "Base", borrow)]
    base: Option<JsonText<'a>>,
    #[serde(rename = "Link", borrow, default, deserialize_with = "references")]
    links: Vec<JsonText<'a>>,
    #[serde(rename = "Scripts", borrow, default, deserialize_with = "references")]
    scripts: Vec<JsonText<'a>>,
}

#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow)]
    url: Option<JsonText<'a>>,
    /// Used instead of `url` for a URL in a style sheet of the page: `STYLE/#text`.
    #[serde(borrow)]
    href: Option<JsonText<'a>>,
}

impl<'a> Link<'a> {
    fn reference(self) -> Option<JsonText<'a>> {
        self.url.or(self.href)
    }
}

/// The targets of a list of links. Empty ones are dropped: in JSON they take three bytes each, and
/// in memory many more.
fn references<'de: 'a, 'a, D: Deserializer<'de>>(list: D) -> Result<Vec<JsonText<'a>>, D::Error> {
    list.deserialize_seq(References)
}

struct References;

impl<'de> Visitor<'de> for References {
    type Value = Vec<JsonText<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of links")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut references = Vec::new();
        while let Some(link) = list.next_element::<Link>()? {
            references.extend(link.reference());
        }
        Ok(references)
    }
}

/// The content of a record.
enum WatRecord<'a> {
    /// The record describes no response.
    Nothing,
    /// The record is not JSON of the expected kind.
    Malformed,
    Response {
        target: Cow<'a, [u8]>,
        page: Option<PageMetadata<'a>>,
    },
}

fn wat_record(record: &[u8]) -> WatRecord<'_> {
    let Some(end) = warc::end_of_fields(record) else { return WatRecord::Malformed };
    let (head, body) = record.split_at(end);
    if !warc::is_wat(head) {
        return WatRecord::Nothing;
    }
    let (HeaderMetadata { kind, target }, page) = match serde_json::from_slice(body) {
        Ok(Document { envelope: Envelope { head, payload } }) => {
            (head, payload.and_then(|payload| payload.response?.page))
        }
        Err(_) if serde_json::from_slice::<IgnoredAny>(body).is_ok() => odd(body),
        Err(_) => return WatRecord::Malformed,
    };
    match kind {
        Some(JsonText(kind)) if kind.eq_ignore_ascii_case(b"response") => {}
        Some(_) => return WatRecord::Nothing,
        None => return WatRecord::Malformed,
    }
    match target {
        Some(JsonText(target)) => WatRecord::Response { target, page },
        None => WatRecord::Malformed,
    }
}

/// Slow path for JSON in which a name occurs twice or a value has the wrong type. The last of equal
/// names counts, and a useless value counts as missing.
fn odd(body: &[u8]) -> (HeaderMetadata<'_>, Option<PageMetadata<'_>>) {
    fn text<'a>(object: &'a [u8], name: &str) -> Option<JsonText<'a>> {
        serde_json::from_slice(slice::at(object, &[name])?).ok()
    }
    fn links<'a>(object: &'a [u8], name: &str) -> Vec<JsonText<'a>> {
        let links = slice::elements(slice::at(object, &[name]).unwrap_or_default());
        let links = links.map(|link| Link { url: text(link, "url"), href: text(link, "href") });
        links.filter_map(Link::reference).collect()
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
    let head =
        HeaderMetadata { kind: text(head, "WARC-Type"), target: text(head, "WARC-Target-URI") };
    (head, Some(PageMetadata { head: Some(top), links: links(page, "Links") }))
}

/// Appends the target of a response.
pub(super) fn target(ctx: &Context, record: &[u8], line: Span, out: &mut Records) {
    let found = match wat_record(record) {
        WatRecord::Nothing => Extracted::Skipped,
        WatRecord::Malformed => Extracted::Reject(RejectReason::LogSyntax, 0),
        WatRecord::Response { target, .. } => {
            let start = out.scratch.len();
            out.scratch.extend_from_slice(bare(&target));
            scratch(ctx, start, out)
        }
    };
    out.push(Record { line, found });
}

/// Appends the links of a page, in the order of head, scripts and body. Each is resolved against
/// the base that the page declares, or against its own address. `known` holds the links between
/// passes over a record whose links do not fit into one.
pub(super) fn links(
    ctx: &Context,
    record: &[u8],
    line: Span,
    known: &mut Option<Arc<Links>>,
    out: &mut Records,
) {
    let links = match known.take() {
        Some(links) => links,
        None => match links_of(ctx, record) {
            Ok(links) => Arc::new(links),
            Err(found) => return out.push(Record { line, found }),
        },
    };
    let passed = out.pass_over(links.len());
    for n in passed..links.len() {
        if out.is_full() {
            break;
        }
        let start = out.scratch.len();
        let found = match links.append(n, &mut out.scratch) {
            Ok(()) => scratch(ctx, start, out),
            Err(TooLong) => Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32),
        };
        out.push(Record { line, found });
    }
    if passed > 0 || out.is_full() {
        *known = Some(links);
    }
}

/// The links of the page that a record describes, or the outcome for the whole record.
fn links_of(ctx: &Context, record: &[u8]) -> Result<Links, Extracted> {
    let (target, page) = match wat_record(record) {
        WatRecord::Nothing => return Err(Extracted::Skipped),
        WatRecord::Malformed => return Err(Extracted::Reject(RejectReason::LogSyntax, 0)),
        WatRecord::Response { target, page } => (target, page),
    };
    let (head, body) = page.map_or((None, Vec::new()), |page| (page.head, page.links));
    let head = head.unwrap_or(PageHead { base: None, links: Vec::new(), scripts: Vec::new() });
    let own = bare(&target);
    let mut base = Vec::new();
    match &head.base {
        Some(JsonText(reference))
            if uri::resolve(own, reference.trim_ascii(), &mut base).is_ok() => {}
        _ => base = own.to_vec(),
    }
    let mut links = Links::new(Base::new(&base, ctx.max_url, ctx.targets));
    for JsonText(reference) in head.links.iter().chain(&head.scripts).chain(&body) {
        links.add(reference);
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, Frame, FrameState};
    use super::*;

    fn archive(target: &str, links: &[&str]) -> Vec<u8> {
        let links: Vec<_> = links.iter().map(|link| format!(r#"{{"url":"{link}"}}"#)).collect();
        let page = format!(r#"{{"Links":[{}]}}"#, links.join(","));
        let head = format!(r#"{{"WARC-Type":"response","WARC-Target-URI":"{target}"}}"#);
        let payload = format!(r#"{{"HTTP-Response-Metadata":{{"HTML-Metadata":{page}}}}}"#);
        let fields = "WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\n\r\n";
        let json = format!(
            r#"{{"Envelope":{{"WARC-Header-Metadata":{head},"Payload-Metadata":{payload}}}}}"#
        );
        [fields, &json].concat().into_bytes()
    }

    fn frame(record: &[u8]) -> Frame {
        Frame::new(0, record.len() as u32, 0, FrameState::Whole)
    }

    #[test]
    fn links_without_a_url_are_dropped() {
        let chunk = String::from_utf8(archive("http://h/", &["a", "b"])).unwrap();
        for list in [r#"[{},{"url":"#, r#"[{},{"url":1,"url":"#] {
            let chunk = chunk.replace(r#"[{"url":"#, list);
            let WatRecord::Response { page: Some(page), .. } = wat_record(chunk.as_bytes()) else {
                panic!("a page");
            };
            assert_eq!(page.links.len(), 2, "{list}");
        }
    }

    /// "No input makes it quadratic": each part was read from the start of the record.
    #[test]
    fn reading_links_in_parts_takes_linear_time() {
        let all: Vec<_> = (0..100).map(|n| format!("{n}")).collect();
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        let mut chunk = archive("http://h/d/p", &all);
        let mut frames = [frame(&chunk)];
        let (ctx, mut records, mut found) = (Context::default(), Records::default(), Vec::new());
        loop {
            records.limit(found.len(), 50);
            Archive::WatLinks.read(&ctx, &chunk, &mut frames, &mut records);
            found.extend(records.records.iter().map(|record| match record.found {
                Extracted::Url(_, span) => {
                    String::from_utf8_lossy(span.of(&records.scratch)).into_owned()
                }
                other => format!("{other:?}"),
            }));
            if !records.is_full() {
                break;
            }
            // A second parse would find nothing.
            let end = warc::end_of_fields(&chunk).unwrap();
            chunk[end..].fill(b' ');
        }
        let expected: Vec<_> = all.iter().map(|link| format!("http://h/d/{link}")).collect();
        assert_eq!(found, expected);
    }

    /// "No input makes it quadratic": these took hours when each link copied the whole base.
    #[test]
    fn links_of_a_page_with_a_long_url_take_linear_time() {
        let long = "a/".repeat(2_000_000);
        let name = "n".repeat(2_000_000);
        for (target, links) in [
            (format!("http://h/{long}"), ["a", "", "?q", "../b", "#f", "s:", "/c", "//i/d"]),
            (format!("http://h/{name}/"), ["a", "../b", "../../c", ".", "", "/d", "x/../..", ".."]),
            (format!("http://h/d/../{name}/.."), ["a", "../b", "./", "", "#f", "/d", "?", ".."]),
            (format!("http://h/?{name}"), ["a", "", "#f", "?q", "/d", "b", "c", "//i/d"]),
            (format!("http://{name}/d"), ["a", "", "#f", "?q", "/d", "b", "c", "//i/d"]),
            (format!("{name}:d/e"), ["a", "", "#f", "?q", "/d", "b", "c", "//i/d"]),
            (format!("x:{long}"), ["a", "", "?q", "../b", "#f", "s:", "/c", "//i/d"]),
        ] {
            let chunk = archive(&target, &links);
            let ctx = Context { max_url: 1_000, ..Context::default() };
            let Ok(links) = links_of(&ctx, &chunk) else { panic!("a page") };
            for n in 0..links.len() {
                let mut out = Vec::new();
                let _ = links.append(n, &mut out);
                assert!(out.capacity() <= 8 * ctx.max_url, "{n}: {}", out.capacity());
            }
        }
    }
}
