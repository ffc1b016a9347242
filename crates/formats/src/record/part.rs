//! Builds a URL from the named fields of a record.
//!
//! The input is the values of the relevant fields. The output is the record's whole URL, else a
//! request target joined to the record's scheme and host, as in a log. A path and a separate query
//! make a target, whether the query has its `?` or not.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use super::escape::Escape;
use super::line::{Line, is_blank};
use super::origin::{RecordOrigin, scheme_of};
use super::target::{self, Method, TargetText};
use super::{BufferId, Context, Extracted, request};
use uniqurl::RejectReason;
use uniqurl::internal::{Span, split_port};

/// The meaning of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordPart {
    /// The URL.
    Url,
    /// Its scheme.
    Scheme,
    /// Its host, perhaps with a port.
    Host,
    /// Its host as the client named it: without a port, the default one applies.
    ClientHost,
    /// Its port.
    Port,
    /// Its path, without the query.
    Path,
    /// Its path, as a server decoded it.
    DecodedPath,
    /// Its query.
    Query,
    /// The target of the request: path and query, or a URL.
    Target,
    /// A target, or a host and a path without a scheme, as some proxies log it.
    Uri,
    /// The request line.
    Request,
    /// The method of the request.
    Method,
    /// The status of the response.
    Status,
    /// The media type of the response.
    Mime,
    /// The time of the request. Where [`Date`](RecordPart::Date) holds its date, the time of day.
    Time,
    /// Its date.
    Date,
    /// Its agent.
    Agent,
    /// Its client.
    Client,
    /// Its referrer.
    Referrer,
    /// The bytes sent.
    Bytes,
    /// The duration of the request, in seconds where it is a text.
    Seconds,
}

/// A set of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartSet(u32);

impl PartSet {
    /// No part.
    pub const NONE: PartSet = PartSet(0);

    /// The parts beside the URL that nearly all logs of requests have.
    pub(super) const OF_REQUEST: PartSet = PartSet::of(&[
        RecordPart::Client,
        RecordPart::Time,
        RecordPart::Method,
        RecordPart::Status,
        RecordPart::Bytes,
    ]);

    /// These parts.
    pub const fn of(parts: &[RecordPart]) -> Self {
        let (mut all, mut at) = (PartSet::NONE, 0);
        while at < parts.len() {
            all = all.with(parts[at]);
            at += 1;
        }
        all
    }

    /// The same with this part.
    #[must_use]
    pub const fn with(self, part: RecordPart) -> Self {
        Self(self.0 | 1 << part as u32)
    }

    /// The parts of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True if it has this part.
    pub const fn has(self, part: RecordPart) -> bool {
        self.0 >> part as u32 & 1 == 1
    }

    /// True if it has the method, by itself or in a request line.
    pub const fn has_method(self) -> bool {
        self.has(RecordPart::Method) || self.has(RecordPart::Request)
    }

    /// True if it has no part.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Collects parts.
impl FromIterator<RecordPart> for PartSet {
    fn from_iter<I: IntoIterator<Item = RecordPart>>(parts: I) -> Self {
        parts.into_iter().fold(Self::NONE, Self::with)
    }
}

impl RecordPart {
    /// The number of parts that a URL or a [`Filter`](super::Filter) is made of: the first ones. The
    /// others are [read again](super::FieldReader) where they are asked for.
    pub(super) const COUNT: usize = RecordPart::Mime as usize + 1;

