//! The engine: reads inputs, and writes a canonical set or one line for each record, on every core.
//!
//! The plain loop: read a chunk; find its records; normalize each; add it to the set; write it if it
//! was new. Here it is cut into four stages, through which batches flow on all threads:
//!
//! - *read* (a task for each chunk): positional read, records, canonical forms, hashes, and the
//!   keys grouped by shard. Chunks are read in any order; then their batches go on in the order of the input;
//! - *insert* (a task for a lane of shards): the keys of all chunks are added to each shard in the order of the
//!   input, so that which of two equal URLs is the first does not depend on the number of threads. The lane that is
//!   the last with a batch hands it on;
//! - *format* (a task for each batch): the new URLs, in the order of the input;
//! - *write* (one task at a time), in the order of the input.
//!
//! No task waits for another (`flow.rs` says why): where order matters, one task at a time takes the batches, and
//! the others go on. Writing in the order of the input costs next to nothing this way, so there is no
//! option for output in any order.
//!
//! Before a batch is inserted, the memory of the run is compared with its budget. Over budget, the set takes no more
//! keys: *insert* only looks up and counts, and *format* makes entries of the keys that the set does not hold. Either
//! *write* appends those by the hash of the key to a temporary file ([`uniqurl_store::spill`]), or *format* itself
//! writes them by ranges of keys, and at the end they are deduplicated and written after the keys of the set.
//!
//! If a record is kept that is not the first ([`Keep`]), *insert* also notes where in the set each key is,
//! *format* makes a line of each record, and when it is counted, the line that is kept goes into memory for
//! the end. If those lines exceed the budget, the whole set is moved to the temporary file with them.
//!
//! If only the first keys of each group are kept ([`LimitBy`]), the hash of the group, and not of the key, picks
//! the shard, so that one task sees all records of a group in the order of the input. Such a set has to fit.
//!
//! URLs of lists from before the run are in a set of their own, which *insert* looks into first, or in a store for
//! the time of the run if they do not fit. If there are stores from before the run, batches wait between *read* and
//! *insert* until so many have gathered that their keys can be looked up together (`window`).

pub mod output;

// The parameters and the report of a run.
mod job;
mod plan;
mod split;
mod limit_by;
mod selection;
mod address_blocks;
mod expressions;
mod extensions;
mod host_list;
mod url_filter;
mod request_filter;
mod memory;
mod cores;
mod trace;
mod watch;
mod phase_writer;
mod error;
mod report;

// The parts of a run.
mod sequencer;
mod reader;
mod batch;
mod stages;
mod set;
mod seen;
mod window;
mod sink;
mod accounts;
mod flow;
mod pipeline;
mod run;
mod whole;
#[cfg(feature = "tables")]
mod whole_rows;

pub use cores::{cores, most_threads, most_workers};
pub use error::{IdleFilter, RunError, TooManyRejected};
pub use host_list::{BadHostList, HostList};
pub use job::{Dedup, InputFormat, Job, Keep, MaxRejected, SetOrder};
pub use limit_by::{Group, LimitBy};
pub use memory::{Memory, SpillNotice};
pub use plan::{CHUNK_SIZE, MOST_THREADS};
pub use plan::{InputOptions, JobPlan, OutputOptions, RecordPolicy, ResourceLimits, SeenBefore};
pub use report::{RejectedSeen, Report};
pub use request_filter::{BadRequestFilter, RequestFilter};
pub use run::run;
pub use seen::{SeenError, SeenTrouble};
pub use selection::Selection;
pub use sink::Sinks;
pub use split::{MARK, MARK_OF_RECORD, Split, SplitBy};
pub use stages::{StageBuffers, Stages};
pub use trace::{TaskTimer, Trace, TraceStage};
pub use uniqurl_store::spill::Spilled;
pub use uniqurl_store::temporary_file;
pub use url_filter::{BadUrlFilter, UrlFilter};
pub use watch::{Phase, Watch};
pub use whole::{WholeSinks, run_whole};

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
mod test_util;

/// Runs the examples of the README. They stand here since they use all libraries of the workspace.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// Runs the examples of the guide's page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod guide {}
