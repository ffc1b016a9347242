//! The groups of a partition's keys. Only the first few keys of each are kept.
//!
//! All keys of a group are in one partition, which is not divided: which keys are the first of a group is only known
//! to a pass that holds all that it keeps of the group. Groups that kept keys before the partition stand at its
//! beginning, so their keys are counted on from there.

use std::fmt;

use super::SpillEntry;
use crate::group_counts::{GroupCounts, GroupLimit};
use uniqurl::SetFull;
use uniqurl::internal::{Hash, HashKey};

/// The line of an entry that is no key but a group; its ordinal is the number of the group's keys.
const GROUP: &[u8] = b"\n";

impl<'a> SpillEntry<'a> {
    /// The entry of a group, with the number of its keys that are kept before the partition.
    pub fn of_group(group: &'a [u8], kept: u64) -> Self {
        Self { ordinal: kept, count: 0, key: group, line: GROUP }
    }

    /// Whether it is a group's.
    pub fn is_of_group(&self) -> bool {
        // Keys that were seen before the run have no line.
        self.count == 0 && self.line == GROUP
    }
}

/// The groups that a pass knows, and the one of the entry at hand.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    limit: GroupLimit<'a>,
    counts: GroupCounts,
    group: Vec<u8>,
    hash: Hash,
}

impl<'a> Groups<'a> {
    pub(super) fn new(limit: GroupLimit<'a>) -> Self {
        Self { limit, counts: GroupCounts::default(), group: Vec::new(), hash: Hash::default() }
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Bytes of memory, once one more group is known.
    pub(super) fn memory(&self) -> usize {
        self.counts.memory(1) + self.group.capacity()
    }

    /// Takes the group of this entry as the one at hand.
    pub(super) fn turn_to(&mut self, entry: &SpillEntry<'_>, key: &HashKey) {
        self.group.clear();
        match entry.is_of_group() {
            true => self.group.extend_from_slice(entry.key),
            false => self.limit.group_of.append(entry.key, &mut self.group),
        }
        self.hash = key.hash(&self.group);
    }

    /// Whether the group at hand takes no more keys.
    pub(super) fn is_full(&self) -> bool {
        self.counts.get(self.hash, &self.group).is_some_and(|count| count >= self.limit.most)
    }

    /// Adds the group at hand with the number of its keys.
    pub(super) fn load(&mut self, kept: u64) -> Result<(), SetFull> {
        self.counts.load(self.hash, &self.group, kept)
    }

    /// Counts one more key of the group at hand.
    pub(super) fn add(&mut self) -> Result<(), SetFull> {
        self.counts.add(self.hash, &self.group)
    }
}

/// The keys that are kept of the groups of a partition, with those that were seen before, do not fit into memory.
#[derive(Debug)]
pub struct GroupsBeyondMemory;

impl fmt::Display for GroupsBeyondMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the URLs to keep of each group, with those seen before, take more memory than allowed",
        )
    }
}

impl std::error::Error for GroupsBeyondMemory {}
