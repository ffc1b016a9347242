//! The accounting of records: every one is unique, duplicate, seen, filtered, rejected or blank, and these terms add
//! up to all of them. If a run ends before it has decided some records, they have a term of their own.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;

use super::quantity::Grouped;
use uniqurl::{RejectReason, RejectReasons};

/// The job done with canonical URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// They go into a set: each is unique or a duplicate.
    Dedup,
    /// They are written one for each record.
    Normalize,
}

impl JobKind {
    /// The subcommand.
    pub const fn name(self) -> &'static str {
        match self {
            JobKind::Dedup => "dedup",
            JobKind::Normalize => "normalize",
        }
    }
}

/// Records by their outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All records.
    pub records: u64,
    /// Records with a canonical URL.
    pub canonical: u64,
    /// Canonical URLs that were new to the set.
    pub unique: u64,
    /// Canonical URLs that the set already held.
    pub duplicates: u64,
    /// Canonical URLs that are in a set from before the run.
    pub seen: u64,
    /// Canonical URLs that are not decided: a run that ended early had sent them to temporary files,
    /// so they may be unique, duplicates or seen.
    pub undecided: u64,
    /// Records without a canonical URL.
    pub rejected: u64,
    /// Records that a filter did not want.
    pub filtered: u64,
    /// Records of nothing but spaces and tabs.
    pub blank: u64,
    /// Headers and comments, which are not records.
    pub skipped: u64,
    /// Rejected records by code, in the order of [`RejectReason::ALL`]. A record with several codes is counted
    /// under each of them, so these add up to [`rejected`](Self::rejected) or more.
    // Only codes that occurred: a run over a million files has a tally for each, and most reject nothing.
    pub by_code: Vec<(RejectReason, u64)>,
}

impl Tally {
    /// Counts one rejected record, under each of its codes.
    #[inline]
    pub fn reject(&mut self, codes: impl Into<RejectReasons>) {
        self.records += 1;
        self.rejected += 1;
        for code in codes.into().iter() {
            self.count_code(code, 1);
        }
    }

    /// Counts more records that are rejected as one was that is counted already.
    pub fn reject_again(&mut self, codes: RejectReasons, times: u64) {
        self.records += times;
        self.rejected += times;
        for code in codes.iter() {
            self.count_code(code, times);
        }
    }

    fn count_code(&mut self, code: RejectReason, times: u64) {
        if times == 0 {
            return;
        }
        // Sorted by code, as they are listed. There are few, so inserting costs little.
        match self.by_code.binary_search_by_key(&(code as usize), |(code, _)| *code as usize) {
            Ok(at) => self.by_code[at].1 += times,
            Err(at) => self.by_code.insert(at, (code, times)),
        }
    }

    /// Counts a record as rejected that was counted as canonical: its URL has no key.
    pub fn reject_canonical(&mut self, codes: impl Into<RejectReasons>) {
        self.canonical -= 1;
        // `reject` counts the record once more.
        self.records -= 1;
        self.reject(codes);
    }

    /// Counts one blank record.
    #[inline]
    pub fn blank(&mut self) {
        self.records += 1;
        self.blank += 1;
    }

    /// Counts one record with a canonical URL. Whether it is new to the set is counted
    /// elsewhere.
    #[inline]
    pub fn canonical(&mut self) {
        self.records += 1;
        self.canonical += 1;
    }

    /// Adds the counts of another worker or another file.
    pub fn merge(&mut self, other: &Tally) {
        // All fields are named, so that a new one is not forgotten.
        let Tally {
            records,
            canonical,
            unique,
            duplicates,
            seen,
            undecided,
            rejected,
            filtered,
            blank,
            skipped,
            by_code,
        } = other;
        self.filtered += filtered;
        self.records += records;
        self.canonical += canonical;
        self.unique += unique;
        self.duplicates += duplicates;
        self.seen += seen;
        self.undecided += undecided;
        self.rejected += rejected;
        self.blank += blank;
        self.skipped += skipped;
        by_code.iter().for_each(|(code, count)| self.count_code(*code, *count));
    }

