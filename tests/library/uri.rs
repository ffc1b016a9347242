//! The operations of `uniqurl::uri`: the examples of the standards, and laws on hostile bytes.

use std::borrow::Cow;

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::oracle;
use crate::oracle::parts::{self, Piece};
use crate::tsv::{self, escape};
use uniqurl::uri::{
    self, Authority, Component, Error, ErrorKind, Uri, allowed_characters, compose_query,
    dissect_query, percent_decode, quote, remove_dot_segments, resolve, unquote,
};
use uniqurl::{Normalizer, Profile, Reject, RejectReason};

fn recomposed(uri: Uri<'_>) -> Result<Vec<u8>, Error> {
    into_buffer(|out| uri.recompose_raw(out))
}

fn encoded(uri: Uri<'_>) -> Result<Vec<u8>, Error> {
    into_buffer(|out| uri.recompose(out))
}

fn decoded(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    into_buffer(|out| percent_decode(bytes, out))
}

fn resolved(base: &[u8], reference: &[u8]) -> Result<Vec<u8>, Error> {
    into_buffer(|out| resolve(base, reference, out))
}

/// The bytes that `write` appended to a buffer that was not empty. On an error the buffer must stay
/// unchanged.
#[track_caller]
fn into_buffer(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<Vec<u8>, Error> {
    let mut out = b"kept".to_vec();
    let result = write(&mut out);
    assert!(out.starts_with(b"kept"));
    assert!(result.is_ok() || out == b"kept");
    result.map(|()| out.split_off(4))
}

fn host(host: &[u8]) -> Option<Authority<'_>> {
    Some(Authority { host, ..Authority::default() })
}

fn syntax(url: &[u8]) -> Result<Vec<u8>, Reject> {
    let mut out = Vec::new();
    match Normalizer::new(Profile::Syntax).append(url, &mut out) {
        Ok(()) => Ok(out),
        Err(reject) => Err(reject),
    }
}

#[test]
fn resolve_matches_the_vectors() {
    let rows = tsv::rows("resolve");
    let examples = rows.iter().filter(|row| is_example_of_5_4(row)).count();
    assert_eq!(examples, 42, "section 5.4 has 42 examples");
    for row in rows {
        let got = resolved(row.base.as_deref().unwrap(), &row.input);
        let expected = row.expected.clone().unwrap();
        assert_eq!(got.as_deref().map(escape), Ok(escape(&expected)), "{}", row.place);
    }
}

/// The examples share a base that no other row uses.
fn is_example_of_5_4(row: &tsv::Row) -> bool {
    row.base.as_deref() == Some(b"http://a/b/c/d;p?q")
}

#[test]
fn relative_base_is_rejected() {
    for base in [&b"/b/c/d"[..], b"//h/a", b"", b"?a:b", b":a"] {
        let error = resolved(base, b"g").unwrap_err();
        assert_eq!(error, Error { at: 0, kind: ErrorKind::RelativeBase });
    }
}

#[test]
fn resolved_reference_agrees_with_the_oracle() {
    for_each_case(2, |rng| {
        let base = generator::url(rng, Temper::Wild);
        let reference = generator::any(rng);
        let base_parts = parts::split(&Piece::whole(&base));
        let mut expected = parts::split(&Piece::whole(&reference));
        let Ok(target) = resolved(&base, &reference) else {
            assert!(base_parts.scheme.is_none());
            return;
        };
        if expected.scheme.is_some() {
            expected.path.bytes = oracle::dots::remove_dot_segments(&expected.path.bytes);
        } else {
            expected = parts::resolve(&expected, &base_parts);
        }
        if expected.authority.is_none() && expected.path.bytes.starts_with(b"//") {
            expected.path.bytes.splice(..0, *b"/.");
        }
        let bytes = |piece: &Option<Piece>| piece.as_ref().map(|piece| piece.bytes.clone());
        let got = parts::split(&Piece::whole(&target));
        let context = format!("{} on {}", escape(&reference), escape(&base));
        assert_eq!(bytes(&got.scheme), bytes(&expected.scheme), "{context}");
        assert_eq!(bytes(&got.authority), bytes(&expected.authority), "{context}");
        assert_eq!(escape(&got.path.bytes), escape(&expected.path.bytes), "{context}");
        assert_eq!(bytes(&got.query), bytes(&expected.query), "{context}");
        assert_eq!(bytes(&got.fragment), bytes(&expected.fragment), "{context}");
    });
}

