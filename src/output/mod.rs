//! What leaves the program: files that appear whole or not at all, JSON lines, the accounting, and
//! text that is safe on a terminal.
//!
//! A new sink is a file here that appends its lines to a `Vec<u8>` (as [`json`] does) and is written
//! through an [`Output`].

// What lines and tables hold.
mod fields;
mod object;
pub mod json;
mod header;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
mod row_groups;

// Where they go.
pub(crate) mod vectored;
mod pack;
mod spool;
mod temporary;
mod replaced;
mod place;
mod file;
#[cfg(feature = "cli")]
mod shards;

// What is told of a run.
#[cfg(feature = "cli")]
mod ended;
mod summary;
mod stats;
mod page;

#[cfg(feature = "cli")]
pub(crate) use ended::Ended;
pub(crate) use fields::{Bytes, Layout, Row, escaped, with_count};
pub use fields::{Field, LineForm};
pub use file::Output;
pub(crate) use header::{BREAKS_OFF, LONGEST_KEY, Parsed, SetHeader};
pub(crate) use object::Object;
pub(crate) use pack::ending;
pub use page::{Observed, Page};
pub(crate) use place::directory;
#[cfg(feature = "cli")]
pub(crate) use place::place;
#[cfg(feature = "cli")]
pub(crate) use shards::Shards;
pub use stats::{Audit, FileStats, State, Stats};
pub use summary::{Before, Filters, Inputs, Job, Summary, Tally};
#[cfg(feature = "tables")]
pub use table::{TableColumn, TableFile, TableKind, TableValues};
#[cfg(feature = "cli")]
pub(crate) use temporary::Temporary;
pub(crate) use temporary::because_of;
pub use temporary::remove_all;
