//! How keys that are spilled are divided among partitions.

use std::sync::Arc;

use uniqurl::internal::Hash;
use uniqurl_store::spill::{KeyRanges, PARTITIONS};

/// How keys are divided among partitions.
#[derive(Debug, Clone)]
pub(crate) enum Partitioner {
    /// By their hash.
    Hash,
    /// By ranges of keys.
    Ranges(Arc<KeyRanges>),
}

impl Partitioner {
    /// The partition of a key.
    #[inline]
    pub(crate) fn find(&self, hash: Hash, key: &[u8]) -> usize {
        match self {
            Self::Hash => hash.partition(PARTITIONS),
            Self::Ranges(ranges) => ranges.find(key),
        }
    }
}
