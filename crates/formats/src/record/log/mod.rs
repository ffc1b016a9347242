//! Reads `log:FORMAT`, logs written by a format string of Apache, nginx or GoAccess.
//!
//! [`directives`] splits the string into parts, and [`plan`] turns them into a list of pieces. Here
//! each line is matched against the pieces: literal, field, literal, field. A field runs to the
//! next literal. Inside quotation marks no field runs past the closing mark. Outside of them, a
//! target in front of the status runs up to the status, since a decoded path may hold spaces.
//! Matching ends with the last field in use, so a line that was cut after it is still read, as
//! `combined` does.
//!
//! The request is `%r`/`$request`, else `$request_uri`, else `%U`/`$uri` with `%q`/`$args`. The
//! host is the client's (`%{Host}i`, `$http_host`), else the one that the server chose (`%V`,
//! `$host`), else the server's own name (`%v`, `$server_name`); a `-` counts as missing. A port
//! field is added to the latter two only: a client that names a host without a port means the
//! default one. The scheme is the log's (`%{X-Forwarded-Proto}i` if it is http or https, else
//! `$scheme`), else follows from the version of TLS (`$tls_version`), else from the port.

mod directive;
mod directives;
mod goaccess;
mod field;
mod line_shape;
mod plan;
mod shape;
mod token;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr3, memmem};

use self::field::Field;
pub(super) use self::line_shape::LineShape;
use self::plan::{End, LinePlan, LogField, Quote};
use super::escape::{Escape, closing_quote};
use super::fields::{Fields, Measured, decimal, epoch_in, status, whole, written};
use super::layout::Layout;
use super::line::Line;
use super::origin::{RecordOrigin, scheme_of};
use super::part::{PartSet, RecordPart};
use super::target::{self, Method, TargetText};
use super::{Context, Extracted, FormatError, request};
use uniqurl::RejectReason;
use uniqurl::internal::Span;

/// A log format string, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFormat {
    /// The format string as given.
    text: String,
    plan: LinePlan,
    /// The name of the format, if it is one of [`FormatTable`](super::FormatTable).
    name: Option<Arc<str>>,
}

/// The value of each field in a line; empty if missing.
type Slots = [Span; Field::COUNT];

impl Layout for LogFormat {
    fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("log:{}", self.text)),
        }
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        Some(match self.slots(ctx, line.bytes) {
            Ok(slots) if !self.is_wanted(ctx, line.bytes, &slots) => Extracted::Filtered,
            Ok(slots) => self.url(ctx, line, &slots, scratch),
            Err(code) => Extracted::Reject(code, 0),
        })
    }

    fn parts(&self) -> PartSet {
        self.plan.pieces.iter().filter_map(|piece| piece.field.part()).collect()
    }

    /// Reads parts of a line, up to where it does not match the format.
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let LinePlan { pieces, duration, .. } = &self.plan;
        let is_wanted = |piece: &LogField| piece.field.part().is_some_and(|part| out.want(part));
        let count = pieces.iter().rposition(is_wanted).map_or(0, |last| last + 1);
        let _ = self.walk(&pieces[..count], 0, line, |field, range| {
            let text = &line[range];
            // The line may go on after the last field of the format.
            let first = text.split(|byte| *byte == b' ').next().unwrap_or_default();
            let Measured { status: code, bytes, duration: taken, time } = &mut out.numbers;
            match field {
                Field::Status => *code = code.or_else(|| status(first)),
                Field::Bytes => *bytes = bytes.or_else(|| whole(first)),
                Field::Date => *time = time.or_else(|| written(text)),
                Field::EpochSeconds => *time = time.or_else(|| epoch_in(first, 0)),
                Field::EpochMillis => *time = time.or_else(|| epoch_in(first, -3)),
                Field::EpochMicros => *time = time.or_else(|| epoch_in(first, -6)),
                Field::Micros | Field::Millis | Field::Seconds => {
                    let power = match field {
                        Field::Micros => 0,
                        Field::Millis => 3,
                        _ => 6,
                    };
                    *taken = taken
                        .or_else(|| decimal(first, power).filter(|_| Some(field) == *duration));
                }
                Field::Request => {
                    if let Some(method) = request::method_text(text) {
                        out.set_escaped(RecordPart::Method, method, Escape::Backslash);
                    }
                }
                field => {
                    if let Some(part) = field.part() {
                        out.set_escaped(part, text, Escape::Backslash);
                    }
                }
            }
        });
    }

    fn has_queries(&self) -> bool {
        self.plan.pieces.iter().any(|piece| piece.field == Field::Args)
    }
}

