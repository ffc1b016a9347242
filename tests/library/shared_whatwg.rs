//! The web platform tests of the URL Standard under `whatwg`. Each test says how many rows it passed.

use crate::shared::{examples, say};
use crate::subject::{Answer, Library, on_every_backend};
use serde_json::Value;
use uniqurl::UnsupportedOption;
use uniqurl::internal::Backend;

/// One row: an input and the URL a browser makes of it, or None where it fails.
struct Row {
    base: Option<String>,
    input: String,
    expected: Option<String>,
    note: String,
}

fn rows(suite: &str) -> Vec<Row> {
    examples(suite).iter().map(row).collect()
}

fn row(value: &Value) -> Row {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let (profile, note) = (text("profile").unwrap(), text("note").unwrap());
    // The note names a base with an opaque path.
    let base = profile.split_once(" base=").or_else(|| note.split_once("base="));
    assert_eq!(value["reject"] == true, text("expected").is_none());
    Row {
        base: base.map(|(_, base)| base.to_owned()),
        input: text("input").unwrap(),
        expected: text("expected"),
        note,
    }
}

/// Checks each row on every backend, and prints the number of rows checked.
fn hold(file: &str, rows: &[(Vec<u8>, &Row)], expected: impl Fn(&Row) -> Option<String>) {
    let mut wrong = Vec::new();
    for (input, row) in rows {
        for library in on_every_backend("whatwg") {
            let got = match &row.base {
                // If the base is rejected, so is every reference to it.
                Some(base) => match library.0.clone().with_base(base.as_bytes()) {
                    Ok(based) => Library(based).normalize(input),
                    Err(UnsupportedOption::Rejected(reject)) => {
                        Err((reject.code.name(), reject.at))
                    }
                    Err(error) => panic!("{error}"),
                },
                None => library.normalize(input),
            };
            let wanted = expected(row).map(String::into_bytes);
            if got.as_ref().ok() != wanted.as_ref() {
                wrong.push(format!("{:?} {:?}: {}", row.input, row.note, show(&got)));
            }
            is_a_fixed_point(&library, &got);
        }
    }
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
    say(&format!(
        "{file}: {} of {} rows passed on {} backends",
        rows.len(),
        rows.len(),
        Backend::available().len()
    ));
}

fn is_a_fixed_point(library: &Library, answer: &Answer) {
    if let Ok(url) = answer {
        assert_eq!(library.normalize(url).as_ref(), Ok(url), "idempotence");
    }
}

fn show(answer: &Answer) -> String {
    match answer {
        Ok(url) => String::from_utf8_lossy(url).into_owned(),
        Err((code, at)) => format!("!{code}@{at}"),
    }
}

#[test]
#[ignore = "needs ../shared"]
fn web_platform_url_tests_pass_with_and_without_a_base() {
    let rows = rows("wpt_url.jsonl");
    let (with, without): (Vec<_>, Vec<_>) = rows
        .iter()
        .map(|row| (row.input.clone().into_bytes(), row))
        .partition(|r| r.1.base.is_some());
    hold("wpt_url.jsonl without a base", &without, |row| row.expected.clone());
    hold("wpt_url.jsonl with a base", &with, |row| row.expected.clone());
}

/// A host as written in a URL: characters that would end it are triplets.
fn in_a_url(row: &Row) -> Vec<u8> {
    let mut url = String::from("https://");
    for c in row.input.chars() {
        match c {
            ':' | '/' | '?' | '#' | '\\' => url.push_str(&format!("%{:02X}", u32::from(c))),
            _ => url.push(c),
        }
    }
    (url + "/x").into_bytes()
}

#[test]
#[ignore = "needs ../shared"]
fn web_platform_to_ascii_tests_pass() {
    for file in ["wpt_idna.jsonl", "wpt_toascii.jsonl"] {
        let rows = rows(file);
        let mut named = Vec::new();
        for row in &rows {
            if row.input.is_empty() {
                // The algorithm by itself turns an empty host into an empty one; a URL needs a host
                // there.
                say(&format!("{file}: left out: the empty host"));
            } else {
                named.push((in_a_url(row), row));
            }
        }
        assert!(rows.len() - named.len() <= 1, "the empty host alone is left out");
        hold(file, &named, |row| Some(format!("https://{}/x", row.expected.as_ref()?)));
    }
}
