//! One test for each type of a part, and the order in which they are tried.

use std::net::{Ipv4Addr, Ipv6Addr};

use memchr::memchr;

use super::byte_class::{
    ALNUM, ALPHA, DIGIT, HEX_LETTER, LOWER, UPPER, all, classes, classes_of, is,
};
use super::literal::Piece;
use super::part_type::PartType;
use super::{date, extension, locale};

/// The digits from which on a number is no part of a name.
const LONG_NUMBER: usize = 5;

/// The length of a UUID, the shortest text that is of a type without a byte of `TELLING`.
pub(super) const UUID: usize = 36;

/// The type of a whole segment or query name.
pub(super) fn whole(text: &[u8], locales: bool) -> Option<PartType> {
    let found = if is_uuid(text) {
        PartType::Uuid
    } else if date::is_compact(text) || date::is_separated(text) {
        PartType::Date
    } else if all(text, DIGIT) {
        PartType::Int
    } else if is_hex(text) {
        PartType::Hex
    } else if is_ip(text) {
        PartType::Ip
    } else if is_email(text) {
        PartType::Email
    } else if is_token(text) {
        PartType::Token
    } else if locales && locale::is_locale(text) {
        PartType::Locale
    } else {
        return None;
    };
    Some(found)
}

/// The type of a whole segment, and its length without the extensions that stay. Extensions are set
/// aside before the test, since a token may hold dots as well.
pub(super) fn whole_before_extensions(text: &[u8], locales: bool) -> Option<(PartType, usize)> {
    let test = |length| whole(&text[..length], locales).map(|part_type| (part_type, length));
    let shorter = extension::start(text);
    let shortest = shorter.and_then(|length| extension::start(&text[..length]));
    shortest.and_then(test).or_else(|| shorter.and_then(test)).or_else(|| test(text.len()))
}

/// The type at the end of a run of letters and digits, and where it starts.
pub(super) fn run(text: &[u8]) -> Option<(usize, PartType)> {
    let letters = text.iter().take_while(|byte| is(**byte, ALPHA)).count();
    let number = &text[letters..];
    let is_number = number.len() >= LONG_NUMBER && all(number, DIGIT);
    match letters {
        0 if date::is_compact(text) => Some((0, PartType::Date)),
        0 if is_number => Some((0, PartType::Int)),
        _ if is_hex(text) => Some((0, PartType::Hex)),
        _ if is_token(text) => Some((0, PartType::Token)),
        _ if is_number => Some((letters, PartType::Int)),
        _ => None,
    }
}

/// The length of a UUID or a date with separators at the start of `text`, if no letter or digit
/// follows. Both hold several runs.
pub(super) fn of_runs_at_start(text: &[u8]) -> Option<(usize, PartType)> {
    if date::starts_separated(text) {
        return Some((10, PartType::Date));
    }
    let (uuid, rest) = text.split_at_checked(UUID)?;
    // A name in braces stands for digits that were there: the template of a template is itself.
    let ends = |next: &u8| !is(*next, ALNUM) && !matches!(Piece::read(rest), Piece::Name(..));
    (is_uuid(uuid) && rest.first().is_none_or(ends)).then_some((UUID, PartType::Uuid))
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == UUID
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => is(*byte, DIGIT | HEX_LETTER),
        })
}

fn is_hex(text: &[u8]) -> bool {
    if text.len() < 8 || !all(text, DIGIT | HEX_LETTER) {
        return false;
    }
    let seen = classes_of(text);
    let is_one_case = seen & ALPHA != ALPHA;
    let changes =
        || text.windows(2).filter(|pair| is(pair[0], DIGIT) != is(pair[1], DIGIT)).count();
    is_one_case && (matches!(text.len(), 32 | 40 | 64) && seen & DIGIT != 0 || changes() >= 2)
}

fn is_ip(text: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(text) else { return false };
    match text.len() {
        // `::` and `a::b` are names of code.
        2..=45 if text.contains(':') => {
            text.bytes().any(|byte| is(byte, DIGIT)) && text.parse::<Ipv6Addr>().is_ok()
        }
        7..=15 => text.parse::<Ipv4Addr>().is_ok_and(|ip| ip.octets().iter().any(|n| *n > 99)),
        _ => false,
    }
}

fn is_email(text: &[u8]) -> bool {
    let Some((user, domain)) = split_at_sign(text) else { return false };
    is_user(user) && is_domain(domain)
}

/// Before and after the only `@`, which may be a triplet.
fn split_at_sign(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(at) = memchr(b'@', text) {
        return Some((&text[..at], &text[at + 1..]));
    }
    let at = text.windows(3).position(|triplet| triplet == b"%40")?;
    Some((&text[..at], &text[at + 3..]))
}

/// Letters, digits and `.`, `_`, `~`, `+`, `-`; the `+` may be a triplet.
fn is_user(mut text: &[u8]) -> bool {
    if text.is_empty() {
        return false;
    }
    while let [first, rest @ ..] = text {
        text = match first {
            b'%' if rest.starts_with(b"2B") || rest.starts_with(b"2b") => &rest[2..],
            b'.' | b'_' | b'~' | b'+' | b'-' => rest,
            byte if is(*byte, ALNUM) => rest,
            _ => return false,
        };
    }
    true
}

fn is_domain(text: &[u8]) -> bool {
    let Some(dot) = text.iter().rposition(|byte| *byte == b'.') else { return false };
    let (labels, last) = (&text[..dot], &text[dot + 1..]);
    let is_label = |label: &[u8]| {
        !label.is_empty() && label.iter().all(|byte| is(*byte, ALNUM) || *byte == b'-')
    };
    last.len() >= 2
        && all(last, ALPHA)
        && !extension::is_extension(last)
        && labels.split(|byte| *byte == b'.').all(is_label)
}

fn is_token(text: &[u8]) -> bool {
    is_json_token(text) || is_random(text)
}

/// `eyJ` is how `{"` begins in base64.
fn is_json_token(text: &[u8]) -> bool {
    text.starts_with(b"eyJ") && text.iter().all(|byte| is_base64url(*byte) || *byte == b'.')
}

fn is_random(text: &[u8]) -> bool {
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let text = &text[..text.len() - padding];
    if text.len() < 16 || !text.iter().all(|byte| is_base64url(*byte)) {
        return false;
    }
    let changes = text.windows(2).filter(|pair| is_change(pair[0], pair[1])).count();
    4 * changes >= text.len() && classes_of(text) & DIGIT != 0
}

fn is_base64url(byte: u8) -> bool {
    is(byte, ALNUM) || matches!(byte, b'-' | b'_')
}

/// True if the bytes are of two of the classes digit, lower and upper case, but not upper, then lower.
fn is_change(first: u8, second: u8) -> bool {
    let (first, second) = (classes(first) & ALNUM, classes(second) & ALNUM);
    first != 0 && second != 0 && first != second && (first, second) != (UPPER, LOWER)
}
