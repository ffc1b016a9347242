//! Percent-encoding within one component (RFC 3986 sections 2.1 and 6.2.2.2).

use super::explain::Rule;
use super::trace::{Place, Trace};
use crate::bytes::set::{self, AsciiSet};
use crate::bytes::{Reject, RejectReason, Triplet, is_unreserved, triplet_of};
use crate::profile::Grammar;

/// A component, as a bit of [`CLASS`].
pub(crate) type ComponentFlag = u8;
pub(crate) const PATH: ComponentFlag = 1;
pub(crate) const QUERY: ComponentFlag = 2;
pub(crate) const USERINFO: ComponentFlag = 4;
pub(crate) const REG_NAME: ComponentFlag = 8;

/// For each byte, the components whose grammar allows it as itself.
const CLASS: [u8; 256] = {
    const fn bit(set: AsciiSet, byte: u8, bit: u8) -> u8 {
        if set.contains(byte) { bit } else { 0 }
    }
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        class[byte] = bit(set::PATH, b, PATH)
            | bit(set::QUERY, b, QUERY)
            | bit(set::USERINFO, b, USERINFO)
            | bit(set::REG_NAME, b, REG_NAME);
        byte += 1;
    }
    class
};

/// Whether the grammar of `component` allows `byte` as itself.
#[inline]
pub(crate) fn allows(component: ComponentFlag, byte: u8) -> bool {
    CLASS[byte as usize] & component != 0
}

/// Appends one component with its percent-encoding normalized: decodes unreserved triplets, writes the
/// digits of the others in upper case, and rejects or encodes bytes that the grammar does not allow.
///
/// One pass: a decoded byte never becomes part of a new triplet (section 2.4). `start` is the offset
/// of the component in the URL, for the position of a rejection.
pub(crate) fn normalize<T: Trace>(
    bytes: &[u8],
    (component, place): (ComponentFlag, Place),
    grammar: Grammar,
    start: usize,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    let mut run = 0;
    let mut i = 0;
    while let Some(next) = bytes[i..].iter().position(|byte| !allows(component, *byte)) {
        i += next;
        let behind = match special(&bytes[i..], grammar) {
            Special::Stays => i + 3,
            Special::Becomes(written, length) => {
                out.extend_from_slice(&bytes[run..i]);
                out.extend_from_slice(written.as_bytes());
                run = i + length;
                if T::RECORDS {
                    let rule = match (length, written.as_bytes().len()) {
                        (1, _) => Rule::Encode,
                        (_, 1) => Rule::DecodeUnreserved,
                        _ => Rule::TripletCase,
                    };
                    trace.respelled(rule, place, i..run, written.as_bytes());
                }
                run
            }
            Special::Refused(code) => return Err(Reject::new(code, start + i)),
        };
        i = behind;
    }
    out.extend_from_slice(&bytes[run..]);
    Ok(())
}

/// The action for a byte that is not allowed as itself, or for the digits after a percent sign.
enum Special {
    /// A triplet in its normal form.
    Stays,
    /// The replacement, and the number of bytes that it replaces.
    Becomes(Written, usize),
    Refused(RejectReason),
}

/// One byte, or its triplet.
struct Written([u8; 3], usize);

impl Written {
    #[inline(always)]
    fn as_bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// Decides on the first of `bytes`.
#[inline(always)]
fn special(bytes: &[u8], grammar: Grammar) -> Special {
    match Triplet::read(bytes) {
        Some(triplet) if triplet.is_canonical() => Special::Stays,
        Some(Triplet { value, .. }) if is_unreserved(value) => {
            Special::Becomes(Written([value, 0, 0], 1), 3)
        }
        Some(Triplet { value, .. }) => Special::Becomes(Written(triplet_of(value), 3), 3),
        None if grammar == Grammar::Repaired => {
            Special::Becomes(Written(triplet_of(bytes[0]), 3), 1)
        }
        None if bytes[0] == b'%' => Special::Refused(RejectReason::Escape),
        None => Special::Refused(RejectReason::Byte),
    }
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
            i += 3;
        } else {
            bytes[i].make_ascii_lowercase();
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;

    fn repaired(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let path = (PATH, Place::Path);
        normalize(bytes, path, Grammar::Repaired, 0, &mut out, &mut NoTrace).unwrap();
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

    #[test]
    fn a_rejection_names_the_first_offending_byte() {
        let mut out = Vec::new();
        let mut rejected = |bytes: &[u8], start| {
            let path = (PATH, Place::Path);
            normalize(bytes, path, Grammar::Enforced, start, &mut out, &mut NoTrace)
        };
        let reject = rejected(b"ab c%", 10);
        assert_eq!(reject, Err(Reject::new(RejectReason::Byte, 12)));
        let reject = rejected(b"a%4g c", 0);
        assert_eq!(reject, Err(Reject::new(RejectReason::Escape, 1)));
    }
}
