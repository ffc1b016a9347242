//! Sets that are larger than memory: what a full set cannot take goes to a temporary file, and is
//! deduplicated from there, a part at a time.
//!
//! A set that is full stays what it is, and still says of each URL whether it holds it. The others
//! become `SpillEntry`s, each with its ordinal: its place among all records of the run. At the end there are two
//! ways, and no other:
//!
//! - Where the first record of each key is all that is wanted, in the order of the records, a hash has picked the
//!   partition of an entry, so all with one key are in one partition, in the order of the input. [`mark_new`] takes
//!   each partition through a set of its own, by the same rule: what does not fit is spilled again, under another
//!   hash. Every pass settles some URLs, so it ends, whatever the hash. The new entries are a run, mostly the
//!   partition itself with a mark for each, and [`merge_windows`] makes one of all runs.
//! - Else partitions are ranges of keys ([`RangeWriters`]). [`each_range`] sorts one at a time, and [`RangeEntries`]
//!   adds up the entries of each key. Where the order is not that of the keys, the results go through ranges once
//!   more, under keys that begin with their [rank](Ranking).
//!
//! Partitions and runs are `Stream`s of blocks in a `Store`, one file without a name. A block is packed by
//! LZ4 if that is cheaper than to write it as it is (`costs`).

mod entry;
mod costs;
mod store;
mod packing;
mod stream;
mod partitions;
mod marks;
mod partition;
mod division;
mod mark_new;
mod source;
mod windows;
mod ranges;

pub use costs::Spilled;
pub use entry::SpillEntry;
pub(crate) use entry::{append_number, decode_number};
pub use mark_new::mark_new;
pub use marks::{MarksBudget, Run};
pub use packing::BlockCompressor;
pub use partition::{PartitionPlan, PartitionResult};
pub use partitions::{PartitionGroup, Partitions};
pub use ranges::{RANK, RangeEntries, RangePlan, RangeWriters, Ranking, each_range};
pub use store::{SpillError, Store};
pub use stream::{EntryWriter, Stream};
pub use windows::merge_windows;

/// Partitions that a set is spilled to.
pub const PARTITIONS: usize = 64;

/// Most partitions that one is divided into if it does not fit into memory.
const MOST_PARTS: usize = 64;

/// LZ4 packs blocks of less than 64 KiB with a smaller table, which is faster.
const LARGEST_BLOCK: usize = (64 << 10) - 512;

/// Bytes of a block before it is packed, where each partition has a buffer for one and all of them
/// should take no more than a fourth of `memory`.
pub fn block_size(memory: usize) -> usize {
    (memory / (4 * PARTITIONS)).clamp(4 << 10, LARGEST_BLOCK)
}