    /// The parts that a user may name.
    pub(super) const NAMED: &'static [(&'static str, RecordPart)] = &[
        ("scheme", RecordPart::Scheme),
        ("host", RecordPart::Host),
        ("path", RecordPart::Path),
        ("query", RecordPart::Query),
        ("target", RecordPart::Target),
        ("status", RecordPart::Status),
        ("method", RecordPart::Method),
        ("mime", RecordPart::Mime),
        ("time", RecordPart::Time),
        ("agent", RecordPart::Agent),
    ];

    /// The parts that only entries of a [`FormatTable`](super::FormatTable) name.
    pub(super) const NAMED_IN_TABLES: &'static [(&'static str, RecordPart)] = &[
        ("url", RecordPart::Url),
        ("client-host", RecordPart::ClientHost),
        ("port", RecordPart::Port),
        ("uri", RecordPart::Uri),
        ("request", RecordPart::Request),
        ("decoded-path", RecordPart::DecodedPath),
        ("date", RecordPart::Date),
        ("client", RecordPart::Client),
        ("referrer", RecordPart::Referrer),
        ("bytes", RecordPart::Bytes),
        ("seconds", RecordPart::Seconds),
    ];

    /// True for a part that is read with the URL.
    pub(super) fn is_read_at_once(self) -> bool {
        (self as usize) < RecordPart::COUNT
    }

    /// True for a query in a field of its own, which no mark precedes.
    pub(super) fn is_query(self) -> bool {
        self == RecordPart::Query
    }

    /// True if a URL can be built from this part alone.
    pub(super) fn is_source(self) -> bool {
        matches!(
            self,
            RecordPart::Url
                | RecordPart::Target
                | RecordPart::Uri
                | RecordPart::Request
                | RecordPart::Path
        )
    }
}

/// A value, either a slice of the line or decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// A slice of the line.
    InLine(&'a [u8]),
    /// A decoded copy: an escape or a quotation was undone.
    Elsewhere(Cow<'a, [u8]>),
}

impl<'a> Value<'a> {
    /// A field whose percent-encoding by the logger is undone once.
    pub fn decoded(field: &'a [u8]) -> Self {
        if !Escape::Percent.is_in(field) {
            return Value::InLine(field);
        }
        let mut out = Vec::with_capacity(field.len());
        Escape::Percent.undo(field, &mut out);
        Value::Elsewhere(out.into())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Value::InLine(bytes) => bytes,
            Value::Elsewhere(bytes) => bytes,
        }
    }

    pub(super) fn into_cow(self) -> Cow<'a, [u8]> {
        match self {
            Value::InLine(bytes) => Cow::Borrowed(bytes),
            Value::Elsewhere(bytes) => bytes,
        }
    }

    /// The value in the form that the target parser takes.
    fn text(&self, line: Line<'_>, scratch: &mut Vec<u8>) -> TargetText {
        if let Value::InLine(bytes) = self
            && let Some(range) = line.range_of(bytes)
        {
            return TargetText::Line(range);
        }
        let start = scratch.len();
        scratch.extend_from_slice(self.bytes());
        TargetText::Side(start..scratch.len())
    }
}

/// The values of a record, by part.
#[derive(Debug, Default)]
pub(super) struct Said<'a> {
    values: [Option<Value<'a>>; RecordPart::COUNT],
}

impl<'a> Said<'a> {
    /// Sets the value of a part, replacing an earlier one.
    pub fn set(&mut self, part: RecordPart, value: Value<'a>) {
        self.values[part as usize] = Some(value);
    }

    /// Sets the value of a part, unless it has one.
    pub fn set_first(&mut self, part: RecordPart, value: Value<'a>) {
        self.values[part as usize].get_or_insert(value);
    }

    /// The value of a part; none also if it is empty or a dash, as logs write it.
    pub fn get(&self, part: RecordPart) -> Option<&[u8]> {
        let value = self.values[part as usize].as_ref()?.bytes();
        (!matches!(value, b"" | b"-")).then_some(value)
    }

    /// True if a URL can be built from this record.
    pub fn has_source(&self) -> bool {
        let sources = [RecordPart::Url, RecordPart::Target, RecordPart::Request, RecordPart::Path];
        sources.into_iter().any(|part| self.get(part).is_some())
    }

