//! Percent-encoding within one component (RFC 3986 sections 2.1 and 6.2.2.2).

use std::iter;
use std::ops::Range;

use crate::bytes::set;
use crate::bytes::{Triplet, push_triplet};
use crate::normalize::explain::Rule;
use crate::profile::ring::{Act, Acts, acts};

/// For each component, how it spells each byte.
pub(crate) static PATH: Acts = acts(set::PATH);
pub(crate) static QUERY: Acts = acts(set::QUERY);
pub(crate) static USERINFO: Acts = acts(set::USERINFO);
pub(crate) static REG_NAME: Acts = acts(set::REG_NAME);

/// A byte or a triplet that gets another spelling.
pub(in crate::normalize) struct Change {
    /// Its range in the text.
    pub(in crate::normalize) range: Range<usize>,
    pub(in crate::normalize) value: u8,
    /// Whether it becomes a literal byte. If not, it becomes a triplet with digits in upper case.
    decodes: bool,
}

impl Change {
    /// The rule of the ladder that makes it.
    pub(in crate::normalize) fn rule(&self) -> Rule {
        match (self.decodes, self.range.len()) {
            (true, _) => Rule::DecodeUnreserved,
            (false, 1) => Rule::Encode,
            (false, _) => Rule::TripletCase,
        }
    }
}

/// The changes that `acts` make in a text. A table that encodes `%` reads triplets; any other takes them for
/// literal bytes.
///
/// A decoded byte never becomes part of a new triplet (section 2.4), so if no table decodes `%`, the result
/// has no changes.
#[inline]
pub(in crate::normalize) fn changes<'t>(
    text: &'t [u8],
    acts: &'t Acts,
) -> impl Iterator<Item = Change> + 't {
    let mut at = 0;
    let act = |byte: u8| acts[usize::from(byte)];
    iter::from_fn(move || {
        loop {
            at += text[at..].iter().position(|byte| act(*byte) == Act::Encode)?;
            let start = at;
            let triplet = Triplet::read(&text[start..]);
            let value = triplet.map_or(text[start], |triplet| triplet.value);
            let decodes = triplet.is_some() && act(value) == Act::Decode;
            at += if triplet.is_some() { 3 } else { 1 };
            if decodes || !triplet.is_some_and(|triplet| triplet.upper) {
                return Some(Change { range: start..at, value, decodes });
            }
        }
    })
}

/// Appends a text with the changes that `acts` make. `accept` gets each of them with the bytes that it writes,
/// and may stop at one.
#[inline]
pub(in crate::normalize) fn respell<E>(
    text: &[u8],
    acts: &Acts,
    out: &mut Vec<u8>,
    mut accept: impl FnMut(&Change, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut run = 0;
    for change in changes(text, acts) {
        out.extend_from_slice(&text[run..change.range.start]);
        run = change.range.end;
        let at = out.len();
        match change.decodes {
            true => out.push(change.value),
            false => push_triplet(change.value, out),
        }
        accept(&change, &out[at..])?;
    }
    out.extend_from_slice(&text[run..]);
    Ok(())
}

/// Appends `bytes` with ASCII letters in lower case.
#[inline]
pub(crate) fn push_lower(bytes: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(bytes);
    out[at..].make_ascii_lowercase();
}

/// Lower-cases the ASCII letters of `bytes`, but not the digits of its triplets.
pub(crate) fn lower_outside_triplets(bytes: &mut [u8]) {
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'%' {
            // The text is canonical, so each `%` starts a triplet.
            i += 3;
        } else {
            bytes[i].make_ascii_lowercase();
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::bytes::is_unreserved;

    fn repaired(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let Ok(()) = respell(bytes, &PATH, &mut out, |_, _| Ok::<(), Infallible>(()));
        out
    }

    #[test]
    fn a_decoded_byte_never_starts_or_ends_a_triplet() {
        assert_eq!(repaired(b"%%34%31"), b"%2541");
        assert_eq!(repaired(b"%2541"), b"%2541");
        assert_eq!(repaired(b"%4%31"), b"%2541");
    }

    #[test]
    fn every_triplet_is_repaired_to_one_form() {
        for byte in 0..=255u8 {
            let upper = repaired(format!("%{byte:02X}").as_bytes());
            assert_eq!(upper, repaired(format!("%{byte:02x}").as_bytes()));
            assert_eq!(upper.len(), if is_unreserved(byte) { 1 } else { 3 });
        }
    }
}
