//! Makes a list of pieces of a format string's parts: which field, and how it ends.
//!
//! In come the parts, out go what a line begins with, the pieces up to the last that matters, and
//! the field that holds the request. A format without one, or one in which the end of a field cannot
//! be told, is refused here, before any line is read.

use super::directives::{FormatStringError, Token};
use uniqurl::bytes::RejectReason;

/// What a field of a log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Nothing about the URL.
    Other,
    /// The request line.
    Request,
    /// The target as it came.
    Uri,
    /// The path, decoded.
    Path,
    /// The query with its `?`, or nothing.
    Query,
    /// The query without its `?`.
    Args,
    /// `?` where there is a query.
    IsArgs,
    /// The path with its query behind it.
    PathQuery,
    /// The path, then `?` and the query, or else a dash.
    PathDashQuery,
    /// The method.
    Method,
    /// The status of the answer, which only a filter asks for.
    Status,
    /// The host as the client wrote it, perhaps with a port.
    ClientHost,
    /// The host that the server took the request for.
    Host,
    /// The server's own name.
    ServerName,
    /// The port of the server.
    Port,
    /// The scheme, as the server saw it.
    Scheme,
    /// The scheme, as a proxy in front of the server saw it.
    ForwardedScheme,
}

impl Field {
    /// Number of fields.
    pub const COUNT: usize = Field::ForwardedScheme as usize + 1;

    pub fn is_host(self) -> bool {
        matches!(self, Field::ClientHost | Field::Host | Field::ServerName)
    }

    /// Whether it is a part of an authority, in which no slash stands.
    fn ends_at_slash(self) -> bool {
        self.is_host() || self == Field::Port
    }

    /// Whether it is the request, or a part of it.
    fn is_request(self) -> bool {
        !self.is_host()
            && !matches!(
                self,
                Field::Other | Field::Status | Field::Port | Field::Scheme | Field::ForwardedScheme
            )
    }

    /// The field that this one and the next make where nothing stands between them.
    fn with(self, next: Field) -> Option<Field> {
        Some(match (self, next) {
            (Field::Other, Field::Other) => Field::Other,
            (Field::Path, Field::Query) => Field::PathQuery,
            (Field::Path, Field::IsArgs) => Field::PathDashQuery,
            (Field::PathDashQuery, Field::Args) => Field::PathDashQuery,
            _ => return None,
        })
    }
}

/// A field and what comes after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogField {
    pub field: Field,
    /// Spaces that the field surely holds, though it may end with one.
    pub spaces: u8,
    pub quote: Quote,
    pub end: End,
    /// What a line is that ends before the field's quotation marks close.
    pub cut: RejectReason,
}

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// Outside of quotation marks.
    Outside,
    /// Within them, as the first field.
    Opens,
    /// Within them, after another.
    Inside,
}

/// How a field ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// With the line.
    Line,
    /// With this text, which has at least one byte.
    Literal(Vec<u8>),
    /// With the first text where a status stands behind it, and behind that the second text or the end
    /// of the line: the field may hold the first one itself.
    Status(Vec<u8>, Vec<u8>),
    /// Before this byte, which belongs to the next field.
    Before(u8),
}

const NO_REQUEST: &str = "it names no request; %r, %U, $request, $request_uri or $uri would";
const SIDE_BY_SIDE: &str = "nothing stands between this field and the one before it";
const OPEN: &str = "a quotation mark that never closes";

/// A part on its way to a piece: the literal before a field, the field, its spaces and position.
struct RawField {
    before: Vec<u8>,
    field: Field,
    spaces: u8,
    at: usize,
}

/// How a line is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinePlan {
    /// What every line begins with.
    pub lead: Vec<u8>,
    /// The fields up to the last that matters.
    pub pieces: Vec<LogField>,
    /// How many of them the URL takes; behind them there may be a status.
    pub of_url: usize,
    /// Which field is the request.
    pub source: Field,
}

