//! Sets of URLs on disk, and the sorting and selection of their lines.
//!
//! [`spill`] holds the part of a set that memory does not.

#![warn(missing_debug_implementations)]

mod size_class;
mod temporary_file;
mod directory_sync;
pub mod sort;
pub mod keep_policy;
pub mod tally;
pub mod seen;
pub mod spill;

pub use directory_sync::{DirectorySync, directory_of};
pub use temporary_file::temporary_file;

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
mod test_util;
