//! One test for each type of a part, and the order in which they are tried.

use std::net::{Ipv4Addr, Ipv6Addr};

use memchr::memchr;

use super::byte_class::{
    ALNUM, ALPHA, AT, COLON, Classes, DASH, DIGIT, DOT, EQUALS, HEX_LETTER, J, LOWER, ODD,
    OTHER_LETTER, UPPER, all, classes, classes_of, is,
};
use super::literal::braced_name;
use super::part_type::PartType;
use super::{date, extension};
use crate::bytes::{Octet, octets};

/// The classes of base64url.
const BASE64URL: Classes = ALNUM | HEX_LETTER | OTHER_LETTER | DASH | J;
/// The digits from which on a number is no part of a name.
const LONG_NUMBER: usize = 5;

/// The length of a UUID, the shortest text that is of a type without a byte of `TELLING`.
pub(super) const UUID: usize = 36;

/// The type of a whole segment or query name, which has these classes of bytes.
///
/// Each test is tried only if the classes allow it: most names fail without a look at their bytes.
#[inline]
pub(super) fn whole(text: &[u8], seen: Classes) -> Option<PartType> {
    // The order is that of `PartType`. A date is a number too, and a number is hexadecimal, so the
    // narrow types come first.
    let found = if is_uuid(text) {
        PartType::Uuid
    } else if date::is_compact(text) || date::is_separated(text) {
        PartType::Date
    } else if seen == DIGIT {
        PartType::Int
    } else if is_hex(text, seen) {
        PartType::Hex
    } else if seen & DIGIT != 0 && seen & (DOT | COLON) != 0 && is_ip(text, seen) {
        PartType::Ip
    } else if seen & (AT | ODD) != 0 && seen & DOT != 0 && is_email(text) {
        PartType::Email
    } else if is_token(text, seen) {
        PartType::Token
    } else {
        return None;
    };
    Some(found)
}

/// The type of a whole segment, and its length without the extensions that stay. Extensions are set
/// aside before the test, since a token may hold dots as well.
#[inline]
pub(super) fn whole_before_extensions(text: &[u8], seen: Classes) -> Option<(PartType, usize)> {
    let found = if seen & DOT == 0 { None } else { before_extensions(text) };
    found.or_else(|| Some((whole(text, seen)?, text.len())))
}

fn before_extensions(text: &[u8]) -> Option<(PartType, usize)> {
    let test = |length: usize| whole(&text[..length], classes_of(&text[..length]));
    let last = extension::dot(text)?;
    let before = extension::dot(&text[..last]);
    // Types are tested before extensions: fewer names have one, and extensions are searched in a table.
    let (part_type, length) = match before.and_then(|dot| Some((test(dot)?, dot))) {
        Some(found) if extension::is_extension(&text[found.1 + 1..last]) => found,
        _ => (test(last)?, last),
    };
    extension::is_extension(&text[last + 1..]).then_some((part_type, length))
}

/// The type at the end of a run of letters and digits, and where it starts.
pub(super) fn run(text: &[u8], seen: Classes) -> Option<(usize, PartType)> {
    let letters = text.iter().take_while(|byte| is(**byte, ALPHA)).count();
    let number = &text[letters..];
    let is_number = number.len() >= LONG_NUMBER && all(number, DIGIT);
    match letters {
        0 if date::is_compact(text) => Some((0, PartType::Date)),
        0 if is_number => Some((0, PartType::Int)),
        _ if is_hex(text, seen) => Some((0, PartType::Hex)),
        _ if is_token(text, seen) => Some((0, PartType::Token)),
        _ if is_number => Some((letters, PartType::Int)),
        _ => None,
    }
}

