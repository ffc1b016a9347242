//! Dates as the command prints them: RFC 3339, in UTC.

use std::time::{Duration, UNIX_EPOCH};

use uniqurl_store::seen::UnixTime;

/// The last second that has a date of four digits.
const LAST: u64 = 253_402_300_799;

/// The date and time, as in `2026-11-27T08:00:00Z`.
pub(crate) fn shown(time: UnixTime) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(time.0.min(LAST));
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_shown_in_utc() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2026-11-27T08:00:00Z", 1_795_766_400),
            ("9999-12-31T23:59:59Z", LAST),
            ("9999-12-31T23:59:59Z", u64::MAX),
        ] {
            assert_eq!(shown(UnixTime(seconds)), text);
        }
    }
}
