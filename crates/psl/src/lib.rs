//! The Public Suffix List (<https://publicsuffix.org>): the names under which anyone can register a domain.
//!
//! The list ships as data, with its date, and each choice of its sections is read once, at its first use. Where no
//! rule matches, the rule `*` does: the last label is the suffix.
//!
//! A crate of its own, since the list has a licence of its own, the Mozilla Public License 2.0.

use std::collections::HashSet;
use std::sync::LazyLock;

use publicsuffix::{List, Psl};

const TEXT: &str = include_str!("../data/suffixes.txt");

/// Where the section of the private domains begins; that of ICANN's stands before it.
const PRIVATE: &str = "// ===BEGIN PRIVATE DOMAINS===";

static ALL: LazyLock<List> = LazyLock::new(|| TEXT.parse().expect("a test parses the list"));

static ICANN: LazyLock<List> = LazyLock::new(|| {
    let (icann, _) = TEXT.split_once(PRIVATE).expect("a test finds both sections");
    icann.parse().expect("a test parses the list")
});

/// The sections of the list whose rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sections {
    /// Both: `github.io` is a suffix.
    All,
    /// The suffixes that registries delegate, without those of companies: `github.io` is a domain under `io`.
    Icann,
}

/// The length of the public suffix of a name in lower case and Punycode, which has no empty label.
///
/// ```
/// use uniqurl_psl::{Sections, suffix_length};
///
/// assert_eq!(suffix_length(b"www.example.co.uk", Sections::All), "co.uk".len());
/// assert_eq!(suffix_length(b"a.github.io", Sections::All), "github.io".len());
/// assert_eq!(suffix_length(b"a.github.io", Sections::Icann), "io".len());
/// ```
pub fn suffix_length(name: &[u8], sections: Sections) -> usize {
    let list = match sections {
        Sections::All => &ALL,
        Sections::Icann => &ICANN,
    };
    // The list is a tree whose root has the top-level domains, so labels go in from the last one on.
    list.find(name.rsplit(|byte| *byte == b'.')).len
}

/// The top-level domains of the list.
static TOP_LEVEL: LazyLock<HashSet<&str>> =
    LazyLock::new(|| rules().filter(|rule| !rule.contains('.')).collect());

/// True for a top-level domain of the list, in small letters and in Unicode.
///
/// ```
/// assert!(uniqurl_psl::is_listed(b"uk") && !uniqurl_psl::is_listed(b"doe"));
/// ```
pub fn is_listed(domain: &[u8]) -> bool {
    std::str::from_utf8(domain).is_ok_and(|domain| TOP_LEVEL.contains(domain))
}

/// The date of the list, such as `2026-10-22`.
pub fn date() -> &'static str {
    let version = TEXT.lines().find_map(|line| line.strip_prefix("// VERSION: "));
    version.and_then(|version| version.get(..10)).unwrap_or_default()
}

/// The rules of the list, as it spells them.
pub fn rules() -> impl Iterator<Item = &'static str> {
    rules_of(TEXT)
}

/// The rules of the section for the suffixes of registries.
pub fn icann_rules() -> impl Iterator<Item = &'static str> {
    rules_of(TEXT.split_once(PRIVATE).map_or(TEXT, |(icann, _)| icann))
}

fn rules_of(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_a_date_and_rules_in_the_form_of_canonical_hosts() {
        let date = date();
        assert!(date.len() == 10 && date.starts_with("20"), "{date}");
        assert!(rules().count() > 10_000);
        let icann = icann_rules().count();
        assert!(icann > 6_000 && icann + 2_000 < rules().count());
        for rule in rules() {
            let name = rule.trim_start_matches('!').replace('*', "a");
            let (unicode, valid) = idna::domain_to_unicode(&name);
            assert!(valid.is_ok(), "{rule}");
            assert_eq!(idna::domain_to_ascii(&unicode).ok().as_ref(), Some(&name), "{rule}");
        }
        // `List` looks a label up before the wildcard, and would miss `*.a` for `b.a` if `c.b.a` were a rule.
        let all: HashSet<_> = rules().collect();
        for rule in rules().filter(|rule| !rule.starts_with(['!', '*'])) {
            for (dot, _) in rule.match_indices('.') {
                let (name, above) = (&rule[dot + 1..], rule[dot + 1..].split_once('.'));
                let is_hidden =
                    above.is_some_and(|(_, above)| all.contains(&*format!("*.{above}")));
                assert!(!is_hidden || all.contains(name), "{rule}");
            }
        }
    }
}