/// The length of a UUID or a date with separators at the start of `text`, if no letter or digit
/// follows. Both hold several runs.
pub(super) fn of_runs_at_start(text: &[u8]) -> Option<(usize, PartType)> {
    let ends_run = |rest: &[u8]| !rest.first().is_some_and(|next| is(*next, ALNUM));
    if let Some((day, rest)) = text.split_at_checked(10)
        && date::is_separated(day)
        && ends_run(rest)
    {
        return Some((10, PartType::Date));
    }
    let (uuid, rest) = text.split_at_checked(UUID)?;
    // A name in braces stands for digits that were there: the template of a template is itself.
    let is_whole = ends_run(rest) && braced_name(rest).is_none();
    (is_whole && is_uuid(uuid)).then_some((UUID, PartType::Uuid))
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == UUID
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => is(*byte, DIGIT | HEX_LETTER),
        })
}

fn is_hex(text: &[u8], seen: Classes) -> bool {
    if text.len() < 8 || seen & !(DIGIT | HEX_LETTER | ALPHA) != 0 || seen & ALPHA == ALPHA {
        return false;
    }
    let changes =
        || text.windows(2).filter(|pair| is(pair[0], DIGIT) != is(pair[1], DIGIT)).count();
    matches!(text.len(), 32 | 40 | 64) && seen & DIGIT != 0 || changes() >= 2
}

/// `text` has a digit. Without one, `::` and `a::b` are names of code.
fn is_ip(text: &[u8], seen: Classes) -> bool {
    if seen & COLON != 0 {
        // No spelling of an IPv6 address is longer.
        text.len() <= 45 && str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
    } else if seen == DIGIT | DOT && matches!(text.len(), 7..=15) {
        let address = str::from_utf8(text).ok().and_then(|text| text.parse::<Ipv4Addr>().ok());
        // Versions have four numbers as well, but hardly one above 99.
        address.is_some_and(|address| address.octets().iter().any(|number| *number > 99))
    } else {
        false
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
fn is_user(text: &[u8]) -> bool {
    let is_literal = |byte| is(byte, ALNUM) || b"._~+-".contains(&byte);
    let is_of_user =
        |octet: Octet| octet.value == b'+' || !octet.encoded && is_literal(octet.value);
    !text.is_empty() && octets(text).all(is_of_user)
}

fn is_domain(text: &[u8]) -> bool {
    let Some(dot) = text.iter().rposition(|byte| *byte == b'.') else { return false };
    let (labels, last) = (&text[..dot], &text[dot + 1..]);
    let is_label = |label: &[u8]| {
        !label.is_empty() && label.iter().all(|byte| is(*byte, ALNUM) || *byte == b'-')
    };
    last.len() >= 2
        && all(last, ALPHA)
        // `icon@2x.png` is a file and no address.
        && !extension::is_extension(last)
        && labels.split(|byte| *byte == b'.').all(is_label)
}

fn is_token(text: &[u8], seen: Classes) -> bool {
    seen & J != 0 && is_json_token(text, seen) || text.len() >= 16 && is_random(text, seen)
}

/// `eyJ` is how `{"` begins in base64.
fn is_json_token(text: &[u8], seen: Classes) -> bool {
    text.starts_with(b"eyJ") && seen & !(BASE64URL | DOT) == 0
}

fn is_random(text: &[u8], seen: Classes) -> bool {
    if seen & !(BASE64URL | EQUALS) != 0 || seen & DIGIT == 0 {
        return false;
    }
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let text = &text[..text.len() - padding];
    if text.len() < 16 || seen & EQUALS != 0 && text.contains(&b'=') {
        return false;
    }
    let changes = text.windows(2).filter(|pair| is_change(pair[0], pair[1])).count();
    4 * changes >= text.len()
}

/// True if the bytes are of two of the classes digit, lower and upper case, but not upper, then lower.
fn is_change(first: u8, second: u8) -> bool {
    let (first, second) = (classes(first) & ALNUM, classes(second) & ALNUM);
    first != 0 && second != 0 && first != second && (first, second) != (UPPER, LOWER)
}
