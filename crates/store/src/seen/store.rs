//! A store as its readers see it: the manifest and the runs at the time it was opened.

use std::io::Write;
use std::path::Path;

use super::error::SeenStoreError;
use super::rules::StoreRules;
use super::run::Run;
use super::time::UnixTime;

/// A store, as of the time it was opened: later adds do not change it.
#[derive(Debug)]
pub struct SeenStore {}

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

impl SeenStore {
    /// Whether there is a directory of this name that may be a store: one that holds a manifest.
    pub fn is_at(path: &Path) -> bool {
        path.join("manifest").is_file()
    }

    /// Opens the store in the directory `path`.
    ///
    /// # Errors
    ///
    /// There is none, it has another version, or a file of it cannot be read or is damaged.
    pub fn open(path: &Path) -> Result<Self, SeenStoreError> {
        let _ = path;
        todo!()
    }

    /// Its runs, oldest first.
    pub(super) fn runs(&self) -> &[Run] {
        todo!()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        todo!()
    }

    /// The rules of its keys.
    pub fn rules(&self) -> &StoreRules {
        todo!()
    }

    /// An error if the rules of the store are not these, with the difference.
    ///
    /// # Errors
    ///
    /// The rules differ.
    pub fn check_rules(&self, rules: &StoreRules) -> Result<(), SeenStoreError> {
        let _ = rules;
        todo!()
    }

    /// Numbers about it.
    pub fn stats(&self) -> StoreStats {
        todo!()
    }

    /// Reads everything, and checks checksums, the order and the numbers of keys.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged.
    pub fn verify(&self) -> Result<StoreStats, SeenStoreError> {
        todo!()
    }

    /// Writes the keys in the order of their bytes, each with a line feed; those of adds after the add
    /// number `after` only, if there is one.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged, or `out` fails, which is an error of `name`.
    pub fn export(
        &self,
        after: Option<u64>,
        out: &mut dyn Write,
        name: &Path,
    ) -> Result<u64, SeenStoreError> {
        let _ = (after, out, name);
        todo!()
    }
}
