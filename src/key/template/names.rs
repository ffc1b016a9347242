//! Query names, each once.

use crate::bytes::alloc::{AllocError, try_reserve_exact};

/// Up to so many names are compared with each other. More are sorted, which allocates.
const FEW: usize = 16;

/// The names of a query that stand in a buffer already.
pub(super) struct Names {
    /// Where the first name starts, after its `?`.
    start: usize,
    /// The ranges of the first names, which differ.
    few: [(usize, usize); FEW],
    count: usize,
}

impl Names {
    /// No names yet: the first will start at `start`.
    pub(super) fn after(start: usize) -> Self {
        Self { start, few: [(0, 0); FEW], count: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes the name at the end of `out`, after the separator at `separator`, or removes both if the
    /// name is one of the first names.
    #[inline]
    pub(super) fn add(&mut self, out: &mut Vec<u8>, separator: usize) {
        let name = separator + 1..out.len();
        let known = &self.few[..self.count.min(FEW)];
        if known.iter().any(|known| out[known.0..known.1] == out[name.clone()]) {
            out.truncate(separator);
            return;
        }
        if let Some(free) = self.few.get_mut(self.count) {
            *free = (name.start, name.end);
        }
        self.count += 1;
    }

    /// Removes the names that [`Names::add`] could not compare.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        if self.count > FEW {
            keep_first(out, self.start);
        }
    }
}

/// Keeps the first of equal names among those from `start` on, which are separated by `&`.
fn keep_first(out: &mut Vec<u8>, start: usize) {
    let count = 1 + out[start..].iter().filter(|byte| **byte == b'&').count();
    if keep_first_of_many(out, start, count).is_ok() {
        return;
    }
    // Without memory it takes longer.
    keep_first_slowly(out, start);
}

fn keep_first_slowly(out: &mut Vec<u8>, start: usize) {
    let (mut kept, mut next) = (start, start);
    while next < out.len() {
        let end = name_end(out, next);
        let name = &out[next..end];
        if kept == start || out[start..kept - 1].split(|byte| *byte == b'&').all(|k| k != name) {
            kept = move_name(out, next, end, kept);
        }
        next = end + 1;
    }
    cut_after(out, start, kept);
}

fn keep_first_of_many(out: &mut Vec<u8>, start: usize, count: usize) -> Result<(), AllocError> {
    let mut names = Vec::new();
    try_reserve_exact(&mut names, count)?;
    let mut next = start;
    while next < out.len() {
        let end = name_end(out, next);
        names.push((next, end));
        next = end + 1;
    }
    // Equal names become neighbours, the first in front.
    names.sort_unstable_by(|a, b| out[a.0..a.1].cmp(&out[b.0..b.1]).then(a.0.cmp(&b.0)));
    names.dedup_by(|later, first| out[later.0..later.1] == out[first.0..first.1]);
    names.sort_unstable();
    let mut kept = start;
    for (from, to) in names {
        kept = move_name(out, from, to, kept);
    }
    cut_after(out, start, kept);
    Ok(())
}

fn name_end(out: &[u8], start: usize) -> usize {
    memchr::memchr(b'&', &out[start..]).map_or(out.len(), |length| start + length)
}

/// Moves a name to the front, with the `&` after it, and returns the end.
fn move_name(out: &mut [u8], from: usize, to: usize, at: usize) -> usize {
    out.copy_within(from..to, at);
    let end = at + (to - from);
    if let Some(separator) = out.get_mut(end) {
        *separator = b'&';
    }
    end + 1
}

/// Cuts after the last name that stays, whose `&` goes.
fn cut_after(out: &mut Vec<u8>, start: usize, kept: usize) {
    out.truncate(kept.saturating_sub(1).max(start));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_and_few_names_have_one_result() {
        for (names, expected) in [
            ("a", "a"),
            ("a&a", "a"),
            ("a&b&a&ab&b&a&c", "a&b&ab&c"),
            ("b&a&b", "b&a"),
            ("ab&a&b&ba&ab&a", "ab&a&b&ba"),
        ] {
            let mut few = format!("?{names}").into_bytes();
            let mut many = few.clone();
            keep_first_slowly(&mut few, 1);
            keep_first_of_many(&mut many, 1, 7).unwrap();
            assert_eq!(few, format!("?{expected}").into_bytes());
            assert_eq!(many, few);
        }
    }
}
