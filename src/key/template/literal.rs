//! Our names in braces, which stand for themselves.

use super::part_type::PartType;
use crate::bytes::Triplet;

/// The type that `text` names at its start in braces, and the length; each brace may be a triplet.
pub(super) fn braced_name(text: &[u8]) -> Option<(PartType, usize)> {
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
