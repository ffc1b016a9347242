//! Which hosts, URLs or templates are the most frequent, in bounded memory.
//!
//! The counters of Misra and Gries (Finding repeated elements, Science of Computer Programming 2,
//! 1982): if there are too many names, the same number is subtracted from every count, and names with
//! a count of 0 are dropped. So no count is too high, and none is too low by more than the sum subtracted,
//! which is less than one `kept`th of the total count.

use std::collections::HashMap;

/// Hosts that are left after a cut. As many again may come before the next.
const HOSTS: usize = 1 << 15;

/// Longer names cannot be hosts of the DNS (RFC 1035 section 2.3.4), and are counted by their start.
const LONGEST_HOST: usize = 255;

/// URLs or templates that are left after a cut: fewer, since they are longer.
const URLS: usize = 1 << 13;

/// Longer ones are counted by their start.
const LONGEST_URL: usize = 512;

/// Counts by name.
#[derive(Debug, Clone)]
pub struct TopNames {
    counts: HashMap<Box<[u8]>, u64>,
    short: u64,
    kept: usize,
    longest: usize,
}

impl TopNames {
    /// For hosts.
    pub fn hosts() -> Self {
        Self::new(HOSTS, LONGEST_HOST)
    }

    /// For URLs or templates.
    pub fn urls() -> Self {
        Self::new(URLS, LONGEST_URL)
    }

    fn new(kept: usize, longest: usize) -> Self {
        Self { counts: HashMap::new(), short: 0, kept, longest }
    }

    /// Counts `count` more of a name.
    pub fn add(&mut self, name: &[u8], count: u64) {
        let name = &name[..name.len().min(self.longest)];
        match self.counts.get_mut(name) {
            Some(counted) => *counted += count,
            None => {
                self.counts.insert(name.into(), count);
                if self.counts.len() >= 2 * self.kept {
                    self.cut();
                }
            }
        }
    }

    /// The `n` most frequent ones, equal counts in the order of their bytes.
    pub fn top(&self, n: usize) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> =
            self.counts.iter().map(|(name, count)| (&**name, *count)).collect();
        all.sort_unstable_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        all.truncate(n);
        all
    }

    /// By how much a count may be too low; 0 where all are exact.
    pub fn short(&self) -> u64 {
        self.short
    }

    fn cut(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let (_, least, _) =
            counts.select_nth_unstable_by_key(self.kept, |count| std::cmp::Reverse(*count));
        // At most `kept` counts are greater than this one, so the others drop out.
        let least = *least;
        self.short += least;
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(least);
            *count > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hosts_are_counted_exactly() {
        let mut hosts = TopNames::hosts();
        for host in ["b", "a", "b", "c", "a", "b", "c"] {
            hosts.add(host.as_bytes(), 1);
        }
        assert_eq!(hosts.top(2), [(&b"b"[..], 3), (b"a", 2)]);
        assert_eq!((hosts.top(9).len(), hosts.short()), (3, 0));
    }

    #[test]
    fn estimated_counts_of_hosts_stay_within_the_stated_error() {
        let mut hosts = TopNames::hosts();
        let truth = |i: u64| if i < 10 { 1000 + i } else { 1 + i % 3 };
        let mut total = 0;
        for i in 0..3 * HOSTS as u64 {
            hosts.add(format!("host-{i}").as_bytes(), truth(i));
            total += truth(i);
        }
        assert!(hosts.short() > 0 && hosts.counts.len() < 2 * HOSTS);
        assert!(hosts.short() * HOSTS as u64 <= total, "{} of {total}", hosts.short());
        for (host, count) in hosts.top(usize::MAX) {
            let i = std::str::from_utf8(&host[5..]).unwrap().parse().unwrap();
            assert!((count..=count + hosts.short()).contains(&truth(i)), "{i}: {count}");
        }
        for (rank, (host, _)) in hosts.top(10).into_iter().enumerate() {
            assert_eq!(host, format!("host-{}", 9 - rank).as_bytes());
        }
    }

    #[test]
    fn long_names_are_cut() {
        for (mut names, longest) in
            [(TopNames::hosts(), LONGEST_HOST), (TopNames::urls(), LONGEST_URL)]
        {
            names.add(&vec![b'a'; 1 << 20], 1);
            assert_eq!(names.top(1)[0].0.len(), longest);
        }
    }
}
