//! A chunk on its way through the stages, and everything that is made of it.
//!
//! *Read* fills [`WorkBatch::text`] and parses it into keys and entries; *insert* marks the entries that are
//! new; *format* makes [`BatchOutput`] of them; *write* writes that. Then the buffers are reused.

mod text;
mod rules;
mod rejected;
mod extras;
mod parse;
mod normalize;
mod shard;
mod groups;

pub(crate) use extras::Extras;
pub(crate) use groups::{BatchGroups, GroupRef};
pub(crate) use rejected::{RejectedRecord, without_host};
pub(crate) use rules::ParseRules;
pub(crate) use text::{AT_ONCE, BatchText, TextBuffers, UrlRef};

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;

use crate::output::Tally;
use uniqurl::internal::{Change, Entry, Hash};
use uniqurl_formats::input::{Chunk, CutLine, Data, RangeBuffer};

/// A chunk and its parsed records. The buffers are reused from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct WorkBatch {
    /// Number of the input.
    pub(crate) input: usize,
    pub(crate) sequence: Sequence,
    pub(crate) text: BatchText,
    /// One for each record, in order: its key, which is its canonical URL unless the job says otherwise.
    pub(crate) keys: Vec<UrlRef>,
    /// The hash by which each key is divided, if there is a set: its own, or that of its group.
    pub(crate) hashes: Vec<Hash>,
    /// The keys, grouped for the set.
    pub(crate) entries: ShardEntries,
    /// The rejected records, in order.
    pub(crate) rejected: Vec<RejectedRecord>,
    pub(crate) tally: BatchTally,
    pub(crate) insertion: Insertion,
    pub(crate) out: BatchOutput,
    /// Data that only some jobs need.
    pub(crate) extras: Option<Box<Extras>>,
    scratch: Vec<u8>,
    /// The URLs of a piece that are not clean.
    changes: Vec<Change>,
}

/// Which records of a chunk a batch holds, and their numbers.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// Records of the chunk that are in earlier batches, headers included.
    pub(crate) from: usize,
    /// The first record of the chunk for the next batch, if this one could not take all.
    pub(crate) rest: Option<usize>,
    /// Records before this batch.
    pub(crate) before: Position,
    /// A last line that was left out because it was still being written.
    pub(crate) cut: Option<CutLine>,
    /// The number of the batch among those that are inserted.
    pub(crate) number: u64,
    /// The room of its chunk, if the batch holds the last records of it.
    pub(crate) share: TaskShare,
    /// Bytes of memory that were counted for the batch.
    pub(crate) counted: usize,
}

/// The room that tasks take until their batches are written.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct TaskShare {
    pub(crate) tasks: usize,
    /// Bytes of their chunks.
    pub(crate) bytes: usize,
}

/// A number of records.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Position {
    /// In the same input.
    pub(crate) in_input: u64,
    /// In all inputs so far.
    pub(crate) in_run: u64,
}

/// The keys of a batch, grouped by shard and in the order of the records within each.
#[derive(Debug, Default)]
pub(crate) struct ShardEntries {
    pub(crate) all: Vec<Entry>,
    /// Where the entries of each shard end.
    pub(crate) ends: Vec<usize>,
    /// The position in its shard of each entry, or 0 if the set does not hold it. Empty unless the job
    /// needs it. The shards write them at the same time, as they do the outcomes of the entries.
    pub(crate) places: Vec<AtomicU32>,
}

/// The counts of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchTally {
    pub(crate) records: Tally,
    /// Request targets without a known host.
    pub(crate) hostless: u64,
    /// Lines of a list, and those of them that contain a tab.
    pub(crate) listed: u64,
    pub(crate) tabbed: u64,
    /// Those that are no URLs since they begin with a label.
    pub(crate) labelled: u64,
    /// Records whose hosts are in each of the lists of hosts.
    pub(crate) in_lists: Vec<u64>,
}

/// The way in which *insert* treated the keys of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Insertion {
    /// Nothing: the job has no set, or the batch was not inserted yet.
    #[default]
    None,
    /// It added the new ones to the set.
    Added,
    /// It looked them up in a set that takes no more. The new ones are spilled.
    LookedUp,
}

/// The bytes that a batch adds to the outputs.
#[derive(Debug, Default)]
pub(crate) struct BatchOutput {
    /// Bytes for the main output.
    pub(crate) lines: Vec<u8>,
    /// Bytes for the list of rejected records.
    pub(crate) rejects: Vec<u8>,
    /// Headers of records that are written as they came.
    pub(crate) headers: Vec<Header>,
    /// Shard and position of each new key, in order, if the set is written at the end.
    pub(crate) new: Vec<u64>,
    /// A line for each of them, if lines hold more than the key.
    pub(crate) lines_of_new: Vec<u8>,
    /// Entries for each partition on disk.
    pub(crate) spilled: Vec<Vec<u8>>,
    /// Bits or numbers by record, while lines are made.
    pub(crate) by_sequence: Vec<u64>,
}

/// A line before the records of an input.
#[derive(Debug)]
pub(crate) struct Header {
    /// The input.
    pub(crate) path: PathBuf,
    /// The line, with its ending.
    pub(crate) bytes: Vec<u8>,
}

