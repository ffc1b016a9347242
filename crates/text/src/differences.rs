//! In which characters two URLs differ.

use std::ops::Range;

/// Pairs of characters that are compared; beyond that all between the first and the last difference
/// counts as one.
const PAIRS: usize = 1 << 20;

/// The parts of two URLs that the other one does not have, each in order. A triplet is one character.
pub fn differences(a: &[u8], b: &[u8]) -> [Vec<Range<usize>>; 2] {
    let (a, b) = (characters(a), characters(b));
    let same = |(a, b): (&&[u8], &&[u8])| a == b;
    // URLs mostly agree at both ends, and the table below grows with the product of their lengths.
    let front = a.iter().zip(&b).take_while(|pair| same((pair.0, pair.1))).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev());
    let back = back.take_while(|pair| same((pair.0, pair.1))).count();
    let (a_mid, b_mid) = (&a[front..a.len() - back], &b[front..b.len() - back]);
    let kept = common(a_mid, b_mid);
    let offset = |text: &[&[u8]]| text.iter().map(|character| character.len()).sum::<usize>();
    let start = offset(&a[..front]);
    [ranges(a_mid, start, kept.iter().map(|pair| pair.0)), {
        ranges(b_mid, start, kept.iter().map(|pair| pair.1))
    }]
}

fn characters(url: &[u8]) -> Vec<&[u8]> {
    let mut characters = Vec::new();
    let mut rest = url;
    while !rest.is_empty() {
        let is_triplet =
            matches!(rest, [b'%', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
        let (character, behind) = rest.split_at(if is_triplet { 3 } else { 1 });
        characters.push(character);
        rest = behind;
    }
    characters
}

/// A longest common subsequence, as pairs of places.
fn common(a: &[&[u8]], b: &[&[u8]]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    if (a.len() + 1).saturating_mul(width) > PAIRS {
        return Vec::new();
    }
    // Length of the longest one after each pair of places.
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    // From the ends, so that the walk below goes forwards, and the parts come out in order.
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = if a[i] == b[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The bytes of the characters that are not kept; `start` is the offset of the first character.
fn ranges(text: &[&[u8]], start: usize, kept: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut kept = kept.peekable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    for (i, character) in text.iter().enumerate() {
        let end = at + character.len();
        if kept.next_if_eq(&i).is_none() {
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => ranges.push(at..end),
            }
        }
        at = end;
    }
    ranges
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list of ranges may have one")]
mod tests {
    use super::*;

    #[test]
    fn differences_are_marked_by_character() {
        let marks = |a: &str, b: &str| differences(a.as_bytes(), b.as_bytes());
        assert_eq!(marks("http://h:80/", "http://h/"), [vec![8..11], vec![]]);
        assert_eq!(marks("HtTp", "http"), [vec![0..1, 2..3], vec![0..1, 2..3]]);
        assert_eq!(marks("/%32a%32", "/2a2"), [vec![1..4, 5..8], vec![1..2, 3..4]]);
        assert_eq!(marks("/a/../b", "/b"), [vec![1..6], vec![]]);
        assert_eq!(marks("", "a"), [vec![], vec![0..1]]);
        let none: [Vec<Range<usize>>; 2] = [vec![], vec![]];
        assert_eq!(marks("same", "same"), none);
        let (a, b) = ("a".repeat(5000), "b".repeat(5000));
        assert_eq!(marks(&a, &b), [vec![0..5000], vec![0..5000]]);
    }
}
