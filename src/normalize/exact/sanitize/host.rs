//! Checks of a host: IPv4 addresses in rare forms, and labels that mix scripts.

use std::net::Ipv4Addr;
use std::str;

use idna::punycode;

use crate::normalize::exact::whatwg::host::ipv4;
use crate::profile::unicode;

/// Whether `inet_aton` accepts the decoded host as an address, without the dot that may end a name, although it
/// is no `IPv4address` by RFC 3986: `127.1`, `0x7F.1`, `0177.0.0.1`, `2130706433`, `127.0.0.1.`.
pub(super) fn is_rare_ipv4(host: &[u8]) -> bool {
    let is_plain = |host: &str| host.parse::<Ipv4Addr>().is_ok();
    // Each of these forms begins with a digit.
    host.first().is_some_and(u8::is_ascii_digit)
        && ipv4(host).is_some()
        && !str::from_utf8(host).is_ok_and(is_plain)
}

/// Scripts that are written together, beside Latin: the sets of "Highly Restrictive" (UTS 39 section
/// 5.2), for Japanese, Chinese and Korean.
const TOGETHER: [&[&str]; 3] =
    [&["Latn", "Hani", "Hira", "Kana"], &["Latn", "Hani", "Bopo"], &["Latn", "Hani", "Hang"]];

/// Whether a label of the decoded host, as it is shown to people, mixes scripts that are not written
/// together. A host that is not UTF-8 has no scripts.
pub(super) fn mixes_scripts(host: &[u8]) -> bool {
    const DOTS: [char; 4] = ['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'];
    let Ok(host) = std::str::from_utf8(host) else { return false };
    host.split(DOTS).any(|label| match label.split_at_checked(4) {
        Some((prefix, code)) if prefix.eq_ignore_ascii_case("xn--") => {
            punycode::decode_to_string(code).is_some_and(|label| is_mixed(&label))
        }
        _ => is_mixed(label),
    })
}

/// Whether no script, and no set of [`TOGETHER`], has all characters of a label. Characters of several
/// scripts (`Script_Extensions`) fit each of them.
fn is_mixed(label: &str) -> bool {
    if label.is_ascii() {
        return false;
    }
    let scripts = label.chars().map(|c| unicode::scripts(c).collect::<Vec<_>>());
    let is_single = |scripts: &Vec<&str>| !(scripts.contains(&"Zyyy") || scripts.contains(&"Zinh"));
    let all: Vec<Vec<&str>> = scripts.filter(is_single).collect();
    let fits = |set: &[&str]| all.iter().all(|of| of.iter().any(|script| set.contains(script)));
    all.first().is_some_and(|first| {
        !first.iter().any(|script| fits(&[script])) && !TOGETHER.into_iter().any(fits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_are_written_together_are_no_mixture() {
        for host in [
            "example.com",
            "b\u{fc}cher.example",
            "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.com",
            "\u{65e5}\u{672c}\u{8a9e}\u{3067}\u{30ab}abc.jp",
            "\u{d55c}\u{ad6d}\u{6f22}kr.kr",
            "\u{4e2d}\u{3105}x",
            "\u{430}-1.\u{3b1}",
            "xn--80ak6aa92e.com",
            "\u{30fc}\u{30ab}",
            "xn--!",
            "1\u{661}",
            "caf\u{65}\u{301}",
        ] {
            assert!(!mixes_scripts(host.as_bytes()), "{host}");
        }
        for host in [
            "\u{430}pple.com",
            "xn--pple-43d.com",
            "XN--PPLE-43D.com",
            "p\u{3b1}ypal",
            "x.go\u{585}gle",
            "\u{430}\u{3b1}",
            "\u{4e2d}\u{430}",
            "\u{d55c}\u{304b}",
            "\u{3105}\u{304b}",
            "a\u{3002}\u{430}b",
        ] {
            assert!(mixes_scripts(host.as_bytes()), "{host}");
        }
        assert!(!mixes_scripts(b"\xD0\xB0p\xFF"));
    }
}
