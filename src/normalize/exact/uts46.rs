//! UTS 46 ToASCII of a host: non-transitional, without checks of hyphens and lengths, by Unicode 17.
//!
//! The `idna` crate does the work, with two corrections here. First, the crate does not check one rule of
//! section 4.1. Second, its tables may follow a later Unicode, and then a version of a profile would return
//! other URLs than before; so code points that Unicode 17 has not assigned are rejected. One change remains:
//! the crate takes three Balinese marks for letters that read from left to right, and rejects them between
//! right-to-left letters.

use std::borrow::Cow;

use idna::punycode;
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::profile::unicode::is_assigned;

/// The ASCII form of a host with all its triplets decoded, if it has one.
pub(in crate::normalize) fn to_ascii(host: &[u8], denied: AsciiDenyList) -> Option<Cow<'_, str>> {
    if let Some(ascii) = of_plain_letters(host) {
        return Some(Cow::Owned(ascii));
    }
    of_unicode_17(host, |host| {
        Uts46::new().to_ascii(host, denied, Hyphens::Allow, DnsLength::Ignore).ok()
    })
}

/// The result of `to_ascii`, whose tables may be of any later Unicode, if it holds for Unicode 17 too.
fn of_unicode_17<'h>(
    host: &'h [u8],
    to_ascii: impl Fn(&'h [u8]) -> Option<Cow<'h, str>>,
) -> Option<Cow<'h, str>> {
    let ascii = to_ascii(host)?;
    let is_assigned = std::str::from_utf8(host).ok()?.chars().all(is_assigned);
    let is_valid = is_assigned && !(may_hold_punycode(host) && holds_bad_punycode(&ascii));
    is_valid.then_some(ascii)
}

/// Fast path: the ASCII form of a host of common letters, which no step of UTS 46 but the last one changes
/// or rejects.
fn of_plain_letters(host: &[u8]) -> Option<String> {
    let host = std::str::from_utf8(host).ok()?;
    let mut ascii = String::with_capacity(2 * host.len() + PREFIX.len());
    for (i, label) in host.split('.').enumerate() {
        // Longer labels are left to the crate, which rejects some of them.
        let is_prefixed = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
        if is_prefixed || label.len() > 63 || !label.chars().all(is_plain) {
            return None;
        }
        if i > 0 {
            ascii.push('.');
        }
        let at = ascii.len();
        if label.is_ascii() {
            ascii.push_str(label);
        } else {
            ascii.push_str(PREFIX);
            ascii.push_str(&punycode::encode_str(label)?);
        }
        ascii[at..].make_ascii_lowercase();
    }
    Some(ascii)
}

/// The prefix of Punycode (RFC 5890 section 2.3.2.1).
const PREFIX: &str = "xn--";

/// Letters, digits and the hyphen: all of ASCII, and others that are valid by UTS 46 unchanged, read from
/// left to right, and are never part of a composition (`NFC_Quick_Check=Yes`, `Canonical_Combining_Class=0`).
fn is_plain(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-'
        | 'ß'..='ö' | 'ø'..='ÿ'
        | 'ā' | 'ă' | 'ą' | 'ć' | 'č' | 'ď' | 'đ' | 'ē' | 'ė' | 'ę' | 'ě' | 'ğ' | 'ģ' | 'ī' | 'į' | 'ı'
        | 'ķ' | 'ļ' | 'ľ' | 'ł' | 'ń' | 'ņ' | 'ň' | 'ő' | 'œ' | 'ŕ' | 'ř' | 'ś' | 'ş' | 'š' | 'ţ' | 'ť'
        | 'ū' | 'ů' | 'ű' | 'ų' | 'ź' | 'ż' | 'ž' | 'ș' | 'ț'
        | 'ά'..='ώ'
        | 'а'..='џ'
        | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー'
        | '一'..='\u{9FEF}'
        | '가'..='힣')
}

/// Whether a label of a host may map to Punycode: below U+F000 only the hyphen itself maps to a hyphen.
fn may_hold_punycode(host: &[u8]) -> bool {
    host.iter().any(|byte| *byte == b'-' || *byte >= 0xEF)
}

