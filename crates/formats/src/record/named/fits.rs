//! Tests strictly whether a line has the layout of an entry.

use memchr::memmem;

use super::super::hosts::is_authority;
use super::super::json::{Pointer, at};
use super::super::log::LineShape;
use super::super::origin::is_absolute;
use super::super::part::{RecordPart, Said, Value};
use super::super::{Format, Json, request};

/// The pointers to members that tell an object from those of other formats.
#[derive(Debug, Default)]
pub(in crate::record) struct Members {
    /// Those that it has.
    pub needs: Vec<Pointer>,
    /// Those that only others have.
    pub lacks: Vec<Pointer>,
}

/// How to tell the lines of an entry.
#[derive(Debug)]
pub(in crate::record) enum LineTest {
    /// `auto` does not look for the format.
    Never,
    /// The line has the layout of a format string.
    Log(LineShape),
    /// The line is an object with these values and members.
    Json(Json, Members),
    /// The line has at least so many columns, and these are parts.
    Tsv(Vec<(usize, RecordPart)>, usize),
    /// A layout of its own, which may also be found by a header.
    Reader(Format),
}

impl LineTest {
    /// True if the line has this layout.
    pub fn fits(&self, line: &[u8]) -> bool {
        match self {
            LineTest::Never => false,
            LineTest::Log(shape) => shape.fits(line),
            LineTest::Json(json, members) => fits_json(json, members, line),
            LineTest::Tsv(columns, least) => fits_tsv(columns, *least, line),
            LineTest::Reader(format) => format.fits(line) == Some(true),
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
    // One column would be a list, and every line has one.
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
        // Proxies log 0 or 000 where the client left before it had a response.
        && fits(RecordPart::Status, &|status| {
            is_status(status) || status == b"0" || status == b"000"
        })
}
