//! Finds URLs in bytes: inputs, record formats and tables.
//!
//! [`input`] opens files and streams, decompresses them and cuts them into chunks of whole records.
//! [`record`] finds the URL in each record of a chunk. [`table`] reads columns of Parquet and Arrow
//! files.

#![warn(missing_debug_implementations)]

pub mod input;
pub mod record;
#[cfg(feature = "tables")]
pub mod table;

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
#[allow(dead_code, reason = "the tests of this crate draw no cases")]
mod test_util;
