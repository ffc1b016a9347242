//! How keys that are spilled are divided among partitions.

use std::sync::Arc;

use crate::error::RunError;
use uniqurl::internal::Hash;
use uniqurl_store::spill::{RangeWriters, SpillEntry};

/// How keys are divided among partitions.
#[derive(Debug, Clone)]
pub(crate) enum Partitioner {
    /// By their hash to so many partitions, in the order of the records. They are written when their batch is.
    Hash(usize),
    /// By ranges of keys, in any order. They are written at once.
    Ranges(Arc<RangeWriters>),
}

impl Partitioner {
    /// Spills entries, each with the hash of its key: to the partitions of a batch, or at once.
    pub(crate) fn spill<'e>(
        &self,
        mut entries: impl Iterator<Item = (Hash, SpillEntry<'e>)>,
        partitions: &mut Vec<Vec<u8>>,
    ) -> Result<(), RunError> {
        match self {
            Self::Hash(number) => {
                partitions.resize_with(*number, Vec::new);
                Ok(entries.try_for_each(|(hash, entry)| {
                    entry.append(&mut partitions[hash.partition(*number)])
                })?)
            }
            Self::Ranges(writers) => Ok(writers.add(entries.map(|(_, entry)| entry))?),
        }
    }

    /// Spills the entries of a text. Only keys that are not divided by their hash come this way.
    pub(crate) fn spill_each(&self, text: &[u8]) -> Result<(), RunError> {
        match self {
            Self::Hash(_) => Ok(()),
            Self::Ranges(writers) => Ok(writers.add(SpillEntry::each(text))?),
        }
    }
}
