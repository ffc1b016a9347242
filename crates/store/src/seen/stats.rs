//! Numbers about a store, its runs and its adds.

use super::time::UnixTime;

/// Numbers about a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStats {
    /// Keys that are in the store.
    pub keys: u64,
    /// Bytes of all of its files.
    pub bytes: u64,
    /// Its runs, oldest first.
    pub runs: Vec<RunStats>,
}

/// Numbers about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStats {
    /// The name of its file.
    pub name: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Keys that it holds, those that newer runs hold too included.
    pub keys: u64,
    /// Keys that it takes out of older runs.
    pub removed: u64,
    /// The adds that its keys come from, oldest first.
    pub adds: Vec<AddStats>,
}

/// Numbers about an add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddStats {
    /// Its number: 1 for the first add to the store, each later one has a greater number.
    pub number: u64,
    /// When it was.
    pub time: UnixTime,
    /// Keys of it that are in the run.
    pub keys: u64,
}