    /// Whether every record is counted exactly once, and every rejected one under at least one
    /// code.
    #[must_use]
    pub fn adds_up(&self, job: JobKind) -> bool {
        let of_urls = match job {
            JobKind::Dedup => self.unique + self.duplicates + self.seen + self.undecided,
            JobKind::Normalize => self.canonical,
        };
        self.records == of_urls + self.filtered + self.rejected + self.blank
            && self.canonical == of_urls
            && self.rejected <= self.by_code.iter().map(|(_, count)| count).sum::<u64>()
            && self.by_code.iter().all(|(_, count)| *count <= self.rejected)
    }

    /// The codes that occurred and how often, in the order of [`RejectReason::ALL`].
    pub fn codes(&self) -> impl DoubleEndedIterator<Item = (RejectReason, u64)> + Clone {
        self.by_code.iter().copied()
    }
}

/// Which terms the accounting of a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The job decides between canonical URLs and those of a set.
    pub job: JobKind,
    /// Whether there are sets from before the run.
    pub seen: bool,
    /// Whether there are filters.
    pub filtered: bool,
}

impl Terms {
    /// Those of a run without filters and without earlier sets.
    pub const fn of(job: JobKind) -> Self {
        Self { job, seen: false, filtered: false }
    }
}

/// The counts of a run or of an input, with the terms of the run. The text is the sum, as in
/// `records 4 = unique 1 + duplicates 2 + rejected 0 + blank 1`; with `{:#}` the digits are grouped.
#[derive(Debug, Clone, Copy)]
pub struct Accounting<'a> {
    /// The terms.
    pub terms: Terms,
    /// The counts.
    pub tally: &'a Tally,
}

impl Accounting<'_> {
    /// The terms that add up to the records, by name.
    pub fn terms(self) -> impl Iterator<Item = (&'static str, u64)> {
        let Self { terms: Terms { job, seen, filtered }, tally } = self;
        let is_set = job == JobKind::Dedup;
        // Of a set, the canonical URLs are the sum of its terms.
        let terms = [
            ("canonical", tally.canonical, !is_set),
            ("unique", tally.unique, is_set),
            ("duplicates", tally.duplicates, is_set),
            ("seen", tally.seen, is_set && seen),
            ("undecided", tally.undecided, tally.undecided > 0),
            ("filtered", tally.filtered, filtered),
            ("rejected", tally.rejected, true),
            ("blank", tally.blank, true),
        ];
        terms.into_iter().filter_map(|(name, count, is_there)| is_there.then_some((name, count)))
    }

    /// All counts by name: records, terms, and skipped records.
    pub fn counts(self) -> impl Iterator<Item = (&'static str, u64)> {
        let (records, skipped) = (("records", self.tally.records), ("skipped", self.tally.skipped));
        std::iter::once(records).chain(self.terms()).chain(std::iter::once(skipped))
    }

    /// Adds the counts to a document.
    pub(super) fn serialize_into<M: SerializeMap>(self, document: &mut M) -> Result<(), M::Error> {
        for (name, count) in self.counts() {
            document.serialize_entry(name, &count)?;
        }
        let codes = self.tally.codes().map(|(code, count)| (code.name(), count));
        document.serialize_entry("codes", &codes.collect::<BTreeMap<_, _>>())
    }
}