impl LogFormat {
    /// Compiles `text`, the value of Apache's `LogFormat` or nginx's `log_format` directive, or the whole
    /// directive.
    ///
    /// # Errors
    ///
    /// The string is malformed, its fields cannot be separated, or it has no request.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let directive = directive::format_of(text);
        // The string of a directive may be joined, so its offsets are not those of the text.
        let error = |(at, why)| {
            let at = if directive.is_some() { 0 } else { at };
            FormatError { name: text.to_owned(), at, why }
        };
        let tokens = directives::tokens(directive.as_deref().unwrap_or(text)).map_err(error)?;
        let plan = plan::plan(tokens).map_err(error)?;
        Ok(Self { text: text.to_owned(), plan, name: None })
    }

    /// The same format under a name.
    pub(super) fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// True if lines name a host.
    pub(super) fn has_host(&self) -> bool {
        self.plan.pieces.iter().any(|piece| piece.field.is_host())
    }

    /// The string it was compiled from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The fields of a line.
    fn slots(&self, ctx: &Context, line: &[u8]) -> Result<Slots, RejectReason> {
        let LinePlan { pieces, of_url, of_filter, .. } = &self.plan;
        let count = if ctx.filter.is_empty() { *of_url } else { *of_filter };
        let mut slots = Slots::default();
        self.walk(&pieces[..count], *of_url, line, |field, range| {
            if let Some(slot) = slots.get_mut(field as usize).filter(|slot| slot.is_empty()) {
                *slot = Span { start: range.start as u32, end: range.end as u32 };
            }
        })?;
        Ok(slots)
    }

    /// Matches a line against pieces. It must have the first `of_url` of them.
    #[inline(always)]
    fn walk(
        &self,
        pieces: &[LogField],
        of_url: usize,
        line: &[u8],
        mut take: impl FnMut(Field, Range<usize>),
    ) -> Result<(), RejectReason> {
        let lead = &self.plan.lead;
        if !begins(line, lead) {
            return Err(RejectReason::LogSyntax);
        }
        let mut at = lead.len();
        let mut limit = line.len();
        for (place, piece) in pieces.iter().enumerate() {
            match piece.quote {
                Quote::Outside => limit = line.len(),
                Quote::Opens => match closing_quote(line, at) {
                    Some(close) => limit = close,
                    None if place < of_url => return Err(piece.cut),
                    None => return Ok(()),
                },
                Quote::Inside => {}
            }
            if piece.is_padded {
                at += line[at..limit].iter().take_while(|byte| **byte == b' ').count();
            }
            let Some((end, next)) = field_end(piece, line, at, limit) else {
                // A line that was cut after its URL is valid, but has no status.
                return if place < of_url { Err(RejectReason::LogSyntax) } else { Ok(()) };
            };
            take(piece.field, at..end);
            at = next;
        }
        Ok(())
    }

    /// True if the filter keeps a line with these slots.
    fn is_wanted(&self, ctx: &Context, line: &[u8], slots: &Slots) -> bool {
        if ctx.filter.is_empty() {
            return true;
        }
        let value = |field: Field| slots[field as usize].of(line);
        let parts = self.parts();
        let method = match self.plan.source {
            Field::Request => value(Field::Request).split(|byte| *byte == b' ').next(),
            _ => parts.has(RecordPart::Method).then(|| value(Field::Method)),
        };
        // The value also ends at a space: the line may go on after the format's last field.
        let status = value(Field::Status).split(|byte| *byte == b' ').next();
        ctx.filter.keeps(method, status.filter(|_| parts.has(RecordPart::Status)), None)
    }

    fn url(
        &self,
        ctx: &Context,
        line: Line<'_>,
        slots: &Slots,
        scratch: &mut Vec<u8>,
    ) -> Extracted {
        let range = |field: Field| slots[field as usize].range();
        let origin = origin(line.bytes, slots);
        let source = range(self.plan.source);
        if self.plan.source == Field::Request {
            return request::found(ctx, line, source, Escape::Backslash, origin, scratch);
        }
        // Squid writes `error:` and a reason, such as `invalid-request`, where a client sent no URL.
        let text = &line.bytes[source.clone()];
        let is_of_reason = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
        let is_error = |reason: &[u8]| reason.iter().all(is_of_reason);
        if matches!(text, b"" | b"-") || text.strip_prefix(b"error:").is_some_and(is_error) {
            return Extracted::Reject(RejectReason::LogSyntax, 0);
        }
        let method = match &line.bytes[range(Field::Method)] {
            b"" => Method::Unknown,
            name => request::method(name),
        };
        let text = match self.plan.source {
            Field::Uri => match query(line.bytes, range(Field::Query), 0..0) {
                // `$request_uri` has its query in it, but a format string of GoAccess may have the
                // query as a field of its own.
                Some(query) if !text.contains(&b'?') => {
                    let start = scratch.len();
                    Escape::Backslash.undo(text, scratch);
                    scratch.push(b'?');
                    Escape::Backslash.undo(&line.bytes[query], scratch);
                    TargetText::Side(start..scratch.len())
                }
                _ => TargetText::unescaped(line, source, Escape::Backslash, scratch),
            },
            Field::Path => {
                let query = query(line.bytes, range(Field::Query), range(Field::Args));
                decoded(line, source, query, scratch)
            }
            joint => path_and_query(line, source, joint, scratch),
        };
        target::found(ctx, line, text, method, origin, scratch)
    }
}