#[test]
fn remove_dot_segments_agrees_with_the_oracle() {
    let pieces = ["/", ".", "..", "a", "//"];
    for n in 0..pieces.len().pow(6) {
        let path: String = (0..6).map(|i| pieces[n / pieces.len().pow(i) % pieces.len()]).collect();
        let mut out = b"k/".to_vec();
        remove_dot_segments(path.as_bytes(), &mut out);
        assert_eq!(out[2..], oracle::dots::remove_dot_segments(path.as_bytes()), "{path}");
        assert!(out.starts_with(b"k/"));
    }
}

#[test]
fn split_distinguishes_absent_and_empty_components() {
    let uri = Uri::split(b"x://@:?#");
    let authority = Authority { userinfo: Some(b""), host: b"", port: Some(b"") };
    assert_eq!(uri.authority, Some(authority));
    assert_eq!((uri.path, uri.query, uri.fragment), (&b""[..], Some(&b""[..]), Some(&b""[..])));
    assert_eq!(Uri::split(b"").authority, None);
    assert_eq!(Uri::split(b""), Uri::default());
}

#[test]
fn authority_splits_at_the_last_at_sign_and_after_the_bracket() {
    for (authority, userinfo, host, port) in [
        ("a@b@h:1", Some("a@b"), "h", Some("1")),
        ("u:p@[::1]:80", Some("u:p"), "[::1]", Some("80")),
        ("[::1]", None, "[::1]", None),
        ("h:1:2", None, "h", Some("1:2")),
        ("[::1", None, "[::1", None),
        ("[::1]x:80", None, "[::1]x", Some("80")),
        // Nothing is decoded.
        ("%6C%6Fcal%23host", None, "%6C%6Fcal%23host", None),
    ] {
        let bytes = |part: Option<&'static str>| part.map(str::as_bytes);
        let (userinfo, port) = (bytes(userinfo), bytes(port));
        let expected = Authority { userinfo, host: host.as_bytes(), port };
        assert_eq!(Authority::split(authority.as_bytes()), expected, "{authority}");
    }
}

#[test]
fn split_then_recompose_is_the_identity() {
    for_each_case(1, |rng| {
        let url = generator::any(rng);
        let uri = Uri::split(&url);
        assert_eq!(recomposed(uri).as_deref().map(escape), Ok(escape(&url)));
    });
}

/// Components of up to four URLs, combined.
fn patchwork(sources: &[Vec<u8>; 4], rng: &mut Rng) -> [Option<Vec<u8>>; 7] {
    let [a, b, c, d] = sources.each_ref().map(|source| Uri::split(source));
    let own = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    let authority = b.authority.unwrap_or_default();
    let mut parts = [
        own(a.scheme),
        own(authority.userinfo),
        own(b.authority.map(|authority| authority.host)),
        own(authority.port),
        own(Some(c.path)),
        own(d.query),
        own(d.fragment),
    ];
    // Often enough a component holds text that belongs in another.
    if rng.one_in(3) {
        let at = rng.below(parts.len());
        parts[at] = Some(generator::any(rng));
    }
    parts
}

fn uri(parts: &[Option<Vec<u8>>; 7]) -> Uri<'_> {
    let [scheme, userinfo, host, port, path, query, fragment] =
        parts.each_ref().map(|part| part.as_deref());
    Uri {
        scheme,
        authority: host.map(|host| Authority { userinfo, host, port }),
        path: path.unwrap_or_default(),
        query,
        fragment,
    }
}

#[test]
fn recomposed_uri_reads_back_or_is_an_error() {
    for_each_case(1, |rng| {
        let sources = [0; 4].map(|_| generator::any(rng));
        let parts = patchwork(&sources, rng);
        let made = uri(&parts);
        let plain = plainly(&made);
        match recomposed(made) {
            Ok(out) => {
                let mut back = Uri::split(&out);
                if let Some(path) = unguarded(&made, back.path) {
                    back.path = path;
                }
                assert_eq!(back, made, "{}", escape(&out));
                assert!(out == plain || Uri::split(&plain) != made, "a guard without need");
            }
            Err(error) => {
                assert_ne!(Uri::split(&plain), made, "{error}: {}", escape(&plain));
            }
        }
    });
}

