//! Real dates of the years 1990 to 2099: in one text, and over segments.

use super::byte_class::{DIGIT, all, is};

/// `YYYYMMDD`.
pub(super) fn is_compact(text: &[u8]) -> bool {
    text.len() == 8 && is_real(&text[..4], &text[4..6], &text[6..])
}

/// `YYYY-MM-DD`, with `-`, `_` or `.` in both places.
pub(super) fn is_separated(text: &[u8]) -> bool {
    text.len() == 10
        && matches!(text[4], b'-' | b'_' | b'.')
        && text[7] == text[4]
        && is_real(&text[..4], &text[5..7], &text[8..])
}

/// The length of `YYYY/M/D` or `YYYY/M` at the start of a path of segments, with one or two digits for
/// month and day. The last of them may have parameters (`;`), which do not count.
pub(super) fn over_segments(path: &[u8]) -> Option<usize> {
    let year = path.get(..4)?;
    if path.get(4) != Some(&b'/') {
        return None;
    }
    let month_end = number_end(path, 5)?;
    let month = &path[5..month_end];
    if path.get(month_end) == Some(&b'/')
        && let Some(day_end) = number_end(path, month_end + 1)
        && is_real(year, month, &path[month_end + 1..day_end])
    {
        return Some(day_end);
    }
    // The month alone makes a date too, and each month has a first day.
    is_real(year, month, b"1").then_some(month_end)
}

/// The end of one or two digits that begin at `start` and end their segment.
fn number_end(path: &[u8], start: usize) -> Option<usize> {
    // A third digit shows that this is neither a month nor a day.
    let length = path[start..].iter().take(3).take_while(|byte| is(**byte, DIGIT)).count();
    let end = start + length;
    let ends = matches!(path.get(end), None | Some(b'/' | b';'));
    (matches!(length, 1 | 2) && ends).then_some(end)
}

fn is_real(year: &[u8], month: &[u8], day: &[u8]) -> bool {
    if !(all(year, DIGIT) && all(month, DIGIT) && all(day, DIGIT)) {
        return false;
    }
    let (year, month, day) = (number(year), number(month), number(day));
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1990..=2099).contains(&year) && (1..=days).contains(&day)
}

/// At most four digits.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}
