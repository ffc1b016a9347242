//! Finds the new entries of a partition where only the first record of each key matters: nothing is
//! written again, since a bit for each entry says whether it is new.
//!
//! The plain loop takes an entry, looks its key up in a set, and adds it. Here a whole block goes
//! through the set at once, so that the cache misses of its keys overlap.

use super::dedup_partition::{MIN_URLS, PartitionPlan, PartitionResult, RecordStatus};
use super::division::Division;
use super::entry::SpillEntry;
use super::marks::{Marks, Run};
use super::packing::{BlockDecompressor, HEADER};
use super::store::SpillError;
use super::stream::Stream;
use uniqurl::internal::{AllocError, Bytes, Counting, Entry, HashKey, Part, Shard, alloc};

/// The bytes of a block.
#[derive(Clone, Copy)]
struct Block<'b>(&'b [u8]);

impl<'b> Bytes<'b> for Block<'b> {
    fn of(&self, entry: &Entry) -> &'b [u8] {
        &self.0[entry.start as usize..][..entry.len as usize]
    }
}

/// An entry of a block.
struct Listed {
    ordinal: u64,
    /// Where it starts and ends in the block.
    start: u32,
    end: u32,
}

/// The keys of a partition.
struct Keys {
    /// Those that were seen before the run.
    seen: Shard,
    shard: Shard,
    /// Whether it takes no more: a key was left to a smaller partition, and may come again.
    is_full: bool,
}

/// Marks the entries of a partition that are the first with their key. Calls `found` for each of them, and for each record whose key was seen before the run.
pub(super) fn mark_new(
    partition: Stream,
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    found: &mut dyn FnMut(u64, RecordStatus),
) -> Result<PartitionResult, SpillError> {
    let no_room = |error: AllocError| plan.store.error(error.into());
    let mut decompressor = BlockDecompressor::new(plan.store);
    let (mut listed, mut entries, mut block) = (Vec::new(), Vec::new(), Vec::new());
    let mut keys =
        Keys { seen: Shard::new(Counting::Off), shard: Shard::new(Counting::Off), is_full: false };
    let mut marks = Marks::default();
    let mut rest: Option<Division<'_>> = None;
    let mut with_new = Vec::new();
    for &extent in &partition.0 {
        decompressor.read(extent, &mut block)?;
        let (marked, mut has_new) = (marks.len(), false);
        let cut_off = || decompressor.damaged("an entry is cut off");
        // Keys that were seen before the run stand before all records.
        let mut at = HEADER;
        while at < block.len() {
            let (entry, length) = SpillEntry::decode(&block[at..]).ok_or_else(cut_off)?;
            if entry.count > 0 {
                break;
            }
            if !keys.add_seen(plan, key, entry.key)? {
                let rest = rest.get_or_insert_with(|| Division::new(plan, partition.bytes()));
                rest.write(key.hash(entry.key), &block[at..at + length])?;
            }
            at += length;
            marks.reserve(1).map_err(no_room)?;
            marks.push(false);
        }
        list(&block, at, key, &mut listed, &mut entries).map_err(no_room)?.ok_or_else(cut_off)?;
        marks.reserve(listed.len()).map_err(no_room)?;
        let taken = keys.add(plan, Block(&block), &mut entries)?;
        for (i, (entry, listed)) in entries.iter().zip(&listed).enumerate() {
            let is_new = entry.new_place().is_some() && i < taken;
            has_new |= is_new;
            if is_new {
                found(listed.ordinal, RecordStatus::New);
            } else if entry.is_seen() {
                found(listed.ordinal, RecordStatus::Seen);
            } else if entry.new_place().is_some() {
                let rest = rest.get_or_insert_with(|| Division::new(plan, partition.bytes()));
                rest.write(entry.hash, &block[listed.start as usize..listed.end as usize])?;
            }
            marks.push(is_new);
        }
        if has_new {
            alloc::try_reserve(&mut with_new, 1).map_err(no_room)?;
            with_new.push(extent);
        } else {
            // A block without a new entry is not read again.
            marks.truncate(marked);
        }
    }
    plan.marks.take(&marks);
    let run = Run { stream: Stream(with_new), marks: Some(marks) };
    let rest = rest.map_or(Ok(Vec::new()), Division::finish)?;
    Ok(PartitionResult { run, rest })
}

