//! Query names, each once.

use std::collections::HashSet;

/// Up to so many names are compared with each other. More go into a set, which allocates.
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
        // More names are counted only, and compared in `finish`.
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
    let text = out.split_off(start);
    // A set with a random key: comparing all names with each other would let a stranger's query of a few
    // thousand names take quadratic time.
    let mut names = HashSet::new();
    for name in text.split(|byte| *byte == b'&').filter(|name| names.insert(*name)) {
        if out.len() > start {
            out.push(b'&');
        }
        out.extend_from_slice(name);
    }
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
            let (mut few, mut all) = (Vec::new(), Names::after(1));
            for name in names.split('&') {
                let separator = few.len();
                few.push(if all.is_empty() { b'?' } else { b'&' });
                few.extend_from_slice(name.as_bytes());
                all.add(&mut few, separator);
            }
            all.finish(&mut few);
            let mut many = format!("?{names}").into_bytes();
            keep_first(&mut many, 1);
            assert_eq!(few, format!("?{expected}").into_bytes());
            assert_eq!(many, few);
        }
    }
}
