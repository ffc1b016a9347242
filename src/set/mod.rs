//! The set: exact, sharded, keyed.
//!
//! A URL's hash selects its shard and, by other bits, its slot. A slot points to the bytes and holds
//! half of the hash. Bytes are always compared, so a fingerprint alone never decides. One shard is used
//! by one thread at a time and needs no lock.

mod set_full;
mod hash;
mod url_set;
mod shard;

pub use hash::{Hash, HashKey};
pub use set_full::SetFull;
pub use shard::{Bytes, Counting, Entry, Outcome, Part, Shard, ShardSize};
pub use url_set::UrlSet;

/// Number of shards for a set that `threads` threads fill. There are enough that no thread waits for
/// the last shard, and few enough that the URLs of one round for a shard are worth a task. Each shard
/// holds up to 4 GiB of URLs.
pub fn shards_for(threads: usize) -> usize {
    (threads * 4).next_power_of_two().clamp(32, 1024)
}
