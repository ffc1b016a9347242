//! URLs whose triplets are in another charset: the promises of `--transcode`.

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::oracle::grammar::is_triplet;
use crate::rows;
use crate::subject::{Answer, answer, in_bulk, outcome};
use crate::tsv::escape;
use encoding_rs::{DecoderResult, Encoding};
use uniqurl::internal::Backend;
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, Profile, Reject, RejectReason, Switch, UnsupportedOption};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "/", "/", "a", "N", "n", "5", "%41", "%F6", "%f6", "%E9", "%C3%B6", "%c3", "%83", "%83n", "%83%40", "@", "%83N", "%83%6E",
    "%FF", "%80", "%81", "%a4%40", "%FA%4E", "%FAn", "%8A%30", "%81%308%830", "%E3%83%B3", "%F0%9F%98%80", "%2F", "%2f", "%3A",
    ":", "&", "=", "?", "#", ".", "..", "-", "~", "%7E", "%7e", "%", "%zz", "%25", "%25F6", "\u{f6}", "|", "%7C", "[", "%5B", "'",
    ";", "\\", "%5c", " ",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "http://h/", "http://h/", "/", "", "http://b%FCcher.example/", "http://%83N:80/", "mailto:%83N@%FAN.", "x:", "x://%F6@h/", "//",
    "http://u%FF@H/", " ",
];

fn url(rng: &mut Rng) -> Vec<u8> {
    if rng.one_in(5) {
        return generator::url(rng, Temper::Wild);
    }
    let mut url: Vec<u8> = rng.pick(FRONTS).into();
    for _ in 0..rng.below(9) {
        url.extend_from_slice(rng.pick(WORDS).as_bytes());
        if rng.one_in(20) {
            url.push(rng.byte() | 0x80);
        }
    }
    url
}

const LABELS: [&str; 9] =
    ["latin1", "shift_jis", "big5", "gb18030", "gbk", "euc-jp", "euc-kr", "koi8-r", "utf-8"];

fn charset(rng: &mut Rng) -> Charset {
    Charset::for_label(rng.pick(&LABELS).as_bytes()).unwrap()
}

fn profiles() -> impl Iterator<Item = &'static Profile> {
    Profile::ALL.iter().filter(|profile| !["string", "ia", "whatwg"].contains(&profile.name()))
}

fn ask(call: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>) -> Answer {
    answer(outcome(call))
}

#[test]
fn transcoding_is_idempotent() {
    for profile in profiles() {
        for_each_case(4, |rng| {
            let mut normalizer = Normalizer::new(*profile);
            if rng.one_in(2) {
                normalizer = normalizer.with_allowed(profile.checks().iter()).unwrap();
            }
            if profile.switchable().contains(Switch::LowerPath) {
                let on = Switch::ALL.iter().filter(|_| rng.one_in(3)).copied();
                let on = on.filter(|switch| profile.switchable().contains(*switch));
                normalizer = normalizer.with_switches(on.collect::<Vec<_>>()).unwrap();
                let kept = [Switch::KeepFragment, Switch::KeepUserinfo];
                let off = kept.into_iter().filter(|_| rng.one_in(2));
                normalizer = normalizer.without_switches(off.collect::<Vec<_>>()).unwrap();
            }
            let mut normalizer = normalizer.with_charset(charset(rng)).unwrap();
            if rng.one_in(3) {
                let bases = ["http://b/%83n", "x:%83N/", "mailto:a"];
                normalizer = normalizer
                    .with_base(rng.pick(&bases).as_bytes())
                    .unwrap_or_else(|_| Normalizer::new(*profile));
            }
            if rng.one_in(4) {
                normalizer = normalizer.with_assumed_scheme(b"http").unwrap();
            }
            let url = url(rng);
            let context = || format!("{}: {}", normalizer.description(), escape(&url));
            for target in [false, true] {
                let normalize = |url: &[u8]| match target {
                    false => ask(|out| normalizer.append(url, out)),
                    true => ask(|out| normalizer.for_targets().append(url, out)),
                };
                match normalize(&url) {
                    Ok(once) => {
                        let twice = normalize(&once).map(|twice| escape(&twice));
                        assert_eq!(twice, Ok(escape(&once)), "{}", context());
                    }
                    Err((_, at)) => assert!(at <= url.len(), "{}", context()),
                }
            }
        });
    }
}

/// A second implementation, for path and query: each run of octets that is no UTF-8 is decoded at once by
/// the decoder of the Encoding Standard. Without one it is ISO-8859-1: each octet is the code point of the
/// same number.
fn in_utf8(tail: &[u8], encoding: Option<&'static Encoding>) -> Vec<u8> {
    let mut units: Vec<(u8, &[u8])> = Vec::new();
    let mut rest = tail;
    while !rest.is_empty() {
        let (unit, behind) = rest.split_at(if is_triplet(rest, 0) { 3 } else { 1 });
        let octet = std::str::from_utf8(&unit[1..]).ok();
        units.push((
            octet.and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(unit[0]),
            unit,
        ));
        rest = behind;
    }
    let is_end = |unit: &(u8, &[u8])| matches!(unit.0, 0..=0x2F | 0x3A..=0x3F) || unit.1 == b"@";
    let spelled = units.chunk_by(|a, b| !is_end(a) && !is_end(b)).flat_map(|run| {
        let octets: Vec<u8> = run.iter().map(|unit| unit.0).collect();
        let text = match encoding {
            None => Some(octets.iter().map(|octet| char::from(*octet)).collect::<String>()),
            Some(encoding) => {
                let (mut text, mut decoder) =
                    (vec![0; 4 * octets.len() + 16], encoding.new_decoder_without_bom_handling());
                let (end, _, written) =
                    decoder.decode_to_utf8_without_replacement(&octets, &mut text, true);
                text.truncate(written);
                (end == DecoderResult::InputEmpty).then(|| String::from_utf8(text).unwrap())
            }
        };
        match text.filter(|_| std::str::from_utf8(&octets).is_err()) {
            // `crawl` decodes what is unreserved, and encodes all other bytes that a run may hold.
            Some(text) => {
                text.bytes().flat_map(|byte| format!("%{byte:02X}").into_bytes()).collect()
            }
            None => run.iter().map(|unit| unit.1).collect::<Vec<_>>().concat(),
        }
    });
    spelled.collect()
}