/// Lists the entries of a block from `at` on, and hashes their keys; `None` if one is cut off.
fn list(
    block: &[u8],
    mut at: usize,
    key: &HashKey,
    listed: &mut Vec<Listed>,
    entries: &mut Vec<Entry>,
) -> Result<Option<()>, AllocError> {
    listed.clear();
    entries.clear();
    while at < block.len() {
        let Some((entry, length)) = SpillEntry::decode(&block[at..]) else { return Ok(None) };
        alloc::try_reserve(listed, 1)?;
        alloc::try_reserve(entries, 1)?;
        let start = entry.key.as_ptr().addr() - block.as_ptr().addr();
        listed.push(Listed { ordinal: entry.ordinal, start: at as u32, end: (at + length) as u32 });
        entries.push(Entry {
            hash: key.hash(entry.key),
            start: start as u32,
            len: entry.key.len() as u32,
            sequence: 0,
            new: None,
        });
        at += length;
    }
    Ok(Some(()))
}

impl Keys {
    fn len(&self) -> usize {
        self.seen.len() + self.shard.len()
    }

    /// Whether it may take `more` keys of so many bytes.
    fn has_room(&self, plan: &PartitionPlan<'_>, more: usize, bytes: usize) -> bool {
        self.seen.memory(0) + self.shard.memory(more) + bytes <= plan.memory
    }

    /// Adds a key that was seen before the run; returns whether the set holds it.
    fn add_seen(
        &mut self,
        plan: &PartitionPlan<'_>,
        key: &HashKey,
        text: &[u8],
    ) -> Result<bool, SpillError> {
        let hash = key.hash(text);
        if self.seen.contains(hash, text) {
            return Ok(true);
        }
        let fits = self.len() < MIN_URLS || self.seen.memory(1) + text.len() <= plan.memory;
        if !self.is_full && fits && self.seen.add(hash, text).is_ok() {
            return Ok(true);
        }
        self.fill(plan)?;
        Ok(false)
    }

    /// Adds the keys of entries while there is room, and looks up the others. Returns how many were
    /// added or found in the set; of those after them, the new ones are not in the set.
    fn add(
        &mut self,
        plan: &PartitionPlan<'_>,
        block: Block<'_>,
        entries: &mut [Entry],
    ) -> Result<usize, SpillError> {
        if !self.seen.is_empty() {
            self.seen.mark_all(&mut [Part { entries, bytes: block }]);
        }
        let mut taken = match self.is_full {
            true => 0,
            false if self.has_room(plan, entries.len(), block.0.len()) => entries.len(),
            // Each pass takes a few keys, however little memory it has, so the passes end.
            false => MIN_URLS.saturating_sub(self.len()).min(entries.len()),
        };
        let added =
            self.shard.insert_all(&mut [Part { entries: &mut entries[..taken], bytes: block }]);
        if let Err(stopped) = added {
            taken = stopped.after;
        }
        let later = &mut entries[taken..];
        if !later.is_empty() {
            later.iter_mut().filter(|entry| !entry.is_seen()).for_each(|entry| entry.new = None);
            self.shard.find_all(&mut [Part { entries: later, bytes: block }]);
            self.fill(plan)?;
        }
        Ok(taken)
    }

    /// Takes no more keys.
    fn fill(&mut self, plan: &PartitionPlan<'_>) -> Result<(), SpillError> {
        // A set that can hold nothing will never hold more.
        if self.len() == 0 {
            return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
        }
        self.is_full = true;
        Ok(())
    }
}
