//! The path of a request as a servlet container maps it (Jakarta Servlet 6.1 section 3.5.2).
//!
//! The input is the path, without query and fragment; the output has two forms. *Decoded* is the form
//! that the container maps, and may hold any character. *Canonical* is the same path with triplets where
//! they are needed, a fixed point that prints safely.
//!
//! The steps are numbered as in the section. Segments are split before anything is decoded, so an
//! encoded slash never separates them; dot segments are recognized after decoding.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem};

use crate::bytes::{
    RejectReason, RejectReasons, Triplet, Troubles, decoded, octets, push_encoded, push_triplet,
    triplet_of,
};
use crate::normalize::exact::path::{dots, has_double_slash};
use crate::normalize::explain::Rule;
use crate::normalize::trace::{Place, Trace};
use crate::profile::servlet::SEGMENT;
use crate::simd::{FastPath, MaskedUrl, Vector};

/// The treatment of empty segments other than the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::normalize) enum EmptySegments {
    /// They are removed, as in step 6.
    Removed,
    /// They stay; the step leaves this choice to the container.
    Kept,
}

/// The segments that are left of a path.
pub(in crate::normalize) struct Path<'a> {
    segments: Vec<Segment<'a>>,
    /// The path holds `%2F`, parameters included.
    has_encoded_slash: bool,
}

struct Segment<'a> {
    /// The start of the segment in the URL.
    at: usize,
    /// The raw name.
    raw: &'a [u8],
    /// The same decoded, or raw again: from the first segment on that cannot be decoded.
    name: Cow<'a, [u8]>,
    is_raw: bool,
}

impl<'a> Path<'a> {
    /// Splits a path and collects its problems. `at` is its offset in the URL.
    pub(in crate::normalize) fn read<T: Trace>(
        path: &'a [u8],
        at: usize,
        empty: EmptySegments,
        troubles: &mut Troubles,
        trace: &mut T,
    ) -> Self {
        let mut read = Self::segments(path, at, empty, troubles);
        if T::RECORDS {
            read.tell_steps(path, trace);
        }
        read.remove_dots(troubles);
        // Judged on the result, as the container maps it: what a `..` has removed is no longer
        // there.
        read.check_result(troubles);
        if T::RECORDS {
            trace.component(Rule::DotSegments, Place::Path, Some(&read.canonical()));
        }
        read
    }

    /// Reports the changes of a path up to step 6, when dot segments are still there.
    fn tell_steps(&self, path: &'a [u8], trace: &mut impl Trace) {
        let mut slashed = path.to_vec();
        if !path.starts_with(b"/") {
            slashed.insert(0, b'/');
            trace.component(Rule::LeadingSlash, Place::Path, Some(&slashed));
        }
        let segments = slashed.split(|byte| *byte == b'/');
        let name = |segment: &'_ [u8]| memchr(b';', segment).unwrap_or(segment.len());
        let names = segments.map(|segment| &segment[..name(segment)]).collect::<Vec<_>>();
        trace.component(Rule::PathParameters, Place::Path, Some(&names.join(&b'/')));
        // Read once more, since the form between decoding and step 6 is nowhere kept.
        let kept = EmptySegments::Kept;
        let all = Self::segments(path, 0, kept, &mut Troubles::new(RejectReasons::NONE));
        trace.component(Rule::DecodeSegments, Place::Path, Some(&all.canonical()));
        trace.component(Rule::EmptySegments, Place::Path, Some(&self.canonical()));
    }

    fn canonical(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.write_canonical(&mut path);
        path
    }

    /// Steps 3 to 6: segments, without parameters, decoded, and the empty ones removed.
    fn segments(path: &'a [u8], at: usize, empty: EmptySegments, troubles: &mut Troubles) -> Self {
        let encoded_slash = find_encoded_slash(path);
        if let Some(i) = encoded_slash {
            troubles.add(RejectReason::EncodedSlash, at + i);
        }
        let body = path.strip_prefix(b"/").unwrap_or(path);
        if body.len() == path.len() {
            troubles.add(RejectReason::NoLeadingSlash, at);
        }
        let end = at + path.len();
        let mut start = end - body.len();
        let mut segments = Vec::new();
        let mut is_raw = false;
        for segment in body.split(|byte| *byte == b'/') {
            let is_last = start + segment.len() == end;
            let semicolon = memchr(b';', segment);
            let raw = &segment[..semicolon.unwrap_or(segment.len())];
            if semicolon.is_some() {
                match raw {
                    b"" if !is_last => troubles.add(RejectReason::EmptySegmentParameter, start),
                    b"." | b".." => troubles.add(RejectReason::DotSegmentParameter, start),
                    _ => {}
                }
            }
            // Asked of the raw name: once it is decoded, it is a dot segment like any other.
            if is_encoded_dot_segment(raw) {
                troubles.add(RejectReason::EncodedDotSegment, start);
            }
            let mut name = Cow::Borrowed(raw);
            if !is_raw {
                match decode(raw) {
                    Ok(decoded) => name = decoded,
                    Err(i) => {
                        troubles.add(RejectReason::Decode, start + i);
                        is_raw = true;
                    }
                }
            }
            // The last empty segment is the final slash of the path.
            if !name.is_empty() || is_last || empty == EmptySegments::Kept {
                segments.push(Segment { at: start, raw, name, is_raw });
            }
            start += segment.len() + 1;
        }
        Self { segments, has_encoded_slash: encoded_slash.is_some() }
    }

