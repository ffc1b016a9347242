//! Published examples for the operations of `uniqurl::uri`.

use crate::shared;
use serde_json::Value;
use uniqurl::uri::{Error, ErrorKind, percent_decode, remove_dot_segments, resolve};

/// The rows of one suite; empty if it is missing.
fn rows(suite: &str) -> Vec<Value> {
    shared::examples(suite).unwrap_or_default()
}

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
fn rfc_3986_references_resolve() {
    let rows = rows("rfc3986.jsonl");
    let ran = resolves(&rows, "rfc3986-resolve base=");
    assert!(rows.is_empty() || ran == 42, "{ran} rows");
}

#[test]
fn erlang_references_resolve() {
    let rows = rows("otp_uri_string.jsonl");
    let ran = resolves(&rows, "otp-resolve base=");
    assert!(rows.is_empty() || ran == 47, "{ran} rows");
}

/// The paths alone, also those that Erlang's `normalize` takes for URIs.
#[test]
fn dot_segments_of_published_paths_are_removed() {
    let mut ran = 0;
    let all = [rows("rfc3986.jsonl"), rows("otp_uri_string.jsonl")].concat();
    for row in &all {
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
    assert!(all.is_empty() || ran >= 4, "{ran} rows");
}

#[test]
fn triplets_of_the_erlang_guide_decode_and_transcode() {
    let mut ran = 0;
    let rows = rows("seed_equivalences.jsonl");
    for row in &rows {
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
    assert!(rows.is_empty() || ran > 0);
}
