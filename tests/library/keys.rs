//! Keys and the profile `ia`: facts, laws, and the indexes of web archives that they match.

use std::collections::HashMap;

use crate::cases::{for_each_case, of_properties};
use crate::generator::archive::WORDS;
use crate::generator::{self, Temper};
use crate::shared::{examples, unpacked};
use crate::subject::{Library, on_best_backend, on_every_backend};
use crate::tsv;
use proptest::prelude::*;
use uniqurl::internal::Backend;
use uniqurl::{Key, Normalizer, Profile};

fn key(profile: &str, key: &str, url: &[u8]) -> Result<Vec<u8>, &'static str> {
    let profile = profile.parse::<Profile>().unwrap();
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    let normalizer = Normalizer::new(profile);
    // The rows of `ring` are targets, which may start with any byte.
    let url = match profile == Profile::Ring {
        true => normalizer.for_targets().canonical(url, &mut scratch),
        false => normalizer.canonical(url, &mut scratch),
    };
    let url = url.map_err(|reject| reject.code.name())?;
    key.parse::<Key>().unwrap_or_else(|_| panic!("no key {key}")).append(url, &mut out);
    Ok(out)
}

#[test]
fn keys_match_the_vectors() {
    let mut wrong = Vec::new();
    for (place, line) in tsv::lines("keys") {
        let fields: Vec<&str> = line.split('\t').collect();
        let [profile, input, name, expected, source] = fields[..] else {
            panic!("{place}: {} fields", fields.len());
        };
        assert!(!source.is_empty(), "{place}: a fact needs a source");
        let got = key(profile, name, &tsv::unescape(input, &place));
        if got != Ok(tsv::unescape(expected, &place)) {
            wrong.push(format!("{place}: {:?}", got.map(|key| tsv::escape(&key))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Laws 1 and 6, in the parts that apply to `ia`.
fn ia_keeps_its_laws(library: &Library, url: &[u8]) {
    let Ok(canonical) = library.normalize(url) else { return };
    let context = || format!("{}\n gave {}", tsv::escape(url), tsv::escape(&canonical));
    assert_eq!(
        library.normalize(&canonical).as_ref(),
        Ok(&canonical),
        "idempotence: {}",
        context()
    );
    assert!(canonical.iter().all(|byte| matches!(byte, 0x21..=0x7E)), "printable: {}", context());
    assert!(canonical.len() <= 5 * url.len() + 2, "length: {}", context());
    // The scanner's proof holds: the exact code agrees, on a URL that no scanner proves.
    if library.0.is_clean(url) {
        assert_eq!(canonical, url, "a clean URL is its own form: {}", context());
        let spaced = [b" ", url].concat();
        assert_eq!(library.normalize(&spaced).as_ref(), Ok(&canonical), "proof: {}", context());
    }
}

#[test]
fn ia_is_idempotent_and_printable() {
    for library in on_every_backend("ia") {
        for_each_case(2, |rng| ia_keeps_its_laws(&library, &generator::any(rng)));
        for row in tsv::rows("ia") {
            ia_keeps_its_laws(&library, &row.input);
        }
    }
}

#[test]
fn ia_targets_are_idempotent_and_never_gain_a_host() {
    for library in on_every_backend("ia") {
        for_each_case(2, |rng| {
            let target = generator::target(rng, Temper::Wild);
            let Ok(canonical) = library.normalize_target(&target) else { return };
            assert_eq!(library.normalize_target(&canonical).as_ref(), Ok(&canonical));
            assert!(canonical.starts_with(b"/") && !canonical.starts_with(b"//"));
        });
    }
}

#[test]
fn ia_decodes_in_linear_time() {
    let library = on_best_backend("ia");
    let url = format!("http://h/%{}41", "25".repeat(1 << 20));
    let sessions = "(abcdefghijklmnopqrstuvwx)/".repeat(1 << 16);
    let twins = format!(
        "http://h/?{}&",
        ["cfid=1&", "cftoken=2&"].map(|twin| twin.repeat(1 << 14)).concat()
    );
    for url in [
        url,
        twins,
        format!("http://{}h/", "http://".repeat(1 << 16)),
        format!("http://h/{sessions}a.aspx"),
        format!("http://h/{}", "a/../".repeat(1 << 18)),
    ] {
        assert!(library.normalize(url.as_bytes()).unwrap().len() < 30);
    }
}

proptest! {
    #![proptest_config(of_properties())]

    #[test]
    fn ia_keeps_its_laws_on_words_of_its_pieces(
        start in 0..3usize,
        words in prop::collection::vec(prop::sample::select(WORDS), 0..12),
    ) {
        let library = on_best_backend("ia");
        let url = ["http://h/", "https://www.a.b", ""][start].to_owned()
            + &words.concat();
        ia_keeps_its_laws(&library, url.as_bytes());
        let target = format!("/{url}");
        if let Ok(canonical) = library.normalize_target(target.as_bytes()) {
            prop_assert_eq!(library.normalize_target(&canonical), Ok(canonical));
        }
    }

    #[test]
    fn ssurt_is_injective(left in url_like(), right in url_like()) {
        for profile in Profile::ALL {
            let of = |url: &str| {
                let mut scratch = Vec::new();
                let normalizer = Normalizer::new(*profile);
                let url = normalizer.canonical(url.as_bytes(), &mut scratch).ok()?;
                let mut key = Vec::new();
                Key::Ssurt.append(url, &mut key);
                Some((url.as_bytes().to_vec(), key))
            };
            if let (Some((left, left_key)), Some((right, right_key))) = (of(&left), of(&right)) {
                prop_assert_eq!(left == right, left_key == right_key, "{}", profile.name());
            }
        }
    }
}

/// URLs so small that two of them are often almost equal.
fn url_like() -> impl Strategy<Value = String> {
    "(http|https|x|mailto)?:?(//)?([au,.%2C:@]{0,3}@)?[ab,.%2C:\\[\\]]{0,4}(:[80]{0,2})?[/?#a,:@]{0,4}"
}

#[test]
fn keys_are_functions_and_ssurts_are_injective() {
    for profile in Profile::ALL {
        let normalizer = Normalizer::new(*profile);
        let mut urls: HashMap<(Key, Vec<u8>), Vec<u8>> = HashMap::new();
        let mut keys: HashMap<(Key, Vec<u8>), Vec<u8>> = HashMap::new();
        for_each_case(4, |rng| {
            let url = generator::any(rng);
            let mut scratch = Vec::new();
            let Ok(url) = normalizer.canonical(&url, &mut scratch) else { return };
            for &key in Key::ALL {
                let mut bytes = Vec::new();
                key.append(url, &mut bytes);
                assert!(!bytes.contains(&b'\n'), "a key is one line");
                let canonical = url.as_bytes().to_vec();
                let first = keys.entry((key, canonical.clone())).or_insert_with(|| bytes.clone());
                assert_eq!(*first, bytes);
                if matches!(key, Key::Url | Key::Ssurt | Key::Hash) {
                    let first = urls.entry((key, bytes)).or_insert_with(|| canonical.clone());
                    assert_eq!(*first, canonical, "{key} under {}", profile.name());
                }
            }
        });
    }
}

#[test]
fn surts_sort_a_host_before_its_subdomains() {
    let hosts = [
        "http://example.com/",
        "http://example.com/z",
        "http://a.example.com/",
        "http://examplf.com/",
    ];
    let keys: Vec<_> =
        hosts.iter().map(|url| key("crawl", "surt", url.as_bytes()).unwrap()).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let keys: Vec<_> = ["http://a.b.c/", "ssh://b.c/", "http://b.c/"]
        .iter()
        .map(|url| key("crawl", "ssurt", url.as_bytes()).unwrap())
        .collect();
    // The hosts of a domain sort together: all their keys begin with `c,b,`.
    assert!(keys.iter().all(|key| key.starts_with(b"c,b,")), "{keys:?}");
}

// The indexes of web archives, which are not part of the project.

/// Key and URL of each line. A field is not always UTF-8.
fn cdx(text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let lines =
        text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b' ');
    lines
        .map(|line| {
            let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
            (fields[0].to_vec(), fields[2].to_vec())
        })
        .collect()
}

fn assert_keys(file: &str, rows: &[(Vec<u8>, Vec<u8>)], count: usize) {
    assert_eq!(rows.len(), count, "{file}");
    for backend in Backend::available() {
        let ia = Normalizer::new(Profile::Ia).with_backend(backend);
        for (expected, url) in rows {
            let (mut scratch, mut got) = (Vec::new(), Vec::new());
            let canonical =
                ia.canonical(url, &mut scratch).unwrap_or_else(|reject| panic!("{reject}"));
            Key::Surt.append(canonical, &mut got);
            assert_eq!(tsv::escape(&got), tsv::escape(expected), "{file}: {}", tsv::escape(url));
        }
    }
}

#[test]
#[ignore = "needs ../shared"]
fn ia_reproduces_the_keys_of_cdx_and_cdxj_files() {
    let row = |line: &str| {
        let mut fields = line.splitn(3, ' ');
        let key = fields.next().unwrap().into();
        let object: serde_json::Value = serde_json::from_str(fields.nth(1).unwrap()).unwrap();
        (key, object["url"].as_str().unwrap().into())
    };
    let cdxj = String::from_utf8(unpacked("iana.cdxj")).unwrap();
    assert_keys("iana.cdxj", &cdxj.lines().map(row).collect::<Vec<_>>(), 171);
    assert_keys("iana.cdx", &cdx(&unpacked("iana.cdx")), 171);
    assert_keys("sample.cdx.gz", &cdx(&unpacked("sample.cdx.gz")), 2144);
}

#[test]
#[ignore = "needs ../shared"]
fn ia_reproduces_published_surts() {
    let mut rows = 0;
    for row in &examples("surt.jsonl") {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        let (profile, input, expected) = (text("profile"), text("input"), text("expected"));
        match profile.as_str() {
            // Left out: an empty input has no key here.
            "surt" if input.is_empty() => continue,
            "surt" | "surt with_scheme=False" => {
                let got = key("ia", "surt", input.as_bytes()).unwrap();
                assert_eq!(tsv::escape(&got), expected, "{input}");
            }
            // The same rules under another form of key, with the scheme in front of the host.
            "surt with_scheme=True" => {
                let got = tsv::escape(&key("ia", "surt", input.as_bytes()).unwrap());
                let scheme = input.split(':').next().unwrap();
                let whole =
                    if got.starts_with(scheme) { got } else { format!("{scheme}://({got}") };
                assert_eq!(whole, expected, "{input}");
            }
            "surt with_scheme=True host_massage=False" => {
                let got = tsv::escape(&key("crawl", "surt", input.as_bytes()).unwrap());
                assert_eq!(format!("http://({got}"), expected);
            }
            // A host alone, whose address is not reversed in that form: as in a SSURT.
            "surt-hostToSURT reverse_ipaddr=False" if input != "990.991.992.993" => {
                let url = format!("x://{input}/");
                let got = tsv::escape(&key("crawl", "ssurt", url.as_bytes()).unwrap());
                let host = got.split("//").next().unwrap();
                assert_eq!(host.strip_suffix(',').unwrap_or(host), expected);
            }
            // Left out: it is not an IPv4 address by any standard, so its labels are reversed like
            // those of a name.
            "surt-hostToSURT reverse_ipaddr=False" => continue,
            other => panic!("what is {other}?"),
        }
        rows += 1;
    }
    assert_eq!(rows, 30, "of 32: all but the empty one and one that is no address");
}

/// The lists and logs of real URLs satisfy the laws as well.
#[test]
#[ignore = "needs ../shared"]
fn ia_keeps_its_laws_on_real_urls() {
    let text = unpacked("urls.txt.gz");
    let library = on_best_backend("ia");
    for url in text.split(|byte| *byte == b'\n').filter(|url| !url.is_empty()) {
        ia_keeps_its_laws(&library, url);
    }
}
