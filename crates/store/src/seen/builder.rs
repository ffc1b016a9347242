//! Builds the run of an add or of a removal.
//!
//! Keys that may be in the store already are gathered and looked up, a window at a time: the number of
//! keys of the store stays exact, and a removal writes no keys that are not in the store.

use std::sync::Arc;

use super::error::SeenStoreError;
use super::keys::{KeyList, KeySink, SortedKeys};
use super::new_run::NewRun;
use super::next_state::NextState;
use super::run::{Mark, RunWriter};
use super::store::SeenStore;

/// Whether the keys of an add may be in the store already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// None of them is: they were looked up.
    AllNew,
    /// Some may be, and get the time of this add.
    Unknown,
}

/// What a run does to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Add(Novelty),
    Removal,
}

/// Bytes of the keys that are looked up at once.
const WINDOW: usize = 32 << 20;

/// A run that is being written. Nothing of it is in the store before
/// [`SeenWriter::commit`](super::SeenWriter::commit); it is removed if it is dropped.
#[derive(Debug)]
pub struct RunBuilder<'w> {
    store: &'w SeenStore,
    change: Change,
    file: NewRun,
    run: RunWriter,
    /// Keys that are looked up together.
    window: KeyList,
    /// Keys that come or go.
    changed: u64,
}

/// A run that is on the disk with the manifest that names it, but not yet in the store. Both are removed if it
/// is dropped.
#[derive(Debug)]
pub struct PreparedRun {
    /// None: the run has no entries.
    pub(super) next: Option<NextState>,
    /// Keys that come or go.
    pub(super) changed: u64,
}

impl<'w> RunBuilder<'w> {
    pub(super) fn new(
        store: &'w SeenStore,
        change: Change,
        (file, run): (NewRun, RunWriter),
    ) -> Self {
        Self { store, change, file, run, window: KeyList::default(), changed: 0 }
    }

    /// Brings the run and its manifest to the disk. Finish all other work that can fail before
    /// [`SeenWriter::commit`](super::SeenWriter::commit), which then only renames the manifest.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn finish(mut self) -> Result<PreparedRun, SeenStoreError> {
        self.write_window()?;
        let Self { store, change, file, run, changed, .. } = self;
        let directory = Arc::clone(file.directory());
        // A run without entries would use up the number of an add, and be one more file to ask.
        let Some(run) = file.finish(run)? else {
            return Ok(PreparedRun { next: None, changed: 0 });
        };
        let mut manifest = store.manifest().clone();
        match change {
            Change::Add(_) => {
                manifest.next_add += 1;
                manifest.keys += changed;
            }
            // The manifest may be forged. `verify` reports a wrong number; a removal must not panic
            // for it.
            Change::Removal => manifest.keys = manifest.keys.saturating_sub(changed),
        }
        let end = store.runs().len();
        let next = NextState::write(store, &directory, manifest, vec![(end..end, Some(run))])?;
        Ok(PreparedRun { next: Some(next), changed })
    }

    /// Writes the keys of the window, as far as they belong into the run.
    fn write_window(&mut self) -> Result<(), SeenStoreError> {
        let is_in = self.store.look_up(&self.window, None)?;
        for (n, is_in) in is_in.into_iter().enumerate() {
            let key = self.window.get(n);
            match self.change {
                Change::Add(_) => {
                    // A key that is in the store is written again: it gets the time of this add,
                    // which `--max-age` counts from.
                    self.run.push(key, Mark::Added(0))?;
                    self.changed += u64::from(!is_in);
                }
                Change::Removal if is_in => {
                    self.run.push(key, Mark::Removed)?;
                    self.changed += 1;
                }
                Change::Removal => {}
            }
        }
        self.window.clear();
        Ok(())
    }
}

impl KeySink for RunBuilder<'_> {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        // These were looked up by the caller, and are not looked up twice.
        if self.change == Change::Add(Novelty::AllNew) {
            self.changed += 1;
            return self.run.push(key, Mark::Added(0));
        }
        // A store reads each block once for all keys of a window, so windows are long. A key that
        // is longer than one has a window of its own.
        if self.window.memory() + key.len() > WINDOW && !self.window.is_empty() {
            self.write_window()?;
        }
        self.window.push(0, key).map_err(|_| SeenStoreError::memory(self.store.path()))
    }
}
