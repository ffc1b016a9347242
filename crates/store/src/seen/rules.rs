//! The rules that the keys of a store were made by.

use serde::{Deserialize, Serialize};

use super::error::SeenStoreProblem;
use uniqurl::Normalizer;
use uniqurl::key::{Key, Routes, Template};
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
    /// The rules of this normalizer and key, and of the routes by which templates are made.
    pub fn of(normalizer: &Normalizer, key: Key, routes: Option<&Routes>) -> Self {
        Self {
            rules: normalizer.description(),
            key: key.name().to_owned(),
            // The types of templates and the list of suffixes come with the program, and the
            // fingerprint of the normalizer covers neither.
            fingerprint: match (key, key.list_date()) {
                (Key::Template, _) => {
                    let routes = routes.map(|routes| format!(" routes={}", routes.fingerprint()));
                    let (rules, types) = (normalizer.fingerprint(), Template::VERSION);
                    format!("{rules} templates@{types}{}", routes.unwrap_or_default())
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

    /// How a store of these rules differs from those of a run, as a clause about "it". None: it does not.
    pub fn difference(&self, run: &Self) -> Option<SeenStoreProblem> {
        let printable = |text: &str| Printable(text.as_bytes()).to_string();
        if self.key != run.key {
            let (own, run) = (printable(&self.key), printable(&run.key));
            let text = format!("its key is {own}, and that of this run is {run}");
            return Some(SeenStoreProblem::OtherRules(text));
        }
        let rules = printable(&self.rules);
        if self.rules != run.rules {
            let run = printable(&run.rules);
            let text = format!("its rules are `{rules}`, and those of this run are `{run}`");
            return Some(SeenStoreProblem::OtherRules(text));
        }
        (self.fingerprint != run.fingerprint).then(|| {
            let lists = self.differing_lists(run);
            let text =
                format!("its rules are called `{rules}`, as those of this run, but {lists} differ");
            SeenStoreProblem::OtherLists(text)
        })
    }

    /// The lists by which rules of one name differ. A store has one hash of all that its normalizer counts, so
    /// several lists that the name tells of are all of them in question.
    fn differing_lists(&self, run: &Self) -> String {
        let [(own, own_of_key), (other, other_of_key)] = [self, run]
            .map(|rules| rules.fingerprint.split_once(' ').unwrap_or((&rules.fingerprint, "")));
        // Where the normalizers agree, only the list of the key is left to differ.
        if own == other {
            let name = if self.key == Key::Template.name() {
                "the types of templates or the routes"
            } else {
                "the public suffixes"
            };
            return format!("{name} ({} and {other_of_key})", Printable(own_of_key.as_bytes()));
        }
        let told = [
            (" hosts=", "the hosts of the profile file"),
            (" redirects=", "the redirects"),
            ("tracking", "the tracking parameters"),
        ];
        let told = told.into_iter().filter(|(word, _)| self.rules.contains(word));
        let told: Vec<_> = told.map(|(_, name)| name).collect();
        // Some profiles drop tracking parameters without a word of it in the description.
        if told.is_empty() { "the tracking parameters".into() } else { told.join(" or ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::{Profile, Redirects, Switch};

    #[test]
    fn a_difference_between_rules_is_named() {
        let crawl = Normalizer::new(Profile::Crawl);
        let rules = |normalizer: &Normalizer, key| StoreRules::of(normalizer, key, None);
        let told = |own: &StoreRules, run: &StoreRules| match own.difference(run) {
            Some(SeenStoreProblem::OtherRules(text)) => text,
            Some(SeenStoreProblem::OtherLists(text)) => {
                text.split_once("but ").expect("a clause about lists").1.to_owned()
            }
            other => panic!("{other:?}"),
        };
        let own = rules(&crawl, Key::Url);
        assert!(own.difference(&rules(&crawl, Key::Url)).is_none());
        assert_eq!(
            told(&own, &rules(&crawl, Key::Hash)),
            "its key is url, and that of this run is hash"
        );
        let switched = crawl.clone().with_switches([Switch::StripWww]).unwrap();
        assert_eq!(
            told(&own, &rules(&switched, Key::Url)),
            "its rules are `crawl@1`, and those of this run are `crawl@1 with=strip-www`"
        );
        // Another list has another date, and makes other domains.
        let date = Key::Domain.list_date().expect("a list");
        let older = |rules: &StoreRules, now: &str, then: &str| {
            let fingerprint = rules.fingerprint.replace(now, then);
            StoreRules { fingerprint, ..rules.clone() }
        };
        let domains = rules(&crawl, Key::Domain);
        assert_eq!(
            told(&older(&domains, date, "2020-01-01"), &domains),
            format!("the public suffixes (2020-01-01 and {date}) differ")
        );
        let templates = rules(&crawl, Key::Template);
        assert_eq!(
            told(&older(&templates, "templates@1", "templates@0"), &templates),
            "the types of templates or the routes (templates@0 and templates@1) differ"
        );
        let redirected = |normalizer: &Normalizer, list: &str| {
            let redirects = Redirects::parse(list.as_bytes()).unwrap();
            rules(&normalizer.clone().with_redirects(&redirects).unwrap(), Key::Url)
        };
        let tracked = crawl.clone().with_switches([Switch::StripTracking]).unwrap();
        for (normalizer, lists) in [
            (&crawl, "the redirects differ"),
            (&tracked, "the redirects or the tracking parameters differ"),
        ] {
            let [one, other] = ["http://a/\thttp://b/\n", "http://a/\thttp://c/\n"]
                .map(|list| redirected(normalizer, list));
            assert_eq!(told(&one, &other), lists);
        }
        let aggressive = rules(&Normalizer::new(Profile::Aggressive), Key::Url);
        let changed = StoreRules { fingerprint: "0".into(), ..aggressive.clone() };
        assert_eq!(told(&aggressive, &changed), "the tracking parameters differ");
    }
}