    /// Reads the record. `facts` are the parts that its format has; filters judge by them.
    pub fn found(
        &self,
        ctx: &Context,
        facts: PartSet,
        line: Line<'_>,
        scratch: &mut Vec<u8>,
    ) -> Extracted {
        let fact = |part| facts.has(part).then(|| self.get(part).unwrap_or_default());
        let method = self.get(RecordPart::Method).or_else(|| {
            let request = self.get(RecordPart::Request)?;
            request.split(|byte| *byte == b' ').next()
        });
        if !ctx.filter.keeps(
            facts.has_method().then(|| method.unwrap_or_default()),
            fact(RecordPart::Status),
            fact(RecordPart::Mime),
        ) {
            return Extracted::Filtered;
        }
        // A whole URL comes first: nothing beside it can name another host for it.
        if let Some(value) = &self.values[RecordPart::Url as usize] {
            return url(ctx, value, line, scratch);
        }
        let method = method.map_or(Method::Unknown, request::method);
        let origin = match self.origin() {
            Ok(origin) => origin,
            Err(code) => return Extracted::Reject(code, 0),
        };
        if let Some(uri) = self.get(RecordPart::Uri)
            && let Some(value) = &self.values[RecordPart::Uri as usize]
        {
            // Where the record names a host elsewhere, this is a path. The target of CONNECT is a
            // host and names no resource.
            let text = match begins_with_host(uri) && method != Method::Connect && origin.is_none()
            {
                true => self.with_scheme(ctx, uri, scratch),
                false => value.text(line, scratch),
            };
            return target::found(ctx, line, text, method, origin, scratch);
        }
        if self.get(RecordPart::Target).is_some()
            && let Some(value) = &self.values[RecordPart::Target as usize]
        {
            let text = value.text(line, scratch);
            return target::found(ctx, line, text, method, origin, scratch);
        }
        if let Some(value) = &self.values[RecordPart::Request as usize] {
            let Some((method, range)) = request::split(value.bytes()) else {
                return Extracted::Reject(RejectReason::LogSyntax, 0);
            };
            let text = match value.text(line, scratch) {
                TargetText::Line(whole) => {
                    TargetText::Line(whole.start + range.start..whole.start + range.end)
                }
                TargetText::Side(whole) => {
                    TargetText::Side(whole.start + range.start..whole.start + range.end)
                }
            };
            return target::found(ctx, line, text, method, origin, scratch);
        }
        let decoded = self.values[RecordPart::DecodedPath as usize].clone().map(encoded);
        let named = self.values[RecordPart::Path as usize].as_ref();
        let Some(path) = named.or(decoded.as_ref()) else {
            return Extracted::Reject(RejectReason::NoField, 0);
        };
        let text = match (path.bytes(), self.get(RecordPart::Query)) {
            (b"" | b"-", _) => return Extracted::Reject(RejectReason::NoField, 0),
            (_, None) => path.text(line, scratch),
            (path, Some(query)) => {
                let start = scratch.len();
                scratch.extend_from_slice(path);
                // Servers that log the path decoded log the query without its mark.
                if named.is_none() || !query.starts_with(b"?") {
                    scratch.push(b'?');
                }
                scratch.extend_from_slice(query);
                TargetText::Side(start..scratch.len())
            }
        };
        target::found(ctx, line, text, method, origin, scratch)
    }

    /// The URL of `host/path`, with the query of the record if it has none.
    fn with_scheme(&self, ctx: &Context, uri: &[u8], scratch: &mut Vec<u8>) -> TargetText {
        let start = scratch.len();
        let told = self.scheme().or_else(|| self.get(RecordPart::Port).and_then(scheme_of));
        let base = ctx.base.as_ref().map(|base| base.scheme.as_slice());
        scratch.extend_from_slice(told.or(base).unwrap_or(b"http"));
        scratch.extend_from_slice(b"://");
        scratch.extend_from_slice(uri);
        if let Some(query) = self.get(RecordPart::Query).filter(|_| !uri.contains(&b'?')) {
            scratch.push(b'?');
            scratch.extend_from_slice(query.strip_prefix(b"?").unwrap_or(query));
        }
        TargetText::Side(start..scratch.len())
    }

    /// The scheme that the record names.
    fn scheme(&self) -> Option<&[u8]> {
        match self.get(RecordPart::Scheme)? {
            // Whether the connection has TLS, as nginx's `$https` and Azure's gateways say.
            b"on" => Some(b"https"),
            b"off" => Some(b"http"),
            // Some of Akamai's streams have a version of the protocol there. The port may tell.
            version if version.starts_with(b"HTTP/") => None,
            scheme => Some(scheme),
        }
    }

