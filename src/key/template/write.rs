//! The one pass that makes a template.

use memchr::{memchr, memchr2};

use super::byte_class::{ALNUM, Classes, DIGIT, J, ODD, SEMICOLON, TELLING, classes_of, is, scan};
use super::literal::braced_name;
use super::names::Names;
use super::part_type::PartType;
use super::trace::{TemplateRule, TypedPart};
use super::{date, types};
use crate::bytes::{Triplet, push_triplet};
use crate::normalize::is_scheme;

/// The greatest length of the template of `length` bytes: each byte may become a triplet, and a query gains
/// two.
pub(super) const fn longest(length: usize) -> usize {
    length.saturating_mul(3).saturating_add(2)
}

/// Appends a template to `out`, and reports each part that is replaced to `trace`, in the order of the URL.
/// Offsets (`at`) are in the URL.
pub(super) struct Writer<'a, F = fn(TypedPart)> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) trace: F,
}

impl<'a> Writer<'a> {
    /// A writer that reports nothing.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Writer<'a, impl FnMut(TypedPart)> {
        Writer { out, trace: |_| () }
    }
}

impl<F: FnMut(TypedPart)> Writer<'_, F> {
    pub(super) fn url(&mut self, url: &[u8]) {
        let end = memchr2(b'?', b'#', url).unwrap_or(url.len());
        // The query is cut off first: a slash or a colon in it delimits nothing.
        let (before_query, rest) = url.split_at(end);
        let scheme_end = scheme_end(before_query);
        let after_scheme = &before_query[scheme_end..];
        // The path starts here, and the bytes up to `written` are written.
        let (mut path, mut written) = (scheme_end, 0);
        if let Some(authority) = after_scheme.strip_prefix(b"//") {
            let (length, seen) = scan(authority, |byte| byte == b'/');
            path += 2 + length;
            // No part of an authority is named, but a template may hold literals alone.
            if seen & ODD != 0 {
                self.literals(&before_query[..path], 0);
                written = path;
            }
        } else if scheme_end > 0 && !after_scheme.starts_with(b"/") {
            self.out.extend_from_slice(&before_query[..path]);
            self.segment(after_scheme, classes_of(after_scheme), path);
            (path, written) = (end, end);
        }
        self.segments(before_query, path, written);
        if rest.starts_with(b"?") {
            self.query_at(url, end);
        }
    }

    /// The query after the question mark at `at`.
    pub(super) fn query_at(&mut self, url: &[u8], at: usize) {
        let query = &url[at + 1..];
        let length = memchr(b'#', query).unwrap_or(query.len());
        self.query(&query[..length], at + 1);
    }

    /// The segments of a path at the end of `url`, with rule 1. Bytes that stay are written together.
    pub(super) fn segments(&mut self, url: &[u8], path: usize, mut written: usize) {
        let mut start = path;
        loop {
            let rest = &url[start..];
            if let Some(length) = date::over_segments(rest) {
                self.out.extend_from_slice(&url[written..start]);
                self.typed(start, length, PartType::Date, TemplateRule::DateSegments);
                let end = memchr(b'/', &rest[length..]).map_or(rest.len(), |more| length + more);
                self.parameters(&rest[length..end], start + length);
                start += end;
                written = start;
            } else {
                let (length, seen) = scan(rest, |byte| byte == b'/');
                // A UUID may consist of letters and hyphens, which tell nothing.
                if seen & TELLING != 0 || length >= types::UUID {
                    self.out.extend_from_slice(&url[written..start]);
                    self.segment(&rest[..length], seen, start);
                    written = start + length;
                }
                start += length;
            }
            if start == url.len() {
                break;
            }
            start += 1;
        }
        self.out.extend_from_slice(&url[written..]);
    }

    /// A segment, or an opaque path, which has these classes of bytes: rule 2 splits it.
    pub(super) fn segment(&mut self, segment: &[u8], mut seen: Classes, at: usize) {
        let (mut name, mut parameters) = (segment, &[][..]);
        if seen & SEMICOLON != 0 {
            let end = memchr(b';', segment).unwrap_or(segment.len());
            (name, parameters) = segment.split_at(end);
            seen = classes_of(name);
        }
        match types::whole_before_extensions(name, seen) {
            Some((part_type, length)) => {
                self.typed(at, length, part_type, TemplateRule::WholeSegment);
                self.out.extend_from_slice(&name[length..]);
            }
            None => self.inside(name, at),
        }
        self.parameters(parameters, at + name.len());
    }

    /// Rule 4.
    fn inside(&mut self, text: &[u8], at: usize) {
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            start += if is(rest[0], ALNUM) {
                self.runs(rest, at + start)
            } else {
                self.piece(rest, at + start)
            };
        }
    }

    /// A UUID, a date or else one run, at the start of `rest`, where a run starts. Returns its length.
    fn runs(&mut self, rest: &[u8], at: usize) -> usize {
        if let Some((length, part_type)) = types::of_runs_at_start(rest) {
            self.typed(at, length, part_type, TemplateRule::Inside);
            return length;
        }
        let (length, seen) = scan(rest, |byte| !is(byte, ALNUM));
        let run = &rest[..length];
        // Every type of a run has a digit, or is a token that begins with `eyJ`.
        let found = if seen & (DIGIT | J) == 0 { None } else { types::run(run, seen) };
        let start = found.map_or(length, |(start, _)| start);
        self.out.extend_from_slice(&run[..start]);
        if let Some((start, part_type)) = found {
            self.typed(at + start, length - start, part_type, TemplateRule::Inside);
        }
        length
    }

    /// Rule 2: parameters, each after its `;`, without their values.
    fn parameters(&mut self, text: &[u8], at: usize) {
        let mut start = 0;
        while start < text.len() {
            let end = memchr(b';', &text[start + 1..]).map_or(text.len(), |end| start + 1 + end);
            let name = memchr(b'=', &text[start..end]).map_or(end, |length| start + length);
            self.literals(&text[start..name], at + start);
            start = end;
        }
    }

    /// Rule 5.
    fn query(&mut self, query: &[u8], at: usize) {
        let mut names = Names::after(self.out.len() + 1);
        let mut next = 0;
        while next < query.len() {
            let rest = &query[next..];
            let (length, seen) = scan(rest, |byte| matches!(byte, b'&' | b'='));
            if length > 0 {
                let start = self.out.len();
                self.out.push(if names.is_empty() { b'?' } else { b'&' });
                self.query_name(&rest[..length], seen, at + next);
                names.add(self.out, start);
            }
            let ends = rest.get(length) != Some(&b'=');
            let end = if ends { length } else { memchr(b'&', rest).unwrap_or(rest.len()) };
            next += end + 1;
        }
        names.finish(self.out);
    }

    fn query_name(&mut self, name: &[u8], seen: Classes, at: usize) {
        if seen & TELLING == 0 && name.len() < types::UUID {
            self.out.extend_from_slice(name);
            return;
        }
        match types::whole(name, seen) {
            Some(part_type) => self.typed(at, name.len(), part_type, TemplateRule::QueryName),
            None => self.literals(name, at),
        }
    }

    /// Rule 6.
    pub(super) fn literals(&mut self, text: &[u8], at: usize) {
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let plain = rest.iter().position(|byte| is(*byte, ODD)).unwrap_or(rest.len());
            self.out.extend_from_slice(&rest[..plain]);
            start += plain;
            if start < text.len() {
                start += self.piece(&text[start..], at + start);
            }
        }
    }

    /// The piece at the start of `rest`. Returns its length.
    fn piece(&mut self, rest: &[u8], at: usize) -> usize {
        if let Some((part_type, length)) = braced_name(rest) {
            self.typed(at, length, part_type, TemplateRule::Braced);
            return length;
        }
        let length = if Triplet::read(rest).is_some() { 3 } else { 1 };
        if length == 1 && is(rest[0], ODD) {
            push_triplet(rest[0], self.out);
        } else {
            self.out.extend_from_slice(&rest[..length]);
        }
        length
    }

    fn typed(&mut self, at: usize, length: usize, part_type: PartType, rule: TemplateRule) {
        self.out.extend_from_slice(part_type.braced().as_bytes());
        (self.trace)(TypedPart { range: at..at + length, part_type, rule });
    }
}

/// The length of the scheme at the start of `url` with its colon, or 0.
fn scheme_end(url: &[u8]) -> usize {
    let colon = memchr(b':', url).filter(|colon| is_scheme(&url[..*colon]));
    colon.map_or(0, |colon| colon + 1)
}
