//! A hash that distinguishes two sets of rules with the same description: it covers the content of lists.

use sha2::{Digest, Sha256};

use crate::normalize::normalizer::Normalizer;
use crate::normalize::ruleset::Ruleset;
use crate::profile::Switch;
use crate::profile::glob::Case;

impl Normalizer {
    /// The first 16 bytes, in hexadecimal digits, of the SHA-256 of everything that affects the canonical
    /// form of a URL with a scheme: the [`description`](Normalizer::description), and the content of the
    /// lists that it only counts. A base and an assumed scheme are left out: they affect only relative
    /// references, and no canonical URL is one. The time is linear in the number of redirects.
    #[doc(hidden)]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        self.rules.add_to(&self.description(), &mut hash);
        for (from, to) in self.redirects.iter().flat_map(|ends| ends.sorted()) {
            add(from, &mut hash);
            add(to, &mut hash);
        }
        for (pattern, site) in self.hosts.iter().flat_map(|hosts| hosts.sorted()) {
            hash.update(b"host");
            add(&pattern, &mut hash);
            site.rules.add_to(&site.rules.description(None), &mut hash);
            // In the order in which they are tried, which decides between two that both match.
            for path in &site.paths {
                hash.update(if path.case == Case::Exact { b"path" } else { b"PATH" });
                add(path.glob.as_bytes(), &mut hash);
                path.rules.add_to(&path.rules.description(None), &mut hash);
            }
        }
        let digest = hash.finalize();
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Ruleset {
    fn add_to(&self, description: &str, hash: &mut Sha256) {
        add(description.as_bytes(), hash);
        let heuristics = &self.heuristics;
        // The list of tracking parameters grows with time, so it is hashed only if it is used.
        let strips = self.profile.switches.contains(Switch::StripTracking);
        let tracking = strips.then_some(&heuristics.tracking);
        let lists = heuristics.dropped.iter().chain(&heuristics.kept).chain(tracking);
        for globs in lists {
            add(&(globs.patterns().len() as u64).to_le_bytes(), hash);
            globs.patterns().for_each(|pattern| add(pattern, hash));
        }
    }
}

fn add(text: &[u8], hash: &mut Sha256) {
    // Each text goes in after its length, or `a`, `bc` and `ab`, `c` would hash alike.
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::normalize::Normalizer;
    use crate::normalize::Redirects;
    use crate::profile::{Profile, Switch};

    fn redirected(list: &str) -> Normalizer {
        let redirects = Redirects::parse(list.as_bytes()).unwrap();
        Normalizer::new(Profile::Crawl).with_redirects(&redirects).unwrap()
    }

    #[test]
    fn different_rules_have_different_fingerprints() {
        let crawl = || Normalizer::new(Profile::Crawl);
        let mut rules: Vec<_> =
            Profile::ALL.iter().map(|profile| Normalizer::new(*profile)).collect();
        rules.push(crawl().with_switches([Switch::StripWww]).unwrap());
        rules.push(crawl().with_dropped_parameters(["a"]).unwrap());
        rules.push(crawl().with_dropped_parameters(["b"]).unwrap());
        rules.push(crawl().with_dropped_parameters(["a", "b"]).unwrap());
        rules.push(crawl().with_dropped_parameters(["a,b"]).unwrap());
        rules.push(crawl().with_dropped_parameters(["a keep-param=b"]).unwrap());
        let dropped = crawl().with_dropped_parameters(["a"]).unwrap();
        rules.push(dropped.with_kept_parameters(["b"]).unwrap());
        rules.push(redirected("http://a/\thttp://b/\n"));
        rules.push(redirected("http://a/\thttp://c/\n"));
        let prints: HashSet<_> = rules.iter().map(Normalizer::fingerprint).collect();
        assert_eq!(prints.len(), rules.len());
    }

    #[test]
    fn list_order_and_base_do_not_change_the_fingerprint() {
        let one = redirected("http://a/\thttp://b/\nhttp://c/\thttp://d/\n");
        let other = redirected("http://c/\thttp://d/\nhttp://a/\thttp://b/\n");
        assert_eq!(one.fingerprint(), other.fingerprint());
        let crawl = Normalizer::new(Profile::Crawl);
        let dropping =
            |globs: &[&str]| crawl.clone().with_dropped_parameters(globs).unwrap().fingerprint();
        assert_eq!(dropping(&["ref", "utm_*"]), dropping(&["utm_*", "ref", "utm_*"]));
        let based = crawl.clone().with_base(b"http://h/").unwrap();
        assert_eq!(based.fingerprint(), crawl.fingerprint());
    }

    /// The description only counts them.
    #[cfg(feature = "profile-file")]
    #[test]
    fn every_tracking_parameter_changes_the_fingerprint() {
        let print = |list: &str| {
            let text = format!(
                "name = \"own\"\nversion = 1\nbase = \"aggressive\"\nparameters.tracking = {list}"
            );
            Normalizer::from_profile_file(&text).unwrap().fingerprint()
        };
        let prints = [r#"["a,b", "c"]"#, r#"["a", "b,c"]"#, r#"["a", "b"]"#].map(print);
        assert_eq!(HashSet::from(prints).len(), 3);
    }

    #[cfg(feature = "profile-file")]
    #[test]
    fn rule_of_one_host_or_path_changes_the_fingerprint() {
        let print = |rules: &str| {
            let text = format!("name = 'own'\nversion = 1\nbase = 'crawl'\n[host.h]\n{rules}");
            Normalizer::from_profile_file(&text).unwrap().fingerprint()
        };
        let path = |rules: &str| format!("[[host.h.path]]\n{rules}");
        let rules = [
            String::new(),
            "switches.strip-www = true".into(),
            "switches.lower-path = true".into(),
            "parameters.drop = ['a']".into(),
            "parameters = { drop = ['a'], ignore-case = true }".into(),
            path("glob = '/a'"),
            path("glob = '/b'"),
            path("glob = '/a'\nignore-case = true"),
            path("glob = '/a'\nparameters.drop = ['a']"),
        ];
        let prints: HashSet<_> = rules.iter().map(|rules| print(rules)).collect();
        assert_eq!(prints.len(), rules.len());
        assert_eq!(print(&rules[1]), print(&rules[1]));
    }
}
