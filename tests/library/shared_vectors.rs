//! Published examples, each under the profile it illustrates.

use crate::shared;
use crate::subject::{Answer, Library, on_every_backend};
use serde_json::Value;
use uniqurl::{Normalizer, Profile, RejectReason, RejectReasons, UnsupportedOption};

/// One published example.
struct Row {
    source: String,
    profile: String,
    input: Vec<u8>,
    /// None if the suite says that the input is refused.
    expected: Option<Vec<u8>>,
    reject: bool,
    note: String,
}

fn rows(suite: &str) -> Vec<Row> {
    shared::examples(suite).iter().map(row).collect()
}

fn row(value: &Value) -> Row {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let bytes = |name: &str| -> Option<Vec<u8>> {
        let field = value[name].as_str()?;
        if text("note").contains("enc=latin1") {
            return Some(field.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect());
        }
        Some(field.as_bytes().to_vec())
    };
    Row {
        source: text("source"),
        profile: text("profile"),
        input: bytes("input").unwrap(),
        expected: bytes("expected"),
        reject: value["reject"] == true,
        note: text("note"),
    }
}

impl Row {
    #[track_caller]
    fn holds(&self, library: &Library, got: &Answer) {
        let context = format!(
            "{} {:?} under {}: got {:?}, wanted {:?}",
            self.source,
            String::from_utf8_lossy(&self.input),
            library.name(),
            got.as_ref().map(|url| String::from_utf8_lossy(url)),
            self.expected.as_ref().map(|url| String::from_utf8_lossy(url)),
        );
        assert_eq!(got.as_ref().ok(), self.expected.as_ref(), "{context}");
    }

    /// "expected is a DIFFERENT URL", or another spelling of the same one.
    fn holds_as_a_pair(&self, merges: bool, profiles: &[&str]) {
        for profile in profiles {
            for library in on_every_backend(profile) {
                let left = library.normalize(&self.input);
                let right = library.normalize(self.expected.as_ref().unwrap());
                let context =
                    format!("{} under {}: {left:?} {right:?}", self.source, library.name());
                assert!(left.is_ok() && right.is_ok(), "{context}");
                assert_eq!(left == right, merges, "{context}");
            }
        }
    }

    fn is(&self, input: &str) -> bool {
        self.input == input.as_bytes()
    }
}

/// Section 5.2 with `syntax` applied afterwards, which changes none of these examples.
fn resolves(row: &Row, base: &str) {
    for library in on_every_backend("syntax") {
        let library = library.with_base(base.as_bytes());
        row.holds(&library, &library.normalize(&row.input));
    }
}

fn normalizes(row: &Row, profile: &str) {
    for library in on_every_backend(profile) {
        row.holds(&library, &library.normalize(&row.input));
    }
}

fn normalizes_as_target(row: &Row, profile: &str) {
    for library in on_every_backend(profile) {
        row.holds(&library, &library.normalize_target(&row.input));
    }
}

#[test]
#[ignore = "needs ../shared"]
fn rfc_3986_examples_hold() {
    for row in rows("rfc3986.jsonl") {
        match row.profile.as_str() {
            "rfc3986-syntax" => normalizes(&row, "syntax"),
            "rfc3986-scheme" | "rfc3986-scheme(mailto host case)" => normalizes(&row, "scheme"),
            "rfc3986-remove_dot_segments" if row.input.starts_with(b"/") => {
                normalizes_as_target(&row, "syntax");
            }
            "rfc3986-remove_dot_segments" => {
                // Only resolving removes the dots of a path without a leading slash.
                for library in on_every_backend("syntax") {
                    let got = library.with_base(b"x:").normalize(&row.input).unwrap();
                    assert_eq!(got, [b"x:", row.expected.as_deref().unwrap()].concat());
                }
            }
            // `crawl` is for retrieval, which section 6.1 exempts: the fragment is dropped there.
            "rfc3986 must-not-merge" if row.expected.as_ref().unwrap().ends_with(b"#") => {
                row.holds_as_a_pair(false, &["syntax", "scheme"]);
                row.holds_as_a_pair(true, &["crawl"]);
            }
            "rfc3986 must-not-merge" => row.holds_as_a_pair(false, &["syntax", "scheme", "crawl"]),
            other => match other.strip_prefix("rfc3986-resolve base=") {
                Some(base) => resolves(&row, base),
                None => panic!("what is {other}?"),
            },
        }
    }
}

#[test]
#[ignore = "needs ../shared"]
fn equivalent_urls_merge_and_different_urls_do_not() {
    for row in rows("seed_equivalences.jsonl") {
        match row.profile.as_str() {
            "must-merge" => row.holds_as_a_pair(true, &["syntax", "scheme", "crawl"]),
            "must-not-merge" => row.holds_as_a_pair(false, &["syntax", "scheme", "crawl"]),
            "otp-normalize" => normalizes(&row, "scheme"),
            "otp-parse" => normalizes(&row, "syntax"),
            // Not a task of the ladder.
            "otp-percent_decode" | "otp-transcode in=latin1" => {}
            other => panic!("what is {other}?"),
        }
    }
}

