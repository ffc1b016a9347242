//! Splits a format string of GoAccess: `%h %^[%d:%t %^] "%r" %s %b "%R" "%u"`.
//!
//! Its letters are others than Apache's, so `%d`, `%t` and `%U` would be misread. Dates and times have forms
//! of their own (`date-format`, `time-format`), which the string does not tell: those that logs write
//! are read.

use super::field::Field;
use super::shape::Shape;
use super::token::{Token, Variable, literal, protocol};

/// True for a string that can only be GoAccess's: Apache has no such directives, but for `%^FB` and in an
/// argument (`%{%d/%b/%Y}t`), and GoAccess has no arguments.
pub(super) fn is_its_own(text: &str) -> bool {
    let mut is_literal = false;
    let mut is_own = |directive: &str| {
        // After `%%`, a literal sign, stands no directive.
        let is_directive = !is_literal;
        is_literal = is_directive && directive.is_empty();
        is_directive && directive.starts_with(['^', '~', 'd', 'x']) && !directive.starts_with("^FB")
    };
    !text.contains("%{") && text.split('%').skip(1).any(&mut is_own)
}

/// The dates and times that fields of their own form in a line, with the spaces they hold.
const TIMES: [(&str, u8); 5] = [("d:%t %^", 1), ("d:%t", 0), ("dT%t", 0), ("d %t", 1), ("x", 0)];

/// Parses a field of GoAccess's after its `%`, and returns its length.
pub(super) fn field(text: &str, out: &mut Vec<Token>) -> Result<usize, &'static str> {
    if let Some((time, spaces)) = TIMES.into_iter().find(|(time, _)| text.starts_with(time)) {
        let date = Variable::new(Field::Date, Shape::Any);
        out.push(Token::Field(Variable { spaces, ..date }));
        return Ok(time.len());
    }
    let variable = match text.as_bytes().first() {
        Some(b'%') => {
            literal(b"%", out);
            return Ok(1);
        }
        Some(b'~') => {
            let rest = text[1..].strip_prefix('%').ok_or("after %~ stands a field")?;
            let first = out.len();
            let length = field(rest, out)?;
            if let Some(Token::Field(padded)) = out.get_mut(first) {
                padded.is_padded = true;
            }
            return Ok(2 + length);
        }
        Some(b'H') => {
            protocol(out);
            return Ok(1);
        }
        Some(b'r') => Variable::new(Field::Request, Shape::Request),
        // As it stands in the log: IIS writes it decoded, but most write what the client sent.
        Some(b'U') => Variable::new(Field::Uri, Shape::Target),
        Some(b'q') => Variable::new(Field::Query, Shape::Any),
        Some(b'm') => Variable::new(Field::Method, Shape::Method),
        Some(b's') => Variable::new(Field::Status, Shape::Status),
        Some(b'v') => Variable::new(Field::Host, Shape::Site),
        Some(b'K') => Variable::new(Field::TlsVersion, Shape::TlsVersion),
        Some(b'h') => Variable::new(Field::Client, Shape::Address),
        Some(b'R') => Variable::new(Field::Referrer, Shape::Word),
        Some(b'u') => Variable::new(Field::Agent, Shape::Any),
        Some(b'b') => Variable::new(Field::Bytes, Shape::Number),
        Some(b'D') => Variable::new(Field::Micros, Shape::Number),
        Some(b'L') => Variable::new(Field::Millis, Shape::Number),
        Some(b'T') => Variable::new(Field::Seconds, Shape::Number),
        Some(b'n') => Variable::other(Shape::Number),
        Some(b'^' | b'd' | b't' | b'e' | b'C' | b'M' | b'k') => Variable::other(Shape::Any),
        _ => return Err("a percent sign that begins no field of GoAccess's"),
    };
    out.push(Token::Field(variable));
    Ok(1)
}
