//! Finds, among many patterns, the few that may match a name: each pattern is listed under some bytes that
//! all names which it matches hold.

use std::collections::HashMap;

/// Bytes of a pattern that stand for themselves, and how many there are.
type Literal = (u64, u8);

/// Most bytes of a literal.
const LONGEST: usize = size_of::<u64>();

/// Patterns by their rarest literal.
#[derive(Debug, Clone, Default)]
pub(super) struct GlobIndex {
    by_literal: HashMap<Literal, Vec<u32>>,
    /// The lengths of the literals, as bits.
    lengths: u16,
    /// Patterns without a literal, one for each length of names that they match.
    wild: Vec<u32>,
}

impl GlobIndex {
    /// The patterns have lower-case letters if case is ignored.
    pub(super) fn new<'p>(patterns: impl Iterator<Item = &'p [u8]> + Clone) -> Self {
        let mut counts: HashMap<Literal, u32> = HashMap::new();
        for literal in patterns.clone().flat_map(literals) {
            *counts.entry(literal).or_default() += 1;
        }
        let mut index = Self::default();
        let mut lengths = std::collections::HashSet::new();
        for (number, pattern) in (0..).zip(patterns) {
            match literals(pattern).min_by_key(|literal| counts[literal]) {
                Some(literal) => {
                    index.by_literal.entry(literal).or_default().push(number);
                    index.lengths |= 1 << literal.1;
                }
                None => {
                    let least = pattern.iter().filter(|byte| **byte == b'?').count();
                    if lengths.insert((least, pattern.contains(&b'*'))) {
                        index.wild.push(number);
                    }
                }
            }
        }
        index
    }

    /// Calls `fits` with each pattern that may match `name`, until it returns true, and returns whether it
    /// did. Each is asked about once.
    pub(super) fn any(&self, name: &[u8], mut fits: impl FnMut(u32) -> bool) -> bool {
        if self.wild.iter().any(|pattern| fits(*pattern)) {
            return true;
        }
        let lengths = (1..=LONGEST).filter(|length| self.lengths >> length & 1 == 1);
        let all = lengths.flat_map(|length| name.windows(length).map(literal));
        let mut found: Vec<Literal> =
            all.filter(|literal| self.by_literal.contains_key(literal)).collect();
        found.sort_unstable();
        found.dedup();
        found.iter().flat_map(|literal| &self.by_literal[literal]).any(|pattern| fits(*pattern))
    }
}

/// The literals of a pattern that are as long as its longest, or as long as any.
fn literals(pattern: &[u8]) -> impl Iterator<Item = Literal> {
    let runs = || pattern.split(|byte| matches!(byte, b'*' | b'?'));
    let longest = runs().map(<[u8]>::len).max().unwrap_or(0).min(LONGEST);
    // A window of no bytes is an error.
    let windows = runs().flat_map(move |run| run.windows(longest.max(1)));
    windows.map(literal)
}

fn literal(bytes: &[u8]) -> Literal {
    let mut word = [0; LONGEST];
    word[..bytes.len()].copy_from_slice(bytes);
    (u64::from_le_bytes(word), bytes.len() as u8)
}
