//! How many responses had which status.

use std::collections::BTreeMap;

/// Counts of responses by status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statuses(BTreeMap<u16, u64>);

impl Statuses {
    /// Counts a response. A status has three digits.
    pub fn add(&mut self, status: u16) {
        *self.0.entry(status).or_default() += 1;
    }

    /// Adds the counts of other responses.
    pub fn merge(&mut self, other: &Self) {
        for (status, count) in &other.0 {
            *self.0.entry(*status).or_default() += count;
        }
    }

    /// True if no record has a status.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The statuses and their counts, ascending.
    pub fn codes(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter().map(|(status, count)| (*status, *count))
    }

    /// The first digits of the statuses, and their counts, ascending.
    pub fn classes(&self) -> impl Iterator<Item = (u16, u64)> {
        let mut classes = BTreeMap::<u16, u64>::new();
        self.codes().for_each(|(status, count)| *classes.entry(status / 100).or_default() += count);
        classes.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_counted_by_code_and_class() {
        let mut all = Statuses::default();
        [404, 200, 404].into_iter().for_each(|status| all.add(status));
        let mut more = Statuses::default();
        [206, 999].into_iter().for_each(|status| more.add(status));
        all.merge(&more);
        assert_eq!(all.codes().collect::<Vec<_>>(), [(200, 1), (206, 1), (404, 2), (999, 1)]);
        assert_eq!(all.classes().collect::<Vec<_>>(), [(2, 2), (4, 2), (9, 1)]);
        assert!(!all.is_empty() && Statuses::default().is_empty());
    }
}