/// The end of the field that begins at `at`, and the offset after its closing literal.
fn field_end(piece: &LogField, line: &[u8], at: usize, limit: usize) -> Option<(usize, usize)> {
    let mut from = at;
    for _ in 0..piece.spaces {
        from += memchr(b' ', &line[from..limit])? + 1;
    }
    if piece.field.is_host() && line[at..limit].starts_with(b"[") {
        // The colons of an IPv6 address do not end the host.
        from += memchr(b']', &line[from..limit])? + 1;
    }
    if piece.field == Field::Request && piece.quote == Quote::Outside {
        // Without quotation marks, only the version separates a request's own spaces from its end.
        from += memmem::find(&line[from..limit], b" HTTP/").map_or(0, |space| space + 1);
    }
    match &piece.end {
        End::Line => Some((limit, limit)),
        End::Before(byte) => {
            let end = from + memchr(*byte, &line[from..limit])?;
            Some((end, end))
        }
        End::Literal(literal) if piece.quote != Quote::Outside && literal[0] == b'"' => {
            begins(&line[limit..], literal).then_some((limit, limit + literal.len()))
        }
        End::Literal(literal) => {
            // The literal may begin with the closing mark itself, which stands at `limit`.
            let region = &line[from..line.len().min(limit + literal.len())];
            let end = from + find(literal, region)?;
            Some((end, end + literal.len()))
        }
        End::Status(before, behind) => loop {
            let end = from + find(before, &line[from..])?;
            let next = end + before.len();
            if is_status(&line[next..], behind) {
                break Some((end, next));
            }
            from = end + 1;
        },
    }
}

/// True if a text begins with a status, three digits or a dash, followed by this literal or by nothing.
fn is_status(text: &[u8], literal: &[u8]) -> bool {
    let rest = match text {
        [b'-', rest @ ..] => rest,
        [a, b, c, rest @ ..] if [a, b, c].iter().all(|byte| byte.is_ascii_digit()) => rest,
        _ => return false,
    };
    rest.is_empty() || (!literal.is_empty() && begins(rest, literal))
}

/// The first position of a literal. Literals are a few bytes long, so the plain loop is the fast one.
fn find(literal: &[u8], text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(literal[0], text).find(|&at| begins(&text[at..], literal))
}

/// True if a text begins with a literal. `starts_with` calls libc, which cost a third of this
/// reader's time (175 ns a line against 112) for literals of one to three bytes.
#[inline]
fn begins(text: &[u8], literal: &[u8]) -> bool {
    text.len() >= literal.len() && text.iter().zip(literal).all(|(a, b)| a == b)
}

