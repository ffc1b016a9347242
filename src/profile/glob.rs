//! Patterns for the names of query parameters and for paths, and lists of them.

use std::fmt;

use super::starts::Starts;
use crate::bytes::set;

/// A pattern: `*` stands for any bytes, `?` for any one byte, every other byte for itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glob(Box<[u8]>);

impl Glob {
    pub(crate) fn new(text: &[u8]) -> Self {
        Self(text.into())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many bytes stand for themselves.
    #[cfg(feature = "profile-file")]
    pub(crate) fn literals(&self) -> usize {
        self.0.iter().filter(|byte| !matches!(byte, b'*' | b'?')).count()
    }

    /// True if the pattern matches all of `name`. Time is proportional to the length of the name times
    /// that of the pattern: at a mismatch only the text of the last `*` grows.
    pub(crate) fn matches(&self, name: &[u8], case: Case) -> bool {
        let (mut at, mut read) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match self.0.get(at) {
                // All that is left belongs to this star, whatever it is. To go on byte by byte
                // would change nothing.
                Some(b'*') if at + 1 == self.0.len() => return true,
                Some(b'*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(b'?') => (at, read) = (at + 1, read + 1),
                Some(byte) if case.fold(*byte) == case.fold(name[read]) => {
                    (at, read) = (at + 1, read + 1);
                }
                _ => {
                    // Earlier stars need not grow: the last one starts at the first place where all
                    // before it fits.
                    let Some((star_at, until)) = star else { return false };
                    star = Some((star_at, until + 1));
                    (at, read) = (star_at + 1, until + 1);
                }
            }
        }
        self.0[at..].iter().all(|byte| *byte == b'*')
    }
}

/// Whether letters of different case are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Case {
    #[default]
    Exact,
    Ignored,
}

impl Case {
    /// The byte that stands for all that are equal to this one.
    #[inline]
    fn fold(self, byte: u8) -> u8 {
        match self {
            Case::Exact => byte,
            Case::Ignored => byte.to_ascii_lowercase(),
        }
    }
}

/// A list of patterns, built for many lookups.
///
/// Nearly all patterns of a long list are names, or a start with `*` after it. Both are found by binary search, so
/// only the others cost time for each name, and their number is limited.
#[derive(Clone)]
pub(crate) struct Globs {
    /// In byte order, without duplicates: neither order nor number affects matches.
    all: Vec<Glob>,
    case: Case,
    /// A filter for nearly all names.
    starts: Box<Starts>,
    /// The patterns without a wildcard, sorted.
    names: Vec<Vec<u8>>,
    /// Starts that anything may follow, sorted. None starts with another.
    prefixes: Vec<Vec<u8>>,
    /// The patterns with a wildcard elsewhere.
    wild: Vec<Glob>,
}

/// The most patterns with a wildcard before their end. Each of them is compared with each name.
pub(crate) const MOST_WILD: usize = 1_000;

impl Globs {
    pub(crate) fn new(mut all: Vec<Glob>, case: Case) -> Self {
        all.sort_unstable();
        all.dedup();
        let mut starts = Box::new(Starts::NONE);
        let (mut names, mut prefixes, mut wild) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = None;
        for glob in &all {
            // A canonical URL may spell other bytes as triplets.
            let known = glob.0.iter().position(|byte| !set::UNRESERVED.contains(*byte));
            let start = &glob.0[..known.unwrap_or(glob.0.len())];
            // An empty start adds all bits. The patterns of a list like `*a`, `*b`, ... add them once.
            if before.replace(start) != Some(start) {
                starts.add(start);
            }
            let mut text: Vec<u8> = glob.0.iter().map(|byte| case.fold(*byte)).collect();
            match text.iter().position(|byte| matches!(byte, b'*' | b'?')) {
                None => names.push(text),
                Some(end) if text[end..] == *b"*" => {
                    text.truncate(end);
                    prefixes.push(text);
                }
                Some(_) => wild.push(glob.clone()),
            }
        }
        names.sort_unstable();
        prefixes.sort_unstable();
        prefixes.dedup_by(|next: &mut Vec<u8>, prefix| next.starts_with(prefix));
        Self { all, case, starts, names, prefixes, wild }
    }

    /// The starts of matching names, as a canonical URL spells them.
    pub(crate) fn starts(&self) -> &Starts {
        &self.starts
    }

    /// True if more patterns than [`MOST_WILD`] have a wildcard before their end.
    pub(crate) fn is_too_wild(&self) -> bool {
        self.wild.len() > MOST_WILD
    }

    /// True if one of the patterns matches.
    #[inline]
    pub(crate) fn match_any(&self, name: &[u8]) -> bool {
        // After a name of fewer than three bytes the filter accepts any others.
        let mut first = [0; 4];
        let length = name.len().min(3);
        first[..length].copy_from_slice(&name[..length]);
        self.starts.hold(u32::from_le_bytes(first)) && self.find(name)
    }

