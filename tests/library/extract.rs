//! URIs in free text (RFC 3986 Appendix C), rule by rule, and laws on hostile text.

use std::borrow::Cow;

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::rows;
use crate::tsv::escape;
use uniqurl::uri::{FoundUri, Uri, extract};

fn found(text: impl AsRef<[u8]>) -> Vec<String> {
    extract(text.as_ref()).map(|found| escape(&found.uri)).collect()
}

#[test]
fn example_of_rfc_3986_appendix_c_is_extracted() {
    let text = "Yes, Jim, I found it under \"http://www.w3.org/Addressing/\",\n   \
                but you can probably pick it up from <ftp://foo.example.\n   \
                com/rfc/>.  Note the warning in <http://www.ics.uci.edu/pub/\n   \
                ietf/uri/historical.html#WARNING>.";
    let spans: Vec<&str> = extract(text.as_bytes()).map(|found| &text[found.span]).collect();
    assert_eq!(
        spans,
        [
            "http://www.w3.org/Addressing/",
            "ftp://foo.example.\n   com/rfc/",
            "http://www.ics.uci.edu/pub/\n   ietf/uri/historical.html#WARNING",
        ]
    );
    assert_eq!(
        found(text),
        [
            "http://www.w3.org/Addressing/",
            "ftp://foo.example.com/rfc/",
            "http://www.ics.uci.edu/pub/ietf/uri/historical.html#WARNING",
        ]
    );
}

#[test]
fn extracted_uris_match_the_rows() {
    for row in rows::blocks("extracted.txt").iter().flat_map(|block| &block.rows) {
        assert_eq!(found(row.bytes(0)), row.fields[1..], "{}", row.place);
    }
}

#[test]
fn bytes_that_are_not_utf8_stay_in_the_uri() {
    let leads: [&[u8]; 7] =
        [b"\xC2", b"\xE2\x80", b"\xE2\x81", b"\xE3\x80", b"\xEF\xBB", b"\xEF\xBC", b"\xEF\xBD"];
    for lead in leads {
        for behind in [&b""[..], b"ge", b"/", b"\xC3\xA4", b"\xFF"] {
            let uri = [b"http://a/", lead, behind].concat();
            assert_eq!(found(&uri), [escape(&uri)]);
        }
    }
}

#[test]
fn unicode_letters_belong_to_a_uri_and_unicode_punctuation_ends_it() {
    let path = |bytes: &str| format!("http://a/{}", escape(bytes.as_bytes()));
    for stays in ["\u{FC}", "\u{2013}", "\u{4E2D}", "\u{FF10}", "\u{FF76}", "\u{1F600}", "\u{3042}"]
    {
        assert_eq!(found(format!("http://a/{stays}b")), [path(&format!("{stays}b"))], "{stays}");
    }
    for ends in [
        "\u{85}", "\u{A0}", "\u{AB}", "\u{BB}", "\u{2003}", "\u{200B}", "\u{2018}", "\u{201D}",
        "\u{2026}", "\u{2028}", "\u{2060}", "\u{3000}", "\u{3002}", "\u{300D}", "\u{FEFF}",
        "\u{FF08}", "\u{FF09}", "\u{FF0C}", "\u{FF1F}", "\u{FF5D}", "\u{FF61}",
    ] {
        assert_eq!(found(format!("http://a/{ends}b")), ["http://a/"], "{ends:?}");
    }
    assert_eq!(found(b"http://a/\xE9b"), ["http://a/\\xE9b"]);
}

#[test]
fn delimited_uri_is_extracted_whole() {
    for_each_case(1, |rng| {
        let uri = generator::url(rng, Temper::Tame);
        if !is_found_anywhere(&uri) {
            return;
        }
        for (before, after) in [("<", ">"), ("<URL:", ">"), ("\"", "\""), ("< ", "\n>")] {
            let text = [before.as_bytes(), &uri, after.as_bytes()].concat();
            assert_eq!(found(&text), [escape(&uri)], "{}", escape(&text));
        }
        // Elsewhere only unmatched brackets and punctuation are left out.
        let text = [b"at ", &uri[..], b" or so"].concat();
        if let [one] = &found(&text)[..] {
            assert!(escape(&uri).starts_with(one), "{}", escape(&text));
        }
    });
}

/// Whether the URI is of a kind that `extract` looks for, with text after its `//`.
fn is_found_anywhere(uri: &[u8]) -> bool {
    let parts = Uri::split(uri);
    let scheme = parts.scheme.unwrap();
    let rest = &uri[(scheme.len() + 3).min(uri.len())..];
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-".contains(byte);
    parts.authority.is_some()
        && scheme.len() > 1
        && scheme[0].is_ascii_alphabetic()
        && scheme.iter().all(is_scheme)
        && !rest.is_empty()
}

#[test]
fn extracted_spans_are_ordered_and_match_the_text() {
    for_each_case(1, |rng| {
        let text = text(rng);
        let mut end = 0;
        for FoundUri { span, uri } in extract(&text) {
            let context = escape(&text);
            assert!(end <= span.start && span.start < span.end, "{context}");
            end = span.end;
            let raw = &text[span];
            let kept: Vec<u8> =
                raw.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            assert_eq!(escape(&uri), escape(&kept), "{context}");
            assert!(Uri::split(&uri).scheme.is_some_and(|scheme| scheme.len() > 1), "{context}");
            assert!(!uri.iter().any(|byte| b"<>\"".contains(byte) || byte.is_ascii_control()));
            assert_eq!(matches!(uri, Cow::Borrowed(_)), raw.len() == kept.len(), "{context}");
            // In brackets, an extracted URL is extracted again.
            let again = found([b"<URL:", raw, b">"].concat());
            assert_eq!(again, [escape(&kept)], "{context}");
        }
    });
}

/// Words, delimiters and URLs in a row.
fn text(rng: &mut Rng) -> Vec<u8> {
    let words = [
        "<", ">", "\"", " ", "\n", "\n\n", "URL:", "url: ", "http://", "(", ")", "[", "]", ".",
        ",", "and", "mailto:", "a.b", "://", ":", "-\n", "\u{3002}", "\0", "{", "}",
    ];
    let mut out = Vec::new();
    for _ in 0..rng.below(12) {
        match rng.below(6) {
            0 => out.extend(generator::url(rng, Temper::Tame)),
            1 => out.extend(generator::any(rng)),
            _ => out.extend_from_slice(rng.pick(&words).as_bytes()),
        }
    }
    out
}

/// A quadratic step would make each of these take minutes.
#[test]
fn extraction_takes_linear_time() {
    #[rustfmt::skip]
    let pieces = [
        "<", "<a://", "<ab://", "\"ab://", "<ab://(", "ab://", "ab:", "ab://.", "URL:", "URL: ",
        "<URL: ", "urn:", "<urn:", "<urn: ", ":", "a", " ", "(", "ab://(", "ab://)", "ab:///..",
        "\"urn:.", "a.http", "ab://\u{3002}", "http://a/'",
    ];
    for first in pieces {
        for second in pieces {
            let text = [first, second].concat().repeat(10_000);
            assert!(extract(text.as_bytes()).count() <= 20_000, "{first}{second}");
        }
        for (before, after) in [("<ab://", ""), ("\"ab://", "\""), ("<ab://", ">")] {
            let text = [before, &first.repeat(20_000), after].concat();
            assert!(extract(text.as_bytes()).count() <= 20_002, "{first}");
        }
    }
}
