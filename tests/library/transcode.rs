//! Triplets from one charset to another.

use crate::cases::for_each_case;
use crate::generator;
use crate::tsv::escape;
use uniqurl::uri::{Charset, Error, ErrorKind, transcode};

fn transcoded(encoded: &[u8], from: Charset, to: Charset) -> Result<String, Error> {
    let mut out = b"kept".to_vec();
    let result = transcode(encoded, from, to, &mut out);
    assert!(result.is_ok() || out == b"kept");
    result.map(|()| escape(out.strip_prefix(b"kept").unwrap()))
}

fn charset(label: &str) -> Charset {
    Charset::for_label(label.as_bytes()).unwrap()
}

#[test]
fn multibyte_character_may_hold_ascii_octets() {
    let shift_jis = charset("shift_jis");
    // KATAKANA LETTER HA is 0x83 0x6E, and 0x6E is `n`.
    for spelling in [&b"a%83n/%82%A0"[..], b"a%83%6E/%82%a0", b"a\x83n/\x82\xA0"] {
        let utf8 = transcoded(spelling, shift_jis, Charset::UTF_8);
        assert_eq!(utf8.as_deref(), Ok("a%E3%83%8F/%E3%81%82"));
    }
    let back = transcoded(b"a%E3%83%8F/%E3%81%82", Charset::UTF_8, shift_jis);
    assert_eq!(back.as_deref(), Ok("a%83%6E/%82%A0"));
    // Two code points from one pair of octets.
    let big5 = transcoded(b"%88%62", charset("big5"), Charset::UTF_8);
    assert_eq!(big5.as_deref(), Ok("%C3%8A%CC%84"));
}

#[test]
fn transcoding_keeps_delimiters_and_encoded_delimiters_apart() {
    for from in [Charset::LATIN_1, Charset::UTF_8, charset("windows-1251"), charset("gbk")] {
        let same = transcoded(b"http://h/a%2fb/c?d=%26&%3D#%23", from, Charset::UTF_8);
        assert_eq!(same.as_deref(), Ok("http://h/a%2Fb/c?d=%26&%3D#%23"));
    }
}

#[test]
fn latin_1_differs_from_windows_1252() {
    let from = |charset| transcoded(b"%80%FF", charset, Charset::UTF_8);
    assert_eq!(from(Charset::LATIN_1).as_deref(), Ok("%C2%80%C3%BF"));
    assert_eq!(from(charset("latin1")).as_deref(), Ok("%E2%82%AC%C3%BF"));
    assert_eq!(charset("latin1").name(), "windows-1252");
    // The guide to Erlang's `uri_string`.
    let path = transcoded(b"/%F6re%26bro%20", Charset::LATIN_1, Charset::UTF_8);
    assert_eq!(path.as_deref(), Ok("/%C3%B6re%26bro%20"));
}

#[test]
fn error_for_a_malformed_character_has_its_offset() {
    let utf8 = |encoded: &'static [u8]| transcoded(encoded, Charset::UTF_8, Charset::LATIN_1);
    let error = |at, kind| Err(Error { at, kind });
    assert_eq!(utf8(b"a%C3%28"), error(1, ErrorKind::Malformed));
    assert_eq!(utf8(b"a%C3"), error(1, ErrorKind::Malformed));
    assert_eq!(utf8(b"a%C3/"), error(1, ErrorKind::Malformed));
    assert_eq!(utf8(b"a%FF"), error(1, ErrorKind::Malformed));
    assert_eq!(utf8(b"ab%E2%82%AC"), error(2, ErrorKind::Unmappable));
    assert_eq!(utf8(b"%C3%B6%4"), error(6, ErrorKind::Escape));
    assert_eq!(utf8(b"%C3%zz"), error(3, ErrorKind::Escape));
}

#[test]
fn single_byte_charsets_round_trip_through_utf8() {
    let single = ["windows-1250", "windows-1251", "koi8-r", "iso-8859-15", "macintosh"];
    let charsets = single.map(charset).into_iter().chain([Charset::LATIN_1]);
    for charset in charsets {
        for octet in 0..=255 {
            let triplet = format!("%{octet:02X}");
            let there = transcoded(triplet.as_bytes(), charset, Charset::UTF_8);
            let Ok(there) = there else { continue };
            let back = transcoded(there.as_bytes(), Charset::UTF_8, charset);
            assert_eq!(back, Ok(triplet), "{}", charset.name());
        }
    }
}

#[test]
fn transcoding_never_panics_on_any_bytes() {
    #[rustfmt::skip]
    let labels = [
        "utf-8", "latin1", "shift_jis", "gbk", "gb18030", "big5", "euc-jp", "euc-kr",
        "x-user-defined", "koi8-u",
    ];
    for_each_case(2, |rng| {
        let bytes = generator::any(rng);
        let from = charset(rng.pick(&labels));
        let to = charset(rng.pick(&labels));
        if let Ok(out) = transcoded(&bytes, from, to) {
            let again = transcoded(out.as_bytes(), to, Charset::UTF_8);
            assert!(again.is_ok(), "{} to {}: {out}", from.name(), to.name());
        }
    });
    assert!(
        ["utf-16", "utf-16be", "iso-2022-jp", "replacement", "nonsense"]
            .iter()
            .all(|label| Charset::for_label(label.as_bytes()).is_none())
    );
}

/// The library feeds its decoder octet by octet; here it gets both at once.
#[test]
fn every_pair_of_octets_decodes_as_in_the_encoding_standard() {
    for label in ["utf-8", "shift_jis", "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "koi8-r"] {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        for pair in 0..=u16::MAX {
            let octets = pair.to_be_bytes();
            let mut text = [0; 16];
            let (result, _, written) = encoding
                .new_decoder_without_bom_handling()
                .decode_to_utf8_without_replacement(&octets, &mut text, true);
            let expected = (result == encoding_rs::DecoderResult::InputEmpty)
                .then(|| text[..written].to_vec());
            let encoded = format!("%{:02X}%{:02x}", octets[0], octets[1]);
            let got = transcoded(encoded.as_bytes(), charset(label), Charset::UTF_8).ok();
            let got = got.map(|out| {
                let mut text = Vec::new();
                uniqurl::uri::percent_decode(out.as_bytes(), &mut text).unwrap();
                text
            });
            assert_eq!(got, expected, "{encoded} in {label}");
        }
    }
}
