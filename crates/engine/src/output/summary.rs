//! The accounting: every record is one of unique, duplicate, seen, filtered, rejected or blank, and the last
//! line of every run shows these counts. If a run ends before it has decided some records, they have a
//! term of their own.

use std::fmt;

use super::quantity::ByteRate;
use uniqurl::{RejectReason, RejectReasons};
use uniqurl_formats::input::InputState;

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
        match self.by_code.binary_search_by_key(&(code as usize), |(code, _)| *code as usize) {
            Ok(at) => self.by_code[at].1 += times,
            Err(at) => self.by_code.insert(at, (code, times)),
        }
    }

    /// Counts a record as rejected that was counted as canonical: its URL has no key.
    pub fn reject_canonical(&mut self, codes: impl Into<RejectReasons>) {
        self.canonical -= 1;
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

/// Inputs by the state they were found in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Inputs {
    /// Read to the end.
    pub ok: u64,
    /// Given up half-way.
    pub damaged: u64,
    /// Never opened.
    pub missing: u64,
    /// Of another kind than the one requested.
    #[serde(skip_serializing_if = "is_none")]
    pub refused: u64,
    /// Left where the run ended early.
    #[serde(skip_serializing_if = "is_none")]
    pub unfinished: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Inputs {
    /// Counts one more.
    pub fn count(&mut self, state: InputState) {
        *match state {
            InputState::Ok => &mut self.ok,
            InputState::Damaged => &mut self.damaged,
            InputState::Missing => &mut self.missing,
            InputState::Refused => &mut self.refused,
            InputState::Unfinished => &mut self.unfinished,
        } += 1;
    }
}

impl FromIterator<InputState> for Inputs {
    fn from_iter<I: IntoIterator<Item = InputState>>(states: I) -> Self {
        let mut inputs = Self::default();
        states.into_iter().for_each(|state| inputs.count(state));
        inputs
    }
}

/// Whether there are filters, which make a term of the accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    /// There are some.
    InPlay,
    /// There are none.
    None,
}

/// Whether there are sets from before the run, which make a term of the accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There are some.
    Seen,
    /// There are none.
    Nothing,
}

/// The accounting of a run. The last line on standard error prints it so for programs, and as a
/// [`TerminalSummary`](super::TerminalSummary) for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which terms the line has.
    pub job: JobKind,
    /// The records.
    pub tally: Tally,
    /// Whether the line has a term for filtered records.
    pub filters: Filters,
    /// Whether the line has a term for records seen before.
    pub before: Before,
    /// The inputs.
    pub inputs: Inputs,
    /// Bytes read.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { records, canonical, unique, duplicates, rejected, blank, skipped, .. } =
            self.tally;
        let Tally { filtered, seen, undecided, .. } = self.tally;
        write!(f, "records {records} = ")?;
        match self.job {
            JobKind::Dedup => write!(f, "unique {unique} + duplicates {duplicates}")?,
            JobKind::Normalize => write!(f, "canonical {canonical}")?,
        }
        if self.before == Before::Seen {
            write!(f, " + seen {seen}")?;
        }
        if undecided > 0 {
            write!(f, " + undecided {undecided}")?;
        }
        if self.filters == Filters::InPlay {
            write!(f, " + filtered {filtered}")?;
        }
        write!(f, " + rejected {rejected} + blank {blank}")?;
        if skipped > 0 {
            write!(f, ", skipped {skipped}")?;
        }
        let Inputs { ok, damaged, missing, refused, unfinished } = self.inputs;
        write!(f, "; inputs {ok} ok, {damaged} damaged, {missing} missing")?;
        for (count, word) in [(refused, "refused"), (unfinished, "unfinished")] {
            if count > 0 {
                write!(f, ", {count} {word}")?;
            }
        }
        f.write_str("; ")?;
        let rate = ByteRate::new(self.bytes, self.seconds).megabytes();
        write!(f, "{} bytes in {:.2} s ({rate:.1} MB/s)", self.bytes, self.seconds)
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

    fn summary(job: JobKind, tally: Tally) -> Summary {
        let inputs = Inputs { ok: 2, missing: 1, ..Inputs::default() };
        let (filters, before) = (Filters::None, Before::Nothing);
        Summary { job, tally, filters, before, inputs, bytes: 1_230_000_000, seconds: 0.5 }
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
    fn summary_line_has_the_terms_of_its_job() {
        assert_eq!(
            summary(JobKind::Dedup, tally()).to_string(),
            "records 9 = unique 3 + duplicates 2 + rejected 3 + blank 1; \
             inputs 2 ok, 0 damaged, 1 missing; 1230000000 bytes in 0.50 s (2460.0 MB/s)"
        );
        let skipped = Tally { skipped: 7, ..tally() };
        assert_eq!(
            summary(JobKind::Normalize, skipped).to_string(),
            "records 9 = canonical 5 + rejected 3 + blank 1, skipped 7; \
             inputs 2 ok, 0 damaged, 1 missing; 1230000000 bytes in 0.50 s (2460.0 MB/s)"
        );
    }

    #[test]
    fn summary_line_counts_filtered_records_if_filters_are_on() {
        let mut filtered = Tally { filtered: 4, ..tally() };
        filtered.records += 4;
        assert!(
            filtered.adds_up(JobKind::Dedup)
                && !Tally { filtered: 3, ..filtered.clone() }.adds_up(JobKind::Dedup)
        );
        let line =
            Summary { filters: Filters::InPlay, ..summary(JobKind::Dedup, filtered) }.to_string();
        assert!(line.starts_with("records 13 = unique 3 + duplicates 2 + filtered 4 + rejected 3"));
    }

    #[test]
    fn seen_records_are_counted_apart_from_duplicates() {
        let mut seen = Tally { seen: 3, ..tally() };
        assert!(!seen.adds_up(JobKind::Dedup));
        (seen.canonical, seen.records) = (8, 12);
        assert!(seen.adds_up(JobKind::Dedup));
        let line = Summary { before: Before::Seen, ..summary(JobKind::Dedup, seen) }.to_string();
        assert!(line.starts_with("records 12 = unique 3 + duplicates 2 + seen 3 + rejected 3"));
    }

    #[test]
    fn undecided_records_are_not_counted_as_duplicates() {
        let mut early = Tally { undecided: 3, ..tally() };
        assert!(!early.adds_up(JobKind::Dedup));
        (early.canonical, early.records) = (8, 12);
        assert!(early.adds_up(JobKind::Dedup));
        let line = Summary { before: Before::Seen, ..summary(JobKind::Dedup, early) }.to_string();
        let terms = "records 12 = unique 3 + duplicates 2 + seen 0 + undecided 3 + rejected 3";
        assert!(line.starts_with(terms), "{line}");
    }

    #[test]
    fn run_of_zero_seconds_has_rate_zero() {
        let instant = Summary { seconds: 0.0, ..summary(JobKind::Dedup, tally()) };
        assert!(instant.to_string().ends_with("in 0.00 s (0.0 MB/s)"));
    }
}
