//! The parts of a format string: bytes that each line has, and variables.

use super::field::Field;
use super::shape::Shape;

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A byte that each line has.
    Literal(u8),
    /// A variable part.
    Field(Variable),
}

/// A variable part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variable {
    /// Its meaning.
    pub field: Field,
    /// Number of spaces that it always holds.
    pub spaces: u8,
    /// Whether more spaces may stand in front of it, as the columns of some logs are aligned.
    pub is_padded: bool,
    /// The form of its values.
    pub shape: Shape,
}

impl Variable {
    pub fn new(field: Field, shape: Shape) -> Self {
        Self { field, spaces: 0, is_padded: false, shape }
    }

    /// A variable unrelated to the URL.
    pub fn other(shape: Shape) -> Self {
        Self::new(Field::Other, shape)
    }
}

/// A position in a format string, and the error there.
pub(super) type FormatStringError = (usize, &'static str);

/// Appends bytes that each line has.
pub(super) fn literal(text: &[u8], out: &mut Vec<Token>) {
    out.extend(text.iter().map(|&byte| Token::Literal(byte)));
}

/// `HTTP/1.1`: the literal separates it from the end of a path that has spaces.
pub(super) fn protocol(out: &mut Vec<Token>) {
    literal(b"HTTP/", out);
    out.push(Token::Field(Variable::other(Shape::Word)));
}
