//! Which rules made one URL of several: the counts of `--audit`.
//!
//! The different URLs of the input are kept as they were read, in a set of their own. At the end those
//! that are not their own canonical forms are brought together by these, and where there are several of
//! one form, the rules run on each, one by one: where two are the same from one rule on, that rule has
//! merged them. [`Audit`] says exactly what is counted.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use rayon::prelude::*;

use super::sheet::{Kind, Sheet};
use crate::output::Audit;
use uniqurl::bytes::AllocError;
use uniqurl::normalize::{Normalizer, Rule};
use uniqurl::set::{Counting, Hash, Key, Part, Shard};
use uniqurl_store::spill::Entry;

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

/// The different URLs of the input that have a canonical form, [as they are held](hold).
pub(super) struct Originals {
    key: Key,
    /// Those of each kind in as many: see [`shard_of`].
    shards: Vec<Shard>,
}

/// Which of so many shards a URL as it was read belongs to.
pub(super) fn shard_of(hash: Hash, kind: Kind, shards: usize) -> usize {
    hash.shard(shards / 2) + if kind == Kind::Target { shards / 2 } else { 0 }
}

/// Stands before each byte that a URL is not held with.
pub const MARK: u8 = 0;

/// Whether a URL is held in another spelling than its own.
pub(super) fn is_held_marked(url: &[u8]) -> bool {
    memchr::memchr2(b'\n', MARK, url).is_some()
}

/// Appends a URL as it is held. Shards end each by a line feed; one that a field of a table or of JSON
/// has becomes two other bytes.
pub(super) fn hold(url: &[u8], held: &mut Vec<u8>) {
    for byte in url {
        match byte {
            b'\n' => held.extend([MARK, b'n']),
            &MARK => held.extend([MARK, MARK]),
            _ => held.push(*byte),
        }
    }
}

/// A URL that is held as it was read.
fn as_read(held: &[u8]) -> Cow<'_, [u8]> {
    let Some(mark) = memchr::memchr(MARK, held) else { return Cow::Borrowed(held) };
    let (before, marked) = held.split_at(mark);
    let (mut url, mut bytes) = (before.to_vec(), marked.iter());
    while let Some(byte) = bytes.next() {
        url.push(match byte {
            &MARK if bytes.next() == Some(&b'n') => b'\n',
            byte => *byte,
        });
    }
    Cow::Owned(url)
}

/// A URL on its way through the rules: what it became, and at which rule of which round.
type Trace = Vec<((usize, Rule), Vec<u8>)>;

/// A URL as it was read, and its way.
type Original<'u> = (Cow<'u, [u8]>, Trace);

/// What the URLs of a shard, and of the one with targets of the same hashes, turn out to be.
#[derive(Default)]
struct Found {
    /// How many are their own canonical forms.
    own: u64,
    /// Those that are not: the shard that this form would be in, in order; kind and place.
    changed: Vec<(usize, Kind, u32)>,
}

impl Originals {
    pub(super) fn new(key: Key, shards_of_kind: usize) -> Self {
        let shards = (0..2 * shards_of_kind).map(|_| Shard::new(Counting::Off));
        Self { key, shards: shards.collect() }
    }

    /// Number of shards.
    pub(super) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Adds those of these sheets, on all threads.
    pub(super) fn add_all(&mut self, sheets: &mut [Sheet]) -> Result<(), AllocError> {
        let mut parts: Vec<Vec<_>> = self.shards.iter().map(|_| Vec::new()).collect();
        for sheet in sheets {
            let bytes = sheet.text.buffers();
            let (mut rest, mut start) = (sheet.originals.as_mut_slice(), 0);
            for (parts, end) in parts.iter_mut().zip(&sheet.ends_of_originals) {
                let (entries, behind) = rest.split_at_mut(end - start);
                parts.push(Part { entries, bytes });
                (rest, start) = (behind, *end);
            }
        }
        let of_shards = self.shards.par_iter_mut().zip(parts);
        of_shards
            .try_for_each(|(shard, mut parts)| shard.insert_all(&mut parts).map_err(|_| AllocError))
    }

