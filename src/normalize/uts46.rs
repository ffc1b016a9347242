//! UTS 46 ToASCII of a host: non-transitional, without checks of hyphens and lengths, by Unicode 17.
//!
//! The `idna` crate does the work, with two corrections here. First, the crate does not check one rule of
//! section 4.1. Second, its tables may follow a later Unicode, and then a version of a profile would return
//! other URLs than before; so characters added later are rejected. One change remains: the crate takes
//! three Balinese marks for letters that read from left to right, and rejects them between right-to-left
//! letters.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use idna::punycode;
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// The ASCII form of a host with all its triplets decoded, if it has one.
pub(super) fn to_ascii(host: &[u8], denied: AsciiDenyList) -> Option<Cow<'_, str>> {
    if let Some(ascii) = of_plain_letters(host) {
        return Some(Cow::Owned(ascii));
    }
    let ascii = Uts46::new().to_ascii(host, denied, Hyphens::Allow, DnsLength::Ignore).ok()?;
    let text = std::str::from_utf8(host).ok()?;
    if text.chars().any(is_of_unicode_18) || may_hold_punycode(host) && holds_bad_punycode(&ascii) {
        return None;
    }
    Some(ascii)
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
        .filter_map(|label| punycode::decode_to_string(label.strip_prefix("xn--")?))
        .any(|label| label.starts_with("xn--") || label.chars().any(is_of_unicode_18))
}

fn is_of_unicode_18(c: char) -> bool {
    // Most of a host is ASCII.
    if c < *OF_UNICODE_18[0].start() {
        return false;
    }
    let at = OF_UNICODE_18.partition_point(|range| *range.end() < c);
    OF_UNICODE_18.get(at).is_some_and(|range| range.contains(&c))
}

/// Characters added by Unicode 18 that UTS 46 allows or maps since: those of `idna/IdnaMappingTable.txt` of
/// version 18.0.0 that are `disallowed` in 17.0.0.
#[rustfmt::skip]
const OF_UNICODE_18: [RangeInclusive<char>; 51] = [
    '\u{0558}'..='\u{0558}', '\u{058B}'..='\u{058C}', '\u{05C8}'..='\u{05C9}', '\u{0B53}'..='\u{0B54}',
    '\u{1ADE}'..='\u{1ADF}', '\u{1AEC}'..='\u{1AF0}', '\u{208F}'..='\u{208F}', '\u{209D}'..='\u{209F}',
    '\u{20C2}'..='\u{20C4}', '\u{2E60}'..='\u{2E63}', '\u{A7DD}'..='\u{A7DD}', '\u{A7E2}'..='\u{A7E2}',
    '\u{AB6C}'..='\u{AB6D}', '\u{107BB}'..='\u{107BF}', '\u{10EC9}'..='\u{10ECF}', '\u{10ED9}'..='\u{10EEE}',
    '\u{10EF0}'..='\u{10EF9}', '\u{11B0A}'..='\u{11B0A}', '\u{11DF0}'..='\u{11DF1}',
    '\u{1246F}'..='\u{1246F}', '\u{12475}'..='\u{1247F}', '\u{12550}'..='\u{12686}',
    '\u{18CD6}'..='\u{18CDA}', '\u{18D1F}'..='\u{18D20}', '\u{18E00}'..='\u{19191}',
    '\u{191A0}'..='\u{191D2}', '\u{1B123}'..='\u{1B128}', '\u{1B168}'..='\u{1B168}',
    '\u{1CED2}'..='\u{1CED4}', '\u{1CEDD}'..='\u{1CEDF}', '\u{1CEF1}'..='\u{1CEFD}',
    '\u{1D127}'..='\u{1D128}', '\u{1D1EB}'..='\u{1D1FF}', '\u{1D250}'..='\u{1D281}',
    '\u{1D6A6}'..='\u{1D6A6}', '\u{1DB00}'..='\u{1DB1C}', '\u{1DF1F}'..='\u{1DF24}',
    '\u{1DF2B}'..='\u{1DF81}', '\u{1DF90}'..='\u{1DF96}', '\u{1DFCD}'..='\u{1DFFF}',
    '\u{1F1AE}'..='\u{1F1AE}', '\u{1F6D9}'..='\u{1F6D9}', '\u{1F7DA}'..='\u{1F7DB}',
    '\u{1F7F1}'..='\u{1F7FF}', '\u{1FA8B}'..='\u{1FA8D}', '\u{1FACC}'..='\u{1FACC}',
    '\u{1FADD}'..='\u{1FADD}', '\u{1FAEB}'..='\u{1FAEB}', '\u{1FAF9}'..='\u{1FAFA}',
    '\u{2B81E}'..='\u{2B81E}', '\u{3D000}'..='\u{3FC3F}',
];

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

    #[test]
    fn code_point_ranges_ascend() {
        assert!(OF_UNICODE_18.iter().all(|range| range.start() <= range.end()));
        assert!(OF_UNICODE_18.windows(2).all(|pair| pair[0].end() < pair[1].start()));
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
            assert!(!is_of_unicode_18(c), "{c:?}");
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
