//! The set: exact, sharded, keyed.
//!
//! A URL's hash picks its shard and, by other bits, its slot. A slot says where the bytes are and
//! holds half of the hash; bytes are always compared, so a fingerprint alone never decides. One
//! shard is used by one thread at a time and needs no lock.

#![cfg_attr(not(feature = "batch"), allow(dead_code, reason = "the pipeline's half of a shard"))]

mod arena;
#[cfg(feature = "batch")]
mod buckets;
mod hash;
mod set;
mod shard;
#[cfg(feature = "batch")]
mod sort;
#[cfg(feature = "batch")]
mod survivor;

pub use set::{Iter, SetFull, UrlSet};

#[cfg(feature = "batch")]
pub(crate) use arena::Counting;
#[cfg(feature = "batch")]
pub(crate) use buckets::{Bucket, Buckets, Records, sample_of};
#[cfg(feature = "batch")]
pub(crate) use hash::{Hash, Key};
#[cfg(feature = "batch")]
pub(crate) use shard::{Bytes, Entry, Mark, Part, Shard};
#[cfg(feature = "batch")]
pub(crate) use sort::{Measured, Shards, Threads, Urls, in_turn, sort, sort_memory};
#[cfg(feature = "batch")]
pub(crate) use survivor::{Candidate, Survivor, Survivors};

/// How many shards a set has that so many threads fill: enough that none waits for the last one, and few
/// enough that what a round brings to one is worth a task. Each takes 4 GiB of URLs.
#[cfg(feature = "batch")]
pub(crate) fn shards_for(threads: usize) -> usize {
    (threads * 16).next_power_of_two().clamp(32, 1024)
}