/// Whether one of the labels decodes to an invalid label: to characters that Unicode 17 has not assigned,
/// or to Punycode again. "If not CheckHyphens, the label must not begin with “xn--”" (section 4.1).
fn holds_bad_punycode(ascii: &str) -> bool {
    ascii
        .split('.')
        .filter_map(|label| punycode::decode_to_string(label.strip_prefix(PREFIX)?))
        .any(|label| label.starts_with(PREFIX) || !label.chars().all(is_assigned))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ascii(host: &str) -> Option<String> {
        to_ascii(host.as_bytes(), AsciiDenyList::URL).map(Cow::into_owned)
    }

    #[test]
    fn host_with_an_unassigned_code_point_is_rejected() {
        for unassigned in [
            "\u{20C2}",          // a currency
            "b\u{FC}.\u{1FACC}", // an emoji
            "a\u{A7DD}",         // a capital of an older letter
            "\u{378}",           // unassigned before and after
            "xn--zg5d.\u{E9}",   // U+12550
            "\u{3D000}",
            "a.b\u{3E8AC}",
            "\u{3FC3F}.\u{E9}",
            "xn--t92s.\u{E9}",
        ] {
            assert_eq!(ascii(unassigned), None, "{unassigned:?}");
        }
        // The newest of Unicode 17: a currency, and the last ideograph.
        assert_eq!(ascii("\u{20C1}").as_deref(), Some("xn--6zg"));
        assert_eq!(ascii("\u{33479}").as_deref(), Some("xn--sm5o"));
        assert_eq!(ascii("b\u{FC}cher.\u{E9}").as_deref(), Some("xn--bcher-kva.xn--9ca"));
    }

    #[test]
    fn nested_punycode_is_rejected() {
        for host in ["xn--xn---epa.\u{FC}", "\u{FC}.XN--XN---epa", "xn--xn--a--gua\u{3002}pt"] {
            assert_eq!(ascii(host), None, "{host}");
        }
        // That of `xn-é` is one.
        assert_eq!(ascii("xn--xn--dma.\u{FC}").as_deref(), Some("xn--xn--dma.xn--tda"));
    }

    /// UTS 46 by a Unicode that has assigned every code point, as letters that map to themselves.
    fn by_a_later_unicode(host: &[u8]) -> Option<Cow<'_, str>> {
        let labels =
            std::str::from_utf8(host).ok()?.split('.').map(|label| match label.is_ascii() {
                true => Some(label.to_owned()),
                false => Some(format!("{PREFIX}{}", punycode::encode_str(label)?)),
            });
        Some(labels.collect::<Option<Vec<_>>>()?.join(".").into())
    }

    #[test]
    fn later_unicode_adds_no_host() {
        let step = if cfg!(miri) { 997 } else { 1 };
        for c in ('\u{80}'..='\u{10FFFF}').step_by(step) {
            let encoded = punycode::encode_str(&format!("b{c}")).unwrap();
            for host in [format!("a.b{c}"), format!("a.xn--{encoded}")] {
                let ascii = of_unicode_17(host.as_bytes(), by_a_later_unicode);
                assert_eq!(ascii.is_some(), is_assigned(c), "{c:?}");
            }
        }
    }

    #[test]
    fn nothing_but_hyphens_and_high_code_points_becomes_a_hyphen() {
        let step = if cfg!(miri) { 61 } else { 1 };
        for c in ('\0'..='\u{10FFFF}').step_by(step) {
            let host = format!("a{c}b");
            if may_hold_punycode(host.as_bytes()) {
                assert!(c == '-' || c >= '\u{F000}', "{c:?}");
                continue;
            }
            let (mapped, _) =
                Uts46::new().to_unicode(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow);
            assert!(!mapped.contains('-'), "{c:?} becomes {mapped:?}");
        }
    }

    /// The result of the crate, without the fast path for common letters.
    fn by_the_crate(host: &str) -> Option<String> {
        let ascii = Uts46::new().to_ascii(
            host.as_bytes(),
            AsciiDenyList::URL,
            Hyphens::Allow,
            DnsLength::Ignore,
        );
        ascii.ok().map(Cow::into_owned)
    }

    #[test]
    fn plain_letters_map_to_themselves_in_every_context() {
        let all = || ('\0'..='\u{10FFFF}').filter(|c| is_plain(*c));
        let step = if cfg!(miri) { 997 } else { 1 };
        for c in all().step_by(step) {
            assert!(is_assigned(c), "{c:?}");
            // After the letters that most compositions begin with, and before marks that are not plain.
            for host in [format!("{c}"), format!("a{c}"), format!("가{c}"), format!("か{c}b.{c}.C")]
            {
                let plain = of_plain_letters(host.as_bytes());
                assert!(plain.is_some(), "{host}");
                assert_eq!(plain, by_the_crate(&host), "{host}");
            }
        }
        assert!(all().count() > 32_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 4096 }))]
        #[test]
        fn fast_path_for_plain_hosts_agrees_with_the_idna_crate(
            host in "([a-cA-CxXnN0-9ß-ÿāőżά-ώа-џぁ-ヺー一-三가-갛.\u{300}\u{3002}\u{3099}א١É-]|xn--|xn--e1a){0,12}"
        ) {
            if let Some(ascii) = of_plain_letters(host.as_bytes()) {
                prop_assert_eq!(Some(ascii), by_the_crate(&host));
            }
        }
    }
}
