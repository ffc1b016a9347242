//! The error for an unknown name of a profile, a key, or a kind of record.
//!
//! In: a text that is not a name. Out: an error with the name that was probably meant, or with all names if
//! they are few.

use std::fmt;

/// A text that is not a name of its kind.
///
/// ```
/// use uniqurl::{Key, UnknownName, Profile, Switch};
///
/// let key: Key = "surt".parse()?;
/// assert_eq!(key.to_string(), "surt");
/// let error = "md5".parse::<Key>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown key `md5` (expected url, template, "));
/// let error = "sort-quary".parse::<Switch>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown switch `sort-quary` (did you mean `sort-query`?)");
///
/// let crawl: Profile = "crawl".parse()?;
/// assert_eq!(crawl.to_string(), "crawl@1");
/// # Ok::<(), UnknownName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
    kind: &'static str,
    names: Vec<String>,
}

#[doc(hidden)]
impl UnknownName {
    /// `kind` is the noun for the members of `all`, whose `Display` gives their names.
    pub fn new(
        name: &str,
        kind: &'static str,
        all: impl IntoIterator<Item = impl fmt::Display>,
    ) -> Self {
        let names = all.into_iter().map(|one| one.to_string()).collect();
        Self { name: name.to_owned(), kind, names }
    }

    /// The text that was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The valid names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The valid name that is spelled most alike, if one is close enough to be meant: at most a third of
    /// the text's characters are inserted, deleted, replaced or swapped with their neighbour. Takes time
    /// for each valid name, and none for a text longer than any name.
    pub fn nearest(&self) -> Option<&str> {
        // A text of any length may be given for a name. One character more than the longest is
        // enough to see that it is too long.
        let given: Vec<char> = self.name.chars().take(LONGEST + 1).collect();
        if given.len() > LONGEST {
            return None;
        }
        let most = (given.len() / 3).max(1);
        let far = |name: &&str| edits(&given, &name.chars().collect::<Vec<_>>());
        let nearest = self.names().min_by_key(far)?;
        // A text of one character is one edit away from many names.
        (given.len() > 1 && far(&nearest) <= most).then_some(nearest)
    }
}

/// The longest text that is compared with the names.
const LONGEST: usize = 32;

/// The most names that a message lists.
const LISTED: usize = 10;

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, names } = self;
        write!(f, "unknown {kind} `{}`", name.escape_debug())?;
        match (&names[..], self.nearest()) {
            // All names of a short list help more than a guess at one of them.
            ([others @ .., last], _) if !others.is_empty() && names.len() <= LISTED => {
                write!(f, " (expected {} or {last})", others.join(", "))
            }
            (_, Some(nearest)) => write!(f, " (did you mean `{nearest}`?)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for UnknownName {}

/// The number of edits between two texts, where case does not count: insertions, deletions, replacements
/// and swaps of neighbours.
fn edits(one: &[char], other: &[char]) -> usize {
    let is_same = |a: char, b: char| a.eq_ignore_ascii_case(&b);
    // Rows of the usual table: the distances between prefixes of `one` and all prefixes of `other`.
    let mut before = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, &a) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &b) in other.iter().enumerate() {
            let replaced = row[j] + usize::from(!is_same(a, b));
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && is_same(a, other[j - 1]) && is_same(one[i - 1], b) {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_is_close_is_suggested() {
        let nearest = |name: &str| {
            let names = ["lines", "combined", "cdx", "cdxj", "parquet", "w3c"];
            UnknownName::new(name, "format", names).nearest().map(str::to_owned)
        };
        for (given, meant) in
            [("Lines", "lines"), ("combinde", "combined"), ("cdk", "cdx"), ("parket", "parquet")]
        {
            assert_eq!(nearest(given).as_deref(), Some(meant), "{given}");
        }
        for given in ["", "c", "nginx", "frob", "lions of the sea", &"x".repeat(1 << 20)] {
            assert_eq!(nearest(given), None, "{given:.20}");
        }
    }

    #[test]
    fn few_names_are_listed_and_of_many_the_nearest_is_named() {
        let told = |name: &str, many: usize| {
            UnknownName::new(name, "number", (0..many).map(|n| format!("number-{n}"))).to_string()
        };
        assert_eq!(told("x", 3), "unknown number `x` (expected number-0, number-1 or number-2)");
        assert_eq!(told("numbre-3", 24), "unknown number `numbre-3` (did you mean `number-3`?)");
        assert_eq!(told("\n", 24), "unknown number `\\n`");
    }
}
