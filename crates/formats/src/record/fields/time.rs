//! Parses the times that logs write, as seconds since 1970 began in UTC.
//!
//! A time without a zone is taken as UTC. Fractions of a second are dropped. Text that is not a real
//! date, or not entirely a time, gives none.

use std::io::Write;

use super::number::{decimal, whole};

const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// The first whole second that no log means: the year 5138. Greater numbers are in smaller units.
const LAST: u64 = 100_000_000_000;

/// `10/Oct/2000:13:55:36 -0700` as Apache, nginx and HAProxy write it, or ISO 8601.
pub(in crate::record) fn written(text: &[u8]) -> Option<i64> {
    match text {
        [d1, d2, b'/', a, b, c, b'/', y1, y2, y3, y4, b':' | b' ', time @ ..] => {
            let mut months = MONTHS.chunks_exact(3);
            let month = 1 + months.position(|month| month == [*a, *b, *c])?;
            let (of_day, zone) = of_day(time)?;
            let day = day(whole(&[*y1, *y2, *y3, *y4])?, month as u64, whole(&[*d1, *d2])?)?;
            Some(day + of_day - offset(zone)?)
        }
        [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b' ', ..] => {
            date_and_time(&text[..10], &text[11..])
        }
        _ => None,
    }
}

/// `2000-10-10` and `13:55:36`, which may have a zone.
pub(in crate::record) fn date_and_time(date: &[u8], time: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
    let (of_day, zone) = of_day(time)?;
    let day = day(whole(&[*y1, *y2, *y3, *y4])?, whole(&[*m1, *m2])?, whole(&[*d1, *d2])?)?;
    Some(day + of_day - offset(zone)?)
}

/// The 14 digits of web archives: `20001010135536`.
pub(in crate::record) fn stamp(text: &[u8]) -> Option<i64> {
    let two = |at: usize| whole(text.get(at..at + 2)?);
    let day = day(whole(text.get(..4).filter(|_| text.len() == 14)?)?, two(4)?, two(6)?)?;
    Some(day + clock(two(8)?, two(10)?, two(12)?)?)
}

/// Seconds since 1970, or a number so large that it must count milliseconds, microseconds or
/// nanoseconds.
pub(in crate::record) fn epoch(text: &[u8]) -> Option<i64> {
    let units = [0, -3, -6, -9].into_iter();
    let seconds = units.filter_map(|power| decimal(text, power)).find(|number| *number < LAST);
    seconds.map(|seconds| seconds as i64)
}

/// A time as [`written`], or [since 1970](epoch).
pub(in crate::record) fn of_any_form(text: &[u8]) -> Option<i64> {
    written(text).or_else(|| epoch(text))
}

/// Seconds since 1970 in a known unit: 10 to the power `power` seconds.
pub(in crate::record) fn epoch_in(text: &[u8], power: i32) -> Option<i64> {
    decimal(text, power).filter(|seconds| *seconds < LAST).map(|seconds| seconds as i64)
}

/// Appends a time, in seconds since 1970 began, in the form of RFC 3339 in UTC.
///
/// ```
/// let mut text = Vec::new();
/// uniqurl_formats::record::write_time(971_211_336, &mut text);
/// assert_eq!(text, b"2000-10-10T20:55:36Z");
/// ```
pub fn write_time(seconds: i64, out: &mut Vec<u8>) {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years begin in March here, so that a leap day is the last of its year. 146,097 days are 400 years.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month < 10 {
        true => (400 * era + of_years, month + 3),
        false => (400 * era + of_years + 1, month - 9),
    };
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    // Writing to a vector cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
}

/// The seconds of a time `13:55:36`, perhaps with a fraction, and the text after it.
fn of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else { return None };
    let seconds = clock(whole(&[*h1, *h2])?, whole(&[*m1, *m2])?, whole(&[*s1, *s2])?)?;
    let [b'.' | b',', fraction @ ..] = rest else { return Some((seconds, rest)) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then_some((seconds, &fraction[digits..]))
}

/// The seconds that a zone is ahead of UTC: `Z`, `-0700`, `+05:30` or nothing, perhaps after a space.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix(b" ").unwrap_or(text) {
        [] if text.is_empty() => return Some(0),
        b"Z" | b"z" => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [h1, h2] => ([*h1, *h2], [b'0'; 2]),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    Some(sign * clock(whole(&hours)?, whole(&minutes)?, 0)?)
}

