//! The times in envelopes. Only their length matters.

/// Length of the time of RFC 3339 at the start of `text`: `2024-01-01T00:00:00.123456+00:00`. The
/// offset may lack its colon, and the fraction may have any number of digits.
pub(super) fn rfc3339(text: &[u8]) -> Option<usize> {
    let seconds = matches(text, b"dddd-dd-ddTdd:dd:dd")?;
    let seconds = seconds + fraction(&text[seconds..])?;
    let offset = match text.get(seconds)? {
        b'Z' | b'z' => 1,
        b'+' | b'-' => {
            let offset = &text[seconds + 1..];
            1 + matches(offset, b"dd:dd").or_else(|| matches(offset, b"dddd"))?
        }
        _ => return None,
    };
    Some(seconds + offset)
}

/// Length of the time of RFC 3164 at the start of `text`: `Jan  1 00:00:00`. Some senders write the
/// day without its padding, the year after it, or a fraction.
pub(super) fn rfc3164(text: &[u8]) -> Option<usize> {
    const MONTHS: [&[u8]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
        b"Dec",
    ];
    let month = text.get(..3)?;
    if !MONTHS.contains(&month) {
        return None;
    }
    const DAYS: [&[u8]; 3] = [b"  d ", b" dd ", b" d "];
    let at = 3 + DAYS.iter().find_map(|day| matches(&text[3..], day))?;
    let at = at + matches(&text[at..], b"dddd ").unwrap_or(0);
    let at = at + matches(&text[at..], b"dd:dd:dd")?;
    Some(at + fraction(&text[at..])?)
}

/// Length of a fraction of a second, or 0 if there is none; an error if it has no digits.
fn fraction(text: &[u8]) -> Option<usize> {
    let Some(digits) = text.strip_prefix(b".") else { return Some(0) };
    match digits.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => None,
        count => Some(count + 1),
    }
}

/// Length of `pattern` if `text` begins with it. A `d` stands for a digit.
fn matches(text: &[u8], pattern: &[u8]) -> Option<usize> {
    let start = text.get(..pattern.len())?;
    let fits = start.iter().zip(pattern).all(|(byte, meant)| match meant {
        b'd' => byte.is_ascii_digit(),
        meant => byte == meant,
    });
    fits.then_some(pattern.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_all_offsets_and_fractions_are_measured() {
        for time in [
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00z",
            "2024-01-01T00:00:00.1-07:30",
            "2025-12-31T17:37:40.493035218+01:00",
            "2024-01-01T00:00:00+0000",
        ] {
            let line = format!("{time} x");
            assert_eq!(rfc3339(line.as_bytes()), Some(time.len()), "{time}");
            assert_eq!(rfc3339(time.as_bytes()), Some(time.len()), "{time}");
        }
        for time in ["2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z", ""] {
            assert_eq!(rfc3339(time.as_bytes()), None, "{time}");
        }
        for time in
            ["Jan  1 00:00:00", "Dec 31 23:59:59", "Feb 3 01:02:03", "May  4 2024 01:02:03.5"]
        {
            let line = format!("{time} x");
            assert_eq!(rfc3164(line.as_bytes()), Some(time.len()), "{time}");
        }
        for time in ["jan  1 00:00:00", "Jan 1", "Jan   1 00:00:00", "Foo  1 00:00:00", "Ja"] {
            assert_eq!(rfc3164(time.as_bytes()), None, "{time}");
        }
    }
}
