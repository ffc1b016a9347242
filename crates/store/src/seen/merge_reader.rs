//! The entries of several runs in the order of their keys.
//!
//! The runs' next entries play a tournament: each inner node of a tree holds the loser of its match, so that
//! after the winner's run has moved on, one comparison for each level finds the next winner. (A binary heap
//! makes two.) Each key is copied once from its block; the last one is kept by swapping buffers.

use std::path::Path;

use uniqurl::internal::alloc;

use super::error::SeenStoreError;
use super::run::{Mark, Run, RunReader};

/// Reads neighbouring runs.
#[derive(Debug)]
pub(super) struct MergeReader<'r> {
    /// The next entry of each run, oldest run first.
    next: Vec<NextEntry<'r>>,
    /// The run that lost the match of each inner node. The root is node 1, the children of node `n` are `2n`
    /// and `2n + 1`, and the runs are the leaves.
    losers: Vec<usize>,
    winner: usize,
    /// The key that was returned last.
    last: Vec<u8>,
    /// Whether an entry was returned.
    has_begun: bool,
    directory: &'r Path,
}

/// An entry of one of the runs.
#[derive(Debug)]
pub(super) struct MergedEntry<'a> {
    pub(super) key: &'a [u8],
    /// The place of its run, oldest first.
    pub(super) run: usize,
    pub(super) mark: Mark,
    /// Whether no newer run has an entry with this key. Entries of older runs follow.
    pub(super) is_newest: bool,
}

/// The next entry of a run.
#[derive(Debug)]
struct NextEntry<'r> {
    reader: RunReader<'r>,
    key: Vec<u8>,
    /// None: the run has no more entries.
    mark: Option<Mark>,
}

impl NextEntry<'_> {
    /// Reads the next entry.
    fn advance(&mut self, directory: &Path) -> Result<(), SeenStoreError> {
        self.mark = None;
        self.key.clear();
        if let Some((key, mark)) = self.reader.next()? {
            alloc::try_reserve(&mut self.key, key.len())
                .map_err(|_| SeenStoreError::memory(directory))?;
            self.key.extend_from_slice(key);
            self.mark = Some(mark);
        }
        Ok(())
    }
}

impl<'r> MergeReader<'r> {
    /// Reads the first entry of each of `runs`, oldest first, of the store in `directory`.
    pub(super) fn new(directory: &'r Path, runs: &'r [Run]) -> Result<Self, SeenStoreError> {
        let mut next = Vec::new();
        for run in runs {
            let mut entry = NextEntry { reader: run.entries(), key: Vec::new(), mark: None };
            entry.advance(directory)?;
            next.push(entry);
        }
        let (losers, last) = (vec![0; next.len()], Vec::new());
        let mut reader = Self { next, losers, winner: 0, last, has_begun: false, directory };
        reader.play_all();
        Ok(reader)
    }

    /// Goes on to the next entry, and returns it.
    pub(super) fn next(&mut self) -> Result<Option<MergedEntry<'_>>, SeenStoreError> {
        if self.has_begun {
            let entry = &mut self.next[self.winner];
            std::mem::swap(&mut self.last, &mut entry.key);
            entry.advance(self.directory)?;
            self.replay(self.winner);
        }
        let run = self.winner;
        let Some(NextEntry { key, mark: Some(mark), .. }) = self.next.get(run) else {
            // Another call must not advance a reader that is at its end.
            self.has_begun = false;
            return Ok(None);
        };
        let is_newest = !self.has_begun || *key != self.last;
        self.has_begun = true;
        Ok(Some(MergedEntry { key, run, mark: *mark, is_newest }))
    }

    /// Plays all matches, from the leaves to the root.
    fn play_all(&mut self) {
        let runs = self.next.len();
        // The second half are the leaves. The first half has the right length, and is overwritten.
        let mut winners: Vec<usize> = (0..runs).chain(0..runs).collect();
        for node in (1..runs).rev() {
            let (one, other) = (winners[2 * node], winners[2 * node + 1]);
            let wins = self.precedes(one, other);
            (winners[node], self.losers[node]) = if wins { (one, other) } else { (other, one) };
        }
        self.winner = winners.get(1).copied().unwrap_or_default();
    }

    /// Plays the matches of a run that has a new entry.
    fn replay(&mut self, run: usize) {
        let mut winner = run;
        let mut node = (self.next.len() + run) / 2;
        while node > 0 {
            let loser = self.losers[node];
            if self.precedes(loser, winner) {
                self.losers[node] = winner;
                winner = loser;
            }
            node /= 2;
        }
        self.winner = winner;
    }

    /// Whether the next entry of run `one` comes before that of `other`: by key, then the newer run's. A run
    /// that has no more entries comes last.
    fn precedes(&self, one: usize, other: usize) -> bool {
        let (a, b) = (&self.next[one], &self.next[other]);
        match (a.mark.is_some(), b.mark.is_some()) {
            // Of equal keys that of the newer run comes first, so one comparison with the key
            // before tells whether an entry counts.
            (true, true) => a.key.cmp(&b.key).then_with(|| other.cmp(&one)).is_lt(),
            (has_more, _) => has_more,
        }
    }
}
