//! A partition by hash, and what becomes of it.

use std::sync::Arc;

use super::marks::{MarksBudget, Run};
use super::store::Store;
use super::stream::Stream;

/// How partitions are settled and runs are merged.
#[derive(Debug, Clone, Copy)]
pub struct PartitionPlan<'a> {
    /// Where partitions and runs are.
    pub store: &'a Arc<Store>,
    /// Bytes that the set of one partition may take. A few URLs fit whatever it is.
    pub memory: usize,
    /// Bytes of a block before it is packed, as the streams were written.
    pub block: usize,
    /// The memory for marks.
    pub marks: &'a MarksBudget,
}

/// What became of a partition.
#[derive(Debug, Default)]
pub struct PartitionResult {
    /// The URLs that were settled, in order.
    pub run: Run,
    /// What did not fit, in partitions that have no key in common with each other or the run.
    pub rest: Vec<Stream>,
}
