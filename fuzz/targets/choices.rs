//! Input that users write: profile files, rings, lists of redirects, names of formats. None panics,
//! and a name is read back as it was written. Under accepted rules every scanner gives the result
//! of the scalar one, a list in bulk gives the results of its lines one by one, and the result is a
//! fixed point. The first byte chooses which of them stands before the first NUL; URLs follow it,
//! one a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uniqurl::internal::Backend;
use uniqurl::{Canonical, Key, Normalizer, Profile, Redirects, Reject, Ring};
use uniqurl_formats::record::{Context, Format, Records};

/// The rules that this text describes, or None if it is refused.
fn rules(choice: u8, text: &[u8]) -> Option<Normalizer> {
    let words = || std::str::from_utf8(text).ok();
    match choice % 4 {
        0 => Normalizer::from_profile_file(words()?).ok(),
        1 => Normalizer::new(Profile::Ring).with_ring(Ring::parse(words()?).ok()?).ok(),
        _ => {
            let profile = Profile::ALL[usize::from(choice / 4) % Profile::ALL.len()];
            Normalizer::new(profile).with_redirects(&Redirects::parse(text).ok()?).ok()
        }
    }
}

fn read(format: &Format, list: &[u8]) {
    let name = format.name().into_owned();
    let again = Format::parse(&name).expect("it reads its own name");
    assert_eq!(again.name(), name);
    let (mut one, mut other) = (Records::default(), Records::default());
    format.read(&Context::default(), list, &mut one);
    again.read(&Context::default(), list, &mut other);
    assert_eq!(one.records.len(), other.records.len());
}

fn owned(url: Result<Canonical<'_>, Reject>) -> Result<Vec<u8>, Reject> {
    url.map(|url| url.as_bytes().to_vec())
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, list) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    if choice % 4 == 3 {
        let format = std::str::from_utf8(text).ok().and_then(|name| Format::parse(name).ok());
        return format.map_or((), |format| read(&format, list));
    }
    let Some(rules) = rules(choice, text) else { return };
    let scalar = rules.clone().with_backend(Backend::Scalar);
    let mut url = Vec::new();
    let of_lines: Vec<_> = list
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        })
        .map(|line| owned(scalar.canonical(line, &mut url)))
        .collect();
    for backend in Backend::available() {
        let rules = rules.clone().with_backend(backend);
        let mut at_once = Vec::new();
        let mut lines = rules.lines(list);
        while let Some(url) = lines.next() {
            at_once.push(owned(url));
        }
        assert_eq!(at_once, of_lines, "{}", backend.name());
    }
    for canonical in of_lines.iter().flatten() {
        let mut again = Vec::new();
        assert_eq!(scalar.append(canonical, &mut again), Ok(()));
        assert_eq!(again.escape_ascii().to_string(), canonical.escape_ascii().to_string());
        let url = scalar.canonical(canonical, &mut again).expect("it was so");
        for key in Key::ALL {
            let mut bytes = Vec::new();
            let made = key.of(url, &mut bytes).map(|key| key.as_bytes());
            assert!(made.is_none_or(|made| !made.contains(&b'\n')), "{key}");
        }
    }
});
