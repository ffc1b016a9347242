//! The partitions of a run while they are written.

use std::sync::Arc;

use rayon::prelude::*;

use super::packing::BlockCompressor;
use super::store::{SpillError, Store};
use super::stream::{EntryWriter, Stream};

/// Streams that are written at the same time, neighbours by one task at a time.
#[derive(Debug)]
pub struct Partitions(Vec<PartitionGroup>);

/// Neighbouring partitions.
#[derive(Debug)]
pub struct PartitionGroup {
    first: usize,
    writers: Vec<EntryWriter>,
    compressor: BlockCompressor,
}

impl Partitions {
    /// So many empty ones, which as many tasks as there are threads can write to. Each has a buffer of one block.
    pub fn new(store: &Arc<Store>, number: usize, block: usize, threads: usize) -> Self {
        // Neighbours make a group, so that a task writes to them without a lock and with one
        // compressor.
        let share = number.div_ceil(threads).max(1);
        let groups = (0..number).step_by(share).map(|first| PartitionGroup {
            first,
            writers: (first..number.min(first + share)).map(|_| EntryWriter::new(block)).collect(),
            compressor: BlockCompressor::new(store),
        });
        Self(groups.collect())
    }

    /// Number of partitions.
    pub fn number(&self) -> usize {
        self.0.iter().map(|group| group.writers.len()).sum()
    }

    /// The groups, each for one task.
    pub fn groups(&mut self) -> &mut [PartitionGroup] {
        &mut self.0
    }

    /// Writes texts of entries on all threads. Each text has a part for each partition.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn write(&mut self, texts: &[Vec<Vec<u8>>]) -> Result<(), SpillError> {
        let groups = self.0.par_iter_mut().with_max_len(1);
        groups.try_for_each(|group| texts.iter().try_for_each(|parts| group.write(parts)))
    }

    /// The streams, in order.
    ///
    /// # Errors
    ///
    /// The last blocks cannot be written.
    pub fn finish(self) -> Result<Vec<Stream>, SpillError> {
        let mut streams = Vec::new();
        for PartitionGroup { writers, mut compressor, .. } in self.0 {
            for writer in writers {
                streams.push(writer.finish(&mut compressor)?);
            }
        }
        Ok(streams)
    }
}

impl PartitionGroup {
    /// Writes entries, which are given for all partitions of the run.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn write(&mut self, partitions: &[Vec<u8>]) -> Result<(), SpillError> {
        let partitions = partitions.iter().skip(self.first);
        let mut writers = self.writers.iter_mut().zip(partitions);
        writers.try_for_each(|(writer, entries)| writer.write(entries, &mut self.compressor))
    }
}
