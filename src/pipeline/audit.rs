//! Which rules made one URL of several: the counts of `--audit`.
//!
//! The different URLs of the input are kept as they were read. At the end the rules run on each of
//! them, one by one, and where two of a group are the same from one rule on, that rule has merged
//! them. [`Audit`] says exactly what is counted.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::sheet::Kind;
use crate::output::Audit;
use crate::room::{self, NoRoom};
use crate::spill::Entry;
use crate::url::{Normalizer, Rule};

/// What is counted of the rules that act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Auditing {
    /// Nothing.
    #[default]
    Off,
    /// How many URLs each rule changed. Costs a second, slower look at each URL that is changed.
    Rules,
    /// That, and how many merges each caused. Keeps every different URL of the input in memory.
    Merges,
}

/// The different URLs of the input that have a canonical form.
#[derive(Debug, Default)]
pub(super) struct Originals {
    urls: HashSet<Box<[u8]>>,
    targets: HashSet<Box<[u8]>>,
}

/// A URL on its way through the rules: what it became, and at which rule of which round.
type Trace = Vec<((usize, Rule), Vec<u8>)>;

/// A URL as it was read, and its way.
type Original = (Box<[u8]>, Trace);

impl Originals {
    pub(super) fn add(&mut self, url: &[u8], kind: Kind) -> Result<(), NoRoom> {
        let set = match kind {
            Kind::Url => &mut self.urls,
            Kind::Target => &mut self.targets,
        };
        if !set.contains(url) {
            let mut kept = Vec::new();
            room::reserve_exact(&mut kept, url.len())?;
            kept.extend_from_slice(url);
            set.try_reserve(1).map_err(|_| NoRoom)?;
            set.insert(kept.into());
        }
        Ok(())
    }

    /// All of them, for a run that goes on.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        [(Kind::Url, &self.urls), (Kind::Target, &self.targets)].into_iter().flat_map(
            |(kind, urls)| {
                urls.iter().map(move |key| Entry { ordinal: kind as u64, count: 0, key, line: &[] })
            },
        )
    }

    /// Adds one of these.
    pub(super) fn take(&mut self, entry: &Entry<'_>) -> Result<(), NoRoom> {
        let is_target = entry.ordinal == Kind::Target as u64;
        self.add(entry.key, if is_target { Kind::Target } else { Kind::Url })
    }

    /// Runs the rules on all of them and counts the merges.
    pub(super) fn audit(self, normalizer: &Normalizer) -> Audit {
        let mut groups: HashMap<Vec<u8>, Vec<Original>> = HashMap::new();
        let urls = self.urls.into_iter().map(|url| (normalizer.explain(&url), url));
        let targets = self.targets.into_iter().map(|url| (normalizer.explain_target(&url), url));
        for (steps, url) in urls.chain(targets) {
            let steps = steps.unwrap_or_default();
            let (mut round, mut before) = (0, None);
            let trace: Trace = steps
                .into_iter()
                .map(|step| {
                    // Switches act again where one makes work for another before it.
                    round += usize::from(before.is_some_and(|before| before >= step.rule));
                    before = Some(step.rule);
                    ((round, step.rule), step.after)
                })
                .collect();
            let canonical = trace.last().map_or(&url[..], |(_, text)| text).to_vec();
            groups.entry(canonical).or_default().push((url, trace));
        }
        let mut audit = Audit { by_rule: vec![0; Rule::ALL.len()], ..Audit::default() };
        for group in groups.values() {
            audit.originals += count_merges(group, &mut audit.by_rule);
            audit.canonical += 1;
        }
        audit
    }
}

