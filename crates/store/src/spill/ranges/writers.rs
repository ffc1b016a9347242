//! Ranges of keys while they are written, by any thread in any order.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::sort::{BATCH, Bounds, Measured, ShardUrls, Threads, bounds_of};
use crate::spill::LARGEST_BLOCK;
use crate::spill::entry::SpillEntry;
use crate::spill::packing::BlockCompressor;
use crate::spill::store::{SpillError, Store};
use crate::spill::stream::{EntryWriter, Stream};
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Shard, alloc};

/// Most ranges that keys are divided into. Those of ten gigabytes are loaded one for each core.
const MOST_RANGES: usize = 256;

/// Bytes of a block that more ranges are not worth.
const GOOD_BLOCK: usize = 16 << 10;

/// Sampled keys for each of them.
const SAMPLED: usize = 16;

/// Entries whose places in their blocks are fetched together.
const FETCHED: usize = 64;

/// The part of the memory for blocks that are being written, and most bytes of them.
const BUFFERED_SHARE: usize = 4;
const MOST_BUFFERED: usize = 64 << 20;

/// Streams of ranges that follow each other in order.
///
/// Threads with different numbers do not wait for each other: each has a writer for every range.
pub struct RangeWriters {
    bounds: Bounds,
    block: usize,
    threads: Vec<Mutex<ThreadWriters>>,
}

struct ThreadWriters {
    writers: Vec<EntryWriter>,
    compressor: BlockCompressor,
}

impl fmt::Debug for RangeWriters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeWriters").field("ranges", &self.bounds.len()).finish_non_exhaustive()
    }
}

impl RangeWriters {
    /// Ranges of about the same size for keys like those of a set. Blocks that are being written take a part of
    /// `memory`, so there are fewer ranges if it is small. Fails if memory runs out.
    pub fn of_set(
        shards: &[Shard],
        store: &Arc<Store>,
        memory: usize,
        threads: usize,
    ) -> Result<Self, SetFull> {
        let buffered = (memory / BUFFERED_SHARE).min(MOST_BUFFERED) / threads;
        let ranges = (buffered / GOOD_BLOCK).clamp(1, MOST_RANGES);
        let block = (buffered / ranges).clamp(4 << 10, LARGEST_BLOCK);
        let mut sample = sample_of(shards, ranges * SAMPLED)?;
        let bounds = bounds_of(0, &mut sample, &ShardUrls(shards.iter().collect()), Threads::All)?;
        let new = || ThreadWriters {
            writers: (0..bounds.len()).map(|_| EntryWriter::new(block)).collect(),
            compressor: BlockCompressor::new(store),
        };
        let threads = (0..threads).map(|_| Mutex::new(new())).collect();
        Ok(Self { bounds, block, threads })
    }

    /// Bytes of a block before it is packed.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Writes entries. No order is kept but that of one thread.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn add<'e>(
        &self,
        mut entries: impl Iterator<Item = SpillEntry<'e>>,
    ) -> Result<(), SpillError> {
        // A thread of another pool may share a number with one of this pool. It then waits for the
        // lock.
        let thread = rayon::current_thread_index().unwrap_or_default() % self.threads.len();
        let mut thread = self.threads[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let ThreadWriters { writers, compressor } = &mut *thread;
        let nothing = SpillEntry { ordinal: 0, count: 0, key: &[], line: &[] };
        let (mut batch, mut ranges) = ([nothing; BATCH], [0; BATCH]);
        loop {
            let mut count = 0;
            for (entry, next) in batch.iter_mut().zip(&mut entries) {
                *entry = next;
                count += 1;
            }
            if count == 0 {
                return Ok(());
            }
            let (batch, ranges) = (&batch[..count], &mut ranges[..count]);
            // The bounds are searched for many keys at a time, since the steps of one search wait for each other.
            self.bounds.find(batch.iter().map(|entry| Measured::whole(entry.key)), ranges);
            for (entries, ranges) in batch.chunks(FETCHED).zip(ranges.chunks(FETCHED)) {
                // The buffers are far apart in memory, so each `push` would wait for its own.
                ranges.iter().for_each(|range| writers[*range as usize].fetch());
                for (entry, range) in entries.iter().zip(ranges) {
                    writers[*range as usize].push(entry, compressor)?;
                }
            }
        }
    }

    /// The streams, in order.
    ///
    /// # Errors
    ///
    /// The last blocks cannot be written, or memory runs out.
    pub fn finish(&self) -> Result<Vec<Stream>, SpillError> {
        let range = |number| Stream { extents: Vec::new(), depth: self.bounds.depth(number) };
        let mut ranges: Vec<Stream> = (0..self.bounds.len()).map(range).collect();
        for thread in &self.threads {
            let mut thread = thread.lock().unwrap_or_else(PoisonError::into_inner);
            let ThreadWriters { writers, compressor } = &mut *thread;
            for (range, writer) in ranges.iter_mut().zip(writers.drain(..)) {
                let mut more = writer.finish(compressor)?;
                alloc::try_reserve(&mut range.extents, more.extents.len())
                    .map_err(|error| compressor.store().error(error.into()))?;
                range.extents.append(&mut more.extents);
            }
        }
        Ok(ranges)
    }
}

/// Samples the places of about `size` URLs of the shards, at even distances.
fn sample_of(shards: &[Shard], size: usize) -> Result<Vec<u64>, AllocError> {
    let all: usize = shards.iter().map(Shard::len).sum();
    let mut sample = Vec::new();
    let step = (all / size.max(1)).max(1);
    alloc::try_reserve_exact(&mut sample, all / step + 1)?;
    let places = (0u64..).zip(shards).flat_map(|(number, shard)| {
        shard.places().map(move |place| number << 32 | u64::from(place))
    });
    sample.extend(places.step_by(step));
    Ok(sample)
}