/// The results of Erlang's `uri_string`, or the right answer where it is known to be mistaken.
#[test]
#[ignore = "needs ../shared"]
fn erlang_examples_hold_except_known_erlang_bugs() {
    let rows = rows("otp_uri_string.jsonl");
    let mut faults_seen = 0;
    for row in &rows {
        if let Some((_, fault)) = FAULTS.iter().find(|(input, _)| normalizing(row) && row.is(input))
        {
            faults_seen += 1;
            for library in on_every_backend("scheme") {
                let got = library.normalize(&row.input);
                let right = fault.map(|url| url.as_bytes().to_vec());
                assert_eq!(got, right, "{}", String::from_utf8_lossy(&row.input));
            }
        } else if normalizing(row) && row.input.starts_with(b"/") && !row.input.starts_with(b"//") {
            // A path alone is a request target here, never a URL.
            normalizes_as_target(row, "scheme");
        } else if normalizing(row) {
            normalizes(row, "scheme");
        } else {
            let base = row.profile.strip_prefix("otp-resolve base=").expect(&row.profile);
            if row.expected.is_some() {
                resolves(row, base);
            } else {
                let syntax = Normalizer::new(Profile::Syntax);
                let refused = syntax.with_base(base.as_bytes()).unwrap_err();
                let relative = matches!(refused, UnsupportedOption::Rejected(reject) if reject.code == RejectReason::Relative);
                assert!(relative, "{base}");
            }
        }
    }
    assert_eq!(faults_seen, FAULTS.len(), "the list of faults is stale");
}

fn normalizing(row: &Row) -> bool {
    row.profile.starts_with("otp-normalize")
}

/// The canonical URL, or code and offset.
type Right = Result<&'static str, (&'static str, usize)>;

/// Inputs that `uri_string:normalize` answers wrongly, and the right answer.
const FAULTS: [(&str, Right); 2] = [
    // It normalizes references as if they were URLs; by section 6.1 they are resolved first.
    ("mid/content=5/../6", Err(("relative", 0))),
    // "a URI that uses the generic syntax for authority with an empty path should be normalized to
    // a path of "/"" (section 6.2.3); it does so for http and https alone.
    ("ftp://localhost:21", Ok("ftp://localhost/")),
];

/// Reasons of a container in the words of the table.
const REASONS: [(&str, RejectReason); 11] = [
    ("fragment", RejectReason::Fragment),
    ("decode error", RejectReason::Decode),
    ("must start with /", RejectReason::NoLeadingSlash),
    ("leading dot-dot-segment", RejectReason::LeadingDotDot),
    ("encoded /", RejectReason::EncodedSlash),
    ("dot segment with parameter", RejectReason::DotSegmentParameter),
    ("encoded dot segment", RejectReason::EncodedDotSegment),
    ("empty segment before dot dot", RejectReason::EmptySegmentBeforeDotDot),
    ("empty segment with parameters", RejectReason::EmptySegmentParameter),
    ("backslash character", RejectReason::Backslash),
    ("control character", RejectReason::Control),
];

#[test]
#[ignore = "needs ../shared"]
fn published_table_of_servlet_paths_holds() {
    for row in rows("servlet_canonical.jsonl") {
        let context = String::from_utf8_lossy(&row.input).into_owned();
        let codes: RejectReasons = row
            .note
            .split(" & ")
            .filter(|reason| !reason.is_empty())
            .map(|reason| {
                let known = REASONS.iter().find(|(words, _)| *words == reason);
                known.unwrap_or_else(|| panic!("{context}: what is {reason:?}?")).1
            })
            .collect();
        for Library(normalizer) in on_every_backend("servlet") {
            let mut out = Vec::new();
            // The table is of targets: a line without a slash is none.
            match normalizer.for_targets().append(&row.input, &mut out) {
                Ok(()) => assert!(!row.reject, "{context}"),
                Err(reject) => {
                    assert!(row.reject, "{context}");
                    assert_eq!(reject.codes, codes, "{context}");
                }
            }
            // The path the container would map if it accepted everything.
            let lenient = normalizer.with_allowed(Profile::Servlet.checks().iter()).unwrap();
            let mut decoded = Vec::new();
            assert_eq!(
                lenient.for_targets().decoded(&row.input, &mut decoded),
                Ok(()),
                "{context}"
            );
            assert_eq!(Some(&decoded), row.expected.as_ref(), "{context}");
        }
    }
}

#[test]
#[ignore = "needs ../shared"]
fn wikimedia_path_examples_hold() {
    for row in rows("wikimedia_path.jsonl") {
        let profile = if row.profile == "generic" { "ring" } else { &row.profile };
        normalizes(&row, profile);
        normalizes_as_target(&row, profile);
    }
}
