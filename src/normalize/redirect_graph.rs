//! Redirects as a graph: each URL once, in one buffer, with the URL that it leads to.
//!
//! Lists have millions of lines, so a URL takes its bytes and 28 more, and its graph serves as the table that
//! URLs are looked up in.

use std::hash::{BuildHasher, RandomState};

/// URLs in the order in which they were added, and a table to find one by its bytes.
#[derive(Debug, Clone, Default)]
struct Urls {
    bytes: Vec<u8>,
    /// Where each URL ends.
    ends: Vec<usize>,
    /// The numbers of the URLs plus one, each in the first free slot at or after its hash.
    slots: Vec<u32>,
    hasher: RandomState,
}

/// A graph in which at most one edge leaves each node.
#[derive(Debug, Clone, Default)]
pub(super) struct Chains {
    urls: Urls,
    /// The target of a node's edge, or [`NONE`], and the line that it comes from.
    next: Vec<(u32, u32)>,
}

/// Maps each canonical URL that is redirected to the end of its chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    urls: Urls,
    /// The end of each node's chain: the node itself if it is not redirected.
    ends: Vec<u32>,
    /// How many URLs are replaced, and the length of the longest replacement.
    moved: usize,
    longest: usize,
}

/// No node.
const NONE: u32 = u32::MAX;

/// The reason why an edge cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// This line has another target for the same URL.
    TwoTargets(usize),
    /// There are more URLs than have numbers.
    Full,
}

impl Urls {
    fn get(&self, node: u32) -> &[u8] {
        let node = node as usize;
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[node]]
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The slot of a URL, or the free one where it would be. There must be a free one.
    fn slot(&self, url: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.hasher.hash_one(url) as usize & mask;
        while let Some(node) = self.slots[at].checked_sub(1) {
            if self.get(node) == url {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn find(&self, url: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(url)].checked_sub(1)
    }

    /// The number of a URL, which is added if it is new. None if there are too many.
    fn add(&mut self, url: &[u8]) -> Option<u32> {
        if 4 * (self.len() + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let slot = self.slot(url);
        if let Some(node) = self.slots[slot].checked_sub(1) {
            return Some(node);
        }
        let node = u32::try_from(self.len()).ok().filter(|node| *node < NONE - 1)?;
        lengthen(&mut self.bytes, url.len());
        self.bytes.extend_from_slice(url);
        lengthen(&mut self.ends, 1);
        self.ends.push(self.bytes.len());
        self.slots[slot] = node + 1;
        Some(node)
    }

    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(16);
        // The old table is freed first: the numbers are all that it knows.
        self.slots = Vec::new();
        self.slots = vec![0; length];
        for node in 0..self.len() as u32 {
            let slot = self.slot(self.get(node));
            self.slots[slot] = node + 1;
        }
    }

    fn memory(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.slots.capacity() * size_of::<u32>()
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
    pub(super) fn add(&mut self, from: &[u8], to: &[u8], line: usize) -> Result<(), Refused> {
        let from = self.node(from)?;
        let to = self.node(to)?;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        match &mut self.next[from as usize] {
            (NONE, _) => self.next[from as usize] = (to, line),
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
    pub(super) fn memory(&self) -> usize {
        let more = self.urls.len() * size_of::<(u32, u32)>();
        self.urls.memory()
            + self.next.capacity() * size_of::<(u32, u32)>()
            + more.max(self.urls.bytes.capacity())
    }

    /// The end of each node's chain. Each edge is followed at most twice: once to find the end of a chain,
    /// and once around a cycle, which ends at its smallest member in the order of bytes.
    pub(super) fn ends(self) -> Ends {
        let Self { mut urls, next } = self;
        let mut ends = vec![NONE; urls.len()];
        let mut seen_from = vec![NONE; urls.len()];
        let mut chain: Vec<u32> = Vec::new();
        for start in 0..urls.len() as u32 {
            chain.clear();
            let mut at = start;
            let end = loop {
                if ends[at as usize] != NONE {
                    break ends[at as usize];
                }
                if seen_from[at as usize] == start {
                    let position = chain.iter().position(|node| *node == at).unwrap_or_default();
                    let smallest = chain[position..].iter().min_by_key(|node| urls.get(**node));
                    break smallest.copied().unwrap_or(at);
                }
                seen_from[at as usize] = start;
                chain.push(at);
                match next[at as usize] {
                    (NONE, _) => break at,
                    (next, _) => at = next,
                }
            };
            chain.iter().for_each(|node| ends[*node as usize] = end);
        }
        urls.bytes.shrink_to_fit();
        let replaced = || ends.iter().zip(0..).filter(|(end, node)| **end != *node);
        let moved = replaced().count();
        let longest = replaced().map(|(end, _)| urls.get(*end).len()).max().unwrap_or(0);
        Ends { urls, ends, moved, longest }
    }
}

impl Ends {
    /// The number of URLs that are replaced.
    pub(super) fn len(&self) -> usize {
        self.moved
    }

    /// Length of the longest replacement.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.urls.memory() + self.ends.capacity() * size_of::<u32>()
    }

    /// All URLs in the order of their bytes, each with its replacement.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let is_moved = |node: &u32| self.ends[*node as usize] != *node;
        let mut all: Vec<u32> = (0..self.urls.len() as u32).filter(is_moved).collect();
        all.sort_unstable_by_key(|node| self.urls.get(*node));
        all.into_iter().map(|node| (self.urls.get(node), self.urls.get(self.ends[node as usize])))
    }

    /// The replacement of `canonical`.
    #[inline]
    pub(super) fn of(&self, canonical: &[u8]) -> Option<&[u8]> {
        let node = self.urls.find(canonical)?;
        let end = self.ends[node as usize];
        (end != node).then(|| self.urls.get(end))
    }

    /// Replaces the canonical URL in `out[at..]`, if it is redirected.
    pub(super) fn follow(&self, at: usize, out: &mut Vec<u8>) {
        if let Some(end) = self.of(&out[at..]) {
            out.truncate(at);
            out.extend_from_slice(end);
        }
    }
}
