//! How many requests came when, in a bounded number of equal stretches of time.
//!
//! Each stretch starts at a multiple of its width since 1970, and each width is a multiple of the one
//! before. So the counts depend on the times alone, not on the order in which they come.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use uniqurl_formats::record::write_time;

/// Most stretches between the first request and the last.
const MOST: i64 = 128;

/// The widths in seconds up to a day; wider ones double.
const WIDTHS: [i64; 13] = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400];

/// Counts of requests by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTimes {
    /// Seconds of each stretch.
    width: i64,
    /// The number of the stretch since 1970, and its requests.
    counts: BTreeMap<i64, RequestCount>,
}

/// Requests in a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCount {
    /// All of them.
    pub all: u64,
    /// Those with a status of 400 or more.
    pub errors: u64,
}

impl std::ops::AddAssign for RequestCount {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.errors += other.errors;
    }
}

/// A second in UTC.
pub(super) struct UtcTime(pub i64);

/// A number of seconds in the unit that suits it.
pub(super) struct Width(pub i64);

impl Default for RequestTimes {
    fn default() -> Self {
        Self { width: WIDTHS[0], counts: BTreeMap::new() }
    }
}

impl RequestTimes {
    /// Counts a request at a time in seconds since 1970. Earlier ones are no times of requests.
    pub fn add(&mut self, time: i64, status: Option<u16>) {
        if time >= 0 {
            let errors = u64::from(status.is_some_and(|status| status >= 400));
            *self.counts.entry(time / self.width).or_default() += RequestCount { all: 1, errors };
            self.fit();
        }
    }

    /// Adds the counts of other requests.
    pub fn merge(&mut self, other: &Self) {
        while self.width < other.width {
            self.widen();
        }
        for (number, count) in &other.counts {
            // The widths divide each other.
            *self.counts.entry(number * other.width / self.width).or_default() += *count;
        }
        self.fit();
    }

    /// True if no request has a time.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The width of a stretch in seconds.
    pub fn width(&self) -> i64 {
        self.width
    }

    /// The start of each stretch and its requests, from the first request to the last.
    pub fn stretches(&self) -> impl Iterator<Item = (i64, RequestCount)> {
        let first = self.counts.keys().next().copied().unwrap_or(0);
        let end = self.counts.keys().next_back().map_or(0, |last| last + 1);
        let count = |number| self.counts.get(&number).copied().unwrap_or_default();
        (first..end).map(move |number| (number * self.width, count(number)))
    }

    fn fit(&mut self) {
        let is_wide = |counts: &BTreeMap<i64, RequestCount>| {
            let (Some((first, _)), Some((last, _))) =
                (counts.first_key_value(), counts.last_key_value())
            else {
                return false;
            };
            last - first >= MOST
        };
        while is_wide(&self.counts) {
            self.widen();
        }
    }

    fn widen(&mut self) {
        let next = WIDTHS.into_iter().find(|width| *width > self.width).unwrap_or(2 * self.width);
        let factor = next / self.width;
        self.width = next;
        for (number, count) in std::mem::take(&mut self.counts) {
            *self.counts.entry(number / factor).or_default() += count;
        }
    }
}

impl Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        write_time(self.0, &mut text);
        let text = String::from_utf8_lossy(&text).replace('T', " ");
        f.write_str(text.trim_end_matches('Z'))
    }
}

impl Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
        let unit = units.iter().find(|(seconds, _)| self.0 % seconds == 0);
        let (number, name) =
            unit.map_or((self.0, "second"), |(seconds, name)| (self.0 / seconds, *name));
        write!(f, "{number} {name}{}", if number == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = i64>) -> RequestTimes {
        let mut all = RequestTimes::default();
        // Every third second has errors.
        let status = |time: i64| Some(if time % 3 == 0 { 404 } else { 200 });
        times.into_iter().for_each(|time| all.add(time, status(time)));
        all
    }

    #[test]
    fn each_width_divides_the_next() {
        assert!(WIDTHS.windows(2).all(|pair| pair[1] % pair[0] == 0));
    }

    #[test]
    fn counts_do_not_depend_on_the_order_or_on_how_requests_are_divided() {
        for spread in [10, 300, 5_000, 1_000_000, 90_000_000_000] {
            let times: Vec<i64> =
                (0..3000).map(|i| 1_400_000_000 + i * 7_919 % 3_001 * spread / 3_001).collect();
            let all = of(times.iter().copied());
            assert_eq!(of(times.iter().rev().copied()), all);
            for pieces in [2, 7, 1000] {
                let mut merged = RequestTimes::default();
                for piece in times.chunks(times.len().div_ceil(pieces)).rev() {
                    merged.merge(&of(piece.iter().copied()));
                }
                assert_eq!(merged, all, "{spread} {pieces}");
            }
            let stretches: Vec<_> = all.stretches().collect();
            assert!(stretches.len() <= MOST as usize, "{spread}");
            assert_eq!(stretches.iter().map(|(_, count)| count.all).sum::<u64>(), 3000);
            for (start, count) in stretches {
                let within = |time: &&i64| (start..start + all.width()).contains(*time);
                assert_eq!(times.iter().filter(within).count() as u64, count.all);
                let failed = times.iter().filter(within).filter(|time| *time % 3 == 0);
                assert_eq!(failed.count() as u64, count.errors);
            }
        }
    }

    #[test]
    fn stretches_without_requests_are_kept_and_times_before_1970_are_not() {
        let times = of([12, 10, -1, i64::MIN, 10]);
        let counts: Vec<_> = times.stretches().map(|(at, count)| (at, count.all)).collect();
        assert_eq!(counts, [(10, 2), (11, 0), (12, 1)]);
        assert!(of([-5]).is_empty() && of([-5]).stretches().next().is_none());
        assert!(of([0, i64::MAX / 4]).stretches().count() <= MOST as usize);
    }

    #[test]
    fn times_and_widths_are_readable() {
        for (time, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_799, "2000-02-29 23:59:59"),
            (971_211_336, "2000-10-10 20:55:36"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(UtcTime(time).to_string(), text);
        }
        let widths = [1, 15, 60, 900, 3600, 43_200, 86_400, 172_800].map(|w| Width(w).to_string());
        let texts = [
            "1 second",
            "15 seconds",
            "1 minute",
            "15 minutes",
            "1 hour",
            "12 hours",
            "1 day",
            "2 days",
        ];
        assert_eq!(widths, texts);
    }
}