/// Section 5.3 without checks of its result.
fn plainly(uri: &Uri<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut push = |before: &[u8], bytes: &[u8], after: &[u8]| {
        out.extend([before, bytes, after].concat());
    };
    uri.scheme.inspect(|scheme| push(b"", scheme, b":"));
    if let Some(authority) = uri.authority {
        push(b"//", b"", b"");
        authority.userinfo.inspect(|userinfo| push(b"", userinfo, b"@"));
        push(b"", authority.host, b"");
        authority.port.inspect(|port| push(b":", port, b""));
    }
    push(b"", uri.path, b"");
    uri.query.inspect(|query| push(b"?", query, b""));
    uri.fragment.inspect(|fragment| push(b"#", fragment, b""));
    out
}

/// The path without the dot segment that a guard put before it.
fn unguarded<'a>(made: &Uri<'_>, path: &'a [u8]) -> Option<&'a [u8]> {
    if made.path == path {
        return None;
    }
    path.strip_prefix(b"/.").or(path.strip_prefix(b"./"))
}

#[test]
fn recompose_with_encoding_follows_the_grammar() {
    for_each_case(1, |rng| {
        let sources = [0; 4].map(|_| generator::any(rng));
        let mut parts = patchwork(&sources, rng);
        parts[0].get_or_insert(b"x".to_vec());
        let Ok(out) = encoded(uri(&parts)) else { return };
        assert!(syntax(&out).is_ok(), "{}: {:?}", escape(&out), syntax(&out));
        assert_eq!(encoded(Uri::split(&out)), Ok(out));
    });
}

#[test]
fn recomposed_path_never_becomes_a_host_or_scheme() {
    for (scheme, path, expected) in [
        (None, "//h/a", "/.//h/a"),
        (None, "c:d", "./c:d"),
        (None, ":d", ":d"),
        (None, "/c:d", "/c:d"),
        (None, "", ""),
        (Some(&b"x"[..]), "//h/a", "x:/.//h/a"),
        (Some(b"x"), "c:d", "x:c:d"),
    ] {
        let uri = Uri { scheme, path: path.as_bytes(), ..Uri::default() };
        assert_eq!(recomposed(uri).as_deref(), Ok(expected.as_bytes()), "{uri:?}");
    }
    // `path-noscheme` has no colon anywhere in its first segment.
    assert_eq!(encoded(Uri { path: b":d", ..Uri::default() }).as_deref(), Ok(&b"./:d"[..]));
}

#[test]
fn error_for_an_ambiguous_component_has_its_position() {
    use Component::{Host, Path, Port, Query, Scheme, Userinfo};
    let base = Uri { authority: host(b"h"), ..Uri::default() };
    let part = Authority { host: b"h", ..Authority::default() };
    let of = |authority| Uri { authority: Some(authority), ..base };
    let ends = |at, component| Err(Error { at, kind: ErrorKind::Delimiter(component) });
    for (uri, expected) in [
        (Uri { scheme: Some(b"a:b"), ..base }, ends(1, Scheme)),
        (Uri { scheme: Some(b""), ..base }, Err(Error { at: 0, kind: ErrorKind::EmptyScheme })),
        (of(Authority { userinfo: Some(b"u/"), ..part }), ends(1, Userinfo)),
        (of(Authority { host: b"a@b", ..part }), ends(1, Host)),
        (of(Authority { host: b"ab:1", ..part }), ends(2, Host)),
        (of(Authority { host: b"[::1", port: Some(b"1"), ..part }), ends(0, Host)),
        (of(Authority { port: Some(b"8#"), ..part }), ends(1, Port)),
        (Uri { path: b"/a?", ..base }, ends(2, Path)),
        (Uri { path: b"a", ..base }, Err(Error { at: 0, kind: ErrorKind::RootlessPath })),
        (Uri { query: Some(b"a?#"), ..base }, ends(2, Query)),
        (Uri { fragment: Some(b"#?/"), ..base }, Ok(b"//h##?/".to_vec())),
    ] {
        assert_eq!(recomposed(uri), expected, "{uri:?}");
    }
    for (uri, at, component) in [
        (Uri { scheme: Some(b"1a"), ..base }, 0, Scheme),
        (Uri { scheme: Some(b"a b"), ..base }, 1, Scheme),
        (of(Authority { port: Some(b"8a"), ..part }), 1, Port),
    ] {
        assert_eq!(encoded(uri), Err(Error { at, kind: ErrorKind::Byte(component) }), "{uri:?}");
    }
}

