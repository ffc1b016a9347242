//! The operations of `uniqurl::uri`: none panics, split parts join to the original, and encoded
//! text decodes to the original.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uniqurl::uri::{
    self, Uri, compose_query, dissect_query, extract, percent_decode, quote, remove_dot_segments,
    resolve, unquote,
};

fn made(make: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    make(&mut out);
    out
}

fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (text, more) = data.split_at(at);

    let mut whole = Vec::new();
    if Uri::split(text).recompose_raw(&mut whole).is_ok() {
        assert_eq!(whole, text, "a split URI recomposes to itself");
    }

    let flat = made(|out| remove_dot_segments(text, out));
    assert!(flat.len() <= text.len());
    assert_eq!(made(|out| remove_dot_segments(&flat, out)), flat, "dot segments go once");

    let quoted = made(|out| quote(text, more, out));
    let mut back = Vec::new();
    if unquote(&quoted, &mut back).is_ok() && !more.contains(&b'%') {
        assert_eq!(back, text, "what is quoted unquotes");
    }
    let mut decoded = Vec::new();
    if percent_decode(text, &mut decoded).is_ok() {
        assert!(decoded.len() <= text.len());
    }

    let mut target = Vec::new();
    if resolve(text, more, &mut target).is_ok() {
        assert!(Uri::split(&target).scheme.is_some(), "a target is absolute");
    }

    let pairs: Vec<_> = dissect_query(text).collect();
    let mut query = Vec::new();
    compose_query(pairs.iter().map(|(name, value)| (name, value.as_ref())), &mut query);

    for found in extract(data) {
        assert!(!found.uri.is_empty());
    }
    if let Some(charset) = uri::Charset::for_label(b"shift_jis") {
        let _ = uri::transcode(text, charset, uri::Charset::LATIN_1, &mut Vec::new());
    }
});
