//! Percent-encoding within one component (RFC 3986 sections 2.1 and 6.2.2.2).

use crate::bytes::{Reject, RejectReason};
use crate::profile::Grammar;
use crate::profile::set::{self, AsciiSet};

/// The component that a byte stands in, as a bit of its [`CLASS`].
pub(crate) type Component = u8;
pub(crate) const PATH: Component = 1;
pub(crate) const QUERY: Component = 2;
pub(crate) const USERINFO: Component = 4;
pub(crate) const REG_NAME: Component = 8;
const UNRESERVED: u8 = 16;

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
            | bit(set::REG_NAME, b, REG_NAME)
            | bit(set::UNRESERVED, b, UNRESERVED);
        byte += 1;
    }
    class
};

/// The value of each hexadecimal digit; 16 for lower case added, so that `A` and `a` differ; 255 for
/// every other byte.
const HEX: [u8; 256] = {
    let mut hex = [255; 256];
    let mut value = 0;
    while value < 16 {
        hex[b"0123456789ABCDEF"[value] as usize] = value as u8;
        if value >= 10 {
            hex[b"0123456789abcdef"[value] as usize] = 16 + value as u8;
        }
        value += 1;
    }
    hex
};

/// Whether the grammar of `component` allows `byte` as itself.
#[inline]
pub(crate) fn allows(component: Component, byte: u8) -> bool {
    CLASS[byte as usize] & component != 0
}

/// Whether `byte` means the same encoded and not.
#[inline]
pub(crate) fn is_unreserved(byte: u8) -> bool {
    CLASS[byte as usize] & UNRESERVED != 0
}

/// A triplet, `pct-encoded = "%" HEXDIG HEXDIG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Triplet {
    pub(crate) value: u8,
    /// Both digits are in upper case.
    pub(crate) upper: bool,
}

impl Triplet {
    /// The triplet at the start of `bytes`, which starts with `%`.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let &[_, high, low, ..] = bytes else {
            return None;
        };
        let (high, low) = (HEX[high as usize], HEX[low as usize]);
        if high == 255 || low == 255 {
            return None;
        }
        Some(Self { value: (high & 15) << 4 | low & 15, upper: (high | low) & 16 == 0 })
    }

    /// Whether a normalizer leaves the triplet as it is.
    #[inline]
    pub(crate) fn is_canonical(self) -> bool {
        self.upper && !is_unreserved(self.value)
    }
}

/// `byte` as a triplet, its digits in upper case (section 6.2.2.1).
#[inline]
pub(crate) fn triplet_of(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]
}

/// Appends `byte` as a triplet.
#[inline]
pub(crate) fn push_triplet(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&triplet_of(byte));
}

/// Appends one component with its percent-encoding normalized: unreserved triplets decoded, the
/// digits of the others in upper case, and what the grammar does not allow rejected or encoded.
///
/// One pass: a decoded byte never becomes part of a new triplet (section 2.4). `start` is the offset
/// of the component in the URL, for the position of a rejection.
pub(crate) fn normalize(
    bytes: &[u8],
    component: Component,
    grammar: Grammar,
    start: usize,
    out: &mut Vec<u8>,
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
                run
            }
            Special::Refused(code) => return Err(Reject::new(code, start + i)),
        };
        i = behind;
    }
    out.extend_from_slice(&bytes[run..]);
    Ok(())
}

/// What becomes of a byte that is not allowed as itself, and of the digits behind a percent sign.
enum Special {
    /// A triplet in its normal form.
    Stays,
    /// This, in place of so many bytes.
    Becomes(Written, usize),
    Refused(RejectReason),
}

/// One byte, or one as a triplet.
struct Written([u8; 3], usize);

impl Written {
    #[inline(always)]
    fn as_bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// Judges the first of `bytes`.
#[inline(always)]
fn special(bytes: &[u8], grammar: Grammar) -> Special {
    let triplet = if bytes[0] == b'%' { Triplet::read(bytes) } else { None };
    match triplet {
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

    fn repaired(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        normalize(bytes, PATH, Grammar::Repaired, 0, &mut out).unwrap();
        out
    }

    #[test]
    fn a_decoded_byte_never_starts_or_ends_a_triplet() {
        assert_eq!(repaired(b"%%34%31"), b"%2541");
        assert_eq!(repaired(b"%2541"), b"%2541");
        assert_eq!(repaired(b"%4%31"), b"%2541");
    }

    #[test]
    fn every_octet_written_as_a_triplet_comes_out_once_and_in_one_form() {
        for byte in 0..=255u8 {
            let upper = repaired(format!("%{byte:02X}").as_bytes());
            assert_eq!(upper, repaired(format!("%{byte:02x}").as_bytes()));
            assert_eq!(upper.len(), if is_unreserved(byte) { 1 } else { 3 });
        }
    }

    #[test]
    fn a_rejection_names_the_first_offending_byte() {
        let mut out = Vec::new();
        let reject = normalize(b"ab c%", PATH, Grammar::Enforced, 10, &mut out);
        assert_eq!(reject, Err(Reject::new(RejectReason::Byte, 12)));
        let reject = normalize(b"a%4g c", PATH, Grammar::Enforced, 0, &mut out);
        assert_eq!(reject, Err(Reject::new(RejectReason::Escape, 1)));
    }
}
