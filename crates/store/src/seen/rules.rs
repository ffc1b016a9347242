//! The rules that the keys of a store were made by.

use serde::{Deserialize, Serialize};

use uniqurl::Normalizer;
use uniqurl::key::{Key, Template};
use uniqurl_text::Printable;

/// The rules of a store: all that decides about the key of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRules {
    /// Profile with version, and the choices beside it.
    rules: String,
    key: String,
    /// Fingerprint of all that decides about a URL, the lists included.
    fingerprint: String,
}

impl StoreRules {
    /// The rules of this normalizer and key.
    pub fn of(normalizer: &Normalizer, key: Key) -> Self {
        Self {
            rules: normalizer.description(),
            key: key.name().to_owned(),
            fingerprint: match (key, key.list_date()) {
                (Key::Template, _) => {
                    format!("{} templates@{}", normalizer.fingerprint(), Template::VERSION)
                }
                (_, Some(date)) => format!("{} {date}", normalizer.fingerprint()),
                (_, None) => normalizer.fingerprint(),
            },
        }
    }

    /// Profile with version, and the choices beside it, as in `crawl@1 with=strip-www`.
    pub fn description(&self) -> &str {
        &self.rules
    }

    /// The name of the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How a store of these rules differs from `other`, as a clause about "it". None: it does not.
    pub fn difference(&self, other: &Self, of_other: &str) -> Option<String> {
        let printable = |text: &str| Printable(text.as_bytes()).to_string();
        if self.key != other.key {
            let (own, other) = (printable(&self.key), printable(&other.key));
            return Some(format!("its key is {own}, and that of {of_other} is {other}"));
        }
        if self.rules != other.rules {
            let (own, other) = (printable(&self.rules), printable(&other.rules));
            return Some(format!("its rules are `{own}`, and those of {of_other} are `{other}`"));
        }
        (self.fingerprint != other.fingerprint).then(|| {
            format!(
                "its rules are called `{}`, as those of {of_other}, but their lists (redirects, \
                 hosts of a profile file, tracking parameters, public suffixes, types of templates) differ",
                printable(&self.rules)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::{Profile, Redirects, Switch};

    #[test]
    fn a_difference_between_rules_is_named() {
        let crawl = Normalizer::new(Profile::Crawl);
        let own = StoreRules::of(&crawl, Key::Url);
        assert_eq!(own.difference(&StoreRules::of(&crawl, Key::Url), "this run"), None);
        let difference = |normalizer: &Normalizer, key| {
            own.difference(&StoreRules::of(normalizer, key), "this run").expect("a difference")
        };
        assert_eq!(difference(&crawl, Key::Hash), "its key is url, and that of this run is hash");
        let switched = crawl.clone().with_switches([Switch::StripWww]).unwrap();
        assert_eq!(
            difference(&switched, Key::Url),
            "its rules are `crawl@1`, and those of this run are `crawl@1 with=strip-www`"
        );
        // Another list has another date, and makes other domains.
        let domains = StoreRules::of(&crawl, Key::Domain);
        let date = Key::Domain.list_date().expect("a list");
        let fingerprint = domains.fingerprint.replace(date, "2020-01-01");
        let older = StoreRules { fingerprint, ..domains.clone() };
        assert!(domains.difference(&older, "it").expect("a difference").contains("suffixes"));
        let templates = StoreRules::of(&crawl, Key::Template);
        let fingerprint = templates.fingerprint.replace("templates@1", "templates@0");
        let older = StoreRules { fingerprint, ..templates.clone() };
        assert!(templates.difference(&older, "it").expect("a difference").contains("types"));
        let redirects = Redirects::parse(b"http://a/\thttp://b/\n").unwrap();
        let one = StoreRules::of(&crawl.clone().with_redirects(&redirects).unwrap(), Key::Url);
        let redirects = Redirects::parse(b"http://a/\thttp://c/\n").unwrap();
        let other = StoreRules::of(&crawl.with_redirects(&redirects).unwrap(), Key::Url);
        assert!(one.difference(&other, "this run").expect("a difference").contains("redirects"));
    }
}