impl fmt::Display for Accounting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "records {}", Grouped::in_text(f, self.tally.records))?;
        for (i, (name, count)) in self.terms().enumerate() {
            let sign = if i == 0 { '=' } else { '+' };
            write!(f, " {sign} {name} {}", Grouped::in_text(f, count))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let mut tally = Tally::default();
        (0..5).for_each(|_| tally.canonical());
        tally.unique = 3;
        tally.duplicates = 2;
        tally.reject(RejectReason::Port);
        tally.reject(RejectReason::Byte);
        tally.reject(RejectReason::Byte);
        tally.blank();
        tally
    }

    #[test]
    fn each_code_counts_under_its_own_index() {
        for (place, &code) in RejectReason::ALL.iter().enumerate() {
            assert_eq!(code as usize, place);
        }
        let codes: Vec<_> = tally().codes().collect();
        assert_eq!(codes, [(RejectReason::Byte, 2), (RejectReason::Port, 1)]);
    }

    #[test]
    fn lost_or_doubly_counted_record_is_detected() {
        assert!(tally().adds_up(JobKind::Dedup) && tally().adds_up(JobKind::Normalize));
        for spoil in [
            |t: &mut Tally| t.records += 1,
            |t: &mut Tally| t.canonical -= 1,
            |t: &mut Tally| t.rejected += 1,
            |t: &mut Tally| t.blank -= 1,
            |t: &mut Tally| t.filtered += 1,
            |t: &mut Tally| t.by_code[0].1 -= 1,
            |t: &mut Tally| t.by_code[0].1 += 4,
        ] {
            let mut spoiled = tally();
            spoil(&mut spoiled);
            assert!(!spoiled.adds_up(JobKind::Dedup) && !spoiled.adds_up(JobKind::Normalize));
        }
        let mut lost = tally();
        lost.unique -= 1;
        assert!(!lost.adds_up(JobKind::Dedup));
    }

    #[test]
    fn a_record_with_several_codes_is_one_record() {
        let mut several = tally();
        several.reject([RejectReason::Backslash, RejectReason::Control]);
        assert_eq!((several.rejected, several.records), (4, 10));
        assert!(several.adds_up(JobKind::Dedup));
        let codes = [
            (RejectReason::Byte, 2),
            (RejectReason::Port, 1),
            (RejectReason::Backslash, 1),
            (RejectReason::Control, 1),
        ];
        assert_eq!(several.codes().collect::<Vec<_>>(), codes);
    }

    #[test]
    fn merging_adds_every_count() {
        let mut twice = tally();
        twice.skipped = 4;
        twice.merge(&twice.clone());
        assert_eq!(
            (twice.records, twice.canonical, twice.unique, twice.duplicates),
            (18, 10, 6, 4)
        );
        assert_eq!((twice.rejected, twice.blank, twice.skipped), (6, 2, 8));
        assert!(twice.adds_up(JobKind::Dedup));
    }

    #[test]
    fn accounting_has_the_terms_of_its_job() {
        for (job, seen, filtered, text) in [
            (JobKind::Dedup, false, false, "unique 3 + duplicates 2"),
            (JobKind::Dedup, true, false, "unique 3 + duplicates 2 + seen 0"),
            (JobKind::Dedup, true, true, "unique 3 + duplicates 2 + seen 0 + filtered 0"),
            (JobKind::Normalize, false, false, "canonical 5"),
            (JobKind::Normalize, false, true, "canonical 5 + filtered 0"),
        ] {
            let (terms, tally) = (Terms { job, seen, filtered }, &tally());
            let sum: u64 = Accounting { terms, tally }.terms().map(|(_, count)| count).sum();
            assert_eq!(sum, tally.records);
            let expected = format!("records 9 = {text} + rejected 3 + blank 1");
            assert_eq!(Accounting { terms, tally }.to_string(), expected);
        }
    }

    #[test]
    fn each_outcome_is_a_term_of_its_own() {
        let terms = Terms { job: JobKind::Dedup, seen: true, filtered: true };
        let all = "seen 0 + filtered 0";
        for (change, shown) in [
            ((|t| t.filtered += 4) as fn(&mut Tally), "seen 0 + filtered 4"),
            (|t| t.seen += 4, "seen 4 + filtered 0"),
            (|t| t.undecided += 4, "seen 0 + undecided 4 + filtered 0"),
        ] {
            let mut changed = tally();
            change(&mut changed);
            assert!(!changed.adds_up(JobKind::Dedup));
            changed.records += 4;
            changed.canonical += 4 - changed.filtered;
            assert!(changed.adds_up(JobKind::Dedup));
            let text = Accounting { terms, tally: &changed }.to_string();
            let before = Accounting { terms, tally: &tally() }.to_string();
            assert_eq!(text, before.replace(all, shown).replace("records 9", "records 13"));
        }
    }

    #[test]
    fn digits_are_grouped_for_people() {
        let tally = Tally { records: 1_234_567, canonical: 1_234_567, ..Tally::default() };
        let terms = Terms::of(JobKind::Normalize);
        let text = format!("{:#}", Accounting { terms, tally: &tally });
        assert_eq!(text, "records 1,234,567 = canonical 1,234,567 + rejected 0 + blank 0");
    }
}
