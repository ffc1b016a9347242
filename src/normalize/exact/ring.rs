//! Rewrites a path by a decoder ring, in one pass over bytes and triplets.
//!
//! The rule is Wikimedia's (see [`profile::ring`](crate::profile::ring)). Dot segments and empty
//! segments stay: `%2e%2e` becomes `..`, on purpose.

use std::convert::Infallible;
use std::ops::Range;

use crate::bytes::is_unreserved;
use crate::normalize::exact::escape::{changes, respell};
use crate::normalize::explain::Rule;
use crate::normalize::trace::{Place, Trace};
use crate::profile::ring::{CUSTOMIZABLE, Ring};
use crate::simd::{FastPath, MaskedUrl, Vector};

/// Appends the path in the spelling of the ring.
///
/// A triplet becomes its byte if the ring decodes it, and otherwise its digits are written in upper
/// case. Any other byte becomes a triplet if the ring encodes it; so does a `%` that starts no triplet.
/// A decoded byte is never read again, and no ring decodes `%`, so the result is a fixed point.
///
/// The first `fixed` bytes of the URL's path are not part of `path`.
pub(in crate::normalize) fn rewrite<T: Trace>(
    ring: &Ring,
    path: &[u8],
    fixed: usize,
    out: &mut Vec<u8>,
    trace: &mut T,
) {
    let Ok(()) = respell(path, &ring.acts, out, |change, written| {
        let rule = match change.rule() {
            Rule::DecodeUnreserved if !is_unreserved(change.value) => Rule::RingDecode,
            Rule::Encode if CUSTOMIZABLE.contains(change.value) => Rule::RingEncode,
            rule => rule,
        };
        let Range { start, end } = change.range;
        trace.respelled(rule, Place::Path, fixed + start..fixed + end, written);
        Ok::<(), Infallible>(())
    });
}

impl FastPath for &Ring {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        !masked.may_find_in_path(&self.encoded)
    }
}

/// Whether a path is spelled as the ring spells it.
#[inline]
pub(in crate::normalize) fn is_canonical(ring: &Ring, path: &[u8]) -> bool {
    changes(path, &ring.acts).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;
    use crate::profile::ring;
    use crate::profile::ring::Act;

    /// The table's rule, for one octet, from the words of the rule.
    fn spelled(ring: &Ring, byte: u8, as_triplet: bool) -> Vec<u8> {
        let raw = match ring.act(byte) {
            Act::Decode => true,
            Act::Encode => false,
            Act::Leave => !as_triplet,
        };
        if raw { vec![byte] } else { format!("%{byte:02X}").into_bytes() }
    }

    #[test]
    fn every_pair_of_raw_and_encoded_octets_follows_the_ring() {
        let custom = Ring::parse("decode=2F,3A encode=21,24").unwrap();
        for ring in [&ring::PLAIN, &ring::MEDIAWIKI, &ring::RESTBASE, &ring::UPLOAD, &custom] {
            for pair in (0..=0xFFFFu16).step_by(if cfg!(miri) { 4093 } else { 1 }) {
                let [a, b] = pair.to_be_bytes();
                for spelling in 0..4 {
                    let (a_encoded, b_encoded) = (spelling & 1 == 1, spelling & 2 == 2);
                    let mut path = Vec::new();
                    for (byte, encoded) in [(a, a_encoded), (b, b_encoded)] {
                        if encoded {
                            path.extend_from_slice(format!("%{byte:02x}").as_bytes());
                        } else {
                            path.push(byte);
                        }
                    }
                    let expected =
                        [spelled(ring, a, a_encoded), spelled(ring, b, b_encoded)].concat();
                    let mut out = Vec::new();
                    rewrite(ring, &path, 0, &mut out, &mut NoTrace);
                    assert_eq!(out, expected, "{ring} {a:02X} {b:02X} {spelling}");
                    assert!(!is_canonical(ring, &path) || out == path);
                    assert!(is_canonical(ring, &out));
                }
            }
        }
    }

    #[test]
    fn percent_sign_without_a_triplet_is_encoded() {
        for (path, expected) in
            [("%", "%25"), ("%4", "%254"), ("%zz", "%25zz"), ("%%41", "%25A"), ("%4%31", "%2541")]
        {
            let mut out = Vec::new();
            rewrite(&ring::MEDIAWIKI, path.as_bytes(), 0, &mut out, &mut NoTrace);
            assert_eq!(out, expected.as_bytes(), "{path}");
        }
    }
}