    fn find(&self, name: &[u8]) -> bool {
        let folded = || name.iter().map(|byte| self.case.fold(*byte));
        let order = |text: &Vec<u8>| text.iter().copied().cmp(folded());
        // The prefix of a name is the last one that does not follow it: no other prefix is between them.
        let end = self.prefixes.partition_point(|prefix| order(prefix).is_le());
        self.names.binary_search_by(order).is_ok()
            || self.prefixes[..end].last().is_some_and(|prefix| {
                prefix.len() <= name.len() && prefix.iter().copied().eq(folded().take(prefix.len()))
            })
            || self.wild.iter().any(|glob| glob.matches(name, self.case))
    }

    /// The patterns, as they were given.
    pub(crate) fn patterns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.all.iter().map(|glob| &*glob.0)
    }
}

/// The other fields follow from the patterns.
impl PartialEq for Globs {
    fn eq(&self, other: &Self) -> bool {
        (&self.all, self.case) == (&other.all, other.case)
    }
}

/// Prints the patterns between commas, escaped so that no pattern reads as two, or as text after the
/// list.
impl fmt::Display for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, glob) in self.all.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "," })?;
            for byte in &glob.0 {
                match byte {
                    b',' | b' ' => write!(f, "\\x{byte:02x}")?,
                    byte => write!(f, "{}", byte.escape_ascii())?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Globs({self}, {:?})", self.case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of a match, byte by byte.
    fn fits(glob: &[u8], name: &[u8]) -> bool {
        match (glob.first(), name.first()) {
            (None, None) => true,
            (Some(b'*'), _) => {
                fits(&glob[1..], name) || (!name.is_empty() && fits(glob, &name[1..]))
            }
            (Some(b'?'), Some(_)) => fits(&glob[1..], &name[1..]),
            (Some(a), Some(b)) => a == b && fits(&glob[1..], &name[1..]),
            _ => false,
        }
    }

    #[test]
    fn short_globs_agree_with_a_plain_matcher() {
        let words = |letters: &[u8], longest: u32| {
            let mut words = vec![Vec::new()];
            let mut start = 0;
            for _ in 0..longest {
                let end = words.len();
                for i in start..end {
                    for letter in letters {
                        let mut word = words[i].clone();
                        word.push(*letter);
                        words.push(word);
                    }
                }
                start = end;
            }
            words
        };
        for glob in words(b"ab*?", 4) {
            let one = Globs::new(vec![Glob::new(&glob)], Case::Exact);
            for name in words(b"ab", 5) {
                let expected = fits(&glob, &name);
                assert_eq!(one.match_any(&name), expected, "{} {name:?}", glob.escape_ascii());
            }
        }
    }

    #[test]
    fn many_patterns_fit_what_any_of_them_fits() {
        let mut patterns: Vec<String> = (0..200).map(|n| format!("*a{n}?B*{}", n % 7)).collect();
        patterns.extend((0..200).map(|n| format!("Utm_long_prefix_{n}")));
        patterns.extend((0..200).map(|n| format!("Pre{n}*")));
        patterns.extend(["?x?", "???????????", "*-", "", "q*", "Pr**"].map(String::from));
        for case in [Case::Exact, Case::Ignored] {
            let globs = |patterns: &[String]| {
                Globs::new(patterns.iter().map(|p| Glob::new(p.as_bytes())).collect(), case)
            };
            let all = globs(&patterns);
            let each: Vec<Globs> = patterns.chunks(1).map(globs).collect();
            assert!([all.names.len(), all.prefixes.len(), all.wild.len()].iter().all(|n| *n > 1));
            let names = (0..210).flat_map(|n| {
                let end = n % 9;
                [
                    format!("a{n}_B{end}"),
                    format!("..A{n}_b..{end}"),
                    format!("utm_LONG_prefix_{n}"),
                    format!("Utm_long_prefix_{n}"),
                    "x".repeat(n % 13),
                    format!("{n}-"),
                    format!("{}{n}x", ["Pre", "pre", "pr", "Pr", "q"][n % 5]),
                ]
            });
            for name in names {
                let expected = each.iter().any(|one| one.match_any(name.as_bytes()));
                assert_eq!(all.match_any(name.as_bytes()), expected, "{name} {case:?}");
            }
        }
    }

    #[test]
    fn different_lists_have_different_descriptions() {
        let told = |patterns: &[&str]| {
            let all = patterns.iter().map(|pattern| Glob::new(pattern.as_bytes())).collect();
            Globs::new(all, Case::Exact).to_string()
        };
        assert_eq!(told(&["utm_*", "a?", "utm_*"]), "a?,utm_*");
        assert_eq!(told(&["a,b", "c d\\"]), r"a\x2cb,c\x20d\\");
        assert_eq!(told(&[r"a\x2cb"]), r"a\\x2cb");
    }

    #[test]
    fn case_is_ignored_unless_exact_is_set() {
        let globs = |case| Globs::new(vec![Glob::new(b"utm_*"), Glob::new(b"ScCid")], case);
        assert!(
            globs(Case::Ignored).match_any(b"UTM_a") && globs(Case::Ignored).match_any(b"sccID")
        );
        assert!(!globs(Case::Exact).match_any(b"UTM_a") && globs(Case::Exact).match_any(b"ScCid"));
    }
}
