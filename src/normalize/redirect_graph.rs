//! Redirects as a graph: each URL once, in one buffer, with the URL that it leads to.
//!
//! Lists have millions of lines, so a URL takes its bytes and 28 more, and its graph serves as the table that
//! URLs are looked up in.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// URLs in the order in which they were added, and a table to find one by its bytes.
#[derive(Debug, Clone, Default)]
struct Urls {
    bytes: Vec<u8>,
    /// Where each URL ends.
    ends: Vec<usize>,
    /// The numbers of the URLs. The table of the standard library would hold each URL by itself.
    numbers: HashTable<u32>,
    hasher: RandomState,
}

/// A graph in which at most one edge leaves each node.
#[derive(Debug, Clone, Default)]
pub(in crate::normalize) struct Chains {
    urls: Urls,
    /// The target of a node's edge, or [`NONE`], and the line that it comes from.
    next: Vec<(u32, u32)>,
}

/// Maps each canonical URL that is redirected to the end of its chain.
#[derive(Debug, Clone, Default)]
pub(in crate::normalize) struct Ends {
    urls: Urls,
    /// The end of each node's chain: the node itself if it is not redirected.
    ends: Vec<u32>,
}

/// No node.
const NONE: u32 = u32::MAX;
/// The end of a chain that is being followed.
const UNKNOWN: u32 = u32::MAX - 1;

/// The reason why an edge cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::normalize) enum Refused {
    /// This line has another target for the same URL.
    TwoTargets(usize),
    /// There are more URLs than have numbers.
    Full,
}

/// The URL with this number.
fn url<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[number]]
}

impl Urls {
    fn get(&self, number: u32) -> &[u8] {
        url(&self.bytes, &self.ends, number)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn find(&self, url: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(url);
        self.numbers.find(hash, |number| self.get(*number) == url).copied()
    }

    /// The number of a URL, which is added if it is new. None if there are too many.
    fn add(&mut self, new: &[u8]) -> Option<u32> {
        let Self { bytes, ends, numbers, hasher } = self;
        let is_new = |number: &u32| url(bytes, ends, *number) == new;
        let hash = |number: &u32| hasher.hash_one(url(bytes, ends, *number));
        let slot = match numbers.entry(hasher.hash_one(new), is_new, hash) {
            Entry::Occupied(slot) => return Some(*slot.get()),
            Entry::Vacant(slot) => slot,
        };
        // The two greatest numbers are marks of nodes.
        let number = u32::try_from(ends.len()).ok().filter(|number| *number < UNKNOWN)?;
        slot.insert(number);
        lengthen(bytes, new.len());
        bytes.extend_from_slice(new);
        lengthen(ends, 1);
        ends.push(bytes.len());
        Some(number)
    }

    fn memory(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.numbers.allocation_size()
    }
}

/// Reserves space for `more` elements, and for an eighth of all: doubling would take twice the memory.
fn lengthen<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more.max(vec.len() / 8).max(64));
    }
}

impl Chains {
    /// Adds an edge.
    pub(in crate::normalize) fn add(
        &mut self,
        from: &[u8],
        to: &[u8],
        line: usize,
    ) -> Result<(), Refused> {
        let from = self.node(from)?;
        let to = self.node(to)?;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        match &mut self.next[from as usize] {
            (NONE, _) => self.next[from as usize] = (to, line),
            // The same redirect in two lines is no contradiction.
            (other, _) if *other == to => {}
            (_, line) => return Err(Refused::TwoTargets(*line as usize)),
        }
        Ok(())
    }

    fn node(&mut self, url: &[u8]) -> Result<u32, Refused> {
        let node = self.urls.add(url).ok_or(Refused::Full)?;
        if self.next.len() < self.urls.len() {
            lengthen(&mut self.next, 1);
            self.next.push((NONE, 0));
        }
        Ok(node)
    }

    /// Bytes of memory, with those that [`ends`](Self::ends) takes, or a buffer that grows and is there twice
    /// for a moment.
    pub(in crate::normalize) fn memory(&self) -> usize {
        let more = self.urls.len() * size_of::<u32>();
        self.urls.memory()
            + self.next.capacity() * size_of::<(u32, u32)>()
            + more.max(self.urls.bytes.capacity())
    }

    /// The end of each node's chain. Each edge is followed at most twice: once to find the end of a chain,
    /// and once around a cycle, which ends at its smallest member in the order of bytes.
    pub(in crate::normalize) fn ends(self) -> Ends {
        let Self { mut urls, next } = self;
        let mut ends = vec![NONE; urls.len()];
        let mut chain: Vec<u32> = Vec::new();
        for start in 0..urls.len() as u32 {
            chain.clear();
            let mut at = start;
            let end = loop {
                match ends[at as usize] {
                    NONE => {}
                    // All other chains have their ends, so this node is part of this one: a cycle.
                    UNKNOWN => {
                        let first = chain.iter().position(|node| *node == at).unwrap_or_default();
                        let smallest = chain[first..].iter().min_by_key(|node| urls.get(**node));
                        break smallest.copied().unwrap_or(at);
                    }
                    end => break end,
                }
                // Marked on the way, so that a chain which comes back here is known for a cycle.
                ends[at as usize] = UNKNOWN;
                chain.push(at);
                match next[at as usize] {
                    (NONE, _) => break at,
                    (next, _) => at = next,
                }
            };
            chain.iter().for_each(|node| ends[*node as usize] = end);
        }
        urls.bytes.shrink_to_fit();
        Ends { urls, ends }
    }
}

impl Ends {
    /// The nodes that are replaced, each with its replacement.
    fn replaced(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.ends.iter().copied()).filter(|(node, end)| node != end)
    }

    /// The number of URLs that are replaced. Time is linear in the number of URLs.
    pub(in crate::normalize) fn len(&self) -> usize {
        self.replaced().count()
    }

    /// Length of the longest replacement. Time is linear in the number of URLs.
    pub(in crate::normalize) fn longest(&self) -> usize {
        self.replaced().map(|(_, end)| self.urls.get(end).len()).max().unwrap_or(0)
    }

    /// Bytes of memory.
    pub(in crate::normalize) fn memory(&self) -> usize {
        self.urls.memory() + self.ends.capacity() * size_of::<u32>()
    }

    /// All URLs in the order of their bytes, each with its replacement.
    pub(in crate::normalize) fn sorted(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut all: Vec<_> = self.replaced().collect();
        all.sort_unstable_by_key(|(node, _)| self.urls.get(*node));
        all.into_iter().map(|(node, end)| (self.urls.get(node), self.urls.get(end)))
    }

    /// The replacement of `canonical`.
    #[inline]
    pub(in crate::normalize) fn of(&self, canonical: &[u8]) -> Option<&[u8]> {
        let node = self.urls.find(canonical)?;
        let end = self.ends[node as usize];
        (end != node).then(|| self.urls.get(end))
    }

    /// Replaces the canonical URL in `out[at..]`, if it is redirected.
    pub(in crate::normalize) fn follow(&self, at: usize, out: &mut Vec<u8>) {
        if let Some(end) = self.of(&out[at..]) {
            out.truncate(at);
            out.extend_from_slice(end);
        }
    }
}
