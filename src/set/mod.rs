//! The set: exact, sharded, keyed.
//!
//! A URL's hash picks its shard and, by other bits, its slot. A slot says where the bytes are and
//! holds half of the hash; bytes are always compared, so a fingerprint alone never decides. One
//! shard is used by one thread at a time and needs no lock.

mod arena;
mod hash;
mod url_set;
mod shard;

pub use url_set::{Iter, SetFull, UrlSet};

pub use arena::Counting;
pub use hash::{Hash, HashKey};
pub use shard::{Bytes, Entry, Mark, Part, Shard};

/// How many shards a set has that so many threads fill: enough that none waits for the last one, and few
/// enough that what a round brings to one is worth a task. Each takes 4 GiB of URLs.
pub fn shards_for(threads: usize) -> usize {
    (threads * 16).next_power_of_two().clamp(32, 1024)
}
