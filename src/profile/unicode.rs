//! The code points of Unicode 17 and their scripts, from `data/unicode-17.txt`.
//!
//! The crates that hosts go through follow newer versions of Unicode, and an update of them is compatible by
//! their version numbers. Whether a host has a canonical form must not depend on it: the output of one version
//! of a profile never changes. So what a later Unicode may add is decided here.

use std::sync::LazyLock;

struct Range {
    first: u32,
    last: u32,
    scripts: &'static str,
}

/// In ascending order.
static RANGES: LazyLock<Vec<Range>> = LazyLock::new(|| {
    let lines = include_str!("../../data/unicode-17.txt").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(range).collect()
});

fn range(line: &'static str) -> Option<Range> {
    let (ends, scripts) = line.split_once(' ')?;
    let (first, last) = ends.split_once("..")?;
    let number = |hex| u32::from_str_radix(hex, 16).ok();
    Some(Range { first: number(first)?, last: number(last)?, scripts })
}

/// True if Unicode 17 has assigned the code point.
pub(crate) fn is_assigned(c: char) -> bool {
    // Most of a host is ASCII, and nothing before U+0378 is unassigned.
    c < '\u{378}' || range_of(c).is_some()
}

/// The short names of the scripts that use the character (`Script_Extensions`): `Zyyy` for all, `Zinh` for that of
/// the character before, `Zzzz` if the code point is not assigned.
pub(crate) fn scripts(c: char) -> impl Iterator<Item = &'static str> + Clone {
    range_of(c).map_or("Zzzz", |range| range.scripts).split(' ')
}

fn range_of(c: char) -> Option<&'static Range> {
    let at = RANGES.partition_point(|range| range.last < u32::from(c));
    RANGES.get(at).filter(|range| range.first <= u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_all_code_points_of_unicode_17() {
        assert!(RANGES.iter().all(|range| range.first <= range.last));
        assert!(RANGES.windows(2).all(|pair| pair[0].last < pair[1].first));
        assert!(RANGES.iter().all(|range| range.scripts.split(' ').all(|name| name.len() == 4)));
        // The characters that the standard counts, private use, surrogates, control characters.
        let count: u32 = RANGES.iter().map(|range| range.last - range.first + 1).sum();
        assert_eq!(count, 159_801 + 137_468 + 2_048 + 65);
    }

    #[test]
    fn scripts_are_those_of_script_extensions() {
        let all = |c| scripts(c).collect::<Vec<_>>();
        assert_eq!(all('a'), ["Latn"]);
        assert_eq!(all('-'), ["Zyyy"]);
        assert_eq!(all('\u{30FC}'), ["Hira", "Kana"]);
        assert_eq!(all('\u{378}'), ["Zzzz"]);
        assert!(is_assigned('\u{377}') && !is_assigned('\u{378}') && !is_assigned('\u{379}'));
    }
}
