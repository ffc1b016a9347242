//! Hosts, by the host parser of the URL Standard (section 3.5).

use idna::uts46::AsciiDenyList;

use super::encode::encode;
use crate::bytes::{Reject, RejectReason, decoded, octets};
use crate::normalize::exact::escape::push_lower;
use crate::normalize::exact::host::{ipv6, ipv6_fields, to_ascii};
use crate::profile::whatwg::{Kind, Place};

/// Appends the host of a URL with a scheme of this kind. `start` is its offset in the input.
pub(super) fn parse(
    host: &[u8],
    kind: Kind,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Reject> {
    if let Some(inside) = host.strip_prefix(b"[") {
        let address = inside.strip_suffix(b"]").and_then(ipv6);
        let Some(address) = address else { return Err(Reject::new(RejectReason::Host, start)) };
        out.extend_from_slice(format!("[{}]", ipv6_fields(address)).as_bytes());
        return Ok(());
    }
    let at = out.len();
    if !kind.is_special() {
        // Bytes above ASCII are encoded, as long as they are text.
        let forbidden = |byte: &u8| byte.is_ascii() && !Place::Host.allows(*byte);
        let forbidden = host.iter().position(forbidden);
        if let Some(bad) = forbidden.into_iter().chain(not_text(host)).min() {
            return Err(Reject::new(RejectReason::Byte, start + bad));
        }
        encode(host, Place::Opaque, out);
        return Ok(());
    }
    if host.iter().all(|byte| Place::Domain.allows(*byte)) {
        push_lower(host, out);
    } else {
        domain(host, start, out)?;
    }
    // Asked of the result: triplets and UTS 46 may have made the digits.
    if ends_in_number(&out[at..]) {
        let Some(address) = ipv4(&out[at..]) else {
            return Err(Reject::new(RejectReason::Host, start));
        };
        out.truncate(at);
        out.extend_from_slice(std::net::Ipv4Addr::from(address).to_string().as_bytes());
    }
    Ok(())
}

/// The offset of the first bytes that are not UTF-8. The standard works on text, so such a host is rejected.
fn not_text(host: &[u8]) -> Option<usize> {
    std::str::from_utf8(host).err().map(|error| error.valid_up_to())
}

/// Appends a domain with its triplets decoded, by "domain to ASCII".
#[cold]
fn domain(host: &[u8], start: usize, out: &mut Vec<u8>) -> Result<(), Reject> {
    if let Some(bad) = not_text(host) {
        return Err(Reject::new(RejectReason::Byte, start + bad));
    }
    let decoded = decoded(host);
    if decoded.is_ascii() {
        // Labels that only look like IDNA are no reason to fail, so UTS 46 is not needed.
        if let Some(bad) = octets(host).find(|octet| !Place::Domain.allows(octet.value)) {
            return Err(Reject::new(RejectReason::Byte, start + bad.at));
        }
        push_lower(&decoded, out);
        return Ok(());
    }
    to_ascii(host, AsciiDenyList::URL, start, out)
}

/// The "ends in a number checker" (section 3.5).
pub(in crate::normalize) fn ends_in_number(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    !last.is_empty() && (last.iter().all(u8::is_ascii_digit) || ipv4_number(last).is_some())
}

/// The "IPv4 parser": one to four numbers. The last one fills the remaining bits of 32.
pub(in crate::normalize) fn ipv4(host: &[u8]) -> Option<u32> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let mut address = 0;
    let mut parts = 0;
    let mut rest = host.split(|byte| *byte == b'.').peekable();
    while let Some(part) = rest.next() {
        let value = ipv4_number(part)?;
        parts += 1;
        if rest.peek().is_some() {
            if value > 255 || parts == 4 {
                return None;
            }
            address |= value << (32 - 8 * parts);
        } else if value >> (40 - 8 * parts) == 0 {
            address |= value;
        } else {
            return None;
        }
    }
    u32::try_from(address).ok()
}

/// The "IPv4 number parser": decimal, octal after `0`, hexadecimal after `0x`, as in C; `0x` alone is 0.
/// A number that does not fit 32 bits is returned as some number that does not fit either.
fn ipv4_number(part: &[u8]) -> Option<u64> {
    let (digits, radix) = match part {
        [] => return None,
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    digits.iter().try_fold(0u64, |value, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        Some((value * u64::from(radix) + u64::from(digit)).min(1 << 40))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(host: &str) -> Result<String, (RejectReason, usize)> {
        let mut out = Vec::new();
        parse(host.as_bytes(), Kind::Special(80), 0, &mut out)
            .map(|()| String::from_utf8(out).unwrap())
            .map_err(|reject| (reject.code, reject.at))
    }

    #[test]
    fn short_ipv4_addresses_are_filled_as_the_url_standard_says() {
        for (host, expected) in [
            ("1.2.3.4", "1.2.3.4"),
            ("1.2.3", "1.2.0.3"),
            ("1.2.3.", "1.2.0.3"),
            ("0x7f.1", "127.0.0.1"),
            ("0X7F.0.0.0x", "127.0.0.0"),
            ("017700000001", "127.0.0.1"),
            ("4294967295", "255.255.255.255"),
            ("%30.%EF%BC%91", "0.0.0.1"),
            ("a.1.b", "a.1.b"),
            ("1.2.3.4.b", "1.2.3.4.b"),
            ("1..", "1.."),
            (".", "."),
        ] {
            assert_eq!(parsed(host).as_deref(), Ok(expected), "{host}");
        }
        for host in [
            "1.2.3.4.5",
            "256.1",
            "1.256",
            "1.2.65536",
            "4294967296",
            "0x100000000",
            "99999999999999999999999999",
            "08",
            "a.1",
            ".1",
            "1..2",
            "1.2.3.4x.5",
        ] {
            let fits = host == "1.256";
            assert_eq!(parsed(host).is_ok(), fits, "{host}");
            assert!(fits || parsed(host) == Err((RejectReason::Host, 0)), "{host}");
        }
    }

    #[test]
    fn punycode_is_validated_only_beside_non_ascii_labels() {
        assert_eq!(parsed("XN--A.xn--").as_deref(), Ok("xn--a.xn--"));
        assert_eq!(parsed("xn--a.\u{e9}"), Err((RejectReason::Idna, 0)));
        assert_eq!(parsed("\u{3e8ac}"), Err((RejectReason::Idna, 0)));
        assert_eq!(parsed("xn--t92s.\u{e9}"), Err((RejectReason::Idna, 0)));
        // Two characters that are one after normalization.
        assert_eq!(parsed("<\u{338}").as_deref(), Ok("xn--gdh"));
        assert_eq!(parsed("a%3Cb"), Err((RejectReason::Byte, 1)));
    }
}
