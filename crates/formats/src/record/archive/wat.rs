//! Reads WAT records: a crawler's JSON notes about each record of a WARC file.
//!
//! A WAT file is a WARC file of `metadata` records; each describes a request, a response or another
//! record. Only responses are read: their target, or every link of the page.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use super::super::json::{Controls, Pointers, Scan, Scanned, Sink, string};
use super::super::{Context, Extracted, Record, Records};
use super::base::{Base, TooLong};
use super::found::scratch;
use super::links::Links;
use super::warc;
use super::warc::bare;
use uniqurl::internal::Span;
use uniqurl::{RejectReason, uri};

/// The members of interest: the type and the target of the record that is described, and the base and the lists
/// of links of a page.
static MEMBERS: LazyLock<Pointers> = LazyLock::new(|| {
    let head = ["Envelope", "WARC-Header-Metadata"];
    let page = ["Envelope", "Payload-Metadata", "HTTP-Response-Metadata", "HTML-Metadata"];
    pointers(&[
        &[&head[..], &["WARC-Type"]].concat(),
        &[&head[..], &["WARC-Target-URI"]].concat(),
        &[&page[..], &["Head", "Base"]].concat(),
        &[&page[..], &["Head", "Link"]].concat(),
        &[&page[..], &["Head", "Scripts"]].concat(),
        &[&page[..], &["Links"]].concat(),
    ])
});

/// The members of a link with its target. `href` is used instead of `url` for a URL in a style sheet of the
/// page: `STYLE/#text`.
static TARGETS: LazyLock<Pointers> = LazyLock::new(|| pointers(&[&["url"], &["href"]]));

fn pointers(names: &[&[&str]]) -> Pointers {
    let tokens = names.iter().map(|names| names.iter().map(|name| name.as_bytes().to_vec()));
    let tokens: Vec<Vec<_>> = tokens.map(Iterator::collect).collect();
    Pointers::new(tokens.iter().map(Vec::as_slice))
}

/// The values at [`MEMBERS`].
#[derive(Default)]
struct Members<'a> {
    /// The type, the target and the base, as the text writes them.
    texts: [Option<&'a [u8]>; 3],
    /// The targets in each list of links, likewise.
    lists: [Vec<&'a [u8]>; 3],
}

impl<'a> Sink<'a> for Members<'a> {
    fn take(&mut self, pointer: usize, scan: &mut Scan<'a>) -> Scanned {
        let Some(list) = pointer.checked_sub(3) else { return self.texts.take(pointer, scan) };
        let list = &mut self.lists[list];
        // A name may stand twice in an object. The last one counts, as with the texts.
        list.clear();
        if !scan.skip(b'[') {
            return scan.value(Controls::Pass).map(|_| ());
        }
        let mut is_first = true;
        while scan.element(is_first)? {
            is_first = false;
            let mut targets = [None; 2];
            TARGETS.follow(scan, &mut targets)?;
            // Elements without a target are dropped: in JSON they take three bytes each, and in memory many more.
            list.extend(targets.into_iter().flatten().find(|target| target.starts_with(b"\"")));
        }
        Ok(())
    }

    /// Values of another type count as missing.
    fn lack(&mut self, pointer: usize, _: bool) {
        match pointer.checked_sub(3) {
            Some(list) => self.lists[list].clear(),
            None => self.texts[pointer] = None,
        }
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
        base: Option<Cow<'a, [u8]>>,
        /// The targets of the links in the head of the page, its scripts, and its body.
        lists: [Vec<&'a [u8]>; 3],
    },
}

fn wat_record(record: &[u8]) -> WatRecord<'_> {
    let Some(end) = warc::end_of_fields(record) else { return WatRecord::Malformed };
    let (head, body) = record.split_at(end);
    if !warc::is_wat(head) {
        return WatRecord::Nothing;
    }
    let mut scan = Scan::new(body, Controls::Fail);
    let mut members = Members::default();
    if MEMBERS.follow(&mut scan, &mut members).and_then(|()| scan.end()).is_err() {
        return WatRecord::Malformed;
    }
    let [kind, target, base] = members.texts.map(|text| text.and_then(string));
    match (kind, target) {
        (Some(kind), _) if !kind.eq_ignore_ascii_case(b"response") => WatRecord::Nothing,
        (Some(_), Some(target)) => WatRecord::Response { target, base, lists: members.lists },
        _ => WatRecord::Malformed,
    }
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
    // A later pass over the chunk steps over these links again, and must not parse the record for
    // their number.
    if passed > 0 || out.is_full() {
        *known = Some(links);
    }
}

/// The links of the page that a record describes, or the outcome for the whole record.
fn links_of(ctx: &Context, record: &[u8]) -> Result<Links, Extracted> {
    let (target, base, lists) = match wat_record(record) {
        WatRecord::Nothing => return Err(Extracted::Skipped),
        WatRecord::Malformed => return Err(Extracted::Reject(RejectReason::LogSyntax, 0)),
        WatRecord::Response { target, base, lists } => (target, base, lists),
    };
    let own = bare(&target);
    let mut resolved = Vec::new();
    match base {
        // HTML falls back to the page's own address where `<base>` holds no URL.
        Some(reference) if uri::resolve(own, reference.trim_ascii(), &mut resolved).is_ok() => {}
        _ => resolved = own.to_vec(),
    }
    let mut links = Links::new(Base::new(&resolved, ctx.max_url, ctx.targets));
    for reference in lists.iter().flatten().filter_map(|text| string(text)) {
        links.add(&reference);
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
            let links = links_of(&Context::default(), chunk.as_bytes()).unwrap();
            assert_eq!(links.len(), 2, "{list}");
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