/// The plan for the parts of a format string.
pub(super) fn plan(tokens: Vec<(usize, Token)>) -> Result<LinePlan, FormatStringError> {
    let (parts, tail) = parts(tokens);
    let sources = [Field::Request, Field::Uri, Field::PathDashQuery, Field::PathQuery, Field::Path];
    let source = *sources
        .iter()
        .find(|&&source| parts.iter().any(|part| part.field == source))
        .ok_or((0, NO_REQUEST))?;
    let matters = |field: Field| match field {
        Field::Method => source != Field::Request,
        Field::Query | Field::Args => source == Field::Path,
        field if field.is_request() => field == source,
        field => field != Field::Other,
    };
    let mut pieces: Vec<LogField> = Vec::new();
    let mut open = false;
    for (index, part) in parts.iter().enumerate() {
        let marks = part.before.iter().filter(|&&byte| byte == b'"').count();
        open ^= marks % 2 == 1;
        let quote = match (open, marks) {
            (false, _) => Quote::Outside,
            (true, 0) => Quote::Inside,
            (true, _) => Quote::Opens,
        };
        let next = parts.get(index + 1);
        let after = |index: usize| parts.get(index + 1).map_or(&tail, |next| &next.before);
        let end = match after(index) {
            literal if !literal.is_empty() => match next {
                Some(RawField { field: Field::Status, .. })
                    if quote == Quote::Outside && part.field.is_request() =>
                {
                    End::Status(literal.clone(), after(index + 1).clone())
                }
                _ => End::Literal(literal.clone()),
            },
            _ => match next {
                None => End::Line,
                Some(next) if part.field.ends_at_slash() && begins_with_slash(next.field) => {
                    End::Before(b'/')
                }
                Some(next) => return Err((next.at, SIDE_BY_SIDE)),
            },
        };
        let field = if matters(part.field) { part.field } else { Field::Other };
        pieces.push(LogField {
            field,
            spaces: part.spaces,
            quote,
            end,
            cut: RejectReason::LogSyntax,
        });
    }
    if open ^ (tail.iter().filter(|&&byte| byte == b'"').count() % 2 == 1) {
        return Err((0, OPEN));
    }
    mark_cuts(&mut pieces);
    let up_to = |last: Option<usize>| last.map_or(0, |last| last + 1);
    pieces.truncate(up_to(pieces.iter().rposition(|piece| piece.field != Field::Other)));
    let of_url = |piece: &LogField| !matches!(piece.field, Field::Other | Field::Status);
    let of_url = up_to(pieces.iter().rposition(of_url));
    let lead = parts.into_iter().next().map(|part| part.before).unwrap_or_default();
    Ok(LinePlan { lead, pieces, of_url, source })
}

/// The fields, those that make one taken together, and the literal after the last.
fn parts(tokens: Vec<(usize, Token)>) -> (Vec<RawField>, Vec<u8>) {
    let mut parts: Vec<RawField> = Vec::new();
    let mut before = Vec::new();
    for (at, token) in tokens {
        let (field, spaces) = match token {
            Token::Literal(byte) => {
                before.push(byte);
                continue;
            }
            Token::Field(field, spaces) => (field, spaces),
        };
        if let Some(last) = parts.last_mut().filter(|_| before.is_empty())
            && let Some(both) = last.field.with(field)
        {
            last.field = both;
            last.spaces = last.spaces.saturating_add(spaces);
        } else {
            parts.push(RawField { before: std::mem::take(&mut before), field, spaces, at });
        }
    }
    (parts, before)
}

fn begins_with_slash(field: Field) -> bool {
    matches!(field, Field::Uri | Field::Path | Field::PathQuery | Field::PathDashQuery)
}

/// Says of every quotation that holds a part of the request that a line cut there is `truncated`.
fn mark_cuts(pieces: &mut [LogField]) {
    let mut start = 0;
    while start < pieces.len() {
        let inside = |piece: &&LogField| piece.quote == Quote::Inside;
        let end = start + 1 + pieces[start + 1..].iter().take_while(inside).count();
        let quotation = &mut pieces[start..end];
        if quotation.iter().any(|piece| piece.field.is_request()) {
            quotation.iter_mut().for_each(|piece| piece.cut = RejectReason::Truncated);
        }
        start = end;
    }
}