#[test]
fn runs_of_octets_are_read_as_the_encoding_standard_decodes_them() {
    for_each_case(1, |rng| {
        let label = rng.pick(&LABELS);
        let encoding = Encoding::for_label(label.as_bytes()).filter(|_| !rng.one_in(8));
        let charset =
            encoding.map_or(Charset::LATIN_1, |_| Charset::for_label(label.as_bytes()).unwrap());
        let tail: Vec<u8> = (0..rng.below(9)).flat_map(|_| rng.pick(WORDS).bytes()).collect();
        let crawl = Normalizer::new(Profile::Crawl);
        let read = crawl.clone().with_charset(charset).unwrap();
        let url = |tail: &[u8]| [b"http://h/", tail].concat();
        let got = ask(|out| read.append(&url(&tail), out)).map(|url| escape(&url));
        let expected = ask(|out| crawl.append(&url(&in_utf8(&tail, encoding)), out));
        assert_eq!(got, expected.map(|url| escape(&url)), "{} {}", charset.name(), escape(&tail));
    });
}

#[test]
fn utf8_and_ascii_are_unchanged_by_a_charset() {
    for profile in profiles() {
        let plain = Normalizer::new(*profile);
        let latin_1 = plain.clone().with_charset(Charset::LATIN_1).unwrap();
        for_each_case(4, |rng| {
            let url = url(rng);
            let is_octet = |at: usize| {
                matches!(url.get(at + 1), Some(b'8'..=b'9' | b'A'..=b'F' | b'a'..=b'f'))
            };
            let triplets = (0..url.len()).any(|at| url[at] == b'%' && is_octet(at));
            if url.is_ascii() && !triplets {
                let (a, b) =
                    (ask(|out| plain.append(&url, out)), ask(|out| latin_1.append(&url, out)));
                assert_eq!(a, b, "{}", escape(&url));
                assert_eq!(plain.is_clean(&url), latin_1.is_clean(&url), "{}", escape(&url));
            }
        });
        let clean = b"http://h/%C3%B6";
        assert_eq!(plain.is_clean(clean), latin_1.is_clean(clean), "{}", profile.name());
    }
}

#[test]
fn every_entry_point_applies_the_charset() {
    let urls = ["http://h/%F6", "http://h/%C3%B6", "http://h/a", "http://h/%F6 x", "http://h/%F6%"];
    let bulk = urls.map(|url| url.as_bytes().to_vec());
    for backend in Backend::available() {
        let scheme = Normalizer::new(Profile::Scheme).with_backend(backend);
        let normalizer = scheme.with_charset(Charset::LATIN_1).unwrap();
        let batch: Vec<Answer> = in_bulk(&normalizer, &bulk).into_iter().map(answer).collect();
        let alone = urls.map(|url| ask(|out| normalizer.append(url.as_bytes(), out)));
        assert_eq!(batch, alone);
        let umlaut = Ok(b"http://h/%C3%B6".to_vec());
        let plain = Ok(b"http://h/a".to_vec());
        // The offsets are those in the URL as given.
        assert_eq!(alone, [umlaut.clone(), umlaut, plain, Err(("byte", 12)), Err(("escape", 12))]);
    }
}

#[test]
fn urls_in_a_charset_match_the_rows() {
    rows::check("charsets.txt");
}

#[test]
fn unsupported_profiles_reject_a_charset() {
    for profile in [Profile::String, Profile::Ia, Profile::Whatwg] {
        let refused = Normalizer::new(profile).with_charset(Charset::LATIN_1).unwrap_err();
        assert_eq!(refused, UnsupportedOption::Charset(profile));
    }
    let servlet = Normalizer::new(Profile::Servlet).with_charset(Charset::LATIN_1).unwrap();
    let mut out = Vec::new();
    assert_eq!(servlet.decoded(b"/%F6;x", &mut out), Ok(()));
    assert_eq!(out, "/\u{f6}".as_bytes());
    let Err(reject) = servlet.append(b"/%F6/%2F", &mut out) else { panic!() };
    assert_eq!((reject.code, reject.at), (RejectReason::EncodedSlash, 5));
}

/// Each run once copied all bytes before it, which took minutes. Nothing is timed.
#[test]
fn undecodable_runs_take_linear_time() {
    const LENGTH: usize = if cfg!(target_arch = "x86_64") { 4 << 20 } else { 1 << 18 };
    let shift_jis = Charset::for_label(b"shift_jis").unwrap();
    let crawl = Normalizer::new(Profile::Crawl).with_charset(shift_jis).unwrap();
    let url = format!("http://h.example/{}", "%F6-".repeat(LENGTH / 4));
    let mut out = Vec::new();
    assert_eq!(crawl.append(url.as_bytes(), &mut out), Ok(()));
    assert!(out == url.into_bytes());
}
