//! Turns the parts of a format string into a list of pieces: fields and their ends.
//!
//! The input is the parts. The output is the text that begins each line, the pieces up to the last
//! one in use, and the field that holds the request. A format without a request is rejected here,
//! before any line is read, and so is one in which the end of a field is ambiguous.

use super::field::Field;
use super::shape::Shape;
use super::token::{FormatStringError, Token, Variable};
use uniqurl::RejectReason;

/// A field and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogField {
    pub field: Field,
    /// Number of spaces that the field always holds, though it may end with a space.
    pub spaces: u8,
    /// Whether more spaces may stand in front of the field.
    pub is_padded: bool,
    pub quote: Quote,
    pub end: End,
    /// The reason to reject a line that ends before the field's quotation marks close.
    pub cut: RejectReason,
}

/// The position of a field relative to quotation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// Outside.
    Outside,
    /// Inside, as the first field.
    Opens,
    /// Inside, after another field.
    Inside,
}

/// The end of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The end of the line.
    Line,
    /// This text, which has at least one byte.
    Literal(Vec<u8>),
    /// The first text at which a status follows and then the second text or the end of the line:
    /// the field may itself hold the first text.
    Status(Vec<u8>, Vec<u8>),
    /// Just before this byte, which belongs to the next field.
    Before(u8),
}

const NO_REQUEST: &str = "it names no request; %r, %U, $request, $request_uri or $uri would";
const SIDE_BY_SIDE: &str = "nothing stands between this field and the one before it";
const OPEN: &str = "a quotation mark that never closes";

/// A part that becomes a piece: the literal before a field, the field, its spaces and position.
#[derive(Debug)]
pub(super) struct RawField {
    pub before: Vec<u8>,
    pub field: Field,
    pub spaces: u8,
    pub is_padded: bool,
    pub shape: Shape,
    at: usize,
}

/// The steps to read a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinePlan {
    /// The text that begins every line.
    pub lead: Vec<u8>,
    /// The fields up to the last one in use.
    pub pieces: Vec<LogField>,
    /// How many of these pieces the URL needs.
    pub of_url: usize,
    /// How many of them the URL and filters need: a status may follow.
    pub of_filter: usize,
    /// The field that holds the request.
    pub source: Field,
    /// The field with the duration. Of several units the finest: Apache's `%T` alone drops the fraction.
    pub duration: Option<Field>,
}

/// Compiles the parts of a format string.
pub(super) fn plan(tokens: Vec<(usize, Token)>) -> Result<LinePlan, FormatStringError> {
    let (parts, tail) = parts(tokens);
    // From what the client sent to what the server made of it: a decoded path no longer tells `%2F`
    // from `/`.
    let sources = [Field::Request, Field::Uri, Field::PathDashQuery, Field::PathQuery, Field::Path];
    let source = *sources
        .iter()
        .find(|&&source| parts.iter().any(|part| part.field == source))
        .ok_or((0, NO_REQUEST))?;
    // What the source holds itself is not read from a second field.
    let matters = |field: Field| match field {
        Field::Method => source != Field::Request,
        Field::Query => matches!(source, Field::Path | Field::Uri),
        Field::Args => source == Field::Path,
        field if field.is_request() => field == source,
        field => field != Field::Other,
    };
    let up_to = |last: Option<usize>| last.map_or(0, |last| last + 1);
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
            is_padded: part.is_padded,
            quote,
            end,
            cut: RejectReason::LogSyntax,
        });
    }
    if open ^ (tail.iter().filter(|&&byte| byte == b'"').count() % 2 == 1) {
        return Err((0, OPEN));
    }
    mark_cuts(&mut pieces);
    // A line may be cut off after its URL and is still read. So only filters insist on the status.
    let of_url = |piece: &LogField| {
        piece.field.is_of_url() && !matches!(piece.field, Field::Other | Field::Status)
    };
    let of_filter = |piece: &LogField| of_url(piece) || piece.field == Field::Status;
    let of_url = up_to(pieces.iter().rposition(of_url));
    let of_filter = up_to(pieces.iter().rposition(of_filter));
    pieces.truncate(up_to(pieces.iter().rposition(|piece| piece.field != Field::Other)));
    let units = [Field::Micros, Field::Millis, Field::Seconds];
    let has = |unit: &Field| pieces.iter().any(|piece| piece.field == *unit);
    let duration = units.into_iter().find(has);
    let lead = parts.into_iter().next().map(|part| part.before).unwrap_or_default();
    Ok(LinePlan { lead, pieces, of_url, of_filter, source, duration })
}

/// The fields, with adjacent ones merged, and the literal after the last.
pub(super) fn parts(tokens: Vec<(usize, Token)>) -> (Vec<RawField>, Vec<u8>) {
    let mut parts: Vec<RawField> = Vec::new();
    let mut before = Vec::new();
    for (at, token) in tokens {
        let Variable { field, spaces, is_padded, shape } = match token {
            Token::Literal(byte) => {
                before.push(byte);
                continue;
            }
            Token::Field(variable) => variable,
        };
        if let Some(last) = parts.last_mut().filter(|_| before.is_empty())
            && let Some(both) = last.field.with(field)
        {
            last.field = both;
            // Two values side by side have the form of neither.
            last.shape = Shape::Any;
            last.spaces = last.spaces.saturating_add(spaces);
        } else {
            let before = std::mem::take(&mut before);
            parts.push(RawField { before, field, spaces, is_padded, shape, at });
        }
    }
    (parts, before)
}

fn begins_with_slash(field: Field) -> bool {
    matches!(field, Field::Uri | Field::Path | Field::PathQuery | Field::PathDashQuery)
}

/// Marks each quotation that holds a part of the request: a line cut there is `truncated`.
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