#[test]
fn quote_then_unquote_is_the_identity_for_any_safe_set() {
    for_each_case(2, |rng| {
        let data = generator::any(rng);
        let safe = if rng.one_in(2) { generator::any(rng) } else { (0..=255).collect() };
        let mut quoted = Vec::new();
        quote(&data, &safe, &mut quoted);
        assert!(quoted.is_ascii());
        let back = into_buffer(|out| unquote(&quoted, out));
        assert_eq!(back.as_deref(), Ok(&data[..]), "{}", escape(&quoted));
    });
}

#[test]
fn quoted_data_is_valid_in_its_component() {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let all: Vec<u8> = (0..=255).collect();
    for component in Component::ALL {
        let allowed = allowed_characters(component);
        let mut quoted = Vec::new();
        quote(&all, allowed, &mut quoted);
        for byte in 0..=255u8 {
            let stays = allowed.contains(&byte) || is_unreserved(byte);
            let triplet = format!("%{byte:02X}").into_bytes();
            let there = quoted.windows(3).any(|window| window == triplet);
            assert_eq!(there, !stays, "{byte:#x} in the {component}");
        }
    }
}

#[test]
fn decode_reads_each_triplet_once_and_locates_a_bad_one() {
    // The octets need not be UTF-8.
    for (bytes, octets) in [
        (&b"%2541%00%ff"[..], &b"%41\0\xFF"[..]),
        (b"local%23host", b"local#host"),
        (b"/%F6re%26bro%20", b"/\xF6re&bro "),
        (b"/%C3%B6re%26bro%20", b"/\xC3\xB6re&bro "),
    ] {
        assert_eq!(decoded(bytes).as_deref(), Ok(octets));
    }
    for (bytes, at) in [(&b"%"[..], 0), (b"a%4", 1), (b"%41%zz", 3), (b"%%41", 0), (b"%+1", 0)] {
        assert_eq!(decoded(bytes), Err(Error { at, kind: ErrorKind::Escape }), "{}", escape(bytes));
    }
}

#[test]
fn compose_then_dissect_query_is_the_identity() {
    for_each_case(2, |rng| {
        let pairs: Vec<(Vec<u8>, Option<Vec<u8>>)> = (0..rng.below(6))
            .map(|_| (some_bytes(rng), (!rng.one_in(3)).then(|| some_bytes(rng))))
            // The one pair that reads the same as none.
            .map(|(name, value)| (name.clone(), value.or(name.is_empty().then(Vec::new))))
            .collect();
        let mut query = Vec::new();
        compose_query(pairs.iter().map(|(name, value)| (name, value.as_ref())), &mut query);
        assert!(
            query.iter().all(|byte| byte.is_ascii_alphanumeric() || b"*-._+%&=".contains(byte))
        );
        let back: Vec<_> = dissect_query(&query)
            .map(|(name, value)| (name.into_owned(), value.map(Cow::into_owned)))
            .collect();
        assert_eq!(back, pairs, "{}", escape(&query));
    });
}

fn some_bytes(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = generator::any(rng);
    bytes.truncate(rng.below(20));
    bytes
}

#[test]
fn dissected_query_pairs_round_trip() {
    for_each_case(2, |rng| {
        let query = generator::any(rng);
        let pairs: Vec<_> = dissect_query(&query).collect();
        let mut again = Vec::new();
        compose_query(pairs.iter().cloned(), &mut again);
        let back: Vec<_> = dissect_query(&again).collect();
        assert_eq!(back, pairs, "{}", escape(&query));
    });
}

