//! Divides the part of a partition that a set cannot take into smaller partitions.

use super::MOST_PARTS;
use super::packing::BlockCompressor;
use super::partition::PartitionPlan;
use super::store::SpillError;
use super::stream::{EntryWriter, Stream};
use uniqurl::internal::Hash;

/// Partitions that are being written, by the hash that deduplicates the partition they come from.
pub(super) struct Division {
    writers: Vec<EntryWriter>,
    compressor: BlockCompressor,
}

impl Division {
    /// Divides a partition of so many bytes. There are enough parts that each is likely to fit, and no
    /// more, since each is read by itself when the runs are merged.
    pub(super) fn new(plan: &PartitionPlan<'_>, bytes: u64) -> Self {
        // Half of the memory: hashes divide unevenly, and a part that does not fit is written once
        // more.
        let fitting = (plan.memory as u64 / 2).max(1);
        // A hash selects a part by its bits, so their number is a power of two.
        let parts = bytes.div_ceil(fitting).clamp(2, MOST_PARTS as u64).next_power_of_two();
        let writers = (0..parts).map(|_| EntryWriter::new(plan.block)).collect();
        Self { writers, compressor: BlockCompressor::new(plan.store) }
    }

    /// Writes an entry, given as its bytes.
    pub(super) fn write(&mut self, hash: Hash, entry: &[u8]) -> Result<(), SpillError> {
        let part = hash.partition(self.writers.len());
        self.writers[part].write(entry, &mut self.compressor)
    }

    /// The partitions that are not empty.
    pub(super) fn finish(self) -> Result<Vec<Stream>, SpillError> {
        let Self { writers, mut compressor } = self;
        let parts = writers.into_iter().map(|writer| writer.finish(&mut compressor));
        parts.filter(|part| !part.as_ref().is_ok_and(Stream::is_empty)).collect()
    }
}