/// The seconds of a time of day. A leap second is the first of the next minute, as POSIX counts.
fn clock(hour: u64, minute: u64, second: u64) -> Option<i64> {
    let is_real = hour < 24 && minute < 60 && second <= 60;
    is_real.then_some((3600 * hour + 60 * minute + second) as i64)
}

/// The seconds from 1970 to the start of a day; none if there is no such day.
fn day(year: u64, month: u64, day: u64) -> Option<i64> {
    // Days before each month of a year that begins in March, so that a leap day is its last.
    const BEFORE: [u64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=days).contains(&day) {
        return None;
    }
    let year = if month < 3 { year - 1 } else { year };
    let before = BEFORE[(month as usize + 9) % 12];
    let days = 365 * year + year / 4 - year / 100 + year / 400 + before + day - 1;
    // The days from March of the year 0 to 1970.
    Some((days as i64 - 719_468) * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_logs_count_from_1970_in_utc() {
        for (text, seconds) in [
            ("10/Oct/2000:13:55:36 -0700", Some(971_211_336)),
            ("06/Feb/2009:12:14:14.655", Some(1_233_922_454)),
            ("10/Oct/2000 13:55:36", Some(971_186_136)),
            ("2015-05-13T23:39:43.945958Z", Some(1_431_560_383)),
            ("2015-05-17T10:05:03+00:00", Some(1_431_857_103)),
            ("2015-05-17 10:05:03,123 +05:30", Some(1_431_837_303)),
            ("2015-05-17T10:05:03-02", Some(1_431_864_303)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_800)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1969-12-31T23:59:59Z", Some(-1)),
            ("2000-02-29T00:00:00Z", Some(951_782_400)),
            ("0001-01-01T00:00:00Z", Some(-62_135_596_800)),
            ("1900-02-29T00:00:00Z", None),
            ("2015-02-29T00:00:00Z", None),
            ("31/Apr/2015:00:00:00 +0000", None),
            ("00/Apr/2015:00:00:00 +0000", None),
            ("10/oct/2000:13:55:36 -0700", None),
            ("10/Okt/2000:13:55:36 -0700", None),
            ("10/Oct/2000:24:00:00 -0700", None),
            ("10/Oct/2000:13:60:36 -0700", None),
            ("10/Oct/2000:13:55:61 -0700", None),
            ("10/Oct/2000:13:55:36 -07", Some(971_211_336)),
            ("10/Oct/2000:13:55:36 -0760", None),
            ("10/Oct/2000:13:55:36 -2400", None),
            ("10/Oct/2000:13:55:36 -070", None),
            ("10/Oct/2000:13:55:36 PDT", None),
            ("10/Oct/2000:13:55:36 ", None),
            ("10/Oct/2000:13:55:36.", None),
            ("10/Oct/2000:13:55", None),
            ("0000-01-01T00:00:00Z", None),
            ("2015-13-01T00:00:00Z", None),
            ("+015-01-01T00:00:00Z", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(written(text.as_bytes()), seconds, "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_day_before() {
        let mut expected = day(1899, 12, 31).unwrap();
        for year in 1900..2300 {
            for month in 1..=12 {
                for of_month in (1..=31).filter_map(|number| day(year, month, number)) {
                    expected += 86_400;
                    assert_eq!(of_month, expected, "{year}-{month}");
                    let mut text = Vec::new();
                    write_time(of_month + 3_661, &mut text);
                    assert!(text.ends_with(b"T01:01:01Z"), "{}", text.escape_ascii());
                    assert_eq!(written(&text), Some(of_month + 3_661));
                }
            }
        }
    }

    #[test]
    fn a_stamp_has_14_digits() {
        assert_eq!(stamp(b"20140126200624"), Some(1_390_766_784));
        for text in ["2014012620062", "20140126200624123", "20141326200624", "2014012620062x", ""] {
            assert_eq!(stamp(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_unit_of_an_epoch_follows_from_its_size() {
        let times = ["1646861401", "1646861401.52", "1646861401524.1", "1646861401524000"];
        for text in times.into_iter().chain(["1646861401524000000", "1.646861401e9"]) {
            assert_eq!(epoch(text.as_bytes()), Some(1_646_861_401), "{text}");
        }
        assert_eq!(epoch(b"18446744073709551616000000000000"), None);
        assert_eq!(epoch_in(b"1646861401524", 0), None);
        assert_eq!(epoch_in(b"1646861401524", -3), Some(1_646_861_401));
    }
}
