//! Checks of characters: overlong UTF-8, and characters that change the direction of the text around them.

use crate::bytes::{decoded, octets};

/// The offset of the first sequence of UTF-8 that is longer than its character needs (RFC 3629 section
/// 3), if the rest of the component is UTF-8. In other charsets such octets are letters: `%C0%B4` is one
/// in GBK, and the text around it then holds octets that are not UTF-8.
pub(super) fn find_overlong(component: &[u8]) -> Option<usize> {
    let mut values = decoded(component).into_owned();
    let mut first = None;
    for i in 0..values.len() {
        if let Some(length) = overlong(&values[i..]) {
            first.get_or_insert(i);
            // Octets on both sides do not make a character together.
            values[i..i + length].fill(b' ');
        }
    }
    first.filter(|_| std::str::from_utf8(&values).is_ok()).and_then(|i| offset(component, i))
}

/// The length of the overlong sequence that `octets` starts with. Forms of five and six octets count: they
/// were UTF-8 once.
fn overlong(octets: &[u8]) -> Option<usize> {
    let length = match octets {
        [0xC0 | 0xC1, 0x80..=0xBF, ..] => 2,
        [0xE0, 0x80..=0x9F, ..] => 3,
        [0xF0, 0x80..=0x8F, ..] => 4,
        [0xF8, 0x80..=0x87, ..] => 5,
        [0xFC, 0x80..=0x83, ..] => 6,
        _ => return None,
    };
    let whole = octets.get(1..length)?.iter().all(|octet| matches!(octet, 0x80..=0xBF));
    whole.then_some(length)
}

/// The offset of the first character that controls the direction of text (`Bidi_Control`, UAX 9).
pub(super) fn find_bidi_control(component: &[u8]) -> Option<usize> {
    let values = decoded(component);
    let is_one = |i: &usize| {
        matches!(
            values[*i..],
            [0xD8, 0x9C, ..]
                | [0xE2, 0x80, 0x8E | 0x8F | 0xAA..=0xAE, ..]
                | [0xE2, 0x81, 0xA6..=0xA9, ..]
        )
    };
    (0..values.len()).find(is_one).and_then(|i| offset(component, i))
}

/// The offset of octet `i` of a component.
fn offset(component: &[u8], i: usize) -> Option<usize> {
    octets(component).nth(i).map(|octet| octet.at)
}
