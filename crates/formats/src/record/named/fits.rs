//! Tests strictly whether a line has the layout of an entry.

use memchr::memmem;

use super::super::access::is_access;
use super::super::cdx;
use super::super::clf::{begins_as_time, bracketed_time};
use super::super::hosts::is_authority;
use super::super::json::{Pointer, at};
use super::super::log::LineShape;
use super::super::part::{RecordPart, Said, Value};
use super::super::{Format, Json, cdxj, elb, request};
use uniqurl::internal::Parts;

/// How to tell the lines of an entry.
#[derive(Debug)]
pub(in crate::record) enum LineTest {
    /// `auto` does not look for the format.
    Never,
    /// `auto` finds the format by its header.
    Header,
    /// The line has the layout of a format string.
    Log(LineShape),
    /// The line is an object with these values and members.
    Json(Json, Members),
    /// The line has at least so many columns, and these are parts.
    Tsv(Vec<(usize, RecordPart)>, usize),
    /// A format with a reader of its own.
    Reader(Family),
}

/// The pointers to members that tell an object from those of other formats.
#[derive(Debug, Default)]
pub(in crate::record) struct Members {
    /// Those that it has.
    pub needs: Vec<Pointer>,
    /// Those that only others have.
    pub lacks: Vec<Pointer>,
}

/// The formats with a reader of their own that one line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Family {
    /// The access logs whose request is the first quoted field after the time: `clf`, `combined` and
    /// `vhost`, which the detector tells from each other.
    Access,
    Elb,
    Haproxy,
    Cdx,
    Cdxj,
}

impl Family {
    /// The family of a format.
    pub fn of(format: &Format) -> Option<Self> {
        match format {
            Format::Clf | Format::Combined | Format::Vhost => Some(Family::Access),
            Format::Elb => Some(Family::Elb),
            Format::Haproxy => Some(Family::Haproxy),
            Format::Cdx(_) => Some(Family::Cdx),
            Format::Cdxj(_) => Some(Family::Cdxj),
            _ => None,
        }
    }

    fn fits(self, line: &[u8]) -> bool {
        match self {
            // Most other formats are logs as well, so this is left for the end.
            Family::Access => false,
            Family::Elb => elb::is_one(line),
            Family::Haproxy => is_haproxy(line),
            Family::Cdx => cdx::is_usual(line),
            Family::Cdxj => cdxj::object(line).is_some(),
        }
    }
}

impl LineTest {
    /// True if the line has this layout.
    pub fn fits(&self, line: &[u8]) -> bool {
        match self {
            LineTest::Never | LineTest::Header => false,
            LineTest::Log(shape) => shape.fits(line),
            LineTest::Json(json, members) => fits_json(json, members, line),
            LineTest::Tsv(columns, least) => fits_tsv(columns, *least, line),
            LineTest::Reader(family) => family.fits(line),
        }
    }
}

fn fits_json(json: &Json, members: &Members, line: &[u8]) -> bool {
    // Most lines are of another format, and lack a name.
    let holds =
        |tokens: &Pointer| tokens.last().is_none_or(|name| memmem::find(line, name).is_some());
    let has = |tokens: &Pointer| at(line, tokens).is_some();
    if !line.starts_with(b"{") || !members.needs.iter().all(holds) || !json.may_read(line) {
        return false;
    }
    let mut buffer = Vec::new();
    json.said(line, &mut buffer)
        .is_ok_and(|said| is_request(&said, || json.has_member(line, RecordPart::Query)))
        && members.needs.iter().all(has)
        && !members.lacks.iter().any(has)
}

fn fits_tsv(columns: &[(usize, RecordPart)], least: usize, line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    if fields.len() < least.max(2) {
        return false;
    }
    let mut said = Said::default();
    for (column, part) in columns.iter().filter(|(_, part)| part.is_read_at_once()) {
        let Some(field) = fields.get(*column) else { return false };
        said.set(*part, Value::InLine(field));
    }
    is_request(&said, || false)
}

/// True if the parts of a record look as they should. `has_query` tells whether the record has a query
/// of its own, be it empty.
fn is_request(said: &Said<'_>, has_query: impl Fn() -> bool) -> bool {
    let fits = |part: RecordPart, is: &dyn Fn(&[u8]) -> bool| said.get(part).is_none_or(is);
    let is_target = |value: &[u8]| {
        value.starts_with(b"/") || value == b"*" || is_absolute(value) || is_authority(value)
    };
    let is_status = |status: &[u8]| status.len() == 3 && status.iter().all(u8::is_ascii_digit);
    let is_method =
        |method: &[u8]| method.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
    // The query in another member tells a decoded path from a whole target.
    let is_decoded = |path: &[u8]| path.starts_with(b"/") && !path.contains(&b'?') && has_query();
    let has_source = said.has_source()
        || said.get(RecordPart::Uri).is_some()
        || said.get(RecordPart::DecodedPath).is_some_and(is_decoded);
    has_source
        && fits(RecordPart::Url, &is_absolute)
        && fits(RecordPart::Target, &is_target)
        && fits(RecordPart::Request, &|request| request::split(request).is_some())
        && fits(RecordPart::Path, &|path| path.starts_with(b"/"))
        && fits(RecordPart::Method, &is_method)
        && fits(RecordPart::Status, &|status| {
            is_status(status) || status == b"0" || status == b"000"
        })
}

/// True for a URL with a host.
pub(in crate::record) fn is_absolute(text: &[u8]) -> bool {
    let parts = Parts::split(text);
    parts.scheme.is_some() && parts.authority.is_some()
}

/// True if a line from its time on reads `[time.123] frontend backend/server`, or, where the
/// connection failed, `[time.123] frontend/listener: reason`.
fn is_haproxy(line: &[u8]) -> bool {
    let Some(time) = bracketed_time(line) else { return false };
    let mut fields = line[time.start..].split(|&byte| byte == b' ');
    let is_time = fields.next().is_some_and(|time| {
        begins_as_time(&time[1..])
            && matches!(time, [.., b'.', a, b, c, b']'] if [a, b, c].iter().all(|d| d.is_ascii_digit()))
    });
    let (Some(frontend), Some(server)) = (fields.next(), fields.next()) else { return false };
    let has_failed = frontend.ends_with(b":") && frontend.contains(&b'/');
    is_time && (has_failed || (server.contains(&b'/') && is_access(line)))
}
