//! Literals: bytes that stand for themselves, triplets, and our names in braces.

use super::byte_class::{ODD, is};
use super::part_type::PartType;
use crate::bytes::{Triplet, push_triplet};

/// The piece at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A name in braces, and its length as it is spelled.
    Name(PartType, usize),
    /// A triplet, which is a literal.
    Triplet,
    /// A literal byte.
    Literal,
    /// A byte that is no literal: it becomes a triplet.
    Odd,
}

impl Piece {
    /// Reads the piece at the start of `text`, which is not empty.
    #[inline]
    pub(super) fn read(text: &[u8]) -> Self {
        let first = text[0];
        if !is(first, ODD) {
            return Self::Literal;
        }
        match braced_name(text) {
            Some((part_type, length)) => Self::Name(part_type, length),
            None if first == b'%' && Triplet::read(text).is_some() => Self::Triplet,
            None => Self::Odd,
        }
    }

    /// Appends the piece, and returns its length in `text`.
    #[inline]
    pub(super) fn append(self, text: &[u8], out: &mut Vec<u8>) -> usize {
        match self {
            Self::Name(part_type, length) => {
                out.extend_from_slice(part_type.braced().as_bytes());
                length
            }
            Self::Triplet => {
                out.extend_from_slice(&text[..3]);
                3
            }
            Self::Literal => {
                out.push(text[0]);
                1
            }
            Self::Odd => {
                push_triplet(text[0], out);
                1
            }
        }
    }
}

/// The type that `text` names at its start in braces, and the length; each brace may be a triplet.
fn braced_name(text: &[u8]) -> Option<(PartType, usize)> {
    let open = brace(text, b'{')?;
    let inner = &text[open..];
    PartType::ALL.iter().find_map(|part_type| {
        let name = part_type.name().as_bytes();
        let close = brace(inner.strip_prefix(name)?, b'}')?;
        Some((*part_type, open + name.len() + close))
    })
}

/// The length of this brace at the start of `text`.
fn brace(text: &[u8], which: u8) -> Option<usize> {
    match text.first()? {
        b'%' if Triplet::read(text)?.value == which => Some(3),
        byte if *byte == which => Some(1),
        _ => None,
    }
}