#[test]
fn form_decoding_follows_the_url_standard() {
    // Pairs between spaces, each with `|` before the value that it may have.
    for (query, pairs) in [
        ("", ""),
        ("&&", ""),
        ("=", "|"),
        ("a=b=c&a", "a|b=c a"),
        ("a;b=%zz+%2B%", "a;b|%zz\\x20+%"),
        ("%26=%3D", "&|="),
    ] {
        let shown = dissect_query(query.as_bytes()).map(|(name, value)| {
            let value = value.map(|value| format!("|{}", escape(&value)));
            (escape(&name) + &value.unwrap_or_default()).replace(' ', "\\x20")
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), pairs, "{query}");
    }
}

/// A quadratic step would make each of these take minutes.
#[test]
fn every_operation_takes_linear_time() {
    for piece in ["/..", "../", "/a", "/a/..", "./", "//", "@", "[", ":", "?", "#", "%2E", "&", "+"]
    {
        let long = piece.repeat(200_000).into_bytes();
        for base in [&b"x:"[..], b"x://h", b"x:a/b"] {
            let base = [base, &long].concat();
            let target = resolved(&base, &long).unwrap();
            assert!(target.len() <= base.len() + long.len() + 2);
        }
        assert_eq!(recomposed(Uri::split(&long)), Ok(long.clone()));
        let authority = Uri { authority: Some(Authority::split(&long)), ..Uri::default() };
        let _ = (recomposed(authority), encoded(authority));
        assert!(dissect_query(&long).count() <= long.len());
    }
}

mod guide {
    //! The examples of the guide to Erlang's `uri_string`, on bytes.

    use super::*;

    #[test]
    fn uri_with_invalid_characters_is_rejected_and_can_be_recomposed() {
        let reject = syntax("http://cities/örebro?foo bar".as_bytes()).unwrap_err();
        assert_eq!((reject.code, reject.at), (RejectReason::Byte, 14));
        let uri = Uri {
            scheme: Some(b"http"),
            authority: host(b"cities"),
            path: "/örebro".as_bytes(),
            query: Some(b"foo bar"),
            ..Uri::default()
        };
        let out = encoded(uri).unwrap();
        assert_eq!(escape(&out), "http://cities/%C3%B6rebro?foo%20bar");
        // "Applying parse and percent_decode on the URI returns the original input."
        let back = Uri::split(&out);
        assert_eq!(decoded(back.path).as_deref(), Ok("/örebro".as_bytes()));
        assert_eq!(decoded(back.query.unwrap()).as_deref(), Ok(&b"foo bar"[..]));
        assert_eq!((back.scheme, back.authority), (uri.scheme, uri.authority));
    }

    #[test]
    fn allowed_characters_agree_with_the_erlang_guide() {
        let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let listed = |punctuation: &str| {
            let mut all = [punctuation, alphanumeric].concat().into_bytes();
            all.sort_unstable();
            all
        };
        let rows = [
            (Component::Scheme, "+-."),
            (Component::Userinfo, "!$&'()*+,-.:;=_~"),
            // The guide's hosts have lost their brackets; here they belong to the host.
            (Component::Host, "!$&'()*+,-.:;=_~[]"),
            (Component::RegName, "!$&'()*+,-.;=_~"),
            (Component::Path, "!$&'()*+,-./:;=@_~"),
            (Component::Segment, "!$&'()*+,-.:;=@_~"),
            (Component::Query, "!$&'()*+,-./:;=?@_~"),
            (Component::Fragment, "!$&'()*+,-./:;=?@_~"),
        ];
        for (component, punctuation) in rows {
            assert_eq!(allowed_characters(component), listed(punctuation), "{component:?}");
        }
        assert_eq!(allowed_characters(Component::Ipv4Address), b".0123456789");
        assert_eq!(allowed_characters(Component::Ipv6Address), b".0123456789:ABCDEFabcdef");
        assert_eq!(allowed_characters(Component::Port), b"0123456789");
        assert_eq!(uri::RESERVED, b"!#$&'()*+,/:;=?@[]");
    }

    #[test]
    fn host_with_a_delimiter_is_encoded() {
        let uri = Uri { scheme: Some(b"https"), authority: host(b"local#host"), ..Uri::default() };
        assert_eq!(encoded(uri).as_deref().map(escape), Ok("https://local%23host".to_owned()));
        assert!(recomposed(uri).is_err());
    }
}
