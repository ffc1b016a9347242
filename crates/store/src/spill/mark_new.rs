//! Finds the new entries of a partition where only the first record of each key matters: nothing is
//! written again, since a bit for each entry says whether it is new. Only when the memory for marks is used up, new
//! entries are written anew.
//!
//! The plain loop takes an entry, looks its key up in a set, and adds it. Here a whole block goes
//! through the set at once, so that the cache misses of its keys overlap.

use super::division::Division;
use super::entry::SpillEntry;
use super::marks::{Marks, Run};
use super::packing::{BlockCompressor, BlockDecompressor, HEADER};
use super::partition::{PartitionPlan, PartitionResult};
use super::store::SpillError;
use super::stream::{EntryWriter, Stream};
use uniqurl::internal::{AllocError, Bytes, Counting, Entry, HashKey, Part, Shard, alloc};

/// Every pass settles at least so many URLs, so the passes end.
const MIN_URLS: usize = 16;

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
    shard: Shard,
    /// Whether it takes no more: a key was left to a smaller partition, and may come again.
    is_full: bool,
}

/// Finds the entries of a partition that are the first with their key, where the entries are in ascending order. Calls
/// `found` with the ordinal of each. `key` is another than the one that made the partition.
///
/// # Errors
///
/// The temporary file cannot be read or written, or memory runs out.
pub fn mark_new(
    partition: Stream,
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    mut found: impl FnMut(u64),
) -> Result<PartitionResult, SpillError> {
    let no_room = |error: AllocError| plan.store.error(error.into());
    let mut decompressor = BlockDecompressor::new(plan.store);
    let (mut listed, mut entries, mut block) = (Vec::new(), Vec::new(), Vec::new());
    let mut keys = Keys { shard: Shard::new(Counting::Off), is_full: false };
    let mut marks = Marks::default();
    let mut rest: Option<Division> = None;
    let mut with_new = Vec::new();
    let mut anew = plan.marks.is_used_up().then(|| Anew::new(plan));
    for extent in &partition.extents {
        decompressor.read(extent, &mut block)?;
        let (marked, mut has_new) = (marks.len(), false);
        let cut_off = || decompressor.damaged("an entry is cut off");
        list(&block, key, &mut listed, &mut entries).map_err(no_room)?.ok_or_else(cut_off)?;
        marks.reserve(listed.len()).map_err(no_room)?;
        let taken = keys.add(plan, Block(&block), &entries)?;
        for (i, (entry, listed)) in entries.iter().zip(&listed).enumerate() {
            // Beyond `taken` an entry that the set lacks may repeat one that it did not take, so a
            // smaller partition decides.
            let is_new = entry.is_new() && i < taken;
            has_new |= is_new;
            let bytes = &block[listed.start as usize..listed.end as usize];
            if is_new {
                found(listed.ordinal);
                if let Some(anew) = &mut anew {
                    anew.writer.write(bytes, &mut anew.compressor)?;
                }
            } else if entry.is_new() {
                let rest = rest.get_or_insert_with(|| Division::new(plan, partition.bytes()));
                rest.write(entry.hash, bytes)?;
            }
            marks.push(is_new);
        }
        if has_new && anew.is_none() {
            alloc::try_reserve(&mut with_new, 1).map_err(no_room)?;
            with_new.push(extent.clone());
        } else {
            // A block without a new entry is not read again.
            marks.truncate(marked);
        }
    }
    let run = match anew {
        Some(Anew { writer, mut compressor }) => Run::from(writer.finish(&mut compressor)?),
        None => {
            plan.marks.take(&marks);
            Run { stream: with_new.into(), marks: Some(marks) }
        }
    };
    let rest = rest.map_or(Ok(Vec::new()), Division::finish)?;
    Ok(PartitionResult { run, rest })
}

/// The new entries where no memory is left for marks.
struct Anew {
    writer: EntryWriter,
    compressor: BlockCompressor,
}

impl Anew {
    fn new(plan: &PartitionPlan<'_>) -> Self {
        let compressor = BlockCompressor::new(plan.store);
        Self { writer: EntryWriter::new(plan.block), compressor }
    }
}

/// Lists the entries of a block, and hashes their keys; `None` if one is cut off.
fn list(
    block: &[u8],
    key: &HashKey,
    listed: &mut Vec<Listed>,
    entries: &mut Vec<Entry>,
) -> Result<Option<()>, AllocError> {
    listed.clear();
    entries.clear();
    let mut at = HEADER;
    while at < block.len() {
        let Some((entry, length)) = SpillEntry::decode(&block[at..]) else { return Ok(None) };
        alloc::try_reserve(listed, 1)?;
        alloc::try_reserve(entries, 1)?;
        // The key is a part of the block, so its address tells its place without a second way to
        // decode.
        let start = entry.key.as_ptr().addr() - block.as_ptr().addr();
        listed.push(Listed { ordinal: entry.ordinal, start: at as u32, end: (at + length) as u32 });
        let hash = key.hash(entry.key);
        entries.push(Entry::new(hash, start as u32, entry.key.len() as u32, 0));
        at += length;
    }
    Ok(Some(()))
}

impl Keys {
    /// Adds the keys of entries while there is room, and looks up the others. Returns how many were
    /// added or found in the set; of those after them, the new ones are not in the set.
    fn add(
        &mut self,
        plan: &PartitionPlan<'_>,
        block: Block<'_>,
        entries: &[Entry],
    ) -> Result<usize, SpillError> {
        let memory = self.shard.memory(entries.len()) + block.0.len();
        let mut taken = match self.is_full {
            true => 0,
            false if memory <= plan.memory => entries.len(),
            // Each pass takes a few keys, however little memory it has, so the passes end.
            false => MIN_URLS.saturating_sub(self.shard.len()).min(entries.len()),
        };
        let added = self.shard.insert_all(&[Part { entries: &entries[..taken], bytes: block }]);
        if let Err(stopped) = added {
            taken = stopped.after;
        }
        let later = &entries[taken..];
        if !later.is_empty() {
            // Those that the set holds are duplicates, so only what it lacks is written once more.
            self.shard.find_all(&[Part { entries: later, bytes: block }]);
            // A set that can hold nothing will never hold more.
            if self.shard.is_empty() {
                return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
            }
            self.is_full = true;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests;
