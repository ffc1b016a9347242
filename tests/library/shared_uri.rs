//! Published examples for the operations of `uniqurl::uri`.

use crate::shared::examples;
use serde_json::Value;
use uniqurl::uri::{Error, ErrorKind, percent_decode, remove_dot_segments, resolve};

/// Runs the rows whose profile starts with `prefix`, and returns their number.
fn resolves(rows: &[Value], prefix: &str) -> usize {
    let mut ran = 0;
    for row in rows {
        let Some(base) = row["profile"].as_str().unwrap().strip_prefix(prefix) else { continue };
        let input = row["input"].as_str().unwrap();
        let mut target = Vec::new();
        let got = resolve(base.as_bytes(), input.as_bytes(), &mut target);
        match row["expected"].as_str() {
            Some(expected) => {
                assert_eq!(got, Ok(()), "{row}");
                assert_eq!(String::from_utf8_lossy(&target), expected, "{row}");
            }
            None => {
                let refused = Error { at: 0, kind: ErrorKind::RelativeBase };
                assert_eq!(got, Err(refused), "{row}");
            }
        }
        ran += 1;
    }
    ran
}

#[test]
#[ignore = "needs ../shared"]
fn rfc_3986_references_resolve() {
    assert_eq!(resolves(&examples("rfc3986.jsonl"), "rfc3986-resolve base="), 42);
}

#[test]
#[ignore = "needs ../shared"]
fn erlang_references_resolve() {
    assert_eq!(resolves(&examples("otp_uri_string.jsonl"), "otp-resolve base="), 47);
}

/// The paths alone, also those that Erlang's `normalize` takes for URIs.
#[test]
#[ignore = "needs ../shared"]
fn dot_segments_of_published_paths_are_removed() {
    let mut ran = 0;
    for row in &[examples("rfc3986.jsonl"), examples("otp_uri_string.jsonl")].concat() {
        let input = row["input"].as_str().unwrap();
        let path_alone = row["profile"] == "rfc3986-remove_dot_segments"
            || (row["profile"] == "otp-normalize" && !input.contains([':', '%']));
        if path_alone {
            let mut path = Vec::new();
            remove_dot_segments(input.as_bytes(), &mut path);
            assert_eq!(String::from_utf8_lossy(&path), row["expected"].as_str().unwrap(), "{row}");
            ran += 1;
        }
    }
    assert!(ran >= 4, "{ran} rows");
}

#[test]
#[ignore = "needs ../shared"]
fn triplets_of_the_erlang_guide_decode_and_transcode() {
    let mut ran = 0;
    for row in &examples("seed_equivalences.jsonl") {
        let input = row["input"].as_str().unwrap().as_bytes();
        let mut out = Vec::new();
        match row["profile"].as_str().unwrap() {
            "otp-percent_decode" => match (percent_decode(input, &mut out), &row["expected"]) {
                (Ok(()), Value::String(expected)) => {
                    assert_eq!(String::from_utf8_lossy(&out), *expected, "{row}");
                }
                // Refused there for not being UTF-8, which does not matter to bytes.
                (Ok(()), Value::Null) => assert!(std::str::from_utf8(&out).is_err(), "{row}"),
                other => panic!("{other:?}: {row}"),
            },
            #[cfg(feature = "transcode")]
            "otp-transcode in=latin1" => {
                use uniqurl::uri::{Charset, transcode};
                transcode(input, Charset::LATIN_1, Charset::UTF_8, &mut out).unwrap();
                assert_eq!(String::from_utf8_lossy(&out), row["expected"].as_str().unwrap());
            }
            _ => continue,
        }
        ran += 1;
    }
    assert!(ran > 0);
}
