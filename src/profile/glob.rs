//! Patterns for the names of query parameters, and lists of them.

use std::fmt;

use super::glob_index::GlobIndex;
use super::starts::Starts;
use crate::bytes::set;

/// A pattern: `*` stands for any bytes, `?` for any one byte, every other byte for itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glob(Box<[u8]>);

impl Glob {
    pub(crate) fn new(text: &[u8]) -> Self {
        Self(text.into())
    }

    /// True if the pattern matches all of `name`. Time is proportional to the length of the name times
    /// that of the pattern: at a mismatch only the text of the last `*` grows.
    pub(crate) fn matches(&self, name: &[u8], case: Case) -> bool {
        let (mut at, mut read) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match self.0.get(at) {
                Some(b'*') if at + 1 == self.0.len() => return true,
                Some(b'*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(b'?') => (at, read) = (at + 1, read + 1),
                Some(byte) if case.same(*byte, name[read]) => (at, read) = (at + 1, read + 1),
                _ => {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Exact,
    Ignored,
}

impl Case {
    #[inline]
    fn same(self, a: u8, b: u8) -> bool {
        match self {
            Case::Exact => a == b,
            Case::Ignored => a.eq_ignore_ascii_case(&b),
        }
    }
}

/// A list of patterns, built for many lookups.
#[derive(Clone)]
pub(crate) struct Globs {
    /// In byte order, without duplicates: neither order nor number affects matches.
    all: Vec<Glob>,
    case: Case,
    /// Whether a name of no bytes matches.
    fits_nothing: bool,
    /// For each first byte of a name, the patterns that may match; none of them if there is an index.
    by_first: Vec<Candidates>,
    /// The patterns by their literals, if there are many.
    index: Option<Box<GlobIndex>>,
}

/// So many patterns are faster to try than to find.
const FEW: usize = 32;

/// Patterns for names that start with the same byte.
#[derive(Clone, Default)]
struct Candidates {
    patterns: Vec<usize>,
    /// A bit for each second byte of a matching name: two bytes decide about nearly every name.
    seconds: [u64; 4],
}

impl Candidates {
    fn add(&mut self, glob: &Glob, case: Case) {
        let byte = match (glob.0.first(), glob.0.get(1)) {
            (Some(b'*'), _) | (_, Some(b'*' | b'?')) => {
                self.seconds = [u64::MAX; 4];
                return;
            }
            (_, Some(byte)) => *byte,
            (_, None) => return,
        };
        let letters = [byte, byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
        for second in letters.into_iter().filter(|second| case.same(byte, *second)) {
            self.seconds[usize::from(second >> 6)] |= 1 << (second & 63);
        }
    }

    #[inline]
    fn may_fit(&self, second: u8) -> bool {
        self.seconds[usize::from(second >> 6)] >> (second & 63) & 1 == 1
    }
}

impl Globs {
    pub(crate) fn new(mut all: Vec<Glob>, case: Case) -> Self {
        all.sort_unstable();
        all.dedup();
        let is_indexed = all.len() > FEW;
        let mut by_first = vec![Candidates::default(); 256];
        for (i, glob) in all.iter().enumerate() {
            for first in 0..=255 {
                let fits = match glob.0.first() {
                    Some(b'*' | b'?') => true,
                    Some(byte) => case.same(*byte, first),
                    None => false,
                };
                if fits {
                    let candidates = &mut by_first[usize::from(first)];
                    candidates.add(glob, case);
                    if !is_indexed {
                        candidates.patterns.push(i);
                    }
                }
            }
        }
        let index = is_indexed.then(|| match case {
            Case::Exact => GlobIndex::new(all.iter().map(|glob| &*glob.0)),
            Case::Ignored => {
                let lower: Vec<_> = all.iter().map(|glob| glob.0.to_ascii_lowercase()).collect();
                GlobIndex::new(lower.iter().map(|glob| &glob[..]))
            }
        });
        let fits_nothing = all.iter().any(|glob| glob.matches(b"", case));
        Self { all, case, fits_nothing, by_first, index: index.map(Box::new) }
    }

    /// True if one of the patterns matches.
    #[inline]
    pub(crate) fn match_any(&self, name: &[u8]) -> bool {
        let candidates = match *name {
            [] => return self.fits_nothing,
            [first] => &self.by_first[usize::from(first)],
            [first, second, ..] => {
                let candidates = &self.by_first[usize::from(first)];
                if !candidates.may_fit(second) {
                    return false;
                }
                candidates
            }
        };
        if let Some(index) = &self.index {
            return self.match_indexed(index, name);
        }
        let mut patterns = candidates.patterns.iter();
        patterns.any(|i| self.all[*i].matches(name, self.case))
    }

    #[cold]
    #[inline(never)]
    fn match_indexed(&self, index: &GlobIndex, name: &[u8]) -> bool {
        let fits = |i| self.all[i as usize].matches(name, self.case);
        match self.case {
            Case::Exact => index.any(name, fits),
            Case::Ignored => index.any(&name.to_ascii_lowercase(), fits),
        }
    }
}

impl Globs {
    /// Adds the starts of matching names, as a canonical URL spells them. A start ends before a
    /// wildcard, and before a byte that may be spelled as a triplet.
    pub(crate) fn add_starts(&self, starts: &mut Starts) {
        for Glob(pattern) in &self.all {
            let known = pattern.iter().position(|byte| !set::UNRESERVED.contains(*byte));
            starts.add(&pattern[..known.unwrap_or(pattern.len())]);
        }
    }

    /// The patterns, as they were given.
    pub(crate) fn patterns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.all.iter().map(|glob| &*glob.0)
    }

    /// Number of patterns.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
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
        patterns.extend(["?x?".into(), "???????????".into(), "*-".into(), String::new()]);
        for case in [Case::Exact, Case::Ignored] {
            let globs = |patterns: &[String]| {
                Globs::new(patterns.iter().map(|p| Glob::new(p.as_bytes())).collect(), case)
            };
            let all = globs(&patterns);
            let few: Vec<Globs> = patterns.chunks(FEW).map(globs).collect();
            assert!(all.index.is_some() && few.iter().all(|few| few.index.is_none()));
            let names = (0..210).flat_map(|n| {
                let end = n % 9;
                [
                    format!("a{n}_B{end}"),
                    format!("..A{n}_b..{end}"),
                    format!("utm_LONG_prefix_{n}"),
                    format!("Utm_long_prefix_{n}"),
                    "x".repeat(n % 13),
                    format!("{n}-"),
                ]
            });
            for name in names {
                let expected = few.iter().any(|few| few.match_any(name.as_bytes()));
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