    /// Step 7: a `..` with nothing to remove stays.
    fn remove_dots(&mut self, troubles: &mut Troubles) {
        let mut kept = 0;
        for i in 0..self.segments.len() {
            match &*self.segments[i].name {
                b"." => {}
                b".." if kept > 0 && *self.segments[kept - 1].name != *b".." => {
                    kept -= 1;
                    let removed = &self.segments[kept];
                    if removed.name.is_empty() {
                        troubles.add(RejectReason::EmptySegmentBeforeDotDot, removed.at);
                    }
                }
                _ => {
                    // Swapped with one that is gone, so that no segment moves more than once.
                    self.segments.swap(kept, i);
                    kept += 1;
                }
            }
        }
        self.segments.truncate(kept);
    }

    /// The checks of step 10 that concern the result.
    fn check_result(&self, troubles: &mut Troubles) {
        let Some(first) = self.segments.first() else { return };
        if *first.name == *b".." {
            troubles.add(RejectReason::LeadingDotDot, first.at);
        }
        let mut tell = |code: RejectReason, is_bad: fn(u8) -> bool| {
            for segment in &self.segments {
                if let Some(i) = segment.name.iter().position(|byte| is_bad(*byte)) {
                    return troubles.add(code, segment.at + segment.raw_offset(i));
                }
            }
        };
        tell(RejectReason::Backslash, |byte| byte == b'\\');
        tell(RejectReason::Control, |byte| byte < 0x20 || byte == 0x7F);
    }

    /// Step 8: writes the path that the container maps. If the path holds `%2F`, a slash inside a segment and
    /// the percent sign are written as triplets, to distinguish that slash from one between segments.
    pub(in crate::normalize) fn write_decoded(&self, out: &mut Vec<u8>) {
        for segment in &self.segments {
            out.push(b'/');
            let is_plain = |byte| !(self.has_encoded_slash && matches!(byte, b'%' | b'/'));
            push_encoded(&segment.name, is_plain, out);
        }
        self.write_root(out);
    }

    /// The canonical form: the path that the container maps, with triplets for all but the plain characters
    /// of a segment.
    ///
    /// A raw segment may hold bytes that are not UTF-8. As triplets they would be rejected when the result is
    /// read again; they are written as the text of their triplets, which decodes.
    pub(in crate::normalize) fn write_canonical(&self, out: &mut Vec<u8>) {
        let is_plain = |byte| SEGMENT.contains(byte);
        for segment in &self.segments {
            out.push(b'/');
            let name = &segment.name;
            if !segment.is_raw {
                push_encoded(name, is_plain, out);
                continue;
            }
            for chunk in name.utf8_chunks() {
                push_encoded(chunk.valid().as_bytes(), is_plain, out);
                for byte in chunk.invalid() {
                    push_triplet(b'%', out);
                    out.extend_from_slice(&triplet_of(*byte)[1..]);
                }
            }
        }
        self.write_root(out);
    }

    fn write_root(&self, out: &mut Vec<u8>) {
        if self.segments.is_empty() {
            out.push(b'/');
        }
    }
}

impl Segment<'_> {
    /// The offset in the raw name of byte `i` of the name.
    fn raw_offset(&self, i: usize) -> usize {
        if self.is_raw { i } else { raw_offset(self.raw, i) }
    }
}

/// The offset in `raw` that byte `i` of its decoded form comes from.
fn raw_offset(raw: &[u8], i: usize) -> usize {
    octets(raw).nth(i).map_or(raw.len(), |octet| octet.at)
}

/// Step 5: a name with all its triplets decoded, or the offset at which it is not UTF-8.
fn decode(raw: &[u8]) -> Result<Cow<'_, [u8]>, usize> {
    let malformed = memchr_iter(b'%', raw).find(|at| Triplet::read(&raw[*at..]).is_none());
    // Decoded up to the first bad triplet only, so that of two errors the first one is reported.
    let name = decoded(&raw[..malformed.unwrap_or(raw.len())]);
    match (std::str::from_utf8(&name), malformed) {
        (Ok(_), None) => Ok(name),
        (Ok(_), Some(at)) => Err(at),
        (Err(error), _) => Err(raw_offset(raw, error.valid_up_to())),
    }
}

/// Whether a segment decodes to `.` or `..` and is spelled differently.
pub(in crate::normalize) fn is_encoded_dot_segment(segment: &[u8]) -> bool {
    dots(segment).is_some_and(|count| count < segment.len())
}

/// Offset of the first `%2F`.
pub(in crate::normalize) fn find_encoded_slash(path: &[u8]) -> Option<usize> {
    memmem::find_iter(path, b"%2").find(|&i| matches!(path.get(i + 2), Some(b'F' | b'f')))
}

impl FastPath for EmptySegments {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        self == EmptySegments::Kept || !masked.slashes(masked.length).are_doubled()
    }
}

/// Whether the container maps a path unchanged, given that the scanner found only characters of
/// a path in it, no dot after a slash, and triplets that stay.
#[inline]
pub(in crate::normalize) fn is_canonical(path: &[u8], empty: EmptySegments) -> bool {
    memchr::memchr2(b'%', b';', path).is_none()
        && (empty == EmptySegments::Kept || !has_double_slash(path))
}
