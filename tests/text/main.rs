//! Masked text shows no part of a password, whatever bytes the password holds.

#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

use std::path::Path;

use proptest::prelude::*;
use uniqurl_test_support::cases::of_properties;
use uniqurl_text::{Printable, UrlExcerpt, redact, redact_query, redact_record};

/// Appends a text without its secrets.
type Masker = fn(&[u8], &mut Vec<u8>);

/// Every masked form of a text.
fn masked(text: &str) -> Vec<String> {
    let writers: [Masker; 3] = [redact, redact_query, redact_record];
    let written = writers.map(|write| {
        let mut out = Vec::new();
        write(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    });
    let printed =
        [UrlExcerpt(text.as_bytes()).to_string(), Printable::path(Path::new(text)).to_string()];
    written.into_iter().chain(printed).collect()
}

/// Delimiters and letters in any order.
fn mixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "?", "#", "/", "//", "\\", ":", "@", "%40", "&", "=", "[", "]", "\n"
        ])
        .prop_map(str::to_owned),
        "[0-9]{1,4}",
        "[a-z]{1,3}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// A second implementation of `redact` for what follows `http://`, by docs/filters.md: "all between `//` and
/// the last `@` or `%40` of a URL goes", and the values of queries and the fragment.
fn redacted(rest: &str) -> String {
    let mark = rest.find(['?', '#']).unwrap_or(rest.len());
    let at = rest.rfind('@').max(rest.rfind("%40"));
    let authority = rest.split(['/', '?', '#']).next().unwrap();
    let address = authority.starts_with('[').then(|| authority.split_once(']')).flatten();
    let port = address.map_or(authority, |(_, port)| port).split_once(':').map(|(_, port)| port);
    let is_digits = |port: &str| port.chars().all(|c| c.is_ascii_digit());
    // Without `@`, text in place of a port may be a password. With one behind the mark, that may end it.
    if at.map_or(!port.is_none_or(is_digits), |at| at > mark) {
        return "***".into();
    }
    let hide = |secret: &str| if secret.is_empty() { "" } else { "***" };
    let (query, fragment) = rest[mark..].split_once('#').unwrap_or((&rest[mark..], ""));
    let mut out = at.map_or("", |_| "***").to_owned() + &rest[at.unwrap_or(0)..mark];
    if let Some(query) = query.strip_prefix('?') {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if !name.contains(['/', '\\', '?', '\n']) => format!("{name}=***"),
            _ => hide(pair).to_owned(),
        });
        out += &format!("?{}", pairs.collect::<Vec<_>>().join("&"));
    }
    if rest[mark..].contains('#') { out + "#" + hide(fragment) } else { out }
}

proptest! {
    #![proptest_config(of_properties())]

    #[test]
    fn redact_agrees_with_its_oracle(first in mixed(), query in mixed()) {
        let rest = format!("{first}{query}");
        let rest = rest.trim_start_matches(['/', '\\']);
        let mut out = Vec::new();
        redact(format!("http://{rest}").as_bytes(), &mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), format!("http://{}", redacted(rest)));
    }

    #[test]
    fn nothing_between_slashes_and_the_last_at_sign_is_shown(
        before in prop::sample::select(vec!["", "http:", "ftp:", "1x:", "/p", "/p?u=http:", "a b:", "?x=y&"]),
        first in mixed(),
        // Digits read like a port.
        secret in prop::sample::select(vec!["SECRET", "20247777"]),
        last in mixed(),
        at in prop::sample::select(vec!["@", "%40"]),
        after in mixed(),
    ) {
        prop_assume!(!first.contains(secret) && !last.contains(secret) && !after.contains(secret));
        let text = format!("{before}//{first}{secret}{last}{at}{after}");
        for shown in masked(&text) {
            prop_assert!(!shown.contains(secret), "{text:?} is shown as {shown:?}");
        }
    }
}
