//! The accounting of a run for a person: two lines, with nothing in them that is zero.

use std::fmt;

use super::quantity::{ByteRate, Grouped};
use super::summary::{Inputs, JobKind, Summary, Tally};

/// The accounting of a run as a terminal shows it.
///
/// ```text
/// 1,234,567 records = 1,000,000 unique + 234,560 duplicates + 7 rejected
/// 2 inputs, 98,765,432 bytes in 0.25 s (395 MB/s)
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TerminalSummary<'a>(pub &'a Summary);

/// A number and its noun, which has an `s` for more than one.
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(count, noun) = self;
        write!(f, "{} {noun}{}", Grouped(count), if count == 1 { "" } else { "s" })
    }
}

impl TerminalSummary<'_> {
    fn records(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { records, canonical, unique, duplicates, seen, undecided, .. } = self.0.tally;
        let Tally { filtered, rejected, blank, skipped, .. } = self.0.tally;
        write!(f, "{}", Counted(records, "record"))?;
        let repeated = if duplicates == 1 { "duplicate" } else { "duplicates" };
        let of_job: &[(u64, &str)] = match self.0.job {
            JobKind::Dedup => &[
                (unique, "unique"),
                (duplicates, repeated),
                (seen, "seen"),
                (undecided, "undecided"),
            ],
            JobKind::Normalize => &[(canonical, "canonical")],
        };
        let others = [(filtered, "filtered"), (rejected, "rejected"), (blank, "blank")];
        let mut sign = "=";
        for &(count, word) in of_job.iter().chain(&others).filter(|(count, _)| *count > 0) {
            write!(f, " {sign} {} {word}", Grouped(count))?;
            sign = "+";
        }
        match skipped {
            0 => Ok(()),
            skipped => write!(f, ", {} skipped", Grouped(skipped)),
        }
    }

    fn inputs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inputs { ok, damaged, missing, refused, unfinished } = self.0.inputs;
        let all = ok + damaged + missing + refused + unfinished;
        write!(f, "{}", Counted(all, "input"))?;
        let states = [
            (damaged, "damaged"),
            (missing, "missing"),
            (refused, "refused"),
            (unfinished, "unfinished"),
        ];
        for (count, word) in states.into_iter().filter(|(count, _)| *count > 0) {
            // The state of all is that of the only one.
            match count == all {
                true => write!(f, " {word}")?,
                false => write!(f, ", {} {word}", Grouped(count))?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for TerminalSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Summary { bytes, seconds, .. } = self.0;
        self.records(f)?;
        f.write_str("\n")?;
        self.inputs(f)?;
        write!(f, ", {} in {seconds:.2} s", Counted(bytes, "byte"))?;
        let rate = ByteRate::new(bytes, seconds);
        match rate.megabytes() < 0.05 {
            true => Ok(()),
            false => write!(f, " ({rate})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::{Before, Filters};
    use super::*;

    fn shown(job: JobKind, tally: Tally, inputs: Inputs, bytes: u64) -> String {
        let (filters, before) = (Filters::InPlay, Before::Seen);
        let summary = Summary { job, tally, filters, before, inputs, bytes, seconds: 0.5 };
        TerminalSummary(&summary).to_string()
    }

    #[test]
    fn terms_that_are_zero_are_left_out() {
        let tally = Tally { records: 1_002, canonical: 1_001, unique: 1_000, ..Tally::default() };
        let tally = Tally { duplicates: 1, rejected: 1, ..tally };
        let inputs = Inputs { ok: 2, missing: 1, ..Inputs::default() };
        assert_eq!(
            shown(JobKind::Dedup, tally.clone(), inputs, 1_230_000_000),
            "1,002 records = 1,000 unique + 1 duplicate + 1 rejected\n\
             3 inputs, 1 missing, 1,230,000,000 bytes in 0.50 s (2,460 MB/s)"
        );
        assert_eq!(
            shown(JobKind::Normalize, Tally { skipped: 2, ..tally }, Inputs::default(), 1),
            "1,002 records = 1,001 canonical + 1 rejected, 2 skipped\n0 inputs, 1 byte in 0.50 s"
        );
    }

    #[test]
    fn every_term_of_a_run_is_shown() {
        let mut tally = Tally { records: 28, canonical: 15, unique: 1, ..Tally::default() };
        (tally.duplicates, tally.seen, tally.undecided) = (2, 3, 9);
        (tally.filtered, tally.rejected, tally.blank, tally.skipped) = (4, 5, 4, 6);
        let inputs = Inputs { ok: 0, damaged: 1, missing: 1, refused: 1, unfinished: 1 };
        let text = shown(JobKind::Dedup, tally, inputs, 0);
        assert_eq!(
            text,
            "28 records = 1 unique + 2 duplicates + 3 seen + 9 undecided + 4 filtered + 5 rejected + \
             4 blank, 6 skipped\n\
             4 inputs, 1 damaged, 1 missing, 1 refused, 1 unfinished, 0 bytes in 0.50 s"
        );
        let inputs = Inputs { unfinished: 1, ..Inputs::default() };
        let text = shown(JobKind::Dedup, Tally::default(), inputs, 0);
        assert_eq!(text, "0 records\n1 input unfinished, 0 bytes in 0.50 s");
    }
}