    /// All of them as they are held, for a run that goes on.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let (urls, targets) = self.shards.split_at(self.shards.len() / 2);
        [(Kind::Url, urls), (Kind::Target, targets)].into_iter().flat_map(|(kind, shards)| {
            let entry = move |key| Entry { ordinal: kind as u64, count: 0, key, line: &[] };
            shards.iter().flat_map(|shard| shard.places().map(|place| shard.get(place))).map(entry)
        })
    }

    /// Adds one of these.
    pub(super) fn take(&mut self, entry: &Entry<'_>) -> Result<(), AllocError> {
        let is_target = entry.ordinal == Kind::Target as u64;
        let kind = if is_target { Kind::Target } else { Kind::Url };
        let hash = self.key.hash(entry.key);
        let number = shard_of(hash, kind, self.shards.len());
        self.shards[number].add(hash, entry.key).map(|_| ()).map_err(|_| AllocError)
    }

    /// Runs the rules on those of which several have one canonical form, and counts the merges.
    pub(super) fn audit(&self, normalizer: &Normalizer) -> Audit {
        let shards = self.shards.len() / 2;
        let found: Vec<Found> =
            (0..shards).into_par_iter().map(|shard| self.found(shard, normalizer)).collect();
        let own = found.iter().map(|found| found.own).sum();
        let audits: Vec<Audit> = (0..shards)
            .into_par_iter()
            .map(|shard| self.audit_changed(shard, &found, normalizer))
            .collect();
        let by_rule = vec![0; Rule::ALL.len()];
        let mut all = Audit { originals: own, canonical: own, by_rule, by_key: 0 };
        for audit in audits {
            all.originals += audit.originals;
            all.canonical += audit.canonical;
            all.by_rule.iter_mut().zip(audit.by_rule).for_each(|(all, count)| *all += count);
        }
        all
    }

    fn found(&self, shard: usize, normalizer: &Normalizer) -> Found {
        let shards = self.shards.len() / 2;
        let mut found = Found::default();
        let mut form = Vec::new();
        for kind in [Kind::Url, Kind::Target] {
            let urls = self.of_kind(kind, shard);
            for place in urls.places() {
                let url = as_read(urls.get(place));
                canonical(&url, kind, normalizer, &mut form);
                if form != *url {
                    found.changed.push((self.key.hash(&form).shard(shards), kind, place));
                } else if kind == Kind::Url || !self.has_own(&form, Kind::Url, normalizer) {
                    found.own += 1;
                }
            }
        }
        found.changed.sort_unstable_by_key(|(shard, ..)| *shard);
        found
    }

    /// Counts of the URLs that are not their own canonical forms, where these would be in a shard.
    fn audit_changed(&self, shard: usize, found: &[Found], normalizer: &Normalizer) -> Audit {
        let mut groups: HashMap<Vec<u8>, Vec<_>> = HashMap::new();
        let mut form = Vec::new();
        for (number, Found { changed, .. }) in found.iter().enumerate() {
            let start = changed.partition_point(|(of_form, ..)| *of_form < shard);
            let here = changed[start..].iter().take_while(|(of_form, ..)| *of_form == shard);
            for (_, kind, place) in here {
                let url = as_read(self.of_kind(*kind, number).get(*place));
                canonical(&url, *kind, normalizer, &mut form);
                match groups.get_mut(&form) {
                    Some(group) => group.push((url, *kind)),
                    None => _ = groups.insert(form.clone(), vec![(url, *kind)]),
                }
            }
        }
        let mut audit = Audit { by_rule: vec![0; Rule::ALL.len()], ..Audit::default() };
        for (form, changed) in groups {
            let own = [Kind::Url, Kind::Target].into_iter();
            let own = own.filter(|kind| self.has_own(&form, *kind, normalizer)).count();
            // The form itself is counted where it is found, and no rule acts on it.
            audit.canonical += u64::from(own == 0);
            if own == 0 && changed.len() == 1 {
                audit.originals += 1;
                continue;
            }
            let traced = changed.into_iter().map(|(url, kind)| {
                let trace = trace(&url, kind, normalizer);
                (url, trace)
            });
            let itself = (own > 0).then(|| (Cow::Borrowed(&form[..]), Trace::new()));
            let group: Vec<Original<'_>> = traced.chain(itself).collect();
            audit.originals += count_merges(&group, &mut audit.by_rule) - u64::from(own > 0);
        }
        audit
    }

    /// Whether it holds this URL, which is its own canonical form.
    fn has_own(&self, url: &[u8], kind: Kind, normalizer: &Normalizer) -> bool {
        let (mut held, mut form) = (Vec::new(), Vec::new());
        hold(url, &mut held);
        let hash = self.key.hash(&held);
        let shard = &self.shards[shard_of(hash, kind, self.shards.len())];
        shard.contains(hash, &held) && {
            canonical(url, kind, normalizer, &mut form);
            form == url
        }
    }

    fn of_kind(&self, kind: Kind, shard: usize) -> &Shard {
        let targets = self.shards.len() / 2;
        &self.shards[shard + if kind == Kind::Target { targets } else { 0 }]
    }
}