/// Counts the merges in a group of URLs that have one canonical form, and says how many different ones
/// there are.
fn count_merges(group: &[Original], by_rule: &mut [u64]) -> u64 {
    if group.len() == 1 {
        return 1;
    }
    let originals: HashSet<&[u8]> = group.iter().map(|(url, _)| &**url).collect();
    let acting: BTreeSet<(usize, Rule)> =
        group.iter().flat_map(|(_, trace)| trace).map(|step| step.0).collect();
    let mut different = originals.len();
    for (round, rule) in acting {
        let texts: HashSet<&[u8]> =
            group.iter().map(|(url, trace)| after(url, trace, (round, rule))).collect();
        // More of them only where one URL came to a text rounds before another did.
        by_rule[rule as usize] += different.saturating_sub(texts.len()) as u64;
        different = different.min(texts.len());
    }
    originals.len() as u64
}

/// What a URL is when the rule of this round, and all before it, have acted.
fn after<'t>(url: &'t [u8], trace: &'t Trace, at: (usize, Rule)) -> &'t [u8] {
    let done = trace.iter().take_while(|(acted, _)| *acted <= at);
    done.last().map_or(url, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn audit(profile: &'static Profile, urls: &[&str]) -> (Audit, Vec<(&'static str, u64)>) {
        let mut originals = Originals::default();
        for url in urls {
            originals.add(url.as_bytes(), Kind::Url).unwrap();
        }
        let audit = originals.audit(&Normalizer::new(profile));
        let merges = audit.merges().map(|(rule, count)| (rule.name(), count)).collect();
        (audit, merges)
    }

    #[test]
    fn the_first_rule_after_which_two_are_equal_has_merged_them() {
        // After host-case A and B are one, after default-port C is one with them: two merges. D stands
        // alone, E is read twice.
        let (a, b, c) = ("http://H:80/", "http://h:80/", "http://h/");
        let (found, merges) =
            audit(&Profile::SCHEME, &[a, b, c, "http://D/", "http://e/", "http://e/"]);
        assert_eq!(merges, [("host-case", 1), ("default-port", 1)]);
        assert_eq!((found.originals, found.canonical), (5, 3));
    }

    #[test]
    fn what_was_kept_of_a_run_is_audited_like_the_run() {
        let mut originals = Originals::default();
        for (url, kind) in
            [("http://H/", Kind::Url), ("//H/a", Kind::Target), ("/%61", Kind::Target)]
        {
            originals.add(url.as_bytes(), kind).unwrap();
        }
        let mut again = Originals::default();
        originals.entries().for_each(|entry| again.take(&entry).unwrap());
        assert_eq!((&again.urls, &again.targets), (&originals.urls, &originals.targets));
        assert_eq!((again.urls.len(), again.targets.len()), (1, 2));
    }

    #[test]
    fn a_rule_that_acts_without_merging_causes_nothing() {
        // Both lose their capitals, but it is the fragment that keeps them apart until it goes.
        let (found, merges) = audit(&Profile::CRAWL, &["HTTP://h/#a", "HTTP://h/#b", "HTTP://h/x"]);
        assert_eq!(merges, [("drop-fragment", 1)]);
        assert_eq!((found.originals, found.canonical), (3, 2));
    }

    #[test]
    fn merges_are_the_originals_less_the_forms() {
        let spellings = ["http", "HTTP", "Http"].iter().flat_map(|scheme| {
            let hosts = ["h", "H", "h:80", "h:", "h:080"];
            let paths = ["", "/", "/.", "/%2e/", "/a/..", "/#x", "/x"];
            let urls = hosts.map(|host| paths.map(|path| format!("{scheme}://{host}{path}")));
            urls.into_iter().flatten()
        });
        let spellings: Vec<String> = spellings.collect();
        let urls: Vec<&str> = spellings.iter().map(String::as_str).collect();
        for profile in Profile::ALL {
            let (found, _) = audit(profile, &urls);
            let merges: u64 = found.by_rule.iter().sum();
            assert_eq!(found.originals - found.canonical, merges, "{}", profile.name());
        }
        let (found, _) = audit(&Profile::CRAWL, &urls);
        assert_eq!((found.originals, found.canonical), (105, 2));
    }
}
