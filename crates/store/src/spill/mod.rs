//! Sets that are larger than memory: what a full set cannot take goes to a temporary file, and is
//! deduplicated from there, a part at a time.
//!
//! A set that is full stays what it is, and still says of each URL whether it holds it. The others
//! become `SpillEntry`s, each with its ordinal: its place among all records of the run. A hash picks the
//! partition an entry is written to, so all with one key are in one partition, in the order of the
//! input. At the end
//!
//! 1. `dedup_partition` takes each partition through a set of its own, by the same rule:
//!    what does not fit is spilled again, under another hash. Every pass settles some URLs, so it
//!    ends, whatever the hash. If only the first keys of each group are kept, there is one pass, and the
//!    kept keys have to fit. Keys seen before the run come first in each partition, if they are too many
//!    for memory;
//! 2. the URLs that were settled are a run: where only first records matter, the partition itself, with
//!    a mark for each new entry (`mark_new`), else a new stream of counts and kept lines;
//! 3. `merge_windows` makes one of all runs by ordinal, and `merge` by bytes or counts: the order that a
//!    set in memory would have had.
//!
//! If the order is that of bytes, partitions are ranges of keys instead ([`KeyRanges`]): [`load_range`] sorts
//! one at a time, and their output needs no merge.
//!
//! Partitions and runs are `Stream`s of blocks in a `Store`, one file without a name. A block is packed by
//! LZ4 if that is cheaper than to write it as it is (`costs`).

mod entry;
mod costs;
mod packing;
mod store;
mod stream;
mod dedup_partition;
mod marks;
mod mark_new;
mod division;
mod groups;
mod merge;
mod source;
mod windows;
mod ranges;

pub use costs::Spilled;
pub use packing::BlockCompressor;
pub use store::SpillError;

pub use dedup_partition::{PartitionPlan, PartitionResult, RecordStatus, dedup_partition};
pub use entry::SpillEntry;
pub(crate) use entry::{append_number, decode_number};
pub use groups::GroupsBeyondMemory;
pub use marks::{MarksBudget, Run};
pub use merge::{MergeOrder, merge};
pub use ranges::{KeyRanges, LoadedRange, RangeEntries, RangePlan, load_range, range_memory};
pub use store::{Store, temporary_file};
pub use stream::{EntryWriter, Stream, written};
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
