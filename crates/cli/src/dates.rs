//! Dates as the command reads and prints them: RFC 3339, in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::args;
use uniqurl_store::seen::UnixTime;

/// The last second that has a date of four digits.
const LAST: u64 = 253_402_300_799;

/// Reads a day, as in `2026-11-27`, which stands for its first second, a time such as
/// `2026-11-27T08:00:00Z`, or an age such as `30d`, which ends now.
pub(crate) fn parse(text: &str) -> Result<UnixTime, String> {
    if let Ok(age) = args::age(text) {
        return Ok(UnixTime(UnixTime::now().0.saturating_sub(age)));
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    let time: Option<SystemTime> = humantime::parse_rfc3339(&whole).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let since =
        since.ok_or("not a date like 2026-11-27 or 2026-11-27T08:00:00Z, or an age like 30d");
    Ok(UnixTime(since?.as_secs()))
}

/// The date and time, as in `2026-11-27T08:00:00Z`.
pub(crate) fn shown(time: UnixTime) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(time.0.min(LAST));
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_shown() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2026-11-27T08:00:00Z", 1_795_766_400),
            ("9999-12-31T23:59:59Z", LAST),
        ] {
            assert_eq!(parse(text), Ok(UnixTime(seconds)), "{text}");
            assert_eq!(shown(UnixTime(seconds)), text);
        }
        assert_eq!(parse("2026-11-27"), Ok(UnixTime(1_795_737_600)));
        let now = UnixTime::now().0;
        let day = parse("1d").expect("an age").0;
        assert!((now - 86_400..now - 86_000).contains(&day));
        assert_eq!(parse("999999w"), Ok(UnixTime(0)));
        assert_eq!(shown(UnixTime(u64::MAX)), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn other_dates_are_errors() {
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-30",
            "27.11.2026",
            "2026-11-27 08:00",
            "x",
        ] {
            assert!(parse(text).expect_err(text).contains("not a date like"), "{text}");
        }
    }
}