    /// Undoes the percent-encoding that the log itself put around each value.
    pub fn decode(&mut self) {
        for (part, place) in self.values.iter_mut().enumerate() {
            let value = match place.take() {
                Some(Value::InLine(bytes)) => Value::decoded(bytes),
                Some(Value::Elsewhere(bytes)) => {
                    Value::Elsewhere(Value::decoded(&bytes).into_cow().into_owned().into())
                }
                None => continue,
            };
            // The query is logged without its mark, so a mark at its start is data.
            *place = Some(if part == RecordPart::Query as usize { marked(value) } else { value });
        }
    }

    /// The scheme and host that the record names, if it names a host.
    fn origin(&self) -> Result<Option<RecordOrigin<'_>>, RejectReason> {
        let (client, own) = (self.get(RecordPart::ClientHost), self.get(RecordPart::Host));
        if client.or(own).is_none() {
            return Ok(None);
        }
        let scheme = self.scheme();
        let is_scheme = |name: &[u8]| {
            // `get` gives no empty value, so the first byte is there.
            name[0].is_ascii_alphabetic()
                && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        };
        // The scheme is written in front of `://`. Any other text there could put a host of its own
        // before the logged one.
        if scheme.is_some_and(|scheme| !is_scheme(scheme)) {
            return Err(RejectReason::LogSyntax);
        }
        let port = self.get(RecordPart::Port);
        // The scheme may follow from the port that received the request; the client asked for the
        // port it named.
        let told = scheme.or_else(|| port.and_then(scheme_of));
        let asked = client.and_then(|host| RecordOrigin::plain(told, host, None));
        Ok(asked.or_else(|| RecordOrigin::plain(scheme, own?, port)))
    }
}

/// True if the text before the first slash is a name with a dot in it, or an address, perhaps with a port.
fn begins_with_host(uri: &[u8]) -> bool {
    let Some(slash) = memchr(b'/', uri) else { return false };
    let host = &uri[..slash];
    let is_of_host =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    let (name, port) = split_port(host);
    host.iter().all(is_of_host)
        && name.contains(&b'.')
        && port.is_none_or(|port| port.iter().all(u8::is_ascii_digit))
}

/// A path that was logged decoded, with `%`, `?` and `#` percent-encoded so that they stay part of the path.
pub(super) fn encoded(path: Value<'_>) -> Value<'_> {
    if memchr3(b'%', b'?', b'#', path.bytes()).is_none() {
        return path;
    }
    let mut out = Vec::with_capacity(path.bytes().len() + 8);
    for byte in path.bytes() {
        match byte {
            b'%' => out.extend_from_slice(b"%25"),
            b'?' => out.extend_from_slice(b"%3F"),
            b'#' => out.extend_from_slice(b"%23"),
            _ => out.push(*byte),
        }
    }
    Value::Elsewhere(out.into())
}

/// A query that was logged without its question mark. If it begins with a `?` of its own, another
/// is put in front.
pub(super) fn marked(query: Value<'_>) -> Value<'_> {
    match query.bytes() {
        bytes @ [b'?', ..] => Value::Elsewhere([b"?", bytes].concat().into()),
        _ => query,
    }
}

/// Reads a whole URL. As in a list, a value of only spaces and tabs is blank.
fn url(ctx: &Context, value: &Value<'_>, line: Line<'_>, scratch: &mut Vec<u8>) -> Extracted {
    if is_blank(value.bytes()) {
        return Extracted::Blank;
    }
    let too_long = Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32);
    if value.bytes().len() > ctx.max_url {
        return too_long;
    }
    match value.text(line, scratch) {
        TargetText::Line(range) => Extracted::Url(BufferId::Chunk, line.span(range)),
        TargetText::Side(range) => {
            Span::checked(range).map_or(too_long, |span| Extracted::Url(BufferId::Scratch, span))
        }
    }
}