/// Capacity of all partitions of a batch below which it is always kept.
const SMALL_PARTITIONS: usize = 64 << 10;

impl WorkBatch {
    /// A buffer to read a chunk into.
    pub(crate) fn take_block(&mut self) -> RangeBuffer {
        match self.text.chunk.take() {
            Some(Chunk { data: Data::Block(block), .. }) => block,
            _ => RangeBuffer::default(),
        }
    }

    /// Frees the bytes of its chunk, unless the next one can be read into them.
    pub(crate) fn free_chunk(&mut self) {
        self.text.chunk.take_if(|chunk| !matches!(chunk.data, Data::Block(_)));
    }

    /// Prepares the batch for another chunk.
    pub(crate) fn clear(&mut self) {
        self.sequence = Sequence::default();
        self.text.clear();
        self.keys.clear();
        // `entries.all` stays: the next chunk overwrites its entries, and to write them
        // anew would touch each twice.
        self.entries.ends.clear();
        self.entries.places.clear();
        self.rejected.clear();
        self.tally = BatchTally::default();
        self.insertion = Insertion::None;
        self.out.clear();
        if let Some(extras) = &mut self.extras {
            extras.clear();
        }
    }

    /// The chunk again, and its first record for the next batch, if this one could not take all.
    pub(crate) fn take_rest(&mut self) -> Option<(Chunk, usize)> {
        let from = self.sequence.rest.take()?;
        self.text.chunk.as_ref().map(|chunk| chunk.again(from))
    }

    /// The canonical URL of each record, in order.
    pub(crate) fn canonical(&self) -> &[UrlRef] {
        match &self.extras {
            // Filled only if the keys differ from the URLs.
            Some(extras) if !extras.canonical.is_empty() => &extras.canonical,
            _ => &self.keys,
        }
    }

    /// An upper bound for the bytes that a set takes of its keys and their groups.
    pub(crate) fn new_bytes(&self) -> usize {
        let groups = self.extras.as_ref().map_or(0, |extras| extras.groups.text());
        self.text.canonical_bytes() + groups
    }

    /// Bytes of memory of the buffers.
    pub(crate) fn memory(&self) -> usize {
        // All fields are named, so that a new one is not forgotten. Some do not grow with the input.
        let Self {
            text,
            keys,
            hashes,
            entries: ShardEntries { all, ends, places },
            rejected,
            out,
            extras,
            scratch,
            changes,
            input: _,
            sequence: _,
            tally: _,
            insertion: _,
        } = self;
        text.memory()
            + bytes(keys)
            + bytes(hashes)
            + bytes(all)
            + bytes(ends)
            + bytes(places)
            + bytes(rejected)
            + out.memory()
            + extras.as_ref().map_or(0, |extras| extras.memory())
            + bytes(scratch)
            + bytes(changes)
    }
}

impl ShardEntries {
    /// The entries of a shard.
    pub(crate) fn of(&self, shard: usize) -> &[Entry] {
        &self.all[self.range(shard)]
    }

    /// The positions of those of a shard.
    pub(crate) fn places_of(&self, shard: usize) -> &[AtomicU32] {
        // Empty unless the job needs places. Then a shard has none.
        self.places.get(self.range(shard)).unwrap_or_default()
    }

    fn range(&self, shard: usize) -> Range<usize> {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[shard]
    }
}

impl BatchOutput {
    fn clear(&mut self) {
        self.lines.clear();
        self.rejects.clear();
        self.headers.clear();
        self.new.clear();
        self.lines_of_new.clear();
        // If lines are long, each partition has grown to hold a few of them, and all partitions together
        // hold many more than a chunk has.
        let sum = |size: fn(&Vec<u8>) -> usize| self.spilled.iter().map(size).sum::<usize>();
        if sum(Vec::capacity) > 4 * sum(Vec::len) + SMALL_PARTITIONS {
            self.spilled = Vec::new();
        }
        self.spilled.iter_mut().for_each(Vec::clear);
    }

    fn memory(&self) -> usize {
        // Few chunks have headers.
        let Self { headers: _, lines, rejects, new, lines_of_new, spilled, by_sequence } = self;
        let texts = [lines, rejects, lines_of_new].into_iter().chain(spilled);
        texts.map(bytes).sum::<usize>() + bytes(spilled) + bytes(new) + bytes(by_sequence)
    }
}

/// Bytes of memory of a vector.
fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_buffers_count_as_memory() {
        const MORE: usize = 1000;
        let texts = |batch: &mut WorkBatch, bytes: usize| {
            let extras = batch.extras.get_or_insert_default();
            (0..MORE).for_each(|_| extras.decoded.add((), bytes, |_| Ok(())).unwrap());
        };
        let grown: [&dyn Fn(&mut WorkBatch); 5] = [
            &|batch| texts(batch, MORE),
            &|batch| texts(batch, 0),
            &|batch| batch.scratch.reserve(MORE),
            &|batch| batch.entries.ends.reserve(MORE),
            &|batch| batch.extras.get_or_insert_default().canonical.reserve(MORE),
        ];
        for (i, grow) in grown.iter().enumerate() {
            let mut batch = WorkBatch::default();
            grow(&mut batch);
            assert!(batch.memory() >= MORE, "{i}: {}", batch.memory());
        }
    }
}