/// Writes the canonical form of a URL that has one.
fn canonical(url: &[u8], kind: Kind, normalizer: &Normalizer, form: &mut Vec<u8>) {
    form.clear();
    let _canonical = match kind {
        Kind::Url => normalizer.normalize(url, form),
        Kind::Target => normalizer.normalize_target(url, form),
    };
}

/// What the rules do to a URL, one by one.
fn trace(url: &[u8], kind: Kind, normalizer: &Normalizer) -> Trace {
    let steps = match kind {
        Kind::Url => normalizer.explain(url),
        Kind::Target => normalizer.explain_target(url),
    };
    let (mut round, mut before) = (0, None);
    let steps = steps.unwrap_or_default().into_iter();
    let steps = steps.map(|step| {
        // Switches act again where one makes work for another before it.
        round += usize::from(before.is_some_and(|before| before >= step.rule));
        before = Some(step.rule);
        ((round, step.rule), step.after)
    });
    steps.collect()
}

/// Counts the merges in a group of URLs that have one canonical form, and says how many different ones
/// there are.
fn count_merges(group: &[Original<'_>], by_rule: &mut [u64]) -> u64 {
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
    use uniqurl::Profile;
    use uniqurl::simd::Kernel;

    fn of<'u>(urls: impl IntoIterator<Item = (&'u str, Kind)>) -> Originals {
        let mut originals = Originals::new(Key::random(Kernel::best()), 4);
        for (url, kind) in urls {
            let mut key = Vec::new();
            hold(url.as_bytes(), &mut key);
            let entry = Entry { ordinal: kind as u64, count: 0, key: &key, line: b"" };
            originals.take(&entry).unwrap();
        }
        originals
    }

    fn audit(profile: &'static Profile, urls: &[&str]) -> (Audit, Vec<(&'static str, u64)>) {
        let normalizer = Normalizer::new(profile);
        let has_form = |url: &&&str| normalizer.explain(url.as_bytes()).is_ok();
        let originals = of(urls.iter().filter(has_form).map(|url| (*url, Kind::Url)));
        let audit = originals.audit(&normalizer);
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
    fn no_two_urls_are_held_alike_and_none_with_a_line_feed() {
        const BYTES: &[u8] = b"a\nn\0";
        let mut all = HashSet::new();
        for n in 0..BYTES.len().pow(5) {
            let url: Vec<u8> = (0..5).map(|i| BYTES[n >> (2 * i) & 3]).collect();
            for url in (0..=5).map(|len| &url[..len]) {
                let mut held = Vec::new();
                hold(url, &mut held);
                assert!(!held.contains(&b'\n'));
                assert_eq!(is_held_marked(url), held != url);
                assert_eq!(as_read(&held), url);
                all.insert(held);
            }
        }
        assert_eq!(all.len(), (0..=5).map(|len| BYTES.len().pow(len)).sum::<usize>());
    }

    #[test]
    fn what_was_kept_of_a_run_is_audited_like_the_run() {
        let all = |originals: &Originals| {
            let entries = originals.entries().map(|entry| (entry.ordinal, entry.key.to_vec()));
            entries.collect::<BTreeSet<_>>()
        };
        let originals =
            of([("http://H/", Kind::Url), ("//H/a", Kind::Target), ("/%61", Kind::Target)]);
        let mut again = of([]);
        originals.entries().for_each(|entry| again.take(&entry).unwrap());
        assert_eq!(all(&again), all(&originals));
        assert_eq!(all(&again).len(), 3);
    }

    #[test]
    fn what_is_read_as_a_url_and_as_a_target_is_one_original_of_one_form() {
        let kinds = [Kind::Url, Kind::Target];
        let urls = ["/a", "/%61", "/b"].into_iter();
        let originals = of(urls.flat_map(|url| kinds.map(|kind| (url, kind))));
        let found = originals.audit(&Normalizer::new(&Profile::SERVLET));
        assert_eq!((found.originals, found.canonical), (3, 2));
        assert_eq!(found.by_rule.iter().sum::<u64>(), 1);
        // With a base they are two.
        let normalizer = Normalizer::new(&Profile::CRAWL).with_base(b"http://h/").unwrap();
        let found = of(kinds.map(|kind| ("/%61", kind))).audit(&normalizer);
        assert_eq!((found.originals, found.canonical), (2, 2));
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
