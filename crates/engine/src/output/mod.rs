//! The outputs of the program: files that appear whole or not at all, JSON lines, the accounting, and
//! text that is safe on a terminal.
//!
//! A new sink is a file here that appends its lines to a `Vec<u8>` (as `json.rs` does) and is written
//! through an [`Output`].

// The content of lines and tables.
mod fields;
mod tally_columns;
mod json;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
mod csv;
#[cfg(feature = "tables")]
mod row_groups;
#[cfg(feature = "tables")]
mod page_checksums;

// Where they go.
pub mod vectored;
mod compress;
mod sync_writer;
mod temporary;
mod target;
mod nameless;
mod replaced;
mod place;
mod file;
mod shards;
#[cfg(feature = "tables")]
mod shard_table;

// Reports on a run.
mod terminator;
mod quantity;
mod tally;
mod summary;
mod stats;
mod page;

pub use fields::{CanonicalBytes, Layout, Row, escaped, with_count};
pub use fields::{Field, LineForm, RecordUnit};
pub use file::Output;
pub(crate) use json::number;
pub use json::{Object, escape_controls};
pub use page::{HtmlText, ReportPage};
pub use quantity::{ByteRate, Grouped};
pub use shards::{Framing, ShardFiles};
pub use stats::{FileStats, HostListStats, Stats};
pub use summary::{Inputs, Summary};
#[cfg(feature = "tables")]
pub use table::{TableColumn, TableFile, TableKind, TableValues};
pub use tally::{Accounting, JobKind, Tally, Terms};
pub use tally_columns::TallyColumns;
pub(crate) use tally_columns::TallyLayout;
pub use target::place;
pub use temporary::Temporary;
pub use temporary::remove_all;
pub use terminator::TerminatorWriter;
