//! The summary of a run: the accounting, the inputs, bytes and time. It is the last line of every run.

use std::fmt;

use serde::{Serialize, Serializer};

use super::quantity::{ByteRate, Grouped};
use super::tally::{Accounting, Tally, Terms};
use uniqurl_formats::input::InputState;

/// Inputs by the state they were found in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Read to the end.
    pub ok: u64,
    /// Given up half-way.
    pub damaged: u64,
    /// Never opened.
    pub missing: u64,
    /// Of another kind than the one requested.
    pub refused: u64,
    /// Left where the run ended early.
    pub unfinished: u64,
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

    /// The counts by state. The last two are left out where they are zero.
    fn states(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let Self { ok, damaged, missing, refused, unfinished } = *self;
        let always =
            [(InputState::Ok, ok), (InputState::Damaged, damaged), (InputState::Missing, missing)];
        let seldom = [(InputState::Refused, refused), (InputState::Unfinished, unfinished)];
        let seldom = seldom.into_iter().filter(|(_, count)| *count > 0);
        always.into_iter().chain(seldom).map(|(state, count)| (state.name(), count))
    }
}

impl Serialize for Inputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.states())
    }
}

impl FromIterator<InputState> for Inputs {
    fn from_iter<I: IntoIterator<Item = InputState>>(states: I) -> Self {
        let mut inputs = Self::default();
        states.into_iter().for_each(|state| inputs.count(state));
        inputs
    }
}

/// The outcome of a run. The text is one line; with `{:#}`, which people read, the digits are grouped.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which terms the accounting has.
    pub terms: Terms,
    /// The records.
    pub tally: Tally,
    /// The inputs.
    pub inputs: Inputs,
    /// Bytes read.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
}

impl Summary {
    /// The accounting.
    pub fn accounting(&self) -> Accounting<'_> {
        Accounting { terms: self.terms, tally: &self.tally }
    }

    /// Bytes a second. A run below a second has none: most of its time went into its start and its end.
    pub fn rate(&self) -> Option<ByteRate> {
        (self.seconds >= 1.0).then(|| ByteRate::new(self.bytes, self.seconds))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.accounting().fmt(f)?;
        // Skipped lines are no records, so they stand outside of the sum.
        if self.tally.skipped > 0 {
            write!(f, ", skipped {}", Grouped::in_text(f, self.tally.skipped))?;
        }
        f.write_str("; inputs")?;
        for (i, (state, count)) in self.inputs.states().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma} {} {state}", Grouped::in_text(f, count))?;
        }
        write!(f, "; {} bytes in {:.2} s", Grouped::in_text(f, self.bytes), self.seconds)?;
        match self.rate() {
            Some(rate) => write!(f, " ({:.1} MB/s)", rate.megabytes()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::JobKind;
    use super::*;

    fn summary(inputs: Inputs, seconds: f64) -> Summary {
        let mut tally = Tally::default();
        (0..1_200).for_each(|_| tally.canonical());
        (tally.unique, tally.duplicates) = (3, 1_197);
        let terms = Terms::of(JobKind::Dedup);
        Summary { terms, tally, inputs, bytes: 1_230_000_000, seconds }
    }

    #[test]
    fn summary_is_a_line_whose_digits_are_grouped_for_people() {
        let inputs = Inputs { ok: 2, missing: 1, ..Inputs::default() };
        let mut summary = summary(inputs, 0.5);
        assert_eq!(
            summary.to_string(),
            "records 1200 = unique 3 + duplicates 1197 + rejected 0 + blank 0; \
             inputs 2 ok, 0 damaged, 1 missing; 1230000000 bytes in 0.50 s"
        );
        summary.tally.skipped = 7_000;
        assert_eq!(
            format!("{summary:#}"),
            "records 1,200 = unique 3 + duplicates 1,197 + rejected 0 + blank 0, skipped 7,000; \
             inputs 2 ok, 0 damaged, 1 missing; 1,230,000,000 bytes in 0.50 s"
        );
    }

    #[test]
    fn inputs_that_were_refused_or_left_are_shown_if_there_are_any() {
        let inputs = Inputs { refused: 1, unfinished: 2, ..Inputs::default() };
        let line = summary(inputs, 0.0).to_string();
        let expected = "; inputs 0 ok, 0 damaged, 0 missing, 1 refused, 2 unfinished; ";
        assert!(line.contains(expected), "{line}");
    }

    #[test]
    fn run_below_a_second_has_no_rate() {
        for (seconds, end) in [
            (0.0, "bytes in 0.00 s"),
            (0.99, "bytes in 0.99 s"),
            (1.0, "bytes in 1.00 s (1230.0 MB/s)"),
            (2.0, "bytes in 2.00 s (615.0 MB/s)"),
        ] {
            let line = summary(Inputs::default(), seconds).to_string();
            assert!(line.ends_with(end), "{line}");
        }
    }
}
