//! Rewrites a path by a decoder ring, in one pass over bytes and triplets.
//!
//! The rule is Wikimedia's (see [`profile::ring`](crate::profile::ring)). Dot segments and empty
//! segments stay: `%2e%2e` becomes `..`, on purpose.

use super::explain::Rule;
use super::trace::{Place, Trace};
use crate::bytes::{Triplet, is_unreserved, push_triplet};
use crate::profile::ring::{Act, CUSTOMIZABLE, Ring};
use crate::simd::{FastPath, MaskedUrl, Vector};

/// Appends the path in the spelling of the ring.
///
/// A triplet becomes its byte if the ring decodes it, and otherwise its digits are written in upper
/// case. Any other byte becomes a triplet if the ring encodes it; so does a `%` that starts no triplet.
/// A decoded byte is never read again, and no ring decodes `%`, so the result is a fixed point.
///
/// The first `fixed` bytes of the URL's path are not part of `path`.
pub(super) fn rewrite<T: Trace>(
    ring: &Ring,
    path: &[u8],
    fixed: usize,
    out: &mut Vec<u8>,
    trace: &mut T,
) {
    out.reserve(path.len());
    let mut run = 0;
    let mut i = 0;
    while let Some(&byte) = path.get(i) {
        if ring.act(byte) != Act::Encode {
            i += 1;
            continue;
        }
        // Every ring encodes the percent sign.
        let triplet = Triplet::read(&path[i..]);
        match triplet {
            Some(triplet) if triplet.upper && ring.act(triplet.value) != Act::Decode => i += 3,
            Some(triplet) => {
                out.extend_from_slice(&path[run..i]);
                let at = out.len();
                let rule = if ring.act(triplet.value) == Act::Decode {
                    out.push(triplet.value);
                    match is_unreserved(triplet.value) {
                        true => Rule::DecodeUnreserved,
                        false => Rule::RingDecode,
                    }
                } else {
                    push_triplet(triplet.value, out);
                    Rule::TripletCase
                };
                i += 3;
                run = i;
                trace.respelled(rule, Place::Path, fixed + i - 3..fixed + i, &out[at..]);
            }
            None => {
                out.extend_from_slice(&path[run..i]);
                let at = out.len();
                push_triplet(byte, out);
                i += 1;
                run = i;
                let chosen = CUSTOMIZABLE.contains(byte);
                let rule = if chosen { Rule::RingEncode } else { Rule::Encode };
                trace.respelled(rule, Place::Path, fixed + i - 1..fixed + i, &out[at..]);
            }
        }
    }
    out.extend_from_slice(&path[run..]);
}

impl FastPath for &Ring {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        !masked.may_find_in_path(self.encoded())
    }
}

/// Whether a byte that the ring encodes stays, because it starts a triplet that stays.
#[inline]
fn stays(ring: &Ring, bytes: &[u8]) -> bool {
    let stays = |triplet: Triplet| triplet.upper && ring.act(triplet.value) != Act::Decode;
    Triplet::read(bytes).is_some_and(stays)
}

/// Whether the ring leaves a path unchanged. `false` may only mean that this was not checked.
#[inline]
pub(super) fn leaves(ring: &Ring, path: &[u8]) -> bool {
    let mut i = 0;
    while let Some(&byte) = path.get(i) {
        if ring.act(byte) != Act::Encode {
            i += 1;
            continue;
        }
        if !stays(ring, &path[i..]) {
            return false;
        }
        i += 3;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;
    use crate::profile::ring;

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
                    assert!(!leaves(ring, &path) || out == path);
                    assert!(leaves(ring, &out));
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
