//! All of it: inputs in, a canonical set or one line for each record out, on every core.
//!
//! The plain loop: read a chunk; find its records; normalize each; add it to the set; write it if it
//! was new. Here it is cut into four stages, and in each round all of them run at once, each on
//! another batch of chunks:
//!
//! ```text
//! round     n         n + 1      n + 2      n + 3
//! batch k   read      insert     format     write
//! batch k+1           read       insert     format
//! ```
//!
//! - *read* (a task for each chunk): positional read, records, canonical forms, hashes, and the
//!   URLs sorted by shard;
//! - *insert* (a task for each shard): the chunks' URLs go into the shard in the order of the
//!   input, so that which of two equal URLs was first does not depend on how many threads there
//!   are;
//! - *format* (a task for each chunk): the new URLs, in the order of the input;
//! - *write* (one task).
//!
//! No two tasks share anything that one of them writes, so there is no lock; the one barrier is at
//! the end of a round. Writing in the order of the input costs next to nothing this way, so
//! `--order none` is the same as `first`.
//!
//! Before a batch is inserted, what the run then holds is compared with its budget. Once that is
//! over, the set takes no more: *insert* only looks up and counts, *format* makes entries of the
//! URLs that the set does not hold, *write* writes those by partition to a temporary file
//! ([`uniqurl_store::spill`]), and at the end they are settled behind the URLs of the set.
//!
//! A few KiB of input may become gigabytes: a base before each target, a page's address before each link, the
//! end of a redirect in place of each URL. So *read* stops where a chunk has become long, and the next
//! round begins with the rest of its records.
//!
//! Where a record survives that is not the first ([`Keep`]), *insert* also says where in the set each
//! URL is that the set holds, *format* makes a line of each record, and when it is accounted for, the
//! line that survives is kept for the end. Lines that have become more than the budget take all of the
//! set with them to the temporary file.
//!
//! URLs from before the run (`--seen`) are in a set of their own, which *insert* asks first.

pub mod output;

// What a run is asked for, and what it tells.
mod job;
mod memory;
mod cores;
mod report;

// The loop.
mod run;
mod rounds;
mod batches;

// Stage *read*.
mod schedule;
mod sheet;
mod url_filter;
mod split;

// Stage *insert*, and what is done where the set is full or seen before.
mod insert;
mod scatter;
mod budget;
mod overflow;
mod seen;

// The end.
mod finish;

// Parts of it, to be measured.
mod stages;

pub use cores::{cores, most_threads};
pub use job::MOST_THREADS;
pub use job::{CHUNK_SIZE, Dedup, Format, Job, Keep, Order, Setup};
pub use memory::{Memory, Spilling};
pub use report::{MaxRejected, Report, RunError, TooManyRejected, Watch};
pub use run::{Sinks, run, run_to};
pub use seen::{RejectedSeen, SeenError, SeenTrouble};
pub use split::MARK;
pub use split::{Split, SplitBy};
pub use stages::{Buffers, Stages};
pub use url_filter::{BadUrlFilter, UrlFilter};

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
mod test_util;

/// Runs the examples of the README. They stand here since they use all libraries of the workspace.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
