//! The report of a run, which it returns at its end, even if it fails.

use std::path::PathBuf;
use std::sync::Arc;

use crate::output::{FileStats, Tally};
use uniqurl_formats::input::InputError;
use uniqurl_formats::record::Suggestion;
use uniqurl_store::spill::Spilled;

/// The accounting of a run, up to the point of failure if it failed.
// A field for each fact that callers print, so more than a dozen.
#[derive(Debug, Default)]
pub struct Report {
    /// All records.
    pub tally: Tally,
    /// One entry for each input that was read or begun, in order.
    pub files: Vec<FileStats>,
    /// Bytes read.
    pub bytes: u64,
    /// Request targets without a known host. If their hosts differ, that is lost.
    pub hostless: u64,
    /// Records of lists.
    pub listed: u64,
    /// Those of them that contain a tab. An input with many may be a table.
    pub tabbed: u64,
    /// Those of them that begin with a word, a colon and a blank, or otherwise as no URL does.
    pub labelled: u64,
    /// Records whose hosts are in each of the [lists of hosts](crate::UrlFilter::host_lists), as far as these decided.
    pub in_lists: Vec<u64>,
    /// For each input whose format was guessed, its index in [`files`](Self::files) and the guess.
    pub guessed: Vec<(usize, Arc<str>)>,
    /// For each of these inputs that is a table without commas, the byte between its columns.
    pub delimiters: Vec<(usize, u8)>,
    /// For each of these inputs whose guess drops a field that names hosts, the field. If the hosts
    /// differ, that is lost.
    pub dropped_hosts: Vec<(usize, String)>,
    /// For each of them that may be read better in another way, its index and that way.
    pub suggestions: Vec<(usize, Suggestion)>,
    /// The beginning of the first record that was rejected.
    pub first_rejected: Option<Vec<u8>>,
    /// Inputs that were given up without ending the run: their index in [`files`](Self::files), which
    /// counts the records read before the error, and the error.
    pub damaged: Vec<(usize, InputError)>,
    /// Inputs with zeros after their compressed data, by the same index, and the number of those bytes.
    pub padded: Vec<(usize, u64)>,
    /// Files whose last line was still being written, by the same index, and the offset of that line.
    pub cut: Vec<(usize, u64)>,
    /// Lists from before the run with lines that are no URLs.
    pub rejected_seen: Vec<RejectedSeen>,
    /// Bytes of temporary files, because the set did not fit into memory.
    pub spilled: Spilled,
}

/// A list of seen URLs with lines that are no URLs.
#[derive(Debug, Clone)]
pub struct RejectedSeen {
    /// Its name.
    pub path: PathBuf,
    /// Its lines, without blank ones.
    pub lines: u64,
    /// Those that are no URLs.
    pub rejected: u64,
}
