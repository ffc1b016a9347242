//! The state of a run, and the text about it.

use std::time::Duration;

use super::pace::Pace;
use uniqurl_engine::Phase;
use uniqurl_engine::output::{ByteRate, Grouped};

const SECOND: Duration = Duration::from_secs(1);

/// What a run has done by now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProgressState {
    /// The phase of the run.
    pub phase: Phase,
    /// Bytes read.
    pub done: u64,
    /// Bytes to read, if they are known.
    pub total: Option<u64>,
    /// The records.
    pub counts: Counts,
}

/// Records by their outcome so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were read.
    pub records: u64,
    /// Those with a new URL, if the run tells new URLs from others.
    pub unique: Option<u64>,
    /// Those whose URL may be new, which shows at the end of the run.
    pub undecided: u64,
}

impl ProgressState {
    /// Bytes of the phase.
    pub(super) fn bytes(&self) -> u64 {
        match self.phase {
            Phase::Reading => self.done,
            Phase::Sorting => 0,
            Phase::Writing(written) => written,
        }
    }

    /// The part of the bytes that is read, between 0 and 1.
    fn share(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0 && self.phase == Phase::Reading)?;
        // A file may have grown since its size was asked.
        Some((self.done as f64 / total as f64).min(1.0))
    }

    /// The state in one line.
    pub(super) fn line(&self, pace: &Pace) -> String {
        let phase = match self.phase {
            Phase::Reading => "reading",
            Phase::Sorting => "sorting",
            Phase::Writing(_) => "writing",
        };
        let mut rest = Vec::new();
        match self.share() {
            Some(share) => rest.push(format!("{}%", (share * 100.0) as u64)),
            None if self.bytes() > 0 => {
                rest.push(format!("{} MB", Grouped(self.bytes() / 1_000_000)))
            }
            None => {}
        }
        let Counts { records, unique, undecided } = self.counts;
        rest.push(format!("{} records", Grouped(records)));
        // Counts of a part are of no use when all is read, nor are those of a set in which every
        // URL is decided at the end.
        let are_of_part = undecided > 0;
        let is_reading = self.phase == Phase::Reading;
        let unique = unique.filter(|unique| !are_of_part || is_reading && *unique > 0);
        rest.extend(unique.map(|unique| format!("{} unique", Grouped(unique))));
        let are_shown = are_of_part && is_reading;
        rest.extend(are_shown.then(|| format!("{} undecided", Grouped(undecided))));
        if let Some(rate) = pace.rate() {
            rest.push(ByteRate::new(rate as u64, 1.0).to_string());
        }
        match self.share().zip(self.total).zip(pace.rate()) {
            Some(((_, total), rate)) if self.done < total => {
                // Rounded up: a second is left until nothing is.
                let left = ((total - self.done) as f64 / rate).ceil().clamp(1.0, 1e9);
                rest.push(format!("{} left", duration(Duration::from_secs(left as u64))));
            }
            // The last bytes are on their way.
            Some(_) => {}
            None => rest.extend((pace.elapsed() >= SECOND).then(|| duration(pace.elapsed()))),
        }
        format!("{phase} {}", rest.join(", "))
    }
}

/// A time in whole seconds, or in minutes from an hour on.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{hours} h {} min", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const COUNTS: Counts = Counts { records: 12_345_678, unique: Some(3_456_789), undecided: 0 };

    /// The state after so many seconds, in which it came to its bytes steadily.
    fn shown(state: ProgressState, seconds: f64) -> String {
        let start = Instant::now();
        let mut pace = Pace::start(start);
        for tick in 0..=10 {
            let share = f64::from(tick) / 10.0;
            let done = (state.done as f64 * share) as u64;
            let phase = match state.phase {
                Phase::Writing(written) => Phase::Writing((written as f64 * share) as u64),
                phase => phase,
            };
            let time = start + Duration::from_secs_f64(seconds * share);
            pace.note(time, phase, ProgressState { done, phase, ..state }.bytes());
        }
        state.line(&pace)
    }

    #[test]
    fn each_phase_has_its_line() {
        let (counts, total) = (COUNTS, Some(800_000_000));
        let reading = ProgressState { done: 400_000_000, total, counts, ..Default::default() };
        assert_eq!(
            shown(reading, 4.0),
            "reading 50%, 12,345,678 records, 3,456,789 unique, 100 MB/s, 4 s left"
        );
        assert_eq!(
            shown(ProgressState { total: None, ..reading }, 4.0),
            "reading 400 MB, 12,345,678 records, 3,456,789 unique, 100 MB/s, 4 s"
        );
        let sorting = ProgressState { phase: Phase::Sorting, done: 800_000_000, ..reading };
        assert_eq!(shown(sorting, 7.0), "sorting 12,345,678 records, 3,456,789 unique, 7 s");
        let writing = ProgressState { phase: Phase::Writing(50_000_000), ..sorting };
        assert_eq!(
            shown(writing, 0.5),
            "writing 50 MB, 12,345,678 records, 3,456,789 unique, 100 MB/s"
        );
    }

    #[test]
    fn time_left_is_never_zero() {
        let total = Some(1_000_000_000);
        let state = |done| ProgressState { done, total, ..Default::default() };
        assert!(shown(state(999_999_999), 5.0).ends_with(", 1 s left"));
        assert!(shown(state(1_000_000_000), 5.0).ends_with(" MB/s"));
        assert!(shown(state(1_000_000), 1.0).ends_with(", 16 min 39 s left"));
        assert!(shown(state(100_000), 1.0).ends_with(", 2 h 46 min left"));
    }

    #[test]
    fn undecided_records_are_not_shown_as_no_unique_ones() {
        let counts = Counts { unique: Some(0), undecided: 12_345_678, ..COUNTS };
        let state = ProgressState { done: 5_000_000, counts, ..Default::default() };
        let line = shown(state, 1.0);
        assert_eq!(line, "reading 5 MB, 12,345,678 records, 12,345,678 undecided, 5.0 MB/s, 1 s");
        let sorting = ProgressState { phase: Phase::Sorting, ..state };
        assert_eq!(shown(sorting, 1.0), "sorting 12,345,678 records, 1 s");
        let counts = Counts { unique: None, undecided: 0, ..COUNTS };
        let line = shown(ProgressState { counts, ..state }, 1.0);
        assert_eq!(line, "reading 5 MB, 12,345,678 records, 5.0 MB/s, 1 s");
    }
}
