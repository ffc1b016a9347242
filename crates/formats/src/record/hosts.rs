//! Tells hosts and addresses of clients from other words of a log.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::{self, FromStr};

use memchr::memrchr;

/// A word split at its port: the host, and the digits after the last colon.
///
/// An IPv6 address has colons of its own, so in an authority it stands in brackets (RFC 3986,
/// section 3.2.2); without them it is the address of a client.
pub(super) fn split_port(word: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memrchr(b':', word) {
        Some(colon) if is_port(&word[colon + 1..]) => (&word[..colon], Some(&word[colon + 1..])),
        _ => (word, None),
    }
}

fn is_port(text: &[u8]) -> bool {
    (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

/// True for an IPv4 address.
pub(super) fn is_ipv4(text: &[u8]) -> bool {
    is::<Ipv4Addr>(text)
}

/// True for an IPv6 address without brackets.
pub(super) fn is_ipv6(text: &[u8]) -> bool {
    // Clients of an interface have a zone.
    is::<Ipv6Addr>(text.split(|byte| *byte == b'%').next().unwrap_or_default())
}

fn is<A: FromStr>(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| text.parse::<A>().is_ok())
}

/// True for an IPv6 address in brackets.
fn is_bracketed(text: &[u8]) -> bool {
    text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).is_some_and(is_ipv6)
}

/// True for labels of letters, digits, hyphens and underscores between dots.
fn is_name(text: &[u8]) -> bool {
    let is_label = |label: &[u8]| {
        (1..=63).contains(&label.len())
            && label
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..))
    };
    // RFC 1035 section 2.3.4: labels have at most 63 bytes, and names as text at most 253.
    text.len() <= 253
        && text.strip_suffix(b".").unwrap_or(text).split(|byte| *byte == b'.').all(is_label)
}

/// True for a name of two or more labels whose last label is no number: `a.example`, perhaps with
/// a port.
pub(super) fn is_dotted(word: &[u8]) -> bool {
    let (host, _) = split_port(word);
    let host = host.strip_suffix(b".").unwrap_or(host);
    let Some(dot) = memrchr(b'.', host) else { return false };
    let last = &host[dot + 1..];
    // No top-level domain is a single letter or begins with a digit. The ends of `main.c` and
    // `v1.2` are such.
    is_name(host) && last.len() > 1 && !last[0].is_ascii_digit() && last[0] != b'-'
}

/// True for the name of a site: dotted, an address or `localhost`, perhaps with a port.
pub(super) fn is_authority(word: &[u8]) -> bool {
    let (host, _) = split_port(word);
    is_dotted(word)
        || is_ipv4(host)
        || is_bracketed(host)
        || host.eq_ignore_ascii_case(b"localhost")
}

/// True for a name of a site that names its port, which a name without dots may be.
pub(super) fn names_port(word: &[u8]) -> bool {
    let (host, port) = split_port(word);
    port.is_some() && (matches!(host, b"" | b"-") || is_name(host) || is_bracketed(host))
}

/// True for the address or the name of a client.
pub(super) fn is_address(word: &[u8]) -> bool {
    // The whole word is asked for: the last group of an IPv6 address looks like a port.
    let (host, _) = split_port(word);
    is_ipv6(word) || is_name(host) || is_bracketed(host)
}

/// True for a name below a top-level domain, or below one that is kept for examples (RFC 6761). A port may
/// follow it.
pub(super) fn has_public_suffix(word: &[u8]) -> bool {
    let (host, _) = split_port(word);
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    [&b"example"[..], b"test", b"localhost", b"invalid"].contains(&last)
        || uniqurl_psl::is_listed(&last.to_ascii_lowercase())
}

/// Endings of files, which are no names of sites.
const FILES: [&[u8]; 22] = [
    b"html", b"htm", b"php", b"js", b"css", b"png", b"jpg", b"jpeg", b"gif", b"ico", b"txt",
    b"xml", b"json", b"svg", b"pdf", b"mp4", b"zip", b"gz", b"log", b"aspx", b"jsp", b"woff2",
];

/// True for a word that most probably names a site: dotted, and not a file.
pub(super) fn is_site(word: &[u8]) -> bool {
    let (host, _) = split_port(word);
    let ending = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    is_dotted(word) && !FILES.iter().any(|file| ending.eq_ignore_ascii_case(file))
}

#[cfg(test)]
mod tests {
    use super::{is_address, is_authority, is_dotted, is_site, names_port};

    #[test]
    fn times_and_addresses_of_clients_are_no_hosts() {
        for word in [
            "2024-01-01T00:00:00.123456+00:00",
            "2001:db8::1",
            "12:00:00",
            "1.2.3.4",
            "-",
            "",
            "Mozilla/5.0",
            "3.10",
            "nginx:",
        ] {
            assert!(!is_dotted(word.as_bytes()), "{word}");
            assert!(!names_port(word.as_bytes()), "{word}");
        }
        assert!(is_address(b"2001:db8::1") && is_address(b"1.2.3.4:5") && is_address(b"web1"));
        assert!(!is_address(b"nginx:") && !is_address(b"-x y"));
    }

    #[test]
    fn names_of_sites_are_dotted_or_have_a_port() {
        for word in ["a.example", "a.example:8443", "xn--bcher-kva.example", "www.b-c.example."] {
            assert!(is_dotted(word.as_bytes()), "{word}");
        }
        for word in ["a.example:80", "web1:443", "[2001:db8::1]:443", "-:80", ":80", "1.2.3.4:80"] {
            assert!(names_port(word.as_bytes()), "{word}");
        }
        assert!(
            is_authority(b"localhost:8080") && is_authority(b"[::1]") && !is_authority(b"web1")
        );
        assert!(is_site(b"a.example") && !is_site(b"index.html"));
    }
}