/// The scheme and host that a line gives, if any.
fn origin<'a>(line: &'a [u8], slots: &Slots) -> Option<RecordOrigin<'a>> {
    let value = |field: Field| match slots[field as usize].of(line) {
        b"-" => b"",
        value => value,
    };
    let is_http = |scheme: &&[u8]| {
        scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")
    };
    let port = value(Field::Port);
    let scheme = Some(value(Field::ForwardedScheme))
        .filter(is_http)
        .or_else(|| Some(value(Field::Scheme)).filter(is_http))
        .or_else(|| {
            slots[Field::TlsVersion as usize].of(line).starts_with(b"TLS").then_some(&b"https"[..])
        })
        .or(scheme_of(port));
    let origin = |field: Field| RecordOrigin::logged(scheme, value(field));
    let with_port = |origin: RecordOrigin<'a>| match origin {
        RecordOrigin::Logged { scheme, host, port: None | Some(b"") } if !port.is_empty() => {
            RecordOrigin::Logged { scheme, host, port: Some(port) }
        }
        own => own,
    };
    origin(Field::ClientHost)
        .or_else(|| origin(Field::Host).map(with_port))
        .or_else(|| origin(Field::ServerName).map(with_port))
}

/// The query without its mark, from `%q`, which has one, or from `$args`, which has none. nginx and
/// Apache write a dash for an empty value.
fn query(line: &[u8], marked: Range<usize>, args: Range<usize>) -> Option<Range<usize>> {
    let is_something = |range: &Range<usize>| !matches!(&line[range.clone()], b"" | b"-");
    let marked = Some(marked).filter(is_something);
    let unmarked =
        marked.map(|range| range.start + usize::from(line[range.start] == b'?')..range.end);
    unmarked.or(Some(args).filter(is_something))
}

/// The target of `%U%q` or `$uri$is_args$args`, which are adjacent in the log.
///
/// The first `?` begins the query: queries contain more of them, but decoded paths hardly ever do.
fn path_and_query(
    line: Line<'_>,
    range: Range<usize>,
    joint: Field,
    scratch: &mut Vec<u8>,
) -> TargetText {
    let mut path = range.clone();
    let query = memchr(b'?', &line.bytes[range.clone()]).map(|mark| {
        path.end = range.start + mark;
        path.end + 1..range.end
    });
    // Without a query nginx writes nothing for $is_args, but a dash for $args.
    if joint == Field::PathDashQuery && query.is_none() && line.bytes[..path.end].ends_with(b"-") {
        path.end -= 1;
    }
    decoded(line, path, query, scratch)
}

/// Builds a target from a decoded path and a raw query.
///
/// The path's `%`, `?` and `#` must have been percent-encoded in the request, and are encoded again.
fn decoded(
    line: Line<'_>,
    path: Range<usize>,
    query: Option<Range<usize>>,
    scratch: &mut Vec<u8>,
) -> TargetText {
    let raw = &line.bytes[path.clone()];
    // Such a path has nothing to unescape or to encode again. That is most of them, and they are
    // not copied.
    if memchr3(b'%', b'#', b'\\', raw).is_none() && !raw.contains(&b'?') {
        match query {
            None => return TargetText::Line(path),
            // The two are adjacent in the line, with the mark between them.
            Some(query) if query.start == path.end + 1 && line.bytes[path.end] == b'?' => {
                return TargetText::unescaped(
                    line,
                    path.start..query.end,
                    Escape::Backslash,
                    scratch,
                );
            }
            Some(_) => {}
        }
    }
    let plain = scratch.len();
    // Escapes first: a `\x3F` of the log is a `?` of the decoded path, and has to be encoded like
    // one.
    Escape::Backslash.undo(raw, scratch);
    let start = scratch.len();
    for at in plain..start {
        match scratch[at] {
            b'%' => scratch.extend_from_slice(b"%25"),
            b'?' => scratch.extend_from_slice(b"%3F"),
            b'#' => scratch.extend_from_slice(b"%23"),
            byte => scratch.push(byte),
        }
    }
    if let Some(query) = query {
        scratch.push(b'?');
        Escape::Backslash.undo(&line.bytes[query], scratch);
    }
    TargetText::Side(start..scratch.len())
}

#[cfg(test)]
mod tests;
